"""The "Ossuary" tab of the 3D viewport's sidebar."""

from __future__ import annotations

from typing import Any

import bpy

from ..operators import problems, report

TAB = "Ossuary"
CHARACTER = 6.5  # pixels of a character at most
MARGIN, BESIDE = 6, 12  # characters that a panel's borders take, with an icon and a button


class VIEW3D_PT_ossuary_import(bpy.types.Panel):
    """Import buttons and what the last import said"""

    bl_label = "Import"
    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = TAB

    def draw(self, context: Any) -> None:
        """Draw the panel."""
        layout = self.layout
        layout.operator("import_scene.ossuary_flver", text="FLVER Model", icon="ARMATURE_DATA")
        layout.operator("import_scene.ossuary_collision", text="Havok Collision", icon="MESH_ICOSPHERE")
        layout.operator("import_scene.ossuary_cloth", text="Havok Cloth", icon="MOD_CLOTH")
        lines = report.kept(context)
        if lines:
            report.draw(layout, lines[0].replace(": ", "; ", 1).split("; "), columns(context))
            row = layout.row(align=True)
            row.operator("wm.ossuary_report", text="Details", icon="TEXT")
            row.operator("wm.ossuary_copy_report", icon="COPYDOWN")


def columns(context: Any, taken: int = MARGIN) -> int:
    """Return how many characters fit in a line of a panel that gives some to other things."""
    return max(int(context.region.width / context.preferences.system.ui_scale / CHARACTER) - taken, 16)


class VIEW3D_PT_ossuary_export(bpy.types.Panel):
    """Export buttons, and what stood in the way of the last export"""

    bl_label = "Export"
    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = TAB
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: Any) -> None:
        """Draw the panel."""
        layout = self.layout
        layout.operator("export_scene.ossuary_flver", text="FLVER Model", icon="EXPORT")
        layout.operator("export_scene.ossuary_collision", text="Havok Collision", icon="EXPORT")
        summary, _ = problems.kept(context)
        if summary:
            layout.label(text=summary)
            problems.draw(layout, context, columns(context, BESIDE))


_CLASSES = (VIEW3D_PT_ossuary_import, VIEW3D_PT_ossuary_export)


def register(_package: str) -> None:
    """Register the panels."""
    for cls in _CLASSES:
        bpy.utils.register_class(cls)


def unregister() -> None:
    """Take them away."""
    for cls in reversed(_CLASSES):
        bpy.utils.unregister_class(cls)
