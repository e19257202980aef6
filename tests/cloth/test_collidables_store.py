"""Collidables written back into their tagfile, read again, and what goes with them in the file."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from addon.cloth.edits.collidables import (
    PlacedCollidable,
    capsule,
    new_collidable,
    placed_collidables,
    sphere,
    tapered_capsule,
    with_collidables,
)
from addon.cloth.vectors import IDENTITY
from addon.codec import FormatError, Tagfile, read_cloth
from addon.codec.havok import cloth as records
from addon.codec.havok.tagfile import TCRF
from tests.cloth.corpus import COLLIDABLES
from tests.cloth.subjects import OWN, SUBJECTS, stored, subject

F = np.float32
SHARED = "BD_M_2210_c.hkx"
SHAPES = {
    "sphere": sphere((0.1, 0.2, 0.3), 0.4),
    "capsule": capsule((0, 0.1, 0), (0.2, 0.5, 0), 0.1),
    "tapered": tapered_capsule((0, 0.1, 0), (0.2, 0.5, 0), 0.1, 0.2),
}


@pytest.fixture(params=SUBJECTS)
def one(request, corpus):
    return subject(corpus, request.param)


def cloth_objects(tag):
    return [view for view in tag.find("hclClothData") if not view.values.ndim]


def sim_objects(tag):
    return [view for data in cloth_objects(tag) for view in data.links("simClothDatas").views()]


def added(one, sims, names=tuple(SHAPES)):
    bone = one.cloth.skeleton.bones[3]
    new = [PlacedCollidable(new_collidable(name, SHAPES[name]), bone, IDENTITY, frozenset(sims)) for name in names]
    made = with_collidables(one.cloth, [*placed_collidables(one.cloth), *new])
    assert not made.refusals
    return made.file


def test_untouched_is_the_same_file(one):
    tag = one.tag()
    records.store_cloth(tag, one.cloth)
    assert tag.write() == one.data


def test_new_ones_of_every_shape(one):
    """Of classes that the file's own type table may not even know."""
    file = added(one, range(len(one.sims)))
    again = stored(one, file)
    found = {view.text("name"): view for view in again.find("hclCollidable") if not view.values.ndim}
    assert {found[name].one("shape").layout.name for name in SHAPES} == {
        "hclSphereShape", "hclCapsuleShape", "hclTaperedCapsuleShape",
    }  # fmt: skip
    for sim in sim_objects(again):
        assert [view.item for view in sim.links("perInstanceCollidables").views()][-3:] == [
            found[name].item for name in SHAPES
        ]
    tapered = found["tapered"].one("shape")
    assert (tapered["lVec"] == tapered["l"]).all()
    assert (tapered["dVec"] == tapered["d"]).all()
    assert (tapered["tanThetaVecNeg"] == -tapered["tanTheta"]).all()
    assert found["sphere"].values["transform"][15] == 1
    # everything else is as it was
    assert again.write() == again.write()
    before = with_collidables(file, [own for own in placed_collidables(file) if own.record.name not in SHAPES]).file
    records.store_cloth(again, before)
    assert not list(records.differences(one.cloth, read_cloth(Tagfile.read(again.write()))))


@pytest.mark.parametrize("name", [SHARED, "c7190_c.hkx", OWN])
def test_moved_resized_renamed_removed(corpus, name):
    one = subject(corpus, name)
    placed = list(placed_collidables(one.cloth))
    offset = placed[-1].offset.copy()
    offset[:3, 3] += F(0.05)
    record = replace(placed[-1].record, name="another name", shape=SHAPES["capsule"], enabled=False)
    placed[-1] = replace(placed[-1], offset=offset, record=record, bone=one.cloth.skeleton.bones[1])
    stored(one, with_collidables(one.cloth, placed).file)
    stored(one, with_collidables(one.cloth, placed[:-1]).file)
    stored(one, with_collidables(one.cloth, []).file)
    stored(one, with_collidables(one.cloth, placed[::-1]).file)


def test_a_moved_one_changes_its_own_numbers_only(corpus):
    one = subject(corpus, SHARED)
    placed = list(placed_collidables(one.cloth))
    offset = placed[1].offset.copy()
    offset[:3, 3] += F(0.05)
    tag = stored(one, with_collidables(one.cloth, [placed[0], replace(placed[1], offset=offset), *placed[2:]]).file)
    before = one.tag()
    assert len(before.items) == len(tag.items)
    changed = [
        (index, old, new)
        for index, (old, new) in enumerate(zip(before.items, tag.items, strict=True))
        if old.raw.tobytes() != new.raw.tobytes()
    ]
    # the collidable's transform, and the offset in each of its cloths
    assert sorted(old.layout.name for _, old, _ in changed) == ["hclCollidable", *["hkMatrix4"] * len(placed[1].sims)]
    for _, old, new in changed:
        differing = np.flatnonzero(old.raw.view("<f4") != new.raw.view("<f4"))
        assert len(differing) <= 3


def test_a_shared_one_that_parts_is_two_objects(corpus):
    one = subject(corpus, SHARED)
    placed = placed_collidables(one.cloth)
    wide = replace(placed[0].record, shape=SHAPES["capsule"])
    parted = [replace(placed[0], sims=frozenset({0}), record=wide), replace(placed[0], sims=frozenset({1}))]
    again = stored(one, with_collidables(one.cloth, [*parted, *placed[1:]]).file)
    first, second = (
        [view.item for view in sim.links("perInstanceCollidables").views()] for sim in sim_objects(again)[:2]
    )
    assert first[0] != second[0]
    assert first[1:] == second[1:]
    file = read_cloth(again)
    assert len(placed_collidables(file)) == len(placed) + 1
    # and one that both get is one object
    shared = read_cloth(stored(one, added(one, [0, 1], ["sphere"])))
    assert shared[0].sims[0].collidables[-1] is shared[1].sims[0].collidables[-1]
    assert placed_collidables(shared)[5].record.name == "sphere"
    assert placed_collidables(shared)[5].sims == {0, 1}


def test_the_scheduler_is_told_which_bones_are_read(one):
    """Simulations read the bones of their collidables, states what their operators read; on all files, and edited."""
    if one.name == OWN:
        pytest.skip("it tells the scheduler nothing")
    placed = placed_collidables(one.cloth)
    last = len(one.sims) - 1
    edits = [one.cloth, added(one, [0, last]), with_collidables(one.cloth, placed[1:]).file]
    edits.append(with_collidables(one.cloth, []).file)
    for file in edits:
        tag = stored(one, file)
        for view, data in zip(cloth_objects(tag), file, strict=True):
            operators = view.links("operators").views()
            reads = [bones_read(operator) for operator in operators]
            for operator, got in zip(data.operators, reads, strict=True):
                if isinstance(operator, records.Skin):
                    assert got == set(operator.bones.tolist())
                elif isinstance(operator, records.Simulate):
                    assert got == set(data.sims[operator.sim].collidable_map.bones.tolist())
            for state, record in zip(view.links("clothStateDatas").views(), data.states, strict=True):
                expected = set().union(*(reads[index] for index in record.operators.tolist()))
                assert bones_read(state) == expected


def bones_read(owner):
    """Return the bones that an operator or state says it reads; there is no entry where it reads none."""
    found = set()
    for access in owner.many("usedTransformSets"):
        usage = access.one("transformSetUsage")
        trackers = usage.many("perComponentTransformTrackers")
        assert len(trackers) == 2
        assert not any(trackers.at(1).one(name).bits().any() for name in ("read", "readBeforeWrite", "written"))
        assert len(trackers.at(1).one("read").bits()) == len(trackers.at(0).one("read").bits())
        read, first, written = (trackers.at(0).one(name).bits() for name in ("read", "readBeforeWrite", "written"))
        assert len(read) == len(first) == len(written)
        assert read.any() or written.any()
        flags = usage["perComponentFlags"].tolist()
        assert flags[1] == 0
        assert flags[0] & 9 == (1 if read.any() else 0) | (8 if first.any() else 0)
        assert not (first & ~read).any()
        found |= set(np.flatnonzero(read).tolist())
    return found


def test_pinch_settings_are_one_a_collidable(one):
    """As in the games' files; of the sample, which has none, nothing is made up."""
    for file in (added(one, [0]), with_collidables(one.cloth, placed_collidables(one.cloth)[1:]).file):
        tag, before = stored(one, file), sim_objects(one.tag())
        for sim, old in zip(sim_objects(tag), before, strict=True):
            count = len(sim.links("perInstanceCollidables"))
            rows = sim.many("collidablePinchingDatas")
            if len(old.many("collidablePinchingDatas")) == len(old.links("perInstanceCollidables")):
                assert len(rows) == count
                assert np.allclose(rows.numbers("pinchDetectionRadius", "<f4"), 0.01)
            else:
                assert len(rows) == len(old.many("collidablePinchingDatas"))


def test_loose_collidables(corpus):
    for name in COLLIDABLES:
        one = subject(corpus, name)
        placed = placed_collidables(one.cloth)
        new = PlacedCollidable(new_collidable("new", SHAPES["sphere"]), "", IDENTITY, frozenset())
        turned = np.eye(4, dtype=F)[[2, 0, 1, 3]]
        for wanted in (placed[:1], [placed[1], replace(placed[0], offset=turned)], [*placed, new], []):
            made = with_collidables(one.cloth, wanted)
            assert not made.refusals
            again = stored(one, made.file)
            assert [own.name for own in read_cloth(again).collidables] == [own.record.name for own in wanted]


def test_types_of_a_compendium_must_have_the_class(corpus):
    one = subject(corpus, "HD_M_1140_c.hkx")
    file = added(one, [0], ["tapered"])
    tag = one.tag()
    tag.reference = TCRF.zeros(1)[0:1].reshape(())
    with pytest.raises(FormatError, match="have no class hclTaperedCapsuleShape"):
        records.store_cloth(tag, file)


def test_shapes_that_are_only_read_cannot_be_made(corpus):
    one = subject(corpus, SHARED)
    placed = placed_collidables(one.cloth)
    body = records.ConvexGeometry(
        np.zeros((1, 4, 4), F), np.zeros(0, np.uint16), np.zeros(0, np.uint8), 1, IDENTITY, IDENTITY,
        np.zeros((2, 3), F), np.zeros(3, F), np.zeros(3, F),
    )  # fmt: skip
    made = with_collidables(one.cloth, [replace(placed[0], record=replace(placed[0].record, shape=body)), *placed[1:]])
    with pytest.raises(FormatError, match="ConvexGeometry are only read"):
        records.store_cloth(one.tag(), made.file)


def test_text_that_two_share_changes_in_one(corpus):
    """Two collidables whose names are one string in the file, and whose shapes are one object."""
    one = subject(corpus, SHARED)
    tag = one.tag()
    first, second = [view for view in tag.find("hclCollidable") if not view.values.ndim][:2]
    second.values["name"] = first.values["name"]
    second["shape"] = first.one("shape")
    file = read_cloth(Tagfile.read(tag.write()))
    placed = placed_collidables(file)
    assert placed[0].record.name == placed[1].record.name
    changed = replace(placed[0], record=replace(placed[0].record, name="other", shape=SHAPES["capsule"]))
    made = with_collidables(file, [changed, *placed[1:]]).file
    tag = Tagfile.read(tag.write())
    records.store_cloth(tag, made)
    again = read_cloth(Tagfile.read(tag.write()))
    assert not list(records.differences(made, again))
    assert again[0].sims[0].collidables[1].name == placed[1].record.name
    assert again[0].sims[0].collidables[1].shape.radius == placed[1].record.shape.radius
