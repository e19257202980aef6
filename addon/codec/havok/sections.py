"""The tree of sections a tagfile is made of: a length, a name, a payload.

The length word is big-endian whatever the contents are: bits 0-29 the bytes of the section with its header of 8,
bit 30 set for a leaf, clear for a section that holds sections.
"""

from __future__ import annotations

import struct
from collections.abc import Collection
from dataclasses import dataclass

from ..binary import Buffer, Reader
from ..errors import FormatError

HEADER_SIZE = 8
LENGTH_MASK = 0x3FFFFFFF
LEAF_FLAGS = 1

# older and younger spellings of one table, by the spelling the code uses
SPELLINGS = {"TNAM": "TNA1", "TBOD": "TBDY", "TST1": "TSTR", "FST1": "FSTR"}
BRANCHES = frozenset({"TAG0", "TCM0", "TYPE", "INDX"})


@dataclass(frozen=True)
class Section:
    """A section of a file.

    Attributes:
        name: as stored.
        offset: where its payload stands in the file.
        size: bytes of the payload, padding included.
    """

    name: str
    offset: int
    size: int

    @property
    def key(self) -> str:
        """The name in the one spelling that the code uses."""
        return SPELLINGS.get(self.name, self.name)

    @property
    def end(self) -> int:
        """The offset behind the payload."""
        return self.offset + self.size


def read_section(reader: Reader, offset: int, end: int) -> Section:
    """Return the section whose header stands at ``offset``; ``end`` is where the section around it ends.

    Raises:
        FormatError: it does not fit, or a leaf and a branch are mistaken for each other.
    """
    if end - offset < HEADER_SIZE:
        reader.fail(f"a section header needs {HEADER_SIZE} bytes, {end - offset} are left", offset)
    word, raw = struct.unpack(">I4s", reader.view(offset, HEADER_SIZE))
    name, length = raw.decode("latin-1"), word & LENGTH_MASK
    if length < HEADER_SIZE or offset + length > end:
        reader.fail(f"section {name!r} of {length} bytes does not fit into the {end - offset} bytes there", offset)
    if word >> 30 != (0 if name in BRANCHES else LEAF_FLAGS):
        reader.fail(f"section {name!r} carries the flags {word >> 30}", offset)
    return Section(name, offset + HEADER_SIZE, length - HEADER_SIZE)


def read_children(reader: Reader, parent: Section, known: Collection[str]) -> dict[str, Section]:
    """Return the sections inside one, by `Section.key`, in stored order.

    Raises:
        FormatError: one does not fit, is not among the ``known`` or stands twice.
    """
    children: dict[str, Section] = {}
    offset = parent.offset
    while offset < parent.end:
        child = read_section(reader, offset, parent.end)
        if child.key not in known:
            reader.fail(f"section {child.name!r} is unknown", offset)
        if child.key in children:
            reader.fail(f"section {child.name!r} stands twice", offset)
        children[child.key] = child
        offset = child.end
    return children


def take(reader: Reader, children: dict[str, Section], key: str, size: int = 0) -> Section:
    """Return a section that must be there, with at least ``size`` bytes of payload."""
    if key not in children:
        reader.fail(f"section {key!r} is missing; there are {', '.join(children) or 'none'}")
    part = children[key]
    if part.size < size:
        reader.fail(f"section {part.name!r} has {part.size} bytes, {size} are needed", part.offset)
    return part


def section(name: str, payload: Buffer, align: int = 4) -> bytes:
    """Return a section with its payload padded by zeros to a multiple of ``align``.

    Raises:
        FormatError: more bytes than the length word holds.
    """
    padding = -len(payload) % align
    length = HEADER_SIZE + len(payload) + padding
    if length > LENGTH_MASK:
        raise FormatError(f"section {name!r} of {length} bytes is too long")
    flags = 0 if name in BRANCHES else LEAF_FLAGS
    return struct.pack(">I4s", flags << 30 | length, name.encode("latin-1")) + bytes(payload) + bytes(padding)
