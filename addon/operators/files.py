"""What all import operators share: which files, the file browser, progress, and the report.

Several files that were chosen in Blender's window are imported one after another with the window alive between them,
so that it says how far it is and Esc stops it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from pathlib import Path
from typing import Any

import bpy
from bpy.props import CollectionProperty, FloatProperty, StringProperty

from ..scene.cache import DecodedCache
from ..scene.result import FilesResult, counted
from . import report

PAUSE = 0.01  # seconds between files, in which Blender draws and hears of Esc


class ImportsFiles:
    """A mix-in for operators: the chosen files, and an `execute` around what `run` does with them."""

    cache: DecodedCache | None = None
    _result: FilesResult | None = None  # of the files that are imported, while there are others
    _left: str = ""  # how many files Esc has left

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
        self._in_window = True
        if self.files:
            return set(context.window_manager.invoke_props_dialog(self, width=360, confirm_text="Import"))
        context.window_manager.fileselect_add(self)
        return {"RUNNING_MODAL"}

    def execute(self, context: Any) -> set[str]:
        """Import the chosen files and report in one line."""
        paths, self._left = self.all_paths(context), ""
        if getattr(self, "_in_window", False) and len(paths) > 1:
            return self._begin(context, paths)
        context.window_manager.progress_begin(0, 100)
        try:
            result = self._run(context, paths, 0.0, 1.0)
        finally:
            context.window_manager.progress_end()
        return self._finish(context, result)

    def modal(self, context: Any, event: Any) -> set[str]:
        """Import the next file; Esc keeps what is there and leaves the rest. Nothing else is heard meanwhile."""
        waiting = self._waiting
        if event.type == "ESC":
            self._result = self._result or FilesResult()
            self._left = counted(len(waiting), "file")
            waiting.clear()
        elif event.type == "TIMER" and waiting:
            self._import_next(context)
            self._say(context)
        if waiting or self._result is None:
            return {"RUNNING_MODAL"}
        self._end(context)
        return self._finish(context, self._result)

    def cancel(self, context: Any) -> None:
        """Give back what shows the progress, for Blender ends."""
        if getattr(self, "_timer", None) is not None:
            self._end(context)

    def all_paths(self, _context: Any) -> list[Path]:
        """Return the files to import."""
        return self.paths()

    def paths(self) -> list[Path]:
        """Return the chosen files."""
        names = [item.name for item in self.files if item.name]
        return [Path(self.directory, name) for name in names] or [Path(self.filepath)]

    def _run(self, context: Any, paths: list[Path], done: float, share: float) -> FilesResult:
        """Import files, which are a share of all of which some are done."""
        manager = context.window_manager
        return self.run(context, paths, lambda part: manager.progress_update(int(100 * (done + share * part))))

    def _begin(self, context: Any, paths: list[Path]) -> set[str]:
        """Import files one at a time from now on."""
        manager = context.window_manager
        self._in_window = False  # the redo panel does all at once
        self._waiting, self._count = list(paths), len(paths)
        self._result = None
        self._decoded: dict[Hashable, Any] = {}
        self._timer = manager.event_timer_add(PAUSE, window=context.window)
        manager.progress_begin(0, 100)
        manager.modal_handler_add(self)
        self._say(context)
        return {"RUNNING_MODAL"}

    def _import_next(self, context: Any) -> None:
        done = self._count - len(self._waiting)
        result = self._run(context, [self._waiting.pop(0)], done / self._count, 1 / self._count)
        if self.cache is not None:
            self._decoded |= self.cache.files
            self.cache.files = dict(self._decoded)
        if self._result is None:
            self._result = result
        else:
            self._result.add(result)

    def _say(self, context: Any) -> None:
        """Say in the status bar which file is next."""
        if self._waiting and context.workspace is not None:
            number = self._count - len(self._waiting) + 1
            text = f"Importing {self._waiting[0].name} ({number} of {self._count}). Esc stops after the file at work"
            context.workspace.status_text_set(text)

    def _end(self, context: Any) -> None:
        manager = context.window_manager
        manager.event_timer_remove(self._timer)
        self._timer = None
        manager.progress_end()
        if context.workspace is not None:
            context.workspace.status_text_set(None)

    def _finish(self, context: Any, result: FilesResult) -> set[str]:
        stopped = [f"Stopped by Esc: {self._left} not imported"] if self._left else []
        report.keep(context, "; ".join([result.summary, *stopped]), result.details, result.timings.seconds)
        if context.area is not None:
            context.area.tag_redraw()  # the sidebar shows the report, also where the scene is as it was
        operator: Any = self
        if stopped:
            operator.report({"INFO"}, stopped[0])
        elif result.made:
            operator.report({"WARNING"} if result.failures else {"INFO"}, result.summary)
        else:
            operator.report({"ERROR"}, ";\n".join(result.details) or result.summary)
        return {"FINISHED"} if result.made else {"CANCELLED"}
