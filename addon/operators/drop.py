"""Drag and drop: one handler for all files, which looks inside and calls the importer for what they hold."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import bpy
from bpy.props import CollectionProperty, StringProperty

from ..codec import FormatError
from ..codec.source import Kind, open_source

# Blender compares a name's last extension only, and most binders end in .dcx
EXTENSIONS = ".flver;.dcx;.partsbnd;.chrbnd;.objbnd;.geombnd;.mapbnd;.hkx;.hkxbhd;.hkxbdt;.geomhkxbnd"

# what a file may hold, and the operator that imports it
MODEL = "import_scene.ossuary_flver"
COLLISION = "import_scene.ossuary_collision"
CLOTH = "import_scene.ossuary_cloth"
IMPORTERS: dict[Kind, str] = {
    Kind.FLVER: MODEL,
    Kind.COLLISION: COLLISION,
    Kind.RAGDOLL: COLLISION,
    Kind.CLOTH: CLOTH,
}


class IMPORT_SCENE_OT_ossuary_drop(bpy.types.Operator):
    """Import what the dropped files hold"""

    bl_idname = "import_scene.ossuary_drop"
    bl_label = "Import Game Files"
    bl_options = {"INTERNAL"}

    directory: StringProperty(subtype="DIR_PATH", options={"SKIP_SAVE", "HIDDEN"})
    files: CollectionProperty(type=bpy.types.OperatorFileListElement, options={"SKIP_SAVE", "HIDDEN"})

    def invoke(self, context: Any, _event: Any) -> set[str]:
        """Look inside; import at once what can be only one thing, else ask."""
        return self._offer(context, "INVOKE_DEFAULT")

    def execute(self, context: Any) -> set[str]:
        """Import everything that the files hold."""
        return self._offer(context, "EXEC_DEFAULT")

    def _offer(self, context: Any, call: str) -> set[str]:
        names = [item.name for item in self.files]
        importers = {IMPORTERS[kind] for name in names for kind in self._kinds(name) if kind in IMPORTERS}
        if not importers:
            self.report({"ERROR"}, f"Nothing in {', '.join(names)} can be imported")
            return {"CANCELLED"}
        if call == "INVOKE_DEFAULT" and len(importers) > 1:
            context.window_manager.popup_menu(self._menu(sorted(importers), names), title="Import from these files")
            return {"FINISHED"}
        if MODEL in importers:
            importers.discard(CLOTH)  # which the model brings
        answers = [
            _operator(name)(call, directory=self.directory, files=[{"name": each} for each in names])
            for name in sorted(importers)
        ]
        return {"FINISHED"} if any(answer != {"CANCELLED"} for answer in answers) else {"CANCELLED"}

    def _kinds(self, name: str) -> set[Kind]:
        """Return what a file holds; a file that cannot be opened is reported and holds nothing."""
        try:
            return {member.kind for member in open_source(Path(self.directory, name)).members}
        except (FormatError, OSError) as error:
            self.report({"WARNING"}, f"{name}: {error}")
            return set()

    def _menu(self, importers: list[str], names: list[str]) -> Callable[[Any, Any], None]:
        """Return the function that draws a menu of importers for the files."""
        directory = self.directory

        def draw(menu: Any, _context: Any) -> None:
            menu.layout.operator_context = "INVOKE_DEFAULT"
            for importer in importers:
                entry = menu.layout.operator(importer)
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
