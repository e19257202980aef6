"""Drag and drop: one handler for all files, which looks inside and calls the importer for what they hold."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import bpy
from bpy.props import CollectionProperty, StringProperty

from ..codec import FormatError
from ..codec.source import Kind, open_source
from . import report

# Blender compares a name's last extension only, and most binders end in .dcx
EXTENSIONS = ".flver;.dcx;.partsbnd;.chrbnd;.objbnd;.geombnd;.mapbnd;.hkx;.hkxbhd;.hkxbdt;.geomhkxbnd"

# what a file may hold, and the operator that imports it
COLLISION = "import_scene.ossuary_collision"
IMPORTERS: dict[Kind, str] = {
    Kind.FLVER: "import_scene.ossuary_flver",
    Kind.COLLISION: COLLISION,
    Kind.RAGDOLL: COLLISION,
}


class IMPORT_SCENE_OT_ossuary_drop(bpy.types.Operator):
    """Import what the dropped files hold"""

    bl_idname = "import_scene.ossuary_drop"
    bl_label = "Import Game Files"
    bl_options = {"UNDO", "INTERNAL"}

    directory: StringProperty(subtype="DIR_PATH", options={"SKIP_SAVE", "HIDDEN"})
    files: CollectionProperty(type=bpy.types.OperatorFileListElement, options={"SKIP_SAVE", "HIDDEN"})

    def invoke(self, context: Any, _event: Any) -> set[str]:
        """Look inside; import at once what can be only one thing, else ask."""
        return self._offer(context, "INVOKE_DEFAULT")

    def execute(self, context: Any) -> set[str]:
        """Import everything that the files hold."""
        return self._offer(context, "EXEC_DEFAULT")

    def _offer(self, context: Any, call: str) -> set[str]:
        names, faults = [item.name for item in self.files], list[str]()
        importers = {IMPORTERS[kind] for name in names for kind in self._kinds(name, faults) if kind in IMPORTERS}
        if not importers:
            summary = f"Nothing in {', '.join(names)} can be imported"
            report.keep(context, summary, faults)
            self.report({"ERROR"}, "; ".join([summary, *faults]))
            return {"CANCELLED"}
        ordered = [each for each in dict.fromkeys(IMPORTERS.values()) if each in importers]
        if call == "INVOKE_DEFAULT" and len(importers) > 1:
            context.window_manager.popup_menu(self._menu(ordered, names), title="Import from these files")
            return {"INTERFACE"}
        answers = [self._import(name, call, names) for name in ordered]
        if call == "INVOKE_DEFAULT":
            return {"INTERFACE"}  # the importer's own step is the one to undo
        return {"FINISHED"} if {"FINISHED"} in answers else {"CANCELLED"}

    def _import(self, importer: str, call: str, names: list[str]) -> set[str]:
        """Call an importer; what it says of files that it can make nothing of is said by this operator."""
        try:
            answer = _operator(importer)(call, directory=self.directory, files=[{"name": each} for each in names])
        except RuntimeError as error:  # which is how bpy.ops hands on an error that was reported
            self.report({"ERROR"}, str(error).removeprefix("Error: ").strip())
            return {"CANCELLED"}
        return set(answer)

    def _kinds(self, name: str, faults: list[str]) -> set[Kind]:
        """Return what a file holds; a file that cannot be opened holds nothing, and why is added to the faults."""
        try:
            return {member.kind for member in open_source(Path(self.directory, name)).members}
        except FormatError as error:
            faults.append(f"{name}: {error.within(name)}")
        except OSError as error:
            faults.append(f"{name}: {error.strerror or error}")
        return set()

    def _menu(self, importers: list[str], names: list[str]) -> Callable[[Any, Any], None]:
        """Return the function that draws a menu of importers for the files."""
        directory, self_name = self.directory, self.bl_idname

        def draw(menu: Any, _context: Any) -> None:
            menu.layout.operator_context = "INVOKE_DEFAULT"
            for importer in importers:
                add(menu.layout.operator(importer))
            menu.layout.separator()
            menu.layout.operator_context = "EXEC_DEFAULT"
            add(menu.layout.operator(self_name, text="Import All, without Options"))

        def add(entry: Any) -> None:
            entry.directory = directory
            for name in names:
                entry.files.add().name = name

        return draw


def _operator(name: str) -> Any:
    group, function = name.split(".")
    return getattr(getattr(bpy.ops, group), function)


class OSSUARY_FH_drop(bpy.types.FileHandler):
    """Takes files dropped on the 3D viewport and the outliner"""

    bl_idname = "OSSUARY_FH_drop"
    bl_label = "Ossuary"
    bl_import_operator = IMPORT_SCENE_OT_ossuary_drop.bl_idname
    bl_file_extensions = EXTENSIONS

    @classmethod
    def poll_drop(cls, context: Any) -> bool:
        """Tell whether files may be dropped here."""
        return context.area is None or context.area.type in {"VIEW_3D", "OUTLINER"}


_CLASSES = (IMPORT_SCENE_OT_ossuary_drop, OSSUARY_FH_drop)


def register(_package: str) -> None:
    """Register the operator and its handler."""
    for cls in _CLASSES:
        bpy.utils.register_class(cls)


def unregister() -> None:
    """Take both away."""
    for cls in reversed(_CLASSES):
        bpy.utils.unregister_class(cls)
