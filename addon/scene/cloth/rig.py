"""Between an armature's pose and the bones of a cloth file, which are the same by name.

A posed node is the bone's pose, times the inverse of its rest as Blender holds it, times the node's exact world matrix.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from mathutils import Matrix

from ...cloth import Setup, reference_pose
from ...cloth.frames import Place
from ...codec import FormatError
from ...codec.binary import Array
from ...codec.havok.cloth import ClothFile, Skeleton
from ...maths import affine, axes
from .. import armature as armatures
from ..keys import PREFIX
from ..properties import set_properties
from ..texts import stored_text

CHANNELS = {"location": 3, "rotation_quaternion": 4, "rotation_euler": 3, "rotation_axis_angle": 4, "scale": 3}


def skeleton_of(file: ClothFile) -> Skeleton:
    """Return the skeleton of a cloth file.

    Raises:
        FormatError: it has none.
    """
    if file.skeleton is None:
        raise FormatError("the cloth file has no skeleton")
    return file.skeleton


def stored_name(bone: Any) -> str:
    """Return the name of the node that a bone was made from; its own where it was made from none."""
    stored = bone.get(PREFIX + "name", bone.name)
    return stored.decode("utf-8", "surrogatepass") if isinstance(stored, bytes) else str(stored)


def build_armature(skeleton: Skeleton, name: str, collection: Any, context: Any, length: float) -> Any:
    """Make the armature object of a cloth file's own skeleton.

    Args:
        skeleton: of the file.
        name: of the object.
        collection: takes it.
        context: Blender's; its active object is another one afterwards.
        length: metres, of bones whose children do not lie on their axis.
    """
    world = reference_pose(skeleton).astype(np.float64)
    rest = axes.swap_matrices(_turns(world)) @ armatures.TURN
    lengths = armatures.bone_lengths(skeleton.parents, rest, length)
    wanted = armatures.WantedBones(skeleton.bones, skeleton.parents, rest, lengths)
    built = armatures.make(name, wanted, collection, context)
    for index, (bone, stored) in enumerate(zip(built.bone_names, skeleton.bones, strict=True)):
        set_properties(built.object.data.bones[bone], {
            PREFIX + "index": index,
            PREFIX + "name": stored_text(stored),
            PREFIX + "world": world[index].ravel().tolist(),
        })  # fmt: skip
    return built.object


def _turns(world: Array) -> Array:
    """Return matrices with axes of unit length, at right angles."""
    found = world.copy()
    x = affine.normalized(world[:, :3, 0])
    z = affine.normalized(np.cross(x, world[:, :3, 1]))
    found[:, :3, :3] = np.stack([x, np.cross(z, x), z], axis=-1)
    return found


@dataclass(frozen=True, eq=False)
class Rig:
    """How the bones of a cloth are found in an armature.

    Attributes:
        count: of the armature's pose bones.
        rows: (b,) pose bones of the cloth's, -1 where the armature has none.
        after: (b, 4, 4) f8 from a bone's pose to its node, in Blender's axes; for a missing bone the node itself.
        driven: the bones that the cloth drives, parents first.
        missing: names of bones that the armature lacks.
    """

    count: int
    rows: Array
    after: Array
    driven: tuple[DrivenBone, ...]
    missing: tuple[str, ...]

    @classmethod
    def of(cls, armature: Any, setup: Setup) -> Rig:
        """Match the bones of a cloth with an armature object's.

        Raises:
            FormatError: the cloth file has no skeleton.
        """
        skeleton, names = skeleton_of(setup.file), setup.bones
        bones = armature.data.bones
        order = {bone.name: row for row, bone in enumerate(armature.pose.bones)}
        by_name: dict[str, Any] = {}
        for bone in bones:
            by_name.setdefault(stored_name(bone), bone)
        found = [by_name.get(name) for name in names]
        rows = np.array([-1 if bone is None else order[bone.name] for bone in found], np.intp)
        still = axes.swap_matrices(reference_pose(skeleton).astype(np.float64))
        world = np.tile(np.eye(4), (len(names), 1, 1))
        world[: len(still)] = still
        after = np.stack([
            place if bone is None else _after(bone) for bone, place in zip(found, world, strict=True)
        ])  # fmt: skip
        parts = [
            DrivenBone.of(by_name[name], place, order) for place, name in enumerate(setup.driven) if name in by_name
        ]
        parts.sort(key=lambda part: part.depth)
        missing = tuple(name for name, bone in zip(names, found, strict=True) if bone is None)
        return cls(len(order), rows, after, tuple(parts), missing)

    def place(self, posed: Array, root: Array, read: Array) -> Place:
        """Return where a character is.

        Args:
            posed: (p, 4, 4) of `pose_matrices`.
            root: (4, 4) of `root_matrix`.
            read: (b,) bool bones that the cloth reads; the others are left at zero.
        """
        rows = self.rows[read]
        nodes = self.after[read].copy()
        known = rows >= 0
        nodes[known] = posed[rows[known]] @ nodes[known]
        bones = np.zeros((len(self.rows), 4, 4), np.float32)
        bones[read] = root @ axes.swap_matrices(nodes)
        return Place(bones, root.astype(np.float32))

    def fits(self, armature: Any) -> bool:
        """Tell whether an armature still has the bones that were found, by name."""
        bones = armature.pose.bones
        return all(part.name == bones[part.row].name for part in self.driven)

    def undrive(self, posed: Array, basis: Array) -> None:
        """Put bones that the cloth drives where the user's own pose has them.

        Args:
            posed: (p, 4, 4) of `pose_matrices`; is changed.
            basis: (d, 4, 4) what the user has set of the driven bones.
        """
        for part, own in zip(self.driven, basis, strict=True):
            local = part.rest @ own
            posed[part.row] = local if part.parent < 0 else posed[part.parent] @ local

    def drive(self, armature: Any, matrices: Array, posed: Array, root: Array) -> None:
        """Pose the bones that the cloth drives; those that nothing has driven yet are left alone.

        Args:
            armature: the object.
            matrices: (d, 4, 4) world matrices of `cloth.driven_bones`.
            posed: (p, 4, 4) of `pose_matrices`; takes the new ones.
            root: (4, 4) of `root_matrix`.
        """
        parts = [part for part in self.driven if matrices[part.place, :3, :3].any()]
        if not parts:
            return
        nodes = axes.swap_matrices(np.linalg.inv(root) @ matrices[[part.place for part in parts]].astype(np.float64))
        posed[[part.row for part in parts]] = nodes @ np.stack([part.before for part in parts])
        spaces = np.concatenate((posed, np.eye(4)[None]))  # the last for bones without parent
        parents, inverse = np.unique([part.parent for part in parts], return_inverse=True)
        from_parents = np.linalg.inv(spaces[parents])[inverse.reshape(-1)]
        local = from_parents @ posed[[part.row for part in parts]]
        basis = np.stack([part.to_basis for part in parts]) @ local
        with Channels(armature) as channels:
            for part, matrix in zip(parts, basis.tolist(), strict=True):
                channels.set_basis(part.row, Matrix(matrix))


@dataclass(frozen=True, eq=False)
class DrivenBone:
    """A bone that the cloth drives.

    Attributes:
        name: in the armature.
        place: among the driven.
        row: among the pose bones; ``parent`` its parent's, -1 for none.
        depth: ancestors.
        before: (4, 4) f8 from its node to its pose.
        rest: (4, 4) f8 its rest in its parent's; ``to_basis`` its inverse.
    """

    name: str
    place: int
    row: int
    parent: int
    depth: int
    before: Array
    rest: Array
    to_basis: Array

    @classmethod
    def of(cls, bone: Any, place: int, order: dict[str, int]) -> DrivenBone:
        """Describe a bone."""
        rest = np.array(bone.matrix_local)
        parent = -1
        if bone.parent is not None:
            parent = order[bone.parent.name]
            rest = np.linalg.inv(np.array(bone.parent.matrix_local)) @ rest
        depth = len(bone.parent_recursive)
        before = np.linalg.inv(_after(bone))
        return cls(bone.name, place, order[bone.name], parent, depth, before, rest, np.linalg.inv(rest))


def _after(bone: Any) -> Array:
    """Return what leads from a bone's pose to its node, in Blender's axes."""
    if bone.get(PREFIX + "world") is None:
        return np.linalg.inv(armatures.TURN)
    return np.linalg.inv(np.array(bone.matrix_local)) @ node_matrix(bone)


def node_matrix(bone: Any) -> Array:
    """Return where the node that a bone was made from rests, (4, 4) f8 in Blender's axes and the armature's space."""
    stored = bone.get(PREFIX + "world")
    if stored is None:
        return np.array(bone.matrix_local) @ np.linalg.inv(armatures.TURN)
    return axes.swap_matrices(np.array(stored).reshape(4, 4))


def posed_node(armature: Any, bone: str) -> Array:
    """Return where the node of a bone is in the scene as it is posed, (4, 4) f8 in Blender's axes.

    Args:
        armature: the evaluated object.
        bone: its name in the armature.
    """
    pose = np.array(armature.pose.bones[bone].matrix)
    return np.array(armature.matrix_world) @ pose @ _after(armature.data.bones[bone])


def carrying(bone: Any) -> Array:
    """Return the rest matrix that the children of a bone are placed by, (4, 4) f8 in the armature's space."""
    if bone.use_relative_parent:
        return np.eye(4)
    held = np.array(bone.matrix_local)
    held[:3, 3] += held[:3, 1] * bone.length  # Blender puts children of bones at their tails
    return held


def pose_matrices(armature: Any) -> Array:
    """Return the pose of an evaluated armature's bones, (p, 4, 4) f8 in its object's space."""
    bones = armature.pose.bones
    found = np.empty(16 * len(bones), np.float32)
    bones.foreach_get("matrix", found)
    return found.reshape(-1, 4, 4).transpose(0, 2, 1).astype(np.float64)


def root_matrix(armature: Any) -> tuple[Array, float]:
    """Return a character's place, (4, 4) f8 in the games' axes and metres, and its size in the scene.

    The cloth moves at the size that its file has: an object of another scale moves as if the scene were scaled back.
    """
    matrix = np.array(armature.matrix_world)
    size = float(np.cbrt(abs(np.linalg.det(matrix[:3, :3])))) or 1.0
    matrix[:3] /= size
    return axes.swap_matrices(matrix), size


def is_animated(armature: Any) -> bool:
    """Tell whether something may set an armature's bones on each frame."""
    return armature.animation_data is not None


class Channels:
    """What users set of an armature's bones, written back in one go: Blender takes one bone at a time slowly."""

    def __init__(self, armature: Any) -> None:
        self._armature = armature
        self._bones = armature.pose.bones
        self._values = {name: np.empty((len(self._bones), size), np.float32) for name, size in CHANNELS.items()}
        for name, values in self._values.items():
            self._bones.foreach_get(name, values.reshape(-1))
        self._changed: set[str] = set()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        for name in sorted(self._changed):
            self._bones.foreach_set(name, self._values[name].reshape(-1))
        if self._changed:
            self._armature.update_tag(refresh={"DATA"})

    def set_all(self, row: int, numbers: Array) -> None:
        """Set all channels of a bone, one after another."""
        start = 0
        for name, values in self._values.items():
            values[row] = numbers[start : start + values.shape[1]]
            start += values.shape[1]
            self._changed.add(name)

    def set_basis(self, row: int, matrix: Matrix) -> None:
        """Set a bone's own transform, its rotation in the way that the bone has it."""
        location, turn, scale = matrix.decompose()
        mode = self._bones[row].rotation_mode
        self._set("location", row, location)
        self._set("scale", row, scale)
        if mode == "QUATERNION":
            self._set("rotation_quaternion", row, turn)
        elif mode == "AXIS_ANGLE":
            axis, angle = turn.to_axis_angle()
            self._set("rotation_axis_angle", row, (angle, *axis))
        else:
            self._set("rotation_euler", row, turn.to_euler(mode))

    def _set(self, name: str, row: int, value: Any) -> None:
        self._values[name][row] = value
        self._changed.add(name)
