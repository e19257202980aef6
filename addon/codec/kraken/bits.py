"""Bit fields as tables, and the bit order of Kraken's headers and code tables.

Two bit orders occur. Headers, code tables, offsets and long lengths take the most significant bit of each byte first:
`BitText` reads those. Huffman and tANS streams take the least significant first: their modules read them in bulk.
A backward stream is a forward stream over its bytes in reversed order; the bits inside a byte keep their order.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from ..binary import Array, Buffer
from ..errors import FormatError

Bits = TypeVar("Bits", int, Array)
BitRow = tuple[int, int, str, str]


@dataclass(frozen=True)
class BitTable:
    """A packed integer as a table of its fields.

    Attributes:
        name: what the integer is called in messages.
        size: its bits.
        rows: ``(lowest bit, width, field name, meaning)``, lowest field first, without gap or overlap.
    """

    name: str
    size: int
    rows: tuple[BitRow, ...]

    def __post_init__(self) -> None:
        end = 0
        for low, width, field, _meaning in self.rows:
            if low != end:
                raise ValueError(f"{self.name}.{field} stands at bit {low}, the field before it ends at bit {end}")
            end += width
        if end != self.size:
            raise ValueError(f"{self.name} has fields for {end} bits of {self.size}")

    def split(self, value: Bits) -> tuple[Bits, ...]:
        """Return the fields of an integer, or of an array of them, in the order of the rows."""
        return tuple(value >> low & (1 << width) - 1 for low, width, _field, _meaning in self.rows)


class BitText:
    """Bits, most significant of each byte first, as text of "0" and "1", which Python searches and splits fast."""

    def __init__(self, data: Buffer, offset: int) -> None:
        """Take all of ``data``; ``offset`` is its place in the payload, for messages."""
        size = 8 * len(data)
        self.text = f"{int.from_bytes(data, 'big'):0{size}b}" if size else ""
        self.pos = 0
        self.offset = offset

    def take(self, count: int) -> int:
        """Return the next ``count`` bits as a number."""
        start, self.pos = self.pos, self.pos + count
        if self.pos > len(self.text):
            raise damaged("bits end too early", self.offset)
        return int(self.text[start : self.pos] or "0", 2)

    def prefixed(self, count: int, most: int, width: int, growth: int) -> list[tuple[int, int]]:
        """Return ``count`` pairs of a number of zeros, ``most`` at most, and the value of the bits behind them.

        The value starts with the 1 that ends the zeros and has ``width`` bits and ``growth`` more for each zero.
        """
        text, pos = self.text, self.pos
        pairs = []
        for _ in range(count):
            one = text.find("1", pos)
            zeros = one - pos
            if not 0 <= zeros <= most:
                raise damaged("a prefix of zero bits is too long", self.offset)
            pos = one + width + growth * zeros
            pairs.append((zeros, int(text[one:pos], 2)))
        if pos > len(text):
            raise damaged("bits end too early", self.offset)
        self.pos = pos
        return pairs

    def unaries(self, count: int) -> list[int]:
        """Return ``count`` unary numbers that stand back to back."""
        parts = self.text[self.pos :].split("1", count)
        if len(parts) <= count:
            raise damaged("bits end too early", self.offset)
        self.pos = len(self.text) - len(parts.pop())
        return [len(part) for part in parts]

    def fields(self, count: int, width: int) -> Array:
        """Return ``count`` numbers of ``width`` bits each, (count,) int64."""
        start, self.pos = self.pos, self.pos + count * width
        if self.pos > len(self.text):
            raise damaged("bits end too early", self.offset)
        digits = np.frombuffer(self.text[start : self.pos].encode("ascii"), np.uint8) & 1
        return digits.reshape(count, width) @ (1 << np.arange(width)[::-1])

    def bytes_used(self) -> int:
        """Return the bytes read so far, the last one counted whole."""
        return bytes_for(self.pos)


def bytes_for(bits: Bits) -> Bits:
    """Return the bytes that hold so many bits."""
    return (bits + 7) >> 3


def zigzag(value: Bits) -> Bits:
    """Turn 0, 1, 2, 3, 4 into 0, -1, 1, -2, 2."""
    return (value >> 1) ^ -(value & 1)


def damaged(what: str, offset: int) -> FormatError:
    """Return the error for a stream that breaks a rule; ``offset`` counts from the start of the payload."""
    return FormatError(f"the Kraken data is damaged: {what}", offset=offset)
