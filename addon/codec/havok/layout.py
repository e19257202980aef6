"""Compiled reflection: a class of the type table becomes a numpy dtype, once.

The format word's low four bits tell what a value is; the rest depends on it:

==== ======== ==================================================================================================
kind          rest of the word
==== ======== ==================================================================================================
0    void
1    opaque   bytes without a description
2    bool     bits 10 and up: width in bits (8 in all files)
3    string   a reference to an item of chars; bit 4 set: the chars themselves
4    integer  bit 8 big-endian, bit 9 signed, bits 10 and up: width in bits
5    float    told apart by size: 1 raw, 2 the upper half of a float32, 4 float32, 8 float64
6    pointer  a reference to an item of the subtype or of a class derived from it
7    record   members, those of the ancestors first
8    array    bit 5 set: as many elements as bits 8 and up say, in place; else a reference to an item of elements
==== ======== ==================================================================================================

A reference is the index of an item: 64 bits, but 32 in a relative array, whose whole slot has four bytes (found on
the ragdolls of both games).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any

import numpy as np

from ..binary import Array
from .types import NOT_STORED, Type, TypeTable

MAX_SIZE = 1 << 20
MAX_DEPTH = 32

# two classes of both games store 0xF010 and 0x3008 where 16 and 8 are meant
ALIGNMENT_MASK = 0xFFF

# classes around one member that say no more than the member itself
TRANSPARENT = {"hkHandle": "value"}


class Kind(Enum):
    """What a value is to a reader."""

    NOTHING = "nothing"
    OPAQUE = "opaque bytes"
    BOOL = "bool"
    NUMBER = "number"
    HALF = "half float"
    TEXT = "text"
    POINTER = "pointer"
    ARRAY = "array"
    RECORD = "record"


REFERENCES = frozenset({Kind.TEXT, Kind.POINTER, Kind.ARRAY})


@dataclass(frozen=True)
class Slots:
    """The references inside one element of a class, in the order of its members.

    Attributes:
        offset: (n,) i64, byte offset in the element.
        type: (n,) i64, the type index the class declares for the slot.
        width: (n,) i64, bytes of the stored index, 8 or 4.
        text: (n,) bool, the slot is a string.
    """

    offset: Array
    type: Array
    width: Array
    text: Array

    @classmethod
    def of(cls, rows: list[tuple[int, int, int, bool]]) -> Slots:
        """Make slots from (offset, type, width, text) rows."""
        table = np.array(rows, np.int64).reshape(-1, 4)
        return cls(table[:, 0], table[:, 1], table[:, 2], table[:, 3].astype(bool))

    def __len__(self) -> int:
        return len(self.offset)

    def moved(self, offset: int) -> Slots:
        """Return the slots of an element that stands ``offset`` bytes into another."""
        return replace(self, offset=self.offset + offset)

    def repeated(self, count: int, size: int) -> Slots:
        """Return the slots of ``count`` elements of ``size`` bytes in a row."""
        offset = (np.arange(count, dtype=np.int64)[:, None] * size + self.offset).reshape(-1)
        return Slots(offset, np.tile(self.type, count), np.tile(self.width, count), np.tile(self.text, count))

    @staticmethod
    def join(parts: list[Slots]) -> Slots:
        """Return all slots of several parts, in their order."""
        if not parts:
            return NO_SLOTS
        columns = zip(*((part.offset, part.type, part.width, part.text) for part in parts), strict=True)
        return Slots(*(np.concatenate(column) for column in columns))


NO_SLOTS = Slots.of([])


@dataclass(frozen=True, eq=False)
class Layout:
    """A class as bytes.

    Attributes:
        index: in the type table.
        name: class name, without template arguments.
        kind: what the value is; for an in-place array, what its elements are.
        size, alignment: of one value, in bytes.
        dtype: of one value, without ``shape``. References are records with one field ``item`` where the slot is wider
            than the index; half floats are u2, bools u1.
        shape: of an in-place array, () otherwise.
        target: type index of what a pointer or array refers to, 0 otherwise.
        members: of a record, by name, in the order of their offsets; the ancestors' included.
        bases: names of the class and its ancestors.
        slots: the references inside one value.
        version: of the class, 0 where it stores none.
    """

    index: int
    name: str
    kind: Kind
    size: int
    alignment: int
    dtype: np.dtype[Any]
    shape: tuple[int, ...] = ()
    target: int = 0
    members: dict[str, MemberLayout] = field(default_factory=dict)
    bases: tuple[str, ...] = ()
    slots: Slots = NO_SLOTS
    version: int = 0


@dataclass(frozen=True, eq=False)
class MemberLayout:
    """A member as bytes: where it stands and what it is; ``stored`` is False where the file leaves it zero."""

    offset: int
    layout: Layout
    stored: bool


NULL_LAYOUT = Layout(0, "", Kind.NOTHING, 0, 1, np.dtype("V0"))


class Layouts:
    """The compiled classes of one type table, each made when first asked for."""

    def __init__(self, table: TypeTable) -> None:
        self.table = table
        self._made: dict[int, Layout] = {0: NULL_LAYOUT}
        self._open: list[int] = []

    def __getitem__(self, index: int) -> Layout:
        """Return the layout of a type.

        Raises:
            FormatError: the table contradicts itself: a loop, members outside their class or over one another, an
                unknown format, a class that is too large.
        """
        if index not in self._made:
            if index in self._open:
                self.table.fail(index, "the class contains itself")
            if len(self._open) >= MAX_DEPTH:
                self.table.fail(index, f"classes are nested more than {MAX_DEPTH} deep")
            self._open.append(index)
            try:
                self._made[index] = self._compile(index)
            finally:
                self._open.pop()
        return self._made[index]

    def _compile(self, index: int) -> Layout:
        table = self.table
        line = [table.types[step] for step in table.lineage(index)]
        word = _inherited(line, "format") or 0
        size, alignment = _inherited(line, "size") or 0, _inherited(line, "alignment") or 1
        if size > MAX_SIZE:
            table.fail(index, f"a class of {size} bytes")
        alignment &= ALIGNMENT_MASK
        if not alignment or alignment & (alignment - 1):
            table.fail(index, f"an alignment of {alignment} bytes")
        bare = Layout(index, line[0].name, Kind.NOTHING, size, alignment, np.dtype(f"V{size}"))
        bare = replace(bare, bases=tuple(dict.fromkeys(kind.name for kind in line)), version=line[0].version or 0)
        builders = (
            self._nothing, self._opaque, self._bool, self._string, self._integer, self._float, self._pointer,
            self._record, self._array,
        )  # fmt: skip
        if word & 15 >= len(builders):
            table.fail(index, f"format {word:#x} is unknown")
        return builders[word & 15](bare, word, _inherited(line, "subtype") or 0)

    def _nothing(self, bare: Layout, _word: int, _subtype: int) -> Layout:
        return bare

    def _opaque(self, bare: Layout, _word: int, _subtype: int) -> Layout:
        return replace(bare, kind=Kind.OPAQUE)

    def _bool(self, bare: Layout, word: int, _subtype: int) -> Layout:
        return replace(bare, kind=Kind.BOOL, dtype=self._number(bare, f"u{word >> 13}"))

    def _string(self, bare: Layout, word: int, _subtype: int) -> Layout:
        return self._opaque(bare, 0, 0) if word & 0x10 else self._reference(bare, Kind.TEXT, 0)

    def _integer(self, bare: Layout, word: int, _subtype: int) -> Layout:
        order, sign = ">" if word & 0x100 else "<", "i" if word & 0x200 else "u"
        return replace(bare, kind=Kind.NUMBER, dtype=self._number(bare, f"{order}{sign}{word >> 13}"))

    def _float(self, bare: Layout, _word: int, _subtype: int) -> Layout:
        code = {1: "u1", 2: "<u2", 4: "<f4", 8: "<f8"}.get(bare.size, "")
        return replace(bare, kind=Kind.HALF if bare.size == 2 else Kind.NUMBER, dtype=self._number(bare, code))

    def _number(self, bare: Layout, code: str) -> np.dtype[Any]:
        """Return the dtype of a number whose format and size must agree."""
        if code.lstrip("<>") not in {"u1", "u2", "u4", "u8", "i1", "i2", "i4", "i8", "f4", "f8"}:
            self.table.fail(bare.index, f"a number of {bare.size} bytes with the format {code or 'float'!r}")
        dtype = np.dtype(code)
        if dtype.itemsize != bare.size:
            self.table.fail(bare.index, f"a number of {dtype.itemsize} bytes in a class of {bare.size}")
        return dtype

    def _pointer(self, bare: Layout, _word: int, subtype: int) -> Layout:
        return self._reference(bare, Kind.POINTER, subtype)

    def _reference(self, bare: Layout, kind: Kind, target: int) -> Layout:
        width = 4 if bare.size == 4 else 8
        if bare.size < width:
            self.table.fail(bare.index, f"a reference in a class of {bare.size} bytes")
        index = np.dtype(f"<u{width}")
        dtype = np.dtype({"names": ["item"], "formats": [index], "offsets": [0], "itemsize": bare.size})
        slots = Slots.of([(0, bare.index, width, kind is Kind.TEXT)])
        return replace(bare, kind=kind, dtype=index if bare.size == width else dtype, target=target, slots=slots)

    def _array(self, bare: Layout, word: int, subtype: int) -> Layout:
        if not word & 0x20:
            return self._reference(bare, Kind.ARRAY, subtype)
        element, count = self[subtype], word >> 8
        if not bare.size or element.size * count != bare.size:
            self.table.fail(bare.index, f"{count} elements of {element.size} bytes in a class of {bare.size}")
        return replace(
            element,
            index=bare.index,
            name=bare.name,
            size=bare.size,
            alignment=bare.alignment,
            shape=(count, *element.shape),
            bases=bare.bases,
            slots=element.slots.repeated(count, element.size),
        )

    def _record(self, bare: Layout, _word: int, _subtype: int) -> Layout:
        members = self._members(bare)
        inner = members.get(TRANSPARENT.get(bare.name, ""))
        if inner and len(members) == 1 and inner.layout.size == bare.size:
            return replace(inner.layout, index=bare.index, name=bare.name, bases=bare.bases)
        fields = {name: member for name, member in members.items() if member.layout.size}
        dtype = np.dtype({
            "names": list(fields),
            "formats": [(member.layout.dtype, member.layout.shape) for member in fields.values()],
            "offsets": [member.offset for member in fields.values()],
            "itemsize": bare.size,
        })  # fmt: skip
        parts = [m.layout.slots.moved(m.offset) for m in fields.values() if m.stored and len(m.layout.slots)]
        return replace(bare, kind=Kind.RECORD, dtype=dtype, members=members, slots=Slots.join(parts))

    def _members(self, bare: Layout) -> dict[str, MemberLayout]:
        """Return the members of a class and its ancestors by name, checked to lie side by side inside it."""
        found: dict[str, MemberLayout] = {}
        for step in reversed(self.table.lineage(bare.index)):
            owner, inherited = self.table.types[step], set(found)
            for member in owner.members or ():
                layout = self[member.type]
                name = member.name if member.name not in inherited else f"{owner.name}::{member.name}"
                if not name or name in found:
                    self.table.fail(bare.index, f"two members are called {name!r}")
                found[name] = MemberLayout(member.offset, layout, not member.flags & NOT_STORED)
        ordered = dict(sorted(found.items(), key=lambda entry: entry[1].offset))
        end, last = 0, ""
        for name, place in ordered.items():
            if place.layout.size and place.offset < end:
                self.table.fail(bare.index, f"member {name!r} lies over member {last!r}")
            end, last = max(end, place.offset + place.layout.size), name
        if end > bare.size:
            self.table.fail(bare.index, f"member {last!r} ends at byte {end} of a class of {bare.size}")
        return ordered


def _inherited(line: list[Type], name: str) -> int | None:
    """Return a value of the nearest class in a lineage that stores it."""
    for kind in line:
        value: int | None = getattr(kind, name)
        if value is not None:
            return value
    return None
