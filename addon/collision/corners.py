"""The corners of a mesh's primitives, and how far points lie outside of boxes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..codec.binary import Array
from ..codec.havok.collision.decode import QUAD, Primitives, Triangles
from ..codec.havok.collision.mesh import CompressedMesh
from ..codec.havok.collision.packing import SHARED_STEPS


@dataclass(frozen=True, eq=False)
class Corners:
    """Decoded corners.

    Attributes:
        of_primitives: (n, 4, 3) f4, the corners of every primitive; a triangle's last stands twice, custom and dead
            ones have zeros.
        steps: (s, 3) f4, the largest step between codes that a section's vertices can have.
    """

    of_primitives: Array
    steps: Array

    @classmethod
    def of(cls, mesh: CompressedMesh, primitives: Primitives, decoded: Triangles) -> Corners:
        """Return the corners of a mesh, from its decoded triangles."""
        points = corner_points(primitives, decoded)
        shared = (mesh.domain[1, :3] - mesh.domain[0, :3]) * SHARED_STEPS
        packed = np.where(mesh.sections["num_packed"][:, None] > 0, mesh.sections["codec"][:, 1], np.float32(0))
        return cls(points, np.maximum(shared, packed))


def corner_points(primitives: Primitives, decoded: Triangles) -> Array:
    """Return the corners of every primitive, (n, 4, 3) f4, see `Corners`."""
    kind = primitives.kind
    points = np.zeros((len(kind), 4, 3), np.float32)
    drawn = np.flatnonzero(kind <= QUAD)
    first = np.flatnonzero(decoded.half == 0)
    points[drawn, :3] = decoded.vertices[decoded.triangles[first]]
    points[drawn, 3] = points[drawn, 2]
    second = np.flatnonzero(decoded.half == 1)
    points[np.flatnonzero(kind == QUAD), 3] = decoded.vertices[decoded.triangles[second, 2]]
    return points


def outside_by(points: Array, boxes: Array, domains: Array) -> Array:
    """Return how far points lie outside of boxes, in units in the last place of the largest magnitude around.

    Args:
        points: (n, k, 3) f4.
        boxes: (n, 2, 3) f4.
        domains: (n, 2, 3) f4, whose magnitude counts as well, for vertices are computed from it.

    Returns:
        (n,) f8, 0 where all lie inside.
    """
    if not len(points):
        return np.zeros(0)
    low, high = points.min(axis=1), points.max(axis=1)
    over = np.maximum(boxes[:, 0].astype(np.float64) - low, high.astype(np.float64) - boxes[:, 1])
    magnitudes = [np.abs(part) for part in (low, high, boxes[:, 0], boxes[:, 1], domains[:, 0], domains[:, 1])]
    unit = np.spacing(np.maximum.reduce(magnitudes).astype(np.float32)).astype(np.float64)
    return np.asarray((np.maximum(over, 0) / unit).max(axis=1))
