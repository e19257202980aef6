"""A tagfile reader that goes object by object and number by number: slow, plain, and shares no code with the codec.

The tests hold the codec against it, the benchmark measures against it. References stay item indices.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field

INTS = {(8, False): "B", (8, True): "b", (16, False): "H", (16, True): "h"}
INTS |= {(32, False): "I", (32, True): "i", (64, False): "Q", (64, True): "q"}


@dataclass
class PlainType:
    name: str
    parameters: list = field(default_factory=list)
    parent: int = 0
    format: int | None = None
    subtype: int | None = None
    version: int | None = None
    size: int | None = None
    alignment: int | None = None
    flags: int | None = None
    members: list = field(default_factory=list)


@dataclass
class PlainItem:
    kind: str
    flags: int
    offset: int
    values: list


def read(data: bytes, compendium: bytes | None = None) -> list[PlainItem]:
    """Return the items of a tagfile; a record is a dict, an in-place array a list, a reference an index."""
    parts = sections(data)
    types = read_types(data if "TBDY" in parts else compendium)
    start, _ = parts["DATA"]
    place, end = parts["ITEM"]
    items = []
    while place < end:
        word, offset, count = struct.unpack_from("<III", data, place)
        place += 12
        kind, flags = word & 0xFFFFFF, word >> 24
        size = inherited(types, kind, "size") or 0
        values = [read_value(data, types, kind, start + offset + size * step) for step in range(count)]
        items.append(PlainItem(types[kind].name, flags, offset, values))
    return items


def read_patches(data: bytes) -> list[tuple[int, list[int]]]:
    """Return (type index, places) of each group of PTCH."""
    place, end = sections(data)["PTCH"]
    groups = []
    while place < end:
        kind, count = struct.unpack_from("<II", data, place)
        groups.append((kind, list(struct.unpack_from(f"<{count}I", data, place + 8))))
        place += 8 + 4 * count
    return groups


def sections(data: bytes) -> dict[str, tuple[int, int]]:
    """Return where the payloads of all leaves begin and end."""
    found = {}
    place = 8
    while place < len(data):
        word, name = struct.unpack_from(">I4s", data, place)
        if word >> 30:
            found[name.decode()] = (place + 8, place + (word & 0x3FFFFFFF))
            place += word & 0x3FFFFFFF
        else:
            place += 8
    return found


def packed(data: bytes, place: int) -> tuple[int, int]:
    """Return a packed integer and where it ends."""
    first = data[place]
    if first < 0x80:
        return first, place + 1
    for limit, size, bits in ((0xC0, 2, 14), (0xE0, 3, 21), (0xE8, 4, 27), (0xF0, 5, 35), (0xF8, 8, 59)):
        if first < limit:
            return int.from_bytes(data[place : place + size], "big") & ((1 << bits) - 1), place + size
    size = {0xF8: 5, 0xF9: 8}[first]
    return int.from_bytes(data[place + 1 : place + 1 + size], "big"), place + 1 + size


class Cursor:
    def __init__(self, data: bytes, part: tuple[int, int]) -> None:
        self.data, (self.place, self.end) = data, part

    def next(self) -> int:
        value, self.place = packed(self.data, self.place)
        return value


def read_types(data: bytes) -> list[PlainType]:
    parts = sections(data)
    names, members = (strings(data, parts[key]) for key in ("TSTR", "FSTR"))
    cursor = Cursor(data, parts["TNA1"])
    types = [PlainType("")]
    for _ in range(cursor.next() - 1):
        kind = PlainType(names[cursor.next()])
        kind.parameters = [(names[cursor.next()], cursor.next()) for _ in range(cursor.next())]
        types.append(kind)
    cursor = Cursor(data, parts["TBDY"])
    while cursor.place < cursor.end:
        index = cursor.next()
        if not index:
            break
        kind = types[index]
        kind.parent, options = cursor.next(), cursor.next()
        kind.format = cursor.next() if options & 1 else None
        kind.subtype = cursor.next() if options & 2 else None
        kind.version = cursor.next() if options & 4 else None
        if options & 8:
            kind.size, kind.alignment = cursor.next(), cursor.next()
        kind.flags = cursor.next() if options & 16 else None
        for _ in range(cursor.next() & 0xFFFF if options & 32 else 0):
            kind.members.append((members[cursor.next()], cursor.next(), cursor.next(), cursor.next()))
    return types


def strings(data: bytes, part: tuple[int, int]) -> list[str]:
    return [text.decode() for text in data[part[0] : part[1]].split(b"\0")]


def inherited(types: list[PlainType], kind: int, name: str) -> int | None:
    while kind:
        value = getattr(types[kind], name)
        if value is not None:
            return value
        kind = types[kind].parent
    return None


def read_value(data: bytes, types: list[PlainType], kind: int, place: int) -> object:
    """Return one value of a class."""
    word, size = inherited(types, kind, "format") or 0, inherited(types, kind, "size") or 0
    form = word & 15
    if form in {2, 4}:
        order = ">" if word & 0x100 else "<"
        return struct.unpack_from(order + INTS[word >> 10, bool(word & 0x200)], data, place)[0]
    if form == 5:
        if size == 2:
            return struct.unpack("<f", b"\0\0" + data[place : place + 2])[0]
        return struct.unpack_from({1: "<B", 4: "<f", 8: "<d"}[size], data, place)[0]
    if form in {3, 6} or (form == 8 and not word & 0x20):
        return struct.unpack_from("<I" if size == 4 else "<Q", data, place)[0]
    if form == 8:
        element = inherited(types, kind, "subtype")
        step = inherited(types, element, "size")
        return [read_value(data, types, element, place + step * index) for index in range(word >> 8)]
    if form == 7:
        return read_record(data, types, kind, place)
    return None


def read_record(data: bytes, types: list[PlainType], kind: int, place: int) -> dict:
    line = []
    while kind:
        line.insert(0, types[kind])
        kind = types[kind].parent
    return {
        name: read_value(data, types, member, place + offset)
        for step in line
        for name, _flags, offset, member in step.members
    }
