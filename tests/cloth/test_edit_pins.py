"""Pinning and freeing particles: everything that goes with it follows, or it is refused."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from addon.cloth import Settings, build_setup, new_state, particles, reset, step
from addon.cloth.edits import changes, check_identities, try_out, values_of, with_values
from addon.cloth.edits.edited import sim_places, sims_of, with_data, with_operators, with_sim
from addon.cloth.edits.pins import movers, reference_vertices
from addon.codec import Tagfile, read_cloth
from addon.codec.havok import cloth as records
from tests.cloth.corpus import swinging
from tests.cloth.editing import SOURCES, F, ends, source, trails
from tests.cloth.synthetic import sheet

DT = 1 / 60


@pytest.fixture(params=SOURCES)
def own(request, corpus):
    return source(corpus, request.param)


@pytest.fixture
def robe(corpus):
    """Return a cloth in which every pinned particle has links, its number, and one of its pinned particles."""
    file = source(corpus, "BD_M_2210_c.hkx").cloth
    return file, 2, int(sims_of(file)[2].fixed[4])


def turned(file, sim, which, **more):
    """Return an edit that pins free particles and frees pinned ones."""
    old = values_of(file, sim)
    pinned = old.pinned.copy()
    pinned[which] = ~pinned[which]
    return with_values(file, {sim: replace(old, pinned=pinned, **more)})


def linked(record):
    rows = [ends(one).reshape(-1) for one in record.constraints if isinstance(one, records.Links)
            and not isinstance(one, records.StretchLinks)]  # fmt: skip
    return np.unique(np.concatenate(rows)) if rows else np.zeros(0, int)


def middle(rows):
    return int(rows[len(rows) // 2])


def test_a_particle_is_pinned(own):
    for sim, (number, place) in enumerate(sim_places(own.cloth)):
        record = own.sims[sim]
        free = np.flatnonzero(record.mass > 0)
        if len(free) < 2:
            continue
        one = middle(free)
        edited = turned(own.cloth, sim, [one])
        assert not edited.refusals
        made = sims_of(edited.file)[sim]
        assert np.array_equal(made.fixed, np.sort([*record.fixed, one]))
        assert (made.mass[one], made.inverse_mass[one], made.masks[one]) == (0, 0, 0)
        assert np.array_equal(np.delete(made.mass, one), np.delete(record.mass, one))
        check_sets(record, made, one)
        for _, operator in movers(edited.file.datas[number], place):
            vertices = reference_vertices(own.cloth.datas[number], place, operator.buffer)
            assert np.array_equal(np.sort(operator.particles), made.fixed)
            assert np.array_equal(operator.vertices, vertices[operator.particles])
            assert (np.diff(operator.vertices.astype(int)) > 0).all()
        assert check_identities(edited.file) == []
        assert [(one.sim, one.text) for one in changes(own.cloth, edited.file) if one.what == "pinned"] == [
            (sim, "1 particle pinned")
        ]


def check_sets(record, made, one):
    """The rows that are gone are those that tied it to pinned ones only; those that stay hold what they held."""
    for before, after in zip(record.constraints, made.constraints, strict=True):
        rows = ends(before)
        if isinstance(before, records.Transition | records.Volume):
            assert len(ends(after)) == len(rows)
            continue
        if isinstance(before, records.LocalRange):
            gone = rows[:, 0] == one
        elif isinstance(before, records.StretchLinks):
            gone = rows[:, 1] == one
        else:
            gone = ~(made.inverse_mass[rows] > 0).any(1)
        assert np.array_equal(ends(after), rows[~gone])
        touched = (rows[~gone] == one).any(1)
        for name in ("rest", "bend_min", "compression", "weights", "curvature", "max_distance", "vertex"):
            if hasattr(before, name):
                assert np.array_equal(getattr(after, name), getattr(before, name)[..., ~gone])
        if isinstance(before, records.StandardLinks) and not isinstance(before, records.StretchLinks):
            same = after.stiffness == before.stiffness[~gone]
            assert np.array_equal(~same, touched)


def test_a_particle_is_freed(own):
    for sim in range(len(own.sims)):
        record = own.sims[sim]
        fixed = np.intersect1d(record.fixed, linked(record))
        if len(record.fixed) < 2 or not len(fixed):
            continue
        one = middle(fixed)
        edited = turned(own.cloth, sim, [one])
        assert not edited.refusals
        made = sims_of(edited.file)[sim]
        assert np.array_equal(made.fixed, np.setdiff1d(record.fixed, [one]))
        free = record.mass > 0
        assert made.mass[one] in record.mass[free]
        assert made.inverse_mass[one] == F(1) / made.mass[one]
        assert made.masks[one] in record.masks[free]
        for before, after in zip(record.constraints, made.constraints, strict=True):
            if isinstance(before, records.LocalRange):
                assert np.array_equal(np.sort(after.particle), np.sort([*before.particle, one]))
                assert (np.diff(after.vertex.astype(int)) > 0).all()
            elif isinstance(before, records.StretchLinks):
                assert np.array_equal(np.sort(after.b), np.sort([*before.b, one]))
                assert (made.inverse_mass[after.a] == 0).all()
            else:
                assert np.array_equal(ends(after), ends(before))
        assert check_identities(edited.file) == []


def test_pins_come_back_from_the_file(own):
    """A freed particle that was pinned before the edit, and the other way round, changes nothing."""
    for sim in (0, len(own.sims) - 1):
        edited = turned(own.cloth, sim, [middle(np.flatnonzero(own.sims[sim].mass > 0))])
        assert trails(own.cloth, edited.file)
        assert with_values(own.cloth, {sim: values_of(own.cloth, sim)}).file is own.cloth
        data = own.stored(edited.file)
        assert not trails(edited.file, read_cloth(Tagfile.read(data)))


def test_a_pinned_particle_follows_the_bones(own):
    """Stepped with moving bones it is where its vertex of the reference buffer is, as those pinned before."""
    for sim in (0, len(own.sims) - 1):
        number, place = sim_places(own.cloth)[sim]
        one = middle(np.flatnonzero(own.sims[sim].mass > 0))
        edited = turned(own.cloth, sim, [one])
        setup = build_setup(edited.file)
        state = new_state(setup)
        reset(setup, state, swinging(own.cloth, 0.0))
        for number_of_step in range(1, 12):
            step(setup, state, swinging(own.cloth, number_of_step * DT), DT, Settings(display=False))
        (_, operator), *_ = movers(edited.file.datas[number], place)
        columns = setup.layout.buffers[number][operator.buffer].start + operator.vertices.astype(int)
        if setup.layout.buffers[number][operator.buffer].display:
            continue  # what is drawn has overwritten it
        got = particles(setup, state, sim)[operator.particles]
        assert one in operator.particles
        assert np.abs(got - state.store[:, columns].T).max() < 2e-6
        assert np.abs(got[operator.particles == one] - own.sims[sim].poses[0][one]).max() > 1e-5


def test_a_freed_particle_moves(robe):
    file, sim, pin = robe
    edited = turned(file, sim, [pin])
    assert edited.notes
    setup = build_setup(edited.file)
    state = new_state(setup)
    reset(setup, state, swinging(file, 0.0))
    rest = particles(setup, state, sim)[pin]
    for _ in range(20):
        step(setup, state, swinging(file, 0.0), DT, Settings(display=False))
    moved = np.linalg.norm(particles(setup, state, sim)[pin] - rest)
    assert 1e-4 < moved < 0.05
    assert try_out(edited.file).fault == ""


def test_a_freed_particle_may_bring_its_own_values(robe):
    file, sim, pin = robe
    old = values_of(file, sim)
    mass, reach, mask = old.mass.copy(), old.max_distance.copy(), old.mask.copy()
    mass[pin], reach[pin], mask[pin] = 0.5, 0.125, 0b10
    edited = turned(file, sim, [pin], mass=mass, max_distance=reach, mask=mask)
    got = values_of(edited.file, sim)
    assert (got.mass[pin], got.max_distance[pin], got.mask[pin]) == (F(0.5), F(0.125), 0b10)


def test_links_of_a_lost_pin_find_another(robe):
    file, sim, _ = robe
    record = sims_of(file)[sim]
    before = next(one for one in record.constraints if isinstance(one, records.StretchLinks))
    pin = int(np.bincount(before.a).argmax())  # the one that holds most
    edited = turned(file, sim, [pin])
    made = sims_of(edited.file)[sim]
    after = next(one for one in made.constraints if isinstance(one, records.StretchLinks))
    lost = before.a == pin
    pose = record.poses[0].astype(float)
    pins = np.setdiff1d(record.fixed, [pin])
    for b, a, rest, was in zip(
        before.b[lost], after.a[:-1][lost], after.rest[:-1][lost], before.rest[lost], strict=True
    ):
        gaps = np.linalg.norm(pose[pins] - pose[b], axis=1)
        assert a == pins[gaps.argmin()]
        ratio = was / np.linalg.norm(pose[pin] - pose[b])
        assert rest == pytest.approx(ratio * gaps.min(), rel=1e-6)
    assert np.array_equal(after.rest[:-1][~lost], before.rest[~lost])
    assert np.array_equal(after.stiffness[:-1], before.stiffness)
    assert after.b[-1] == pin
    assert any("the nearest particle still pinned" in note for note in edited.notes)


def test_all_but_what_is_refused_is_done(corpus):
    """Some pinned particles of the skirt have no links: they stay, others are freed."""
    file = source(corpus, "BD_M_2210_c.hkx").cloth
    record = sims_of(file)[0]
    loose = np.setdiff1d(record.fixed, linked(record))
    held = np.intersect1d(record.fixed, linked(record))
    edited = turned(file, 0, [loose[0], loose[1], held[0]])
    assert edited.refusals == [
        f"BD_Skirt: particles {loose[0]}, {loose[1]} cannot be freed, having no links."
    ]  # fmt: skip
    assert np.array_equal(sims_of(edited.file)[0].fixed, np.setdiff1d(record.fixed, [held[0]]))
    assert check_identities(edited.file) == []


@pytest.mark.parametrize(
    ("state", "reason"), [(True, "pinned, for none would be free"), (False, "freed, for none would be pinned")]
)
def test_one_particle_stays_of_each_kind(robe, state, reason):
    file, sim, _ = robe
    old = values_of(file, sim)
    edited = with_values(file, {sim: replace(old, pinned=np.full(len(old.pinned), state))})
    assert edited == (file, [], [f"#28#_BD_Robe: no particles are {reason}."])


def test_without_a_known_vertex_nothing_is_pinned():
    """The sheet has neither a local range nor a transition, so only its pinned particles' vertices are known."""
    file = sheet(kinds=("StandardLinks", "StretchLinks"))
    edited = turned(file, 0, [20])
    assert edited == (
        file, [], ["sheet: particle 20 cannot be pinned, having no known vertex that bones carry."]
    )  # fmt: skip
    known = sheet(kinds=("StandardLinks", "StretchLinks", "LocalRange"))
    assert not turned(known, 0, [20]).refusals


def test_without_an_operator_nothing_is_pinned():
    file = sheet(kinds=("StandardLinks", "LocalRange"))
    data = file.datas[0]
    idle = with_data(file, 0, with_operators(data, {1: replace(data.operators[1], sim=9)}))
    assert "cannot be pinned" in turned(idle, 0, [20]).refusals[0]
    unwritten = with_data(
        file, 0, with_operators(data, {0: replace(data.operators[0], blends=())})
    )  # fmt: skip
    assert "cannot be pinned" in turned(unwritten, 0, [20]).refusals[0]


def test_a_cloth_without_links_for_each_particle_gets_no_more(robe):
    """Where some free particles have no stretch link, a freed one gets none."""
    file, sim, pin = robe
    number, place = sim_places(file)[sim]
    record = sims_of(file)[sim]
    fewer = tuple(
        replace(one, a=one.a[1:], b=one.b[1:], rest=one.rest[1:], stiffness=one.stiffness[1:])
        if isinstance(one, records.StretchLinks)
        else one
        for one in record.constraints
    )
    file = with_data(file, number, with_sim(file.datas[number], place, replace(record, constraints=fewer)))
    made = sims_of(turned(file, sim, [pin]).file)[sim]
    stretch = next(one for one in made.constraints if isinstance(one, records.StretchLinks))
    assert pin not in stretch.b
    assert pin not in stretch.a


def test_volumes_let_a_pinned_particle_go(corpus):
    file = source(corpus, "HD_M_1140_c.hkx").cloth
    volume = next(one for one in file[0].sims[0].constraints if isinstance(one, records.Volume))
    one = int(volume.apply_particle[3])
    made = next(one for one in turned(file, 0, [one]).file[0].sims[0].constraints if isinstance(one, records.Volume))
    assert np.array_equal(made.apply_stiffness == 0, volume.apply_particle == one)
    assert np.array_equal(made.apply_particle, volume.apply_particle)


@pytest.mark.parametrize("left", ["one free", "one pinned", "every other"])
def test_many_at_once(own, left):
    """Hardly any particle free, hardly any pinned, every other: what comes out is valid, calm and can be stored."""
    wanted = {}
    for sim, record in enumerate(own.sims):
        pinned = np.arange(len(record)) % 2 == 0
        if left == "one free":
            pinned[:] = True
            pinned[np.flatnonzero(record.mass > 0)[0]] = False
        elif left == "one pinned":
            pinned[:] = False
            pinned[record.fixed[0]] = True
        wanted[sim] = replace(values_of(own.cloth, sim), pinned=pinned)
    edited = with_values(own.cloth, wanted)
    assert all("having no links" in text for text in edited.refusals)
    got = [values_of(edited.file, sim).pinned for sim in wanted]
    if not edited.refusals:
        assert all(np.array_equal(mine, wanted[sim].pinned) for sim, mine in enumerate(got))
    assert check_identities(edited.file) == []
    assert try_out(edited.file, 60).fault == ""
    assert not trails(edited.file, read_cloth(Tagfile.read(own.stored(edited.file))))
