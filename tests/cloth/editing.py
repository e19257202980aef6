"""What tests of cloth edits share: tagfiles to edit, random values, and where two states differ."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache, cached_property
from pathlib import Path

import numpy as np

from addon.cloth.edits import SimValues, values_of
from addon.cloth.edits.edited import sims_of
from addon.codec import Tagfile, read_cloth
from addon.codec.havok import cloth as records
from addon.codec.source import open_source
from tests.cloth.corpus import CLOTHS
from tests.sample import make_sample
from tests.sample_cloth import make_sample_cloth

F = np.float32
BANNER = "banner"
SOURCES = [*sorted(CLOTHS), BANNER]
# cloths of every kind of constraint set and of both SDKs, for tests that try many edits on each
CLOTHS_OF_ALL_KINDS = [("HD_M_1140_c.hkx", 0), ("BD_M_2210_c.hkx", 0), ("c4500_c.hkx", 13), ("c7190_c.hkx", 3)]


@dataclass(frozen=True, eq=False)
class Source:
    """A cloth tagfile: a game's, or the sample's banner."""

    name: str
    data: bytes

    def tag(self) -> Tagfile:
        """Read it anew."""
        return Tagfile.read(self.data, None, self.name)

    @cached_property
    def cloth(self) -> records.ClothFile:
        return read_cloth(self.tag())

    @property
    def sims(self) -> list[records.SimCloth]:
        return sims_of(self.cloth)

    def stored(self, file: records.ClothFile) -> bytes:
        """Return the bytes of the tagfile with an edit in it."""
        tag = self.tag()
        records.store_cloth(tag, file)
        return tag.write()


def source(corpus, name) -> Source:
    """Return a tagfile by its name; skips where the corpus is absent."""
    return _banner() if name == BANNER else _member(corpus(CLOTHS[name]), name)


@cache
def _banner() -> Source:
    flver = make_sample()
    return Source(BANNER, make_sample_cloth(flver, len(flver.meshes) - 1).write())


@cache
def _member(path: Path, name: str) -> Source:
    data = next(member.data() for member in open_source(path).members if member.name == name)
    return Source(name, bytes(data))


def changed_items(before: bytes, after: bytes) -> dict[int, str]:
    """Return the items of two tagfiles that differ, by index, and of what class they are; there are as many in both."""
    old, new = _read(before), Tagfile.read(after)
    assert len(old.items) == len(new.items)
    found = {}
    for index, (left, right) in enumerate(zip(old.items, new.items, strict=True)):
        assert left.layout.name == right.layout.name
        if left.raw.tobytes() != right.raw.tobytes():
            found[index] = left.layout.name
    return found


@cache
def _read(data: bytes) -> Tagfile:
    return Tagfile.read(data)


def trails(old, new) -> set[str]:
    """Return where two files differ."""
    return set(records.differences(old, new))


def rows(old, new):
    """Return which rows of two arrays differ to the bit, (k,)."""
    left, right = (np.ascontiguousarray(own).view(np.uint8).reshape(len(own), -1) for own in (old, new))
    return np.flatnonzero((left != right).any(1))


def ends(constraint):
    """Return the particles of each row of a set, (rows, c)."""
    if isinstance(constraint, records.BendStiffness):
        return constraint.indices.T.astype(int)
    if isinstance(constraint, records.Links):
        return np.stack([constraint.a, constraint.b], 1).astype(int)
    if isinstance(constraint, records.Volume):
        return constraint.apply_particle[:, None].astype(int)
    return constraint.particles[:, None].astype(int)


def free_particle(values: SimValues) -> int:
    """Return a particle in the middle of the free ones."""
    free = np.flatnonzero(~values.pinned)
    return int(free[len(free) // 2])


def random_values(file, sim, random, *, pins=0) -> SimValues:
    """Return values that a user may set: all of them, particle by particle; ``pins`` particles change sides."""
    old = values_of(file, sim)
    count = len(old.mass)
    changed = old.pinned.copy()
    turned = random.choice(count, min(pins, count), replace=False)
    changed[turned] = ~changed[turned]
    some = random.random(count) < random.random()
    stiffness = tuple(
        None if own is None else np.where(random.random(own.shape) < 0.3, random.random(own.shape), own).astype(F)
        for own in old.stiffness
    )
    ranged = old.max_distance >= 0
    return replace(
        old,
        gravity=random.normal(size=3).astype(F),
        damping=F(random.random()),
        substeps=int(random.integers(1, 5)),
        landscape=bool(random.random() < 0.5),
        mass=np.where(some & ~old.pinned, old.mass * np.exp(random.normal(size=count)), old.mass).astype(F),
        radius=np.where(some, random.random(count) * 0.05, old.radius).astype(F),
        friction=np.where(some, random.random(count), old.friction).astype(F),
        mask=np.where(some, random.integers(0, 1 << 32, count), old.mask).astype(np.uint32),
        pinned=changed,
        max_distance=np.where(some & ranged, random.random(count), old.max_distance).astype(F),
        stiffness=stiffness,
    )
