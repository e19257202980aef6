"""Symbol ranges: how the newer code tables of Huffman and tANS say which byte values occur."""

from __future__ import annotations

from .bits import BitText, damaged


def range_numbers(bits: BitText, count: int) -> int:
    """Return how many unary numbers describe the ranges of ``count`` symbols (truncated binary)."""
    if count == 256:
        return 0
    span = 2 * min(257 - count, count)
    width = (span - 1).bit_length()
    spare = (1 << width) - span
    short = bits.take(width - 1)
    if short < spare:
        return short
    return (short << 1 | bits.take(1)) - spare


def symbol_ranges(bits: BitText, count: int, numbers: list[int]) -> list[int]:
    """Return the ``count`` symbols, ascending.

    ``numbers`` are the unary numbers, gaps and runs in turn; each is followed by its extra bits, which stand at the
    reader's position. The last range takes all symbols that are left.
    """
    symbols: list[int] = []
    symbol = _gap(bits, numbers[0]) if len(numbers) & 1 else 0
    pairs = iter(numbers[len(numbers) & 1 :])
    for run, gap in zip(pairs, pairs, strict=True):
        end = symbol + _run(bits, run)
        symbols += range(symbol, end)
        symbol = end + _gap(bits, gap)
    end = symbol + count - len(symbols)
    if not symbol < end <= 256:
        raise damaged("the symbols of a code table", bits.offset)
    symbols += range(symbol, end)
    return symbols


def _gap(bits: BitText, prefix: int) -> int:
    if prefix > 7:
        raise damaged("a gap between symbols", bits.offset)
    return bits.take(prefix + 1) + (2 << prefix) - 1


def _run(bits: BitText, prefix: int) -> int:
    if prefix > 8:
        raise damaged("a run of symbols", bits.offset)
    return bits.take(prefix) + (1 << prefix)
