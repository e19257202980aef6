"""tANS arrays: five states that take turns, fed from both ends of the source."""

from __future__ import annotations

import numpy as np

from ..binary import Buffer
from .bits import BitText, bytes_for, damaged, zigzag
from .huffman import TABLE_BYTES
from .symbols import range_numbers, symbol_ranges

Entry = tuple[int, int, int, int]


def decode(data: Buffer, count: int, offset: int) -> bytes:
    """Decode an array of ``count`` bytes.

    Raises:
        FormatError: a broken table, or streams that do not meet.
    """
    if len(data) < 8 or count < 5:
        raise damaged("a tANS array that is too small", offset)
    bits = BitText(data[:TABLE_BYTES], offset)
    if bits.take(1):
        raise damaged("a tANS table of unknown form", offset)
    log = 8 + bits.take(2)
    weights = _weights_by_ranges(bits) if bits.take(1) else _weights_of_few(bits, log)
    if sum(weight for _, weight in weights) != 1 << log:
        raise damaged("the weights of a tANS table", offset)
    return _run(_table(weights, log), log, bytes(data[bits.bytes_used() :]), count, offset)


def _weights_by_ranges(bits: BitText) -> list[tuple[int, int]]:
    """Read weights, ascending by symbol, as differences from a running average."""
    least = bits.take(3)
    count = bits.take(8) + 1
    if count < 2:
        raise damaged("a tANS table of one symbol", bits.offset)
    numbers = bits.unaries(range_numbers(bits, count) + count)
    symbols = symbol_ranges(bits, count, numbers[count:])
    average = 6
    weights = []
    for number in numbers[:count]:
        width = least + number
        if width > 15:
            raise damaged("a tANS weight", bits.offset)
        value = bits.take(width) + (1 << width) - (1 << least)
        half = average >> 2
        limit = 2 * half
        if value <= limit:
            value = half + zigzag(value)
        average += min(limit, value) - half
        weights.append(value + 1)
    if min(weights) < 1:
        raise damaged("a tANS weight", bits.offset)
    return list(zip(symbols, weights, strict=True))


def _weights_of_few(bits: BitText, log: int) -> list[tuple[int, int]]:
    """Read ascending weights, each with its symbol; the last symbol takes what is left."""
    count = bits.take(3) + 1
    width = bits.take(4)
    if not 1 <= width <= log:
        raise damaged("a tANS weight", bits.offset)
    weights: dict[int, int] = {}
    weight = 0
    for _ in range(count):
        symbol = bits.take(8)
        weight += bits.take(width)
        if weight == 0 or symbol in weights:
            raise damaged("a tANS weight", bits.offset)
        weights[symbol] = weight
    symbol = bits.take(8)
    last = (1 << log) - sum(weights.values())
    if symbol in weights or last < max(weight, 2):
        raise damaged("a tANS weight", bits.offset)
    weights[symbol] = last
    return sorted(weights.items())


def _table(weights: list[tuple[int, int]], log: int) -> list[Entry]:
    """Return (symbol, bits to take, their mask, number to add) for each of the ``1 << log`` states."""
    quarters: tuple[list[Entry], ...] = ([], [], [], [])
    before = 0
    for symbol, weight in weights:
        if weight == 1:
            continue
        entries = []
        for state in range(weight, 2 * weight):
            width = log + 1 - state.bit_length()
            entries.append((symbol, width, (1 << width) - 1, (state << width) - (1 << log)))
        start = 0
        for index, quarter in enumerate(quarters):
            end = start + (weight + (before - index - 1 & 3) >> 2)
            quarter.extend(entries[start:end])
            start = end
        before += weight
    singles = [(symbol, log, (1 << log) - 1, 0) for symbol, weight in weights if weight == 1]
    return [entry for quarter in quarters for entry in quarter] + singles


def _windows(data: bytes) -> list[int]:
    """Return the 16 bits at every bit position of a stream and of 16 zero bytes behind it, lowest bit first."""
    padded = np.frombuffer(data + bytes(18), np.uint8).astype(np.uint32)
    words = padded[:-2] | padded[1:-1] << np.uint32(8) | padded[2:] << np.uint32(16)
    windows: list[int] = (words[:, None] >> np.arange(8, dtype=np.uint32) & np.uint32(0xFFFF)).ravel().tolist()
    return windows


def _run(table: list[Entry], log: int, data: bytes, count: int, offset: int) -> bytes:
    """Decode the symbols: five states fed from the front, then the same five from the back, and so on."""
    sides = [_windows(data), _windows(data[::-1])]
    places = [0, 0]
    states = []
    for index in range(5):
        states.append(sides[index & 1][places[index & 1]] & (1 << log) - 1)
        places[index & 1] += log
    symbols: list[int] = []
    rounds, rest = divmod(count - 5, 5)
    for turn in range(rounds):
        place = places[turn & 1]
        if place > 8 * len(data):
            raise damaged("a tANS stream ends too early", offset)
        places[turn & 1] = _round(table, states, sides[turn & 1], place, symbols)
    last = sides[rounds & 1]
    for index in range(rest):
        symbol, width, mask, add = table[states[index]]
        symbols.append(symbol)
        states[index] = add + (last[places[rounds & 1]] & mask)
        places[rounds & 1] += width
    if max(states) > 255 or bytes_for(places[0]) + bytes_for(places[1]) != len(data):
        raise damaged("tANS streams do not meet", offset)
    return bytes(symbols) + bytes(states)


def _round(table: list[Entry], states: list[int], stream: list[int], place: int, symbols: list[int]) -> int:
    """Let each state give a symbol and take bits of the stream; return the place behind them."""
    a, b, c, d, e = states
    first, width, mask, add = table[a]
    a = add + (stream[place] & mask)
    place += width
    second, width, mask, add = table[b]
    b = add + (stream[place] & mask)
    place += width
    third, width, mask, add = table[c]
    c = add + (stream[place] & mask)
    place += width
    fourth, width, mask, add = table[d]
    d = add + (stream[place] & mask)
    place += width
    fifth, width, mask, add = table[e]
    e = add + (stream[place] & mask)
    symbols += (first, second, third, fourth, fifth)
    states[:] = a, b, c, d, e
    return place + width
