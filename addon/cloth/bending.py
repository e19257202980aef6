"""Bend stiffness: four particles of two triangles, a and b the wings, c and d the shared edge.

``v = a wa + b wb + c wc + d wd`` is how far the edge stands off the wings; less the rest pose's share along the mean
normal it is pulled to zero. Corners are kept in the order a, d, b, c and differences in five rows x, y, z, x, y, so
that both cross products are three calls.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..codec.binary import Array
from .links import Part, flat_index
from .schedule import dependency_levels
from .settings import Roots

ORDER = (0, 3, 1, 2)
"""Where a, d, b and c stand among a, b, c, d."""


@dataclass(frozen=True, eq=False)
class _Level:
    """Links of one level: their flat places, parameters, and scratch named after what it holds."""

    index: Array
    weights: Array
    pulls: Array
    curvature: Array
    limit: Array
    corners: Array
    points: Array
    off: Array
    edges: Array
    products: tuple[Array, Array]
    normals: Array
    square: Array
    lengths: Array
    inverse: Array
    vector: Array
    numbers: tuple[Array, Array, Array]
    pushes: Array
    calm: Array


class BendStiffness:
    """The bend stiffness sets of all cloths of a group."""

    def __init__(self, parts: Sequence[Part], inverse_mass: Array, width: int) -> None:
        """Build the levels; arguments as those of `links.Links`."""
        sets: list[Any] = [part.record for part in parts]
        indices = np.concatenate([part.record.indices.astype(np.intp) + part.start for part in parts], 1)
        weights = np.concatenate([one.weights for one in sets], 1)
        stiffness = np.concatenate([one.stiffness for one in sets])
        curvature = np.concatenate([one.curvature for one in sets])
        # a set that uses no rest pose has no curvature and never skips a link
        curvature = np.where(np.concatenate([np.full(len(one.stiffness), one.use_rest) for one in sets]), curvature, 0)
        limit = np.concatenate([
            np.full(len(one.stiffness), one.max_height_squared if one.clamp and one.use_rest else np.inf)
            for one in sets
        ]).astype(np.float32)  # fmt: skip
        pulls = inverse_mass[indices] * (stiffness * weights)
        touched = np.where(inverse_mass[indices] > 0, indices, -1)
        tables = indices, weights, pulls
        self.levels = [
            _level(tuple(table[list(ORDER)][:, rows] for table in tables), curvature[rows], limit[rows], width)
            for rows in dependency_levels(touched.T)
        ]

    def solve(self, flat: Array, roots: Roots) -> None:
        """Solve the sets on the flat store."""
        for level in self.levels:
            flat.take(level.index, 0, level.corners, "clip")
            points, off = level.points, level.off
            np.multiply(level.weights, points, level.pushes)
            np.add(level.pushes[:, 0], level.pushes[:, 2], off)
            np.add(off, level.pushes[:, 3], off)
            np.add(off, level.pushes[:, 1], off)
            _subtract_rest(level, roots)
            np.multiply(level.pulls, off[:, None], level.pushes)
            np.add(points, level.pushes, points)
            flat[level.index] = level.corners


def _subtract_rest(level: _Level, roots: Roots) -> None:
    """Take the rest pose's share off ``level.off``, and all of it where the link stands too far off to act."""
    points, edges, normals = level.points, level.edges, level.normals
    np.subtract(points[:, :3], points[:, 3:], edges[:3])
    edges[3:] = edges[:2]
    first, second = level.products
    np.multiply(edges[1:4, 1:], edges[2:5, :2], first)
    np.multiply(edges[2:5, 1:], edges[1:4, :2], second)
    np.subtract(first, second, normals)
    lengths, inverse = level.lengths, level.inverse
    # the squares of both normals and of the shared edge in one go
    level.square[:, :2] = normals
    level.square[:, 2] = edges[:3, 1]
    np.multiply(level.square, level.square, level.square)
    np.add(level.square[0], level.square[1], lengths)
    np.add(lengths, level.square[2], lengths)
    roots.rough(lengths[:2], inverse)
    np.multiply(inverse, normals, normals)
    np.multiply(inverse, lengths[:2], inverse)
    vector, (size, root, height) = level.vector, level.numbers
    np.add(normals[:, 1], normals[:, 0], vector)
    np.multiply(vector, vector, first[:, 0])
    np.add(first[0, 0], first[1, 0], size)
    np.add(size, first[2, 0], size)
    roots.rough(size, root)
    np.multiply(root, vector, vector)
    roots.reciprocal(lengths[2], size)
    np.multiply(inverse[1], inverse[0], height)
    np.multiply(height, size, height)
    np.multiply(height, vector, vector)
    np.multiply(vector, level.curvature, vector)
    np.add(level.off, vector, level.off)
    np.multiply(level.curvature, height, height)
    np.multiply(height, height, height)
    np.less_equal(height, level.limit, level.calm)
    np.multiply(level.off, level.calm, level.off)


def _level(tables: tuple[Array, ...], curvature: Array, limit: Array, width: int) -> _Level:
    """Return a level; ``tables`` are (4, n) places, weights and pulls of the corners."""
    indices, weights, pulls = tables
    count = indices.shape[1]

    def room(*shape: int) -> Array:
        return np.zeros((*shape, count), np.float32)

    corners = np.zeros(12 * count, np.float32)
    return _Level(
        flat_index(indices, width),
        np.ascontiguousarray(weights, np.float32),
        np.ascontiguousarray(pulls, np.float32),
        np.ascontiguousarray(curvature, np.float32),
        limit,
        corners,
        corners.reshape(3, 4, count),
        room(3),
        room(5, 3),
        (room(3, 2), room(3, 2)),
        room(3, 2),
        room(3, 3),
        room(3),
        room(2),
        room(3),
        (room(), room(), room()),
        room(3, 4),
        np.zeros(count, np.float32),
    )
