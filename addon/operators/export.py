"""What all export operators share: the file, its compression, and the report."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy
from bpy.props import BoolProperty, EnumProperty, StringProperty

from . import problems

if TYPE_CHECKING:
    from ..scene import ExportResult


class WritesFile:
    """A mix-in for operators that write a file."""

    filepath: StringProperty(subtype="FILE_PATH", options={"SKIP_SAVE", "HIDDEN"})
    wrapper: EnumProperty(
        name="Compression",
        description="How files whose name ends in .dcx are compressed",
        items=(
            ("DFLT", "Deflate", "What mods ship. The games read it everywhere"),
            ("KRAK", "Kraken, Uncompressed", "The games' own codec, without compression: larger, but written at once"),
        ),
        default="DFLT",
    )

    in_window: bool = False  # a user chose the file, whom a list serves better than an error

    def choose_file(self, context: Any, suggestion: str | Path) -> set[str]:
        """Ask for a file, beginning at a suggested one where none is set."""
        operator: Any = self
        operator.filepath = operator.filepath or str(suggestion)
        self.in_window = True
        context.window_manager.fileselect_add(self)
        return {"RUNNING_MODAL"}

    def finish(self, context: Any, result: ExportResult) -> set[str]:
        """Keep what an export found, and report in one line."""
        operator: Any = self
        problems.keep(context, result)
        if result.errors and self.in_window:
            operator.report({"INFO"}, result.summary)  # a warning would open a popup over the list
            bpy.ops.wm.ossuary_problems("INVOKE_DEFAULT")
            return {"CANCELLED"}
        if result.errors:
            operator.report({"ERROR"}, "; ".join([result.summary, *(str(each) for each in result.errors[:5])]))
            return {"CANCELLED"}
        operator.report({"WARNING"} if result.warnings else {"INFO"}, result.summary)
        return {"FINISHED"}


class ExportsFile(WritesFile):
    """A mix-in for those that write meshes."""

    apply_modifiers: BoolProperty(
        name="Apply Modifiers",
        description="Write meshes as their modifiers show them. An armature's pose is not written with its model",
        default=False,
    )
