"""What all export operators share: the file, its compression, and the report."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bpy
from bpy.props import BoolProperty, EnumProperty, StringProperty

from . import problems

if TYPE_CHECKING:
    from ..scene import ExportResult

POPUP_WIDTH = 110  # characters


class ExportsFile:
    """A mix-in for operators."""

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
    apply_modifiers: BoolProperty(
        name="Apply Modifiers",
        description="Write meshes as their modifiers show them. An armature's pose is not written with its model",
        default=False,
    )

    def finish(self, context: Any, result: ExportResult) -> set[str]:
        """Keep what an export found, and report in one line."""
        operator: Any = self
        problems.keep(context, result)
        if result.errors:
            operator.report({"ERROR"}, "; ".join([result.summary, *(str(each) for each in result.errors[:5])]))
            if not bpy.app.background:
                context.window_manager.popup_menu(_menu, title=result.summary, icon="ERROR")
            return {"CANCELLED"}
        operator.report({"WARNING"} if result.warnings else {"INFO"}, result.summary)
        return {"FINISHED"}


def _menu(menu: Any, context: Any) -> None:
    problems.draw(menu.layout, context, POPUP_WIDTH)
