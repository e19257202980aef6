"""Damaged tagfiles: whatever is changed, the answer is a file or `FormatError`, and comes soon.

``OSSUARY_DAMAGE`` sets the number of variants a file; 2000 were tried.
"""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable
from zlib import crc32

import pytest

from addon.codec import FormatError, Tagfile
from addon.codec.havok import Links, View
from tests.codec.havok.tagfile_corpus import COUNTS, Find, Sample, samples
from tests.codec.havok.tagfile_sample import make

VARIANTS = int(os.environ.get("OSSUARY_DAMAGE", "60"))
SECONDS = 2
FILES = 3  # of one binder
WORDS = tuple(bytes.fromhex(word) for word in ("ffffffff", "00000000", "ffffff7f", "01000000", "00000080", "40000000"))


def cut(data: bytearray, dice: random.Random) -> None:
    del data[dice.randrange(len(data)) :]


def spread(data: bytearray, dice: random.Random) -> None:
    for _ in range(dice.choice((1, 1, 2, 8, 64))):
        data[dice.randrange(len(data))] = dice.randrange(256)


def word(data: bytearray, dice: random.Random) -> None:
    place = dice.randrange(len(data) // 4) * 4
    data[place : place + 4] = dice.choice(WORDS)


def drop(data: bytearray, dice: random.Random) -> None:
    place = dice.randrange(len(data))
    del data[place : place + dice.randrange(1, 64)]


def table(data: bytearray, dice: random.Random) -> None:
    """Change one byte behind DATA, where types, items and patches are."""
    start = data.index(b"DATA") - 4 if b"DATA" in data else 0
    first = start + (int.from_bytes(data[start : start + 4], "big") & 0x3FFFFFFF) if start else 0
    place = dice.randrange(first, len(data))
    data[place] = dice.choice((0, 1, 0xFF, data[place] ^ 1 << dice.randrange(8)))


DAMAGE: tuple[Callable[[bytearray, random.Random], None], ...] = (cut, spread, word, drop, table, table)


def try_variants(one: Sample) -> int:
    """Read, walk and write variants of a file; return how many were refused."""
    dice = random.Random(crc32(one.name.encode()))
    errors = []
    for number in range(VARIANTS):
        data = bytearray(one.data)
        dice.choice(DAMAGE)(data, dice)
        start = time.process_time()
        try:
            tag = Tagfile.read(bytes(data), one.compendium, one.name)
            walk(tag)
            tag.write()
        except FormatError as error:
            errors.append(error)
        assert time.process_time() - start < SECONDS, f"{one.name}, variant {number}"
    assert not [str(error) for error in errors if one.name not in error.file]
    return len(errors)


def walk(tag: Tagfile) -> None:
    """Read every member of every item, following each reference one step."""
    for index in range(1, len(tag.items)):
        found = tag.item(index)
        if isinstance(found, View):
            for name in found.layout.members:
                _ = found[name]
        elif isinstance(found, Links):
            _ = list(found)


@pytest.mark.parametrize("source", COUNTS)
def test_damaged_files_of_the_corpus(corpus: Find, source: str):
    for one in samples(corpus, source)[:FILES]:
        assert try_variants(one)


def test_damaged_samples():
    assert try_variants(Sample("sample", make().write(), None)) > VARIANTS // 4
