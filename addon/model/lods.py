"""Levels of detail that follow a mesh whose vertices or triangles have changed."""

from __future__ import annotations

import numpy as np

from ..codec.binary import Array
from ..codec.flver import is_degenerate

CELL = 1.8  # edge of a grid cell in mean edges of the triangles, for level 1


def renumbered(triangles: Array, places: Array) -> tuple[Array, int]:
    """Return triangles over other vertex numbers, without those that use a vertex that is gone.

    Args:
        triangles: (t, 3).
        places: (n,) the new number of each vertex, -1 where it is gone.

    Returns:
        (s, 3) int32, and how many triangles were left out.
    """
    moved = places[triangles]
    whole = (moved >= 0).all(axis=1)
    return moved[whole].astype(np.int32), int((~whole).sum())


def coarser(positions: Array, triangles: Array, level: int) -> Array:
    """Return triangles for a level of detail, over the same vertices.

    Vertices that share a cell of a grid become one of them; a level has about a quarter of the triangles of the level
    before it. A mesh that would vanish stays as it is.

    Args:
        positions: (n, 3) in model space.
        triangles: (t, 3).
        level: 1 to 3.

    Returns:
        (s, 3) int32.
    """
    triangles = triangles[~is_degenerate(triangles)]
    used = np.unique(triangles)
    points = positions[triangles].astype(np.float64)
    edges = np.linalg.norm(points - np.roll(points, 1, axis=1), axis=2)
    cell = float(edges.mean()) * CELL * 2 ** (level - 1) if len(edges) else 0.0
    if not np.isfinite(cell) or cell <= 0:
        return triangles.astype(np.int32)
    cells = np.floor((positions[used] - positions[used].min(axis=0)) / cell).astype(np.int64)
    _, first, owner = np.unique(cells, axis=0, return_index=True, return_inverse=True)
    places = np.full(len(positions), -1, np.int64)
    places[used] = used[first][owner.ravel()]
    result = places[triangles]
    result = result[~is_degenerate(result)]
    _, kept = np.unique(np.sort(result, axis=1), axis=0, return_index=True)
    return (result[np.sort(kept)] if len(kept) else triangles).astype(np.int32)
