"""How cloth stores numbers: matrices, packed vectors, bits."""

from __future__ import annotations

import numpy as np

from ...binary import Array
from ..objects import View

ZERO_EXPONENT = -45
"""Of packed vectors that are zero (found on real files)."""


def matrices(values: Array) -> Array:
    """Return stored matrices, (..., 16) f4 column after column, as (..., 4, 4) for column vectors."""
    return np.ascontiguousarray(np.swapaxes(values.reshape(*values.shape[:-1], 4, 4), -1, -2))


def stored_matrices(matrices: Array) -> Array:
    """Return matrices, (..., 4, 4) for column vectors, as they are stored, (..., 16) f4: the inverse of `matrices`."""
    return np.ascontiguousarray(np.swapaxes(matrices, -1, -2)).reshape(*matrices.shape[:-2], 16).astype(np.float32)


def transform(values: Array) -> Array:
    """Return a stored rigid transform, (16,) f4, as (4, 4); the fourth lanes hold rubbish in files and are not read."""
    matrix = matrices(values)
    matrix[..., 3, :] = np.array((0, 0, 0, 1), np.float32)
    return matrix


def unpack(packed: Array) -> Array:
    """Return packed vectors, (..., 4) i2, as (..., 3) f4: whole numbers times a power of two stored as half a float.

    Seed "Havok cloth data", the skin operator. Found on real files: packing rounds to the nearest, and each vector's
    largest component is 16384 to 32767.
    """
    whole = (packed[..., :3].astype(np.int32) << np.int32(16)).astype(np.float32)
    scale = (packed[..., 3:].astype(np.int32) << np.int32(16)).view(np.float32)
    with np.errstate(over="ignore", invalid="ignore"):
        return whole * scale


def pack(vectors: Array) -> Array:
    """Return vectors, (..., 3), as packed ones, (..., 4) i2: the inverse of `unpack`, each with its own exponent.

    Rounded to the nearest, so that the largest component of each is 16384 to 32767 (found on real files).
    """
    values = vectors.astype(np.float64)
    largest = np.abs(values).max(axis=-1, keepdims=True)
    exponent = np.where(largest > 0, np.frexp(largest)[1], ZERO_EXPONENT)
    whole = np.rint(np.ldexp(values, 15 - exponent))
    exponent = exponent + (np.abs(whole).max(axis=-1, keepdims=True) > 32767)
    packed = np.empty((*values.shape[:-1], 4), np.int16)
    packed[..., :3] = np.rint(np.ldexp(values, 15 - exponent))
    # the whole numbers stand in the upper half of 32 bits
    scale = np.ldexp(np.float32(1), exponent - 31)
    packed[..., 3:] = (scale.view(np.int32) >> np.int32(16)).astype(np.int16)
    return packed


def bits(view: View, name: str, count: int) -> Array:
    """Return a member of one bit an element, the first in the highest bit of a byte, as (count,) bool.

    The order is found on real files, from the bits that pad the last byte. No bytes at all mean no bit set.
    """
    stored = view.numbers(name, "u1")
    if not len(stored):
        return np.zeros(count, np.bool_)
    if 8 * len(stored) < count:
        view.fail(f"{8 * len(stored)} bits for {count} triangles", name)
    return np.unpackbits(stored, count=count).astype(np.bool_)


def number(view: View, name: str, dtype: str) -> int:
    """Return one whole number."""
    return int(view.numbers(name, dtype))


def real(view: View, name: str) -> np.float32:
    """Return one float32."""
    return np.float32(view.numbers(name, "<f4"))


def flag(view: View, name: str) -> bool:
    """Return one bool."""
    return bool(view.numbers(name, "?"))
