"""Levels of detail that follow a mesh whose vertices or triangles have changed."""

from __future__ import annotations

import numpy as np

from ..codec.binary import Array
from ..codec.flver import is_degenerate

CELLS = {1: 64, 2: 32, 3: 16}  # of the longest side, by level


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

    Vertices that share a cell of a grid and point to the same side become one of them.

    Args:
        positions: (n, 3) in model space.
        triangles: (t, 3).
        level: 1 to 3.

    Returns:
        (s, 3) int32.
    """
    used = np.unique(triangles)
    if not len(used):
        return triangles.astype(np.int32)
    low = positions[used].min(axis=0)
    size = float((positions[used].max(axis=0) - low).max()) or 1.0
    cells = np.floor((positions[used] - low) / size * CELLS[level]).astype(np.int64)
    _, first, owner = np.unique(cells, axis=0, return_index=True, return_inverse=True)
    places = np.full(len(positions), -1, np.int64)
    places[used] = used[first][owner.ravel()]
    result = places[triangles]
    result = result[~is_degenerate(result)]
    _, kept = np.unique(np.sort(result, axis=1), axis=0, return_index=True)
    return result[np.sort(kept)].astype(np.int32)
