"""The last export's problems: a list with buttons that select the objects it is about."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import bpy
from bpy.props import StringProperty

from ..scene.problems import Problem
from . import report

if TYPE_CHECKING:
    from ..scene import ExportResult

PROPERTY = "ossuary_problems"
SHOWN = 20  # lines the list shows
POPUP_WIDTH, POPUP_CHARACTERS = 640, 92


def keep(context: Any, result: ExportResult) -> None:
    """Keep what an export found, for the window's lifetime."""
    found = [(problem.text, problem.objects, is_error) for is_error, problem in _all(result)]
    setattr(context.window_manager, PROPERTY, json.dumps({"summary": result.summary, "found": found}))
    report.log(context, report.Message(result.summary, result.details, result.timings.seconds))


def _all(result: ExportResult) -> list[tuple[bool, Problem]]:
    return [(True, each) for each in result.errors] + [(False, each) for each in result.warnings]


def kept(context: Any) -> tuple[str, list[tuple[str, list[str], bool]]]:
    """Return the last export's summary, and what it found: text, names of objects, and whether it stood in the way."""
    text = getattr(context.window_manager, PROPERTY)
    if not text:
        return "", []
    values = json.loads(text)
    return values["summary"], [(each[0], each[1], each[2]) for each in values["found"]]


def draw(layout: Any, context: Any, width: int) -> None:
    """List what the last export found, in lines of so many characters, with buttons that select."""
    draw_found(layout, kept(context)[1], width)


def draw_found(layout: Any, found: Sequence[tuple[str, Sequence[str], bool]], width: int) -> None:
    """List texts, names of objects, and whether they stand in the way, as `draw` does."""
    for text, names, is_error in found[:SHOWN]:
        row = layout.row()
        column = row.column(align=True)
        for number, line in enumerate(textwrap.wrap(f"{names[0]}: {text}" if names else text, width)):
            column.label(text=line, icon="BLANK1" if number else "ERROR" if is_error else "INFO")
        if names:
            row.operator("object.ossuary_select", text="", icon="RESTRICT_SELECT_OFF").names = json.dumps(names)
    if len(found) > SHOWN:
        layout.label(text=f"... and {len(found) - SHOWN} more")


class OBJECT_OT_ossuary_select(bpy.types.Operator):
    """Select the objects that this is about, and show them"""

    bl_idname = "object.ossuary_select"
    bl_label = "Select"
    bl_options = {"INTERNAL", "UNDO"}

    names: StringProperty(options={"SKIP_SAVE", "HIDDEN"})

    def execute(self, context: Any) -> set[str]:
        """Select them, the first one active."""
        objects = context.view_layer.objects
        chosen = [objects[name] for name in json.loads(self.names) if name in objects]
        if not chosen:
            self.report({"WARNING"}, "It is not in this view layer")
            return {"CANCELLED"}
        if objects.active is not None and objects.active.mode != "OBJECT":
            bpy.ops.object.mode_set(mode="OBJECT")
        for obj in objects:
            obj.select_set(state=obj in chosen)
        for obj in chosen:
            obj.hide_set(state=False)
            obj.select_set(state=True)
        objects.active = chosen[0]
        return {"FINISHED"}


class WM_OT_ossuary_problems(bpy.types.Operator):
    """Show what stood in the way of the last export"""

    bl_idname = "wm.ossuary_problems"
    bl_label = "Export"
    bl_options = {"INTERNAL"}

    @classmethod
    def poll(cls, context: Any) -> bool:
        """There is something to show."""
        if not kept(context)[0]:
            cls.poll_message_set("Nothing was exported yet")
            return False
        return True

    def invoke(self, context: Any, _event: Any) -> set[str]:
        """Open a window that stays until one clicks beside it, so that its buttons can be used."""
        return set(context.window_manager.invoke_popup(self, width=POPUP_WIDTH))

    def execute(self, _context: Any) -> set[str]:
        """Do nothing: there is no more to it than showing."""
        return {"FINISHED"}

    def draw(self, context: Any) -> None:
        """List the problems."""
        self.layout.label(text=kept(context)[0])
        draw(self.layout, context, POPUP_CHARACTERS)


CLASSES = (OBJECT_OT_ossuary_select, WM_OT_ossuary_problems)


def register(_package: str) -> None:
    """Add the property that holds the list."""
    setattr(bpy.types.WindowManager, PROPERTY, StringProperty(options={"SKIP_SAVE", "HIDDEN"}))


def unregister() -> None:
    """Take it away."""
    delattr(bpy.types.WindowManager, PROPERTY)
