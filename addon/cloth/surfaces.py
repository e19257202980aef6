"""Collidables as triangles, to be looked at."""

from __future__ import annotations

import numpy as np

from ..codec.binary import Array
from ..codec.havok import cloth as records
from ..maths import solids
from ..maths.hulls import hull

PLANE_SIZE = 1.0  # metres from the middle of what is drawn of a plane to its edge


def surface(shape: records.Shape) -> tuple[Array, Array]:
    """Return a shape's vertices, (n, 3) f4 in its collidable's space, and triangles, (m, 3) i4, wound outwards.

    Of a plane, which has no end, a square round the point next to the origin.
    """
    if isinstance(shape, records.Sphere):
        return solids.capsule(shape.center, shape.center, float(shape.radius))
    if isinstance(shape, records.Capsule):
        return solids.capsule(shape.start, shape.end, float(shape.radius))
    if isinstance(shape, records.TaperedCapsule):
        return solids.tapered(shape.small, shape.big, float(shape.small_radius), float(shape.big_radius))
    if isinstance(shape, records.Plane):
        return _square(shape.equation)
    if isinstance(shape, records.ConvexGeometry):
        return _body(shape)
    return np.zeros((0, 3), np.float32), np.zeros((0, 3), np.int32)


def _square(equation: Array) -> tuple[Array, Array]:
    normal = equation[:3].astype(np.float64)
    side = np.cross(normal, np.eye(3)[int(np.argmin(np.abs(normal)))])
    u = PLANE_SIZE * side / np.linalg.norm(side)
    v = np.cross(normal, u)
    corners = np.stack([-u - v, u - v, u + v, v - u]) - normal * float(equation[3])
    return corners.astype(np.float32), np.array([[0, 1, 2], [0, 2, 3]], np.int32)


def _body(shape: records.ConvexGeometry) -> tuple[Array, Array]:
    """Return the hull of the corners: of each tetrahedron, those of its first face, where three planes meet."""
    planes = shape.equations.astype(np.float64)
    corners = []
    for first, second in ((1, 2), (2, 3), (3, 1)):
        three = planes[:, [0, first, second]]
        with_corner = np.abs(np.linalg.det(three[:, :, :3])) > 1e-9
        corners.append(np.linalg.solve(three[with_corner, :, :3], -three[with_corner, :, 3:])[..., 0])
    points = np.concatenate(corners).astype(np.float32)
    return points, hull(points).astype(np.int32)
