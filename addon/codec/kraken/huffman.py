"""Huffman code tables: three forms of a list of code lengths, and the lookup table made of it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from ..binary import Array
from .bits import BitText, damaged, zigzag
from .symbols import range_numbers, symbol_ranges

MAX_LENGTH = 11
ENTRIES = 1 << MAX_LENGTH
TABLE_BYTES = 1024  # more than any legal table takes, of Huffman or tANS
KNOWN_BITS = 8
REVERSED = np.array([int(f"{index:011b}"[::-1], 2) for index in range(ENTRIES)])


@dataclass(frozen=True)
class CodeTable:
    """A complete code.

    Attributes:
        lookup: (2048,) uint16, ``length << 8 | symbol`` for the next 11 bits of a stream, first bit lowest.
        step: the greatest common divisor of all code lengths: codes start at multiples of it only.
    """

    lookup: Array
    step: int


def read_table(bits: BitText) -> CodeTable | int:
    """Read a code table, or the symbol where there is only one and it takes no bits.

    Raises:
        FormatError: the lengths do not make a complete code of 1 to 11 bits.
    """
    if bits.take(1):
        if bits.take(1):
            raise damaged("a Huffman table of unknown form", bits.offset)
        symbols, lengths = _new(bits)
    else:
        symbols, lengths = _dense(bits) if bits.take(1) else _sparse(bits)
    if len(symbols) == 1:
        return symbols[0]
    return _assign(np.array(symbols), np.array(lengths), bits.offset)


def _assign(symbols: Array, lengths: Array, offset: int) -> CodeTable:
    """Give canonical codes: shorter ones first, equal lengths in table order."""
    if lengths.min() < 1 or lengths.max() > MAX_LENGTH:
        raise damaged("a Huffman code length", offset)
    order = lengths.argsort(kind="stable")
    lengths = lengths[order]
    spans = ENTRIES >> lengths
    if spans.sum() != ENTRIES:
        raise damaged("Huffman code lengths that make no code", offset)
    codes = (lengths << 8 | symbols[order]).astype(np.uint16)
    return CodeTable(codes.repeat(spans)[REVERSED], int(np.gcd.reduce(lengths)))


def _sparse(bits: BitText) -> tuple[list[int], list[int]]:
    """Read the old form for few symbols: each with its length, in the order of code assignment."""
    count = bits.take(8)
    if count == 0:
        raise damaged("a Huffman table without symbols", bits.offset)
    if count == 1:
        return [bits.take(8)], [0]
    width = bits.take(3)
    if width > 4:
        raise damaged("a Huffman code length", bits.offset)
    pairs = [(bits.take(8), bits.take(width) + 1) for _ in range(count)]
    return [symbol for symbol, _ in pairs], [length for _, length in pairs]


def _dense(bits: BitText) -> tuple[list[int], list[int]]:
    """Read the old form for many symbols: gaps and runs, lengths as differences from a running average."""
    low_bits = bits.take(2)
    skip = bits.take(1)
    text, pos, offset = bits.text, bits.pos, bits.offset
    known = _changes(low_bits)
    symbol, pos = (0, pos) if skip else _gamma(text, pos, offset)
    average = 32
    symbols: list[int] = []
    lengths: list[int] = []
    while symbol < 256:
        run, pos = _gamma(text, pos, offset)
        symbols += range(symbol, symbol + run)
        for _ in range(run):
            change, used = known.get(text[pos : pos + KNOWN_BITS]) or _change(text, pos, low_bits, offset)
            length = change + (average + 2 >> 2)
            average = length + (3 * average + 2 >> 2)
            lengths.append(length)
            pos += used
        symbol += run
        if symbol < 256:
            gap, pos = _gamma(text, pos, offset)
            symbol += gap
    if symbol != 256 or len(symbols) < 2 or pos > len(text):
        raise damaged("the symbols of a Huffman table", offset)
    bits.pos = pos
    return symbols, lengths


def _gamma(text: str, pos: int, offset: int) -> tuple[int, int]:
    """Return a number of at least 1 that starts at ``pos``, and the place behind it."""
    one = text.find("1", pos)
    if not pos <= one <= pos + 7:
        raise damaged("the symbols of a Huffman table", offset)
    end = 2 * one - pos + 2
    return int(text[pos:end], 2) - 1, end


def _change(text: str, pos: int, low_bits: int, offset: int) -> tuple[int, int]:
    """Return a change of code length that starts at ``pos``, and the bits it takes."""
    one = text.find("1", pos)
    if not pos <= one <= pos + (20 >> low_bits):
        raise damaged("a Huffman code length", offset)
    end = one + 1 + low_bits
    return zigzag((one - pos - 1 << low_bits) + int(text[one:end], 2)), end - pos


@cache
def _changes(low_bits: int) -> dict[str, tuple[int, int]]:
    """Return all changes that are short, by the bits that start with them."""
    found = {}
    for zeros in range(min(KNOWN_BITS - low_bits, (20 >> low_bits) + 1)):
        free = KNOWN_BITS - 1 - zeros
        for value in range(1 << free):
            text = f"{1 << free | value:0{KNOWN_BITS}b}"
            found[text] = _change(text, 0, low_bits, 0)
    return found


def _new(bits: BitText) -> tuple[list[int], list[int]]:
    """Read the newer form: all unary parts, then all low bits, then the symbol ranges."""
    low_bits = bits.take(2)
    count = bits.take(8) + 1
    numbers = bits.unaries(range_numbers(bits, count) + count)
    values = np.array(numbers[:count])
    if low_bits:
        values = values << low_bits | bits.fields(count, low_bits)
    deltas = zigzag(values)
    running = 30 + deltas.cumsum() - deltas
    lengths: list[int] = (deltas + (running >> 2) + 1).tolist()
    return symbol_ranges(bits, count, numbers[count:]), lengths
