"""Havok tagfiles and compendiums: Sekiro's SDK 20160200, Elden Ring's 20180100.

::

    TAG0  SDKV  8 characters            TCM0  TCID  8-byte ids of the tagfiles that may use it
          DATA  the objects' bytes            TYPE  their type table
          TYPE  type table, or
          TCRF  id of the compendium that holds it
          INDX  ITEM  where objects are
                PTCH  where references are
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np

from ..binary import Array, Buffer, Reader, Record
from ..errors import FormatError
from .items import Item, item_records, lay_out, note_places, null_item, read_items
from .layout import Kind, Layouts
from .objects import View, view_item
from .order import Arrangement, extended, rule_arrangement
from .references import (
    References,
    check_targets,
    find_references,
    read_patches,
    slot_trail,
    store_references,
    write_patches,
)
from .sections import Section, read_children, read_section, section, take
from .typecodec import read_types, write_types
from .types import TypeTable

TCRF = Record("TCRF", 24, (
    (0x00, "id", "V8", "of the compendium"),
    (0x08, "unk08", "V16", "0"),
))  # fmt: skip

PACKFILE = b"\x57\xe0\xe0\x57\x10\xc0\xc0\x10"
PACKFILE_VERSION = slice(0x28, 0x38)
ID_SIZE = 8
ROOTS = {"TAG0": ("SDKV", "DATA", "TYPE", "TCRF", "INDX"), "TCM0": ("TCID", "TYPE")}
INDEX_TABLES = ("ITEM", "PTCH")


def packfile_fault(data: Buffer) -> str:
    """Return why a Havok packfile, Havok's older container, cannot be read; empty for anything else."""
    if bytes(data[:8]) != PACKFILE:
        return ""
    version = bytes(data[PACKFILE_VERSION]).split(b"\0")[0].decode("latin-1")
    return f"a Havok packfile ({version}), not a tagfile: packfiles are not supported"


@dataclass(eq=False, repr=False)
class Tagfile:
    """A tagfile, or a compendium, which has types and ids but no objects.

    Attributes:
        sdk: "20160200", "20180100"; empty in a compendium.
        layouts: the classes, compiled; ``layouts.table`` is the type table.
        items: the objects, arrays and strings; index 0 is the null item, 1 the root.
        reference: what TCRF says, 0-d array of `TCRF`; None where the file has its own types.
        ids: in a compendium, the 8-byte ids it answers to; None in a tagfile.
        arrangement: the order of a file that does not follow the rule of `order`, else None.
        tail: what follows the last item in DATA, where it is not the rule's padding.
        trailing: what follows the last section.
        file: for messages.
        more_hashes: hashes by type index for classes that come into use and that the file does not list.
    """

    sdk: str
    layouts: Layouts
    items: list[Item] = field(default_factory=lambda: [null_item()])
    reference: Array | None = None
    ids: tuple[bytes, ...] | None = None
    arrangement: Arrangement | None = None
    tail: bytes = b""
    trailing: bytes = b""
    file: str = ""
    more_hashes: dict[int, int] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"<Tagfile {self.file} of SDK {self.sdk}, {len(self.items)} items, {len(self.types)} types>"

    @classmethod
    def read(cls, data: Buffer, compendium: Buffer | Tagfile | None = None, file: str = "") -> Tagfile:
        """Read a tagfile or compendium.

        Args:
            data: the file.
            compendium: the compendium that holds the types of a file without its own; otherwise not looked at.
            file: for messages.

        Raises:
            FormatError: a packfile, a compendium that is missing or the wrong one, tables that contradict one another.
        """
        reader = Reader(data, file)
        head = bytes(reader.data[:8])
        if fault := packfile_fault(reader.data):
            reader.fail(fault, 0)
        if head[4:].decode("latin-1") not in ROOTS:
            reader.fail("not a Havok tagfile: TAG0 or TCM0 expected", 4)
        root = read_section(reader, 0, len(reader))
        children = read_children(reader, root, ROOTS[root.name])
        trailing = bytes(reader.data[root.end :])
        try:
            if root.name == "TCM0":
                made = cls._read_compendium(reader, children)
            else:
                made = cls._read_tagfile(reader, children, compendium)
        except FormatError as error:
            if error.file == file:
                raise
            raise error.inside(file) from error
        made.trailing, made.file = trailing, file
        return made

    @classmethod
    def _read_compendium(cls, reader: Reader, children: dict[str, Section]) -> Tagfile:
        part = take(reader, children, "TCID")
        data = bytes(reader.view(part.offset, part.size))
        ids = tuple(data[place : place + ID_SIZE] for place in range(0, part.size, ID_SIZE))
        return cls("", Layouts(read_types(reader, take(reader, children, "TYPE"))), ids=ids)

    @classmethod
    def _read_tagfile(
        cls, reader: Reader, children: dict[str, Section], compendium: Buffer | Tagfile | None
    ) -> Tagfile:
        version, body = take(reader, children, "SDKV"), take(reader, children, "DATA")
        sdk = bytes(reader.view(version.offset, version.size)).decode("latin-1")
        if ("TYPE" in children) == ("TCRF" in children):
            reader.fail("either TYPE or TCRF has to tell the types; there are both or none")
        reference = None
        if "TYPE" in children:
            layouts = Layouts(read_types(reader, children["TYPE"]))
        else:
            reference = reader.record(TCRF, take(reader, children, "TCRF", TCRF.size).offset)
            layouts = _types_from(reader, reference["id"].tobytes(), compendium)
        data = reader.array("u1", body.offset, body.size, "DATA").copy()
        index = read_children(reader, take(reader, children, "INDX"), INDEX_TABLES)
        items, offsets = read_items(reader, take(reader, index, "ITEM"), data, layouts)
        made = cls(sdk, layouts, items, reference)
        made._read_order(reader, take(reader, index, "PTCH"), offsets, data)
        return made

    def _read_order(self, reader: Reader, part: Section, offsets: Array, data: Array) -> None:
        """Check references against the patches and note how the file deviates from the rules."""
        places, self.tail = note_places(self.items, offsets, data)
        references = find_references(self.items, offsets, data)
        check_targets(references, self.items, offsets, self.layouts)
        order, kinds, patched = read_patches(reader, part, len(self.types))
        _compare(reader, references, (kinds, patched), self.items, offsets)
        rule = rule_arrangement(self.items, references, self.layouts)
        hashes = tuple(kind for kind, _ in self.types.hashes) if self._has_hashes else rule.hashes
        stored = Arrangement(tuple(range(len(self.items))), tuple(places), tuple(order), hashes)
        self.arrangement = None if stored == rule else stored

    @property
    def types(self) -> TypeTable:
        """The type table; of a file that has none, the compendium's."""
        return self.layouts.table

    @property
    def _has_hashes(self) -> bool:
        """True where the file itself lists the hashes of its classes."""
        return self.reference is None and "THSH" in self.types.sections

    @property
    def root(self) -> View:
        """The root object, a ``hkRootLevelContainer``.

        Raises:
            FormatError: there is none.
        """
        found = self.item(1) if len(self.items) > 1 else None
        if not isinstance(found, View) or found.values.ndim:
            raise FormatError("the file holds no root object", self.file)
        return found

    def item(self, index: int) -> Any:
        """Return an item as readers see it: records as `View`, references as `Links`, numbers as array."""
        return view_item(self, index)

    def find(self, name: str) -> Iterator[View]:
        """Yield the objects, and arrays of records, of a class and of those derived from it."""
        for index, item in enumerate(self.items):
            if item.layout.kind is Kind.RECORD and name in item.layout.bases:
                yield view_item(self, index)

    def add(self, kind: int, flags: int, count: int = 0) -> int:
        """Append an item of zeros and return its index; it is written where something leads to it.

        Args:
            kind: type index of the elements.
            flags: `items.OBJECT` or `items.ARRAY`.
            count: number of elements.

        Raises:
            FormatError: the type table lacks the class.
        """
        if not 0 < kind < len(self.types):
            raise FormatError(f"the type table has no class {kind}", self.file)
        layout = self.layouts[kind]
        self.items.append(Item(layout, flags, np.zeros(count * layout.size, np.uint8)))
        return len(self.items) - 1

    def write(self) -> bytes:
        """Return the file's bytes, laid out anew. Items that nothing leads to are left out where the rules hold.

        Raises:
            FormatError: a reference that leads nowhere, or a class whose hash is not known.
        """
        if self.ids is not None:
            types = write_types(self.types, self.types.hashes)
            return section("TCM0", section("TCID", b"".join(self.ids)) + types) + self.trailing
        offsets, data = lay_out(self.items, range(1, len(self.items)), b"")
        references = find_references(self.items, offsets, data)
        check_targets(references, self.items, offsets, self.layouts)
        if self.arrangement is None:
            order = rule_arrangement(self.items, references, self.layouts)
        else:
            order = extended(self.arrangement, self.items, references)
        return section("TAG0", b"".join(self._sections(order, references, offsets))) + self.trailing

    def _sections(self, order: Arrangement, references: References, found_at: Array) -> Iterator[bytes]:
        """Yield the sections of a tagfile; ``found_at`` is where the items stood when references were found."""
        offsets, data = lay_out(self.items, order.places, self.tail)
        number = np.full(len(self.items), -1, np.int64)
        number[list(order.items)] = np.arange(len(order.items))
        references = references.moved(offsets - found_at, number >= 0)
        store_references(data, references, number[references.target])
        yield section("SDKV", self.sdk.encode("latin-1"))
        yield section("DATA", data.tobytes())
        if self.reference is None:
            yield write_types(self.types, self._hashes(order.hashes) if self._has_hashes else ())
        else:
            yield section("TCRF", self.reference.tobytes())
        table = item_records([self.items[index] for index in order.items], offsets[list(order.items)])
        patches = write_patches(references, order.patches)
        yield section("INDX", section("ITEM", table.tobytes()) + section("PTCH", patches))

    def _hashes(self, order: tuple[int, ...]) -> Iterator[tuple[int, int]]:
        known = self.more_hashes | self.types.hash_of
        for kind in order:
            if kind not in known:
                raise FormatError(f"the hash of {self.types.title(kind)} in SDK {self.sdk} is not known", self.file)
            yield kind, known[kind]


def _types_from(reader: Reader, wanted: bytes, compendium: Buffer | Tagfile | None) -> Layouts:
    """Return the types of a compendium that answers to an id."""
    if compendium is None:
        reader.fail(f"the types are in the compendium {wanted.hex()}, which is missing", step="TCRF")
    source = compendium if isinstance(compendium, Tagfile) else _compendium(bytes(compendium))
    if source.ids is None:
        reader.fail(f"the types are in the compendium {wanted.hex()}; what was given is no compendium", step="TCRF")
    if wanted not in source.ids:
        held = ", ".join(one.hex() for one in source.ids)
        reader.fail(f"the types are in the compendium {wanted.hex()}; the one given holds {held}", step="TCRF")
    return source.layouts


@lru_cache(maxsize=4)
def _compendium(data: bytes) -> Tagfile:
    """Return a compendium; the files of a binder all ask for the same one, and nothing ever changes its types."""
    return Tagfile.read(data, file="compendium")


def _compare(
    reader: Reader, references: References, patches: tuple[Array, Array], items: list[Item], offsets: Array
) -> None:
    """Check that the patch table names exactly the slots in which references stand."""
    kinds, places = patches
    mine, stored = np.lexsort((references.type, references.place)), np.lexsort((kinds, places))
    count = min(len(mine), len(stored))
    same = (references.place[mine[:count]] == places[stored[:count]]) & (
        references.type[mine[:count]] == kinds[stored[:count]]
    )
    first = count if same.all() else int(np.flatnonzero(~same)[0])
    if first == len(mine) == len(stored):
        return
    if first < len(mine) and (first == len(stored) or references.place[mine[first]] <= places[stored[first]]):
        trail = slot_trail(references, int(mine[first]), items, offsets)
        reader.fail("a reference is not in the patch table", step=trail)
    reader.fail(f"the patch table names data {places[stored[first]]:#x}, where no reference stands", step="INDX.PTCH")
