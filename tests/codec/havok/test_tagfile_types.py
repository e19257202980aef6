"""The type table: every field comes back, in both spellings and any order, and a table that lies is told so."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from addon.codec import FormatError, Tagfile
from addon.codec.havok.layout import Kind, Layouts
from addon.codec.havok.typecodec import write_types
from addon.codec.havok.types import Member, Parameter, Type, TypeTable, bodies_met
from tests.codec.havok.tagfile_corpus import COUNTS, Find, samples
from tests.codec.havok.tagfile_sample import EMPTY_ROOT, INDEX, OLD_TABLES, change, compendium, make, make_types, move


def with_types(table: TypeTable) -> bytes:
    """Return the sample's bytes with another type table in it."""
    data = make().write()
    start = data.index(b"TYPE") - 4
    size = int.from_bytes(data[start : start + 4], "big")
    part = write_types(table, Tagfile.read(data).types.hashes)
    whole = data[:start] + part + data[start + size :]
    return len(whole).to_bytes(4, "big") + whole[4:]


@pytest.mark.parametrize(
    "table",
    [
        make_types(),
        make_types(OLD_TABLES),
        make_types(("TPTR", "TST1", "TNA1", "FST1", "TBDY", "THSH", "TPAD")),
        make_types(("TSTR", "TNA1", "FSTR", "TBDY")),
        replace(make_types(), padding=16),
        replace(make_types(), body_order=tuple(reversed(INDEX.values()))),
        replace(
            make_types(),
            type_names=tuple(sorted({k.name for k in make_types().types[1:]} | {"unused", "tT", "tTYPE", "vINVALID"})),
        ),
        change(make_types(), "Thing", properties=3, attribute=5, version=1 << 40, flags=0x90),
    ],
    ids=["plain", "old spelling", "other spelling", "few tables", "padding", "body order", "own pool", "rare fields"],
)
def test_tables_come_back(table: TypeTable):
    if "THSH" not in table.sections:
        table = replace(table, hashes=())
    data = Tagfile("", Layouts(table), ids=(b"12345678",)).write()
    found = Tagfile.read(data)
    for name in table.sections:
        assert name.encode() in data
    assert found.types.types == table.types
    for name in ("body_order", "hashes", "sections", "type_names", "member_names", "padding"):
        assert getattr(found.types, name) == getattr(table, name), name
    assert found.write() == data


def test_classes_of_a_real_table(corpus: Find):
    tag = samples(corpus, "sekiro/c7190.chrbnd.dcx")[1].read()
    types, layouts = tag.types, tag.layouts
    sim = types.types[types.find("hclSimClothData")]
    assert types.types[sim.parent].name == "hkReferencedObject"
    assert types.title(types.find("hkArray")).startswith("hkArray<hkRootLevelContainer::NamedVariant, ")
    variant = layouts[types.find("hkRootLevelContainer::NamedVariant")]
    assert (variant.size, variant.alignment, variant.dtype.itemsize) == (24, 8, 24)
    assert [(name, member.offset) for name, member in variant.members.items()] == [
        ("name", 0),
        ("className", 8),
        ("variant", 16),
    ]
    assert types.types[variant.index].version == 1
    vector = layouts[types.find("hkVector4")]
    assert (vector.kind, vector.shape, vector.dtype) == (Kind.NUMBER, (4,), np.dtype("f4"))
    assert "hkVector4f" in vector.bases


@pytest.mark.parametrize("source", COUNTS)
def test_every_class_of_the_corpus_compiles(corpus: Find, source: str):
    for one in samples(corpus, source)[:3]:
        tag = one.read()
        for index in range(1, len(tag.types)):
            layout = tag.layouts[index]
            assert layout.dtype.itemsize * int(np.prod(layout.shape)) == layout.size
            kind = tag.types.types[index]
            if kind.members and layout.kind is Kind.RECORD:
                for member in kind.members:
                    assert layout.members[member.name].offset == member.offset


@pytest.mark.parametrize(
    ("word", "size", "dtype"),
    [
        (0x2204, 1, "i1"), (0x4104, 2, ">u2"), (0x4304, 2, ">i2"), (0x8104, 4, ">u4"), (0x10004, 8, "u8"),
        (0x10204, 8, "i8"), (0x345805, 8, "f8"), (0x174605, 4, "f4"), (0x5, 1, "u1"), (0x8002, 4, "u4"),
    ],
)  # fmt: skip
def test_formats_of_numbers(word: int, size: int, dtype: str):
    layout = Layouts(change(make_types(), "int", format=word, size=size))[INDEX["int"]]
    assert layout.dtype == np.dtype(dtype)


def test_members_of_one_name_are_told_apart():
    table = move(make_types(), "Thing", "count", name="refCount")
    members = Layouts(table)[INDEX["Thing"]].members
    assert (members["refCount"].offset, members["Thing::refCount"].offset) == (18, 48)


LIES = {
    "a class smaller than its members": change(make_types(), "Thing", size=144),
    "a class that ends inside a member": change(make_types(), "Thing", size=157),
    "a larger class": change(make_types(), "Thing", size=1 << 19),
    "a huge class": change(make_types(), "Thing", size=1 << 40),
    "a class without size": change(make_types(), "char", size=0),
    "a member outside": move(make_types(), "Thing", "count", offset=158),
    "a member far outside": move(make_types(), "Thing", "count", offset=1 << 63),
    "a member over another": move(make_types(), "Thing", "count", offset=34),
    "two members of one name": move(make_types(), "Variant", "name", name="variant"),
    "a moved reference": move(make_types(), "Variant", "name", offset=8, name="className"),
    "a reference that is a number": move(make_types(), "Thing", "next", type=INDEX["Vectors"]),
    "a number that is a reference": move(make_types(), "Thing", "cache", flags=0x20, offset=144, type=INDEX["Shorts"]),
    "a class that is its own parent": change(make_types(), "Base", parent=INDEX["Thing"]),
    "a class inside itself": move(make_types(), "Thing", "mask", type=INDEX["Thing"]),
    "an array of itself": change(make_types(), "Vector4f", subtype=INDEX["Vector4f"]),
    "too many elements": change(make_types(), "Vector4f", format=0x528),
    "elements without size": change(make_types(), "Vector4f", format=0xFFFFFFFFFF28, subtype=0, size=0),
    "a number of another size": change(make_types(), "int", size=8),
    "a number of 3 bytes": change(make_types(), "int", format=24 << 10 | 4, size=3),
    "a float of 3 bytes": change(make_types(), "float", size=3),
    "a format that does not exist": change(make_types(), "int", format=9),
    "an alignment of 3": change(make_types(), "Thing", alignment=3),
    "a reference in one byte": change(make_types(), "String", size=1),
    "an array of another class": change(make_types(), "Vectors", subtype=INDEX["u32"]),
    "a pointer to another class": change(make_types(), "RefVariant", subtype=INDEX["Root"]),
}


@pytest.mark.parametrize("table", LIES.values(), ids=LIES)
def test_a_table_that_lies(table: TypeTable):
    with pytest.raises(FormatError) as caught:
        Tagfile.read(with_types(table), file="lie.hkx")
    assert caught.value.file == "lie.hkx"
    assert caught.value.trail


@pytest.mark.parametrize(
    ("lie", "message"),
    [
        ("a class that is its own parent", "its own ancestor"),
        ("a class inside itself", "contains itself"),
        ("an array of itself", "contains itself"),
        ("a member over another", "member 'count' lies over member 'position'"),
        ("a member outside", "member 'count' ends at byte 162 of a class of|lies over"),
        ("an array of another class", "a slot of hkArray<hkVector4> leads to 3 x hkVector4"),
        ("a huge class", "a class of 1099511627776 bytes"),
    ],
)
def test_lies_are_named(lie: str, message: str):
    with pytest.raises(FormatError, match=message):
        Tagfile.read(with_types(LIES[lie]))


def test_the_sample_with_its_own_table_is_read():
    assert with_types(make_types()) == make().write()


def test_a_file_without_hashes():
    data = make(replace(make_types(), sections=("TSTR", "TNA1", "FSTR", "TBDY"), hashes=())).write()
    assert b"THSH" not in data
    tag = Tagfile.read(data)
    assert tag.arrangement is None
    assert tag.write() == data


def test_classes_nested_too_deep():
    table = make_types()
    types = list(table.types)
    start = len(types)
    for step in range(500):
        inner = start + step + 1 if step < 499 else INDEX["int"]
        types.append(Type("Deep", (), 0, 7, None, None, 4, 4, None, (Member("inner", 0x20, 0, inner),)))
    layouts = Layouts(replace(table, types=tuple(types)))
    with pytest.raises(FormatError, match="nested"):
        _ = layouts[start]
    assert layouts[INDEX["int"]].size == 4


def test_a_lie_in_a_compendium_is_found_by_who_uses_it():
    bad = compendium(change(make_types(), "Root", size=4))
    assert Tagfile.read(bad).write() == bad
    with pytest.raises(FormatError, match="ends at byte 16 of a class of 4") as caught:
        Tagfile.read(EMPTY_ROOT, bad, "map.hkx")
    assert caught.value.file == "map.hkx > compendium"


@pytest.mark.parametrize(
    ("old", "new"),
    [(b"TSTR", b"TXTR"), (b"TBDY", b"THSH"), (b"TNA1", b"TNA2")],
)
def test_a_section_that_is_missing_or_stands_twice(old: bytes, new: bytes):
    data = make().write()
    with pytest.raises(FormatError, match=r"missing|twice|unknown") as caught:
        Tagfile.read(data.replace(old, new))
    assert caught.value.trail == "TYPE"


def test_bodies_go_breadth_first_but_not_through_the_subtype():
    types = (
        Type("", has_body=False),
        Type("Root", members=(Member("a", 0x20, 0, 2), Member("b", 0x20, 8, 6))),
        Type("RefVariant", parent=5, subtype=3, members=(Member("ptr", 0x20, 0, 4),)),
        Type("Object", members=(Member("back", 0x20, 0, 1),)),
        Type("T*", (Parameter("tT", 3), Parameter("vN", 6)), subtype=3),
        Type("Parent"),
        Type("Opaque", has_body=False),
        Type("char"),
    )
    assert bodies_met(types, [1, 7]) == (1, 2, 5, 4, 3, 7)
    assert bodies_met(types, [7, 4]) == (7, 4, 3, 1, 2, 5)
    assert bodies_met(types, []) == (1, 2, 5, 4, 3, 7)
