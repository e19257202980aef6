"""Entropy-coded arrays: walked by their headers first, resolved to bytes when the Huffman streams are decoded."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..binary import Array
from . import interleave, runs, tans
from .bits import BitTable, BitText, damaged
from .huffman import TABLE_BYTES, CodeTable, read_table
from .lanes import Group, HuffmanBatch

RAW_SHORT = BitTable("raw array header, short", 16, (
    (0, 12, "count", "bytes"),
    (12, 3, "type", "0"),
    (15, 1, "short", "1"),
))  # fmt: skip

RAW_LONG = BitTable("raw array header, long", 24, (
    (0, 18, "count", "bytes"),
    (18, 2, "zero", "0"),
    (20, 3, "type", "0"),
    (23, 1, "short", "0"),
))  # fmt: skip

CODED_SHORT = BitTable("coded array header, short", 24, (
    (0, 10, "size", "source bytes"),
    (10, 10, "extra", "decoded bytes - source bytes - 1"),
    (20, 3, "type", "1 to 5"),
    (23, 1, "short", "1"),
))  # fmt: skip

CODED_LONG = BitTable("coded array header, long", 40, (
    (0, 18, "size", "source bytes"),
    (18, 18, "count", "decoded bytes - 1"),
    (36, 3, "type", "1 to 5"),
    (39, 1, "short", "0"),
))  # fmt: skip

HEADERS = {
    (True, True): RAW_SHORT,
    (True, False): RAW_LONG,
    (False, True): CODED_SHORT,
    (False, False): CODED_LONG,
}

COMPOSITE = BitTable("composite head", 8, (
    (0, 7, "count", "arrays; only 6 bits of it when interleaved"),
    (7, 1, "interleaved", "pieces of the arrays take turns"),
))  # fmt: skip

RAW, TANS, HUFFMAN, RUNS, HUFFMAN_HALVES, COMPOSED = range(6)
MAX_DEPTH = 8  # real files nest three deep
SPARE_COMMANDS = 64  # real run commands are fewer than the bytes they make
# What the arrays of a chunk may take together: five, each with at most eight levels of its own size.
MAX_COST = 40 * 0x20000
ARRAY_COST = 4096  # of each array, beside its bytes: a code table


@dataclass(frozen=True)
class Part:
    """An array that is walked but not decoded.

    Attributes:
        count: its decoded bytes.
        resolve: returns them, (count,) uint8; only after the batch's Huffman streams are decoded.
    """

    count: int
    resolve: Callable[[], Array]


class ArrayWalker:
    """Walks the arrays of one chunk.

    Attributes:
        payload: the whole payload.
        batch: receives the Huffman streams.
    """

    def __init__(self, payload: memoryview, batch: HuffmanBatch) -> None:
        self.payload = payload
        self.batch = batch
        self._left = MAX_COST

    def walk(self, pos: int, end: int, cap: int, depth: int = 0) -> tuple[Part, int]:
        """Walk the array at ``pos``; return it and the place behind it.

        Args:
            pos: payload byte of its header.
            end: the byte that it must not pass.
            cap: the most bytes it may decode to.
            depth: how many arrays it stands in.

        Raises:
            FormatError: the header is broken or asks for more than there is.
        """
        kind, pos, size, count = self._header(pos, end)
        if count > cap:
            raise damaged("an array decodes to more bytes than fit", pos)
        self._left -= count + ARRAY_COST
        if self._left < 0 or depth > MAX_DEPTH:
            raise damaged("arrays are nested too deep or too many", pos)
        end = pos + size
        if kind == RAW:
            return known(np.frombuffer(self.payload[pos:end], np.uint8)), end
        if kind == TANS:
            return Part(count, lambda: _bytes(tans.decode(self.payload[pos:end], count, pos))), end
        if kind == RUNS:
            return self._runs(pos, end, count, depth), end
        if kind == COMPOSED:
            return self._composite(pos, end, count, depth), end
        return self._huffman(pos, end, count, halves=kind == HUFFMAN_HALVES), end

    def _header(self, pos: int, end: int) -> tuple[int, int, int, int]:
        """Return type, place of the source, source bytes and decoded bytes."""
        if pos >= end:
            raise damaged("an array header is missing", pos)
        short, kind = self.payload[pos] >> 7, self.payload[pos] >> 4 & 7
        if kind > COMPOSED:
            raise damaged(f"an array of unknown type {kind}", pos)
        table = HEADERS[kind == RAW, bool(short)]
        source = pos + table.size // 8
        if source > end:
            raise damaged("an array header is cut off", pos)
        size, extra, *_ = table.split(int.from_bytes(self.payload[pos:source], "big"))
        if kind == RAW:
            count, sound = size, not extra
        else:
            count = extra + 1 + (size if short else 0)
            sound = size < count
        if not sound or source + size > end:
            raise damaged("an array does not fit its place", pos)
        return kind, source, size, count

    def _huffman(self, pos: int, end: int, count: int, *, halves: bool) -> Part:
        bits = BitText(self.payload[pos : min(end, pos + TABLE_BYTES)], pos)
        table = read_table(bits)
        if isinstance(table, int):
            return _filled(count, table)
        pos += bits.bytes_used()
        out = np.empty(count, np.uint8)
        if end - pos < (6 if halves else 3):
            raise damaged("Huffman streams are missing", pos)
        if halves:
            middle = pos + 3 + int.from_bytes(self.payload[pos : pos + 3], "little")
            if not pos + 5 <= middle <= end - 3:
                raise damaged("the halves of a Huffman array", pos)
            self._streams(pos + 3, middle, table, out[: (count + 1) >> 1])
            self._streams(middle, end, table, out[(count + 1) >> 1 :])
        else:
            self._streams(pos, end, table, out)
        return known(out)

    def _streams(self, pos: int, end: int, table: CodeTable, out: Array) -> None:
        """Register three streams, behind the size of the first."""
        shared = pos + 2 + int.from_bytes(self.payload[pos : pos + 2], "little")
        if shared > end:
            raise damaged("the size of a Huffman stream", pos)
        self.batch.add(Group(pos + 2, shared, end, table, out))

    def _runs(self, pos: int, end: int, count: int, depth: int) -> Part:
        if pos == end:
            raise damaged("an empty run-length array", pos)
        if end - pos == 1:
            return _filled(count, self.payload[pos])
        if self.payload[pos] == 0:
            return Part(count, lambda: _bytes(runs.expand(self.payload[pos + 1 : end], count, pos)))
        prefix, rest = self.walk(pos, end, 2 * count + SPARE_COMMANDS, depth + 1)

        def resolve() -> Array:
            commands = prefix.resolve().tobytes() + self.payload[rest:end]
            return _bytes(runs.expand(commands, count, pos))

        return Part(count, resolve)

    def _composite(self, pos: int, end: int, count: int, depth: int) -> Part:
        if end - pos < 6:
            raise damaged("a composite array that is too small", pos)
        amount, interleaved = COMPOSITE.split(self.payload[pos])
        if amount < 2:
            raise damaged("a composite array of fewer than two parts", pos)
        amount = amount & 0x3F if interleaved else amount
        place, left = pos + 1, count
        parts = []
        for _ in range(amount):
            part, place = self.walk(place, end, left, depth + 1)
            parts.append(part)
            left -= part.count
        if left:
            raise damaged("the parts of a composite array have another size", pos)
        if interleaved:
            return self._interleaved(place, end, parts, depth)
        if place != end:
            raise damaged("bytes follow the parts of a composite array", place)
        return Part(count, lambda: np.concatenate([part.resolve() for part in parts]))

    def _interleaved(self, pos: int, end: int, parts: list[Part], depth: int) -> Part:
        count = sum(part.count for part in parts)
        if end - pos < 3:
            raise damaged("interleaved arrays without intervals", pos)
        size, _unk14, packed = interleave.HEAD.split(int.from_bytes(self.payload[pos : pos + 2], "little"))
        indexes, place = self.walk(pos + 2, end, count + 1, depth + 1)
        widths = None
        if not packed:
            widths, place = self.walk(place, end, indexes.count - 1, depth + 1)
        if indexes.count < 2 or (widths and widths.count != indexes.count - 1) or end - place != size:
            raise damaged("the intervals of interleaved arrays", pos)

        def resolve() -> Array:
            numbers = indexes.resolve()
            if widths is None:
                numbers, bits = interleave.PACKED.split(numbers)
            else:
                bits = widths.resolve()
            pieces = [part.resolve().tobytes() for part in parts]
            data = self.payload[place:end]
            return _bytes(interleave.weave(pieces, numbers.tobytes(), bits.tobytes(), data, pos))

        return Part(count, resolve)


def known(values: Array) -> Part:
    """Return the part whose bytes stand in ``values`` when the time comes."""
    return Part(len(values), lambda: values)


def _filled(count: int, value: int) -> Part:
    return Part(count, lambda: np.full(count, value, np.uint8))


def _bytes(data: bytes) -> Array:
    return np.frombuffer(data, np.uint8)
