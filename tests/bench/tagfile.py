"""How fast tagfiles are read and written, beside the plain reader of the tests.

Both readers give the same: the plain one every number as a Python object, the codec every array as a numpy view of all
its members. Real files where they are at hand, and a file made here with arrays of a million elements.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from addon.codec import Binder, Dcx, Tagfile
from tests.codec.havok.tagfile_sample import make
from tests.conftest import CORPUS
from tests.reference import tagfile_plain

MILLION = 1_000_000


def run() -> None:
    """Print seconds for reading and writing, and how many times faster than the plain reader reading is."""
    print(f"{'':34} {'read':>10} {'write':>10} {'plain':>10} {'faster':>8}")
    cloth, binder = CORPUS / "sekiro/c7190.chrbnd.dcx", CORPUS / "sekiro/c7100.anibnd.dcx"
    if cloth.exists() and binder.exists():
        members = {entry.name.split("\\")[-1]: bytes(entry.data) for entry in open_binder(cloth.read_bytes())}
        show("c7190_c.hkx", [members["c7190_c.hkx"]], None)
        entries = [entry.data for entry in open_binder(binder.read_bytes())]
        tagfiles = [bytes(data) for data in entries if data[4:8] == b"TAG0"]
        compendium = next(bytes(data) for data in entries if data[4:8] == b"TCM0")
        show(f"c7100.anibnd, {len(tagfiles)} tagfiles", tagfiles, compendium)
        show_arrays("arrays of c7190_c.hkx", members["c7190_c.hkx"])
    else:
        print(f"no real files below {CORPUS}")
    tag = make()
    thing = next(tag.find("Thing"))
    thing["points"] = np.zeros((MILLION, 4), "f4")
    data = tag.write()
    show("a million vectors", [data], None)
    show_arrays("arrays of a million vectors", data)


def open_binder(data: bytes) -> list:
    return Binder.read(Dcx.read(data).content).entries


def show(title: str, files: list[bytes], compendium: bytes | None) -> None:
    """Print one line: whole files, every item of them."""
    codec = seconds(lambda: [every_value(Tagfile.read(data, compendium)) for data in files])
    tags = [Tagfile.read(data, compendium) for data in files]
    write = seconds(lambda: [tag.write() for tag in tags])
    plain = seconds(lambda: [tagfile_plain.read(data, compendium) for data in files], 1)
    print(f"{title:34} {codec:9.4f}s {write:9.4f}s {plain:9.3f}s {plain / codec:7.1f}x")


def show_arrays(title: str, data: bytes) -> None:
    """Print one line: the arrays of at least 1,000 elements alone, their file open."""
    tag, types, start = Tagfile.read(data), tagfile_plain.read_types(data), tagfile_plain.sections(data)["DATA"][0]
    places = [item.offset + start for item in tagfile_plain.read(data)]
    big = [index for index, item in enumerate(tag.items) if len(item) >= 1000]

    def plain() -> None:
        for index in big:
            layout = tag.items[index].layout
            for step in range(len(tag.items[index])):
                tagfile_plain.read_value(data, types, layout.index, places[index] + step * layout.size)

    codec, slow = seconds(lambda: [tag.items[index].values.copy() for index in big]), seconds(plain, 1)
    print(f"{title:34} {codec:9.4f}s {'':10} {slow:9.3f}s {slow / codec:7.0f}x")


def every_value(tag: Tagfile) -> None:
    for item in tag.items[1:]:
        _ = item.values


def seconds(work: Callable[[], object], rounds: int = 3) -> float:
    """Return the shortest of some runs."""
    best = float("inf")
    for _ in range(rounds):
        start = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - start)
    return best
