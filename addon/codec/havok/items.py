"""Items: the objects, arrays and strings of a tagfile, each a view of DATA, and their places in it.

Found on all game files: an object stands at a multiple of its class's alignment, an array at one of 16, a string at
one of 2; between and behind them are zeros, and DATA ends at a multiple of 16. Where a file deviates, the item keeps
its own alignment or the bytes in front of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..binary import Array, Reader, Record, decode_text, encode_text
from ..errors import FormatError
from .layout import NULL_LAYOUT, Layout, Layouts
from .sections import Section

ITEM = Record("ITEM record", 12, (
    (0x0, "type", "u4", "bits 0-23 the type index, 24-31 flags: 0x10 one object, 0x20 the elements of an array"),
    (0x4, "offset", "u4", "in the payload of DATA"),
    (0x8, "count", "u4", "number of elements; that of a string includes its NUL"),
))  # fmt: skip

OBJECT, ARRAY = 0x10, 0x20
TYPE_MASK = 0xFFFFFF
TEXT_ALIGNMENT, ARRAY_ALIGNMENT, DATA_ALIGNMENT = 2, 16, 16
CHAR = "char"
TEXT = "utf-8"


@dataclass(slots=True)
class Item:
    """One object, or the elements of one array.

    Attributes:
        layout: the class of an element, the most derived one.
        flags: `OBJECT` or `ARRAY`.
        raw: (count * layout.size) u1, the stored bytes; of a file that was read, a writable view of DATA.
        alignment: where the file deviates from `default_alignment`.
        lead: bytes in front of the item that no alignment explains.
    """

    layout: Layout
    flags: int
    raw: Array
    alignment: int | None = None
    lead: bytes = b""

    def __len__(self) -> int:
        """Return the number of elements."""
        return len(self.raw) // self.layout.size if self.layout.size else 0

    @property
    def values(self) -> Array:
        """The elements, (count, *layout.shape) of ``layout.dtype``: a view, writing to it changes the item."""
        return self.raw.view(self.layout.dtype).reshape(-1, *self.layout.shape)

    @values.setter
    def values(self, values: Array) -> None:
        """Replace the elements; their number may change."""
        layout = self.layout
        if values.shape[1:] != layout.shape:
            raise FormatError(f"elements of shape {values.shape[1:]} for {layout.name}, which has {layout.shape}")
        fresh = np.zeros((len(values), *layout.shape), layout.dtype)
        fresh[...] = values
        self.raw = fresh.reshape(-1).view(np.uint8)

    @property
    def text(self) -> str:
        """The string in an item of chars, without its NUL."""
        return decode_text(self.raw.tobytes().split(b"\0", 1)[0], TEXT)

    @text.setter
    def text(self, text: str) -> None:
        self.raw = np.frombuffer(bytearray(encode_text(text, TEXT)), np.uint8)

    @property
    def is_array(self) -> bool:
        """True for the elements of an array, False for an object."""
        return self.flags != OBJECT

    @property
    def default_alignment(self) -> int:
        """The alignment that the games' files give such an item."""
        if self.layout.name == CHAR:
            return TEXT_ALIGNMENT
        return ARRAY_ALIGNMENT if self.is_array else self.layout.alignment


def null_item() -> Item:
    """Return the item that index 0 stands for."""
    return Item(NULL_LAYOUT, 0, np.zeros(0, np.uint8))


def read_items(reader: Reader, part: Section, data: Array, layouts: Layouts) -> tuple[list[Item], Array]:
    """Read ITEM.

    Args:
        reader: of the file.
        part: the ITEM section.
        data: (n,) u1, the payload of DATA.
        layouts: the classes.

    Returns:
        The items, the null item first, and (len(items),) i64 their offsets in DATA.

    Raises:
        FormatError: a type that is not in the table or has no size, elements outside of DATA.
    """
    if part.size % ITEM.size:
        reader.fail(f"{part.size} bytes are no whole number of records", part.offset, "ITEM")
    table = reader.table(ITEM, part.offset, part.size // ITEM.size)
    if not len(table) or table[:1].view(np.uint8).any():
        reader.fail("the first record is not null", part.offset, "ITEM")
    kinds = (table["type"] & TYPE_MASK).astype(np.int64)
    flags, offsets, counts = (table["type"] >> 24).tolist(), table["offset"].astype(np.int64), table["count"]
    bad = np.flatnonzero((kinds >= len(layouts.table)) | (kinds == 0))[1:]
    if len(bad):
        reader.fail(f"type {kinds[bad[0]]} is not in the type table", part.offset, f"items[{bad[0]}]")
    sizes = np.zeros(len(layouts.table), np.int64)
    for kind in np.unique(kinds[1:]).tolist():
        sizes[kind] = layouts[kind].size
    ends = offsets + counts.astype(np.int64) * sizes[kinds]
    bad = np.flatnonzero((sizes[kinds[1:]] == 0) | (ends[1:] > len(data))) + 1
    if len(bad):
        index = int(bad[0])
        name, size, (_, start, count) = layouts[int(kinds[index])].name, sizes[kinds[index]], table[index]
        what = f"{count} x {name} of {size} bytes do not fit at {start:#x} into {len(data):#x} bytes of data"
        reader.fail(what if size else f"an object of {name}, which has no size", part.offset, f"items[{index}]")
    rows = zip(kinds[1:].tolist(), flags[1:], offsets[1:].tolist(), ends[1:].tolist(), strict=True)
    items = [null_item()]
    items += [Item(layouts[kind], flag, data[start:end]) for kind, flag, start, end in rows]
    return items, offsets


def note_places(items: Sequence[Item], offsets: Array, data: Array) -> tuple[list[int], bytes]:
    """Compare where items stand with the rule and note deviations in them.

    Args:
        items: the items, the null item first.
        offsets: (len(items),) i64.
        data: (n,) u1, the payload of DATA.

    Returns:
        The item indices in the order of their places, and what follows the last item if it is not the rule's padding.

    Raises:
        FormatError: two items lie over one another.
    """
    lengths = np.array([len(item.raw) for item in items], np.int64)
    order = np.argsort(offsets[1:], kind="stable") + 1
    starts = offsets[order]
    before = np.concatenate([[0], (offsets + lengths)[order]])
    before, end = before[:-1], int(before[-1])
    if (starts < before).any():
        index = int(order[np.flatnonzero(starts < before)[0]])
        raise FormatError("the object lies over another one", trail=f"items[{index}]")
    steps = np.array([items[index].default_alignment for index in order], np.int64)
    odd = (before + -before % steps != starts) | _any_set(data, before, starts)
    for place in np.flatnonzero(odd).tolist():
        _note(items[order[place]], int(before[place]), int(starts[place]), data)
    tail = data[end:].tobytes()
    return order.tolist(), b"" if tail == bytes(-end % DATA_ALIGNMENT) else tail


def _any_set(data: Array, starts: Array, ends: Array) -> Array:
    """Return for each range of bytes whether one of them is not zero, (n,) bool."""
    lengths = ends - starts
    owner = np.repeat(np.arange(len(starts)), lengths)
    places = np.arange(len(owner)) - np.repeat(np.cumsum(lengths) - lengths, lengths) + starts[owner]
    return np.bincount(owner, data[places] != 0, len(starts)) > 0


def _note(item: Item, before: int, start: int, data: Array) -> None:
    step = item.default_alignment
    while step > 1 and before + -before % step != start:
        step //= 2
    if before + -before % step == start and not data[before:start].any():
        item.alignment = step
    else:
        item.alignment, item.lead = 1, data[before:start].tobytes()


def lay_out(items: Sequence[Item], order: Sequence[int], tail: bytes) -> tuple[Array, Array]:
    """Place items one after another.

    Args:
        items: the items, the null item first.
        order: item indices in the order of their places.
        tail: what follows the last item, empty for the rule's padding.

    Returns:
        (len(items),) i64 offsets, and (n,) u1 DATA with the items' bytes.
    """
    offsets = [0] * len(items)
    end = 0
    for index in order:
        item = items[index]
        end += len(item.lead)
        end += -end % (item.alignment or item.default_alignment)
        offsets[index] = end
        end += len(item.raw)
    data = np.zeros(end + (len(tail) or -end % DATA_ALIGNMENT), np.uint8)
    for index in order:
        item, offset = items[index], offsets[index]
        data[offset : offset + len(item.raw)] = item.raw
        if item.lead:
            data[offset - len(item.lead) : offset] = np.frombuffer(item.lead, np.uint8)
    if tail:
        data[end:] = np.frombuffer(tail, np.uint8)
    return np.array(offsets, np.int64), data


def item_records(items: Sequence[Item], offsets: Array) -> Array:
    """Return the ITEM table, (len(items),) of `ITEM`."""
    table = ITEM.zeros(len(items))
    table["type"] = [item.layout.index | item.flags << 24 for item in items]
    table["offset"] = offsets
    table["count"] = [len(item) for item in items]
    return table
