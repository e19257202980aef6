"""The bit region at the end of an LZ chunk: match distances and long lengths, read from both ends in turn."""

from __future__ import annotations

import numpy as np

from ..binary import Array
from .bits import BitTable, BitText, bytes_for, damaged

PLAIN = BitTable("plain offset code", 8, (
    (0, 4, "low", "lowest bits of the distance"),
    (4, 4, "width", "extra bits - 4; 15 marks a far offset"),
))  # fmt: skip

FAR = BitTable("far offset code", 8, (
    (0, 4, "width", "extra bits - 16"),
    (4, 4, "mark", "15"),
))  # fmt: skip

SCALED = BitTable("scaled offset code", 8, (
    (0, 3, "high", "highest bits of the distance, behind a 1"),
    (3, 5, "width", "extra bits, at most 26"),
))  # fmt: skip

CODES = np.arange(256)
IS_FAR = CODES >= 0xF0
PLAIN_WIDTH = np.where(IS_FAR, FAR.split(CODES)[0] + 16, PLAIN.split(CODES)[1] + 4)
SCALED_WIDTH = SCALED.split(CODES)[1]
FAR_BASE = 8322816
MAX_WIDTH = 26
PAD = 8


class Region:
    """Bytes read as two bit streams, one from the front and one from the back.

    Attributes:
        data: the bytes, (n,) uint8.
        ends: bits read so far from the front and from the back.
    """

    def __init__(self, data: Array, offset: int) -> None:
        """Take the bytes; ``offset`` is their place in the payload, for messages."""
        self.data = data
        self.ends = [0, 0]
        self._offset = offset

    def count(self) -> int:
        """Read the number of long lengths, which stands at the back."""
        bits = BitText(self.data[::-1][:8].tobytes(), self._offset)
        ((_zeros, value),) = bits.prefixed(1, 18, 1, 1)
        self.ends[1] = bits.pos
        return value - 1

    def distances(self, codes: Array, scale: int, low: Array) -> Array:
        """Read match distances, those of even index from the front, the others from the back.

        Args:
            codes: (n,) uint8 offset codes.
            scale: 0 where the codes are plain, else the unit of the distances.
            low: (n,) uint8 to add to each scaled distance, empty for a scale of 0 or 1.

        Returns:
            (n,) int64 distances in bytes.
        """
        width = (SCALED_WIDTH if scale else PLAIN_WIDTH)[codes]
        if scale and len(codes) and width.max() > MAX_WIDTH:
            raise damaged("an offset code", self._offset)
        bits = self._fields(width)
        value: Array = codes.astype(np.int64)
        if not scale:
            near = (((1 << width) + bits) << 4) + PLAIN.split(value)[0] - 248
            far: Array = FAR_BASE + (1 << width) + bits
            return np.where(IS_FAR[codes], far, near)
        value = ((8 + SCALED.split(value)[0]) << width) + bits - 8
        if scale >= 2:
            value = value * scale + low
        return value

    def _fields(self, width: Array) -> Array:
        """Read fields of ``width`` bits, 31 at most, in turn from both ends: (n,) int64."""
        pos = np.empty_like(width)
        for side in (0, 1):
            stop = width[side::2].cumsum() + self.ends[side]
            pos[side::2] = stop - width[side::2]
            self.ends[side] = int(stop[-1]) if len(stop) else self.ends[side]
        if max(self.ends) > 8 * len(self.data):
            raise damaged("the offsets end too early", self._offset)
        pos[1::2] += 8 * (len(self.data) + PAD)
        pad = np.zeros(PAD, np.uint8)
        both = np.concatenate([self.data, pad, self.data[::-1], pad])
        windows: Array = np.ndarray((len(both) - 7,), ">u8", both, 0, (1,))
        bits: Array = windows[pos >> 3].astype(np.uint64) << (pos & 7).astype(np.uint64)
        # Two shifts, since a field may be empty and a shift by 64 is not defined.
        bits = bits >> np.uint64(1) >> (63 - width).astype(np.uint64)
        return bits.astype(np.int64)

    def long_lengths(self, count: int) -> Array:
        """Read long lengths in turn from both ends, (count,) int64, and check that the ends meet."""
        lengths = np.empty(count, np.int64)
        for side, end in enumerate(self.ends if count else ()):
            data = self.data[::-1] if side else self.data
            bits = BitText(data[end >> 3 :].tobytes(), self._offset)
            bits.pos = end & 7
            pairs = bits.prefixed(len(lengths[side::2]), 12, 7, 1)
            lengths[side::2] = [value - 64 for _zeros, value in pairs]
            self.ends[side] = (end & ~7) + bits.pos
        if sum(bytes_for(end) for end in self.ends) != len(self.data):
            raise damaged("the two ends of the offset bits do not meet", self._offset)
        return lengths
