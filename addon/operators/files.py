"""What all import operators share: which files, the file browser, progress, and the report."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import bpy
from bpy.props import CollectionProperty, FloatProperty, StringProperty

from ..scene.cache import DecodedCache
from ..scene.result import FilesResult
from . import report


class ImportsFiles:
    """A mix-in for operators: the chosen files, and an `execute` around what `run` does with them."""

    cache: DecodedCache | None = None

    filepath: StringProperty(subtype="FILE_PATH", options={"SKIP_SAVE", "HIDDEN"})
    directory: StringProperty(subtype="DIR_PATH", options={"SKIP_SAVE", "HIDDEN"})
    files: CollectionProperty(type=bpy.types.OperatorFileListElement, options={"SKIP_SAVE", "HIDDEN"})
    scale: FloatProperty(
        name="Scale",
        description="Size of what is imported in the scene. Leave 1 unless your scene is not in metres",
        default=1.0,
        min=0.0001,
        soft_min=0.01,
        soft_max=100.0,
    )

    def run(self, context: Any, paths: list[Path], progress: Callable[[float], None]) -> FilesResult:
        """Import files."""
        raise NotImplementedError

    def invoke(self, context: Any, _event: Any) -> set[str]:
        """Ask for files; for files that were dropped, ask for the options only."""
        if self.files:
            return set(context.window_manager.invoke_props_dialog(self, width=360, confirm_text="Import"))
        context.window_manager.fileselect_add(self)
        return {"RUNNING_MODAL"}

    def execute(self, context: Any) -> set[str]:
        """Import the chosen files and report in one line."""
        manager = context.window_manager
        manager.progress_begin(0, 100)
        try:
            result = self.run(context, self.paths(), lambda share: manager.progress_update(int(share * 100)))
        finally:
            manager.progress_end()
        report.keep(context, result.summary, result.details, result.timings.seconds)
        operator: Any = self
        if result.made:
            operator.report({"WARNING"} if result.failures else {"INFO"}, result.summary)
        else:
            operator.report({"ERROR"}, ";\n".join(result.details) or result.summary)
        return {"FINISHED"} if result.made else {"CANCELLED"}

    def paths(self) -> list[Path]:
        """Return the chosen files."""
        names = [item.name for item in self.files if item.name]
        return [Path(self.directory, name) for name in names] or [Path(self.filepath)]
