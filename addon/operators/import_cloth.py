"""File > Import > Havok Cloth."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy
from bpy.props import BoolProperty, StringProperty

from ..scene.cache import DecodedCache
from .files import ImportsFiles

if TYPE_CHECKING:
    from ..scene import ClothResult


class IMPORT_SCENE_OT_ossuary_cloth(ImportsFiles, bpy.types.Operator):
    """Import cloth onto the armature that has its bones, or onto its own skeleton, ready to play"""

    bl_idname = "import_scene.ossuary_cloth"
    bl_label = "Import Cloth"
    bl_options = {"REGISTER", "UNDO", "PRESET"}

    filter_glob: StringProperty(default="*_c.hkx;*_c.hkx.dcx;*.*bnd;*.*bnd.dcx", options={"HIDDEN"})
    member_filter: StringProperty(
        name="Members", description="Import only the cloths of a binder whose names match. Empty imports all"
    )
    points: BoolProperty(name="Points", description="Show the particles", default=True)
    links: BoolProperty(name="Links", description="Show what ties particles together", default=False)
    collidables: BoolProperty(name="Collidables", description="Show the shapes that cloth meets", default=True)

    def run(self, context: Any, paths: list[Path], progress: Callable[[float], None]) -> ClothResult:
        """Import the cloths in files."""
        from ..scene import ClothSettings, import_cloth

        settings = ClothSettings(
            self.member_filter.strip(), self.scale, points=self.points, links=self.links, collidables=self.collidables
        )
        result = import_cloth(context, paths, settings, cache=type(self).cache, progress=progress)
        if result.cloths:
            for name in ("points", "links", "collidables"):
                setattr(context.scene.ossuary_cloth, name, getattr(self, name))
        return result

    def draw(self, _context: Any) -> None:
        """Lay the options out."""
        layout = self.layout
        layout.use_property_split = True
        layout.use_property_decorate = False
        layout.prop(self, "member_filter")
        layout.prop(self, "scale")
        column = layout.column(heading="Show")
        for name in ("points", "links", "collidables"):
            column.prop(self, name)


CLASSES = (IMPORT_SCENE_OT_ossuary_cloth,)


def register(_package: str) -> None:
    """Make room for what the last import decoded."""
    IMPORT_SCENE_OT_ossuary_cloth.cache = DecodedCache()


def unregister() -> None:
    """Forget it."""
    IMPORT_SCENE_OT_ossuary_cloth.cache = None
