"""Source triangles -> the rows that are compiled: vertices by position, without degenerate triangles (seed 003)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...codec.binary import Array
from ...codec.errors import FormatError
from ...maths.single import cross, dot

SMALLEST = np.float32(1e-7)  # of the squared length of the edges' cross product
FARTHEST = np.float32(1e9)  # metres; surfaces times counts must stay finite


@dataclass(frozen=True, eq=False)
class Rows:
    """The triangles that are kept, in the order given.

    Attributes:
        vertices: (n, 3) f4, each position once, in the order in which rows first use them.
        corners: (m, 3) i8 vertex numbers.
        data: (m,) i8, index of each row's material.
        source: (m,) i8, which triangle of the source each row is.
        left_out: (k,) i8, triangles of the source that are degenerate.
    """

    vertices: Array
    corners: Array
    data: Array
    source: Array
    left_out: Array

    def __len__(self) -> int:
        return len(self.corners)


def keep_rows(vertices: Array, triangles: Array, data: Array) -> Rows:
    """Return the triangles that are not degenerate.

    Args:
        vertices: (n, 3) f4, metres.
        triangles: (m, 3) vertex numbers.
        data: (m,) index of each triangle's material.

    Raises:
        FormatError: a triangle of a vertex that is not there, or of one that is no number or too far away.
    """
    bad = np.flatnonzero(((triangles < 0) | (triangles >= len(vertices))).any(axis=1))
    if len(bad):
        what = f"triangle {bad[0]} of vertices {triangles[bad[0]].tolist()}, there are {len(vertices)}"
        raise FormatError(what, trail=f"triangles[{bad[0]}]")
    points = vertices[triangles] + np.float32(0)  # makes -0 into 0
    bad = np.flatnonzero(~(np.abs(points) <= FARTHEST).all(axis=(1, 2)))
    if len(bad):
        raise FormatError(f"triangle {bad[0]} has corners at {points[bad[0]].tolist()}", trail=f"triangles[{bad[0]}]")
    good = ~is_degenerate(points)
    points = points[good]
    numbers, first = number_positions(points.reshape(-1, 3))
    source = np.flatnonzero(good)
    return Rows(points.reshape(-1, 3)[first], numbers.reshape(-1, 3), data[source], source, np.flatnonzero(~good))


def is_degenerate(points: Array) -> Array:
    """Return which triangles, (n, 3, 3) f4 corners, the games' tool leaves out, (n,) bool.

    Those whose cross product, from the first or the second corner, is too short, or whose points lie on one line by
    ``|u|^2 |v|^2 - (u v)^2``.
    """
    a, b, c = points[:, 0], points[:, 1], points[:, 2]
    u, v = b - a, c - a
    at_first, at_second = cross(u, v), cross(c - b, a - b)
    small = (dot(at_first, at_first) < SMALLEST) | (dot(at_second, at_second) < SMALLEST)
    across = dot(u, v)
    return small | (dot(u, u) * dot(v, v) - across * across == 0)


def number_positions(points: Array) -> tuple[Array, Array]:
    """Number positions by first use; equal bits are one position.

    Returns:
        (n,) i8 the number of each, and (k,) i8 where each number is first used.
    """
    bits = np.ascontiguousarray(points, np.float32).view([("", "V12")])[:, 0]
    _, first, inverse = np.unique(bits, return_index=True, return_inverse=True)
    order = np.argsort(first)
    number = np.empty(len(order), np.int64)
    number[order] = np.arange(len(order))
    return number[inverse.reshape(-1)], first[order]
