"""Convex hulls of points, and the flat outlines of those that lie in a plane."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

_ROUNDING = 2.0**-20  # of the largest coordinate: sixteen units in the last place of float32


def hull(points: Array) -> Array:
    """Return the triangles of the convex hull, wound so that ``(b - a) x (c - a)`` points outwards.

    Points in one plane give their outline as a fan, one side only; points on one line, or fewer than three, give none.
    Points nearer than float32's rounding to a face count as on it.

    Args:
        points: (n, 3) floats.

    Returns:
        (m, 3) i4 indices.
    """
    wide = np.asarray(points, np.float64)
    if len(wide) < 3 or not np.isfinite(wide).all():
        return np.zeros((0, 3), np.int32)
    near = _ROUNDING * float(np.abs(wide).max(initial=0.0))
    corners, rank = _simplex(wide, near)
    if rank < 2:
        return np.zeros((0, 3), np.int32)
    if rank == 2:
        return _outline(wide, corners, near)
    return _Quickhull(wide, corners, near).run()


def _simplex(points: Array, near: float) -> tuple[list[int], int]:
    """Return up to four points that span the set, and its dimension."""
    first = int(np.argmin(points[:, 0]))
    away = np.linalg.norm(points - points[first], axis=1)
    second = int(np.argmax(away))
    if away[second] <= near:
        return [first], 0
    axis = (points[second] - points[first]) / away[second]
    offset = points - points[first]
    aside = np.linalg.norm(offset - (offset @ axis)[:, None] * axis, axis=1)
    third = int(np.argmax(aside))
    if aside[third] <= near:
        return [first, second], 1
    normal = np.cross(axis, points[third] - points[first])
    height = offset @ (normal / np.linalg.norm(normal))
    fourth = int(np.argmax(np.abs(height)))
    if abs(height[fourth]) <= near:
        return [first, second, third], 2
    low, high = (second, third) if height[fourth] < 0 else (third, second)
    return [first, low, high, fourth], 3


def _outline(points: Array, corners: list[int], near: float) -> Array:
    """Return the fan over the outline of points in a plane."""
    origin, second, third = points[corners]
    u = (second - origin) / np.linalg.norm(second - origin)
    normal = np.cross(u, third - origin)
    v = np.cross(normal / np.linalg.norm(normal), u)
    flat = np.stack([(points - origin) @ u, (points - origin) @ v], axis=1)
    order = np.lexsort((flat[:, 1], flat[:, 0])).tolist()
    ring = _chain(flat, order, near)[:-1] + _chain(flat, order[::-1], near)[:-1]
    fan = [(ring[0], ring[place], ring[place + 1]) for place in range(1, len(ring) - 1)]
    return np.array(fan, np.int32).reshape(-1, 3)


def _chain(flat: Array, order: list[int], near: float) -> list[int]:
    """Return one side of the outline, left to right."""
    chain: list[int] = []
    for point in order:
        while len(chain) > 1:
            base, side = flat[chain[-2]], flat[chain[-1]]
            edge, step = side - base, flat[point] - base
            if edge[0] * step[1] - edge[1] * step[0] > near * np.hypot(*step):
                break
            chain.pop()
        chain.append(point)
    return chain


class _Quickhull:
    """Quickhull: the point farthest outside of a face replaces all faces it sees by the cone over their rim."""

    def __init__(self, points: Array, corners: list[int], near: float) -> None:
        self.points, self.near = points, near
        a, b, c, d = corners
        self.faces = np.array([(a, b, c), (a, d, b), (b, d, c), (c, d, a)], np.int64)
        self.planes = self._planes(self.faces)
        self.seen_by, self.height = np.full(len(points), -1), np.zeros(len(points))
        self._assign(np.arange(len(points)), 0)

    def run(self) -> Array:
        """Return the triangles."""
        while (self.seen_by >= 0).any():
            apex = int(np.argmax(np.where(self.seen_by >= 0, self.height, -1)))
            sees = self.planes[:, :3] @ self.points[apex] - self.planes[:, 3] > self.near
            sees[self.seen_by[apex]] = True
            self._replace(apex, sees)
        return self.faces.astype(np.int32)

    def _replace(self, apex: int, sees: Array) -> None:
        old = self.faces[sees]
        edges = np.concatenate([old[:, [0, 1]], old[:, [1, 2]], old[:, [2, 0]]])
        count = len(self.points)
        rim = edges[~np.isin(edges[:, 0] * count + edges[:, 1], edges[:, 1] * count + edges[:, 0])]
        cone = np.concatenate([rim, np.full((len(rim), 1), apex)], axis=1)
        loose = np.flatnonzero((self.seen_by >= 0) & sees[self.seen_by])
        number = np.cumsum(~sees) - 1
        kept = (self.seen_by >= 0) & ~sees[self.seen_by]
        self.seen_by[kept] = number[self.seen_by[kept]]
        start = int((~sees).sum())
        self.faces = np.concatenate([self.faces[~sees], cone])
        self.planes = np.concatenate([self.planes[~sees], self._planes(cone)])
        self._assign(loose[loose != apex], start)
        self.seen_by[apex] = -1

    def _planes(self, faces: Array) -> Array:
        a, b, c = (self.points[faces[:, corner]] for corner in range(3))
        normals = np.cross(b - a, c - a)
        lengths = np.linalg.norm(normals, axis=1, keepdims=True)
        normals = np.divide(normals, lengths, out=np.zeros_like(normals), where=lengths > 0)
        return np.concatenate([normals, (normals * a).sum(axis=1, keepdims=True)], axis=1)

    def _assign(self, which: Array, start: int) -> None:
        """Give points to the face, from one on, that they are farthest outside of; those inside of all to none."""
        planes = self.planes[start:]
        heights = self.points[which] @ planes[:, :3].T - planes[:, 3]
        best = np.argmax(heights, axis=1) if len(planes) else np.zeros(len(which), np.int64)
        self.height[which] = heights[np.arange(len(which)), best]
        self.seen_by[which] = np.where(self.height[which] > self.near, start + best, -1)
