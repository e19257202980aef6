"""What the Collision panel does: show sets and parts, colour, select like faces, check, reassign."""

from __future__ import annotations

from typing import Any

import bpy
from bpy.props import BoolProperty, EnumProperty, PointerProperty, StringProperty

from ..scene.collision.keys import PART, SET, CollisionSet, Mode, collision_objects, layer_collections
from ..scene.result import counted
from . import report
from .import_collision import COLOR_ITEMS, SET_ITEMS
from .preferences import preferences

PROPERTY = "ossuary_collision"


def _objects(context: Any) -> list[Any]:

    return collision_objects(context.scene)


def _has_active_face(obj: Any) -> bool:
    if obj is None or SET not in obj:
        return False
    from ..scene.collision.faces import active_face

    return active_face(obj) is not None


def recolor(context: Any) -> None:
    """Colour all bodies of the scene; what is being edited leaves edit mode for the moment."""
    from ..scene.collision.colors import paint_all

    edited = context.mode == "EDIT_MESH"
    if edited:
        bpy.ops.object.mode_set(mode="OBJECT")
    color = Mode(getattr(context.scene, PROPERTY).color)
    paint_all(_objects(context), color, preferences(context).colors)
    if edited:
        bpy.ops.object.mode_set(mode="EDIT")


def _recolor(_settings: Any, context: Any) -> None:
    recolor(context)


def _show_wire(settings: Any, context: Any) -> None:
    for obj in _objects(context):
        obj.show_wire = obj.show_all_edges = settings.wire


def _show_in_front(settings: Any, context: Any) -> None:
    for obj in _objects(context):
        obj.show_in_front = settings.in_front


class OssuaryCollisionView(bpy.types.PropertyGroup):
    """How the collision of a scene is shown."""

    color: EnumProperty(
        name="Colour by", description="What the colours of faces tell", items=COLOR_ITEMS, update=_recolor
    )
    wire: BoolProperty(
        name="Wireframe", description="Draw the edges of all collision over its faces", update=_show_wire
    )
    in_front: BoolProperty(
        name="In Front", description="Draw collision over the models it is hidden by", update=_show_in_front
    )


class OBJECT_OT_ossuary_collision_set(bpy.types.Operator):
    """Show or hide all bodies of a set"""

    bl_idname = "object.ossuary_collision_set"
    bl_label = "Show or Hide Set"
    bl_options = {"UNDO", "INTERNAL"}

    name: StringProperty(options={"HIDDEN"})

    def execute(self, context: Any) -> set[str]:
        """Turn the eye of the set's collections."""
        entries = layer_collections(context.view_layer, self.name)
        hide = not all(entry.hide_viewport for entry in entries)
        for entry in entries:
            entry.hide_viewport = hide
        return {"FINISHED"}


class OBJECT_OT_ossuary_collision_part(bpy.types.Operator):
    """Show or hide the h, l and f bodies of the active body's part together"""

    bl_idname = "object.ossuary_collision_part"
    bl_label = "Show or Hide Part"
    bl_options = {"UNDO"}

    @classmethod
    def poll(cls, context: Any) -> bool:
        """A body of a part, or the part, is active."""
        if context.object is None or not context.object.get(PART):
            cls.poll_message_set("Select a body of a map: only those are in parts")
            return False
        return True

    def execute(self, context: Any) -> set[str]:
        """Turn the eyes of the part's bodies."""
        part = context.object[PART]
        bodies = [obj for obj in _objects(context) if obj.get(PART) == part and obj.name in context.view_layer.objects]
        hide = any(not obj.hide_get() for obj in bodies)
        for obj in bodies:
            obj.hide_set(state=hide)
        return {"FINISHED"}


class OBJECT_OT_ossuary_collision_assign(bpy.types.Operator):
    """Move the selected bodies to another set"""

    bl_idname = "object.ossuary_collision_assign"
    bl_label = "Assign to Set"
    bl_options = {"REGISTER", "UNDO"}

    set: EnumProperty(name="Set", description="Where the bodies go", items=SET_ITEMS)

    @classmethod
    def poll(cls, context: Any) -> bool:
        """A body is selected, in object mode."""
        if context.mode != "OBJECT" or not any(SET in obj for obj in context.selected_objects):
            cls.poll_message_set("Select collision bodies in object mode")
            return False
        return True

    def execute(self, context: Any) -> set[str]:
        """Move them and colour them anew."""
        from ..scene.collision.colors import paint_all
        from ..scene.collision.sets import reassign

        bodies = [obj for obj in context.selected_objects if SET in obj and obj.type == "MESH"]
        reassign(bodies, CollisionSet(self.set), context)
        paint_all(bodies, Mode(getattr(context.scene, PROPERTY).color), preferences(context).colors)
        return {"FINISHED"}


class MESH_OT_ossuary_collision_like(bpy.types.Operator):
    """Select all faces of the body that are like the active face"""

    bl_idname = "mesh.ossuary_collision_like"
    bl_label = "Select Faces like This"
    bl_options = {"REGISTER", "UNDO"}

    what: EnumProperty(
        name="Like in",
        description="What the faces have in common with the active one",
        items=(
            ("MATERIAL", "Material", "The hit material"),
            ("SECTION", "Section", "The section of the mesh"),
            ("INTERIOR", "Interior", "The interior mark"),
            ("KIND", "Kind", "What the face comes from"),
            ("DATA", "Table Entry", "The entry of the material table"),
        ),
    )

    @classmethod
    def poll(cls, context: Any) -> bool:
        """A body with an active face."""
        if not _has_active_face(context.object):
            cls.poll_message_set("Click a face of a collision body in edit mode")
            return False
        return True

    def execute(self, context: Any) -> set[str]:
        """Select them."""
        from ..scene.collision.faces import LIKE, select_like

        count = select_like(context, context.object, self.what)
        self.report({"INFO"}, f"{counted(count, 'face')} with the same {LIKE[self.what]}")
        return {"FINISHED"}


class OBJECT_OT_ossuary_collision_check(bpy.types.Operator):
    """Check the compressed meshes of the selected bodies, or of all, in the files they come from"""

    bl_idname = "object.ossuary_collision_check"
    bl_label = "Check Collision"
    bl_options = {"INTERNAL"}

    @classmethod
    def poll(cls, context: Any) -> bool:
        """There are bodies."""
        if not any(SET in obj for obj in context.scene.objects):
            cls.poll_message_set("There is no collision in this scene")
            return False
        return True

    def execute(self, context: Any) -> set[str]:
        """Check, and keep the findings as the report."""
        from ..scene.collision.recheck import recheck

        bodies = _objects(context)
        chosen = [obj for obj in bodies if obj in context.selected_objects] or bodies
        checked, lines = recheck(chosen)
        meshes, findings = counted(checked, "compressed mesh", "compressed meshes"), counted(len(lines), "finding")
        summary = f"Checked {meshes}: {findings}"
        report.keep(context, summary, lines)
        self.report({"WARNING"} if lines else {"INFO"}, summary)
        if lines and not bpy.app.background:
            bpy.ops.wm.ossuary_report("INVOKE_DEFAULT")
        return {"FINISHED"}


CLASSES = (
    OssuaryCollisionView,
    OBJECT_OT_ossuary_collision_set,
    OBJECT_OT_ossuary_collision_part,
    OBJECT_OT_ossuary_collision_assign,
    MESH_OT_ossuary_collision_like,
    OBJECT_OT_ossuary_collision_check,
)


def register(_package: str) -> None:
    """Add how collision is shown as a property of scenes."""
    setattr(bpy.types.Scene, PROPERTY, PointerProperty(type=OssuaryCollisionView))


def unregister() -> None:
    """Take it away."""
    delattr(bpy.types.Scene, PROPERTY)
