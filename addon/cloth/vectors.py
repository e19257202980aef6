"""Float32 arithmetic of columns of vectors, in the games' order of operations.

Vectors are (3, n) or (3, ..., n), component first. Affine maps are (4, 3, n): three columns, then the translation.
Sums of three lanes are (x + y) + z; a product and a sum round separately (seed "Havok cloth data").
"""

from __future__ import annotations

import numpy as np

from ..codec.binary import Array

ZERO, HALF, ONE, TWO = (np.float32(value) for value in (0, 0.5, 1, 2))
EPSILON = np.float32(1.1920929e-7)
"""The step of float32 at one, which the games add to what they divide by."""
IDENTITY = np.eye(4, dtype=np.float32)


def dot(a: Array, b: Array) -> Array:
    """Return the dot products of (3, ...) vectors."""
    product = a * b
    return (product[0] + product[1]) + product[2]


def cross(a: Array, b: Array) -> Array:
    """Return the cross products of (3, ...) vectors."""
    return np.stack((a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]))


def compose(outer: Array, inner: Array) -> Array:
    """Return ``outer`` after ``inner``, maps of (4, 3, n).

    Columns are ``(o0 x + o1 y) + o2 z``; the translation adds o3 after the first product.
    """
    result = outer[0] * inner[:, 0, None]
    result[3] += outer[3]
    result += outer[1] * inner[:, 1, None]
    result += outer[2] * inner[:, 2, None]
    return result


def transform_points(maps: Array, points: Array) -> Array:
    """Return ``((c0 x + c3) + c1 y) + c2 z`` of maps (4, 3, n) and points (3, n)."""
    result = maps[0] * points[0]
    result += maps[3]
    result += maps[1] * points[1]
    result += maps[2] * points[2]
    return result


def transform_directions(maps: Array, directions: Array) -> Array:
    """Return ``(c0 x + c1 y) + c2 z``; the result is not normalised."""
    result = maps[0] * directions[0]
    result += maps[1] * directions[1]
    result += maps[2] * directions[2]
    return result


def columns(matrices: Array) -> Array:
    """Return matrices (n, 4, 4) for column vectors as maps (4, 3, n)."""
    return np.ascontiguousarray(np.transpose(np.asarray(matrices, np.float32)[:, :3, :], (2, 1, 0)))


def matrices(maps: Array) -> Array:
    """Return maps (4, 3, n) as matrices (n, 4, 4)."""
    result = np.zeros((maps.shape[2], 4, 4), np.float32)
    result[:, :3, :] = np.transpose(maps, (2, 1, 0))
    result[:, 3, 3] = 1
    return result
