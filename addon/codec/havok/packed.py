"""Packed unsigned integers of the type tables: 1 to 9 bytes, big-endian, the length told by the first byte.

========== ===== ==========
first byte bytes value bits
========== ===== ==========
0xxxxxxx   1     7
10xxxxxx   2     14
110xxxxx   3     21
11100xxx   4     27
11101xxx   5     35
11110xxx   8     59
0xF8       6     40
0xF9       9     64
========== ===== ==========

Writers use the shortest form (every table of the real files does).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

# length, bits of the first byte that belong to the value, the byte that marks the form; shortest first
FORMS = (
    (1, 7, 0x00),
    (2, 6, 0x80),
    (3, 5, 0xC0),
    (4, 3, 0xE0),
    (5, 3, 0xE8),
    (6, 0, 0xF8),
    (8, 3, 0xF0),
    (9, 0, 0xF9),
)


def _form_of(first: int) -> tuple[int, int]:
    """Return the length and the value mask of the form that a first byte marks; length 0 if it marks none."""
    for length, bits, mark in FORMS:
        if first >> bits == mark >> bits:
            return length, (1 << bits) - 1
    return 0, 0


LENGTHS, MASKS = zip(*(_form_of(first) for first in range(256)), strict=True)


@dataclass
class PackedError(Exception):
    """Bytes that are no packed integer; ``position`` counts from the start of what was decoded."""

    position: int


def unpack_one(data: bytes, position: int) -> tuple[int, int]:
    """Return the integer at ``position`` and where it ends.

    Raises:
        PackedError: the first byte marks no form, or the data ends inside the integer.
    """
    first = data[position] if position < len(data) else 0xFF
    length = LENGTHS[first]
    end = position + length
    if not length or end > len(data):
        raise PackedError(position)
    return ((first & MASKS[first]) << 8 * (length - 1)) | int.from_bytes(data[position + 1 : end], "big"), end


def unpack(data: bytes) -> list[int]:
    """Return all integers of a table that holds nothing else.

    Raises:
        PackedError: as `unpack_one`.
    """
    values = []
    position, end = 0, len(data)
    while position < end:
        first = data[position]
        if first < 0x80:
            values.append(first)
            position += 1
        else:
            value, position = unpack_one(data, position)
            values.append(value)
    return values


def pack(values: Iterable[int]) -> bytes:
    """Return integers in their shortest forms, one after another."""
    out = bytearray()
    for value in values:
        if value < 0x80:
            out.append(value)
        else:
            out += _pack_one(value)
    return bytes(out)


def _pack_one(value: int) -> bytes:
    for length, bits, mark in FORMS:
        width = bits + 8 * (length - 1)
        if value < 1 << width:
            return (mark << 8 * (length - 1) | value).to_bytes(length, "big")
    raise OverflowError(value)
