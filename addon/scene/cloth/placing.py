"""Where collidables stand: objects on bones, in Blender and back."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from mathutils import Matrix

from ...cloth import edits as makers
from ...cloth.edits import PlacedCollidable
from ...cloth.results import reference_pose
from ...cloth.surfaces import surface
from ...codec import FormatError
from ...codec.binary import Array
from ...codec.havok import cloth as records
from ...maths import axes
from ..gather.shown import evaluated
from ..texts import loaded_text
from . import rig, shapes
from .keys import BONE, DRAWN, HELD, NAME, SHAPE, SIMS, SOURCE

STILL = 1e-6  # what nobody moves by: other machines round the matrices of an object otherwise
LIKE = 1e-3  # scales that differ by less are the same
SAME = 1e-5  # a map is the identity when no entry is off by more
SEEN = 1e-4  # metres by which the corners of a mesh may be off the map that moved them


def carry(obj: Any, bone: Any, offset: Array) -> None:
    """Hang an object on a bone, at a place, (4, 4), in the space of the node that the bone was made from."""
    obj.parent_type, obj.parent_bone = "BONE", bone.name
    obj.matrix_parent_inverse = Matrix(np.linalg.inv(rig.carrying(bone)).tolist())
    obj.matrix_basis = Matrix((rig.node_matrix(bone) @ axes.swap_matrices(offset.astype(np.float64))).tolist())


def hold(obj: Any) -> None:
    """Note where an object stands: what is there still is untouched."""
    obj[HELD] = at_parent(obj).ravel().tolist()


def place_at(obj: Any, armature: Any, placed: PlacedCollidable) -> None:
    """Put the object of a collidable where it is in the file, as a child of the armature or a bone of it."""
    obj.parent = armature
    bones = {rig.stored_name(bone): bone for bone in reversed(armature.data.bones)}
    bone = bones.get(placed.bone) if placed.bone else None
    if bone is not None:
        carry(obj, bone, placed.offset)
    else:
        obj.parent_type = "OBJECT"
        obj.matrix_parent_inverse = Matrix.Identity(4)
        obj.matrix_basis = Matrix(axes.swap_matrices(placed.record.transform).tolist())
    hold(obj)


def read_placed(
    obj: Any, armature: Any, stored: tuple[PlacedCollidable, ...], skeleton: records.Skeleton
) -> PlacedCollidable:
    """Return the collidable that an object is.

    Args:
        obj: the object.
        armature: that of the cloth.
        stored: those of the file.
        skeleton: of the file.

    Raises:
        FormatError: it hangs on no bone, or its shape cannot follow what was done to it.
    """
    if any(name not in obj for name in (SHAPE, DRAWN, NAME, BONE)):
        raise FormatError("does not say which collidable it is: delete it, or import the cloth again")
    number = int(obj.get(SOURCE, -1))
    old = stored[number] if 0 <= number < len(stored) else None
    bone = _bone(obj, armature)
    name = loaded_text(obj[BONE]) if bone is None else rig.stored_name(bone)
    shape = shapes.shape_of(obj[SHAPE], shapes.numbers(obj), None if old is None else old.record.shape)
    drawn = shape
    if list(obj[DRAWN]) != shapes.numbers(obj):
        drawn = shapes.shape_of(obj[SHAPE], list(obj[DRAWN]), None if old is None else old.record.shape)
    moved = _mesh_map(obj, drawn)
    held = np.array(obj.get(HELD, np.zeros(16))).reshape(4, 4)
    if old is not None and name == old.bone and moved is None and np.abs(at_parent(obj) - held).max() <= STILL:
        offset = old.offset
    else:
        node = _node(bone, name, skeleton)
        at_rest = at_parent(obj) if bone is None else rig.carrying(bone) @ at_parent(obj)
        matrix = axes.swap_matrices(np.linalg.inv(node) @ at_rest)
        offset, stretch = rigid_part(matrix if moved is None else matrix @ moved)
        shape = stretched(shape, stretch)
    record = makers.new_collidable("", shape) if old is None else old.record
    record = replace(record, name=loaded_text(obj[NAME]), shape=shape)
    return PlacedCollidable(record, name, offset, frozenset(obj.get(SIMS, ())), None if old is None else number)


def _bone(obj: Any, armature: Any) -> Any:
    """Return the bone that carries an object; None where it is a child of the armature itself, on no bone of it."""
    if obj.parent is None or obj.parent != armature or obj.parent_type not in {"BONE", "OBJECT"}:
        raise FormatError(f"hangs on no bone of {armature.name}: parent it to one (Ctrl P, Bone)")
    if obj.parent_type == "OBJECT":
        if SOURCE not in obj:
            raise FormatError(f"hangs on no bone of {armature.name}: parent it to one (Ctrl P, Bone)")
        return None
    bone = armature.data.bones.get(obj.parent_bone)
    if bone is None:
        raise FormatError(f"hangs on the bone {obj.parent_bone!r}, which {armature.name} does not have")
    return bone


def _node(bone: Any, name: str, skeleton: records.Skeleton) -> Array:
    """Return where the node of a bone rests, in Blender's axes; of one the armature lacks, where the file has it."""
    if bone is not None:
        return rig.node_matrix(bone)
    if name not in skeleton.bones:
        return np.eye(4)
    return axes.swap_matrices(reference_pose(skeleton)[skeleton.bones.index(name)].astype(np.float64))


def at_parent(obj: Any) -> Array:
    """Return an object's place in the space of its parent, (4, 4) f8: posing the parent does not change it."""
    return np.array(obj.matrix_parent_inverse, np.float64) @ np.array(obj.matrix_basis, np.float64)


def _mesh_map(obj: Any, shape: records.Shape) -> Array | None:
    """Return the map, (4, 4) f8 in the games' axes, that has moved the corners of a shape's mesh; None for none.

    Scaling in edit mode or applying an object's scale moves corners: what they have in common is that one map does it.

    Raises:
        FormatError: they were moved in another way.
    """
    corners = surface(shape)[0]
    with evaluated(obj, None, None, modifiers=False) as mesh:
        found = shapes.vertices(mesh)
    if np.array_equal(found, corners):
        return None
    if len(found) == len(corners):
        before = np.column_stack([corners.astype(np.float64), np.ones(len(corners))])
        solved, _, rank, _ = np.linalg.lstsq(before, found.astype(np.float64), rcond=None)
        if rank == 4 and np.abs(before @ solved - found).max() <= SEEN:
            matrix = np.eye(4)
            matrix[:3] = solved.T
            return None if np.abs(matrix - np.eye(4)).max() <= STILL else matrix
    raise FormatError("its mesh was reshaped: only its place, its size and the numbers in the panel are written")


def rigid_part(matrix: Array) -> tuple[Array, Array]:
    """Part an affine map in two: first the stretching, then the rigid rest.

    Returns:
        (4, 4) f4 rotation and place; (3, 3) f8 the symmetric stretching, negative where the map mirrors.

    Raises:
        FormatError: it is no map to all of space.
    """
    turn, size, axis = np.linalg.svd(matrix[:3, :3])
    if not np.isfinite(matrix).all() or size.min() < SAME:
        raise FormatError("is scaled to nothing")
    side = np.sign(np.linalg.det(turn @ axis))
    rigid = np.eye(4)
    rigid[:3, :3], rigid[:3, 3] = side * turn @ axis, matrix[:3, 3]
    return rigid.astype(np.float32), side * (axis.T * size) @ axis


def stretched(shape: records.Shape, stretch: Array) -> records.Shape:
    """Return a shape of another size; itself where the size stays.

    Args:
        shape: of a collidable.
        stretch: (3, 3) f8 symmetric map of its space.

    Raises:
        FormatError: it would be of no kind that cloth meets.
    """
    if np.abs(stretch - np.eye(3)).max() <= SAME:
        return shape
    if isinstance(shape, records.Sphere):
        wide = _across(stretch, None)
        return makers.sphere(stretch @ shape.center, float(shape.radius) * wide)
    if isinstance(shape, records.Capsule):
        wide = _across(stretch, shape.end.astype(np.float64) - shape.start)
        return makers.capsule(stretch @ shape.start, stretch @ shape.end, float(shape.radius) * wide)
    if isinstance(shape, records.TaperedCapsule):
        wide = _across(stretch, shape.big.astype(np.float64) - shape.small)
        radii = float(shape.small_radius) * wide, float(shape.big_radius) * wide
        return makers.tapered_capsule(stretch @ shape.small, stretch @ shape.big, *radii)
    if isinstance(shape, records.Plane):
        normal = np.linalg.solve(stretch, shape.equation[:3].astype(np.float64))
        equation = np.append(normal, float(shape.equation[3])) / np.linalg.norm(normal)
        return records.Plane(equation.astype(np.float32))
    raise FormatError("is a convex shape, which can be moved and turned but not scaled")


def _across(stretch: Array, axis: Array | None) -> float:
    """Return how much wider a round shape gets, along whose axis any scale is fine; ``axis`` None for a sphere."""
    sizes, directions = np.linalg.eigh(stretch)
    sizes = np.abs(sizes)
    if np.ptp(sizes) <= LIKE * sizes.max():
        return float(sizes.mean())
    if axis is None:
        raise FormatError("is a sphere, which stays one: scale it alike on all axes")
    along = np.abs(directions.T @ (axis / np.linalg.norm(axis)))
    odd = int(along.argmax())
    rest = np.delete(sizes, odd)
    if along[odd] < 1 - LIKE or np.ptp(rest) > LIKE * rest.max():
        raise FormatError("is a capsule, which stays round: scale it along its axis, or alike across it")
    return float(rest.mean())
