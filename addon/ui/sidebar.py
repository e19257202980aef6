"""The "Ossuary" tab of the 3D viewport's sidebar."""

from __future__ import annotations

from typing import Any

import bpy

from ..operators import report

TAB = "Ossuary"


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


def register(_package: str) -> None:
    """Register the panel."""
    bpy.utils.register_class(VIEW3D_PT_ossuary_import)


def unregister() -> None:
    """Take it away."""
    bpy.utils.unregister_class(VIEW3D_PT_ossuary_import)
