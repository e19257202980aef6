"""File > Import > FLVER Model."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy
from bpy.props import BoolProperty, EnumProperty, FloatProperty, IntProperty, StringProperty

from ..scene.cache import DecodedCache
from .files import ImportsFiles
from .preferences import DEFAULTS, preferences

if TYPE_CHECKING:
    from ..scene import FlverSettings, ImportResult


class IMPORT_SCENE_OT_ossuary_flver(ImportsFiles, bpy.types.Operator):
    """Import FLVER models with their skeleton, meshes and dummies, from loose files or from binders"""

    bl_idname = "import_scene.ossuary_flver"
    bl_label = "Import FLVER"
    bl_options = {"REGISTER", "UNDO", "PRESET"}

    index: Any = None  # TextureIndex, made at the first import

    filter_glob: StringProperty(default="*.flver;*.flver.dcx;*.*bnd;*.*bnd.dcx", options={"HIDDEN"})

    member_filter: StringProperty(
        name="Members",
        description="Import only the models of a binder whose names match, such as *_S.flver. Empty imports all",
    )
    lods: EnumProperty(
        name="Levels of Detail",
        description="Which levels of detail become objects",
        items=(
            ("FIRST", "Nearest", "Only the most detailed one. Right unless you work on the others"),
            ("ALL", "All", "The others too, as hidden objects"),
            ("CHOSEN", "One", "One level in place of the most detailed, to see what is shown far away"),
        ),
        default="FIRST",
    )
    lod: IntProperty(name="Level", description="The level of detail to show", default=1, min=0, max=3)
    custom_normals: BoolProperty(
        name="Stored Normals",
        description="Shade with the normals of the file. Switch off to let Blender compute its own while you remodel",
        default=True,
    )
    bone_length: FloatProperty(
        name="Bone Length",
        description="Length of bones that do not point at a child. Make it larger for large creatures and buildings",
        default=0.05,
        min=0.01,
        soft_max=1.0,
        unit="LENGTH",
    )
    show_unused_bones: BoolProperty(
        name="Unused Bones",
        description="Show the nodes that no mesh, dummy or other node uses. They are imported in any case, for export",
        default=False,
    )
    dummies: BoolProperty(
        name="Dummies",
        description="Import attachment points as empties. Switch off if you only look at the model",
        default=True,
    )
    dummy_size: FloatProperty(
        name="Dummy Size",
        description="Length of the empties' axes",
        default=0.05,
        min=0.001,
        soft_max=1.0,
        unit="LENGTH",
    )

    cloth: BoolProperty(
        name="Cloth",
        description="Import the cloth beside the model too. It moves when the timeline plays",
        default=True,
    )
    textures: BoolProperty(
        name="Textures",
        description="Give materials the textures in the model's file, beside it, and in the game's folder that is set "
        "in the add-on's preferences. Without them materials are plain",
        default=True,
    )

    def invoke(self, context: Any, event: Any) -> set[str]:
        """Ask for files; options that nobody has set yet begin as the preferences say."""
        begin = preferences(context)
        for name in DEFAULTS:
            if not self.properties.is_property_set(name):
                setattr(self, name, getattr(begin, name))
        return super().invoke(context, event)

    def run(self, context: Any, paths: list[Path], progress: Callable[[float], None]) -> ImportResult:
        """Import the models in files."""
        from ..model.textures import TextureIndex
        from ..scene import import_flver

        cls = IMPORT_SCENE_OT_ossuary_flver
        cls.index = cls.index or TextureIndex()
        return import_flver(context, paths, self.settings(context), cache=cls.cache, index=cls.index, progress=progress)

    def settings(self, context: Any) -> FlverSettings:
        """Return the options, with the games' folders of the preferences."""
        from ..scene import FlverSettings, Lods

        return FlverSettings(
            lods=Lods(self.lods),
            lod=self.lod,
            dummies=self.dummies,
            dummy_size=self.dummy_size,
            bone_length=self.bone_length,
            custom_normals=self.custom_normals,
            show_unused_bones=self.show_unused_bones,
            scale=self.scale,
            cloth=self.cloth,
            textures=self.textures,
            folders=preferences(context).folders,
            member_filter=self.member_filter.strip(),
        )

    def draw(self, _context: Any) -> None:
        """Lay the options out in panels."""
        layout = self.layout
        layout.use_property_split = True
        layout.use_property_decorate = False
        header, body = layout.panel("OSSUARY_flver_files")
        header.label(text="Files")
        if body:
            body.prop(self, "member_filter")
            body.prop(self, "scale")
        header, body = layout.panel("OSSUARY_flver_meshes")
        header.label(text="Meshes")
        if body:
            body.prop(self, "lods")
            row = body.row()
            row.active = self.lods == "CHOSEN"
            row.prop(self, "lod")
            body.prop(self, "textures")
            body.prop(self, "custom_normals")
            body.prop(self, "cloth")
        header, body = layout.panel("OSSUARY_flver_bones")
        header.label(text="Bones and Dummies")
        if body:
            body.prop(self, "bone_length")
            body.prop(self, "show_unused_bones")
            body.prop(self, "dummies")
            row = body.row()
            row.active = self.dummies
            row.prop(self, "dummy_size")


CLASSES = (IMPORT_SCENE_OT_ossuary_flver,)


def register(_package: str) -> None:
    """Make room for what the last import decoded."""
    IMPORT_SCENE_OT_ossuary_flver.cache = DecodedCache()


def unregister() -> None:
    """Forget it."""
    IMPORT_SCENE_OT_ossuary_flver.cache = None
    IMPORT_SCENE_OT_ossuary_flver.index = None
