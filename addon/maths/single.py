"""Vectors in single precision, one operation after another as the games compute them.

All arrays are f4; every function rounds after each operation, in the order written.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

HALF, ONE, THREE = np.float32(0.5), np.float32(1), np.float32(3)
EPSILON = np.float32(2.0**-23)


def dot(u: Array, v: Array) -> Array:
    """Return ``(x x + y y) + z z`` of (..., 3) vectors."""
    return (u[..., 0] * v[..., 0] + u[..., 1] * v[..., 1]) + u[..., 2] * v[..., 2]


def cross(u: Array, v: Array) -> Array:
    """Return the cross products of (..., 3) vectors."""
    x = u[..., 1] * v[..., 2] - u[..., 2] * v[..., 1]
    y = u[..., 2] * v[..., 0] - u[..., 0] * v[..., 2]
    z = u[..., 0] * v[..., 1] - u[..., 1] * v[..., 0]
    return np.stack([x, y, z], axis=-1)


def surfaces(low: Array, high: Array) -> Array:
    """Return the surface measure ``(z y + y x) + x z`` of boxes, (..., 3) each; a half of the surface."""
    extent = high - low
    x, y, z = extent[..., 0], extent[..., 1], extent[..., 2]
    return (z * y + y * x) + x * z


def reciprocal_root_estimates(squares: Array) -> Array:
    """Return the estimate of ``1 / sqrt(s)`` that reproduces the games' interior bits (seed 003).

    It is the reciprocal root of the middle of a cell of s (exponent parity and the top ten bits of the mantissa),
    rounded to thirteen bits.

    Args:
        squares: f4, positive and normal; others give some number.
    """
    bits = np.ascontiguousarray(squares, np.float32).view(np.uint32)
    exponent = (bits >> np.uint32(23)).astype(np.int32) - 127
    parity = exponent & 1
    cell = parity << 10 | ((bits >> np.uint32(13)).astype(np.int32) & 1023)
    return np.ldexp(_roots()[cell], -13 - ((exponent - parity) >> 1)).astype(np.float32)


@lru_cache(maxsize=1)
def _roots() -> Array:
    """Return 8192 / sqrt(t) in whole numbers, (2048,) f4, t the middles of the cells from 1 to 4."""
    cell = np.arange(2048)
    middle = (1 + (2 * (cell & 1023) + 1) / 2048) * np.where(cell >> 10, 2, 1)
    return np.rint(8192 / np.sqrt(middle)).astype(np.float32)


def units(vectors: Array) -> Array:
    """Return (..., 3) vectors times the estimate of their reciprocal length, improved by one Newton step."""
    square = dot(vectors, vectors)
    root = reciprocal_root_estimates(square)
    factor = (THREE - (root * square) * root) * (root * HALF)
    return vectors * factor[..., None]
