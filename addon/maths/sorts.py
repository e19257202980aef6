"""The games' quicksort: middle element as pivot, strict comparisons, not stable. What it does to equal keys shows."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any


def quicksort(keys: Sequence[Any]) -> list[int]:
    """Return the indices of the keys in the order that the sort leaves them in."""
    order = list(range(len(keys)))
    values = list(keys)
    waiting = [(0, len(values) - 1)]
    while waiting:
        left, right = waiting.pop()
        if left >= right:
            continue
        low, high, pivot = left, right, values[(left + right) >> 1]
        while low <= high:
            while values[low] < pivot:
                low += 1
            while pivot < values[high]:
                high -= 1
            if low <= high:
                values[low], values[high] = values[high], values[low]
                order[low], order[high] = order[high], order[low]
                low, high = low + 1, high - 1
        waiting += [(left, high), (low, right)]
    return order


@lru_cache(maxsize=256)
def ranks(count: int) -> tuple[int, ...]:
    """Return what the sort makes of ``0 .. count - 1`` when all keys are equal."""
    return tuple(quicksort([0] * count))
