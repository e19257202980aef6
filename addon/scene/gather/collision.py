"""Collision objects -> triangles with hit materials, the mirror of `addon.scene.collision.build`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...codec import FormatError
from ...codec.binary import Array
from ...codec.havok.collision import NO_MATERIAL
from ...codec.havok.collision.bodies import NEW
from ...collision.edits import Faces
from ...maths import affine, axes
from ..collision.colors import read
from ..collision.keys import ACTIVE, PART, PREFIX, SCALE, SET, CollisionSet
from ..texts import loaded_text
from .shown import evaluated


@dataclass(frozen=True, eq=False)
class GatheredBody:
    """A body object as it is.

    Attributes:
        object: its name in the scene.
        name: of the body.
        set: what it belongs to.
        sdk: what a new body is made for.
        radius: metres, the convex radius of a new body.
        system, index: where it is in its file, `NEW` for a body that is in none.
        faces: its triangles.
    """

    object: str
    name: str
    set: CollisionSet
    sdk: str
    radius: float
    system: int
    index: int
    faces: Faces


def gather_body(obj: Any, context: Any, *, modifiers: bool) -> GatheredBody:
    """Return what a body object says; see `gather_faces`."""
    return GatheredBody(
        obj.name,
        loaded_text(obj.get(PREFIX + "name", obj.name)),
        CollisionSet(obj[SET]),
        obj.get(PREFIX + "sdk", ""),
        float(obj.get(PREFIX + "radius", 0.0)),
        int(obj.get(PREFIX + "system", 0)),
        int(obj.get(PREFIX + "index", NEW)),
        gather_faces(obj, context, modifiers=modifiers),
    )


def gather_faces(obj: Any, context: Any, *, modifiers: bool) -> Faces:
    """Return the triangles of a body in the space of its file.

    Corners are turned back, for the import has mirrored the space. Faces that were made in Blender, which our
    attributes do not know, take the body's active material.

    Raises:
        FormatError: an object that is scaled to nothing.
    """
    active = int(obj.get(ACTIVE, -1)) & NO_MATERIAL
    with evaluated(obj, None, context, modifiers=modifiers) as mesh:
        mesh.calc_loop_triangles()
        corners = _values(mesh.loop_triangles, "vertices", 3, np.int32)
        number = _values(mesh.loop_triangles, "polygon_index", 1, np.int32)[:, 0]
        positions = _values(mesh.vertices, "co", 3, np.float32)
        known = read(mesh, "known").astype(bool)
        kind = np.where(known, read(mesh, "kind"), 0)
        row = np.where(known, read(mesh, "row"), -1)
        materials = np.where(known, read(mesh, "material") & NO_MATERIAL, active).astype(np.uint32)
    matrix = placing(obj)
    if matrix is not None:
        turn = np.linalg.det(matrix[:3, :3])
        if not np.isfinite(matrix).all() or turn == 0:
            raise FormatError("is scaled to nothing")
        positions = affine.transform_points(matrix, positions).astype(np.float32)
        corners = corners[:, [0, 2, 1]] if turn < 0 else corners
    triangles = np.ascontiguousarray(corners[:, [0, 2, 1]])
    return Faces(axes.swap_vectors(positions), triangles, materials[number], kind[number], row[number], number, active)


def placing(obj: Any) -> Array | None:
    """Return the map from an object's space to that of its file, (4, 4) f8 in Blender's axes; None for the identity.

    A part's parent places all of its bodies in the scene; that, and the size at which a file was imported, is no edit.
    """
    if obj.parent is not None and PART in obj.parent:
        # not matrix_local, which is rounded: it is made from the places in the world
        matrix = np.array(obj.matrix_parent_inverse, np.float64) @ np.array(obj.matrix_basis, np.float64)
    else:
        matrix = np.array(obj.matrix_world, np.float64)
        matrix[:3] /= float(np.float32(obj.get(SCALE, 1.0)))
    return None if (matrix == np.eye(4)).all() else matrix


def _values(data: Any, field: str, width: int, kind: Any) -> Array:
    """Return a property of all items of a collection, (n, width)."""
    values = np.empty(len(data) * width, kind)
    if len(data):
        data.foreach_get(field, values)
    return values.reshape(-1, width)
