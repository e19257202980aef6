"""Runs of consecutive numbers: the way arrays are cut into parts that records name by first and count."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


def ranges(firsts: Array, counts: Array) -> Array:
    """Return the numbers ``first .. first + count - 1`` of all pairs, one after another."""
    ends = np.cumsum(counts)
    total = int(ends[-1]) if len(ends) else 0
    return np.arange(total) + np.repeat(firsts - (ends - counts), counts)


def starts(counts: Array) -> Array:
    """Return where each of several parts begins when they follow one another, (n,) i64."""
    return np.cumsum(counts, dtype=np.int64) - counts
