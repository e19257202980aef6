"""A small tagfile of the tests' own: a root with two things, one of every kind of member the format has."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from addon.codec.havok import Tagfile
from addon.codec.havok.items import OBJECT, null_item
from addon.codec.havok.layout import Layouts
from addon.codec.havok.types import Interface, Member, Parameter, Type, TypeTable

SDK = "20180100"
ID = bytes.fromhex("7a6d34ca6688be51")
EMPTY_ROOT = bytes.fromhex(
    "00000080 54414730"  # TAG0, a branch of 0x80 bytes
    "40000010 53444b56 3230313830313030"  # SDKV, a leaf: "20180100"
    "40000018 44415441"  # DATA
    "0000000000000000 0000000000000000"  # the root: namedVariants is null
    "40000020 54435246 7a6d34ca6688be51 00000000000000000000000000000000"  # TCRF: id, 16 zeros
    "00000030 494e4458"  # INDX, a branch
    "40000020 4954454d"  # ITEM
    "00000000 00000000 00000000"  # null
    "01000010 00000000 01000000"  # type 1, an object, at 0, one element
    "40000008 50544348"  # PTCH, empty
)

TABLES = ("TPTR", "TSTR", "TNA1", "FSTR", "TBDY", "THSH", "TPAD")
OLD_TABLES = ("TPTR", "TSTR", "TNAM", "FSTR", "TBOD", "THSH", "TPAD")

VOID, BOOL, TEXT, POINTER, RECORD, ARRAY_OF = 0x0, 0x2002, 0x83, 0x6, 0x7, 0x8
U8, U16, I32, U32, F16, F32 = 0x2004, 0x4004, 0x8204, 0x8004, 0x74605, 0x174605
FOUR = 0x428

# name, arguments, parent, format, subtype, size, alignment, members as (name, offset, type, flags)
NAMES = {
    "Root": ("hkRootLevelContainer", {}, "", RECORD, "", 16, 8, (("namedVariants", 0, "Variants", 0x20),)),
    "Variants": ("hkArray", {"tT": "Variant"}, "", ARRAY_OF, "Variant", 16, 8, None),
    "Variant": (
        "hkRootLevelContainer::NamedVariant", {}, "", RECORD, "", 24, 8,
        (("name", 0, "String", 0x24), ("className", 8, "String", 0x24), ("variant", 16, "RefVariant", 0x24)),
    ),
    "String": ("hkStringPtr", {}, "", TEXT, "", 8, 8, None),
    "char": ("char", {}, "", U8, "", 1, 1, None),
    "RefVariant": ("hkRefVariant", {}, "", POINTER, "Base", 8, 8, None),
    "Base": ("hkReferencedObject", {}, "", RECORD, "", 24, 8, (("refCount", 18, "u16", 0x25),)),
    "u16": ("hkUint16", {}, "", U16, "", 2, 2, None),
    "Thing": (
        "Thing", {}, "Base", RECORD, "", 192, 16,
        (
            ("position", 32, "Vector", 0x20), ("count", 48, "int", 0x20), ("active", 52, "bool", 0x20),
            ("weight", 54, "half", 0x20), ("label", 56, "String", 0x20), ("points", 64, "Vectors", 0x20),
            ("names", 80, "Strings", 0x20), ("next", 96, "ThingPtr", 0x20), ("children", 104, "Things", 0x20),
            ("mask", 120, "BitField", 0x20), ("links", 144, "Shorts", 0x20), ("handle", 148, "Handle", 0x20),
            ("cache", 152, "ThingPtr", 0x21), ("lists", 160, "Lists", 0x20), ("halves", 176, "Halves", 0x20),
        ),
    ),
    "Vector": ("hkVector4", {}, "Vector4f", None, "", None, None, None),
    "Vector4f": ("hkVector4f", {}, "", FOUR, "float", 16, 16, None),
    "float": ("float", {}, "", F32, "", 4, 4, None),
    "int": ("int", {}, "", I32, "", 4, 4, None),
    "bool": ("hkBool", {}, "", BOOL, "", 1, 1, None),
    "half": ("hkHalf16", {}, "", F16, "", 2, 2, None),
    "Vectors": ("hkArray", {"tT": "Vector"}, "", ARRAY_OF, "Vector", 16, 8, None),
    "Strings": ("hkArray", {"tT": "String"}, "", ARRAY_OF, "String", 16, 8, None),
    "ThingPtr": ("T*", {"tT": "Thing"}, "", POINTER, "Thing", 8, 8, None),
    "Things": ("hkArray", {"tT": "ThingPtr"}, "", ARRAY_OF, "ThingPtr", 16, 8, None),
    "BitField": (
        "hkBitField", {}, "", RECORD, "", 24, 8, (("words", 0, "Words", 0x20), ("numBits", 16, "int", 0x20)),
    ),
    "Words": ("hkArray", {"tT": "u32"}, "", ARRAY_OF, "u32", 16, 8, None),
    "u32": ("hkUint32", {}, "", U32, "", 4, 4, None),
    "Shorts": ("hkRelArray", {"tT": "u16"}, "", ARRAY_OF, "u16", 4, 2, None),
    "Lists": ("hkArray", {"tT": "Words"}, "", ARRAY_OF, "Words", 16, 8, None),
    "Halves": ("hkArray", {"tT": "half"}, "", ARRAY_OF, "half", 16, 8, None),
    "Handle": (
        "hkHandle", {"tTYPE": "u32", "vINVALID": 0xFFFFFFFF}, "", RECORD, "", 4, 4, (("value", 0, "u32", 0x22),),
    ),
}  # fmt: skip
INDEX = {key: place for place, key in enumerate(NAMES, 1)}


def make_types(sections: tuple[str, ...] = TABLES) -> TypeTable:
    """Return the sample's type table; hashes are made up."""
    types = [Type("", has_body=False)]
    for name, arguments, parent, form, subtype, size, alignment, members in NAMES.values():
        parameters = tuple(Parameter(key, INDEX[v] if key[0] == "t" else v) for key, v in arguments.items())
        own = members and tuple(Member(key, flags, offset, INDEX[kind]) for key, offset, kind, flags in members)
        up, sub = INDEX.get(parent, 0), INDEX.get(subtype)
        types.append(Type(name, parameters, up, form, sub, None, size, alignment, None, own))
    thing = types[INDEX["Thing"]]
    types[INDEX["Thing"]] = replace(thing, version=3, flags=0x10, interfaces=(Interface(INDEX["Base"], 0),))
    types.append(Type("Opaque", has_body=False))
    hashes = tuple((index, 0x1000 + index) for index in range(1, len(types)))
    return TypeTable(tuple(types), hashes, sections)


def change(table: TypeTable, key: str, **values) -> TypeTable:
    """Return a table in which one class differs."""
    types = list(table.types)
    types[INDEX[key]] = replace(types[INDEX[key]], **values)
    return replace(table, types=tuple(types))


def move(table: TypeTable, key: str, member: str, **values) -> TypeTable:
    """Return a table in which one member of a class differs."""
    members = table.types[INDEX[key]].members
    return change(table, key, members=tuple(replace(m, **values) if m.name == member else m for m in members))


def make(table: TypeTable | None = None) -> Tagfile:
    """Return a tagfile with a root, one variant and two things."""
    tag = Tagfile(SDK, Layouts(table or make_types()), [null_item()])
    tag.add(INDEX["Root"], OBJECT, 1)
    first, second = (tag.add(INDEX["Thing"], OBJECT, 1) for _ in range(2))
    variant = np.zeros(1, tag.layouts[INDEX["Variant"]].dtype)
    variant["variant"] = first
    tag.root["namedVariants"] = variant
    variants = tag.root.many("namedVariants").at(0)
    variants["name"], variants["className"] = "A thing", "Thing"
    thing, other = tag.item(first), tag.item(second)
    thing["position"], thing["count"], thing["active"], thing["weight"] = [1, 2, 3, 0], -7, 1, 1.5
    thing["label"], thing["points"] = "first!", np.arange(12, dtype="f4").reshape(3, 4)
    thing["next"], thing["children"] = other, [other, thing, None]
    thing["links"], thing["handle"] = np.array([4, 5, 6], "u2"), 9
    thing.one("mask")["words"], thing.one("mask")["numBits"] = np.array([0x80000005, 1], "u4"), 33
    thing["names"], thing["lists"] = [None, "n"], [np.array([7, 8, 9], "u4"), [], [10]]
    thing["halves"] = [0.5, -2]
    return tag


def compendium(table: TypeTable | None = None) -> bytes:
    """Return a compendium with the sample's types."""
    return Tagfile("", Layouts(table or make_types()), ids=(b"another.", ID)).write()
