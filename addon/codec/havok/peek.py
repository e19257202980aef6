"""What a tagfile says about itself before its types are known: what its root holds, which compendium it asks for.

The root and its variants are the same in both SDKs: an array of (name, class name, object), 24 bytes each.
"""

from __future__ import annotations

import numpy as np

from ..binary import Array, Buffer, Reader
from ..errors import FormatError
from .items import ITEM
from .sections import Section, read_children, read_section, take
from .tagfile import ID_SIZE, INDEX_TABLES, ROOTS, TCRF

VARIANT_SIZE = 24
CLASS_NAME = 8
MAX_VARIANTS = 64


def root_classes(data: Buffer, file: str = "") -> tuple[str, ...]:
    """Return the class names of the root's variants.

    Raises:
        FormatError: the file is too damaged to tell.
    """
    reader = Reader(data, file)
    children = _children(reader, "TAG0")
    index = read_children(reader, take(reader, children, "INDX"), INDEX_TABLES)
    items = take(reader, index, "ITEM")
    table = reader.table(ITEM, items.offset, items.size // ITEM.size)
    return tuple(_class_names(reader, take(reader, children, "DATA"), table))


def wanted_compendium(data: Buffer) -> bytes | None:
    """Return the 8-byte id of the compendium that holds a file's types; None where it has its own, or is damaged."""
    try:
        reader = Reader(data)
        children = _children(reader, "TAG0")
        if "TCRF" not in children:
            return None
        return bytes(reader.record(TCRF, take(reader, children, "TCRF", TCRF.size).offset)["id"].tobytes())
    except FormatError:
        return None


def answered_ids(data: Buffer) -> tuple[bytes, ...]:
    """Return the ids that a compendium answers to; none where it is damaged or no compendium."""
    try:
        reader = Reader(data)
        part = take(reader, _children(reader, "TCM0"), "TCID")
        ids = bytes(reader.view(part.offset, part.size))
    except FormatError:
        return ()
    return tuple(ids[place : place + ID_SIZE] for place in range(0, len(ids), ID_SIZE))


def _children(reader: Reader, name: str) -> dict[str, Section]:
    root = read_section(reader, 0, len(reader))
    if root.name != name:
        reader.fail(f"{name} expected", 4)
    return read_children(reader, root, ROOTS[name])


def _class_names(reader: Reader, body: Section, table: Array) -> list[str]:
    variants = _item(reader, body, table, int(_word(reader, body, table, 1, 0)))
    names = []
    for place in range(min(variants[1], MAX_VARIANTS)):
        row = body.offset + variants[0] + place * VARIANT_SIZE + CLASS_NAME
        start, count = _item(reader, body, table, int(reader.array("u8", row, 1)[0]))
        text = bytes(reader.view(body.offset + start, count))
        names.append(text.split(b"\0")[0].decode("utf-8", "replace"))
    return names


def _word(reader: Reader, body: Section, table: Array, item: int, offset: int) -> np.uint64:
    start, _ = _item(reader, body, table, item)
    value: np.uint64 = reader.array("u8", body.offset + start + offset, 1)[0]
    return value


def _item(reader: Reader, body: Section, table: Array, index: int) -> tuple[int, int]:
    """Return where an item stands in DATA and its count; the null item is nothing."""
    if not 0 <= index < len(table):
        reader.fail(f"item {index} of {len(table)}")
    row = table[index]
    if int(row["offset"]) > body.size:
        reader.fail(f"item {index} lies outside of DATA")
    return int(row["offset"]), int(row["count"])
