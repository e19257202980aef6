"""File > Import > Havok Collision."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy
from bpy.props import BoolProperty, EnumProperty, StringProperty

from ..scene.cache import DecodedCache
from ..scene.collision.keys import CollisionSet, Mode
from .files import ImportsFiles
from .preferences import preferences

if TYPE_CHECKING:
    from ..scene import CollisionResult, CollisionSettings

COLOR_ITEMS = (
    ("MATERIAL", "Material", "A shade of the set's colour for each hit material"),
    ("SET", "Set", "One colour a set"),
    ("SECTION", "Section", "The sections that a compressed mesh is cut into"),
    ("INTERIOR", "Interior", "Triangles that the game marks as interior, against the rest"),
    ("KIND", "Kind", "Compressed and extern meshes, convex shapes, extern shapes and point sets"),
)
SET_ITEMS = (
    ("h", "h", "What the player and the world touch"),
    ("l", "l", "A coarser copy"),
    ("f", "f", "The third set of maps"),
    ("ragdoll", "Ragdoll", "Bodies of a ragdoll"),
    ("other", "Other", "What belongs to no set"),
)


class IMPORT_SCENE_OT_ossuary_collision(ImportsFiles, bpy.types.Operator):
    """Import collision of maps, objects, assets and ragdolls as coloured meshes"""

    bl_idname = "import_scene.ossuary_collision"
    bl_label = "Import Collision"
    bl_options = {"REGISTER", "UNDO", "PRESET"}

    filter_glob: StringProperty(default="*.hkx;*.hkx.dcx;*.hkxbhd;*.hkxbdt;*.*bnd;*.*bnd.dcx", options={"HIDDEN"})
    member_filter: StringProperty(
        name="Members",
        description="Import only the files of a binder whose names match, such as *_000100.hkx. Empty imports all",
    )
    compendium: StringProperty(
        name="Compendium",
        description="Path, or name in the same folder, of the file with the classes of a .hkx without its own. "
        "Empty looks in the binder and beside the file",
    )
    set: EnumProperty(
        name="Set",
        description="Which set the bodies go to",
        items=(("AUTO", "By Name", "As the names of files and bodies tell"), *SET_ITEMS),
        default="AUTO",
    )
    also_h: BoolProperty(name="h beside It", description="Import the map's h set as well", default=False)
    also_l: BoolProperty(name="l beside It", description="Import the map's l set as well", default=False)
    also_f: BoolProperty(name="f beside It", description="Import the map's f set as well", default=False)
    color: EnumProperty(name="Colour by", description="What the colours of faces tell", items=COLOR_ITEMS)

    def run(self, context: Any, paths: list[Path], progress: Callable[[float], None]) -> CollisionResult:
        """Import the bodies in files; those beside them are among them already."""
        from ..scene import import_collision

        settings = replace(self.settings(context), also=frozenset())
        result = import_collision(context, paths, settings, cache=type(self).cache, progress=progress)
        view = context.scene.ossuary_collision
        if result.bodies:
            view["color"] = [item[0] for item in COLOR_ITEMS].index(self.color)
        for body in result.bodies:
            body.object.show_wire = body.object.show_all_edges = view.wire
            body.object.show_in_front = view.in_front
        return result

    def all_paths(self, context: Any) -> list[Path]:
        """Return the chosen files with the sets beside them that are wanted."""
        from ..scene.collision.imports import files_of

        return files_of(self.paths(), self.settings(context))

    def settings(self, context: Any) -> CollisionSettings:
        """Return the options."""
        from ..scene import CollisionSettings

        also = ((CollisionSet.HIGH, self.also_h), (CollisionSet.LOW, self.also_l), (CollisionSet.FALL, self.also_f))
        return CollisionSettings(
            member_filter=self.member_filter.strip(),
            scale=self.scale,
            compendium=self._compendium(),
            set=None if self.set == "AUTO" else CollisionSet(self.set),
            also=frozenset(name for name, wanted in also if wanted),
            color=Mode(self.color),
            colors=preferences(context).colors,
        )

    def _compendium(self) -> Path | None:
        """Return the chosen compendium. Its field has no button, for a file browser opens no second one."""
        text = self.compendium.strip().strip('"')  # in which Windows copies paths
        return Path(self.paths()[0].parent, bpy.path.abspath(text)) if text else None

    def draw(self, _context: Any) -> None:
        """Lay the options out; the sets of a map that lie beside the chosen file are offered by name."""
        from ..scene.collision.sets import sets_beside

        layout = self.layout
        layout.use_property_split = True
        layout.use_property_decorate = False
        layout.prop(self, "member_filter")
        layout.prop(self, "compendium")
        layout.prop(self, "scale")
        layout.prop(self, "set")
        beside = {name: file for path in self.paths() for name, file in sets_beside(path).items()}
        for name, file in beside.items():
            layout.prop(self, f"also_{name.value}", text=f"And {file.stem}")
        layout.prop(self, "color")


CLASSES = (IMPORT_SCENE_OT_ossuary_collision,)


def register(_package: str) -> None:
    """Make room for what the last import decoded."""
    IMPORT_SCENE_OT_ossuary_collision.cache = DecodedCache()


def unregister() -> None:
    """Forget it."""
    IMPORT_SCENE_OT_ossuary_collision.cache = None
