"""Vertices of compressed meshes: 11/11/10 bits over a section, 21/21/22 bits over the whole mesh.

Everything is single precision, one operation after another, as the games compute it (seed 003; checked bit for bit
against the boxes of stored simd trees).
"""

from __future__ import annotations

import numpy as np

from ...binary import Array

PACKED_BITS = (11, 11, 10)
PACKED_TOPS = np.array([2047, 2047, 1023], np.uint32)
SHARED_BITS = (21, 21, 22)
SHARED_TOPS = np.array([2097151, 2097151, 4194303], np.uint32)
SHARED_STEPS = np.float32(1) / SHARED_TOPS.astype(np.float32)


def split(codes: Array, bits: tuple[int, int, int]) -> Array:
    """Return the three parts of codes, x lowest, (n, 3) of the codes' dtype."""
    kind = codes.dtype.type
    masks = [kind((1 << count) - 1) for count in bits]
    shifts = [kind(0), kind(bits[0]), kind(bits[0] + bits[1])]
    return np.stack([codes >> shift & mask for shift, mask in zip(shifts, masks, strict=True)], axis=-1)


def join(parts: Array, bits: tuple[int, int, int]) -> Array:
    """Return codes of (n, 3) parts, in their dtype."""
    kind = parts.dtype.type
    x, y, z = parts[..., 0], parts[..., 1], parts[..., 2]
    return np.asarray(x | y << kind(bits[0]) | z << kind(bits[0] + bits[1]))


def packed_positions(codes: Array, offset: Array, scale: Array) -> Array:
    """Return the positions, (n, 3) f4, of (n,) u4 codes with offset and scale that broadcast to (n, 3) f4."""
    return split(codes, PACKED_BITS).astype(np.float32) * scale + offset


def shared_positions(codes: Array, minimum: Array, maximum: Array) -> Array:
    """Return the positions, (n, 3) f4, of (n,) u8 codes over the box of the mesh, two (3,) f4."""
    scale = (maximum - minimum) * SHARED_STEPS
    return split(codes, SHARED_BITS).astype(np.float32) * scale + minimum


def packed_codes(positions: Array, offset: Array, scale: Array) -> Array:
    """Return the nearest codes, (n,) u4, of (n, 3) f4 positions; the inverse of `packed_positions`."""
    return join(_rounded(positions, offset, scale, PACKED_TOPS).astype(np.uint32), PACKED_BITS)


def shared_codes(positions: Array, minimum: Array, maximum: Array) -> Array:
    """Return the codes, (n,) u8, of (n, 3) f4 positions over the box of the mesh; the inverse of `shared_positions`.

    ``trunc((v - min) * (1 / extent) * top + 0.5)``, the form that gives 84 of 85 stored codes whose source is known.
    """
    extent = maximum - minimum
    inverse = np.divide(np.float32(1), extent, out=np.zeros_like(extent), where=extent > 0)
    scaled = (positions - minimum) * inverse * SHARED_TOPS.astype(np.float32) + np.float32(0.5)
    return join(np.clip(scaled, 0, SHARED_TOPS.astype(np.float32)).astype(np.uint64), SHARED_BITS)


def _rounded(positions: Array, offset: Array, scale: Array, tops: Array) -> Array:
    safe = np.where(scale > 0, scale, np.float32(1))
    return np.clip(np.rint((positions - offset) / safe), 0, tops)
