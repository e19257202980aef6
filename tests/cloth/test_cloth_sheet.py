"""What no file at hand has, on a cloth made here: substeps, kept velocities, cylinders, blends, wind, other spaces."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest

from addon.cloth import (
    Blending,
    ExtraCollidable,
    Pose,
    RootChoice,
    Settings,
    StateChoice,
    begin_blend,
    build_setup,
    display_normals,
    display_positions,
    new_state,
    particles,
    reset,
    step,
)
from addon.cloth.simulation import candidates
from addon.cloth.wind import computed
from addon.codec import FormatError
from addon.codec.havok import cloth as records
from tests.cloth.synthetic import body, local_range, sheet, with_sets
from tests.reference import cloth_plain
from tests.reference.cloth_plain_maths import ESTIMATED

F = np.float32
DT = F(1 / 60)
ALL = ("LocalRange", "StandardLinks", "BendLinks", "CompressibleLinks", "BendStiffness", "StretchLinks", "Volume")
CAPSULE = records.Capsule(
    np.array([0.1, -0.2, -0.05], F), np.array([0.3, -0.2, 0.05], F), F(0.06), np.array([1, 0, 0], F), F(1)
)
TAPERED = records.TaperedCapsule(
    np.array([0.05, -0.2, -0.06], F), np.array([0.35, -0.2, 0.02], F), F(0.04), F(0.09), *np.zeros((2, 3), F),
    *np.zeros(6, F),
)  # fmt: skip


def turned(angle, shift=(0, 0, 0)):
    matrix = np.eye(4)
    matrix[:3, :3] = [[np.cos(angle), 0, np.sin(angle)], [0, 1, 0], [-np.sin(angle), 0, np.cos(angle)]]
    matrix[:3, 3] = shift
    return matrix


def pose(count, root=None):
    own = turned(0.4 * np.sin(count / 12), (0.05 * np.sin(count / 9), 0, 0))
    bones = np.array([own, own @ turned(count / 30, (0, 0.01 * np.cos(count / 7), 0))])
    if root is not None:
        bones = root @ bones
    return Pose(bones.astype(F), None if root is None else root.astype(F))


def started(file, at=None, **options):
    setup = build_setup(file, **options)
    state = new_state(setup)
    reset(setup, state, at or pose(0))
    return setup, state


def compared_with_the_plain_step(file, count, long=(), *, estimated=False):
    """Return the particles after steps that have the bits of the plain ones; those of ``long`` are twice as long."""
    setup, state = started(file)
    plain = cloth_plain.Cloth(file[0], None, ESTIMATED if estimated else None)
    settings = Settings(roots=RootChoice.ESTIMATE if estimated else RootChoice.EXACT)
    plain.reset([cloth_plain.columns(bone) for bone in pose(0).bones])
    for number in range(1, count):
        dt = F(1 / 30) if number in long else DT
        step(setup, state, pose(number), dt, settings)
        plain.step([cloth_plain.columns(bone) for bone in pose(number).bones], dt)
        assert np.array_equal(particles(setup, state, 0), np.array(plain.sims[0].now.points, F)), number
        before = state.store[:, setup.layout.particles : 2 * setup.layout.particles].T
        assert np.array_equal(before, np.array(plain.sims[0].before.points, F)), number
    return particles(setup, state, 0)


@pytest.mark.bits
@pytest.mark.parametrize("substeps", [1, 2, 3])
def test_bits_of_the_plain_step(substeps):
    file = sheet(9, 7, substeps=substeps, kinds=ALL, shape=CAPSULE)
    moved = compared_with_the_plain_step(file, 60, long=(20, 21, 40))
    assert np.abs(moved - file[0].sims[0].poses[0]).max() > 0.01


@pytest.mark.bits
@pytest.mark.parametrize("shape", [CAPSULE, TAPERED])
def test_bits_with_estimated_roots(shape):
    """Each kernel refines its estimate where the games do."""
    compared_with_the_plain_step(sheet(9, 7, kinds=ALL, shape=shape), 30, estimated=True)


def test_sets_and_collision_are_solved_in_the_order_of_the_file():
    """-1 is collision, wherever it stands; without an order all sets are solved, then collision."""
    file = sheet(9, 7, kinds=("StandardLinks", "StretchLinks", "BendStiffness"), shape=CAPSULE)
    ends = {
        order: compared_with_the_plain_step(with_config(file, execution=np.array(order, np.int32)), 40).tobytes()
        for order in ((), (0, 1, 2, -1), (-1, 0, 1, 2), (2, -1, 1, 0, -1), (1, 0), (0, 1, 2))
    }
    assert ends[()] == ends[0, 1, 2, -1]
    assert len(set(ends.values())) == len(ends) - 1


def test_sets_are_solved_as_often_as_the_file_says():
    file = sheet(9, 7, kinds=("StandardLinks", "BendStiffness"))
    once, twice = (compared_with_the_plain_step(with_config(file, iterations=times), 20) for times in (1, 2))
    assert (once != twice).any()


def test_particles_that_are_moved_and_not_fixed_lose_their_velocity():
    """A cloth may have none that is fixed, and operators that move some all the same."""
    file = sheet(kinds=("StandardLinks",))
    sim = replace(file[0].sims[0], fixed=np.zeros(0, np.uint16))
    compared_with_the_plain_step(replace(file, datas=(replace(file[0], sims=(sim,)),)), 20)


def with_config(file, **values):
    """Return a sheet whose setting has other values."""
    data = file[0]
    config = replace(data.operators[2].configs[0], **values)
    operators = (*data.operators[:2], replace(data.operators[2], configs=(config,)), *data.operators[3:])
    return replace(file, datas=(replace(data, operators=operators),))


def test_cloths_that_do_not_touch_step_as_if_alone():
    """Batches of several datas, of different orders and substeps, give each the bits it has by itself."""
    one = sheet(9, 7, kinds=("LocalRange", "StandardLinks", "BendStiffness"), shape=CAPSULE)
    two = sheet(5, 11, kinds=("StandardLinks", "StretchLinks", "LocalRange"), seed=4)
    three = sheet(6, 6, kinds=ALL, substeps=2, seed=5)
    both = replace(one, datas=one.datas + two.datas + three.datas)
    setup, state = started(both)
    alone = [started(file) for file in (one, two, three)]
    kinds = [name for simulation in setup.plans["simulate"].simulations for name, _ in simulation.program.steps]
    assert kinds.count("StandardLinks") == 2, "sheets of one number of substeps share their links' levels"
    for count in range(1, 40):
        step(setup, state, pose(count), DT)
        for sim, (own, own_state) in enumerate(alone):
            step(own, own_state, pose(count), DT)
            assert np.array_equal(particles(setup, state, sim), particles(own, own_state, 0))
            assert np.array_equal(display_positions(setup, state, sim), display_positions(own, own_state, 0))


def test_copies_go_on_alike():
    setup, state = started(sheet(kinds=ALL, shape=CAPSULE))
    for count in range(10):
        step(setup, state, pose(count), DT)
    saved = state.copy()
    for count in range(10, 20):
        step(setup, state, pose(count), DT)
    for count in range(10, 20):
        step(setup, saved, pose(count), DT)
    for name, table in vars(state).items():
        assert np.array_equal(table, getattr(saved, name)), name
    assert not np.shares_memory(state.store, saved.store)
    assert saved.nbytes == sum(table.nbytes for table in vars(saved).values())


def test_particles_do_not_depend_on_the_display():
    setup, state = started(sheet(kinds=ALL))
    other = state.copy()
    hidden = Settings(display=False)
    assert len(setup.plans["simulate"].particles) < len(setup.plans["simulate"].full)
    for count in range(20):
        step(setup, state, pose(count), DT)
        step(setup, other, pose(count), DT, hidden)
        assert np.array_equal(particles(setup, state, 0), particles(setup, other, 0))


def test_the_display_is_in_the_characters_space():
    """Moving bones and root together moves the particles and leaves the drawn mesh where it was."""
    file = sheet(kinds=("LocalRange", "StandardLinks"))
    setup, state = started(file)
    root = turned(0.7, (3, 1, -2))
    moved = new_state(setup)
    reset(setup, moved, pose(0, root))
    gravity = Settings(gravity=(0, -9.81, 0))
    for count in range(20):
        step(setup, state, pose(count), DT, gravity)
        step(setup, moved, pose(count, root), DT, gravity)
    expected = particles(setup, state, 0) @ root[:3, :3].T + root[:3, 3]
    assert np.allclose(particles(setup, moved, 0), expected, atol=2e-4)
    assert np.allclose(display_positions(setup, moved, 0), display_positions(setup, state, 0), atol=2e-4)
    assert np.allclose(display_normals(setup, moved, 0), display_normals(setup, state, 0), atol=2e-2)


def test_a_display_reference_is_brought_to_the_world():
    """Reset, pins, ranges and blends that read the drawn mesh: the same world positions as from a mesh of the world."""
    file = sheet(kinds=("LocalRange", "StandardLinks", "Transition"))
    data = file[0]
    display = replace(data.buffers[0], type=4, name="reference")
    drawn = replace(file, datas=(replace(data, buffers=(display, *data.buffers[1:])),))
    root = turned(0.7, (3, 1, -2))
    results = []
    for own in (file, drawn):
        setup, state = started(own, pose(0, root))
        for count in range(20):
            step(setup, state, pose(count, root), DT)
        results.append([particles(setup, state, 0)])
        begin_blend(setup, state, 0, Blending.TO_ANIMATION)
        step(setup, state, pose(20, root), DT)
        results[-1].append(particles(setup, state, 0))
    assert np.allclose(*results, atol=1e-4)


def test_states():
    setup, state = started(sheet())
    start = state.copy()
    step(setup, state, pose(30), DT, Settings(state=StateChoice.EMPTY))
    assert np.array_equal(state.store, start.store)
    step(setup, state, pose(30), DT, Settings(state=StateChoice.SKIN))
    expected = start.store[:, : setup.layout.particles].T @ pose(30).bones[0, :3, :3].T + pose(30).bones[0, :3, 3]
    rest = sheet()[0].sims[0].poses[0] @ pose(30).bones[0, :3, :3].T + pose(30).bones[0, :3, 3]
    assert expected.shape == rest.shape
    assert np.allclose(display_positions(setup, state, 0), rest, atol=1e-6)
    assert np.array_equal(particles(setup, state, 0), particles(setup, start, 0))
    with pytest.raises(FormatError, match="no state #02#"):
        build_setup(sheet(), states={"sheet": "#02#"})


def test_reset_with_a_pose_before_gives_velocity():
    setup, state = started(sheet())
    reset(setup, state, pose(1), before=pose(0))
    count = setup.layout.particles
    assert np.abs(state.store[:, :count] - state.store[:, count : 2 * count]).max() > 1e-3
    reset(setup, state, pose(1))
    assert np.array_equal(state.store[:, :count], state.store[:, count : 2 * count])


def test_given_display_positions_pass_through_where_nothing_writes():
    file = sheet()
    data = file[0]
    copy = replace(data.operators[3], count=10)
    frames = replace(data.operators[4], normals=False, tangents=False)
    part = replace(data, operators=(*data.operators[:3], copy, frames, *data.operators[5:]))
    setup, state = started(replace(file, datas=(part,)))
    assert np.array_equal(np.flatnonzero(setup.displays[0].written), np.arange(10))
    given = np.full((48, 3), 7, F)
    step(setup, state, replace(pose(5), display={0: given}), DT)
    own = display_positions(setup, state, 0)
    assert np.array_equal(own[:10], particles(setup, state, 0)[:10])
    # without operators that write there, the caller's mesh stays; the file's own skin is for callers that give none
    assert np.array_equal(own[10:], given[10:])
    step(setup, state, pose(5), DT)
    skinned = data.sims[0].poses[0] @ pose(5).bones[0, :3, :3].T + pose(5).bones[0, :3, 3]
    assert np.allclose(display_positions(setup, state, 0)[10:], skinned[10:], atol=1e-6)


def test_length_of_steps_may_change():
    """Previous positions are rescaled, so that a falling particle keeps its velocity."""
    setup, state = started(sheet(kinds=("StandardLinks",)))
    free = Settings(disabled=frozenset({"StandardLinks"}), damping=0.0)
    still = pose(0)
    for _ in range(30):
        step(setup, state, still, 1 / 60, free)
    before = particles(setup, state, 0)[-1, 1]
    step(setup, state, still, 1 / 30, free)
    speed = (particles(setup, state, 0)[-1, 1] - before) * 30
    assert speed == pytest.approx(-9.81 * (30.5 / 60 + 1 / 30), rel=0.03)
    assert state.last[0] == F(1 / 30)


def test_collidables_follow_their_bones_while_collision_is_off():
    """Switched on again they are where they belong, and have no velocity that brings them there at once."""
    (setup, state), (_, other) = (started(sheet(shape=CAPSULE)) for _ in range(2))
    for count in range(10):
        step(setup, state, pose(count), DT)
        step(setup, other, pose(count), DT, Settings(collisions=False))
    assert np.array_equal(state.places, other.places)
    assert np.abs(state.places[:, :, 0] - new_state(setup).places[:, :, 0]).max() > 0.01


def test_damping_and_substeps_override():
    setup, state = started(sheet(kinds=("StandardLinks",)))
    falling = frozenset({"StandardLinks"})
    for _ in range(10):
        step(setup, state, pose(0), DT, Settings(disabled=falling, damping=1.0, substeps=2))
    assert state.last[0] == F(0.5) * DT
    fallen = particles(setup, state, 0)[-1, 1] - sheet()[0].sims[0].poses[0][-1, 1]
    # without velocity each substep falls g dt2
    assert fallen == pytest.approx(-9.81 * 20 * (1 / 120) ** 2, rel=1e-3)


@pytest.mark.parametrize(("gravity", "scale"), [(None, 2.0), ((0, -9.81, 0), 2.0), ((0, -19.62, 0), 1.0)])
def test_gravity_may_be_another_and_is_scaled(gravity, scale):
    setup, state = started(sheet(kinds=("StandardLinks",)))
    free = Settings(disabled=frozenset({"StandardLinks"}), damping=0.0, gravity=gravity, gravity_scale=scale)
    for _ in range(10):
        step(setup, state, pose(0), DT, free)
    fallen = particles(setup, state, 0)[-1, 1] - sheet()[0].sims[0].poses[0][-1, 1]
    assert fallen == pytest.approx(-19.62 * 55 / 3600, rel=1e-4)


@pytest.mark.parametrize(
    ("substeps", "chosen", "adapt", "keeps"),
    [(1, None, True, False), (2, None, False, False), (2, None, True, True), (1, 2, True, True), (2, 1, True, False)],
)
def test_kept_velocity(substeps, chosen, adapt, keeps):
    """With adapted stiffness and substeps a range moves the previous position along, else the push is a velocity."""
    file = with_sets(sheet(), [local_range(np.arange(8, 48))])
    setup, state = started(with_config(file, substeps=substeps, adapt=adapt))
    count = setup.layout.particles
    far = state.store.copy()
    state.store[:, count - 1] += F(1)
    state.store[:, 2 * count - 1] += F(1)
    step(setup, state, pose(0), DT, Settings(gravity=(0, 0, 0), damping=0.0, substeps=chosen))
    velocity = state.store[:, count - 1] - state.store[:, 2 * count - 1]
    assert np.linalg.norm(state.store[:, count - 1] - far[:, count - 1]) < 0.21
    assert (np.abs(velocity).max() < 1e-3) == keeps


def test_a_cylinder_bounds_across_and_along_the_normal():
    one = replace(local_range(np.arange(8, 48), shape=1), max_distance=np.full(40, 0.03, F))
    setup, state = started(with_sets(sheet(), [one]))
    count = setup.layout.particles
    push = np.array([0.2, 0.1, 0.4], F)[:, None]
    state.store[:, :count] += push
    state.store[:, count : 2 * count] += push
    rest = state.store[:, setup.layout.buffers[0][0].start :][:, :count].copy()
    step(setup, state, pose(0), DT, Settings(gravity=(0, 0, 0)))
    gap = (state.store[:, :count] - rest)[:, 8:]
    assert np.abs(np.hypot(gap[0], gap[1]) - 0.03).max() < 1e-6
    assert np.abs(gap[2] - 0.1).max() < 1e-6


def test_transitions_lead_to_the_animation_and_back():
    setup, state = started(sheet(kinds=("StandardLinks", "Transition")))
    for _ in range(30):
        step(setup, state, pose(0), DT)
    skinned = sheet()[0].sims[0].poses[0] @ pose(0).bones[0, :3, :3].T + pose(0).bones[0, :3, 3]

    def away():
        return np.abs(particles(setup, state, 0) - skinned).max()

    loose = away()
    assert loose > 0.01
    begin_blend(setup, state, 0, Blending.TO_ANIMATION)
    distances = []
    for _ in range(8):
        step(setup, state, pose(0), DT)
        distances.append(away())
    assert distances[-1] < 1e-7
    assert state.blending[0] == Blending.ANIMATED
    assert all(later <= earlier + 1e-7 for earlier, later in itertools.pairwise(distances))
    step(setup, state, pose(0), DT)
    assert away() < 1e-7
    begin_blend(setup, state, 0, Blending.TO_SIMULATION)
    for _ in range(60):
        step(setup, state, pose(0), DT)
    assert state.blending[0] == Blending.SIMULATED
    assert away() > 0.01


def test_a_blend_is_a_step_older_before_the_step_is_done():
    file = sheet(kinds=("StandardLinks", "Transition"))
    sim = file[0].sims[0]
    late = replace(sim.constraints[1], to_anim_delay=np.full(len(sim), 1.5 * DT, F))
    setup, state = started(with_sets(file, [sim.constraints[0], late]))
    for _ in range(10):
        step(setup, state, pose(0), DT)
    free = state.copy()
    begin_blend(setup, state, 0, Blending.TO_ANIMATION)
    alike = []
    for _ in range(3):
        for one in (state, free):
            step(setup, one, pose(0), DT)
        alike.append(np.array_equal(state.store, free.store))
    assert alike == [True, False, False]


def test_wind_reuses_forces():
    assert np.unique(computed(10)).tolist() == [0, 2, 5, 7, 9]
    assert computed(10).tolist() == [0, 0, 2, 2, 2, 5, 5, 7, 7, 9]
    assert computed(1).tolist() == [0]
    assert computed(0).tolist() == []


@pytest.mark.parametrize(("wind", "substeps"), [((0, 0, 6), 1), ((2, -1, -5), 1), ((2, -1, -5), 3)])
def test_wind_pushes_as_the_recorded_action_does(wind, substeps):
    file = sheet(kinds=("StandardLinks",), substeps=substeps)
    sim, count = file[0].sims[0], 48
    setup, state = started(file)
    settings = Settings(wind=wind, gravity=(0, 0, 0), disabled=frozenset({"StandardLinks"}), damping=0.0)
    step(setup, state, pose(0), DT, settings)
    assert np.array_equal(particles(setup, state, 0), sim.poses[0]), "no normals before a step"
    for _ in range(5):  # from then on the particles have velocity
        step(setup, state, pose(0), DT, settings)
    now, before = (state.store[:, shift : shift + count].T.astype(np.float64) for shift in (0, count))
    facing = np.abs(state.normals[:, :count].T @ (np.array(wind) / np.linalg.norm(wind)))
    share = (sim.mass / sim.total_mass * facing * 10)[:, None]
    step(setup, state, pose(0), DT, settings)
    length = 1 / 60 / substeps
    for _ in range(substeps):
        force = ((-1 / length * (now - before) + wind) * share)[computed(count)]
        now, before = now + (now - before) + force * sim.inverse_mass[:, None] * length**2, now
    assert np.allclose(particles(setup, state, 0), now, atol=3e-7)
    assert (np.sign(wind[2]) * particles(setup, state, 0)[10:, 2]).min() > 1e-3


def test_wind_without_normals_takes_a_fixed_share():
    file = sheet(kinds=("StandardLinks",))
    sim = replace(file[0].sims[0], makes_normals=False)
    data = replace(file[0], sims=(sim,))
    setup, state = started(replace(file, datas=(data,)))
    still = Settings(wind=(0, 0, 6), gravity=(0, 0, 0), disabled=frozenset({"StandardLinks"}), damping=0.0)
    step(setup, state, pose(0), DT, still)
    force = (6 * (sim.mass / sim.total_mass) * 7)[computed(len(sim))]
    assert np.allclose(particles(setup, state, 0)[:, 2], force * sim.inverse_mass / 3600, rtol=1e-4)


@pytest.mark.parametrize("display", [True, False])
def test_wind_meets_cloth_that_no_mesh_shows(display):
    file = sheet(kinds=("StandardLinks",))
    main = replace(file[0].states[0], operators=np.array([0, 1, 2], np.uint32))
    hidden = replace(file, datas=(replace(file[0], states=(main, *file[0].states[1:])),))
    (setup, state), (other, unseen) = started(file), started(hidden)
    settings = Settings(wind=(0, 0, 6))
    for _ in range(4):
        step(setup, state, pose(0), DT, settings)
        step(other, unseen, pose(0), DT, replace(settings, display=display))
    assert np.array_equal(particles(other, unseen, 0), particles(setup, state, 0))
    assert particles(setup, state, 0)[10:, 2].min() > 1e-3


def test_what_is_left_out_is_said():
    file = sheet()
    sim = replace(file[0].sims[0], landscape=True, virtual_point_count=12)
    setup = build_setup(replace(file, datas=(replace(file[0], sims=(sim,)),)))
    assert setup.notes == (
        "sheet: collision with the landscape is not simulated.",
        "sheet: 12 virtual collision points are not simulated.",
    )


def test_added_collidables_may_hang_from_other_bones():
    """A bone the cloth's skeleton lacks is asked for; every free particle meets the body, from its first step on."""
    extra = [ExtraCollidable(body(CAPSULE), "Tail"), ExtraCollidable(body(CAPSULE), "Body")]
    setup = build_setup(sheet(), extra=extra)
    assert setup.bones == ("Root", "Body", "Tail")
    assert setup.read.tolist() == [True, True, True]
    state = new_state(setup)
    still = Pose(np.tile(np.eye(4, dtype=F), (3, 1, 1)))
    reset(setup, state, still)
    for _ in range(20):
        step(setup, state, still, DT)
    assert np.abs(particles(setup, state, 0)[:, 2]).max() > 0.04
    assert not np.abs(particles(setup, state, 0)[:8] - sheet()[0].sims[0].poses[0][:8]).any()


def test_bits_of_masks_name_collidables():
    """A collidable meets the free particles with its bit; all from the 31st share one; what is off meets none."""
    sim = sheet(shape=CAPSULE)[0].sims[0]
    bodies = tuple(replace(body(CAPSULE), enabled=number != 4) for number in range(33))
    masks = np.zeros(len(sim), np.uint32)
    masks[[8, 9, 10]], masks[11], masks[12], masks[0] = 1 << 2, 1 << 30, 1 << 31, 0xFFFFFFFF
    masks[13:] = 1 << 4
    own = records.CollidableMap(0, np.ones(33, np.uint32), np.tile(np.eye(4, dtype=F), (33, 1, 1)))
    data = replace(sheet()[0], sims=(replace(sim, collidables=bodies, collidable_map=own, masks=masks),))
    setup = build_setup(replace(sheet(), datas=(data,)))
    found = {one.collidable: one.particles[0].tolist() for one in candidates(0, setup.layout, setup.bodies)}
    assert found == {2: [8, 9, 10], 30: [11], 31: [11], 32: [11]}


def test_buffers_of_no_cloth_are_refused():
    data = sheet()[0]
    wrong = replace(data, buffers=(data.buffers[0], replace(data.buffers[1], vertex_count=3), *data.buffers[2:]))
    with pytest.raises(FormatError, match="no simulated cloth"):
        build_setup(replace(sheet(), datas=(wrong,)))
