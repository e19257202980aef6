"""Reciprocals and reciprocal square roots in float32: exact, or as a processor estimates them.

The estimate is the seeds' (Havok containers and compressed meshes): the value of the middle of a cell of 2^13 units
in the last place, rounded to a multiple of 2^11 of them. It is a fit to what the games' tools made, not the table of
one processor; processors differ, and their estimates are up to 3.7e-4 off in the same way.

Arguments below the smallest normal number count as that number: the games flush smaller ones to zero, and there every
caller multiplies the result by something that is zero.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

TINY = np.float32(2.0**-126)
ONE = np.float32(1)
TWO = np.float32(2)
THREE = np.float32(3)
HALF = np.float32(0.5)
CELL_BITS, STEP_BITS = 13, 11
INDEX_MASK = np.int32((1 << (24 - CELL_BITS)) - 1)


def rsqrt_exact(values: Array, out: Array) -> None:
    """Write 1 / sqrt(values), each operation rounded once; float32 arrays of one shape, ``out`` not ``values``."""
    np.maximum(values, TINY, out=out)
    np.sqrt(out, out)
    np.divide(ONE, out, out)


def rsqrt_estimate(values: Array, out: Array) -> None:
    """Write the estimate of 1 / sqrt(values) by table: one cell for each exponent parity and top ten mantissa bits."""
    np.maximum(values, TINY, out=out)
    bits = out.view(np.int32)
    scale = ((bits >> np.int32(24)) - np.int32(63)) << np.int32(23)
    out.view(np.int32)[...] = _rsqrt_table()[(bits >> np.int32(CELL_BITS)) & INDEX_MASK] - scale


def rsqrt_refined(values: Array, out: Array) -> None:
    """Write the estimate after one Newton step, ``(3 - (x r) r) (r / 2)``."""
    rsqrt_estimate(values, out)
    np.multiply(THREE - (values * out) * out, out * HALF, out)


def reciprocal_exact(values: Array, out: Array) -> None:
    """Write 1 / values of positive values."""
    np.maximum(values, TINY, out=out)
    np.divide(ONE, out, out)


def reciprocal_estimate(values: Array, out: Array) -> None:
    """Write the estimate of 1 / values of positive values, by the same kind of table."""
    np.maximum(values, TINY, out=out)
    bits = out.view(np.int32)
    scale = ((bits >> np.int32(23)) - np.int32(127)) << np.int32(23)
    out.view(np.int32)[...] = _reciprocal_table()[(bits >> np.int32(CELL_BITS)) & (INDEX_MASK >> np.int32(1))] - scale


def reciprocal_refined(values: Array, out: Array) -> None:
    """Write the estimate after one Newton step, ``(2 - x r) r``."""
    reciprocal_estimate(values, out)
    np.multiply(TWO - values * out, out, out)


@lru_cache(maxsize=1)
def _rsqrt_table() -> Array:
    """Return the bits of the estimates for the cells of [0.5, 2), in the order of their index."""
    return _table(0x3F000000, 1 << (24 - CELL_BITS), lambda middle: 1 / np.sqrt(middle))


@lru_cache(maxsize=1)
def _reciprocal_table() -> Array:
    """Return the bits of the estimates for the cells of [1, 2)."""
    return _table(0x3F800000, 1 << (23 - CELL_BITS), lambda middle: 1 / middle)


def _table(first: int, cells: int, function: Callable[[Array], Array]) -> Array:
    """Return one entry for each cell from the float with the bits ``first`` on, i4 by index (bits above the cell)."""
    low = first + (np.arange(cells, dtype=np.int64) << CELL_BITS)
    middle = (low + (1 << (CELL_BITS - 1))).astype(np.int32).view(np.float32).astype(np.float64)
    bits = function(middle).astype(np.float32).view(np.int32).astype(np.int64)
    step = 1 << STEP_BITS
    table = np.zeros(cells, np.int32)
    table[(low >> CELL_BITS) & (cells - 1)] = (bits + step // 2) // step * step
    return table
