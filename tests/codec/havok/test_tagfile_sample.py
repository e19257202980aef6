"""A small tagfile made here: its bytes, its members by name, and editing."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from addon.codec import FormatError, Tagfile
from addon.codec.havok import Links, View
from addon.codec.havok.items import ARRAY, OBJECT
from addon.codec.havok.layout import Layouts
from addon.codec.havok.objects import half_from_float, half_to_float
from addon.codec.havok.order import Arrangement
from tests.codec.havok.tagfile_sample import EMPTY_ROOT, ID, INDEX, compendium, make
from tests.reference import tagfile_plain

LETTERS = st.characters(exclude_characters="\0", exclude_categories=["Cs"])


def first_thing(tag: Tagfile) -> View:
    return tag.root.many("namedVariants").at(0).one("variant")


def test_annotated_bytes():
    tag = Tagfile.read(EMPTY_ROOT, compendium())
    assert tag.sdk == "20180100"
    assert [item.layout.name for item in tag.items] == ["", "hkRootLevelContainer"]
    assert len(tag.root.many("namedVariants")) == 0
    assert tag.write() == EMPTY_ROOT


def test_a_compendium_is_read_as_one():
    tag = Tagfile.read(compendium())
    assert tag.ids == (b"another.", ID)
    assert tag.write() == compendium()
    assert Tagfile.read(EMPTY_ROOT, tag).write() == EMPTY_ROOT
    with pytest.raises(FormatError, match="no root"):
        _ = tag.root


def test_items_stand_by_the_rule():
    tag = Tagfile.read(make().write())
    names = [item.layout.name for item in tag.items[1:]]
    assert names == [
        "hkRootLevelContainer", "hkRootLevelContainer::NamedVariant", "Thing", "char", "char", "hkVector4",
        "hkStringPtr", "Thing", "T*", "hkUint32", "hkUint16", "hkArray", "hkHalf16", "char", "char", "hkUint32",
        "hkUint32",
    ]  # fmt: skip
    assert tag.arrangement is None
    assert [len(item) for item in tag.items] == [0, 1, 1, 1, 8, 6, 3, 2, 1, 3, 2, 3, 3, 2, 7, 2, 3, 1]
    # the first thing at 64, then its arrays at multiples of 16 and its strings at multiples of 2, then the second thing
    places = [item.offset for item in tagfile_plain.read(make().write())]
    assert places == [0, 0, 16, 64, 40, 48, 256, 304, 480, 320, 352, 368, 384, 432, 436, 444, 448, 464]


def test_strings_of_an_array_are_numbered_slot_by_slot():
    tag = make()
    tag.root["namedVariants"] = np.repeat(tag.root.many("namedVariants").values, 2)
    variants = tag.root.many("namedVariants")
    variants.values["name"], variants.values["className"] = 0, 0
    for place, (name, kind) in enumerate((("a", "c"), ("b", "d"))):
        variants.at(place)["name"], variants.at(place)["className"] = name, kind
    again = Tagfile.read(tag.write())
    assert [item.text for item in again.items if item.layout.name == "char"][:4] == ["a", "b", "c", "d"]
    assert again.root.many("namedVariants").links("className").texts() == ["c", "d"]


def test_patches_and_hashes_go_by_the_rule():
    data = make().write()
    patches = dict(tagfile_plain.read_patches(data))
    assert list(patches) == sorted(patches)
    assert patches[INDEX["String"]] == [16, 24, 64 + 56, 304 + 8]
    assert patches[INDEX["ThingPtr"]] == [64 + 96, 320, 328]
    assert patches[INDEX["Shorts"]] == [64 + 144]
    assert patches[INDEX["Words"]] == [64 + 120, 384, 384 + 32]
    met = ["Root", "Variants", "Variant", "RefVariant", "String", "char", "Thing", "Vectors", "Strings", "ThingPtr"]
    met += ["Things", "Words", "Shorts", "Lists", "Halves", "Vector", "u32", "u16", "half"]
    assert [kind for kind, _ in Tagfile.read(data).types.hashes] == [INDEX[key] for key in met]


@given(
    points=st.integers(0, 40),
    names=st.lists(st.none() | st.text(LETTERS, max_size=9), max_size=6),
    links=st.lists(st.integers(0, 0xFFFF), max_size=9),
    label=st.none() | st.text(LETTERS, max_size=30),
)
def test_any_lengths_come_back(points: int, names: list[str | None], links: list[int], label: str | None):
    tag = make()
    thing = first_thing(tag)
    thing["points"] = wanted = np.arange(points * 4, dtype="f4").reshape(-1, 4)
    thing["names"], thing["links"], thing["label"] = names, np.array(links, "u2"), label
    data = tag.write()
    again = Tagfile.read(data)
    thing = first_thing(again)
    assert np.array_equal(thing.numbers("points", "f4", (4,)), wanted)
    assert thing.links("names").texts() == names
    assert thing.numbers("links", "u2").tolist() == links
    assert thing.text("label") == label
    assert again.write() == data


def test_members_by_name():
    thing = first_thing(Tagfile.read(make().write()))
    assert thing.is_a("Thing")
    assert thing.is_a("hkReferencedObject")
    assert thing.numbers("position", "f4", (4,)).tolist() == [1, 2, 3, 0]
    assert (thing["count"], thing["active"], thing["weight"], thing["handle"]) == (-7, True, 1.5, 9)
    assert thing.numbers("points", "f4", (4,)).tolist() == np.arange(12).reshape(3, 4).tolist()
    assert (thing.text("label"), thing.links("names").texts()) == ("first!", [None, "n"])
    assert thing.numbers("links", "u2").tolist() == [4, 5, 6]
    assert np.flatnonzero(thing.one("mask").bits()).tolist() == [0, 2, 31, 32]
    assert thing["cache"] is None
    assert [list(one) for one in thing.links("lists")] == [[7, 8, 9], [], [10]]
    assert thing.links("lists").joined()[0].tolist() == [7, 8, 9, 10]
    assert thing.links("lists").joined()[1].tolist() == [0, 3, 3, 4]
    assert thing.numbers("halves", "f4").tolist() == [0.5, -2]
    other = thing.one("next")
    assert (other.text("label"), len(other.numbers("points", "f4", (4,)))) == (None, 0)
    assert other.maybe("next") is None
    assert [child.item for child in thing.links("children").views()] == [other.item, thing.item]


def test_a_loop_of_objects_is_only_followed_step_by_step():
    tag = make()
    thing = first_thing(tag)
    thing["next"] = thing
    thing = first_thing(Tagfile.read(tag.write()))
    assert thing.one("next").one("next").one("next").item == thing.item


def test_writing_changes_the_file_only():
    data = bytearray(make().write())
    before = bytes(data)
    tag = Tagfile.read(data)
    first_thing(tag)["count"] = 5
    assert bytes(data) == before
    assert tag.write() != before


def test_objects_that_nothing_leads_to_are_left_out():
    tag = make()
    thing = first_thing(tag)
    thing["next"], thing["children"] = None, []
    again = Tagfile.read(tag.write())
    assert [item.layout.name for item in again.items].count("Thing") == 1
    assert first_thing(again).maybe("next") is None
    assert len(first_thing(again)["children"]) == 0


def test_references_of_many_records_are_followed_together():
    tag = make()
    variants = np.repeat(tag.root.many("namedVariants").values, 3)
    variants["name"][1] = 0
    tag.root["namedVariants"] = variants
    found = Tagfile.read(tag.write()).root.many("namedVariants")
    assert found.links("name").texts() == ["A thing", None, "A thing"]
    letters, starts = found.links("name").joined()
    assert letters.tobytes() == b"A thing\0A thing\0"
    assert starts.tolist() == [0, 8, 8, 16]
    assert [one.item for one in found.links("variant").views()] == [3, 3, 3]
    joined, starts = found.links("variant").joined()
    assert joined["count"].tolist() == [-7, -7, -7]
    assert found.at(1).text("name") is None
    with pytest.raises(FormatError, match="no element 3 of 3"):
        found.at(3)


@pytest.mark.parametrize("alignment", [None, 1])
def test_what_no_rule_explains_is_kept(alignment: int | None):
    tag = make()
    item = first_thing(tag).tag.items[3]
    item.lead, item.alignment = b"\1\2\3", alignment
    tag.tail = b"\7" * 8
    tag.trailing = b"behind"
    data = tag.write()
    again = Tagfile.read(data)
    assert (again.tail.rstrip(b"\0"), again.trailing) == (b"\7" * 8, b"behind")
    assert next(item.lead for item in again.items if item.lead).rstrip(b"\0").endswith(b"\1\2\3")
    assert again.write() == data


def test_an_order_of_its_own_is_kept():
    data = shuffled(Tagfile.read(make().write()))
    tag = Tagfile.read(data)
    assert tag.arrangement is not None
    assert tag.write() == data
    thing = first_thing(tag)
    assert thing.text("label") == "first!"
    thing["label"], thing["next"] = None, None
    thing.one("mask")["words"] = np.arange(9, dtype="u4")
    other = tag.item(thing.links("children").indices[0])
    other["label"] = "second"
    again = Tagfile.read(tag.write())
    assert again.arrangement is not None
    assert len(again.items) == len(tag.items)
    assert first_thing(again).text("label") is None
    assert [child.text("label") for child in first_thing(again).links("children").views()] == ["second", None]
    assert first_thing(again).one("mask").numbers("words", "u4").tolist() == list(range(9))


def shuffled(tag: Tagfile) -> bytes:
    """Return a file with its items and the groups of its tables in another order."""
    count = len(tag.items)
    types = tuple(tag.types.hash_of)[::-1]
    tag.arrangement = Arrangement(tuple(range(count)), tuple(range(count - 1, 0, -1)), types, types)
    return tag.write()


def test_wrong_use_of_a_class_is_told_with_class_member_and_sdk():
    thing = first_thing(make())
    cases = (
        (lambda: thing["radius"], "class Thing of SDK 20180100 has no member 'radius'"),
        (
            lambda: thing.numbers("count", "u4"),
            r"'count' of class Thing \(SDK 20180100\) holds int32, uint32 is needed",
        ),
        (lambda: thing.numbers("position", "f4"), r"'position' .* holds float32\[4\], float32 is needed"),
        (lambda: thing.numbers("label", "f4"), "'label' .* holds text, float32 is needed"),
        (lambda: thing.text("count"), "'count' .* holds number, text is needed"),
        (lambda: thing.one("points"), "'points' .* holds array, record or pointer is needed"),
        (lambda: thing.many("points"), "'points' .* is not an array of records"),
        (lambda: thing.links("points"), "'points' .* is not an array of references"),
        (lambda: thing.one("next").one("next"), "'next' .* is null"),
        (lambda: thing.maybe("cache"), "'cache' .* is not stored"),
        (lambda: thing.tag.root.many("namedVariants").text("name"), "'name' .* by links"),
        (lambda: thing.tag.root.many("namedVariants").one("variant"), "'variant' .* by links"),
    )
    for use, message in cases:
        with pytest.raises(FormatError, match=message) as caught:
            use()
        assert caught.value.trail.startswith("items[1].namedVariants")


def test_wrong_values_are_refused():
    tag, other = make(), make()
    thing = first_thing(tag)
    with pytest.raises(FormatError, match="of the same file"):
        thing["next"] = first_thing(other)
    with pytest.raises(FormatError, match="of the same file"):
        thing["next"] = thing.one("mask")
    with pytest.raises(FormatError, match="whose members are set one by one"):
        thing["mask"] = 3
    with pytest.raises(FormatError, match="shape"):
        thing["points"] = np.zeros(4, "f4")
    with pytest.raises(FormatError, match="no class 99"):
        tag.add(99, ARRAY)
    thing.links("children").indices[0] = 1
    with pytest.raises(FormatError, match="leads to 1 x hkRootLevelContainer") as caught:
        tag.write()
    assert caught.value.trail.startswith("items[")
    thing.links("children").indices[0] = 99
    with pytest.raises(FormatError, match="past the last"):
        tag.write()
    with pytest.raises(FormatError, match="object 99"):
        thing.links("children").views()


def test_a_class_without_a_known_hash_is_not_written():
    tag = make()
    tag.layouts = Layouts(replace(tag.types, hashes=tag.types.hashes[:5]))
    with pytest.raises(FormatError, match=r"the hash of .* in SDK 20180100"):
        tag.write()


def test_an_object_has_one_element():
    tag = make()
    tag.items[1].flags, index = ARRAY, tag.add(INDEX["Thing"], OBJECT, 2)
    assert isinstance(tag.item(1), View)
    with pytest.raises(FormatError, match="2 elements"):
        tag.item(index)
    assert isinstance(tag.item(tag.add(INDEX["ThingPtr"], ARRAY, 2)), Links)


def test_half_floats_are_upper_halves():
    stored = np.arange(1 << 16, dtype="<u2")
    floats = half_to_float(stored)
    assert floats.dtype == np.float32
    assert np.array_equal(half_from_float(floats), stored)
    assert half_to_float(np.array([0x3F80, 0xBF80, 0x4049], "<u2")).tolist() == [1, -1, 3.140625]
    assert half_from_float(3.1415927) == 0x4049
