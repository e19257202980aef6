"""References between items, all of a file at once, and the patch table that lists them.

PTCH is exactly the set of the references that are not null, by the type the class declares for the slot: u32 type
index, u32 count, u32 offsets in DATA, ascending. The games' files sort the groups by type index.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from ..binary import Array, Reader
from ..errors import FormatError
from .items import ARRAY, CHAR, OBJECT, Item
from .layout import Kind, Layout, Layouts
from .sections import Section


@dataclass(frozen=True)
class References:
    """All references that are not null.

    They are sorted by owner; then arrays and pointers before strings, slots in the order of the class, elements in
    the order of the array: the order in which the games' writer meets them (found on real files).

    Attributes:
        owner: (n,) i64 index of the item the slot is in.
        place: (n,) i64 offset of the slot in DATA.
        target: (n,) i64 item index stored there.
        type: (n,) i64 type index the class declares.
        width: (n,) i64 bytes of the stored index.
    """

    owner: Array
    place: Array
    target: Array
    type: Array
    width: Array

    def __len__(self) -> int:
        return len(self.owner)

    def moved(self, by: Array, kept: Array) -> References:
        """Return the references after their owners moved in DATA, by (items,) i64 bytes; (items,) bool are kept."""
        row = np.flatnonzero(kept[self.owner])
        owner = self.owner[row]
        return References(owner, self.place[row] + by[owner], self.target[row], self.type[row], self.width[row])


def find_references(items: Sequence[Item], offsets: Array, data: Array) -> References:
    """Return the references in DATA.

    Args:
        items: the items, the null item first.
        offsets: (len(items),) i64 where they stand.
        data: (n,) u1, DATA.
    """
    groups: dict[int, list[int]] = {}
    for index, item in enumerate(items):
        if len(item.layout.slots):
            groups.setdefault(item.layout.index, []).append(index)
    parts = [_slots_of(items, np.array(group), offsets) for group in groups.values()]
    if not parts:
        return References(*np.zeros((5, 0), np.int64))
    owner, place, kind, width, text, column = (np.concatenate(part) for part in zip(*parts, strict=True))
    target = _stored(data, place, width)
    keep = np.flatnonzero(target)
    order = keep[np.lexsort((place[keep], column[keep], text[keep], owner[keep]))]
    return References(owner[order], place[order], target[order], kind[order], width[order])


def _slots_of(items: Sequence[Item], group: Array, offsets: Array) -> tuple[Array, ...]:
    """Return owner, place, type, width, text and column of every slot of items of one class."""
    layout = items[group[0]].layout
    slots = layout.slots
    counts = np.array([len(items[index]) for index in group])
    owner = np.repeat(group, counts)
    ramp = np.arange(len(owner)) - np.repeat(np.cumsum(counts) - counts, counts)
    start = offsets[owner] + ramp * layout.size
    place = start[:, None] + slots.offset
    own, column = np.broadcast_to(owner[:, None], place.shape), np.broadcast_to(np.arange(len(slots)), place.shape)
    declared = [np.broadcast_to(row, place.shape) for row in (slots.type, slots.width, slots.text)]
    return tuple(table.reshape(-1) for table in (own, place, *declared, column))


def _stored(data: Array, place: Array, width: Array) -> Array:
    """Return the item indices stored at places, (n,) i64; those that fit no i64 become -1."""
    target = np.zeros(len(place), np.int64)
    for size, dtype in ((4, "<u4"), (8, "<i8")):
        pick = np.flatnonzero(width == size)
        target[pick] = data[place[pick][:, None] + np.arange(size)].reshape(-1).view(dtype)
    return np.where(target < 0, -1, target)


def store_references(data: Array, references: References, target: Array) -> None:
    """Write item indices, (n,) i64, over those in DATA."""
    for size in (4, 8):
        pick = np.flatnonzero(references.width == size)
        places = references.place[pick][:, None] + np.arange(size)
        data[places] = target[pick].astype(f"<u{size}")[:, None].view(np.uint8)


def check_targets(references: References, items: Sequence[Item], offsets: Array, layouts: Layouts) -> None:
    """Check that every reference leads to an item that its slot can hold.

    Raises:
        FormatError: one does not.
    """
    bad = np.flatnonzero((references.target < 0) | (references.target >= len(items)))
    if len(bad):
        what = f"the reference leads past the last of {len(items)} objects"
        raise FormatError(what, trail=slot_trail(references, int(bad[0]), items, offsets))
    _check_flags(references, items, offsets, layouts)
    kinds = np.array([item.layout.index for item in items], np.int64)[references.target]
    _, first = np.unique(references.type * len(layouts.table) + kinds, return_index=True)
    for row in first.tolist():
        slot, item = layouts[int(references.type[row])], items[references.target[row]]
        if not _holds(layouts, slot, item):
            what = f"a slot of {layouts.table.title(slot.index)} leads to {len(item)} x {item.layout.name}"
            raise FormatError(what, trail=slot_trail(references, row, items, offsets))


def _check_flags(references: References, items: Sequence[Item], offsets: Array, layouts: Layouts) -> None:
    """Check that pointers lead to single objects, and arrays and strings to elements."""
    declared, which = np.unique(references.type, return_inverse=True)
    pointer = np.array([layouts[kind].kind is Kind.POINTER for kind in declared.tolist()], bool)[which]
    single = np.array([item.flags == OBJECT and len(item) == 1 for item in items])[references.target]
    several = np.array([item.flags == ARRAY for item in items])[references.target]
    bad = np.flatnonzero(np.where(pointer, ~single, ~several))
    if len(bad):
        row = int(bad[0])
        slot, item = layouts[int(references.type[row])], items[references.target[row]]
        what = f"a slot of {layouts.table.title(slot.index)} leads to {len(item)} x {item.layout.name}"
        what += f" with the flags {item.flags:#x}"
        raise FormatError(what, trail=slot_trail(references, row, items, offsets))


def _holds(layouts: Layouts, slot: Layout, item: Item) -> bool:
    """Tell whether a slot can hold an item: the declared class or, behind a pointer, one derived from it."""
    if slot.kind is Kind.TEXT:
        return item.layout.name == CHAR
    if not slot.target or layouts[slot.target].kind is Kind.NOTHING:
        return True
    if slot.kind is Kind.ARRAY:
        return item.layout.index == slot.target
    return slot.target in layouts.table.lineage(item.layout.index)


def slot_trail(references: References, row: int, items: Sequence[Item], offsets: Array) -> str:
    """Return where a reference stands, such as ``items[12].hclClothData[0].simClothDatas``."""
    owner = int(references.owner[row])
    layout = items[owner].layout
    element, offset = divmod(int(references.place[row] - offsets[owner]), layout.size)
    return f"items[{owner}].{layout.name}[{element}]{member_path(layout, offset)}"


def member_path(layout: Layout, offset: int) -> str:
    """Return the path of members to a byte of an element, with dots in front."""
    for name, member in layout.members.items():
        if member.offset <= offset < member.offset + member.layout.size:
            return f".{name}{member_path(member.layout, offset - member.offset)}"
    return ""


def read_patches(reader: Reader, part: Section, limit: int) -> tuple[list[int], Array, Array]:
    """Read PTCH.

    Returns:
        The types of the groups in stored order, and (n,) i64 type and (n,) i64 place of every patch.

    Raises:
        FormatError: a group does not fit, or names a type twice or none.
    """
    words = reader.array("u4", part.offset, part.size // 4, "PTCH")
    order: dict[int, None] = {}
    kinds, places = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    position = 0
    while position < len(words):
        head = words[position : position + 2].tolist()
        if len(head) < 2 or head[1] > len(words) - position - 2:
            reader.fail("the patches of a type reach past the section", part.offset + 4 * position, "PTCH")
        if head[0] in order or not 0 < head[0] < limit:
            reader.fail(f"type {head[0]} is unknown or listed twice", part.offset + 4 * position, "PTCH")
        order[head[0]] = None
        kinds.append(np.full(head[1], head[0], np.int64))
        places.append(words[position + 2 : position + 2 + head[1]].astype(np.int64))
        position += 2 + head[1]
    return list(order), np.concatenate(kinds), np.concatenate(places)


def write_patches(references: References, order: Iterable[int]) -> bytes:
    """Return the payload of PTCH with its groups in an order; every type of the references must be in it."""
    out = []
    for kind in order:
        places = np.sort(references.place[references.type == kind])
        if len(places):
            out.append(np.concatenate([[kind, len(places)], places]).astype("<u4").tobytes())
    return b"".join(out)
