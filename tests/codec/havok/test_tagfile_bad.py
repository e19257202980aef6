"""What is no tagfile, lacks its compendium, or contradicts itself answers with `FormatError` and the place."""

from __future__ import annotations

import struct

import numpy as np
import pytest

from addon.codec import FormatError, Tagfile
from addon.codec.havok.sections import section
from tests.codec.havok.tagfile_corpus import Find, members
from tests.codec.havok.tagfile_sample import EMPTY_ROOT, ID, INDEX, compendium, make
from tests.reference import tagfile_plain

DATA = make().write()
PARTS = tagfile_plain.sections(DATA)


def refused(data: bytes, message: str, **arguments) -> FormatError:
    with pytest.raises(FormatError, match=message) as caught:
        Tagfile.read(data, file="bad.hkx", **arguments)
    assert caught.value.file == "bad.hkx"
    return caught.value


def patched(offset: int, form: str, *values: int) -> bytes:
    data = bytearray(DATA)
    struct.pack_into(form, data, offset, *values)
    return bytes(data)


def item(index: int) -> int:
    """Return where the ITEM record of an index stands."""
    return PARTS["ITEM"][0] + 12 * index


def slot(index: int, member: str) -> int:
    """Return where a slot of an item stands."""
    tag = Tagfile.read(DATA)
    (offset,) = struct.unpack_from("<I", DATA, item(index) + 4)
    return PARTS["DATA"][0] + offset + tag.items[index].layout.members[member].offset


def test_a_packfile_is_named_as_one(corpus: Find):
    name, data = next(m for m in members(corpus, "eldenring/hd_m_9007.partsbnd.dcx") if m[0].endswith("_c.hkx"))
    with pytest.raises(FormatError, match=r"Havok packfile \(hk_2014\.1\.0-r1\)") as caught:
        Tagfile.read(data, file=name)
    assert caught.value.file == name
    refused(bytes.fromhex("57e0e05710c0c010"), r"Havok packfile \(\)")


@pytest.mark.parametrize("data", [b"", b"TAG0", b"\0\0\0\x08TAG1", b"BND4" + bytes(60), bytes(1000)])
def test_what_is_no_tagfile(data: bytes):
    refused(data, "not a Havok tagfile")


def test_a_compendium_that_is_missing_or_another():
    assert f"compendium {ID.hex()}, which is missing" in str(refused(EMPTY_ROOT, "missing"))
    other = compendium().replace(ID, b"\1" * 8)
    error = refused(EMPTY_ROOT, "the one given holds", compendium=other)
    assert ID.hex() in error.what
    assert (b"\1" * 8).hex() in error.what
    refused(EMPTY_ROOT, "what was given is no compendium", compendium=DATA)
    with pytest.raises(FormatError, match="not a Havok tagfile") as caught:
        Tagfile.read(EMPTY_ROOT, b"nothing of the kind")
    assert "compendium" in caught.value.file
    assert Tagfile.read(DATA, b"not looked at").write() == DATA


@pytest.mark.parametrize("size", [4, 8, 20, 60, 200, PARTS["TBDY"][0] + 9, PARTS["ITEM"][0] + 13, len(DATA) - 1])
def test_a_file_that_is_cut_off(size: int):
    refused(DATA[:size], "not a Havok tagfile|does not fit|needs 8 bytes")


def test_sections_that_contradict_their_lengths():
    refused(patched(8, ">I", 0x40000004), "does not fit")
    refused(patched(8, ">I", 0x7FFFFFFF), "does not fit")
    refused(patched(8, ">I", 0x00000010), "flags 0")
    refused(DATA.replace(b"SDKV", b"DATA"), "twice")
    refused(DATA.replace(b"PTCH", b"PTCX"), "'PTCX' is unknown")
    refused(section("TCM0", section("TCID", ID)), "'TYPE' is missing; there are TCID")
    refused(section("TAG0", section("SDKV", b"20180100")), "'DATA' is missing; there are SDKV")
    head = section("SDKV", b"20180100") + section("DATA", b"")
    refused(section("TAG0", head), "either TYPE or TCRF")
    refused(section("TAG0", head + section("TCRF", bytes(8)) + section("INDX", b"")), "8 bytes, 24 are needed")


def test_an_array_of_a_billion_elements():
    error = refused(patched(item(6) + 8, "<I", 1_000_000_000), "1000000000 x hkVector4 of 16 bytes do not fit")
    assert error.trail == "items[6]"
    refused(patched(item(6) + 8, "<I", 0xFFFFFFFF), "do not fit")


def test_a_section_longer_than_its_length_word():
    with pytest.raises(FormatError, match="'DATA' of 1073741832 bytes"):
        section("DATA", memoryview(np.zeros(1 << 30, np.uint8)))


def test_items_that_are_not_there():
    assert refused(patched(item(1), "<I", 0x10000000 | 999), "type 999 is not").trail == "items[1]"
    refused(patched(item(1), "<I", 0x10000000), "type 0 is not")
    refused(patched(item(1), "<I", 0x10000000 | len(INDEX) + 1), "which has no size")
    refused(patched(item(5) + 4, "<I", 0xFFFFFFF0), "do not fit")
    with pytest.raises(FormatError, match="no root object"):
        _ = Tagfile.read(patched(item(1) + 3, "B", 0x20)).root
    refused(patched(item(0), "<I", 1), "first record is not null")
    assert refused(patched(item(6) + 4, "<I", 0), "lies over another").trail == "items[6]"


def test_references_that_lead_nowhere():
    error = refused(patched(slot(3, "points"), "<Q", 18), "past the last of 18 objects")
    assert error.trail == "items[3].Thing[0].points"
    refused(patched(slot(3, "points"), "<q", -1), "past the last")
    refused(patched(slot(3, "links"), "<I", 0xFFFFFFFF), "past the last")
    refused(patched(item(6) + 3, "B", 0x10), "leads to 3 x hkVector4 with the flags 0x10")
    refused(patched(item(8) + 3, "B", 0x20), "leads to 1 x Thing with the flags 0x20")
    refused(patched(slot(3, "points"), "<Q", 9), "leads to 3 x T*")
    refused(patched(slot(3, "label"), "<Q", 6), "leads to 3 x hkVector4")
    refused(patched(slot(3, "next"), "<Q", 1), "leads to 1 x hkRootLevelContainer")


def test_patches_that_contradict_the_references():
    error = refused(patched(slot(3, "points"), "<Q", 0), "the patch table names data .*, where no reference stands")
    assert error.trail == "INDX.PTCH"
    error = refused(patched(slot(8, "label"), "<Q", 4), "not in the patch table")
    assert error.trail == "items[8].Thing[0].label"
    start = PARTS["PTCH"][0]
    refused(patched(start + 4, "<I", 0x40000000), "reach past the section")
    refused(patched(start, "<I", 0), "unknown or listed twice")
    refused(patched(start, "<I", 0xFFFFFFFF), "unknown or listed twice")
    refused(patched(start, "<I", INDEX["String"]), "unknown or listed twice")


def test_type_tables_that_end_too_early():
    assert refused(patched(PARTS["TNA1"][0], ">H", 0xBFFF), "are announced").trail == "TYPE.TNA1"
    assert refused(patched(PARTS["TNA1"][0] + 1, "B", 0x7F), "name 127 is not below").trail == "TYPE.TNA1"
    assert refused(patched(PARTS["TBDY"][0], "B", 0xFF), "not a packed integer").trail == "TYPE.TBDY"
    assert refused(patched(PARTS["TBDY"][0] + 1, "B", 0x7F), "parent type 127").trail == "TYPE.TBDY"
    assert refused(patched(PARTS["THSH"][0], "B", 0x7F), "127 hashes").trail == "TYPE.THSH"


def test_bit_fields_with_more_bits_than_words():
    tag = make()
    mask = next(tag.find("Thing")).one("mask")
    for count in (65, -1, 2_000_000_000):
        mask["numBits"] = count
        with pytest.raises(FormatError, match="bits in 2 words"):
            mask.bits()
    mask["numBits"] = 64
    assert mask.bits().shape == (64,)
    assert mask.bits().dtype == np.bool_
