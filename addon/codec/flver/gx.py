"""GX lists: shader overrides of materials, kept byte for byte."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ..binary import Array, Reader, Writer
from .records import GX_ITEM

ENDS = (b"\xff\xff\xff\x7f", b"\xff\xff\xff\xff")
END_UNK04 = 100
SHORT_END = 5  # value of the header's unk68 under which the end's length leaves out its own 12 bytes


@dataclass(slots=True)
class GxItem:
    """One override.

    Attributes:
        id: four stored bytes, such as ``b"GX00"``.
        unk04: a number that goes with the id.
        data: the payload.
    """

    id: bytes
    unk04: int
    data: bytes

    @property
    def size(self) -> int:
        """Bytes of the item with its head."""
        return GX_ITEM.size + len(self.data)


@dataclass
class GxList:
    """A list of overrides, which several materials may share or enter in the middle.

    Attributes:
        items: the overrides without the end.
        end: the end item, None before version 0x20010, where a list is one item.
    """

    items: list[GxItem] = field(default_factory=list)
    end: GxItem | None = field(default_factory=lambda: GxItem(ENDS[0], END_UNK04, b""))


@dataclass(frozen=True)
class GxReference:
    """Where a material's overrides begin: a list of the model, and the item of it that is the first."""

    gx_list: int
    item: int = 0


@dataclass(frozen=True)
class GxForm:
    """How a file's version has its lists: one item without an end, or an end whose length may be short."""

    single: bool
    short_end: bool

    @classmethod
    def of(cls, header: Array) -> GxForm:
        """Return the form of a file from its header."""
        # Before 0x20014 the two fields are one number, whose low half stands last in a big-endian file.
        whole = header["version"] < 0x20014 and header["endian"].item() == b"B"
        kind = header["special" if whole else "unk68"]
        return cls(single=bool(header["version"] < 0x20010), short_end=bool(kind == SHORT_END))


def read_gx_lists(
    reader: Reader, offsets: list[int], form: GxForm, start: int
) -> tuple[list[GxList], dict[int, GxReference]]:
    """Read the lists that materials point to.

    Lists with the same end are one list, entered at different items. Items before the first entry belong to it as
    well (Sekiro's shadow models enter no list at its head), and so do lists in between that nobody enters.

    Args:
        reader: the file.
        offsets: the offsets in use, in any order.
        form: see `GxForm`.
        start: where the first list begins if items fill the bytes from there on.

    Returns:
        The lists in the order of the file, and for each offset its place in them.

    Raises:
        FormatError: a list that runs past the file.
    """
    lists: list[GxList] = []
    places: dict[int, GxReference] = {}
    starts: dict[int, GxReference] = {}  # offset of every item read so far
    for offset in sorted(set(offsets)):
        while offset not in starts:
            head = start if _fill(reader, start, offset, form) else offset
            with reader.at(f"gx_lists[{len(lists)}]"):
                gx_list, item_offsets, start = _read_list(reader, head, form)
            starts.update({place: GxReference(len(lists), item) for item, place in enumerate(item_offsets)})
            lists.append(gx_list)
        places[offset] = starts[offset]
    return lists, places


def _fill(reader: Reader, start: int, end: int, form: GxForm) -> bool:
    """Tell whether whole items fill the bytes from ``start`` to ``end``."""
    while 0 < start <= end - GX_ITEM.size:
        size = _item_size(reader.record(GX_ITEM, start), form)
        if size < GX_ITEM.size:
            return False
        start += size
    return start == end


def _read_list(reader: Reader, offset: int, form: GxForm) -> tuple[GxList, list[int], int]:
    """Read a list; return it, the offsets of its items, the end included, and where it ends."""
    items: list[GxItem] = []
    offsets: list[int] = []
    while True:
        with reader.at(f"items[{len(items)}]"):
            item = _read_item(reader, offset, form)
        offsets.append(offset)
        offset += item.size
        if item.id in ENDS:
            return GxList(items, item), offsets, offset
        items.append(item)
        if form.single:
            return GxList(items, None), offsets, offset


def _read_item(reader: Reader, offset: int, form: GxForm) -> GxItem:
    head = reader.record(GX_ITEM, offset)
    size = _item_size(head, form)
    if size < GX_ITEM.size:
        reader.fail(f"an item of {size} bytes", offset, "size")
    data = reader.view(offset + GX_ITEM.size, size - GX_ITEM.size, "the item").tobytes()
    return GxItem(head["id"].item(), int(head["unk04"]), data)


def _item_size(head: Array, form: GxForm) -> int:
    """Return the bytes of an item with its head."""
    return int(head["size"]) + (GX_ITEM.size if form.short_end and head["id"].item() in ENDS else 0)


def write_gx_list(writer: Writer, gx_list: GxList, form: GxForm) -> list[int]:
    """Write a list and return the offset of each of its items, the end included."""
    items = [*gx_list.items, gx_list.end] if gx_list.end is not None else gx_list.items
    offsets = []
    for item in items:
        head = GX_ITEM.zeros(1)
        head["id"], head["unk04"] = np.void(item.id), item.unk04
        head["size"] = len(item.data) if item.id in ENDS and form.short_end else item.size
        offsets.append(writer.array(head))
        writer.write(item.data)
    return offsets
