"""Damaged Kraken payloads: output of the right size or `FormatError`, in bounded time, as the plain decoder has it.

``OSSUARY_DAMAGE`` sets how many payloads are tried in all.
"""

from __future__ import annotations

import base64
import json
import os
import random
import time
from pathlib import Path

import pytest

from addon.codec import FormatError, kraken
from addon.codec.dcx import HEADER
from tests.reference import kraken_plain
from tests.reference.kraken_streams import Command, Form, block

VECTORS = json.loads((Path(__file__).parent.parent / "data" / "kraken-vectors.json").read_text("ascii"))
FILES = (
    "eldenring/h_collision.compendium.dcx",
    "eldenring/h_collision.hkx.dcx",
    "eldenring/hd_m_1140.partsbnd.dcx",
)
COUNT = int(os.environ.get("OSSUARY_DAMAGE", "3000"))
FORMS = [Form(delta, scale, excess) for delta in (False, True) for scale in (0, 1, 36) for excess in (False, True)]
SHARE = -(-COUNT // (len(VECTORS) + len(FORMS) + len(FILES) + 1))
SECONDS = 2.0  # of processor time; a whole decode of the largest file takes a tenth of it
COMPARED = 300_000  # bytes of the largest payload that the plain decoder is given too


def changed(chance, data):
    """Return a copy with some bytes changed."""
    data = bytearray(data)
    reach = chance.choice((16, 64, 512, len(data)))
    for _ in range(chance.choice((1, 1, 1, 2, 5))):
        place = chance.randrange(min(reach, len(data)))
        data[place] = chance.choice((chance.randrange(256), data[place] ^ 1 << chance.randrange(8), 0, 255))
    return bytes(data)


def spoiled(chance, data):
    """Return a copy with a run of bytes replaced, taken out or put in."""
    place = chance.randrange(len(data))
    size = chance.randrange(1, 40)
    return data[:place] + chance.randbytes(chance.choice((0, size, size + 1))) + data[place + size :]


def cut(chance, data):
    """Return the front of the data."""
    return data[: chance.randrange(len(data))]


def check(payload, size):
    start = time.process_time()
    try:
        content = kraken.decode(payload, size)
    except FormatError:
        content = None
    assert time.process_time() - start < SECONDS
    assert content is None or len(content) == size
    if len(payload) > COMPARED:
        return
    try:
        assert content == kraken_plain.decode(payload, size)
    except kraken_plain.MalformedError:
        assert content is None


def check_all(name, payload, size):
    chance = random.Random(name)
    for _ in range(SHARE):
        damage = chance.choice((changed, changed, changed, spoiled, cut))
        announced = size if chance.randrange(10) else chance.choice((size + 1, size - 1, 2 * size, 0, 0xFFFFFFFF))
        check(damage(chance, payload), announced)


@pytest.mark.parametrize("vector", VECTORS, ids=[vector["name"] for vector in VECTORS])
def test_damaged_vector(vector):
    check_all(vector["name"], base64.b64decode(vector["stream"]), vector["size"])


@pytest.mark.parametrize("form", FORMS, ids=str)
def test_damaged_made_to_order(form):
    window = bytearray()
    steps = [Command(b"literals", 300, 8), Command(b"", 9, 100), Command(b"ab" * 200, 700, 8), Command(b"c", 40, 333)]
    payload = block(window, steps, b"the end", form, restart=True)
    assert kraken.decode(payload, len(window)) == window
    check_all(str(form), payload, len(window))


def test_damaged_block(corpus):
    data = corpus(FILES[-1]).read_bytes()[HEADER.size :]
    check_all("block", data[: 6 + (int.from_bytes(data[2:5], "big") & 0x3FFFF)], 0x40000)


@pytest.mark.parametrize("name", FILES)
def test_damaged_file(corpus, name):
    data = corpus(name).read_bytes()
    size, stored = (int.from_bytes(data[at : at + 4], "big") for at in (0x1C, 0x20))
    check_all(name, data[HEADER.size : HEADER.size + stored], size)
