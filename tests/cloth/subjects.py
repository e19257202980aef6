"""Cloth files to edit and to store: those of the corpus, and the project's own sample."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from addon.codec import Tagfile, read_cloth
from addon.codec.havok import cloth as records
from addon.codec.source import open_source
from tests.cloth.corpus import CLOTHS, COLLIDABLES, Sample
from tests.sample import make_sample
from tests.sample_cloth import make_sample_cloth

OWN = "sample"
SUBJECTS = (*sorted(CLOTHS), OWN)


@dataclass(frozen=True, eq=False)
class Subject:
    """A cloth file: its name and bytes, what is read of it, and the cloth with its model's file."""

    name: str
    data: bytes
    cloth: records.ClothFile
    sample: Sample

    def tag(self) -> Tagfile:
        return Tagfile.read(self.data, None, self.name)

    @property
    def sims(self) -> list[records.SimCloth]:
        return [sim for data in self.cloth for sim in data.sims]


def subject(corpus, name: str) -> Subject:
    """Return a file; skips where the corpus lacks it."""
    if name == OWN:
        return _own()
    return _subject(corpus(CLOTHS[name] if name in CLOTHS else COLLIDABLES[name]), name)


@cache
def _subject(path, name: str) -> Subject:
    members = open_source(path).members
    data = next(member.data() for member in members if member.name == name)
    model = next((member.data() for member in members if member.kind == "flver"), None)
    cloth = read_cloth(Tagfile.read(data, None, name))
    return Subject(name, data, cloth, Sample(name, cloth, model))


@cache
def _own() -> Subject:
    flver = make_sample()
    data = make_sample_cloth(flver, len(flver.meshes) - 1).write()
    cloth = read_cloth(Tagfile.read(data))
    return Subject(OWN, data, cloth, Sample(OWN, cloth, flver.write()))


def stored(subject: Subject, file: records.ClothFile) -> Tagfile:
    """Return the tagfile with other records, written and read again."""
    tag = subject.tag()
    records.store_cloth(tag, file)
    again = Tagfile.read(tag.write(), None, subject.name)
    assert not list(records.differences(file, read_cloth(again)))
    return again
