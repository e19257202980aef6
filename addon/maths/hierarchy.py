"""Trees stored as parent indices."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from .runs import ranges

Array = npt.NDArray[Any]


def depths(parents: Array) -> Array:
    """Return how many ancestors each node has.

    Args:
        parents: (n,) integers; the parent's index, negative for a root. Indices must be below n.

    Returns:
        (n,) int32; 0 for roots, -1 for nodes that are on a cycle or below one.
    """
    parents = np.asarray(parents, np.int64)
    depth = np.full(len(parents), -1, np.int32)
    level = np.flatnonzero(parents < 0)
    order = np.argsort(parents, kind="stable")
    firsts = np.searchsorted(parents[order], np.arange(len(parents)))
    counts = np.bincount(parents[parents >= 0], minlength=len(parents))
    current = 0
    while len(level):
        depth[level] = current
        level = order[ranges(firsts[level], counts[level])]
        current += 1
    return depth
