"""A rest pose that moved: what held in the file holds again, and cloth starts from there."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from addon.cloth import Settings, build_setup, new_state, particles, reset, step
from addon.cloth.edits.identities import check_identities
from addon.cloth.edits.rest import with_rest
from addon.cloth.results import reference_pose
from addon.codec.havok import cloth as records
from tests.cloth import test_cloth_identities as identities
from tests.cloth.corpus import Sample, still
from tests.cloth.subjects import OWN, SUBJECTS, stored, subject

# how far skins of the reference pose are from the rest pose: half a step of a packed vector, at that distance
PACKED = 3.2e-5
SHEARED = 5.2e-2  # of c4500, as its bones have shear, and binds of other poses of the rig


@pytest.fixture(params=SUBJECTS)
def edited(request, corpus):
    """Return a file, the poses its cloths shall have, and the edit."""
    one = subject(corpus, request.param)
    poses = bent(one, seed=3, size=0.04)
    made = with_rest(one.cloth, poses)
    assert not made.refusals
    return one, poses, made.file


def bent(one, seed, size):
    """Return smooth moves of all particles of all cloths, by up to about ``size`` of their extents."""
    random = np.random.default_rng(seed)
    poses = {}
    for number, sim in enumerate(one.sims):
        pose = sim.poses[0].astype(np.float64)
        extent = np.ptp(pose, axis=0).max()
        waves = random.normal(size=(3, 3)) * 3 / extent
        ways = random.normal(size=(3, 3)) * size * extent / 3
        phases = random.uniform(0, 2 * np.pi, 3)
        poses[number] = (pose + np.sin((pose - pose.mean(0)) @ waves.T + phases) @ ways).astype(np.float32)
    return poses


def sets_of(one, file):
    """Yield each constraint set before and after, with both poses, in float64."""
    for before, after in zip(one.cloth, file, strict=True):
        for old, new in zip(before.sims, after.sims, strict=True):
            poses = old.poses[0].astype(np.float64), new.poses[0].astype(np.float64)
            for left, right in zip(old.constraints, new.constraints, strict=True):
                yield left, right, *poses


def test_the_pose_is_the_one_asked_for(edited):
    one, poses, file = edited
    for number, sim in enumerate(sim for data in file for sim in data.sims):
        assert np.array_equal(sim.poses[0], poses[number])
        assert (sim.poses[0] != one.sims[number].poses[0]).any()


def test_lengths_keep_their_share_of_the_distance(edited):
    one, _, file = edited
    count = 0
    for old, new, before, after in sets_of(one, file):
        if not isinstance(old, records.Links):
            continue
        extent = max(1.0, np.abs(before).max(), np.abs(after).max())
        was, now = (np.linalg.norm(pose[old.b] - pose[old.a], axis=1) for pose in (before, after))
        for name in ("rest", "compression", "bend_min", "stretch_max"):
            if hasattr(old, name):
                share = getattr(old, name) / was
                assert np.abs(getattr(new, name) - share * now).max() < 2e-6 * extent
                # those that are the distance are it exactly again
                plain = np.abs(share - 1) * was < 1e-7
                assert np.abs(getattr(new, name) - now)[plain].max(initial=0) < 1.3e-7 * extent
                count += len(share)
        same = ("a", "b", "stiffness", "bend_stiffness", "stretch_stiffness")
        assert all(records.same(getattr(old, name), getattr(new, name)) for name in same if hasattr(old, name))
    assert count


def test_the_identities_hold_again(edited):
    """The tests of the games' own files, on the edit."""
    one, _, file = edited
    sample = Sample(one.name, file, one.sample.model)
    if one.name != OWN:
        identities.test_rest_lengths(sample)
        identities.test_stiffness_is_stored_over_the_inverse_masses(sample)
        identities.test_binds_undo_the_reference_pose(sample)
    identities.test_masses(sample)
    identities.test_bend_stiffness(sample)
    identities.test_volumes(sample)
    identities.test_local_ranges(sample)
    identities.test_collidables(sample)
    assert not check_identities(file)


def test_bending_is_made_anew(edited):
    one, _, file = edited
    for old, new, *_ in sets_of(one, file):
        if isinstance(old, records.BendStiffness):
            assert records.same(old.stiffness, new.stiffness)
            assert records.same(old.indices, new.indices)
            assert (old.weights != new.weights).any()
            assert (old.curvature != new.curvature).any() == old.use_rest


def test_cloth_starts_from_the_new_pose(edited):
    """Pins, previous and current positions come from skins of the reference pose."""
    one, poses, file = edited
    for number, (before, after) in enumerate(zip(starts(one.cloth), starts(file), strict=True)):
        old, new = one.sims[number].poses[0], poses[number]
        size = max(1.0, np.abs(new).max())
        limit = SHEARED if one.name == "c4500_c.hkx" else PACKED * size
        for was, now in zip(before, after, strict=True):
            assert np.abs(now - new).max() < limit
            if one.name == "c4500_c.hkx":
                # bones that carry the old pose aright carry the new one so; the others by their shear
                right = np.abs(was - old).max(1) < 2e-3
                assert np.count_nonzero(right) > 0.5 * len(right)
                assert np.abs((now - new)[right]).max() < 2e-2


def starts(file):
    """Return current and previous positions of each cloth after a reset."""
    setup = build_setup(file)
    state = new_state(setup)
    reset(setup, state, still(file))
    columns = [(place.start, place.stop) for place in setup.layout.sims]
    return [
        [state.store[:, start + shift : stop + shift].T for shift in (0, setup.layout.particles)]
        for start, stop in columns
    ]


def test_the_first_step_holds_the_pins_there(edited):
    one, poses, file = edited
    setup = build_setup(file)
    state = new_state(setup)
    reset(setup, state, still(file))
    step(setup, state, still(file), 1 / 60)
    for number, place in enumerate(setup.layout.sims):
        fixed = place.record.fixed
        limit = SHEARED if one.name == "c4500_c.hkx" else PACKED * max(1.0, np.abs(poses[number]).max())
        assert np.abs(particles(setup, state, number)[fixed] - poses[number][fixed]).max(initial=0) < limit


def test_nothing_pulls_at_the_new_pose(edited):
    """Without gravity and bending, whose rest is none, the sets leave the pose where it is."""
    one, _, file = edited
    calm = Settings(gravity=(0, 0, 0), collisions=False, disabled=frozenset({"BendStiffness"}))

    def drift(cloth):
        setup = build_setup(cloth)
        state = new_state(setup)  # it starts on the stored pose
        step(setup, state, still(cloth), 1 / 60, calm)
        return [
            np.abs(particles(setup, state, number) - place.record.poses[0]).max()
            for number, place in enumerate(setup.layout.sims)
        ]

    for number, (was, now) in enumerate(zip(drift(one.cloth), drift(file), strict=True)):
        extent = max(1.0, np.abs(one.sims[number].poses[0]).max())
        assert now < 1.5 * was + 4e-5 * extent


def test_the_drawn_mesh_stays_the_models(edited):
    one, _, file = edited
    if one.name == OWN:
        pytest.skip("its drawn mesh is a copy of the particles")
    before, after = (
        identities.mesh_mesh_gaps(Sample(one.name, cloth, one.sample.model)) for cloth in (one.cloth, file)
    )
    assert len(after) == len(before)
    # pins and previous positions come from packed skins, so that the triangles are off by as much
    assert np.abs(after).max(initial=0) < 7e-5


def test_driven_bones_stay_in_the_reference_pose(edited):
    one, _, file = edited
    identities.test_driven_bones_rest_in_the_reference_pose(Sample(one.name, file, one.sample.model))


def test_a_copied_mesh_shows_the_particles_and_is_told_of(corpus):
    one = subject(corpus, OWN)
    poses = bent(one, seed=4, size=0.03)
    made = with_rest(one.cloth, poses)
    assert len(made.notes) == 1
    assert "shows the particles themselves" in made.notes[0]
    # the skin that shows the mesh without simulation is the model's, as the particles do not start from it
    shown = [operator for operator in made.file[0].operators if isinstance(operator, records.Skin)][1]
    kept = [operator for operator in one.cloth[0].operators if isinstance(operator, records.Skin)][1]
    assert shown is kept


def test_it_is_stored(edited):
    one, _, file = edited
    again = stored(one, file)
    assert len(again.write()) == len(one.data)


def test_a_turned_cloth_has_the_same_lengths(corpus):
    """A rigid move changes no length beyond rounding, and turns normals with it."""
    one = subject(corpus, "HD_M_1140_c.hkx")
    angle = np.radians(20)
    turn = np.array([[np.cos(angle), -np.sin(angle), 0], [np.sin(angle), np.cos(angle), 0], [0, 0, 1]])
    poses = {
        number: ((sim.poses[0] - sim.poses[0].mean(0)) @ turn.T + sim.poses[0].mean(0) + 0.1).astype(np.float32)
        for number, sim in enumerate(one.sims)
    }
    file = with_rest(one.cloth, poses).file
    assert not check_identities(file)
    for old, new, *_ in sets_of(one, file):
        for name in ("rest", "curvature", "weights"):
            if hasattr(old, name):
                np.testing.assert_allclose(getattr(new, name), getattr(old, name), rtol=2e-3, atol=3e-6)
    pose = reference_pose(file.skeleton).astype(np.float64)
    skins = [next(operator for operator in data.operators if isinstance(operator, records.Skin)) for data in file]
    olds = [next(operator for operator in data.operators if isinstance(operator, records.Skin)) for data in one.cloth]
    for skin, old in zip(skins, olds, strict=True):
        for blend, before in zip(skin.blends, old.blends, strict=True):
            seen, was = (normals_of(own, pose, skin) for own in (blend, before))
            moved = np.abs(seen - was).max(1) > 1e-3
            assert np.count_nonzero(moved) >= 0.9 * len(moved) - 2  # all but vertices that no particle follows
            # sim normals come from float positions of triangles of a centimetre
            assert np.abs(seen - was @ turn.T)[moved].max() < 1e-3


def normals_of(blend, pose, skin):
    """Return a blend's normals in the reference pose."""
    if skin.binds is not None:
        return blend.normals.astype(np.float64)
    return np.einsum("nkij,nkj->ni", pose[skin.bones][blend.sources][..., :3, :3], blend.normals.astype(np.float64))


@settings(max_examples=12)
@given(seed=st.integers(0, 2**32), size=st.floats(0.001, 0.25))
@pytest.mark.parametrize("name", ["HD_M_1140_c.hkx", OWN])
def test_identities_hold_after_any_smooth_move(corpus, name, seed, size):
    one = subject(corpus, name)
    made = with_rest(one.cloth, bent(one, seed, size))
    assert not made.refusals
    assert not check_identities(made.file)
    sample = dataclasses.replace(one.sample, cloth=made.file)
    identities.test_bend_stiffness(sample)
    identities.test_volumes(sample)
    identities.test_masses(sample)
