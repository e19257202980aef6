"""LZ chunks: commands that copy literals and earlier output."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ..binary import Array
from .bits import BitTable, damaged
from .chunks import LzChunk
from .regions import Region

COMMAND = BitTable("LZ command", 8, (
    (0, 2, "literals", "literals to copy first; 3 = the next length"),
    (2, 4, "match", "match bytes - 2; 15 = the next length and 14 more"),
    (6, 2, "slot", "which recent distance; 3 = the next new one"),
))  # fmt: skip

ESCAPED_LITERALS = 3
ESCAPED_MATCH = 15
LONG = 255
MAX_LONG = 512
NEW = 3
LEAST_DISTANCE = 8
SHORT_RUN = 6
LOW_BITS = tuple(int.from_bytes(b"\x7f" * size, "little") for size in range(64))


@dataclass(frozen=True)
class _Plan:
    """Where each command of a chunk writes.

    Attributes:
        starts: output byte at which each match starts; the literals stand between the match before and it.
        ends: output byte behind each match.
        slots: which recent distance each match takes.
        new: the new distances, in the order of use.
    """

    starts: Array
    ends: Array
    slots: Array
    new: Array


def run(chunk: LzChunk, out: bytearray) -> None:
    """Write the output of a chunk; everything in front of it must be there.

    Raises:
        FormatError: commands that do not fit the chunk.
    """
    start = chunk.start + len(chunk.head)
    out[chunk.start : start] = chunk.head
    literals = chunk.literals.resolve()
    plan, places = _plan(chunk, start, literals)
    np.frombuffer(out, np.uint8)[places] = literals
    steps = zip(plan.starts.tolist(), plan.ends.tolist(), plan.slots.tolist(), strict=True)
    new = iter(plan.new.tolist())
    if chunk.delta:
        _copy_delta(out, start, chunk.end, steps, new)
    else:
        _copy_raw(out, steps, new)


def _plan(chunk: LzChunk, start: int, literals: Array) -> tuple[_Plan, Array]:
    """Lay out all commands of a chunk and check them; return the plan and the output byte of each literal."""
    distances, lengths = _region(chunk)
    literal_code, match_code, slots = COMMAND.split(chunk.commands.resolve())
    sizes = np.stack([literal_code, match_code + np.uint8(2)], axis=1).astype(np.int64).ravel()
    escaped = np.stack([literal_code == ESCAPED_LITERALS, match_code == ESCAPED_MATCH], axis=1).ravel()
    new = slots == NEW
    if np.count_nonzero(escaped) != len(lengths) or np.count_nonzero(new) != len(distances):
        raise damaged("the lengths or offsets of an LZ chunk", chunk.offset)
    sizes[escaped] += lengths - 3  # a literal escape stands for 3 itself, a match escape for 17
    edges = sizes.cumsum() + start
    starts, ends = edges[::2], edges[1::2]
    end = int(edges[-1]) if len(edges) else start
    runs = sizes[::2]
    tail = chunk.end - end
    if tail < 0 or tail != len(literals) - runs.sum():
        raise damaged("the literals of an LZ chunk", chunk.offset)
    if len(distances) and (distances.min() < LEAST_DISTANCE or (distances > starts[new] - chunk.base).any()):
        raise damaged("a match reaches out of its window", chunk.offset)
    matched = np.zeros(len(runs) + 1, np.int64)
    np.cumsum(sizes[1::2], out=matched[1:])
    places = np.arange(start, start + len(literals)) + matched.repeat(np.append(runs, tail))
    return _Plan(starts, ends, slots, distances), places


def _region(chunk: LzChunk) -> tuple[Array, Array]:
    """Return new distances and escaped lengths, both int64."""
    region = Region(chunk.region, chunk.offset)
    packed = chunk.lengths.resolve()
    long = np.flatnonzero(packed == LONG)
    if chunk.excess is None and (region.count() != len(long) or len(long) > MAX_LONG):
        raise damaged("the number of long lengths", chunk.offset)
    low = chunk.low.resolve() if chunk.low else packed[:0]
    distances = region.distances(chunk.offsets.resolve(), chunk.scale, low)
    lengths = packed.astype(np.int64) + 3
    if chunk.excess is None:
        lengths[long] += region.long_lengths(len(long))
    else:
        region.long_lengths(0)
        lengths[long] += Region(chunk.excess, chunk.offset).long_lengths(len(long))
    return distances, lengths


def _copy_raw(out: bytearray, steps: Iterator[tuple[int, int, int]], new: Iterator[int]) -> None:
    """Copy the matches of a chunk whose literals are in place."""
    first = second = third = LEAST_DISTANCE
    for start, end, slot in steps:
        if slot == NEW:
            first, second, third = next(new), first, second
        elif slot == 1:
            first, second = second, first
        elif slot:
            first, second, third = third, first, second
        if end - start <= first:
            out[start:end] = out[start - first : end - first]
        else:
            size = end - start
            out[start:end] = (out[start - first : start] * (size // first + 1))[:size]


def _copy_delta(
    out: bytearray, place: int, stop: int, steps: Iterator[tuple[int, int, int]], new: Iterator[int]
) -> None:
    """Copy matches, and add to each literal in place what the distance of the match before points at."""
    first = second = third = LEAST_DISTANCE
    for start, end, slot in steps:
        if start - place > SHORT_RUN:
            _add(out, place, start, first)
        else:
            for index in range(place, start):
                out[index] = out[index] + out[index - first] & 255
        if slot == NEW:
            first, second, third = next(new), first, second
        elif slot == 1:
            first, second = second, first
        elif slot:
            first, second, third = third, first, second
        if end - start <= first:
            out[start:end] = out[start - first : end - first]
        else:
            size = end - start
            out[start:end] = (out[start - first : start] * (size // first + 1))[:size]
        place = end
    _add(out, place, stop, first)


def _add(out: bytearray, place: int, stop: int, distance: int) -> None:
    """Add to each byte the one ``distance`` in front of it, as many at a time as do not depend on each other."""
    for start in range(place, stop, distance):
        size = min(distance, stop - start)
        mask = LOW_BITS[size] if size < len(LOW_BITS) else int.from_bytes(b"\x7f" * size, "little")
        a = int.from_bytes(out[start : start + size], "little")
        b = int.from_bytes(out[start - distance : start - distance + size], "little")
        out[start : start + size] = ((a & mask) + (b & mask) ^ (a ^ b) & ~mask).to_bytes(size, "little")
