"""LZ chunks: commands that copy literals and earlier output."""

from __future__ import annotations

import numpy as np

from ..binary import Array
from . import delta
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
FRESH = 3
LEAST_DISTANCE = 8


def run(chunk: LzChunk, out: bytearray) -> None:
    """Write a chunk into its window; everything in front of it must be there.

    Raises:
        FormatError: commands that do not fit the chunk.
    """
    start = chunk.start + len(chunk.head)
    out[chunk.start : start] = chunk.head
    starts, ends, distances = _matches(chunk, start, out)
    if chunk.delta:
        delta.add_up(out, np.concatenate([[start], starts, [chunk.end]]), ends, distances)
        return
    for place, end, distance in zip(starts.tolist(), ends.tolist(), distances.tolist(), strict=True):
        if end - place <= distance:
            out[place:end] = out[place - distance : end - distance]
        else:
            delta.repeat(out, place, end, distance)


def _matches(chunk: LzChunk, start: int, out: bytearray) -> tuple[Array, Array, Array]:
    """Lay out all commands of a chunk, check them and put the literals in place.

    Returns:
        (n,) int64 each: the output byte at which a match starts, the byte behind it, its distance. The literals of a
        command stand between the match before and its own.
    """
    fresh, lengths = _region(chunk)
    literals = chunk.literals.resolve()
    literal_code, match_code, slots = COMMAND.split(chunk.commands.resolve())
    sizes = np.stack([literal_code, match_code + np.uint8(2)], axis=1).astype(np.int64).ravel()
    escaped = np.stack([literal_code == ESCAPED_LITERALS, match_code == ESCAPED_MATCH], axis=1).ravel()
    is_fresh = slots == FRESH
    if np.count_nonzero(escaped) != len(lengths) or np.count_nonzero(is_fresh) != len(fresh):
        raise damaged("the lengths or offsets of an LZ chunk", chunk.offset)
    sizes[escaped] += lengths - 3  # a literal escape stands for 3 itself, a match escape for 17
    edges = sizes.cumsum() + start
    starts, ends, runs = edges[::2], edges[1::2], sizes[::2]
    tail = chunk.end - (int(edges[-1]) if len(edges) else start)
    if tail < 0 or tail != len(literals) - runs.sum():
        raise damaged("the literals of an LZ chunk", chunk.offset)
    # A distance that is taken again was in the window before, and places only grow.
    if len(fresh) and (fresh.min() < LEAST_DISTANCE or (fresh > starts[is_fresh]).any()):
        raise damaged("a match reaches out of its window", chunk.offset)
    matched = np.zeros(len(runs) + 1, np.int64)
    np.cumsum(sizes[1::2], out=matched[1:])
    places = np.arange(start, start + len(literals)) + matched.repeat(np.append(runs, tail))
    np.frombuffer(out, np.uint8)[places] = literals
    return starts, ends, _distances(slots, fresh)


def _distances(slots: Array, fresh: Array) -> Array:
    """Return the distance of each match, (n,) int64, from the slots of recent ones and the new ones."""
    changes = np.flatnonzero(slots)
    steps = slots[changes].astype(np.int64)
    steps[steps == FRESH] = fresh  # of at least 8, so that slots 1 and 2 still stand out
    first = second = third = LEAST_DISTANCE
    again = []
    for step in steps.tolist():
        if step >= LEAST_DISTANCE:
            third, second, first = second, first, step
        elif step == 1:
            first, second = second, first
            again.append(first)
        else:
            first, second, third = third, first, second
            again.append(first)
    steps[steps < LEAST_DISTANCE] = again
    return np.append(LEAST_DISTANCE, steps).repeat(np.diff(changes, prepend=0, append=len(slots)))


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
