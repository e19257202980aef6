"""Packed integers: annotated bytes, borders of the forms, and what is no packed integer."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from addon.codec.havok.packed import PackedError, pack, unpack, unpack_one

EXAMPLES = (
    (0, "00"),
    (0x7F, "7f"),
    (0x80, "8080"),
    (0x3FFF, "bfff"),
    (0x4000, "c04000"),
    (0x1FFFFF, "dfffff"),
    (0x200000, "e0200000"),
    (0x7FFFFFF, "e7ffffff"),
    (0x8000000, "e808000000"),
    ((1 << 35) - 1, "efffffffff"),
    (1 << 35, "f80800000000"),
    ((1 << 40) - 1, "f8ffffffffff"),
    (1 << 40, "f000010000000000"),
    ((1 << 59) - 1, "f7ffffffffffffff"),
    (1 << 59, "f90800000000000000"),
    ((1 << 64) - 1, "f9ffffffffffffffff"),
)


@pytest.mark.parametrize(("value", "stored"), EXAMPLES)
def test_borders_of_the_forms(value: int, stored: str):
    assert pack([value]).hex() == stored
    assert unpack(bytes.fromhex(stored)) == [value]
    assert unpack_one(b"\xaa" + bytes.fromhex(stored), 1) == (value, 1 + len(stored) // 2)


@given(st.lists(st.integers(0, (1 << 64) - 1)))
def test_any_integers_come_back(values: list[int]):
    assert unpack(pack(values)) == values


def test_longer_forms_are_read_too():
    assert unpack(bytes.fromhex("8001 e0000001 f8 0000000001")) == [1, 1, 1]


@pytest.mark.parametrize("first", range(0xFA, 0x100))
def test_bytes_that_mark_no_form(first: int):
    with pytest.raises(PackedError) as caught:
        unpack(bytes([1, first]) + bytes(16))
    assert caught.value.position == 1


@pytest.mark.parametrize("stored", [stored for _, stored in EXAMPLES])
def test_an_integer_that_is_cut_off(stored: str):
    whole = bytes.fromhex(stored)
    for size in range(1, len(whole)):
        with pytest.raises(PackedError):
            unpack(whole[:size])
    with pytest.raises(PackedError):
        unpack_one(whole, len(whole))
