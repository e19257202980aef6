"""Objects of the scene -> collidables that are in no file yet, and what of a cloth meets them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import bpy
import numpy as np

from ...cloth.edits import PlacedCollidable, new_collidable
from ...cloth.fitting import fitted_shape
from ...codec import FormatError
from ...codec.binary import Array
from ...codec.havok.cloth import ClothFile
from ...maths import axes
from . import rig
from .build import ClothBuilder
from .keys import ARMATURE, KIND, SHAPED, SIMS
from .placing import rigid_part


def add_collidables_from(
    context: Any,
    collection: Any,
    file: ClothFile,
    objects: Iterable[Any],
    bone: str,
    *,
    sims: Iterable[int],
    keep: bool,
) -> list[Any]:
    """Make collidables as large as objects, on a bone as it is posed; all of them or none.

    Args:
        context: Blender's.
        collection: of the cloth.
        file: its records.
        objects: what is measured, where and as it is shown.
        bone: name in the armature, of a bone that the cloth's skeleton has.
        sims: the simulated cloths that meet them.
        keep: whether the objects stay; they are removed otherwise.

    Returns:
        The objects of the collidables.

    Raises:
        FormatError: no such bone, or an object of no size or a shape that is none for cloth.
    """
    armature, chosen = collection.get(ARMATURE), list(objects)
    if armature is None or armature.data.bones.get(bone) is None:
        raise FormatError(f"there is no bone {bone!r}: choose one of the cloth's armature")
    stored = rig.stored_name(armature.data.bones[bone])
    if file.skeleton is None or stored not in file.skeleton.bones:
        raise FormatError(f"the cloth's own skeleton has no bone {stored}: choose one that it has")
    graph = context.evaluated_depsgraph_get()
    node = rig.posed_node(armature.evaluated_get(graph), bone)
    placed = [_measured(obj.evaluated_get(graph), node, stored, frozenset(sims)) for obj in chosen]
    builder = ClothBuilder(collection, armature, file, context)
    made = [builder.collidable(each) for each in placed]
    if not keep:
        for obj, collidable in zip(chosen, made, strict=True):
            name, data = obj.name, obj.data
            bpy.data.objects.remove(obj)
            if data.users == 0:
                bpy.data.batch_remove([data])
            collidable.name = name
    return made


def _measured(obj: Any, node: Array, bone: str, sims: frozenset[int]) -> PlacedCollidable:
    """Return the collidable that is as large as an evaluated object, seen from the node of a bone."""
    if obj.type not in SHAPED or KIND in obj:
        raise FormatError(f"{obj.name} has no surface to measure: choose meshes that are no parts of cloth")
    mesh = obj.to_mesh()
    points = np.empty(3 * len(mesh.vertices), np.float32)
    mesh.vertices.foreach_get("co", points)
    obj.to_mesh_clear()
    matrix = axes.swap_matrices(np.linalg.inv(node) @ np.array(obj.matrix_world, np.float64))
    try:
        offset, stretch = rigid_part(matrix)
        shape = fitted_shape(axes.swap_vectors(points.reshape(-1, 3)).astype(np.float64) @ stretch.T)
    except (FormatError, ValueError) as error:
        raise FormatError(f"{obj.name} {error}") from error
    return PlacedCollidable(new_collidable(obj.name, shape), bone, offset, sims)


def meet(obj: Any, sim: int, *, meets: bool) -> None:
    """Let a simulated cloth meet a collidable, or not."""
    known = {int(each) for each in obj.get(SIMS, ())}
    obj[SIMS] = sorted(known | {sim} if meets else known - {sim})
