"""Normals and tangents of meshes from their triangles, sums in the order of the triangles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..codec.binary import Array
from .links import flat_index
from .settings import Inverse
from .vectors import cross, dot

FLIPPED = np.float32(-3)
"""What the normal of a flipped triangle counts: ``1 - 4 flip``."""


@dataclass(frozen=True, eq=False)
class NormalPart:
    """A mesh whose normals are made.

    Attributes:
        corners: (t, 3) columns of the store.
        flips: (t,) bool.
        ids: (t, 3) which sum each corner goes to.
        count: number of sums.
        vertices: (n,) columns of the store whose normals are written.
        vertex_ids: (n,) the sum each gets.
    """

    corners: Array
    flips: Array
    ids: Array
    count: int
    vertices: Array
    vertex_ids: Array


class Normals:
    """Makes the normals of several meshes in one go."""

    def __init__(self, parts: Sequence[NormalPart], width: int) -> None:
        """Join the meshes; ``width`` is the number of columns of the store."""
        shifts = np.cumsum([0, *(part.count for part in parts)]).tolist()
        corners = np.concatenate([part.corners for part in parts]).astype(np.intp)
        self.corners = [flat_index(corners[:, corner], width) for corner in range(3)]
        self.sign = np.where(np.concatenate([part.flips for part in parts]), FLIPPED, np.float32(1))
        self.sums = Sums(
            np.concatenate([part.ids.astype(np.intp) + shift for part, shift in zip(parts, shifts, strict=False)]),
            shifts[-1],
        )
        self.ids = np.concatenate([
            part.vertex_ids.astype(np.intp) + shift for part, shift in zip(parts, shifts, strict=False)
        ])  # fmt: skip
        self.vertices = flat_index(np.concatenate([part.vertices for part in parts]).astype(np.intp), width)

    def make(self, flat: Array, normals: Array, rsqrt: Inverse) -> None:
        """Write the normals into the flat store of normals; the kernel takes a rough root."""
        p0, p1, p2 = (flat.take(places).reshape(3, -1) for places in self.corners)
        total = self.sums.add(cross(p1 - p0, p2 - p0) * self.sign)
        square = dot(total, total)
        inverse = np.empty_like(square)
        rsqrt(square, inverse)
        normals[self.vertices] = (total * inverse).take(self.ids, 1).reshape(-1)


class Sums:
    """Adds triangles' vectors into the places they touch, each place's in the order of the triangles."""

    def __init__(self, ids: Array, count: int) -> None:
        """Sort the corners.

        Args:
            ids: (t, 3) place of each corner.
            count: number of places.
        """
        place = ids.reshape(-1)
        order = np.argsort(place, kind="stable")
        valence = np.bincount(place, minlength=count)
        first = np.cumsum(valence) - valence
        # by falling number of triangles: those that have a k-th one come first
        ranked = np.argsort(-valence, kind="stable")
        self.rank = np.empty(count, np.intp)
        self.rank[ranked] = np.arange(count)
        self.steps = []
        for step in range(int(valence.max(initial=0))):
            having = ranked[valence[ranked] > step]
            self.steps.append(order[first[having] + step] // 3)

    def add(self, vectors: Array) -> Array:
        """Return the sums of (3, t) vectors, (3, count)."""
        total = np.zeros((3, len(self.rank)), np.float32)
        for triangles in self.steps:
            total[:, : len(triangles)] += vectors.take(triangles, 1)
        return total.take(self.rank, 1)


@dataclass(frozen=True, eq=False)
class TangentPart:
    """Vertices whose tangents are made: columns of the store, those their directions start to, cosines, sines."""

    vertices: Array
    references: Array
    cos: Array
    sin: Array


class Tangents:
    """Makes tangents: a direction in the surface, turned about the normal by a stored angle."""

    def __init__(self, parts: Sequence[TangentPart], width: int) -> None:
        """Join the parts; ``width`` is the number of columns of the store."""
        self.vertices = flat_index(np.concatenate([part.vertices for part in parts]).astype(np.intp), width)
        self.references = flat_index(np.concatenate([part.references for part in parts]).astype(np.intp), width)
        self.cos = np.concatenate([part.cos for part in parts])
        self.sin = np.concatenate([part.sin for part in parts])

    def make(self, flat: Array, normals: Array, tangents: Array, rsqrt: Inverse) -> None:
        """Write the tangents into their flat store."""
        normal = normals.take(self.vertices).reshape(3, -1)
        edge = (flat.take(self.references) - flat.take(self.vertices)).reshape(3, -1)
        start = edge - normal * dot(normal, edge)
        square = dot(start, start)
        inverse = np.empty_like(square)
        rsqrt(square, inverse)
        start *= inverse
        tangents[self.vertices] = (self.cos * start + self.sin * cross(normal, start)).reshape(-1)
