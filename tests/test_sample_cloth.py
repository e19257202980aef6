"""The sample's cloth keeps to what the cloths of the games keep to."""

from __future__ import annotations

import numpy as np
import pytest

from addon.cloth import (
    MeshKey,
    Pose,
    bind_displays,
    build_setup,
    display_positions,
    new_state,
    particles,
    reference_pose,
    reset,
    step,
)
from addon.codec import Tagfile, read_cloth
from addon.codec.havok import cloth as records
from addon.codec.havok.cloth.values import pack, unpack
from addon.model import node_matrices
from tests.sample import make_sample
from tests.sample_cloth import SKELETON, make_sample_cloth

DT = np.float32(1 / 60)


@pytest.fixture(scope="module")
def flver():
    return make_sample()


@pytest.fixture(scope="module")
def data(flver):
    return make_sample_cloth(flver, len(flver.meshes) - 1).write()


@pytest.fixture(scope="module")
def cloth(data):
    return read_cloth(Tagfile.read(data))


def test_it_reads_and_writes_the_same(data):
    assert Tagfile.read(data).write() == data


def test_packed_vectors_round_to_the_nearest_of_fifteen_bits():
    vectors = np.random.default_rng(2).normal(size=(500, 3)) * np.exp2(np.arange(500) % 9 - 4)[:, None]
    packed = pack(vectors)
    largest = np.abs(packed[:, :3].astype(int)).max(axis=1)
    assert largest.min() >= 16384
    quantum = np.abs(vectors).max(axis=1) / largest
    assert (np.abs(unpack(packed) - vectors).max(axis=1) <= 0.51 * quantum).all()


def test_the_skeleton_is_the_models(flver, cloth):
    world = node_matrices(flver.nodes)[[flver.node_names.index(name) for name in SKELETON]]
    np.testing.assert_allclose(reference_pose(cloth.skeleton), world, atol=1e-6)


def test_masses_and_links_are_as_in_the_games(cloth):
    (sim,) = cloth[0].sims
    np.testing.assert_array_equal(sim.fixed, np.flatnonzero(sim.mass == 0))
    assert sim.total_mass == np.add.accumulate(sim.mass, dtype=np.float32)[-1]
    standard = next(one for one in sim.constraints if type(one) is records.StandardLinks)
    points = sim.poses[0]
    rest = np.linalg.norm(points[standard.a] - points[standard.b], axis=1)
    np.testing.assert_allclose(standard.rest, rest, rtol=1e-6)
    shares = standard.stiffness * (sim.inverse_mass[standard.a] + sim.inverse_mass[standard.b])
    np.testing.assert_allclose(shares, 0.9, rtol=1e-6)
    stretch = next(one for one in sim.constraints if type(one) is records.StretchLinks)
    assert (sim.inverse_mass[stretch.a] == 0).all()
    assert (sim.inverse_mass[stretch.b] > 0).all()
    assert sim.masks[sim.fixed].max() == 0


def test_the_display_buffer_is_the_banner(flver, cloth):
    mesh = flver.meshes[-1]
    own = MeshKey(flver.node_names[mesh.node], mesh.vertex_count, len(flver.triangles(len(flver.meshes) - 1, 0)))
    binding = bind_displays(build_setup(cloth).displays, [MeshKey("other", 1, 1), own])
    assert binding.meshes == (1,)
    assert not binding.warnings


def test_it_starts_on_the_skin_hangs_and_comes_to_rest(flver, cloth):
    setup = build_setup(cloth)
    state, pose = new_state(setup), Pose(reference_pose(cloth.skeleton))
    reset(setup, state, pose)
    rest = flver.vertices(len(flver.meshes) - 1).positions
    np.testing.assert_allclose(particles(setup, state, 0), rest, atol=1e-4)
    for _ in range(300):
        step(setup, state, pose, DT)
    settled = particles(setup, state, 0)
    moved = np.linalg.norm(settled - rest, axis=1)
    assert 0.01 < moved.max() < 0.3
    np.testing.assert_allclose(settled[cloth[0].sims[0].fixed], rest[cloth[0].sims[0].fixed], atol=1e-4)
    np.testing.assert_array_equal(display_positions(setup, state, 0), settled)
    for _ in range(120):
        step(setup, state, pose, DT)
    assert np.abs(particles(setup, state, 0) - settled).max() < 0.002
