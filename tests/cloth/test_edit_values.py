"""What a user sets of a cloth: read, set, refused; and what follows from it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from addon.cloth.edits import (
    changes,
    check_identities,
    new_collidable,
    placed_collidables,
    sphere,
    values_of,
    with_collidables,
    with_rest,
    with_values,
)
from addon.cloth.edits.edited import sims_of
from addon.codec import Tagfile, read_cloth
from addon.codec.havok import cloth as records
from tests.cloth.editing import CLOTHS_OF_ALL_KINDS, SOURCES, F, free_particle, random_values, rows, source, trails
from tests.cloth.synthetic import sheet

LANDSCAPE = np.uint32(1 << 31)


@pytest.fixture(params=SOURCES)
def own(request, corpus):
    return source(corpus, request.param)


@pytest.fixture
def hat(corpus):
    return source(corpus, "HD_M_1140_c.hkx").cloth


def test_values_are_what_the_file_holds(own):
    for sim, record in enumerate(own.sims):
        values = values_of(own.cloth, sim)
        assert np.array_equal(values.mass, record.mass)
        assert np.array_equal(np.flatnonzero(values.pinned), record.fixed)
        assert np.array_equal(values.pinned, values.mass == 0)
        assert (values.max_distance[values.pinned] == -1).all()
        for one, share in zip(record.constraints, values.stiffness, strict=True):
            if isinstance(one, records.Transition):
                assert share is None
                continue
            assert share.min() >= 0
            assert share.max() <= 1 + 2e-6
            if isinstance(one, records.StandardLinks | records.CompressibleLinks) and not isinstance(
                one, records.StretchLinks
            ):
                assert np.ptp(share) < 1e-6


def test_values_are_copies(own):
    before = own.data
    values = values_of(own.cloth, 0)
    for part in [*vars(values).values(), *values.stiffness]:
        if isinstance(part, np.ndarray):
            part[...] = 0
    assert own.stored(own.cloth) == before


@hypothesis_settings(max_examples=12)
@given(seed=st.integers(0, 2**32 - 1), pins=st.sampled_from([0, 0, 1, 3, 8]))
@pytest.mark.parametrize(("name", "sim"), CLOTHS_OF_ALL_KINDS)
def test_identities_hold_after_random_edits(corpus, name, sim, seed, pins):
    own = source(corpus, name)
    wanted = random_values(own.cloth, sim, np.random.default_rng(seed), pins=pins)
    edited = with_values(own.cloth, {sim: wanted})
    assert check_identities(edited.file) == []
    got = values_of(edited.file, sim)
    for part in ("gravity", "radius", "friction"):
        assert not len(rows(getattr(got, part), getattr(wanted, part)))
    for part in ("damping", "substeps", "landscape"):
        assert getattr(got, part) == getattr(wanted, part)
    stay = got.pinned == values_of(own.cloth, sim).pinned
    assert np.array_equal(got.mass[stay], wanted.mass[stay])
    assert np.array_equal(got.max_distance[stay], wanted.max_distance[stay])
    if not pins:
        assert not edited.refusals
        for share, asked in zip(got.stiffness, wanted.stiffness, strict=True):
            assert share is asked is None or np.abs(share - asked).max() < 2e-7
    others = [one for number, one in enumerate(sims_of(edited.file)) if number != sim]
    assert all(one is record for one, record in zip(others, np.delete(own.sims, sim), strict=True))
    assert not trails(edited.file, read_cloth(Tagfile.read(own.stored(edited.file))))


@hypothesis_settings(max_examples=20)
@given(seed=st.integers(0, 2**32 - 1), pins=st.integers(0, 4))
def test_identities_hold_after_random_edits_of_the_sample(seed, pins):
    own = source(None, "banner")
    edited = with_values(own.cloth, {0: random_values(own.cloth, 0, np.random.default_rng(seed), pins=pins)})
    assert check_identities(edited.file) == []
    assert not trails(edited.file, read_cloth(Tagfile.read(own.stored(edited.file))))


def set_row(values, name, row, value):
    column = getattr(values, name).copy()
    column[row] = value
    return replace(values, **{name: column})


@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [
        ("damping", F(-1), "its damping cannot be -1, only 0 or more"),
        ("damping", F(np.nan), "its damping cannot be nan, only 0 or more"),
        ("substeps", 0, "its substeps cannot be 0, only 1 to 255"),
        ("substeps", 256, "its substeps cannot be 256, only 1 to 255"),
        ("iterations", 0, "its iterations cannot be 0, only 1 to 255"),
        ("gravity", np.array([0, np.inf, 0], F), "its gravity is not a number"),
        ("gravity", np.zeros(2, F), "its gravity has (2,) values where (3,) are needed"),
        ("landscape_radius", F(-1), "its landscape radius cannot be -1, only 0 or more"),
        ("mass", np.zeros(31, F), "its mass has (31,) values where (32,) are needed"),
        ("stiffness", (), "there are stiffnesses for 0 constraint sets, the cloth has 6"),
    ],
)
def test_a_setting_that_cannot_be_is_refused(hat, name, value, reason):
    edited = with_values(hat, {0: replace(values_of(hat, 0), **{name: value})})
    assert edited == (hat, [], [f"HD_hat: {reason}."])


@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [
        ("mass", F(-2), "particle 16: mass cannot be -2, only 0 or more"),
        ("mass", F(np.nan), "particle 16: mass cannot be nan, only 0 or more"),
        ("mass", F(0), "particle 16: a free particle needs a mass"),
        ("mass", F(1e-40), "particle 16: a free particle needs a mass"),
        ("radius", F(-0.5), "particle 16: radius cannot be -0.5, only 0 or more"),
        ("friction", F(np.inf), "particle 16: friction cannot be inf, only 0 or more"),
        ("max_distance", F(-0.5), "particle 16: range cannot be negative, but -1 for no limit"),
        ("min_normal", F(np.nan), "particle 16: range below cannot be nan, only a number"),
        ("max_normal", F(-3), "particle 16: range below is more than range above"),
    ],
)
def test_a_particles_value_that_cannot_be_is_refused(hat, name, value, reason):
    old = values_of(hat, 0)
    assert free_particle(old) == 16
    edited = with_values(hat, {0: set_row(old, name, 16, value)})
    assert edited == (hat, [], [f"HD_hat: {reason}."])


def test_what_is_not_refused_is_done(hat):
    old = values_of(hat, 0)
    wanted = replace(old, radius=np.where(np.arange(32) < 8, F(-1), F(0.5)), damping=F(0.25), friction=old.friction * 2)
    edited = with_values(hat, {0: wanted})
    assert edited.refusals == [
        "HD_hat: particles 0, 1, 2, 3, 4 and 3 more: radius cannot be -1, only 0 or more."
    ]  # fmt: skip
    got = values_of(edited.file, 0)
    assert np.array_equal(got.radius, np.where(np.arange(32) < 8, old.radius, F(0.5)))
    assert got.damping == F(0.25)
    assert np.array_equal(got.friction, old.friction * 2)


def test_a_share_past_one_is_refused(hat):
    old = values_of(hat, 0)
    links = old.stiffness[1].copy()
    links[[3, 5]] = 1.5, -0.25
    edited = with_values(hat, {0: replace(old, stiffness=(old.stiffness[0], links, *old.stiffness[2:]))})
    assert edited.file is hat
    (said,) = edited.refusals
    assert said == "HD_hat: stiffness of Standard Links, links 3, 5: it cannot be 1.5, only 0 to 1."


@pytest.mark.parametrize(("name", "word"), [("mass", "mass"), ("max_distance", "range")])
def test_what_a_pinned_particle_does_not_have_is_left_out(hat, name, word):
    """Also of one that was freed for it and is pinned again; all pinned particles of the games have a mass of 0."""
    edited = with_values(hat, {0: set_row(values_of(hat, 0), name, 2, F(1))})
    assert edited == (
        hat, [f"HD_hat: particle 2: what was set as {word} is left out, for pinned particles have none."], []
    )  # fmt: skip


def test_an_unknown_cloth_is_refused(hat):
    assert with_values(hat, {7: values_of(hat, 0)}) == (hat, [], ["There is no simulated cloth 7."])


def test_the_landscape_comes_with_its_bit(hat):
    edited = with_values(hat, {0: replace(values_of(hat, 0), landscape=True)})
    record = sims_of(edited.file)[0]
    assert edited.notes == ["HD_hat: all free particles meet the landscape: none had its bit (31) in its mask."]
    assert np.array_equal(record.masks & LANDSCAPE > 0, record.mass > 0)
    assert record.landscape_count == 16
    off = with_values(edited.file, {0: replace(values_of(edited.file, 0), landscape=False)})
    assert not off.notes
    assert np.array_equal(sims_of(off.file)[0].masks, record.masks)


def test_one_range_less_and_again(hat):
    old = values_of(hat, 0)
    without = with_values(hat, {0: set_row(old, "max_distance", 16, F(-1))})
    assert not without.refusals
    got = sims_of(without.file)[0].constraints[0]
    assert 16 not in got.particle
    assert len(got.particle) == 15
    again = with_values(without.file, {0: set_row(values_of(without.file, 0), "max_distance", 16, F(0.06))})
    assert not again.refusals
    made, source_set = sims_of(again.file)[0].constraints[0], hat[0].sims[0].constraints[0]
    for part in ("particle", "vertex", "max_distance"):
        assert np.array_equal(getattr(made, part), getattr(source_set, part))


def test_a_range_without_a_set_is_refused():
    file = sheet(kinds=("StandardLinks",))
    edited = with_values(file, {0: set_row(values_of(file, 0), "max_distance", 20, F(1))})
    assert edited == (
        file, [], ["sheet: particle 20: no range is possible: its reference vertex is not known."]
    )  # fmt: skip


def test_changes_are_told_with_numbers(hat):
    old = values_of(hat, 0)
    links = old.stiffness[1].copy()
    links[:4] = 0.5
    wanted = replace(
        old,
        gravity=np.array([0, -3.5, 0], F),
        substeps=3,
        landscape=True,
        radius=np.where(np.arange(32) < 12, F(0.03), old.radius),
        stiffness=(old.stiffness[0], links, *old.stiffness[2:]),
    )
    edited = with_values(hat, {0: wanted})
    assert [(one.sim, one.what, one.text) for one in changes(hat, edited.file)] == [
        (0, "gravity", "gravity (0, 0, -2) -> (0, 0, -3.5)"),
        (0, "substeps", "substeps 1 -> 3"),
        (0, "landscape", "landscape off -> on"),
        (0, "radius", "12 of 32 particles: radius 0.025 -> 0.03"),
        (0, "mask", "16 of 32 particles: collides with 0x0 -> 0x80000000"),
        (0, "stiffness", "Standard Links: stiffness 1 -> 0.5 in 4 links"),
    ]
    assert changes(hat, hat) == []


def test_changes_are_called_as_in_the_panels():
    """Both stiffnesses of bend links apart, the parts of a range, and what is one for the whole set."""
    file = sheet(kinds=("StandardLinks", "BendLinks", "LocalRange"))
    old = values_of(file, 0)
    bends = old.stiffness[1].copy()
    bends[2:5, 0] = 0.75
    reach = {name: set_row(old, name, 20, value) for name, value in (("max_distance", F(0.5)), ("max_normal", F(0.25)))}
    wanted = replace(
        old,
        max_distance=reach["max_distance"].max_distance,
        max_normal=reach["max_normal"].max_normal,
        stiffness=(old.stiffness[0], bends, F(0.5)),
    )
    texts = [one.text for one in changes(file, with_values(file, {0: wanted}).file)]
    assert texts == [
        "1 particle: range 0.2 -> 0.5",
        "1 particle: range above 0.1 -> 0.25",
        "Bend Links: bend stiffness 0.2 -> 0.75 in 3 links",
        "Local Range: stiffness 1 -> 0.5",
    ]


def test_a_mass_alone_is_no_change_of_stiffness(own):
    """Stored stiffness follows the masses; what the user set stays."""
    for sim in range(len(own.sims)):
        old = values_of(own.cloth, sim)
        edited = with_values(own.cloth, {sim: replace(old, mass=old.mass * F(1.7))})
        assert [(one.sim, one.what) for one in changes(own.cloth, edited.file)] == [(sim, "mass")]


def test_changes_of_rest_poses_and_collidables_are_told(corpus):
    file = source(corpus, "BD_M_2210_c.hkx").cloth
    rest = sims_of(file)[1].poses[0].copy()
    rest[[8, 9], 1] += F(0.25)
    told = changes(file, with_rest(file, {1: rest}).file)
    assert [(one.sim, one.what, one.text) for one in told] == [(1, "rest pose", "2 particles moved by up to 0.25 m")]
    one, two, *others = placed_collidables(file)
    offset = one.offset.copy()
    offset[0, 3] += 1
    moved = replace(one, offset=offset)
    small = replace(two, record=replace(two.record, shape=sphere(np.zeros(3), 0.1)))
    new = replace(two, record=new_collidable("new", sphere(np.zeros(3), 0.1)), source=None)
    gone, old, *others = others
    named = replace(old, record=replace(old.record, name="another"))
    told = changes(file, with_collidables(file, [moved, small, named, *others, new]).file)
    assert {one.what for one in told} == {"collidables"}
    texts = {(change.sim, change.text) for change in told}
    assert texts == {
        *((sim, f"collidable {one.record.name}: moved") for sim in one.sims),
        *((sim, f"collidable {two.record.name}: now a Sphere") for sim in two.sims),
        *((sim, f"collidable {gone.record.name}: removed") for sim in gone.sims),
        *((sim, f"collidable another: renamed, was {old.record.name}") for sim in old.sims),
        *((sim, "collidable new: added") for sim in new.sims),
    }


def collidable_texts(old, new):
    return {(change.sim, change.text) for change in changes(old, new) if change.what == "collidables"}


def test_collidables_that_stay_are_told_as_met_or_not(corpus):
    file = source(corpus, "BD_M_2210_c.hkx").cloth
    one, two, three, *others = placed_collidables(file)
    every = frozenset(range(len(sims_of(file))))
    only = replace(one, sims=frozenset({0}))
    bare = with_collidables(file, [only, two, three, *others]).file
    assert one.sims > {0}
    assert collidable_texts(file, bare) == {
        (sim, f"collidable {one.record.name}: not met by this cloth any more") for sim in one.sims - {0}
    }
    only = placed_collidables(bare)[0]
    aside, copy = (replace(each, offset=each.offset + F(0.5) * np.eye(4, k=3, dtype=F)) for each in (two, only))
    again = with_collidables(bare, [replace(only, sims=every), aside, *others, copy]).file
    assert collidable_texts(bare, again) == {
        *((sim, f"collidable {one.record.name}: met by this cloth") for sim in every - {0}),
        *((sim, f"collidable {two.record.name}: moved") for sim in two.sims),
        *((sim, f"collidable {three.record.name}: removed") for sim in three.sims),
        (0, f"collidable {one.record.name}: added"),
    }
