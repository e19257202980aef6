"""The last import's report: one line where it happened, the details on demand."""

from __future__ import annotations

import textwrap
from typing import Any

import bpy
from bpy.props import StringProperty

PROPERTY = "ossuary_report"
SHOWN = 30  # lines a popup shows; the rest is in the clipboard
POPUP_WIDTH, POPUP_CHARACTERS = 600, 100


def keep(context: Any, summary: str, details: list[str]) -> None:
    """Keep a report, for the window's lifetime: the summary, then a line for each detail."""
    setattr(context.window_manager, PROPERTY, "\n".join([summary, *details]))


def kept(context: Any) -> list[str]:
    """Return the lines of the last report, summary first; empty where there is none."""
    text: str = getattr(context.window_manager, PROPERTY)
    return text.split("\n") if text else []


def draw(layout: Any, lines: list[str], width: int) -> None:
    """Write lines one below the other, broken where they are longer than so many characters."""
    column = layout.column(align=True)
    broken = [part for line in lines for part in textwrap.wrap(line, width, subsequent_indent="    ")]
    for part in broken[:SHOWN]:
        column.label(text=part, translate=False)
    if len(broken) > SHOWN:
        column.label(text=f"... and {len(broken) - SHOWN} more lines: Copy gives all")


class WM_OT_ossuary_report(bpy.types.Operator):
    """Show all that the last import or check said"""

    bl_idname = "wm.ossuary_report"
    bl_label = "Report"
    bl_options = {"INTERNAL"}

    @classmethod
    def poll(cls, context: Any) -> bool:
        """There is something to show."""
        if not kept(context):
            cls.poll_message_set("Nothing was imported yet")
            return False
        return True

    def invoke(self, context: Any, _event: Any) -> set[str]:
        """Open the popup; OK copies the report."""
        return set(context.window_manager.invoke_props_dialog(self, width=POPUP_WIDTH, confirm_text="Copy"))

    def execute(self, context: Any) -> set[str]:
        """Copy the report to the clipboard."""
        context.window_manager.clipboard = "\n".join(kept(context))
        return {"FINISHED"}

    def draw(self, context: Any) -> None:
        """List the lines."""
        draw(self.layout, kept(context), POPUP_CHARACTERS)


def register(_package: str) -> None:
    """Register the operator and the property that holds the report."""
    bpy.utils.register_class(WM_OT_ossuary_report)
    setattr(bpy.types.WindowManager, PROPERTY, StringProperty(options={"SKIP_SAVE", "HIDDEN"}))


def unregister() -> None:
    """Take both away."""
    delattr(bpy.types.WindowManager, PROPERTY)
    bpy.utils.unregister_class(WM_OT_ossuary_report)
