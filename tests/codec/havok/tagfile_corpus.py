"""The tagfiles of the corpus, each with the compendium it needs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from addon.codec import Binder, Dcx, Tagfile

# binder or file, tagfiles and compendiums in it (one binder names two members alike)
COUNTS = {
    "sekiro/c7100.anibnd.dcx": 155,
    "sekiro/c7190.chrbnd.dcx": 2,
    "eldenring/c0000.chrbnd.dcx": 1,
    "eldenring/c4500.chrbnd.dcx": 2,
    "eldenring/bd_f_9002_l.partsbnd.dcx": 1,
    "eldenring/hd_m_1140.partsbnd.dcx": 1,
    "eldenring/hd_m_9000.partsbnd.dcx": 2,
    "eldenring/wp_a_0213.partsbnd.dcx": 1,
    "eldenring/wp_a_9008.partsbnd.dcx": 1,
    "eldenring/h_collision.hkx.dcx": 1,
    "eldenring/h_collision.compendium.dcx": 1,
    "eldenring/tool_made_collision.hkx": 1,
}
COMPENDIUMS = {"eldenring/h_collision.hkx.dcx": "eldenring/h_collision.compendium.dcx"}
TOOL_MADE = "eldenring/tool_made_collision.hkx"
Find = Callable[[str], Path]


@dataclass(frozen=True)
class Sample:
    """A tagfile or compendium of the corpus."""

    name: str
    data: bytes
    compendium: bytes | None

    def read(self) -> Tagfile:
        return Tagfile.read(self.data, self.compendium, self.name)


def samples(corpus: Find, source: str) -> list[Sample]:
    """Return the tagfiles in a file of the corpus; skips the test where its compression is not supported."""
    found = [(name, data) for name, data in members(corpus, source) if data[4:8] in {b"TAG0", b"TCM0"}]
    compendium = next((data for _, data in found if data[4:8] == b"TCM0"), None)
    if source in COMPENDIUMS:
        compendium = samples(corpus, COMPENDIUMS[source])[0].data
    return [Sample(name, data, compendium if b"TCRF" in data[: 1 << 20] else None) for name, data in found]


def members(corpus: Find, source: str) -> list[tuple[str, bytes]]:
    """Return what a file of the corpus holds: the entries of a binder, else itself."""
    data = corpus(source).read_bytes()
    if source.endswith(".dcx"):
        data = Dcx.read(data, source).content
    if data[:4] != b"BND4":
        return [(source.rsplit("/", maxsplit=1)[-1], data)]
    return [(entry.name.split("\\")[-1], bytes(entry.data)) for entry in Binder.read(data, source).entries]


def sample(corpus: Find, source: str, name: str) -> Sample:
    """Return one tagfile by its name."""
    return next(one for one in samples(corpus, source) if one.name == name)
