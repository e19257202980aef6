"""From values by corner to vertices: split where the corners of a vertex differ, one where they agree."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..codec.binary import Array
from ..maths import affine

SAME = np.cos(np.radians(1.0))  # normals that differ by less are one: Blender's own form rounds by 0.43 degrees


@dataclass(frozen=True)
class Split:
    """Vertices made of corners.

    Attributes:
        sources: (m,) int64: the vertex each is made of; the first n are vertices 0 to n - 1.
        corners: (m,) int64: a corner whose values it has, -1 for a vertex that no corner uses.
        indices: (c,) int32: the vertex of each corner.
    """

    sources: Array
    corners: Array
    indices: Array


def split(vertices: Array, values: Array, count: int) -> Split:
    """Split vertices by the values of their corners.

    The first of a vertex's values stays at its place; vertices for the others follow behind all, in the order of
    theirs.

    Args:
        vertices: (c,) the vertex of each corner.
        values: (c, k) float32; compared bit by bit.
        count: number of vertices.
    """
    bits = np.ascontiguousarray(values, np.float32).view(np.uint32)
    first = np.full(count, -1, np.int64)
    first[vertices[::-1]] = np.arange(len(vertices) - 1, -1, -1)
    indices = vertices.astype(np.int32)
    odd = np.flatnonzero((bits != bits[first[vertices]]).any(axis=1))
    if not len(odd):
        return Split(np.arange(count), first, indices)
    rows = np.column_stack((vertices[odd].astype(np.uint32), bits[odd]))
    _, corners, places = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    indices[odd] = count + places.ravel()
    extra = odd[corners]
    return Split(np.concatenate((np.arange(count), vertices[extra])), np.concatenate((first, extra)), indices)


def agreed(vertices: Array, normals: Array, chosen: Array, count: int) -> Array:
    """Return normals by corner, those of a vertex that are nearly one made one.

    Args:
        vertices: (c,) the vertex of each corner.
        normals: (c, 3) of unit length.
        chosen: (c,) bool: corners to look at; the others stay as they are.
        count: number of vertices.
    """
    sums = np.zeros((count, 3))
    np.add.at(sums, vertices[chosen], normals[chosen])
    mean = affine.normalized(sums)[vertices]
    apart = chosen & (np.einsum("ij,ij->i", mean, normals) < SAME)
    scattered = np.zeros(count, bool)
    scattered[vertices[apart]] = True
    return np.where((chosen & ~scattered[vertices])[:, None], mean, normals)
