"""The outer frame: blocks of 256 KiB and the quanta in them. Headers hold all sizes, so nothing is decoded here."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, auto

from ..binary import Buffer
from ..errors import FormatError
from .bits import BitTable, damaged

BLOCK_SIZE = 0x40000
SMALL_SIZE = 0x4000
UNCOMPRESSED = 0xCC06

BLOCK = BitTable("block header", 16, (
    (0, 7, "codec", "6 Kraken, 2 LZB16"),
    (7, 1, "checksum", "quantum headers carry a checksum of 3 bytes"),
    (8, 4, "magic", "0xC"),
    (12, 2, "zero", "0"),
    (14, 1, "uncompressed", "the block's bytes follow as they are, without a quantum"),
    (15, 1, "restart", "no match reaches back beyond this block"),
))  # fmt: skip

QUANTUM = BitTable("quantum header", 24, (
    (0, 18, "size", "compressed bytes - 1; all ones mark a special quantum"),
    (18, 2, "flags", "no effect; 1 in the special quantum that repeats a byte"),
    (20, 4, "unk20", "ignored"),
))  # fmt: skip

SMALL_QUANTUM = BitTable("LZB16 quantum header", 16, (
    (0, 14, "size", "compressed bytes - 1; all ones mark a special quantum"),
    (14, 2, "kind", "of a special quantum: 1 repeats a byte, 2 is stored"),
))  # fmt: skip

KRAKEN, LZB16 = 6, 2
OTHER_CODECS = {5: "LZNA", 10: "Mermaid or Selkie", 11: "BitKnit", 12: "Leviathan"}
NONE_CODECS = (KRAKEN, LZB16, 7)


class Kind(Enum):
    """What the bytes of a quantum are."""

    STORED = auto()
    FILL = auto()
    KRAKEN = auto()
    LZB16 = auto()


@dataclass(frozen=True)
class Quantum:
    """One run of output and the payload bytes it comes from.

    Attributes:
        kind: how the bytes are coded.
        source: first payload byte of the body.
        source_end: the byte behind the body.
        start: first output byte, counted from the start of the window: the first byte that a match may read.
        end: the byte behind the output.
    """

    kind: Kind
    source: int
    source_end: int
    start: int
    end: int


def walk(payload: memoryview, size: int) -> list[Quantum]:
    """Return the quanta of a whole payload that announces ``size`` bytes of content.

    The result proves that the payload holds all its blocks, so that ``size`` bytes may be allocated.

    Raises:
        FormatError: a broken header, a payload that ends too early, an Oodle codec that is not supported, or bytes
            other than zero padding behind the last block.
    """
    quanta: list[Quantum] = []
    pos = base = 0
    for start in range(0, size, BLOCK_SIZE):
        codec, checksum, magic, zero, uncompressed, restart = BLOCK.split(_number(payload, pos, 2))
        if magic != 0xC or zero:
            raise damaged("a block header is not one", pos)
        if restart:
            base = start
        _check_codec(codec, uncompressed, pos)
        pos += 2
        span = (start - base, min(start + BLOCK_SIZE, size) - base)
        if uncompressed:
            quanta.append(_quantum(payload, Kind.STORED, pos, span[1] - span[0], span))
        elif codec == KRAKEN:
            quanta.append(_kraken_quantum(payload, pos, checksum, span))
        else:
            quanta += _small_quanta(payload, pos, checksum, span)
        pos = quanta[-1].source_end
    if any(payload[pos:]):
        raise damaged("bytes follow the last block", pos)
    return quanta


def frame(content: memoryview) -> Iterator[Buffer]:
    """Yield the pieces of a legal stream of uncompressed blocks."""
    for start in range(0, len(content), BLOCK_SIZE):
        yield UNCOMPRESSED.to_bytes(2, "big")
        yield content[start : start + BLOCK_SIZE]


def _number(payload: memoryview, pos: int, size: int) -> int:
    if pos + size > len(payload):
        raise damaged("the payload ends inside a header", pos)
    return int.from_bytes(payload[pos : pos + size], "big")


def _check_codec(codec: int, uncompressed: int, pos: int) -> None:
    if codec in NONE_CODECS if uncompressed else codec in (KRAKEN, LZB16):
        return
    name = OTHER_CODECS.get(codec, f"codec {codec}")
    raise FormatError(f"the data is compressed with Oodle {name}; only Kraken and LZB16 can be read", offset=pos)


def _quantum(payload: memoryview, kind: Kind, pos: int, size: int, span: tuple[int, int]) -> Quantum:
    """Return a quantum of ``size`` payload bytes, checked to be there; ``span`` is start and end."""
    if pos + size > len(payload):
        raise damaged("the payload ends inside a block", len(payload))
    return Quantum(kind, pos, pos + size, *span)


def _kraken_quantum(payload: memoryview, pos: int, checksum: int, span: tuple[int, int]) -> Quantum:
    count = span[1] - span[0]
    size, flags, unk20 = QUANTUM.split(_number(payload, pos, 3))
    if size == 0x3FFFF:
        if flags != 1 or unk20:
            raise damaged("a special quantum of unknown kind", pos)
        return _quantum(payload, Kind.FILL, pos + 3, 1, span)
    size += 1
    if size > count:
        raise damaged("a quantum is larger than what it decodes to", pos)
    kind = Kind.STORED if size == count else Kind.KRAKEN
    return _quantum(payload, kind, pos + (6 if checksum else 3), size, span)


def _small_quanta(payload: memoryview, pos: int, checksum: int, span: tuple[int, int]) -> Iterator[Quantum]:
    """Yield the quanta of an LZB16 block, one every 16 KiB; only blocks of a single one are known from real files."""
    for start in range(*span, SMALL_SIZE):
        end = min(start + SMALL_SIZE, span[1])
        size, special = SMALL_QUANTUM.split(_number(payload, pos, 2))
        if size != 0x3FFF:
            size += 1
            if size > end - start:
                raise damaged("a quantum is larger than what it decodes to", pos)
            kind = Kind.STORED if size == end - start else Kind.LZB16
            quantum = _quantum(payload, kind, pos + (5 if checksum else 2), size, (start, end))
        elif special == 1:
            quantum = _quantum(payload, Kind.FILL, pos + 2, 1, (start, end))
        elif special == 2:
            quantum = _quantum(payload, Kind.STORED, pos + 2, end - start, (start, end))
        else:
            raise damaged("a special quantum of unknown kind", pos)
        pos = quantum.source_end
        yield quantum
