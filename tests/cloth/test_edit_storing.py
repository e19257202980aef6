"""Cloth records written back: untouched files stay as they are, an edit changes its bytes and no others."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace

import numpy as np
import pytest

from addon.cloth.edits import values_of, with_values
from addon.cloth.edits.edited import sim_places, sims_of, with_data, with_sim
from addon.codec import FormatError, Tagfile, read_cloth
from addon.codec.havok import cloth as records
from addon.codec.havok.cloth import differences, same
from tests.cloth.editing import SOURCES, F, changed_items, ends, free_particle, rows, source, trails

PARTICLES, SIM = "hclSimClothData::ParticleData", "hclSimClothData"
CONFIG, NUMBERS = "hclSimulateOperator::Config", {"hkUint32", "unsigned int"}


@pytest.fixture(params=SOURCES)
def own(request, corpus):
    return source(corpus, request.param)


def some(own):
    """Return the first and the last cloth of a file: number, cloth data, place in it."""
    places = sim_places(own.cloth)
    return [(sim, *places[sim]) for sim in sorted({0, len(places) - 1})]


def one_of(own):
    """Return the middle one of a file's cloths: number, cloth data, place in it."""
    places = sim_places(own.cloth)
    return len(places) // 2, *places[len(places) // 2]


def at(values, name, row, value):
    """Return values in which one row of a part is another."""
    column = getattr(values, name).copy()
    column[row] = value
    return replace(values, **{name: column})


def test_untouched_is_the_same_file(own):
    assert own.stored(own.cloth) == own.data
    assert own.stored(deepcopy(own.cloth)) == own.data
    asked = {sim: values_of(own.cloth, sim) for sim in range(len(own.sims))}
    edited = with_values(own.cloth, asked)
    assert edited == (own.cloth, [], [])


SETTINGS = {
    "gravity": (np.array([0.25, -3, 1], F), {"gravity"}, {SIM}),
    "damping": (F(0.375), {"damping"}, {SIM}),
    "substeps": (7, {"substeps"}, {CONFIG}),
    "iterations": (3, {"iterations"}, {CONFIG}),
    "landscape_radius": (F(0.5), {"landscape_radius"}, {SIM}),
    "landscape_tolerance": (F(0.5), {"landscape_tolerance"}, {SIM}),
}


@pytest.mark.parametrize("name", SETTINGS)
def test_a_setting_changes_its_own_bytes(own, name):
    value, members, classes = SETTINGS[name]
    sim, number, place = one_of(own)
    edited = with_values(own.cloth, {sim: replace(values_of(own.cloth, sim), **{name: value})})
    assert not edited.notes
    assert not edited.refusals
    assert same(np.asarray(getattr(values_of(edited.file, sim), name)), np.asarray(value))
    found = trails(own.cloth, edited.file)
    assert {trail.rsplit(".", 1)[1] for trail in found} == members
    assert all(trail.startswith((f"datas[{number}].sims[{place}].", f"datas[{number}].operators")) for trail in found)
    after = own.stored(edited.file)
    changed = changed_items(own.data, after)
    assert len(changed) == 1
    assert set(changed.values()) == classes
    assert len(after) == len(own.data)
    assert np.count_nonzero(np.frombuffer(own.data, "u1") != np.frombuffer(after, "u1")) <= 12
    assert not trails(edited.file, read_cloth(Tagfile.read(after)))


ROWS = {
    "radius": (F(0.0625), {"radius", "max_radius"}, {PARTICLES, SIM}),
    "friction": (F(0.0625), {"friction"}, {PARTICLES}),
    "mask": (np.uint32(0x40), {"masks"}, NUMBERS),
    "max_distance": (F(0.4375), {"max_distance"}, {"hclLocalRangeConstraintSet::LocalConstraint"}),
    "min_normal": (F(-0.4375), {"min_normal"}, {"hclLocalRangeConstraintSet::LocalConstraint"}),
    "max_normal": (F(2e5), {"max_normal"}, {"hclLocalRangeConstraintSet::LocalConstraint"}),
}


@pytest.mark.parametrize("name", ROWS)
def test_a_value_of_a_particle_changes_its_row(own, name):
    value, members, classes = ROWS[name]
    sim, _, _ = one_of(own)
    old = values_of(own.cloth, sim)
    row = free_particle(old)
    edited = with_values(own.cloth, {sim: at(old, name, row, value)})
    assert not edited.refusals
    assert {trail.rsplit(".", 1)[1] for trail in trails(own.cloth, edited.file)} <= members
    new = values_of(edited.file, sim)
    assert rows(getattr(old, name), getattr(new, name)).tolist() == [row]
    assert getattr(new, name)[row] == value
    after = own.stored(edited.file)
    changed = changed_items(own.data, after)
    assert set(changed.values()) <= classes
    assert len(changed) <= len(members)
    assert np.count_nonzero(np.frombuffer(own.data, "u1") != np.frombuffer(after, "u1")) <= 8


def test_a_mass_changes_what_is_tied_to_it(own):
    for sim, number, place in some(own):
        old = values_of(own.cloth, sim)
        row = free_particle(old)
        edited = with_values(own.cloth, {sim: at(old, "mass", row, old.mass[row] * F(3))})
        record, made = own.sims[sim], sims_of(edited.file)[sim]
        for name in ("mass", "inverse_mass"):
            assert rows(getattr(record, name), getattr(made, name)).tolist() == [row]
        assert made.inverse_mass[row] == F(1) / (old.mass[row] * F(3))
        assert made.total_mass == np.add.accumulate(made.mass)[-1] != record.total_mass
        for before, after in zip(record.constraints, made.constraints, strict=True):
            tied = np.flatnonzero((ends(before) == row).any(1))
            for trail in differences(before, after):
                assert trail in {"stiffness", "bend_stiffness", "stretch_stiffness"}
                assert rows(getattr(before, trail), getattr(after, trail)).tolist() == tied.tolist()
        where = {trail.split(".", 2)[:2][1] for trail in trails(own.cloth, edited.file)}
        assert where == {f"sims[{place}]"}
        assert all(trail.startswith(f"datas[{number}]") for trail in trails(own.cloth, edited.file))
        assert not trails(edited.file, read_cloth(Tagfile.read(own.stored(edited.file))))


def test_a_stiffness_changes_its_row(own):
    for sim, _, _ in some(own):
        old = values_of(own.cloth, sim)
        for place, share in enumerate(old.stiffness):
            if share is None:
                continue
            wanted = share.copy()
            row = len(np.atleast_1d(wanted)) // 2
            wanted[(row, *[0] * (share.ndim - 1))[: share.ndim]] = 0.3125
            sets = (*old.stiffness[:place], wanted, *old.stiffness[place + 1 :])
            edited = with_values(own.cloth, {sim: replace(old, stiffness=sets)})
            assert not edited.refusals
            found = trails(own.cloth, edited.file)
            assert len(found) == 1
            assert f"constraints[{place}]" in found.pop()
            got = values_of(edited.file, sim).stiffness
            assert np.abs(got[place] - wanted).max() < 1e-7
            assert all(same(a, b) for k, (a, b) in enumerate(zip(got, sets, strict=True)) if k != place)
            after = own.stored(edited.file)
            changed = changed_items(own.data, after)
            assert len(changed) == 1
            assert np.count_nonzero(np.frombuffer(own.data, "u1") != np.frombuffer(after, "u1")) <= 4


def test_two_cloths_at_once_are_the_same_as_one_after_the_other(own):
    if len(own.sims) < 2:
        return
    wanted = {sim: replace(values_of(own.cloth, sim), damping=F(0.25)) for sim in (0, len(own.sims) - 1)}
    together = with_values(own.cloth, wanted).file
    one_by_one = own.cloth
    for sim, values in wanted.items():
        one_by_one = with_values(one_by_one, {sim: values}).file
    assert own.stored(together) == own.stored(one_by_one)
    back = {sim: values_of(own.cloth, sim) for sim in wanted}
    assert not trails(with_values(together, back).file, own.cloth)


def without_a_particle(file):
    sim = file.datas[0].sims[0]
    columns = {
        name: getattr(sim, name)[:-1] for name in ("mass", "inverse_mass", "radius", "friction", "masks")
    }  # fmt: skip
    return in_first(file, **columns, poses=sim.poses[:, :-1])


def in_first(file, **members):
    return with_data(file, 0, with_sim(file.datas[0], 0, replace(file.datas[0].sims[0], **members)))


IMPOSSIBLE = {
    "a particle less": without_a_particle,
    "a cloth data less": lambda file: replace(file, datas=file.datas[:-1]),
    "a cloth less": lambda file: with_data(file, 0, replace(file.datas[0], sims=())),
    "an operator less": lambda file: with_data(file, 0, replace(file.datas[0], operators=file.datas[0].operators[1:])),
    "a set less": lambda file: in_first(file, constraints=file.datas[0].sims[0].constraints[1:]),
    "sets in another order": lambda file: in_first(file, constraints=file.datas[0].sims[0].constraints[::-1]),
    "a pose more": lambda file: in_first(file, poses=np.repeat(file.datas[0].sims[0].poses, 2, axis=0)),
    "a name": lambda file: in_first(file, name="another"),
    "triangles": lambda file: in_first(file, flips=~file.datas[0].sims[0].flips),
    "a state": lambda file: with_data(file, 0, replace(file.datas[0], states=file.datas[0].states[::-1])),
    "another class": lambda file: in_first(
        file,
        constraints=tuple(
            records.StretchLinks(*vars(one).values()) if type(one) is records.StandardLinks else one
            for one in file.datas[0].sims[0].constraints
        ),
    ),
    "a range past the particles": lambda file: in_first(
        file,
        constraints=tuple(
            replace(one, particle=one.particle + np.uint16(60000)) if isinstance(one, records.LocalRange) else one
            for one in file.datas[0].sims[0].constraints
        ),
    ),
}


@pytest.mark.parametrize("name", IMPOSSIBLE)
def test_what_a_file_cannot_hold_is_refused(corpus, name):
    own = source(corpus, "HD_M_1140_c.hkx")
    file = IMPOSSIBLE[name](own.cloth)
    assert trails(own.cloth, file)
    with pytest.raises(FormatError):
        own.stored(file)


def test_everything_that_may_change_is_stored(own):
    """All members of all records that are not shapes or deformers, changed at once, come back to the bit."""
    file = own.cloth
    for sim, (number, place) in enumerate(sim_places(file)):
        record = own.sims[sim]
        data = file.datas[number]
        changed = replace(
            record,
            gravity=-record.gravity, damping=F(0.5), mass=record.mass * F(2), inverse_mass=record.inverse_mass + F(1),
            radius=record.radius + F(1), friction=record.friction + F(1), fixed=record.fixed[1:],
            poses=record.poses + F(1), constraints=tuple(shaken(one) for one in record.constraints),
            masks=~record.masks, max_radius=F(2), total_mass=F(3), landscape=True, landscape_count=9,
            landscape_radius=F(0.25), landscape_tolerance=F(0.75),
        )  # fmt: skip
        operators = tuple(shaken_operator(one) for one in data.operators)
        file = with_data(file, number, replace(with_sim(data, place, changed), operators=operators))
    assert not trails(file, read_cloth(Tagfile.read(own.stored(file))))


def shaken(one):
    """Return a set of which every number is another, and the last row of lists that may be shorter is gone."""
    done = {
        name: (value + F(0.5)).astype(F) if getattr(value, "dtype", None) == F else value
        for name, value in vars(one).items()
    }
    if isinstance(one, records.LocalRange):
        done |= {"shape": 1, "use_normals": not one.use_normals}
    if isinstance(one, records.BendStiffness):
        done |= {"clamp": not one.clamp, "use_rest": not one.use_rest}
        done = {name: value[..., :-1] if getattr(value, "ndim", 0) else value for name, value in done.items()}
    elif isinstance(one, records.Links | records.LocalRange):
        done = {name: value[:-1] if getattr(value, "ndim", 0) else value for name, value in done.items()}
    return replace(one, **done)


def shaken_operator(one):
    if isinstance(one, records.Simulate):
        config = replace(one.configs[0], substeps=9, iterations=5, adapt=not one.configs[0].adapt)
        return replace(one, configs=(replace(config, execution=config.execution[:-1]), *one.configs[1:]))
    if isinstance(one, records.MoveParticles):
        return replace(one, vertices=one.vertices[1:], particles=one.particles[1:])
    return one
