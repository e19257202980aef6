"""Meshes turned into collision, and hit materials of faces."""

from __future__ import annotations

from typing import Any

import bpy
from bpy.props import BoolProperty, EnumProperty, FloatProperty, IntProperty, StringProperty

from ..scene.collision.keys import SET, CollisionSet, Mode
from ..scene.result import counted
from .collision import PROPERTY
from .import_collision import SET_ITEMS
from .preferences import preferences

INT_MAX = 2**31 - 1


def _color(context: Any) -> Mode:

    return Mode(getattr(context.scene, PROPERTY).color)


class OBJECT_OT_ossuary_make_collision(bpy.types.Operator):
    """Turn the selected meshes into collision bodies, which Export Collision compiles"""

    bl_idname = "object.ossuary_make_collision"
    bl_label = "Make Collision"
    bl_options = {"REGISTER", "UNDO"}

    into: BoolProperty(
        name="Into the Active Body's File",
        description="Add the bodies to the file of the active body, with its set, game and radius",
        default=False,
    )
    set: EnumProperty(name="Set", description="What the bodies are for", items=SET_ITEMS, default="h")
    game: EnumProperty(
        name="Game",
        description="Which game's form the file has",
        items=(("eldenring", "Elden Ring", "Havok 2018.1"), ("sekiro", "Sekiro", "Havok 2016.2")),
        default="eldenring",
    )
    material: IntProperty(
        name="Hit Material", description="Of all faces; -1 in the games' f sets", default=0, min=-1, max=INT_MAX
    )
    radius: FloatProperty(
        name="Convex Radius",
        description="How far outside of the faces things collide. 0.015 in the games' maps",
        default=0.015,
        min=0.0,
        soft_max=0.1,
        max=1000.0,
        subtype="DISTANCE",
        precision=4,
    )
    area: StringProperty(
        name="File", description="Bodies with the same text and set go into one file. Empty for the active one's name"
    )

    @classmethod
    def poll(cls, context: Any) -> bool:
        """A mesh that is no body is selected, in object mode."""
        if context.mode != "OBJECT":
            cls.poll_message_set("Leave edit or pose mode first")
            return False
        if not any(obj.type == "MESH" and SET not in obj for obj in context.selected_objects):
            cls.poll_message_set("Select meshes that are to become collision")
            return False
        return True

    def execute(self, context: Any) -> set[str]:
        """Turn them."""
        from ..scene.collision.make import NewCollision, make_collision
        from ..scene.collision.sources import CollisionSource

        active = context.object
        beside = active if self.into and active is not None and SET in active else None
        if self.into and (beside is None or CollisionSource.of(beside) is None):
            self.report({"ERROR"}, "The active object is no body that came from a file")
            return {"CANCELLED"}
        settings = NewCollision(CollisionSet(self.set), self.game, self.material, self.radius, self.area)
        chosen = sorted(context.selected_objects, key=lambda obj: obj != active)
        made = make_collision(context, chosen, settings, beside, _color(context), colors=preferences(context).colors)
        self.report({"INFO"}, counted(len(made), "body", "bodies"))
        return {"FINISHED"}


class MESH_OT_ossuary_collision_material(bpy.types.Operator):
    """Give the selected faces of the body, or in object mode all, another hit material. New faces take it too"""

    bl_idname = "mesh.ossuary_collision_material"
    bl_label = "Assign Hit Material"
    bl_options = {"REGISTER", "UNDO"}

    material: IntProperty(name="Hit Material", description="Its id; -1 for none", default=0, min=-1, max=INT_MAX)

    @classmethod
    def poll(cls, context: Any) -> bool:
        """A body is active."""
        obj = context.object
        if obj is None or SET not in obj or obj.type != "MESH":
            cls.poll_message_set("Select a collision body: none is active")
            return False
        if obj.mode not in {"OBJECT", "EDIT"}:
            cls.poll_message_set("Only in object and edit mode")
            return False
        return True

    def execute(self, context: Any) -> set[str]:
        """Assign it; what is being edited leaves edit mode for the moment."""
        from ..scene.collision.make import assign_material

        edited = context.mode == "EDIT_MESH"
        if edited:
            bpy.ops.object.mode_set(mode="OBJECT")
        colors = preferences(context).colors
        count = assign_material(context.object, self.material, selected=edited, color=_color(context), colors=colors)
        if edited:
            bpy.ops.object.mode_set(mode="EDIT")
        self.report({"INFO"}, counted(count, "face"))
        return {"FINISHED"}


CLASSES = (OBJECT_OT_ossuary_make_collision, MESH_OT_ossuary_collision_material)
