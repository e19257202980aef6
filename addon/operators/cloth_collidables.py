"""What the Cloth panels do with collidables: make them from objects, choose which cloths meet them."""

from __future__ import annotations

from typing import Any

import bpy
from bpy.props import BoolProperty, EnumProperty, IntProperty, StringProperty

from ..scene.chosen import cloth_of
from ..scene.cloth.keys import ARMATURE, KIND, RUNTIME, SHAPED, SIM, SIMS
from ..scene.result import counted
from .cloth_edit import EditsCloth, active_sim, owner
from .cloth_playback import UsesPlayer


def active_collidable(context: Any) -> Any:
    """Return the active object where it is a collidable of a cloth's own; None otherwise."""
    obj = context.view_layer.objects.active
    return obj if obj is not None and obj.get(KIND) == "collidables" and RUNTIME not in obj else None


def _measured(context: Any) -> list[Any]:
    return [obj for obj in context.selected_objects if obj.type in SHAPED and KIND not in obj]


class OBJECT_OT_ossuary_cloth_collidable_add(EditsCloth, bpy.types.Operator):
    """Make the selected objects collidables of the cloth, on a bone: round ones, as large as the objects"""

    bl_idname = "object.ossuary_cloth_collidable_add"
    bl_label = "Add Collidable"
    bl_options = {"REGISTER", "UNDO"}

    bone: StringProperty(name="Bone", description="Carries them. Empty takes the active bone of the cloth's armature")
    keep: BoolProperty(name="Keep Objects", description="The selected objects stay beside the collidables")
    meets: EnumProperty(
        name="Met by",
        description="Which cloths of the file meet them",
        items=(
            ("ALL", "All Cloths", "Every cloth of the file"),
            ("ACTIVE", "This Cloth", "That of the active points or links"),
        ),
    )

    @classmethod
    def poll(cls, context: Any) -> bool:
        """Meshes are selected in object mode, and a cloth is meant."""
        if context.mode != "OBJECT" or not _measured(context):
            cls.poll_message_set("Select meshes in object mode, such as spheres, cylinders or cones")
            return False
        if _cloth_of(context) is None:
            cls.poll_message_set("There is more than one cloth: select an object of one too")
            return False
        return True

    def invoke(self, context: Any, _event: Any) -> set[str]:
        """Ask for the bone."""
        self.bone = self.bone or _active_bone(_cloth_of(context)[ARMATURE])
        return set(context.window_manager.invoke_props_dialog(self))

    def execute(self, context: Any) -> set[str]:
        """Add them."""
        from ..codec import FormatError
        from ..scene.cloth.make import add_collidables_from

        collection = _cloth_of(context)
        bone = self.bone or _active_bone(collection[ARMATURE])
        sim = active_sim(context)
        try:
            edited = UsesPlayer.player_now().edited.of(collection)
            sims = range(len(edited.stored.sims)) if self.meets == "ALL" or sim is None else [int(sim[SIM])]
            made = add_collidables_from(
                context, collection, edited.stored.file, _measured(context), bone, sims=sims, keep=self.keep
            )
        except FormatError as error:
            return self.refuse(error)
        for obj in context.view_layer.objects:
            obj.select_set(state=obj in made)
        context.view_layer.objects.active = made[0]
        self.report({"INFO"}, f"{counted(len(made), 'collidable')} on {bone}")
        return {"FINISHED"}

    def draw(self, context: Any) -> None:
        """Show the bones to choose from."""
        layout, collection = self.layout, _cloth_of(context)
        layout.use_property_split = True
        if collection is not None and collection.get(ARMATURE) is not None:
            layout.prop_search(self, "bone", collection[ARMATURE].data, "bones")
        layout.prop(self, "meets")
        layout.prop(self, "keep")


def _cloth_of(context: Any) -> Any:
    """Return the cloth that is meant: where the active object is of none, that of another selected one."""
    own = [found for obj in context.selected_objects if (found := cloth_of(context.scene, obj)) is not None]
    return owner(context) or (own[0] if own else None)


def _active_bone(armature: Any) -> str:
    bone = None if armature is None else armature.data.bones.active
    return "" if bone is None else str(bone.name)


class OBJECT_OT_ossuary_cloth_collidable_meets(bpy.types.Operator):
    """Let a cloth meet the active collidable, or not"""

    bl_idname = "object.ossuary_cloth_collidable_meets"
    bl_label = "Met by This Cloth"
    bl_options = {"UNDO", "INTERNAL"}

    sim: IntProperty(options={"HIDDEN"})

    @classmethod
    def poll(cls, context: Any) -> bool:
        """A collidable is active."""
        if active_collidable(context) is None:
            cls.poll_message_set("Select a collidable of the cloth")
            return False
        return True

    def execute(self, context: Any) -> set[str]:
        """Turn it."""
        from ..scene.cloth.make import meet

        obj = active_collidable(context)
        meet(obj, self.sim, meets=self.sim not in {int(each) for each in obj.get(SIMS, ())})
        obj.update_tag()
        return {"FINISHED"}


CLASSES = (OBJECT_OT_ossuary_cloth_collidable_add, OBJECT_OT_ossuary_cloth_collidable_meets)
