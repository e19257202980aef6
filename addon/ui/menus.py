"""Our entries of File > Import and File > Export."""

from __future__ import annotations

from typing import Any

import bpy

from .icons import icon

# operator, text, icon
_IMPORTS = (
    ("import_scene.ossuary_flver", "FLVER Model (.flver, .*bnd.dcx)", "model"),
    ("import_scene.ossuary_collision", "Havok Collision (.hkx, .hkxbhd, .*bnd.dcx)", "collision"),
    ("import_scene.ossuary_cloth", "Havok Cloth (_c.hkx, .*bnd.dcx)", "cloth"),
)
_EXPORTS = (
    ("export_scene.ossuary_flver", "FLVER Model (.flver, .*bnd.dcx)", "model"),
    ("export_scene.ossuary_collision", "Havok Collision (.hkx, .hkxbhd, .*bnd.dcx)", "collision"),
    ("export_scene.ossuary_cloth", "Havok Cloth (.hkx, .*bnd.dcx)", "cloth"),
)


def draw_imports(menu: Any, _context: Any) -> None:
    """Add our entries to File > Import."""
    for operator, text, picture in _IMPORTS:
        menu.layout.operator(operator, text=text, **icon(picture))


def draw_exports(menu: Any, _context: Any) -> None:
    """Add our entries to File > Export."""
    for operator, text, picture in _EXPORTS:
        menu.layout.operator(operator, text=text, **icon(picture))


def register(_package: str) -> None:
    """Add the entries."""
    bpy.types.TOPBAR_MT_file_import.append(draw_imports)
    bpy.types.TOPBAR_MT_file_export.append(draw_exports)


def unregister() -> None:
    """Take them away."""
    bpy.types.TOPBAR_MT_file_export.remove(draw_exports)
    bpy.types.TOPBAR_MT_file_import.remove(draw_imports)
