"""What the Cloth panels do to edit: particles as a mesh, values of what is selected, stiffness, revert."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bpy
from bpy.props import BoolProperty, BoolVectorProperty, EnumProperty, FloatProperty

from ..scene.chosen import chosen_cloth
from ..scene.cloth.keys import EDIT, KIND, PINNED, SIM, STIFFNESS, UNLINKED, VOLUME
from ..scene.result import counted
from . import report
from .cloth_playback import UsesPlayer

if TYPE_CHECKING:
    from ..scene.cloth.gather import StoredCloth

MASK = "collision_mask"
BITS = 32  # of a mask
VALUES = (
    ("mass", "Mass", "Kilograms. What follows from it, such as stiffness as it is stored, follows"),
    ("radius", "Radius", "Metres at which the particle meets collidables"),
    ("friction", "Friction", "How much the particle is held where it touches a collidable"),
    (PINNED, "Pinned", "The particle follows the animation and does not move as cloth"),
    (MASK, "Collides With", "Which collidables the particle meets, by their order in the file"),
    ("local_range", "Range", "Metres that the particle may be from where the animation has it; -1 for no limit"),
    ("range_above", "Range Above", "Metres along the normal that it may be outwards, where the range uses that"),
    ("range_below", "Range Below", "Metres along the normal that it may be inwards, negative"),
    (VOLUME, "Volume Stiffness", "How hard a volume pulls the particle to its shape, 0 to 1; -1 where none does"),
)


OF_FREE = {"mass", "local_range"}  # what only particles that are not pinned have


class EditsCloth:
    """A mix-in for operators on the active cloth."""

    def stored(self, collection: Any) -> StoredCloth:
        """Return the file of a cloth."""
        return UsesPlayer.player_now().edited.of(collection).stored

    def refuse(self, error: Exception) -> set[str]:
        """Say why nothing is done."""
        operator: Any = self
        operator.report({"ERROR"}, report.reason(error))
        return {"CANCELLED"}


def owner(context: Any) -> Any:
    """Return the collection of the cloth that is meant; None where there is no telling."""
    return None if context.scene is None else chosen_cloth(context)


def active_sim(context: Any) -> Any:
    """Return the active object where it is a point cloud, links or an edit mesh of a cloth; None otherwise."""
    obj = context.view_layer.objects.active
    return obj if obj is not None and SIM in obj and obj.get(KIND) in {"points", "links", EDIT} else None


class OBJECT_OT_ossuary_cloth_edit(EditsCloth, bpy.types.Operator):
    """Make a mesh of the particles of the active cloth, to move where they rest and to set their values"""

    bl_idname = "object.ossuary_cloth_edit"
    bl_label = "Edit Cloth"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: Any) -> bool:
        """Points or links of a cloth are active."""
        if active_sim(context) is None or owner(context) is None:
            cls.poll_message_set("Select the points or links of the cloth to edit")
            return False
        return True

    def execute(self, context: Any) -> set[str]:
        """Make it, or go on with the one that is there."""
        from ..codec import FormatError
        from ..scene.cloth.editing import begin_edit

        collection, sim = owner(context), int(active_sim(context)[SIM])
        try:
            begin_edit(context, collection, sim, self.stored(collection))
        except FormatError as error:
            return self.refuse(error)
        return {"FINISHED"}


class _OnEditMesh(EditsCloth):
    """A mix-in for operators on the mesh that Edit Cloth makes."""

    @classmethod
    def poll(cls, context: Any) -> bool:
        """It is active."""
        found = active_sim(context)
        if found is None or found[KIND] != EDIT or owner(context) is None:
            operator: Any = cls
            operator.poll_message_set("Select the mesh that Edit Cloth makes")
            return False
        return True


class OBJECT_OT_ossuary_cloth_apply(_OnEditMesh, bpy.types.Operator):
    """Give the cloth the places and values of its edited mesh"""

    bl_idname = "object.ossuary_cloth_apply"
    bl_label = "Apply"
    bl_options = {"REGISTER", "UNDO"}

    def execute(self, context: Any) -> set[str]:
        """Do it, and say what the cloth cannot do."""
        from ..codec import FormatError
        from ..scene.cloth.editing import apply_edit

        collection, obj = owner(context), active_sim(context)
        try:
            apply_edit(collection, obj, self.stored(collection))
            edited = UsesPlayer.player_now().edited.of(collection)
        except FormatError as error:
            return self.refuse(error)
        for problem in edited.errors:
            self.report({"WARNING"}, str(problem))
        return {"FINISHED"}


class OBJECT_OT_ossuary_cloth_cancel(_OnEditMesh, bpy.types.Operator):
    """Throw the edited mesh away; the cloth stays as it is"""

    bl_idname = "object.ossuary_cloth_cancel"
    bl_label = "Cancel"
    bl_options = {"REGISTER", "UNDO"}

    def execute(self, context: Any) -> set[str]:
        """Remove it."""
        from ..scene.cloth.editing import cancel_edit

        cancel_edit(owner(context), active_sim(context))
        return {"FINISHED"}


class MESH_OT_ossuary_cloth_set(_OnEditMesh, bpy.types.Operator):
    """Give the selected particles a value"""

    bl_idname = "mesh.ossuary_cloth_set"
    bl_label = "Set on Selected"
    bl_options = {"REGISTER", "UNDO"}

    what: EnumProperty(name="Value", description="What is set", items=VALUES)
    value: FloatProperty(name="Value", description="For all selected particles", default=0.0, precision=4)
    pinned: BoolProperty(name="Pinned", description="Or free, where it is off", default=True)
    meets: BoolVectorProperty(
        name="Collides With", description="The collidables by their order in the file; the last is the landscape",
        size=BITS, default=(False,) * BITS,
    )  # fmt: skip

    def invoke(self, context: Any, _event: Any) -> set[str]:
        """Ask for the value, beginning with what is selected has."""
        from ..scene.cloth.editing import selected_value

        if self.what == PINNED:
            return self.execute(context)
        obj = active_sim(context)
        values = (selected_value(obj, name, unless=self._excepted) for name in self._names(obj))
        found = [value for value in values if value is not None]
        if found and self.what == MASK:
            bits = int(found[0]) & 0xFFFFFFFF
            self.meets = [bool(bits >> bit & 1) for bit in range(BITS)]
        elif found:
            self.value = found[0]
        return set(context.window_manager.invoke_props_dialog(self))

    @property
    def _excepted(self) -> str:
        """The attribute of particles that are left out, for they cannot have the value; empty for none."""
        if self.what == PINNED:
            return "" if self.pinned else UNLINKED
        return PINNED if self.what in OF_FREE else ""

    def _names(self, obj: Any) -> list[str]:
        from ..scene.cloth.editing import settable

        return [name for name in settable(obj.data) if name.startswith(self.what) and self.what in {name, VOLUME}]

    def execute(self, context: Any) -> set[str]:
        """Set it."""
        from ..scene.cloth.editing import edited_together, set_selected

        value: float | bool = self.value
        if self.what == PINNED:
            value = self.pinned
        elif self.what == MASK:
            import numpy as np

            bits = np.uint32(sum(1 << bit for bit, on in enumerate(self.meets) if on))
            value = int(bits.view(np.int32))
        parts = [(obj, name) for obj in edited_together(context, active_sim(context)) for name in self._names(obj)]
        if not parts:
            self.report({"ERROR"}, "This cloth has no volume")
            return {"CANCELLED"}
        done: dict[str, int] = {}
        excepted: dict[str, int] = {}
        for obj, name in parts:
            count, left = set_selected(obj, name, value, unless=self._excepted)
            done[obj.name], excepted[obj.name] = max(done.get(obj.name, 0), count), left
        count, left = sum(done.values()), sum(excepted.values())
        text = f"{counted(count, 'particle')} set"
        if left and self.what == PINNED:
            text += f"; {counted(left, 'particle')} left pinned, having no links"
        elif left:
            text += f"; {counted(left, 'pinned particle')} left out"
        self.report({"INFO"} if count else {"WARNING"}, text)
        return {"FINISHED"}

    def draw(self, context: Any) -> None:
        """Show the field of the kind that is set."""
        layout = self.layout
        layout.use_property_split = True
        layout.prop(self, "what")
        if self.what == MASK:
            column = layout.column(align=True)
            column.use_property_split = False  # names are long
            for bit, name in self._collidables(context):
                column.prop(self, "meets", index=bit, text=name)
        else:
            layout.prop(self, "pinned" if self.what == PINNED else "value")

    def _collidables(self, context: Any) -> list[tuple[int, str]]:
        """Return bits of masks with what they stand for in the active cloth."""
        found, collection = active_sim(context), owner(context)
        known = () if found is None or collection is None else self.stored(collection).sims[found[SIM]].collidables
        return [*enumerate(each.name for each in known[: BITS - 1]), (BITS - 1, "Landscape")]


class MESH_OT_ossuary_cloth_stiffness(EditsCloth, bpy.types.Operator):
    """Give the selected links of a set a stiffness"""

    bl_idname = "mesh.ossuary_cloth_stiffness"
    bl_label = "Set on Selected Links"
    bl_options = {"REGISTER", "UNDO"}

    value: FloatProperty(name="Stiffness", description="Of the selected links", default=1.0, min=0.0, max=1.0)
    stretch: BoolProperty(name="Stretch", description="Of links that bend and stretch: set how hard they pull")

    @classmethod
    def poll(cls, context: Any) -> bool:
        """Links are active."""
        found = active_sim(context)
        if found is None or found[KIND] != "links":
            cls.poll_message_set("Select the links of a constraint set")
            return False
        return True

    def invoke(self, context: Any, _event: Any) -> set[str]:
        """Ask for the value."""
        return set(context.window_manager.invoke_props_dialog(self))

    def execute(self, context: Any) -> set[str]:
        """Set it."""
        from ..scene.cloth.editing import set_selected

        obj = active_sim(context)
        names = [name for columns in STIFFNESS.values() for name in columns if name in obj.data.attributes]
        count, _ = set_selected(obj, names[-1 if self.stretch else 0], self.value) if names else (0, 0)
        self.report({"INFO"} if count else {"WARNING"}, f"{counted(count, 'link')} set")
        return {"FINISHED"}


class SCENE_OT_ossuary_cloth_revert(EditsCloth, bpy.types.Operator):
    """Give cloth back what its file has"""

    bl_idname = "scene.ossuary_cloth_revert"
    bl_label = "Revert Cloth"
    bl_options = {"REGISTER", "UNDO"}

    what: EnumProperty(
        name="What",
        description="What is given back",
        items=(
            ("ALL", "All", "Everything of the cloth file"),
            ("SIM", "This Cloth", "The cloth of the active points or links: values, rest pose, stiffness"),
            ("COLLIDABLES", "Collidables", "Deleted ones come back, new ones go"),
        ),
    )

    @classmethod
    def poll(cls, context: Any) -> bool:
        """A cloth is meant."""
        if owner(context) is None:
            cls.poll_message_set("Select an object of the cloth, or the armature it is on")
            return False
        if context.mode != "OBJECT":
            cls.poll_message_set("Leave edit or pose mode first")
            return False
        return True

    def execute(self, context: Any) -> set[str]:
        """Do it."""
        from ..codec import FormatError
        from ..scene.cloth.revert import revert_all, revert_collidables, revert_sim

        collection = owner(context)
        try:
            stored = self.stored(collection)
            if self.what == "ALL":
                revert_all(context, collection, stored)
            elif self.what == "COLLIDABLES":
                revert_collidables(context, collection, stored)
            elif active_sim(context) is None:
                self.report({"ERROR"}, "Select the points or links of the cloth to revert")
                return {"CANCELLED"}
            else:
                revert_sim(context, collection, stored, int(active_sim(context)[SIM]))
        except FormatError as error:
            return self.refuse(error)
        return {"FINISHED"}


CLASSES = (
    OBJECT_OT_ossuary_cloth_edit,
    OBJECT_OT_ossuary_cloth_apply,
    OBJECT_OT_ossuary_cloth_cancel,
    MESH_OT_ossuary_cloth_set,
    MESH_OT_ossuary_cloth_stiffness,
    SCENE_OT_ossuary_cloth_revert,
)
