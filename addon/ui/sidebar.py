"""The "Ossuary" tab of the 3D viewport's sidebar."""

from __future__ import annotations

from typing import Any

import bpy

from ..operators import problems, report

TAB = "Ossuary"
CHARACTER, BESIDE = 6.5, 12  # pixels of a character at most, and characters that icon and button take


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
            column = layout.column(align=True)
            for part in lines[0].replace(": ", "; ", 1).split("; "):
                column.label(text=part)
            layout.operator("wm.ossuary_report", text="Details", icon="TEXT")


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
        summary, _ = problems.kept(context)
        if summary:
            layout.label(text=summary)
            width = context.region.width / context.preferences.system.ui_scale / CHARACTER - BESIDE
            problems.draw(layout, context, max(int(width), 16))


_CLASSES = (VIEW3D_PT_ossuary_import, VIEW3D_PT_ossuary_export)


def register(_package: str) -> None:
    """Register the panels."""
    for cls in _CLASSES:
        bpy.utils.register_class(cls)


def unregister() -> None:
    """Take them away."""
    for cls in reversed(_CLASSES):
        bpy.utils.unregister_class(cls)
