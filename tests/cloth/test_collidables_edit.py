"""Collidables as a user sees them, and files with others."""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from addon.cloth import Settings, build_setup, new_state, particles, reset, step
from addon.cloth.contacts import nearest
from addon.cloth.edits.collidables import (
    PlacedCollidable,
    capsule,
    new_collidable,
    placed_collidables,
    sphere,
    tapered_capsule,
    with_collidables,
)
from addon.cloth.edits.identities import check_identities
from addon.cloth.results import reference_pose
from addon.cloth.settings import ROOTS, RootChoice
from addon.cloth.vectors import IDENTITY, columns
from addon.codec.havok import cloth as records
from tests.cloth.corpus import COLLIDABLES, still
from tests.cloth.subjects import OWN, SUBJECTS, subject

F = np.float32
SHARED = "BD_M_2210_c.hkx"
WITH_BODIES = ("c7190_c.hkx", SHARED, OWN)
ULPS = {"direction": 3, "inverse_length_squared": 4, "apex": 1, "axis": 1}
"""By how many units in the last place members that follow differ at most from the games' own; the others not at all."""


@pytest.fixture(params=SUBJECTS)
def one(request, corpus):
    return subject(corpus, request.param)


@pytest.fixture(params=WITH_BODIES)
def hard(request, corpus):
    return subject(corpus, request.param)


def at(x, y, z):
    place = np.eye(4, dtype=F)
    place[:3, 3] = x, y, z
    return place


def sims_of(file):
    return [sim for data in file for sim in data.sims]


def made_again(shape):
    if isinstance(shape, records.Capsule):
        return capsule(shape.start, shape.end, float(shape.radius))
    return tapered_capsule(shape.small, shape.big, float(shape.small_radius), float(shape.big_radius))


def test_what_follows_from_a_shape_is_what_the_games_store(corpus):
    shapes = []
    for name in (*SUBJECTS, *COLLIDABLES):
        if name == OWN:
            continue  # made here
        shapes += [placed.record.shape for placed in placed_collidables(subject(corpus, name).cloth)]
    assert len(shapes) == 14
    for shape in shapes:
        made = made_again(shape)
        assert type(made) is type(shape)
        for member in fields(shape):
            ours, theirs = (np.atleast_1d(getattr(own, member.name)) for own in (made, shape))
            ulp = np.spacing(np.abs(theirs).max())
            if member.name == "direction":
                ulp = F(2.0**-24)
            assert np.abs(ours - theirs).max() <= ULPS.get(member.name, 0) * ulp, member.name


@given(
    st.lists(st.floats(-30, 30, width=32), min_size=6, max_size=6), st.floats(F(0.001), 5, width=32),
    st.floats(F(0.001), 5, width=32),
)  # fmt: skip
def test_any_ends_and_radii_make_a_shape_of_finite_numbers(ends, first, second):
    start, end = ends[:3], ends[3:]
    for shape in (capsule(start, end, first), tapered_capsule(start, end, first, second), sphere(start, first)):
        for member in fields(shape):
            assert np.isfinite(getattr(shape, member.name)).all(), (type(shape), member.name)
        if isinstance(shape, records.TaperedCapsule):
            assert shape.small_radius < shape.big_radius
            assert shape.sin**2 + shape.cos**2 == pytest.approx(1, abs=1e-5)
            # the shape that a step meets holds both spheres
            place = columns(np.eye(4)[None])
            far = np.array([[shape.big[0] + shape.big_radius + 1], [shape.big[1]], [shape.big[2]]], F)
            distance = nearest(shape, place, far, np.zeros(1, F), ROOTS[RootChoice.EXACT])[0]
            assert distance[0] <= 1 + 1e-4


def test_shapes_become_simpler_where_they_must():
    assert isinstance(capsule((1, 2, 3), (1, 2, 3), 0.1), records.Sphere)
    assert isinstance(tapered_capsule((0, 0, 0), (0, 1, 0), 0.2, 0.2), records.Capsule)
    inside = tapered_capsule((0, 0, 0), (0, 0.1, 0), 0.5, 0.2)
    assert isinstance(inside, records.Sphere)
    assert inside.radius == F(0.5)
    turned = tapered_capsule((0, 0, 0), (0, 1, 0), 0.3, 0.1)
    assert isinstance(turned, records.TaperedCapsule)
    assert turned.small.tolist() == [0, 1, 0]
    for wrong in (lambda: sphere((0, 0, 0), 0), lambda: sphere((0, 0, np.nan), 1), lambda: capsule((0, 0), (0, 0), 1)):
        with pytest.raises(ValueError, match=r"radius must be above 0|three finite coordinates"):
            wrong()


def test_placed_as_they_are_nothing_changes(one):
    placed = placed_collidables(one.cloth)
    made = with_collidables(one.cloth, placed)
    assert made.file is one.cloth
    assert not made.notes
    assert not made.refusals
    assert sum(len(own.sims) for own in placed) == sum(len(sim.collidables) for sim in one.sims)
    assert len(placed) == len({id(own) for sim in one.sims for own in sim.collidables})


def test_a_moved_one_moves_in_every_cloth(hard):
    placed = placed_collidables(hard.cloth)
    moved = replace(placed[0], offset=(placed[0].offset @ at(0.1, 0.02, 0)).astype(F))
    made = with_collidables(hard.cloth, [moved, *placed[1:]])
    assert not made.refusals
    assert not check_identities(made.file)
    bones = hard.cloth.skeleton.bones
    pose = reference_pose(hard.cloth.skeleton).astype(np.float64)[bones.index(moved.bone)]
    seen = []
    for number, (old, new) in enumerate(zip(hard.sims, sims_of(made.file), strict=True)):
        if number not in moved.sims:
            assert new is old
            continue
        assert records.same(new.collidable_map.offsets[0], moved.offset)
        assert records.same(new.collidable_map.offsets[1:], old.collidable_map.offsets[1:])
        np.testing.assert_allclose(new.collidables[0].transform, pose @ moved.offset, atol=3e-6)
        assert new.collidables[0].shape is old.collidables[0].shape
        assert new.collidables[1:] == old.collidables[1:]
        assert new.masks is old.masks
        assert new.collidable_map.bones is old.collidable_map.bones or records.same(
            new.collidable_map.bones, old.collidable_map.bones
        )
        seen.append(id(new.collidables[0]))
    assert len(set(seen)) == 1


def test_a_resized_one_keeps_what_does_not_follow(corpus):
    """The direction of a capsule as it is stored, though it differs in the last place from the one made here."""
    hard = subject(corpus, SHARED)
    placed = placed_collidables(hard.cloth)
    pelvis = placed[2].record

    def with_shape(shape):
        changed = replace(placed[2], record=replace(pelvis, shape=shape))
        return with_collidables(hard.cloth, [*placed[:2], changed, *placed[3:]]).file

    wider = capsule(pelvis.shape.start, pelvis.shape.end, 0.15)
    assert not records.same(wider.direction, pelvis.shape.direction)
    shape = sims_of(with_shape(wider))[0].collidables[2].shape
    assert shape.radius == F(0.15)
    assert shape.direction is pelvis.shape.direction
    assert with_shape(made_again(pelvis.shape)) is hard.cloth
    longer = capsule(pelvis.shape.start, pelvis.shape.end + F(0.1), float(pelvis.shape.radius))
    made = with_shape(longer)
    assert not check_identities(made)
    assert sims_of(made)[0].collidables[2].shape is longer
    rounder = with_shape(sphere(pelvis.shape.start, 0.2))
    assert isinstance(sims_of(rounder)[1].collidables[2].shape, records.Sphere)


def test_on_another_bone_and_renamed(hard):
    placed = placed_collidables(hard.cloth)
    bone = next(name for name in hard.cloth.skeleton.bones if name != placed[0].bone)
    changed = replace(placed[0], bone=bone, record=replace(placed[0].record, name="moved here"))
    made = with_collidables(hard.cloth, [changed, *placed[1:]])
    assert not made.refusals
    assert not check_identities(made.file)
    found = placed_collidables(made.file)
    assert (found[0].record.name, found[0].bone) == ("moved here", bone)
    assert len(found) == len(placed)


def test_a_new_one_meets_every_free_particle_of_its_cloths(one):
    placed = placed_collidables(one.cloth)
    count = len(one.sims)
    bone = one.cloth.skeleton.bones[2]
    new = PlacedCollidable(new_collidable("new", sphere((0, 0, 0), 0.1)), bone, at(0, 0.1, 0), frozenset({count - 1}))
    made = with_collidables(one.cloth, [*placed, new])
    assert not made.refusals
    assert not check_identities(made.file)
    sims = sims_of(made.file)
    assert all(new is old for new, old in zip(sims[:-1], one.sims[:-1], strict=True))
    last, before = sims[-1], one.sims[-1]
    bit = len(before.collidables)
    assert [own.name for own in last.collidables] == [*(own.name for own in before.collidables), "new"]
    assert all(a is b for a, b in zip(last.collidables, before.collidables, strict=False))
    assert np.array_equal((last.masks >> np.uint32(bit)) & 1, last.inverse_mass > 0)
    assert np.array_equal(last.masks & ((1 << bit) - 1), before.masks)
    assert last.collidable_map.transform_set == 0
    assert one.cloth.skeleton.bones[last.collidable_map.bones[-1]] == bone
    assert placed_collidables(made.file)[-1].sims == {count - 1}


def test_taken_out_the_others_move_up(hard):
    placed = placed_collidables(hard.cloth)
    made = with_collidables(hard.cloth, placed[1:])
    assert not check_identities(made.file)
    for number, (old, new) in enumerate(zip(hard.sims, sims_of(made.file), strict=True)):
        if number not in placed[0].sims:
            assert new is old
            continue
        assert new.collidables == old.collidables[1:]
        assert np.array_equal(new.masks, np.where(old.inverse_mass > 0, (1 << len(new.collidables)) - 1, 0))
        assert new.collidable_map.transform_set == (0 if new.collidables else -1)
    assert not any(sim.collidables for sim in sims_of(with_collidables(hard.cloth, []).file))


def test_masks_go_with_their_collidables(corpus):
    """Painted masks, and the bit of the landscape; no file of the corpus has either."""
    hard = subject(corpus, "c7190_c.hkx")
    data = hard.cloth[0]
    sim = data.sims[0]
    painted = np.arange(len(sim), dtype=np.uint32) % 8 | np.uint32(1 << 31)
    file = replace(hard.cloth, datas=(replace(data, sims=(replace(sim, masks=painted),)), *hard.cloth.datas[1:]))
    placed = placed_collidables(file)
    new = PlacedCollidable(new_collidable("new", sphere((0, 0, 0), 0.1)), "Head", IDENTITY, frozenset({0}))
    # the second is left out, a copy of the third comes behind
    twin = replace(placed[2], record=replace(placed[2].record, name="twin"))
    made = with_collidables(file, [placed[2], placed[0], new, twin]).file
    after = made[0].sims[0]
    assert [own.name for own in after.collidables] == [placed[0].record.name, placed[2].record.name, "new", "twin"]
    bits = [(after.masks >> np.uint32(bit)) & 1 for bit in range(5)]
    free = sim.inverse_mass > 0
    for got, expected in zip(bits, (painted & 1, painted >> 2 & 1, free, painted >> 2 & 1, painted * 0), strict=True):
        assert np.array_equal(got, expected)
    assert (after.masks >> np.uint32(31) == 1).all()


def test_one_cloth_of_two_gets_its_own(corpus):
    """A shared collidable that one cloth no longer shares: two records, and the other cloth plays as before."""
    hard = subject(corpus, SHARED)
    placed = placed_collidables(hard.cloth)
    assert placed[0].sims == {0, 1}
    left = replace(placed[0], sims=frozenset({1}))
    wide = replace(placed[0].record, shape=capsule((0, 0, 0), (0.4, 0, 0), 0.2))
    own = replace(placed[0], sims=frozenset({0}), record=wide)
    made = with_collidables(hard.cloth, [own, left, *placed[1:]])
    assert not made.refusals
    first, second = sims_of(made.file)[:2]
    assert second is hard.sims[1]
    assert first.collidables[0].shape.radius == F(0.2)
    assert [a is b for a, b in zip(first.collidables, hard.sims[0].collidables, strict=True)] == [False, *[True] * 4]
    before, after = played(hard.cloth), played(made.file)
    assert np.array_equal(before[1], after[1])
    assert not np.array_equal(before[0], after[0])


def played(file, steps=20, settings=None):
    setup = build_setup(file)
    state = new_state(setup)
    reset(setup, state, still(file))
    for _ in range(steps):
        step(setup, state, still(file), 1 / 60, settings or Settings())
    return [particles(setup, state, number) for number in range(len(setup.layout.sims))]


@pytest.mark.parametrize("shape", ["sphere", "capsule", "tapered"])
def test_cloth_collides_with_a_new_one(one, shape):
    """It stands where free particles rest: a step leaves none of its cloth inside, and pushes no other cloth."""
    sim, number = one.sims[0], 0
    pose = reference_pose(one.cloth.skeleton).astype(np.float64)
    bone = len(pose) - 1
    free = np.flatnonzero(sim.inverse_mass > 0)
    size = float(0.2 * np.ptp(sim.poses[0], axis=0).max())
    # not right on a particle: from a centre no way leads out
    middle = sim.poses[0][free[len(free) // 2]].astype(np.float64) + 0.03 * size
    made = {
        "sphere": sphere((0, 0, 0), size),
        "capsule": capsule((-size, 0, 0), (size, 0, 0), 0.7 * size),
        "tapered": tapered_capsule((-size, 0, 0), (size, 0, 0), 0.4 * size, 0.8 * size),
    }[shape]
    axes, _, v = np.linalg.svd(pose[bone, :3, :3])
    place = np.eye(4)
    place[:3, :3] = (axes @ v).T  # undoes the bone's turn; a scale of the bone stays out of the shape
    place[:3, 3] = np.linalg.solve(pose[bone, :3, :3], middle - pose[bone, :3, 3])
    new = PlacedCollidable(
        new_collidable("new", made), one.cloth.skeleton.bones[bone], place.astype(F), frozenset({number})
    )
    edited = with_collidables(one.cloth, [*placed_collidables(one.cloth), new])
    assert not edited.refusals
    calm = Settings(gravity=(0, 0, 0), disabled=frozenset(type(own).__name__ for own in sim.constraints), damping=1.0)
    before, after = (played(file, 1, calm) for file in (one.cloth, edited.file))
    carried = (pose[bone] @ place)[None]
    gaps = [
        nearest(made, columns(carried), cloth[number][free].T.astype(F), sim.radius[free], ROOTS[RootChoice.EXACT])[0]
        - sim.radius[free]
        for cloth in (before, after)
    ]
    assert gaps[0].min() < -0.2 * size
    assert gaps[1].min() > -2e-3 * max(size, 1)
    assert (after[number][free] != before[number][free]).any()
    for other in range(1, len(one.sims)):
        assert np.array_equal(before[other], after[other])


def test_a_loose_file_of_collidables(corpus):
    for name in COLLIDABLES:
        one = subject(corpus, name)
        placed = placed_collidables(one.cloth)
        assert [(own.bone, own.sims) for own in placed] == [("", frozenset())] * 2
        assert with_collidables(one.cloth, placed).file is one.cloth
        moved = replace(placed[0], offset=(at(0, 1, 0) @ placed[0].offset).astype(F))
        new = PlacedCollidable(new_collidable("new", sphere((0, 0, 0), 1)), "", at(1, 2, 3), frozenset())
        made = with_collidables(one.cloth, [moved, placed[1], new])
        assert not made.refusals
        assert records.same(made.file.collidables[0].transform, moved.offset)
        assert made.file.collidables[1] is one.cloth.collidables[1]
        assert made.file.collidables[2].transform[:3, 3].tolist() == [1, 2, 3]


def refused(file, wanted):
    made = with_collidables(file, wanted)
    assert len(made.refusals) == 1
    return made.file, made.refusals[0]


def test_what_cannot_be_placed_is_refused_and_stays(hard):
    placed = placed_collidables(hard.cloth)
    scaled = placed[0].offset.copy()
    scaled[:3, :3] *= F(1.5)
    file, reason = refused(hard.cloth, [replace(placed[0], offset=scaled), *placed[1:]])
    assert file is hard.cloth
    assert "scale" in reason
    assert placed[0].record.name in reason
    mirrored = (placed[0].offset @ np.diag([-1, 1, 1, 1])).astype(F)
    assert "mirror" in refused(hard.cloth, [replace(placed[0], offset=mirrored), *placed[1:]])[1]
    wild = placed[0].offset * F(np.nan)
    assert "finite" in refused(hard.cloth, [replace(placed[0], offset=wild), *placed[1:]])[1]
    file, reason = refused(hard.cloth, [replace(placed[0], bone="Nobody"), *placed[1:]])
    assert file is hard.cloth
    assert "no bone Nobody" in reason
    assert "no cloth 99" in refused(hard.cloth, [replace(placed[0], sims=frozenset({99})), *placed[1:]])[1]
    assert "no cloth would meet it" in refused(hard.cloth, [replace(placed[0], sims=frozenset()), *placed[1:]])[1]
    assert "as its source" in refused(hard.cloth, [*placed, replace(placed[0], source=50)])[1]
    many = [replace(placed[0], source=None) for _ in range(40)]
    made = with_collidables(hard.cloth, [*placed, *many])
    assert made.refusals
    assert all("at most 31" in reason for reason in made.refusals)
    assert all(new is old for new, old in zip(sims_of(made.file), hard.sims, strict=True))


def test_a_bone_that_the_cloth_moves_itself_is_told_of(corpus):
    one = subject(corpus, "c4500_c.hkx")
    number, driven = next(
        (number, operator.bones[0])
        for number, data in enumerate(one.cloth)
        for operator in data.operators
        if isinstance(operator, records.SimpleMeshBoneDeform)
    )
    bone = one.cloth.skeleton.bones[driven]
    new = PlacedCollidable(new_collidable("new", sphere((0, 0, 0), 0.1)), bone, IDENTITY, frozenset({number}))
    made = with_collidables(one.cloth, [new])
    assert len(made.notes) == 1
    assert bone in made.notes[0]
    assert not made.refusals
