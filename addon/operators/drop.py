"""Drag and drop: one handler for all files, which looks inside and calls the importer for what they hold."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import bpy
from bpy.props import CollectionProperty, StringProperty

from . import report

# Blender compares a name's last extension only, and most binders end in .dcx
EXTENSIONS = ".flver;.dcx;.partsbnd;.chrbnd;.objbnd;.geombnd;.mapbnd;.hkx;.hkxbhd;.hkxbdt;.geomhkxbnd"

# what a file may hold, and the operator that imports it
MODEL = "import_scene.ossuary_flver"
COLLISION = "import_scene.ossuary_collision"
CLOTH = "import_scene.ossuary_cloth"
IMPORTERS = {"flver": MODEL, "collision": COLLISION, "ragdoll": COLLISION, "cloth": CLOTH}  # by the values of Kind


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
        holding = self._holding(names, faults)
        if not holding:
            summary = f"Nothing in {', '.join(names)} can be imported"
            report.keep(context, summary, faults)
            self.report({"ERROR"}, ";\n".join([summary, *faults]))
            return {"CANCELLED"}
        if call == "EXEC_DEFAULT":
            return self._import_all(context, _without_what_models_bring(holding), faults)
        if faults:
            self.report({"WARNING"}, ";\n".join(faults))
        if len(holding) > 1:
            context.window_manager.popup_menu(self._menu(holding), title="Import from these files")
        for importer, chosen in holding.items() if len(holding) == 1 else ():
            self._import(importer, call, chosen)
        return {"INTERFACE"}  # the importer's own step is the one to undo

    def _holding(self, names: list[str], faults: list[str]) -> dict[str, list[str]]:
        """Return importers, in the order of `IMPORTERS`, with the files that hold something for them.

        Args:
            names: the files.
            faults: takes a line for each file that holds nothing or cannot be opened.
        """
        from ..codec import FormatError
        from ..codec.source import open_source

        found: dict[str, list[str]] = {importer: [] for importer in IMPORTERS.values()}
        for name in names:
            try:
                kinds = {member.kind for member in open_source(Path(self.directory, name)).members}
            except FormatError as error:
                faults.append(f"{name}: {error.within(name)}")
                continue
            except OSError as error:
                faults.append(f"{name}: {error.strerror or error}")
                continue
            importers = {IMPORTERS[kind] for kind in kinds if kind in IMPORTERS}
            for importer in importers:
                found[importer].append(name)
            if not importers:
                faults.append(f"{name}: holds nothing that can be imported")
        return {importer: chosen for importer, chosen in found.items() if chosen}

    def _import_all(self, context: Any, holding: dict[str, list[str]], faults: list[str]) -> set[str]:
        """Call importers, and make one report of theirs."""
        done, summaries, details = False, list[str](), list(faults)
        for importer, names in holding.items():
            done |= "FINISHED" in self._import(importer, "EXEC_DEFAULT", names)
            lines = report.kept(context)
            summaries += lines[:1]
            details += lines[1:]
        report.show(context, "; ".join(summaries), details)
        if done:
            self.report({"WARNING"} if faults else {"INFO"}, "; ".join(summaries))
        return {"FINISHED"} if done else {"CANCELLED"}

    def _import(self, importer: str, call: str, names: list[str]) -> set[str]:
        """Call an importer; what it says of files that it can make nothing of is said by this operator."""
        try:
            answer = _operator(importer)(call, directory=self.directory, files=[{"name": each} for each in names])
        except RuntimeError as error:  # which is how bpy.ops hands on an error that was reported
            self.report({"ERROR"}, str(error).removeprefix("Error: ").strip())
            return {"CANCELLED"}
        return set(answer)

    def _menu(self, holding: dict[str, list[str]]) -> Callable[[Any, Any], None]:
        """Return the function that draws a menu of importers, each for its files."""
        directory, everything = self.directory, [item.name for item in self.files]

        def draw(menu: Any, _context: Any) -> None:
            menu.layout.operator_context = "INVOKE_DEFAULT"
            for importer, names in holding.items():
                add(menu.layout.operator(importer), names)
            menu.layout.separator()
            menu.layout.operator_context = "EXEC_DEFAULT"
            entry = menu.layout.operator(IMPORT_SCENE_OT_ossuary_drop.bl_idname, text="Import All, without Options")
            add(entry, everything)

        def add(entry: Any, names: list[str]) -> None:
            entry.directory = directory
            for name in names:
                entry.files.add().name = name

        return draw


def _without_what_models_bring(holding: dict[str, list[str]]) -> dict[str, list[str]]:
    """Return importers and their files, but for the cloth beside a model, which comes with it."""
    alone = [name for name in holding.get(CLOTH, []) if name not in holding.get(MODEL, [])]
    return {each: names for each, names in (holding | {CLOTH: alone}).items() if names}


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


CLASSES = (IMPORT_SCENE_OT_ossuary_drop, OSSUARY_FH_drop)
