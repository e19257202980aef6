"""The feel of cloth - stiffness, damping, masses - copied, pasted, kept in files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import bpy
from bpy.props import StringProperty

from ..scene.cloth.keys import SIM
from . import report
from .cloth_edit import EditsCloth, active_sim, owner
from .cloth_playback import UsesPlayer

PROPERTY = "ossuary_cloth_feel"
ENDING = ".json"


class _OnCloth(EditsCloth):
    """A mix-in for operators on one simulated cloth."""

    @classmethod
    def poll(cls, context: Any) -> bool:
        """Points or links of a cloth are active."""
        operator: Any = cls
        if active_sim(context) is None or owner(context) is None:
            operator.poll_message_set("Select the points or links of a cloth")
            return False
        if context.mode != "OBJECT":
            operator.poll_message_set("Leave edit or pose mode first")
            return False
        return True

    def copied(self, context: Any) -> str:
        """Return the feel of the active cloth."""
        from ..scene.cloth.feel import copy_feel

        edited = UsesPlayer.player_now().edited.of(owner(context))
        return copy_feel(edited, int(active_sim(context)[SIM]))

    def pasted(self, context: Any, text: str) -> set[str]:
        """Give the active cloth a feel, and report."""
        from ..scene.cloth.feel import paste_feel

        operator: Any = self
        collection = owner(context)
        lines = paste_feel(collection, self.stored(collection), int(active_sim(context)[SIM]), text)
        if lines:
            report.keep(context, "Feel pasted", lines)
        operator.report({"WARNING"} if lines else {"INFO"}, "; ".join(["Feel pasted", *lines]))
        return {"FINISHED"}


class SCENE_OT_ossuary_cloth_feel_copy(_OnCloth, bpy.types.Operator):
    """Remember stiffness, damping and masses of this cloth, to paste them onto another"""

    bl_idname = "scene.ossuary_cloth_feel_copy"
    bl_label = "Copy Feel"
    bl_options = {"REGISTER"}

    def execute(self, context: Any) -> set[str]:
        """Do it."""
        from ..codec import FormatError

        try:
            setattr(context.window_manager, PROPERTY, self.copied(context))
        except FormatError as error:
            return self.refuse(error)
        return {"FINISHED"}


class SCENE_OT_ossuary_cloth_feel_paste(_OnCloth, bpy.types.Operator):
    """Give this cloth the stiffness, damping and masses of the copied one, by relative position"""

    bl_idname = "scene.ossuary_cloth_feel_paste"
    bl_label = "Paste Feel"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: Any) -> bool:
        """Something was copied."""
        if not super().poll(context):
            return False
        if not getattr(context.window_manager, PROPERTY):
            cls.poll_message_set("Copy the feel of a cloth first")
            return False
        return True

    def execute(self, context: Any) -> set[str]:
        """Do it."""
        from ..codec import FormatError

        try:
            return self.pasted(context, getattr(context.window_manager, PROPERTY))
        except FormatError as error:
            return self.refuse(error)


class _WithFile(_OnCloth):
    """A mix-in for those that keep a feel in a file."""

    filepath: StringProperty(subtype="FILE_PATH", options={"SKIP_SAVE", "HIDDEN"})
    filter_glob: StringProperty(default=f"*{ENDING}", options={"HIDDEN"})

    def invoke(self, context: Any, _event: Any) -> set[str]:
        """Ask for the file."""
        context.window_manager.fileselect_add(self)
        return {"RUNNING_MODAL"}

    @property
    def path(self) -> Path:
        """The file."""
        path = Path(bpy.path.abspath(self.filepath))
        return path if path.suffix else path.with_suffix(ENDING)


class SCENE_OT_ossuary_cloth_feel_save(_WithFile, bpy.types.Operator):
    """Write stiffness, damping and masses of this cloth into a file, for other scenes and people"""

    bl_idname = "scene.ossuary_cloth_feel_save"
    bl_label = "Save Feel..."
    bl_options = {"REGISTER"}

    def execute(self, context: Any) -> set[str]:
        """Do it."""
        from ..codec import FormatError

        try:
            self.path.write_text(self.copied(context), "utf-8")
        except (FormatError, OSError) as error:
            return self.refuse(error)
        return {"FINISHED"}


class SCENE_OT_ossuary_cloth_feel_load(_WithFile, bpy.types.Operator):
    """Give this cloth the stiffness, damping and masses that a file has"""

    bl_idname = "scene.ossuary_cloth_feel_load"
    bl_label = "Load Feel..."
    bl_options = {"REGISTER", "UNDO"}

    def execute(self, context: Any) -> set[str]:
        """Do it."""
        from ..codec import FormatError

        try:
            return self.pasted(context, self.path.read_text("utf-8"))
        except (FormatError, OSError, UnicodeDecodeError) as error:
            return self.refuse(error)


CLASSES = (
    SCENE_OT_ossuary_cloth_feel_copy,
    SCENE_OT_ossuary_cloth_feel_paste,
    SCENE_OT_ossuary_cloth_feel_save,
    SCENE_OT_ossuary_cloth_feel_load,
)


def register(_package: str) -> None:
    """Add the property that holds what was copied."""
    setattr(bpy.types.WindowManager, PROPERTY, StringProperty(options={"SKIP_SAVE", "HIDDEN"}))


def unregister() -> None:
    """Take it away."""
    delattr(bpy.types.WindowManager, PROPERTY)
