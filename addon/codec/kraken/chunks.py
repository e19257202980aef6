"""Chunks: a Kraken quantum is cut into pieces of 128 KiB, each entropy-coded alone, stored, or an LZ chunk."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ..binary import Array
from .arrays import ArrayWalker, Part, known
from .bits import BitTable, damaged
from .blocks import Quantum
from .lanes import HuffmanBatch

CHUNK_SIZE = 0x20000
RAW_HEAD = 8
LEAST_LZ = 13

CHUNK = BitTable("chunk header", 24, (
    (0, 19, "size", "bytes that follow"),
    (19, 4, "mode", "0 delta literals or a stored chunk, 1 raw literals"),
    (23, 1, "lz", "0: this is the header of an array that is the whole chunk"),
))  # fmt: skip

EXCESS = BitTable("excess flag", 8, (
    (0, 6, "size", "bytes of the excess stream; above 31 another byte adds 32 times its value"),
    (6, 2, "mark", "2"),
))  # fmt: skip


@dataclass(frozen=True)
class PlainChunk:
    """Output that is an array as it is: ``part`` goes to ``start``."""

    start: int
    part: Part


@dataclass(frozen=True)
class LzChunk:
    """Output made of literals and matches.

    Attributes:
        start: first output byte, counted from the start of the window.
        end: the byte behind the output.
        head: raw bytes in front, 8 at the start of the window, else none.
        delta: literals are added to what the last distance points at.
        literals: their values.
        commands: one byte a literal run with its match.
        offsets: offset codes.
        scale: unit of the distances, 0 where the offset codes are plain.
        low: lowest part of each distance, where the scale is 2 or more.
        lengths: escaped lengths.
        region: the bits of distances and long lengths, (n,) uint8.
        excess: where newer games put the long lengths, (n,) uint8.
        offset: payload byte of the region, for messages.
    """

    start: int
    end: int
    head: memoryview
    delta: bool
    literals: Part
    commands: Part
    offsets: Part
    scale: int
    low: Part | None
    lengths: Part
    region: Array
    excess: Array | None
    offset: int


Chunk = PlainChunk | LzChunk


def walk(payload: memoryview, quantum: Quantum, batch: HuffmanBatch) -> Iterator[Chunk]:
    """Yield the chunks of a Kraken quantum, walked but not decoded.

    Raises:
        FormatError: a broken header, or chunks that leave bytes of the quantum.
    """
    pos = quantum.source
    for start in range(quantum.start, quantum.end, CHUNK_SIZE):
        end = min(start + CHUNK_SIZE, quantum.end)
        if pos + 4 > quantum.source_end:
            raise damaged("a chunk is missing", pos)
        size, mode, lz = CHUNK.split(int.from_bytes(payload[pos : pos + 3], "big"))
        walker = ArrayWalker(payload, batch)
        if not lz:
            part, pos = walker.walk(pos, quantum.source_end, end - start)
            if part.count != end - start:
                raise damaged("an entropy-coded chunk has another size", pos)
            yield PlainChunk(start, part)
            continue
        body, pos = pos + 3, pos + 3 + size
        highest_mode = 1 if size < end - start else 0
        if pos > quantum.source_end or size > end - start or mode > highest_mode:
            raise damaged("a chunk header", body - 3)
        if size == end - start:
            yield PlainChunk(start, known(np.frombuffer(payload[body:pos], np.uint8)))
        else:
            yield _LzWalker(walker, body, pos).walk(start, end, delta=mode == 0)
    if pos != quantum.source_end:
        raise damaged("bytes follow the last chunk", pos)


class _LzWalker:
    """Takes the items of one LZ chunk in their order."""

    def __init__(self, walker: ArrayWalker, pos: int, end: int) -> None:
        self.walker = walker
        self.payload = walker.payload
        self.pos = pos
        self.end = end

    def walk(self, start: int, end: int, *, delta: bool) -> LzChunk:
        count = end - start
        if self.end - self.pos < LEAST_LZ:
            raise damaged("an LZ chunk that is too small", self.pos)
        head = self._take(0 if start else RAW_HEAD)
        excess = self._excess() if self.payload[self.pos] >> 7 else None
        literals = self._array(count)
        commands = self._array(count)
        if self.end - self.pos < 3:
            raise damaged("an LZ chunk ends too early", self.pos)
        scale = self._take(1)[0] - 127 if self.payload[self.pos] >> 7 else 0
        offsets = self._array(commands.count)
        low = self._array(offsets.count) if scale >= 2 else None
        if low and low.count != offsets.count:
            raise damaged("the scaled offsets of an LZ chunk", self.pos)
        lengths = self._array(count >> 2)
        region = np.frombuffer(self.payload[self.pos : self.end], np.uint8)
        return LzChunk(
            start, end, head, delta, literals, commands, offsets, scale, low, lengths, region, excess, self.pos
        )

    def _take(self, size: int) -> memoryview:
        self.pos += size
        return self.payload[self.pos - size : self.pos]

    def _array(self, cap: int) -> Part:
        part, self.pos = self.walker.walk(self.pos, self.end, cap)
        return part

    def _excess(self) -> Array:
        """Cut the excess stream off the end; known from public decoders for another platform only."""
        size, mark = EXCESS.split(self._take(1)[0])
        if size > 31 and self.pos < self.end:
            size += 32 * self._take(1)[0]
        if mark != 2 or size > self.end - self.pos:
            raise damaged("the excess flag of an LZ chunk", self.pos)
        self.end -= size
        return np.frombuffer(self.payload[self.end : self.end + size], np.uint8)
