"""Damaged files give a model or a FormatError: no other error, no warning, in little time and memory."""

from __future__ import annotations

import time
import tracemalloc
import warnings
from collections.abc import Callable

import numpy as np
import pytest

from addon.codec import Binder, Dcx, FormatError, SplitBinder
from addon.codec.binder import Entry
from addon.codec.dds import Dds
from addon.codec.flver import Flver
from addon.codec.matbin import Matbin
from addon.codec.mtd import Mtd
from addon.codec.tpf import Tpf
from addon.model import dummy_frames, findings, node_matrices, place_mesh
from tests.models import small_model
from tests.sample import make_sample
from tests.textures import MATERIAL, dds, make_matbin, make_mtd, make_tpf

CHANGES = 5000
SECONDS = 1.0
MEMORY = 10  # times the file
SMALL = 1 << 16  # bytes that the objects of even the smallest model take
MEASURED = 200  # changes of which the memory is measured, since that takes long


def small_binder() -> Binder:
    binder = Binder.new()
    for i, version in enumerate((0x2001A, 0x20014)):
        binder.entries.append(Entry(f"N:\\{i}.flver", small_model(version).write(), id=200 + i))
    return binder


def open_flver(data: bytes) -> None:
    """Do all that the importer does with a model before it makes something of it."""
    flver = Flver.read(data)
    positions = []
    matrices = node_matrices(flver.nodes)
    for i, mesh in enumerate(flver.meshes):
        try:
            vertices = flver.vertices(i)
            positions.append(place_mesh(flver, mesh, vertices, matrices)[0])
        except FormatError:
            continue
        for j in range(len(mesh.face_sets)):
            try:
                triangles = flver.triangles(i, j)
            except FormatError:
                continue
            assert not len(triangles) or triangles.max() < len(vertices.positions)
    findings(flver, positions)
    dummy_frames(flver.dummies, matrices)


def open_binder(data: bytes) -> None:
    for entry in Binder.read(data).entries:
        assert entry.basename is not None
        bytes(entry.data)


def open_split(data: bytes) -> None:
    header, body = data[: len(SPLIT[0])], data[len(SPLIT[0]) :]
    SplitBinder.read(header, body)


def open_dcx(data: bytes) -> None:
    Dcx.read(data)


FLVER = small_model().write()
OLD_FLVER = small_model(0x20007, big_endian=True, unicode=0).write()
BINDER = small_binder().write()
SPLIT = SplitBinder(SplitBinder.new().header, SplitBinder.new().data_header, small_binder().entries).write()
DCX = Dcx.new(BINDER).write()
FILES: dict[str, tuple[Callable[[bytes], None], bytes]] = {
    "flver": (open_flver, FLVER),
    "old flver": (open_flver, OLD_FLVER),
    "binder": (open_binder, BINDER),
    "split binder": (open_split, b"".join(SPLIT)),
    "dcx": (open_dcx, DCX),
    "tpf": (lambda data: Tpf.read(data).write(), make_tpf({"a_a": dds(8, 8), "a_n": dds(4, 4)})),
    "dds": (Dds.read, dds(8, 8)),
    "mtd": (lambda data: Mtd.read(data).write(), make_mtd(MATERIAL)),
    "matbin": (lambda data: Matbin.read(data).write(), make_matbin(MATERIAL)),
}
every_file = pytest.mark.parametrize("kind", FILES)


def attempt(opener: Callable[[bytes], None], data: bytes, what: str) -> bool:
    """Open a file; return whether it could be read, fail on anything but a FormatError."""
    start = time.perf_counter()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            opener(data)
    except FormatError:
        return False
    except Exception as error:
        raise AssertionError(what) from error
    finally:
        assert time.perf_counter() - start < SECONDS, what
    return True


def changes(data: bytes, count: int, seed: int):
    """Yield ``count`` copies with one to four bytes changed: to any value, or to one that numbers end at."""
    random = np.random.default_rng(seed)
    for _ in range(count):
        copy = bytearray(data)
        places = random.integers(0, len(copy), random.integers(1, 5))
        for place in places:
            copy[place] = random.choice((0, 1, 0x7F, 0x80, 0xFF, random.integers(0, 256)))
        yield bytes(copy), f"bytes {[(int(place), copy[place]) for place in places]}"


@every_file
def test_every_truncation(kind):
    opener, data = FILES[kind]
    assert attempt(opener, data, "the whole file")
    for length in range(len(data)):
        attempt(opener, data[:length], f"{length} bytes")


@every_file
def test_changed_bytes(kind):
    opener, data = FILES[kind]
    read = sum(attempt(opener, copy, what) for copy, what in changes(data, CHANGES, 1))
    assert kind == "dcx" or 0 < read < CHANGES


@every_file
def test_every_number_made_huge(kind):
    opener, data = FILES[kind]
    for offset in range(0, len(data) - 3, 4):
        for value in (b"\xff\xff\xff\x7f", b"\xff\xff\xff\xff", b"\x00\x00\x00\x80", b"\x00\x00\x01\x00"):
            number = value[::-1] if kind in ("old flver", "dcx") else value
            attempt(opener, data[:offset] + number + data[offset + 4 :], f"{number.hex()} at {offset}")


@every_file
def test_memory_stays_in_proportion(kind):
    opener, data = FILES[kind]
    for copy, what in [(data, "the whole file"), *changes(data, MEASURED, 2)]:
        assert peak(opener, copy, what) < MEMORY * len(data) + SMALL, what


def test_memory_stays_in_proportion_for_a_whole_model():
    data = make_sample().write()
    table = data[: int.from_bytes(data[0x0C:0x10], "little")]
    for copy, what in [(table, "the whole file"), *changes(table, MEASURED, 3)]:
        assert peak(open_flver, copy + data[len(table) :], what) < MEMORY * len(data), what


def peak(opener: Callable[[bytes], None], data: bytes, what: str) -> int:
    tracemalloc.start()
    try:
        attempt(opener, data, what)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
