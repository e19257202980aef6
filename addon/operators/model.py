"""What the Model panel does: show and hide parts, frame the model, tell what was changed."""

from __future__ import annotations

from typing import Any

import bpy
from bpy.props import EnumProperty

from ..scene.chosen import chosen_model
from ..scene.keys import models
from ..scene.shown import DUMMIES, LEVELS, MESHES, are_shown, model_parts, show
from . import report


class UsesModel:
    """A mix-in for operators on the active model."""

    @classmethod
    def poll(cls, context: Any) -> bool:
        """There is a model; which one is meant costs too much to be looked up with each redraw."""
        operator: Any = cls
        if not models(context):
            operator.poll_message_set("There is no imported model in this scene")
            return False
        return True

    def execute(self, context: Any) -> set[str]:
        """Do it with the active model, or with the only one."""
        collection = chosen_model(context)
        if collection is None:
            operator: Any = self
            operator.report({"ERROR"}, "Select a part of the model: there are several")
            return {"CANCELLED"}
        return self.run(context, collection)

    def run(self, context: Any, collection: Any) -> set[str]:
        """Do it with a model."""
        raise NotImplementedError


class OBJECT_OT_ossuary_model_show(UsesModel, bpy.types.Operator):
    """Show or hide these parts of the model"""

    bl_idname = "object.ossuary_model_show"
    bl_label = "Show or Hide Parts"
    bl_options = {"UNDO", "INTERNAL"}

    part: EnumProperty(
        name="Part",
        description="What is shown or hidden",
        items=(
            (MESHES, "Meshes", "The meshes that are seen in the game"),
            (LEVELS, "Levels of Detail", "Further levels of detail, which are seen from far away"),
            (DUMMIES, "Dummies", "Attachment points"),
        ),
    )

    @classmethod
    def description(cls, _context: Any, properties: Any) -> str:
        """Say what is shown or hidden."""
        item = cls.bl_rna.properties["part"].enum_items[properties.part]
        return f"Show or hide: {item.description[0].lower()}{item.description[1:]}"

    def run(self, context: Any, collection: Any) -> set[str]:
        """Turn the eyes of the objects."""
        parts = model_parts(collection)[self.part]
        show(parts, context, shown=not are_shown(parts, context))
        return {"FINISHED"}


class VIEW3D_OT_ossuary_frame_model(UsesModel, bpy.types.Operator):
    """Bring the meshes of the model into view. Dummies may lie far ahead of them, which Frame All shows too"""

    bl_idname = "view3d.ossuary_frame_model"
    bl_label = "Frame Model"
    bl_options = {"INTERNAL"}

    @classmethod
    def poll(cls, context: Any) -> bool:
        """There is a model, in object mode."""
        if not super().poll(context):
            return False
        operator: Any = cls
        if context.mode != "OBJECT":
            operator.poll_message_set("Only in object mode")
            return False
        return True

    def run(self, context: Any, collection: Any) -> set[str]:
        """Frame the meshes as if they were selected; what is selected stays so."""
        wanted = [each for each in model_parts(collection)[MESHES] if each.visible_get(view_layer=context.view_layer)]
        if not wanted:
            self.report({"WARNING"}, "None of its meshes is visible")
            return {"CANCELLED"}
        before = list(context.selected_objects)
        try:
            _select_only(context, wanted)
            bpy.ops.view3d.view_selected()
        finally:
            _select_only(context, before)
        return {"FINISHED"}


def _select_only(context: Any, objects: list[Any]) -> None:
    for obj in context.selected_objects:
        obj.select_set(state=False)
    for obj in objects:
        obj.select_set(state=True)


class OBJECT_OT_ossuary_model_changes(UsesModel, bpy.types.Operator):
    """Tell what of the model was changed since the import, and what would stand in the way of an export"""

    bl_idname = "object.ossuary_model_changes"
    bl_label = "What Has Changed"
    bl_options = {"INTERNAL"}

    def run(self, context: Any, collection: Any) -> set[str]:
        """Compare, and keep the findings as the report."""
        from ..scene.changes import model_changes

        found = model_changes(context, collection)
        lines = [f"{collection.name}: {line}" for line in found.details]
        report.keep(context, f"{collection.name}: {found.summary}", lines)
        self.report({"WARNING"} if found.problems.errors else {"INFO"}, found.summary)
        if lines and not bpy.app.background:
            bpy.ops.wm.ossuary_report("INVOKE_DEFAULT")
        return {"FINISHED"}


CLASSES = (OBJECT_OT_ossuary_model_show, VIEW3D_OT_ossuary_frame_model, OBJECT_OT_ossuary_model_changes)
