"""Interleaved arrays: pieces of several arrays take turns in the output. No real file is known to use them."""

from __future__ import annotations

from ..binary import Buffer
from .bits import BitTable, BitText, damaged

HEAD = BitTable("interleaving head", 16, (
    (0, 14, "size", "bytes of interval bits, which end the array"),
    (14, 1, "unk14", "ignored"),
    (15, 1, "packed", "indexes and interval widths share bytes"),
))  # fmt: skip

PACKED = BitTable("packed index", 8, (
    (0, 4, "index", "which array the next piece is of, 0 at the end"),
    (4, 4, "width", "extra bits of the interval"),
))  # fmt: skip

MAX_WIDTH = 16


def weave(parts: list[bytes], indexes: bytes, widths: bytes, data: Buffer, offset: int) -> bytes:
    """Put the pieces together.

    Args:
        parts: the arrays.
        indexes: one a piece, counted from 1, and a final 0.
        widths: bits of each interval; one may be left over.
        data: the bits of the intervals, read from both ends in turn.
        offset: where this stands, for messages.

    Raises:
        FormatError: pieces that are longer than their array, or bytes left over.
    """
    intervals = _intervals(widths, data, offset)
    if indexes[-1]:
        raise damaged("interleaved arrays without an end", offset)
    taken = [0] * len(parts)
    out = bytearray()
    for index, size in zip(indexes[:-1], intervals, strict=False):
        if not 1 <= index <= len(parts) or taken[index - 1] + size > len(parts[index - 1]):
            raise damaged("interleaved pieces that do not exist", offset)
        start = taken[index - 1]
        taken[index - 1] = start + size
        out += parts[index - 1][start : start + size]
    if taken != [len(part) for part in parts]:
        raise damaged("interleaved arrays with bytes left", offset)
    return bytes(out)


def _intervals(widths: bytes, data: Buffer, offset: int) -> list[int]:
    if max(widths) > MAX_WIDTH:
        raise damaged("the width of an interval", offset)
    sides = BitText(data, offset), BitText(data[::-1], offset)
    intervals = [(1 << width) + sides[turn & 1].take(width) for turn, width in enumerate(widths)]
    if sides[0].bytes_used() + sides[1].bytes_used() > len(data):
        raise damaged("the intervals of interleaved arrays", offset)
    return intervals
