"""Huffman code streams, all of a batch at once.

Each stream is cut into segments of some hundred symbols, one lane a segment, and all lanes decode in step with numpy.
Where a code starts near a cut is found by decoding from a little before it: prefix codes fall into step by themselves.
That is a guess; the lane in front has to land exactly there, and where it does not, the lane behind is decoded again
from the place where it landed. So the result is exact.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ..binary import Array
from .bits import bytes_for, damaged
from .huffman import ENTRIES, MAX_LENGTH, CodeTable

SEGMENT = 256  # symbols of a lane
WARM_UP = 40  # symbols in front of a cut; nearly all codes fall into step within them
ROUND = 32  # steps after which finished lanes leave
PAD = 16
TABLE_COST = 1024  # symbols that take as much memory as a table


@dataclass
class Group:
    """Three streams that take turns in giving one symbol.

    Attributes:
        forward: first payload byte of the stream that gives symbols 0, 3, 6, ...
        shared: the byte behind it; from here the stream of symbols 2, 5, 8, ... reads forward.
        end: the byte behind the group; from here the stream of symbols 1, 4, 7, ... reads backward.
        table: the code.
        out: (n,) uint8, filled by `HuffmanBatch.decode`.
    """

    forward: int
    shared: int
    end: int
    table: CodeTable
    out: Array


class HuffmanBatch:
    """The code streams of some blocks, and how much memory they will take, counted in symbols."""

    def __init__(self) -> None:
        self.groups: list[Group] = []
        self.cost = 0

    def add(self, group: Group) -> None:
        """Register a group of streams.

        Raises:
            FormatError: the streams have fewer bits than symbols.
        """
        count = len(group.out)
        first = (count + 2) // 3
        if first > 8 * (group.shared - group.forward) or count - first > 8 * (group.end - group.shared):
            raise damaged("more Huffman symbols than bits", group.forward)
        self.groups.append(group)
        self.cost += count + TABLE_COST

    def decode(self, data: memoryview, offset: int) -> None:
        """Fill the output of all groups.

        Args:
            data: the payload bytes that hold the groups.
            offset: where in the payload they start.

        Raises:
            FormatError: a stream does not end where it must.
        """
        if not self.groups:
            return
        streams = self._streams(len(data), offset)
        lanes = _Lanes(np.frombuffer(data, np.uint8), [group.table for group in self.groups])
        used = bytes_for(lanes.fill(streams) - streams.start).reshape(-1, 3)
        places = np.array([(group.forward, group.shared, group.end) for group in self.groups])
        first, rest = np.diff(places).T
        wrong = (used[:, 0] != first) | (used[:, 1] + used[:, 2] != rest)
        if wrong.any():
            raise damaged("Huffman streams do not meet", self.groups[int(wrong.argmax())].forward)

    def _streams(self, size: int, offset: int) -> _Streams:
        """Return the streams of all groups; of two that share their bytes, each is taken for half of them."""
        places = np.array([(group.forward, group.shared, group.end) for group in self.groups])
        forward, shared, end = places.T - offset
        counts = np.array([len(group.out) for group in self.groups])
        first, rest = 8 * (shared - forward), 8 * (end - shared)
        half = (0.51 * rest).astype(np.int64) + 64
        start = 8 * np.stack([forward, 2 * size + PAD - end, shared], axis=1).ravel()
        return _Streams(
            start=start,
            count=(counts[:, None] + (2, 1, 0)).ravel() // 3,
            guess=np.stack([first, half, half], axis=1).ravel(),
            limit=start + np.stack([first, rest, rest], axis=1).ravel(),
            table=np.arange(len(self.groups)).repeat(3),
            offset=places[:, 0].repeat(3),
            out=[group.out[turn::3] for group in self.groups for turn in range(3)],
        )


@dataclass
class _Streams:
    """Streams as columns.

    Attributes:
        start: first bit.
        count: symbols.
        guess: expected bits.
        limit: the bit that no symbol passes.
        table: number of the code.
        offset: payload byte, for messages.
        out: where the symbols go.
    """

    start: Array
    count: Array
    guess: Array
    limit: Array
    table: Array
    offset: Array
    out: list[Array]

    def __post_init__(self) -> None:
        room = np.minimum(self.limit - self.start, MAX_LENGTH * self.count)
        self.guess = np.minimum(self.guess, room)

    def rest(self, which: Array, start: Array, done: Array) -> _Streams:
        """Return what is left of some streams, of which ``done`` symbols are decoded and the next is at ``start``."""
        left = self.count[which] - done
        spent = start - self.start[which]
        guess = (spent * left / done * 1.02).astype(np.int64) + 64
        out = [self.out[stream][size:] for stream, size in zip(which.tolist(), done.tolist(), strict=True)]
        return _Streams(start, left, guess, self.limit[which], self.table[which], self.offset[which], out)


class _Lanes:
    """The stepping machine: 32-bit windows at every byte and the lookup tables end to end."""

    def __init__(self, data: Array, tables: list[CodeTable]) -> None:
        pad = np.zeros(PAD, np.uint8)
        both = np.concatenate([data, pad, data[::-1], pad])
        self.windows = np.ndarray((len(both) - 3,), "<i4", both, 0, (1,)).astype(np.int32)
        unique = {id(table): table for table in tables}
        number = {key: index for index, key in enumerate(unique)}
        self.lookup = np.concatenate([table.lookup for table in unique.values()]).astype(np.int32)
        self.base = np.array([ENTRIES * number[id(table)] for table in tables], np.int32)
        self.step = np.array([table.step for table in tables])

    def fill(self, streams: _Streams) -> Array:
        """Decode the streams to their end; return the bit positions behind their last symbols.

        A stream that is longer than guessed is decoded on in another pass.
        """
        ends = streams.start.copy()
        which = np.arange(len(ends))
        while which.size:
            done, end = self._pass(streams)
            ends[which] = end
            short = done < streams.count
            stuck = end + short > streams.limit
            if stuck.any():
                raise damaged("a Huffman stream ends too early", int(streams.offset[stuck.argmax()]))
            more = np.flatnonzero(short)
            which, streams = which[more], streams.rest(more, end[more], done[more])
        return ends

    def _pass(self, streams: _Streams) -> tuple[Array, Array]:
        """Decode each stream as far as its guessed size; return symbols and end positions."""
        lanes = np.maximum(streams.count // SEGMENT, 1)
        first = lanes.cumsum() - lanes
        stream = np.arange(len(lanes)).repeat(lanes)
        step, guess = self.step[streams.table], streams.guess
        cut = (np.arange(len(stream)) - first[stream]) * (guess / lanes / step)[stream]
        warm_up = (guess / np.maximum(streams.count, 1) * WARM_UP / step + 1)[stream]
        unit = step[stream]
        cut = cut.astype(np.int64) * unit
        start = np.maximum(cut - warm_up.astype(np.int64) * unit, 0) + streams.start[stream]
        base = self.base[streams.table][stream]
        entry = self._cross(start, cut + streams.start[stream], base)
        symbols, sizes, landing = self._settle(entry, first, streams.start + guess, base)
        return self._deliver(streams, symbols, np.add.reduceat(sizes, first), landing[first + lanes - 1])

    def _cross(self, start: Array, stop: Array, base: Array) -> Array:
        """Return where lanes that start at a bit position first reach ``stop`` or pass it."""
        pos = start.astype(np.int32)
        for _ in self._rounds(np.flatnonzero(pos < stop), pos, stop, base):
            pass
        return pos

    def _settle(self, entry: Array, first: Array, end: Array, base: Array) -> tuple[Array, Array, Array]:
        """Decode all lanes and repeat those with a wrong entry.

        Returns:
            The codes of all lanes in order, the codes of each lane, and where each lane landed.
        """
        lanes = len(entry)
        landing = entry.copy()
        turn = np.zeros(lanes, np.int64)
        inner = np.ones(lanes + 1, bool)
        inner[first] = inner[-1] = False
        stop = np.empty(lanes, np.int32)
        rows: list[tuple[Array, Array, Array, Array]] = []
        redo = np.arange(lanes)
        while redo.size:
            turn[redo] += 1
            stop[:-1] = entry[1:]
            stop[np.flatnonzero(~inner[1:])] = end
            landing[redo] = entry[redo]
            todo = redo[entry[redo] < stop[redo]]
            for lane, codes, taken in self._rounds(todo, landing, stop, base):
                rows.append((lane, turn[lane], codes.T.astype(np.uint16), taken))
            redo = np.flatnonzero((landing[:-1] != entry[1:]) & inner[1:-1]) + 1
            entry[redo] = landing[redo - 1]
        lane, row_turn, codes, taken = (np.concatenate(column) for column in zip(*rows, strict=True))
        valid = np.flatnonzero(row_turn == turn[lane])
        valid = valid[lane[valid].argsort(kind="stable")]
        taken = taken[valid]
        sizes = np.bincount(lane[valid], taken, lanes).astype(np.int64)
        return codes[valid][np.arange(ROUND) < taken[:, None]], sizes, landing

    def _rounds(self, lane: Array, pos: Array, stop: Array, base: Array) -> Iterator[tuple[Array, Array, Array]]:
        """Advance lanes until each is at its stop or behind; ``pos`` is kept up to date.

        Yields:
            After each round: the lanes that took part, their codes (ROUND, lanes), and how many of these start in
            front of the stop.
        """
        while lane.size:
            codes, places = self._round(pos[lane], base[lane])
            over = places[-1] >= stop[lane]
            last = np.flatnonzero(over)
            taken = np.full(len(lane), ROUND)
            taken[last] = (places[:-1, last] < stop[lane[last]]).sum(axis=0)
            pos[lane] = places[taken, np.arange(len(lane))]
            yield lane, codes, taken
            lane = lane[~over]

    def _round(self, pos: Array, base: Array) -> tuple[Array, Array]:
        """Take ROUND codes in every lane; return them (ROUND, lanes) and the positions (ROUND + 1, lanes)."""
        codes = np.empty((ROUND, len(pos)), np.int32)
        places = np.empty((ROUND + 1, len(pos)), np.int32)
        places[0] = pos
        window, work = np.empty_like(pos), np.empty_like(pos)
        for index, (here, code, behind) in enumerate(zip(places, codes, places[1:], strict=False)):
            if index & 1:  # a window of 32 bits from a byte on holds two codes
                np.right_shift(window, work, out=window)
            else:
                np.right_shift(here, 3, out=work)
                self.windows.take(work, out=window, mode="clip")
                np.bitwise_and(here, 7, out=work)
                np.right_shift(window, work, out=window)
            np.bitwise_and(window, ENTRIES - 1, out=work)
            np.add(work, base, out=work)
            self.lookup.take(work, out=code, mode="clip")
            np.right_shift(code, 8, out=work)
            np.add(here, work, out=behind)
        return codes, places

    @staticmethod
    def _deliver(streams: _Streams, codes: Array, found: Array, landing: Array) -> tuple[Array, Array]:
        """Hand the symbols to their streams; return how many each took and the position behind the last of them."""
        symbols = codes.astype(np.uint8)
        done = np.minimum(found, streams.count)
        first = found.cumsum() - found
        for out, start, size in zip(streams.out, first.tolist(), done.tolist(), strict=True):
            out[:size] = symbols[start : start + size]
        spare = found - done
        index = np.arange(spare.sum()) + (first + done - spare.cumsum() + spare).repeat(spare)
        surplus = np.bincount(np.arange(len(spare)).repeat(spare), codes[index] >> 8, len(spare))
        return done, landing - surplus.astype(np.int64)
