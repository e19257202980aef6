"""The "Ossuary" tab of the 3D viewport's sidebar."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import Any

import bpy

from ..operators import problems, report
from .icons import icon

TAB = "Ossuary"
LAST = 100  # after the panels of what is between import and export
CHARACTER = 6.5  # pixels of a character at most
MARGIN, BESIDE = 6, 12  # characters that a panel's borders take, with an icon and a button


class VIEW3D_PT_ossuary_import(bpy.types.Panel):
    """Import buttons and what the last import said"""

    bl_label = "Import"
    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = TAB

    def draw_header(self, _context: Any) -> None:
        """Draw the icon."""
        self.layout.label(**icon("ossuary"))

    def draw(self, context: Any) -> None:
        """Draw the panel."""
        layout = self.layout
        column = layout.column(align=True)
        column.operator("import_scene.ossuary_flver", text="FLVER Model", **icon("model"))
        column.operator("import_scene.ossuary_collision", text="Havok Collision", **icon("collision"))
        column.operator("import_scene.ossuary_cloth", text="Havok Cloth", **icon("cloth"))
        lines = report.kept(context)
        if lines:
            report.draw(layout, lines[0].replace(": ", "; ", 1).split("; "), columns(context))
            row = layout.row(align=True)
            row.operator("wm.ossuary_report", text="Details", icon="TEXT")
            row.operator("wm.ossuary_copy_report", icon="COPYDOWN")


def columns(context: Any, taken: int = MARGIN) -> int:
    """Return how many characters fit in a line of a panel that gives some to other things."""
    return max(int(context.region.width / context.preferences.system.ui_scale / CHARACTER) - taken, 16)


def draw_lines(layout: Any, lines: Sequence[str], width: int, icon: str) -> None:
    """Write sentences one below the other, each with an icon, broken into lines of so many characters."""
    column = layout.column(align=True)
    for line in lines:
        for number, part in enumerate(textwrap.wrap(line, width)):
            column.label(text=part, icon="BLANK1" if number else icon, translate=False)


class VIEW3D_PT_ossuary_export(bpy.types.Panel):
    """Export buttons, and what stood in the way of the last export"""

    bl_label = "Export"
    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = TAB
    bl_options = {"DEFAULT_CLOSED"}
    bl_order = LAST

    def draw_header(self, _context: Any) -> None:
        """Draw the icon."""
        self.layout.label(**icon("export"))

    def draw(self, context: Any) -> None:
        """Draw the panel."""
        layout = self.layout
        column = layout.column(align=True)
        column.operator("export_scene.ossuary_flver", text="FLVER Model", **icon("model"))
        column.operator("export_scene.ossuary_collision", text="Havok Collision", **icon("collision"))
        column.operator("export_scene.ossuary_cloth", text="Havok Cloth", **icon("cloth"))
        summary, _ = problems.kept(context)
        if summary:
            layout.label(text=summary)
            problems.draw(layout, context, columns(context, BESIDE))


CLASSES = (VIEW3D_PT_ossuary_import, VIEW3D_PT_ossuary_export)
