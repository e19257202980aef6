"""Kraken: vectors, real files, streams made to order, and what the writer writes."""

from __future__ import annotations

import base64
import hashlib
import json
import random
import re
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from addon.codec import Dcx, FormatError, kraken
from addon.codec.dcx import HEADER, is_dcx
from addon.codec.kraken.bits import BitTable
from tests.reference import kraken_plain
from tests.reference.kraken_streams import Command, Form, block, huffman, tans

VECTORS = json.loads((Path(__file__).parent.parent / "data" / "kraken-vectors.json").read_text("ascii"))
REAL = (
    "eldenring/bd_f_9002_l.partsbnd.dcx",
    "eldenring/c4500.chrbnd.dcx",
    "eldenring/h_collision.compendium.dcx",
    "eldenring/h_collision.hkx.dcx",
    "eldenring/hd_m_1140.partsbnd.dcx",
    "eldenring/wp_a_0213.partsbnd.dcx",
    "sekiro/allmaterialbnd.mtdbnd.dcx",
    "sekiro/c5061.anibnd.dcx",
    "sekiro/m25_00_00_00_599010.mapbnd.dcx",
)
BLOCK = 0x40000


def sha256(data):
    return hashlib.sha256(data).hexdigest()


def both(payload, size):
    """Decode with both decoders; return the content they agree on."""
    content = kraken.decode(payload, size)
    assert content == kraken_plain.decode(payload, size)
    return content


def refused(payload, size, words="damaged"):
    """Check that both decoders turn a payload down."""
    with pytest.raises(FormatError, match=words):
        kraken.decode(payload, size)
    with pytest.raises(kraken_plain.MalformedError):
        kraken_plain.decode(payload, size)


@pytest.mark.parametrize("vector", VECTORS, ids=[vector["name"] for vector in VECTORS])
def test_vector(vector):
    content = both(base64.b64decode(vector["stream"]), vector["size"])
    assert len(content) == vector["size"]
    assert sha256(content) == vector["sha256"]


@pytest.mark.parametrize("name", REAL)
def test_real_file(corpus, name):
    readme = corpus("README.md").read_text("utf-8")
    expected = re.search(rf"\| `{re.escape(name)}` \| \d+ \| KRAK \| (\d+) \| `(\w+)`", readme)
    data = corpus(name).read_bytes()
    dcx = Dcx.read(data)
    assert dcx.codec == "KRAK"
    assert (len(dcx.content), sha256(dcx.content)) == (int(expected[1]), expected[2])
    assert kraken_plain.decode(data[HEADER.size :], len(dcx.content)) == dcx.content


def test_all_real_files_are_tested(corpus):
    readme = corpus("README.md").read_text("utf-8")
    assert sorted(REAL) == sorted(re.findall(r"\| `(\S+)` \| \d+ \| KRAK ", readme))


EARLIER = bytes(range(1, 252)) * 1100


@st.composite
def commands(draw, window):
    """Draw commands that a window of so many bytes allows, with a match at the end that makes up for all literals."""
    drawn = []
    for _ in range(draw(st.integers(0, 40))):
        literals = draw(st.binary(max_size=9)) * draw(st.sampled_from([1, 1, 1, 3, 50]))
        window += len(literals)
        again = [st.sampled_from([command.distance for command in drawn[-3:]])] if drawn else []
        distance = draw(st.one_of(st.integers(8, min(window, 40)), st.integers(8, window), *again))
        size = draw(st.one_of(st.integers(2, 40), st.integers(250, 2000)))
        drawn.append(Command(literals, size, distance))
        window += size
    rest = sum(len(command.literals) + 20 for command in drawn) + 200
    return [*drawn, Command(b"", rest, draw(st.integers(8, window)))]


FORMS = st.builds(Form, st.booleans(), st.sampled_from([0, 0, 1, 2, 16, 100, 128]), st.booleans())


@given(st.data(), FORMS, st.binary(max_size=30))
def test_first_block(data, form, tail):
    window = bytearray()
    payload = block(window, data.draw(commands(8)), tail, form, restart=True)
    assert both(payload, len(window)) == window


@given(st.data(), FORMS, st.binary(max_size=30), st.booleans())
def test_later_block(data, form, tail, restart):
    earlier = EARLIER[:BLOCK]
    window = bytearray() if restart else bytearray(earlier)
    payload = block(window, data.draw(commands(8 if restart else BLOCK)), tail, form, restart=restart)
    content = earlier + window if restart else window
    assert both(b"\xcc\x06" + earlier + payload, len(content)) == content


def test_match_across_a_restart_is_refused():
    window = bytearray(EARLIER[:BLOCK])
    drawn = [Command(b"abc", 300, 5000)]
    joined = block(window, drawn, b"", Form(), restart=False)
    both(b"\xcc\x06" + EARLIER[:BLOCK] + joined, len(window))
    refused(b"\xcc\x06" + EARLIER[:BLOCK] + b"\x8c" + joined[1:], len(window))


def test_far_offsets():
    window, payload = bytearray(), b""
    for index in range(40):
        payload += b"\x4c\x06" + EARLIER[:BLOCK] if index in {1, 7} else bytes([0x0C, 6, 7, 255, 255, index])
        window += EARLIER[:BLOCK] if index in {1, 7} else bytes([index]) * BLOCK
    drawn = [Command(b"xyz", 200, 8400000), Command(b"", 90, 10000001), Command(b"q", 700, 8388616)]
    assert [window[len(window) - command.distance] for command in drawn].count(window[-1]) == 0
    payload += block(window, drawn, b"end", Form(), restart=False)
    assert both(payload, len(window)) == window


@pytest.mark.parametrize(("distance", "legal"), [(11, True), (12, False)])
def test_match_from_the_start_of_the_window(distance, legal):
    window = bytearray()
    payload = block(window, [Command(b"abc", 300, 11)], b"", Form(), restart=True)
    code = 11 + 248 & 15
    assert payload.count(b"\x00\x00\x01" + bytes([code])) == 1
    payload = payload.replace(b"\x00\x00\x01" + bytes([code]), b"\x00\x00\x01" + bytes([distance + 248 & 15]))
    if legal:
        assert both(payload, len(window)) == window
    else:
        refused(payload, len(window), "window")


def test_long_excess_stream():
    window = bytearray()
    drawn = [Command(bytes(300), 1000 + index, 8 + index) for index in range(60)]
    payload = block(window, drawn, b"", Form(excess=True), restart=True)
    assert both(payload, len(window)) == window


@pytest.mark.parametrize("lengths", ["01", "11"])
def test_huffman_lengths_that_make_no_code(lengths):
    table = f"0000000010001{65:08b}{lengths[0]}{66:08b}{lengths[1]}0"
    source = int(table, 2).to_bytes(4, "big") + b"\x05\x00" + bytes(20)
    refused(quantum(array(2, 100, source)), 100, "make no code")


def test_distance_below_8_is_refused():
    window = bytearray()
    payload = block(window, [Command(b"abc", 300, 7)], b"", Form(scale=1), restart=True)
    refused(payload, len(window), "window")


def test_short_blocks():
    assert both(b"", 0) == b""
    assert both(b"\x8c\x06\x00\x00\x04abcde", 5) == b"abcde"
    assert both(b"\xcc\x07abcde", 5) == b"abcde"
    assert both(b"\x8c\x86\x07\xff\xffz", 5) == b"zzzzz"


def array(kind, count, source):
    """Return an entropy-coded array with a long header."""
    return (kind << 36 | (count - 1) << 18 | len(source)).to_bytes(5, "big") + source


def quantum(body):
    return b"\x8c\x06" + (len(body) - 1).to_bytes(3, "big") + body


def test_stored_chunk_beside_a_filled_one():
    part = EARLIER[: BLOCK >> 1]
    body = (1 << 23 | len(part)).to_bytes(3, "big") + part + array(3, len(part), b"x")
    assert both(quantum(body), BLOCK) == part + b"x" * len(part)


@pytest.mark.parametrize("count", [2, 3, 9, 10, 57, 200, 255, 256])
@pytest.mark.parametrize("log", [9, 10, 11])
def test_tans(log, count):
    chance = random.Random(f"{log} {count}")
    edges = [0, *sorted(chance.sample(range(1, 1 << log), count - 1)), 1 << log]
    symbols = chance.sample(range(256), count) if count < 10 else range(count)
    weights = {symbol: stop - start for symbol, start, stop in zip(symbols, edges, edges[1:], strict=False)}
    content = bytes(chance.choices(list(weights), list(weights.values()), k=400 + chance.randrange(10)))
    content += bytes([max(weights, key=weights.get)]) * 4000
    assert both(quantum(tans(content, weights, log)), len(content)) == content


def test_tans_of_few_states():
    weights = {3: 1, 200: 5, 4: 250}
    content = bytes([3, 200, 4, 4, 4, 200]) + b"\x04" * 500 + b"\x03"
    assert both(quantum(tans(content, weights, 8)), len(content)) == content


def test_run_commands():
    literals = bytes(range(1, 241)) * 2
    pieces = [
        (b"\x00", 15, 0),
        (b"\x3f", 0, 3),
        (b"\xf5", 10, 15),
        (b"\xc3\x10", 3, 3),
        (b"\xff\x2f", 63, 127),
        (b"\x00\x09", 0, 128),
        (b"\x01\x0a", 0, 128 * 258),
        (b"\x00\x02", 64, 0),
        (b"\x03\x02", 256, 0),
    ]
    front, back, content, taken = b"", b"", b"", 0
    for fill, (control, copied, filled) in enumerate(pieces, 65):
        part = literals[taken : taken + copied]
        taken += copied
        front += bytes([fill]) + part
        back = control + b"\x01" + back
        content += part + bytes([fill]) * filled
    source = array(3, len(content), b"\x00" + front + back)
    assert both(quantum(source), len(content)) == content


def nested(depth):
    """Return (array, content): run lengths whose commands are an array of the same kind, and so on."""
    data, content = array(3, 64, b"a"), b"a" * 64
    for _ in range(depth):
        copy = 0x1FF + len(content) // 64
        content += bytes(64)
        data = array(3, len(content), data + b"\x00\x20" + copy.to_bytes(2, "little"))
    return data, content


def test_nesting_has_a_limit():
    data, content = nested(8)
    assert both(quantum(data), len(content)) == content
    data, content = nested(9)
    refused(quantum(data), len(content), "nested too deep")


CODES = {
    "skewed": {**{symbol: symbol for symbol in range(1, 11)}, 11: 11, 12: 11},
    "flat": dict.fromkeys(range(16), 4),
    "even lengths": {0: 2, 1: 2, 2: 2, **dict.fromkeys(range(3, 19), 6)},
    "nearly flat": {0: 6, **dict.fromkeys(range(1, 127), 7)},
    "two": {7: 1, 9: 1},
}


@pytest.mark.parametrize("halves", [False, True])
@pytest.mark.parametrize("count", [3000, 3001, 3002, 0x20000])
@pytest.mark.parametrize("name", CODES)
def test_huffman_streams(name, count, halves):
    lengths = CODES[name]
    weights = [2.0**-length for length in lengths.values()]
    content = bytes(random.Random(f"{name}{count}").choices(list(lengths), weights, k=count))
    assert both(quantum(huffman(content, lengths, halves=halves)), count) == content


@pytest.mark.parametrize("low_bits", [0, 1, 2, 3])
def test_dense_tables(low_bits):
    chance = random.Random(low_bits)
    lengths = list(CODES["skewed"].values())
    while len(lengths) < 200:  # split a code into two longer ones
        length = lengths.pop(chance.choice([at for at, length in enumerate(lengths) if length < 11]))
        lengths += [length + 1, length + 1]
    chance.shuffle(lengths)
    symbols = sorted(chance.sample(range(256), len(lengths)))
    code = dict(zip(symbols, lengths, strict=True))
    content = bytes(chance.choices(symbols, [2.0**-length for length in lengths], k=20_000))
    assert both(quantum(huffman(content, code, halves=False, dense=low_bits)), len(content)) == content


@pytest.mark.parametrize("long", [0, 1, 2])
def test_huffman_streams_of_unlike_size(long):
    content = bytearray(b"\x01" * 0x20000)
    content[long::3] = bytes(random.Random(long).choices([11, 12], k=len(content[long::3])))
    assert both(quantum(huffman(content, CODES["skewed"], halves=True)), len(content)) == content


def test_huffman_code_that_changes_on_the_way():
    content = b"\x0b" * 0x8000 + b"\x01" * 0x18000
    assert both(quantum(huffman(content, CODES["skewed"], halves=False)), len(content)) == content
    content = b"\x01" * 0x18000 + b"\x0b" * 0x8000
    assert both(quantum(huffman(content, CODES["skewed"], halves=False)), len(content)) == content


@pytest.mark.parametrize(("composites", "fits"), [(8, True), (60, False)])
def test_arrays_have_a_limit(composites, fits):
    one = array(5, 10 * 127, bytes([127]) + array(3, 10, b"x") * 127)
    size = composites * 10 * 127
    payload = quantum(array(5, size, bytes([composites]) + one * composites))
    if fits:
        assert both(payload, size) == b"x" * size
    else:
        with pytest.raises(FormatError, match="too many"):
            kraken.decode(payload, size)


def test_lzb16_special_quanta():
    tiny = b"\x00\x08" + b"\x73abc\x03\x00" + b"\x02yz"
    payload = b"\x8c\x02" + b"\x7f\xffz" + b"\xbf\xff" + EARLIER[:0x4000] + tiny
    content = b"z" * 0x4000 + EARLIER[:0x4000] + b"abcabcabcabcab" + b"yz"
    assert both(payload, len(content)) == content


def test_lzb16_lengths():
    literals = bytes(range(100, 120))
    body = b"\xff\x05" + literals + b"\x0a\x14\x00"  # 20 literals, 29 bytes from 20
    body += b"\xf0\x8a"  # 5 bytes from 2
    body += b"\xf1x\xfb\x07"  # a literal, 26 bytes from 3
    body += b"\x02yz"
    content = bytearray(literals)
    for size, distance, more in ((29, 20, b""), (5, 2, b"x"), (26, 3, b"yz")):
        for _ in range(size):
            content.append(content[-distance])
        content += more
    payload = b"\x8c\x02" + (len(body) - 1).to_bytes(2, "big") + body
    assert both(payload, len(content)) == content


@pytest.mark.parametrize("size", [0, 1, 15, BLOCK - 1, BLOCK, BLOCK + 1, 525065])
def test_writer(size):
    content = (EARLIER * 2)[:size]
    payload = kraken.encode(content)
    assert len(payload) == size + 2 * -(-size // BLOCK)
    assert both(payload, size) == content


@pytest.mark.parametrize("size", [0, 5, BLOCK + 7])
def test_krak_file(size):
    content = (EARLIER * 2)[:size]
    data = Dcx.new(content, "KRAK").write()
    assert len(data) % 16 == 0
    stored = int.from_bytes(data[0x20:0x24], "big")
    assert stored == size + 2 * -(-size // BLOCK)
    assert HEADER.size + stored <= len(data) < HEADER.size + stored + 16
    again = Dcx.read(data)
    assert (again.codec, again.content, again.write()) == ("KRAK", content, data)


def test_new_files_are_dflt():
    assert Dcx.new(b"content").codec == "DFLT"


def test_bytes_behind_the_stream():
    payload = kraken.encode(b"content")
    assert both(payload + bytes(15), 7) == b"content"
    refused(payload + b"\0\1", 7, "bytes follow")
    refused(payload, 8)
    refused(payload, 6)


@pytest.mark.parametrize(
    ("codec", "name"), [(5, "LZNA"), (10, "Mermaid"), (11, "BitKnit"), (12, "Leviathan"), (9, "9")]
)
def test_other_oodle_codecs_are_named(codec, name):
    refused(bytes([0x8C, codec]) + bytes(40), 1000, name)


@pytest.mark.parametrize(("codec", "words"), [("ZSTD", "ZSTD.*DFLT"), ("EDGE", "EDGE.*DFLT"), ("ABCD", "ABCD.*DFLT")])
def test_codecs_that_cannot_be_read_are_named(codec, words):
    data = Dcx.new(b"content").write().replace(b"DFLT", codec.encode("ascii"))
    with pytest.raises(FormatError, match=words) as caught:
        Dcx.read(data, "some.dcx")
    assert (caught.value.file, caught.value.offset) == ("some.dcx", 0x28)


def test_codecs_that_cannot_be_written_are_named():
    with pytest.raises(FormatError, match=r"ZSTD.*DFLT or KRAK"):
        Dcx.new(b"content", "ZSTD").write()


def test_early_wrapper_is_named():
    data = b"DCP\0DFLT" + bytes(100)
    assert is_dcx(data)
    with pytest.raises(FormatError, match=r"DCP.*DFLT"):
        Dcx.read(data)


def test_progress():
    steps = []
    Dcx.read(Dcx.new(EARLIER * 4, "KRAK").write(), progress=steps.append)
    assert steps == sorted(steps)
    assert len(steps) > 3
    assert steps[0] > 0
    assert steps[-1] == pytest.approx(1)


def test_errors_have_a_place():
    data = bytearray(Dcx.new(EARLIER * 2, "KRAK").write())
    data[HEADER.size + BLOCK + 2] = 0
    with pytest.raises(FormatError) as caught:
        Dcx.read(data, "broken.dcx")
    assert (caught.value.file, caught.value.offset) == ("broken.dcx", HEADER.size + BLOCK + 2)


def test_announced_size_is_not_believed():
    payload = kraken.encode(b"content")
    tracemalloc.start()
    refused(payload, 0xFFFFFFFF)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1 << 20


def test_bit_tables_leave_no_gap():
    with pytest.raises(ValueError, match="stands at bit 4"):
        BitTable("gap", 8, ((0, 3, "a", ""), (4, 4, "b", "")))
    with pytest.raises(ValueError, match="7 bits of 8"):
        BitTable("short", 8, ((0, 7, "a", ""),))
