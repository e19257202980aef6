"""Reports: the last one in one line, its details on demand, and the log of those before for Copy Report."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import bpy
from bpy.props import StringProperty

PROPERTY, LOG = "ossuary_report", "ossuary_log"
LOGGED, LINES = 10, 60  # reports that the log holds, and lines of each
SHOWN = 30  # lines a popup shows; the rest is in the clipboard
POPUP_WIDTH, POPUP_CHARACTERS = 600, 100


@dataclass(frozen=True)
class Message:
    """What an import, an export or a check said.

    Attributes:
        summary: in one line.
        details: failures and warnings, a line each.
        seconds: by stage.
    """

    summary: str
    details: list[str] = field(default_factory=list)
    seconds: Mapping[str, float] = field(default_factory=dict)


def reason(error: Exception) -> str:
    """Return why something failed; of a file that could not be read or written its name and why."""
    if not isinstance(error, OSError):
        return str(error)
    name = Path(error.filename).name if isinstance(error.filename, str | Path) else ""
    return ": ".join(filter(None, (name, error.strerror or str(error))))


def keep(context: Any, summary: str, details: list[str], seconds: Mapping[str, float] | None = None) -> None:
    """Show a report and log it, for the window's lifetime: the summary, a line for each detail, seconds by stage."""
    show(context, summary, details)
    log(context, Message(summary, details, seconds or {}))


def show(context: Any, summary: str, details: list[str]) -> None:
    """Make a report the last one, which the sidebar shows."""
    setattr(context.window_manager, PROPERTY, "\n".join([summary, *details]))


def log(context: Any, message: Message) -> None:
    """Add a message to the log; the oldest, and lines beyond measure, are dropped."""
    more = len(message.details) - LINES
    details = [*message.details[:LINES], *([f"... and {more} more"] if more > 0 else [])]
    kept_ones = [*logged(context), Message(message.summary, details, message.seconds)][-LOGGED:]
    setattr(context.window_manager, LOG, json.dumps([asdict(each) for each in kept_ones]))


def logged(context: Any) -> list[Message]:
    """Return the log, oldest first."""
    text: str = getattr(context.window_manager, LOG)
    return [Message(**each) for each in json.loads(text)] if text else []


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
        """Open the popup; OK copies the report with what Copy Report adds."""
        return set(context.window_manager.invoke_props_dialog(self, width=POPUP_WIDTH, confirm_text="Copy"))

    def execute(self, _context: Any) -> set[str]:
        """Copy it."""
        return set(bpy.ops.wm.ossuary_copy_report())

    def draw(self, context: Any) -> None:
        """List the lines."""
        draw(self.layout, kept(context), POPUP_CHARACTERS)


CLASSES = (WM_OT_ossuary_report,)


def register(_package: str) -> None:
    """Add the properties that hold report and log."""
    for name in (PROPERTY, LOG):
        setattr(bpy.types.WindowManager, name, StringProperty(options={"SKIP_SAVE", "HIDDEN"}))


def unregister() -> None:
    """Take them away."""
    for name in (PROPERTY, LOG):
        delattr(bpy.types.WindowManager, name)
