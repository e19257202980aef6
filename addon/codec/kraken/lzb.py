"""LZB16: what Oodle falls back to for tiny buffers, also under the name KRAK. Known from three real files."""

from __future__ import annotations

from .bits import BitTable, damaged
from .blocks import Quantum

TOKEN = BitTable("LZB16 token", 8, (
    (0, 4, "literals", "literals; 15 = and the next byte more"),
    (4, 4, "match", "match bytes - 4; 15 = a match byte follows"),
))  # fmt: skip

MATCH = BitTable("LZB16 match byte", 8, (
    (0, 3, "distance", "distance in bytes"),
    (3, 4, "match", "match bytes - 4; 15 = and the next byte more"),
    (7, 1, "near", "1; else the other bits are the match bytes - 19 and the distance follows"),
))  # fmt: skip

ESCAPE = 15


def run(payload: memoryview, quantum: Quantum, out: bytearray) -> None:
    """Write a quantum into its window; everything in front of it must be there.

    Raises:
        FormatError: the quantum is damaged, or uses a form of length that no known file has.
    """
    source = _Source(payload, quantum.source, quantum.source_end)
    place = quantum.start
    while True:
        literals, match = TOKEN.split(source.byte())
        if literals == ESCAPE:
            literals += source.length(255)
        if literals > quantum.end - place:
            raise damaged("literals that do not fit", source.pos)
        out[place : place + literals] = source.take(literals)
        place += literals
        if source.pos == source.end:
            break
        distance, size = _match(source, match)
        if not 1 <= distance <= place or size > quantum.end - place:
            raise damaged("a match reaches out of its window", source.pos)
        piece = out[place - distance : place]
        out[place : place + size] = (piece * (size // distance + 1))[:size]
        place += size
    if place != quantum.end:
        raise damaged("a quantum has another size", source.pos)


def _match(source: _Source, code: int) -> tuple[int, int]:
    """Return the distance and the bytes of a match."""
    if code < ESCAPE:
        return source.distance(), code + 4
    value = source.length(0x7F)
    distance, size, near = MATCH.split(value)
    if not near:
        return source.distance(), 19 + value
    return distance, size + 4 + (source.byte() if size == ESCAPE else 0)


class _Source:
    """Checked reading of one quantum."""

    def __init__(self, payload: memoryview, pos: int, end: int) -> None:
        self.payload = payload
        self.pos = pos
        self.end = end

    def take(self, size: int) -> memoryview:
        if self.pos + size > self.end:
            raise damaged("a quantum ends too early", self.pos)
        self.pos += size
        return self.payload[self.pos - size : self.pos]

    def byte(self) -> int:
        return self.take(1)[0]

    def distance(self) -> int:
        return int.from_bytes(self.take(2), "little")

    def length(self, unknown: int) -> int:
        """Read a length byte; the value ``unknown`` would go on in a way that no known file shows."""
        value = self.byte()
        if value == unknown:
            raise damaged("a length of unknown form", self.pos)
        return value
