"""Shape keys: the numbers by which collision results name a triangle of a compressed mesh.

A key is ``section << 8 | primitive << 1 | half``; half 1 is the second triangle of a quad. Material tables store it
left-aligned in 32 bits, the bits below all ones; how many bits a key has is `width_for` the largest one (seed 003).
"""

from __future__ import annotations

import numpy as np

from ...binary import Array

WORD = 32


def make(section: Array, primitive: Array, half: Array) -> Array:
    """Return keys, u4, of integer arrays of one shape."""
    return (section << 8 | primitive << 1 | half).astype(np.uint32)


def parts(keys: Array) -> tuple[Array, Array, Array]:
    """Return section, primitive and half of keys, i8 arrays."""
    wide = keys.astype(np.int64)
    return wide >> 8, wide >> 1 & 0x7F, wide & 1


def width_for(largest: int) -> int:
    """Return the number of bits of the keys of a mesh whose largest key is given."""
    return (largest + 1).bit_length()


def from_left(words: Array, width: int) -> Array:
    """Return keys, u4, of left-aligned words."""
    return (words.astype(np.uint64) >> np.uint64(WORD - width)).astype(np.uint32)


def to_left(keys: Array, width: int) -> Array:
    """Return left-aligned words, u4, of keys."""
    shift = np.uint64(WORD - width)
    ones = (np.uint64(1) << shift) - np.uint64(1)
    return (keys.astype(np.uint64) << shift | ones).astype(np.uint32)
