"""The compressed wrapper."""

from __future__ import annotations

import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from addon.codec import Dcx, FormatError
from addon.codec.dcx import HEADER, is_dcx
from tests.corpus import BINDERS

CONTENT = bytes(range(256)) * 9


def variant(**fields) -> bytes:
    """Return a wrapped file whose header has other values in some fields."""
    wrapped = Dcx.new(CONTENT)
    for field, value in fields.items():
        wrapped.header[field] = value
    data = bytearray(wrapped.write())
    for field, value in fields.items():  # sizes are made anew on writing
        if field in ("size", "stored_size"):
            offset = {name: at for at, name, *_rest in HEADER.rows}[field]
            data[offset : offset + 4] = value.to_bytes(4, "big")
    return bytes(data)


@given(st.binary(max_size=2000))
def test_content_comes_back(content):
    data = Dcx.new(content).write()
    assert is_dcx(data)
    wrapped = Dcx.read(data)
    assert (wrapped.content, wrapped.codec) == (content, "DFLT")
    assert wrapped.write() == data


def test_the_header_is_that_of_the_games():
    data = Dcx.new(CONTENT).write()
    assert data[:0x4C].hex() == (
        "44435800" "00011000" "00000018" "00000024" "00000044" "0000004c" "44435300" "00000900"
        f"{len(data) - 0x4C:08x}" "44435000" "44464c54" "00000020" "09000000" "00000000" "00000000" "00000000"
        "00010100" "44434100" "00000008"
    )  # fmt: skip
    assert data[0x4C:0x4E].hex() == "78da"


@pytest.mark.parametrize(
    "fields",
    [
        {"version": 0x10000, "dca_offset": 0x24, "unk14": 0x2C},
        {"version": 0x10000},
        {"level": 8},
        {"level": 0},
        {"level": 200},
        {"unk38": 15},
        {"unk34": 7, "unk3C": 8, "unk40": 9, "dca_size": 10, "unk2C": 11},
    ],
    ids=str,
)
def test_the_variant_is_kept(fields):
    wrapped = Dcx.read(variant(**fields))
    assert wrapped.content == CONTENT
    for field, value in fields.items():
        assert wrapped.header[field] == value
    changed = wrapped.with_content(b"other")
    assert Dcx.read(changed.write()).content == b"other"
    assert all(changed.header[field] == value for field, value in fields.items())


@pytest.mark.parametrize("size", [0, 1, 0xFFFFFFFF])
def test_a_wrong_stored_size_is_accepted(size):
    assert Dcx.read(variant(stored_size=size)).content == CONTENT


def test_zeros_behind_the_data_are_accepted():
    assert Dcx.read(variant() + bytes(12)).content == CONTENT


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (b"", "file ends"),
        (variant()[:0x4B], "file ends"),
        (b"BND4" + variant()[4:], "not a DCX"),
        (variant()[:0x4C], "cut off"),
        (variant()[:-1], "cut off"),
        (variant() + b"\0\1", "follow"),
        (variant(size=len(CONTENT) - 1), "more than"),
        (variant(size=len(CONTENT) + 1), "of the"),
        (variant(size=0xFFFFFFFF), "of the"),
        (variant()[:0x60] + b"\xff" * 9 + variant()[0x69:], "damaged"),
    ],
    ids=range(10),
)
def test_damage_is_named(data, what):
    with pytest.raises(FormatError, match=what) as caught:
        Dcx.read(data, "some.dcx")
    assert caught.value.file == "some.dcx"
    assert caught.value.offset is not None


@pytest.mark.parametrize("codec", ["ZSTD", "EDGE", "XXXX"])
def test_other_codecs_are_named(codec):
    data = variant().replace(b"DFLT", codec.encode())
    with pytest.raises(FormatError, match=codec):
        Dcx.read(data)
    with pytest.raises(FormatError, match=codec):
        Dcx.new(CONTENT, codec).write()


def test_another_stream_of_the_same_content_is_read():
    for level in range(10):
        stream = zlib.compress(CONTENT, level)
        assert Dcx.read(variant()[:0x4C] + stream).content == CONTENT


@pytest.mark.parametrize("binder", BINDERS)
def test_files_of_the_games(corpus, binder):
    """Written anew, the header is that of the file but for the size of the payload."""
    data = corpus(binder).read_bytes()
    wrapped = Dcx.read(data)
    if wrapped.codec != "DFLT":
        pytest.skip(f"{wrapped.codec} is tested elsewhere")
    again = wrapped.write()
    assert again[:0x20] + again[0x24:0x4C] == data[:0x20] + data[0x24:0x4C]
    assert Dcx.read(again).content == wrapped.content
