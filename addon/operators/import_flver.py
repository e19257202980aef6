"""File > Import > FLVER Model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import bpy
from bpy.props import BoolProperty, CollectionProperty, EnumProperty, FloatProperty, IntProperty, StringProperty

from ..scene import DecodedCache, FlverSettings, Lods, import_flver
from . import report


class IMPORT_SCENE_OT_ossuary_flver(bpy.types.Operator):
    """Import FLVER models with their skeleton, meshes and dummies, from loose files or from binders"""

    bl_idname = "import_scene.ossuary_flver"
    bl_label = "Import FLVER"
    bl_options = {"REGISTER", "UNDO", "PRESET"}

    cache: DecodedCache | None = None

    filepath: StringProperty(subtype="FILE_PATH", options={"SKIP_SAVE", "HIDDEN"})
    directory: StringProperty(subtype="DIR_PATH", options={"SKIP_SAVE", "HIDDEN"})
    files: CollectionProperty(type=bpy.types.OperatorFileListElement, options={"SKIP_SAVE", "HIDDEN"})
    filter_glob: StringProperty(default="*.flver;*.flver.dcx;*.*bnd;*.*bnd.dcx", options={"HIDDEN"})

    member_filter: StringProperty(
        name="Members",
        description="Import only the models of a binder whose names match, such as *_S.flver. Empty imports all",
    )
    scale: FloatProperty(
        name="Scale",
        description="Size of the model in the scene. Leave 1 unless your scene is not in metres",
        default=1.0,
        min=0.0001,
        soft_min=0.01,
        soft_max=100.0,
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
        name="Show Unused Bones",
        description="Show the nodes that no mesh, dummy or other node uses. They are imported in any case, for export",
        default=False,
    )
    dummies: BoolProperty(
        name="Dummies",
        description="Import attachment points as empties. Switch off if you only look at the model",
        default=True,
    )
    dummy_size: FloatProperty(
        name="Size", description="Length of the empties' axes", default=0.05, min=0.001, soft_max=1.0, unit="LENGTH"
    )

    def invoke(self, context: Any, _event: Any) -> set[str]:
        """Ask for files; for files that were dropped, ask for the options only."""
        if self.files:
            return set(context.window_manager.invoke_props_dialog(self, width=360))
        context.window_manager.fileselect_add(self)
        return {"RUNNING_MODAL"}

    def execute(self, context: Any) -> set[str]:
        """Import the chosen files and report in one line."""
        manager = context.window_manager
        manager.progress_begin(0, 100)
        try:
            result = import_flver(
                context,
                self.paths(),
                self.settings(),
                cache=type(self).cache,
                progress=lambda share: manager.progress_update(int(share * 100)),
            )
        finally:
            manager.progress_end()
        report.keep(context, result.summary, result.details)
        if result.models:
            self.report({"WARNING"} if result.failures else {"INFO"}, result.summary)
        else:
            self.report({"ERROR"}, "; ".join(result.details))
        return {"FINISHED"} if result.models else {"CANCELLED"}

    def paths(self) -> list[Path]:
        """Return the chosen files."""
        names = [item.name for item in self.files if item.name]
        return [Path(self.directory, name) for name in names] or [Path(self.filepath)]

    def settings(self) -> FlverSettings:
        """Return the options."""
        return FlverSettings(
            lods=Lods(self.lods),
            lod=self.lod,
            dummies=self.dummies,
            dummy_size=self.dummy_size,
            bone_length=self.bone_length,
            custom_normals=self.custom_normals,
            show_unused_bones=self.show_unused_bones,
            scale=self.scale,
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
            body.prop(self, "custom_normals")
        header, body = layout.panel("OSSUARY_flver_bones")
        header.label(text="Bones and Dummies")
        if body:
            body.prop(self, "bone_length")
            body.prop(self, "show_unused_bones")
            body.prop(self, "dummies")
            row = body.row()
            row.active = self.dummies
            row.prop(self, "dummy_size")


def draw_menu(menu: Any, _context: Any) -> None:
    """Add the entry to File > Import."""
    menu.layout.operator(IMPORT_SCENE_OT_ossuary_flver.bl_idname, text="FLVER Model (.flver, .*bnd.dcx)")


def register(_package: str) -> None:
    """Register the operator and its menu entry."""
    IMPORT_SCENE_OT_ossuary_flver.cache = DecodedCache()
    bpy.utils.register_class(IMPORT_SCENE_OT_ossuary_flver)
    bpy.types.TOPBAR_MT_file_import.append(draw_menu)


def unregister() -> None:
    """Take both away."""
    bpy.types.TOPBAR_MT_file_import.remove(draw_menu)
    bpy.utils.unregister_class(IMPORT_SCENE_OT_ossuary_flver)
    IMPORT_SCENE_OT_ossuary_flver.cache = None
