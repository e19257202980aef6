"""Record tables, reader, writer and text."""

from __future__ import annotations

import importlib
import pickle
import pkgutil

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import addon.codec
from addon.codec import FormatError
from addon.codec.binary import Reader, Record, Writer, decode_text, encode_text, fill, text_encoding
from addon.codec.binder import entry_record


def records() -> list[Record]:
    """Return every record of the codec."""
    found = {}
    for module in pkgutil.walk_packages(addon.codec.__path__, "addon.codec."):
        names = vars(importlib.import_module(module.name))
        found.update({id(each): each for each in names.values() if isinstance(each, Record)})
    return [*found.values(), *(entry_record(form) for form in (0x00, 0x04, 0x0E, 0x2E, 0x3E))]


@pytest.mark.parametrize("record", records(), ids=lambda record: record.name)
def test_a_record_names_every_byte(record):
    assert sum(np.dtype(dtype).itemsize for _offset, _name, dtype, _meaning in record.rows) == record.size
    for dtype in (record.dtype, record.dtype.newbyteorder(">")):
        assert dtype.itemsize == record.size
        assert [dtype.fields[name][1] for name in dtype.names] == [offset for offset, *_rest in record.rows]
    assert record.zeros(3).tobytes() == bytes(3 * record.size)


def test_records_were_found():
    names = {record.name for record in records()}
    assert {"DCX header", "binder header", "binder entry", "FLVER header", "node", "dummy", "GX item"} <= names


@pytest.mark.parametrize(
    ("size", "rows"),
    [
        (8, ((0, "a", "u4", ""), (5, "b", "u2", ""))),
        (8, ((0, "a", "u4", ""), (2, "b", "u4", ""))),
        (8, ((0, "a", "u4", ""),)),
        (2, ((0, "a", "u4", ""),)),
    ],
    ids=["gap", "overlap", "short", "long"],
)
def test_a_wrong_table_is_refused(size, rows):
    with pytest.raises(ValueError, match="wrong"):
        Record("wrong", size, rows)


PAIR = Record("pair", 8, ((0, "a", "u2", ""), (2, "b", "V2", ""), (4, "c", "f4", "")))


@pytest.mark.parametrize(("big_endian", "data"), [(False, "0102ffff0000803f"), (True, "0201ffff3f800000")])
def test_a_record_is_read_in_the_order_of_the_file(big_endian, data):
    record = Reader(bytes.fromhex(data), big_endian=big_endian).record(PAIR, 0)
    assert (int(record["a"]), record["b"].item(), float(record["c"])) == (0x0201, b"\xff\xff", 1.0)
    assert record.dtype == PAIR.dtype
    writer = Writer(big_endian=big_endian)
    writer.array(record)
    assert writer.getvalue().hex() == data


@pytest.mark.parametrize(("offset", "count"), [(-1, 1), (0, 3), (17, 0), (0, -1), (0, 1 << 40), (1 << 60, 1)])
def test_nothing_is_read_past_the_file(offset, count):
    reader = Reader(bytes(16), "some.flver")
    with reader.at("nodes[2]"), pytest.raises(FormatError) as caught:
        reader.array("u8", offset, count)
    assert (caught.value.file, caught.value.offset, caught.value.trail) == ("some.flver", offset, "nodes[2]")
    for read in (lambda: reader.view(offset, count * 8), lambda: reader.table(PAIR, offset, count)):
        with pytest.raises(FormatError):
            read()


def test_arrays_are_views_that_cannot_be_written():
    data = bytearray(range(16))
    values = Reader(data).array("<u2", 2, 3)
    assert values.tolist() == [0x0302, 0x0504, 0x0706]
    assert not values.flags.writeable
    data[2] = 9
    assert values[0] == 0x0309


def test_an_empty_file_is_no_fault_until_it_is_read():
    reader = Reader(b"")
    assert len(reader.array("f4", 0, 0)) == 0
    with pytest.raises(FormatError):
        reader.record(PAIR, 0)


def test_reading_the_same_bytes_over_and_over_is_refused():
    reader = Reader(bytes(100), repeats=2)
    reader.view(0, 100)
    reader.view(0, 100)
    with pytest.raises(FormatError, match="over and over"):
        reader.string(0, "cp932") or reader.view(0, 1)


def test_the_trail_is_left_after_an_error():
    reader = Reader(b"")
    with pytest.raises(FormatError), reader.at("a"), reader.at("b"):
        reader.fail("wrong", step="c")
    with pytest.raises(FormatError) as caught:
        reader.fail("wrong")
    assert caught.value.trail == ""


def test_an_error_says_where():
    error = FormatError("cut off", "c0000.flver", 0x20, "nodes[1].name").inside("c0000.chrbnd.dcx", "entries[3]")
    assert str(error) == "cut off (c0000.chrbnd.dcx > c0000.flver, entries[3].nodes[1].name, offset 0x20)"
    assert str(pickle.loads(pickle.dumps(error))) == str(error)
    assert str(FormatError("cut off")) == "cut off"


def test_a_writer_patches_what_it_has_written():
    writer = Writer(big_endian=True)
    place = writer.reserve(4)
    assert writer.write(b"abc") == 4
    assert writer.align(16) == 16
    assert writer.array(np.array([1, 2], "<u2")) == 16
    writer.patch(place, np.array([writer.tell()], "<u4"))
    assert writer.getvalue() == b"\0\0\0\x14abc" + bytes(9) + b"\0\1\0\2"


@pytest.mark.parametrize("offset", [1, 2, 3, 255, 256, 257, 2303, 20000])
@pytest.mark.parametrize("encoding", ["cp932", "utf-16-le", "utf-16-be"])
def test_strings_end_at_their_terminator(offset, encoding):
    text = "Ā" * 3 + "x" * offset if encoding != "cp932" else "x" * offset
    data = b"\1" + encode_text(text, encoding) + b"\1\1"
    assert Reader(data).string(1, encoding) == text
    with pytest.raises(FormatError, match="no end"):
        Reader(data[: -2 - (2 if encoding != "cp932" else 1)]).string(1, encoding)


def test_a_zero_byte_inside_a_wide_character_is_no_terminator():
    assert Reader("aĀĀb\0".encode("utf-16-le")).string(0, "utf-16-le") == "aĀĀb"
    assert Reader("Āa\0".encode("utf-16-be")).string(0, "utf-16-be") == "Āa"


@given(st.binary(max_size=64), st.sampled_from(["cp932", "utf-16-le", "utf-16-be"]))
def test_any_bytes_survive_as_text(data, encoding):
    width = 1 if encoding == "cp932" else 2
    data = data[: len(data) // width * width]
    assert encode_text(decode_text(data, encoding), encoding) == data + bytes(width)


def test_the_second_form_of_a_character_survives():
    text = decode_text(b"a\x87\x90", "cp932")
    assert encode_text(text, "cp932") == b"a\x87\x90\0"
    assert decode_text("鎖".encode("cp932"), "cp932") == "鎖"


def test_text_that_the_encoding_lacks_is_refused():
    with pytest.raises(FormatError, match="cp932"):
        encode_text("ключ𝄞", "cp932")


def test_encodings():
    assert text_encoding(unicode=False, big_endian=True) == "cp932"
    assert text_encoding(unicode=True, big_endian=True) == "utf-16-be"
    assert text_encoding(unicode=True, big_endian=False) == "utf-16-le"


@pytest.mark.parametrize("value", [-1, 0x10000])
def test_numbers_that_do_not_fit_are_refused(value):
    with pytest.raises(FormatError, match="does not fit the field a") as caught:
        fill(PAIR.zeros(2), "a", [0, value])
    assert caught.value.trail == "[1]"
