"""Binders, in one file and in two."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from addon.codec import Binder, FormatError, SplitBinder
from addon.codec.binary import Reader
from addon.codec.binder import (
    COMPRESSED,
    HASH,
    HASH_GROUP,
    HASH_HEADER,
    HEADER,
    Entry,
    entry_record,
    name_hash,
    reverse_bits,
)
from tests.corpus import content, every_binder

NAMES = ("N:\\GR\\data\\a.flver", "N:\\GR\\data\\鎖.hkx", "N:\\GR\\data\\empty.bin")


def sample(**fields) -> Binder:
    binder = Binder.new()
    for field, value in fields.items():
        binder.header[field] = value
    for i, name in enumerate(NAMES):
        binder.entries.append(Entry(name, bytes([i + 1]) * 20 * (2 - i), id=100 * i))
    return binder


def same(read, written, *, names: bool = True, ids: bool = True) -> None:
    assert [bytes(entry.data) for entry in read] == [bytes(entry.data) for entry in written]
    assert [entry.name for entry in read] == [entry.name if names else "" for entry in written]
    assert [entry.id for entry in read] == [entry.id if ids else -1 for entry in written]
    assert [entry.flags for entry in read] == [entry.flags for entry in written]


@every_binder
def test_binders_of_the_games_are_written_back_byte_for_byte(corpus, binder):
    data = content(corpus(binder))
    read = Binder.read(data, binder)
    assert read.entries
    assert read.write() == data


@every_binder
def test_stored_hashes_are_those_of_the_names(corpus, binder):
    data = content(corpus(binder))
    reader, entries = Reader(data), Binder.read(data).entries
    head = reader.record(HASH_HEADER, int(reader.record(HEADER, 0)["hash_offset"]))
    hashes = reader.array(HASH, int(head["hash_offset"]), len(entries))
    assert {(int(row["hash"]), int(row["entry"])) for row in hashes} == {
        (name_hash(entry.name), i) for i, entry in enumerate(entries)
    }
    start = int(head["hash_offset"]) - int(head["group_count"]) * HASH_GROUP.itemsize
    for number, group in enumerate(reader.array(HASH_GROUP, start, int(head["group_count"]))):
        members = hashes[int(group["first"]) : int(group["first"] + group["count"])]["hash"]
        assert (members % head["group_count"] == number).all()
        assert (np.diff(members.astype(np.int64)) >= 0).all()


def test_a_split_binder_of_the_games_is_written_back_byte_for_byte(corpus):
    header, data = (corpus(f"ds3/h30_00_00_00_000000.{end}").read_bytes() for end in ("hkxbhd", "hkxbdt"))
    binder = SplitBinder.read(header, data)
    assert [entry.basename for entry in binder.entries] == ["h30_00_00_00_000000.hkx.dcx"]
    assert binder.write() == (header, data)


def test_the_hash_does_not_mind_case_and_slashes():
    assert name_hash("N:\\Data\\A.flver") == name_hash("/n:/data/a.FLVER") == name_hash("n:/data/a.flver")
    assert name_hash("a") == (ord("/") * 37 + ord("a"))


FORMS = [0x00, 0x02, 0x04, 0x06, 0x08, 0x0C, 0x0E, 0x2E, 0x1E, 0x3E, 0x20, 0x24, 0x36]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("unicode", [0, 1])
@pytest.mark.parametrize("big_endian", [0, 1])
@pytest.mark.parametrize("reverse", [0, 1])
def test_forms(form, unicode, big_endian, reverse):
    stored = reverse_bits(form) if reverse else form
    extended = 4 if form & 0x0C else 0
    binder = sample(
        format=stored, unicode=unicode, big_endian=big_endian, reversed_bits=reverse, extended=extended
    )  # fmt: skip
    binder.entries[1].flags = 0x82
    data = binder.write()
    read = Binder.read(data)
    same(read.entries, binder.entries, names=bool(form & 0x0C), ids=bool(form & 2) or form == 0x04)
    assert read.write() == data
    assert read.header["entry_size"] == entry_record(form).size
    head, body = SplitBinder(binder.header.copy(), SplitBinder.new().data_header, binder.entries), None
    head.header["magic"], head.data_header["big_endian"] = b"BHF4", big_endian
    head, body = head.write()
    split = SplitBinder.read(head, body)
    same(split.entries, binder.entries, names=bool(form & 0x0C), ids=bool(form & 2) or form == 0x04)
    assert split.write() == (head, body)


def test_a_form_with_bit_0_is_stored_plainly():
    binder = sample(format=0x2F, extended=0)  # big-endian bit set: reversed it would be 0xF4
    data = binder.write()
    assert Binder.read(data).write() == data
    same(Binder.read(data).entries, binder.entries)


def test_names_alike_are_kept():
    binder = sample()
    binder.entries.append(Entry(NAMES[0], b"other", id=7))
    read = Binder.read(binder.write())
    assert [entry.basename for entry in read.entries] == ["a.flver", "鎖.hkx", "empty.bin", "a.flver"]


def test_a_compressed_entry_keeps_its_size():
    binder = sample()
    binder.entries[0].flags, binder.entries[0].size = 0x02 | COMPRESSED, 999
    read = Binder.read(binder.write())
    assert (read.entries[0].size, read.entries[1].size) == (999, None)


def test_data_is_aligned():
    binder = sample()
    data = binder.write()
    for entry in Binder.read(data).entries[:2]:
        assert data.index(bytes(entry.data)) % 16 == 0


TEXT = st.text(st.characters(exclude_characters="\0"), max_size=9)


@given(st.lists(st.tuples(TEXT, st.binary(max_size=99)), max_size=40))
def test_any_entries_come_back(items):
    binder = Binder.new("10G29R1")
    binder.entries = [Entry(name, data, id=i) for i, (name, data) in enumerate(items)]
    written = binder.write()
    read = Binder.read(written)
    same(read.entries, binder.entries)
    assert read.write() == written


def test_a_name_that_shift_jis_lacks_is_refused():
    binder = sample(unicode=0)
    binder.entries[0].name = "𝄞"
    with pytest.raises(FormatError, match="cannot be stored"):
        binder.write()


@pytest.mark.parametrize("fields", [{"id": 1 << 31}, {"flags": 256}, {"size": 1 << 63}], ids=str)
def test_numbers_that_do_not_fit_are_refused(fields):
    binder = sample()
    for field, value in fields.items():
        setattr(binder.entries[1], field, value)
    with pytest.raises(FormatError, match="does not fit"):
        binder.write()


@pytest.mark.parametrize(
    ("offset", "value"),
    [(0x00, b"BND3"), (0x0C, b"\xff\xff\xff\x7f"), (0x0C, b"\xff\xff\xff\xff"), (0x10, b"\x30"), (0x20, b"\x18"),
     (0x31, b"\x34"), (0x40 + 8, b"\xff\xff\xff\xff\xff\xff\xff\x7f"), (0x40 + 8, b"\xff" * 8),
     (0x40 + 0x18, b"\xff\xff\xff\xff"), (0x40 + 0x20, b"\xff\xff\xff\xff")],
    ids=str,
)  # fmt: skip
def test_lies_are_named(offset, value):
    data = bytearray(sample().write())
    data[offset : offset + len(value)] = value
    with pytest.raises(FormatError) as caught:
        Binder.read(bytes(data), "some.bnd")
    assert caught.value.file == "some.bnd"


def test_entries_that_all_hold_the_whole_file_are_refused():
    """Unpacking such a binder would take the square of its size."""
    binder = Binder.new()
    binder.entries = [Entry(f"{i}", b"") for i in range(2000)]
    data = bytearray(binder.write())
    table = np.frombuffer(data, entry_record(0x2E).dtype, 2000, 0x40)
    table["stored_size"], table["data_offset"] = len(data), 0
    with pytest.raises(FormatError, match="over and over"):
        Binder.read(data)


def test_a_split_binder_needs_its_data():
    header, _data = SplitBinder.new().write()
    with pytest.raises(FormatError, match="BDF4"):
        SplitBinder.read(header, header)
