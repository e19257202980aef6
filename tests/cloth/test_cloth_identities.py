"""What holds in every cloth of the games: the numbers of a file follow from its rest pose, its model and each other.

Limits are those measured on each file of the corpus, rounded up.
"""

from __future__ import annotations

import numpy as np
import pytest

from addon.cloth import Settings, StateChoice, build_setup, new_state, reset, step
from addon.cloth.contacts import Cone
from addon.cloth.results import display_normals, display_positions, display_tangents, reference_pose
from addon.cloth.settings import ROOTS, RootChoice
from addon.codec.havok import cloth as records
from tests.cloth.corpus import CLOTHS, bound_meshes, drawn_triangles, load, still

ULP = np.float32(2.0**-23)
# file: how far the reference pose's skins lie from the rest pose, from the model, and its binds from the reference pose
SKINS = {
    "c7190_c.hkx": (3.1e-5, 5e-5, 1.3e-6),
    "c4500_c.hkx": (5.2e-2, 4.3e-2, 0.35),  # bones with shear, and binds of other poses of the rig
    "HD_M_1140_c.hkx": (3.2e-5, 5.1e-5, 1.4e-6),
    "HD_M_1630_c.hkx": (3.1e-5, 5.1e-5, 1.6e-6),
    "BD_M_2210_c.hkx": (3.2e-5, 5e-5, 2.7e-6),
}


@pytest.fixture(params=sorted(CLOTHS))
def sample(request, corpus):
    return load(corpus, request.param)


def sims(sample):
    return [sim for data in sample.cloth for sim in data.sims]


def sets(sample, kind):
    return [(sim, one) for sim in sims(sample) for one in sim.constraints if type(one) is kind]


def distance(sim, one):
    pose = sim.poses[0].astype(np.float64)
    return np.linalg.norm(pose[one.b] - pose[one.a], axis=1)


def test_masses(sample):
    for sim in sims(sample):
        free = sim.mass > 0
        assert np.array_equal(sim.inverse_mass[free], np.float32(1) / sim.mass[free])
        assert np.array_equal(np.flatnonzero(~free), sim.fixed)
        assert not sim.inverse_mass[~free].any()
        assert np.add.accumulate(sim.mass)[-1] == sim.total_mass
        assert sim.radius.max() == sim.max_radius


def test_rest_lengths(sample):
    for kind, limit in ((records.StandardLinks, 8e-7), (records.BendLinks, 8e-7)):
        for sim, one in sets(sample, kind):
            expected = distance(sim, one)
            for stored in [one.rest] if kind is records.StandardLinks else [one.bend_min, one.stretch_max]:
                assert np.abs(stored - expected).max() <= limit * max(1.0, np.abs(sim.poses[0]).max())
    for sim, one in sets(sample, records.StretchLinks):
        assert np.allclose(one.rest / distance(sim, one), (one.rest / distance(sim, one))[0], rtol=2e-5)
    for sim, one in sets(sample, records.CompressibleLinks):
        assert (one.compression <= one.rest).all()
        assert np.allclose(one.rest, 1.0 * distance(sim, one), rtol=2e-5)


def test_stiffness_is_stored_over_the_inverse_masses(sample):
    for kind in (records.StandardLinks, records.CompressibleLinks, records.BendLinks):
        for sim, one in sets(sample, kind):
            share = sim.inverse_mass[one.a] + sim.inverse_mass[one.b]
            stored = [one.bend_stiffness, one.stretch_stiffness] if kind is records.BendLinks else [one.stiffness]
            for stiffness in stored:
                k = stiffness.astype(np.float64) * share
                assert (k >= 0).all()
                assert (k <= 1 + 4 * ULP).all()
                if kind is not records.BendLinks:
                    assert np.ptp(k) < 1e-6
    for sim, one in sets(sample, records.StretchLinks):
        assert not sim.inverse_mass[one.a].any()
        assert (sim.inverse_mass[one.b] > 0).all()
        assert len(np.unique(one.b)) == len(one.b)


def test_bend_stiffness(sample):
    for sim, one in sets(sample, records.BendStiffness):
        pose = sim.poses[0].astype(np.float64)
        a, b, c, d = (pose[rows] for rows in one.indices)
        normals = [np.cross(a - c, a - d), np.cross(b - d, b - c), np.cross(c - b, c - a), np.cross(d - a, d - b)]
        n1, n2, n3, n4 = (np.linalg.norm(n, axis=1) for n in normals)
        weights = [n2 / (n1 + n2), n1 / (n1 + n2), -n4 / (n3 + n4), -n3 / (n3 + n4)]
        assert np.abs(one.weights - weights).max() < 1.5e-7
        strength = -one.stiffness.astype(np.float64) * sim.inverse_mass[one.indices].sum(0) / 4
        assert (strength > 0).all()
        assert (strength <= 1 + 1e-6).all()
        if not one.use_rest:
            assert not one.curvature.any()
            continue
        off = sum(weight[:, None] * corner for weight, corner in zip(one.weights, (a, b, c, d), strict=True))
        mean = normals[0] / n1[:, None] + normals[1] / n2[:, None]
        mean /= np.linalg.norm(mean, axis=1, keepdims=True)
        heights = one.curvature * (n1 * n2 / np.square(d - c).sum(1))
        assert np.abs(heights + (off * mean).sum(1)).max() <= (1.1e-6 if np.abs(pose).max() > 8 else 3.2e-7)
        assert one.max_height_squared == pytest.approx(64 * np.square(heights).max(), rel=4e-5)
        assert one.clamp


def test_volumes(sample):
    for sim, one in sets(sample, records.Volume):
        pose = sim.poses[0].astype(np.float64)
        assert one.frame_weight.astype(np.float64).sum() == pytest.approx(1, abs=1e-6)
        for particles, vectors in (
            (one.frame_particle, one.frame_vector),
            (one.apply_particle, one.apply_vector),
        ):
            center = pose[particles] - vectors
            assert np.ptp(center, axis=0).max() < 2e-6
            assert np.abs(center[0] - one.frame_weight @ pose[one.frame_particle]).max() < 2e-6


def test_local_ranges(sample):
    for sim, one in sets(sample, records.LocalRange):
        assert (sim.inverse_mass[one.particle] > 0).all()
        assert len(np.unique(one.particle)) == len(one.particle)
        assert one.stiffness == 1
        assert (one.max_distance >= 0).all()


def test_collidables(sample):
    pose = reference_pose(sample.cloth.skeleton).astype(np.float64)
    exact = ROOTS[RootChoice.EXACT]
    for sim in sims(sample):
        own = sim.collidable_map
        for index, one in enumerate(sim.collidables):
            carried = pose[own.bones[index]] @ own.offsets[index]
            assert np.abs(carried - one.transform).max() < 2.3e-6
            bits = (sim.masks >> np.uint32(index)) & 1
            assert np.array_equal(bits.astype(bool), sim.inverse_mass > 0)
            check_derived(one.shape, exact)


def check_derived(shape, roots):
    if isinstance(shape, records.Capsule):
        along = (shape.end - shape.start).astype(np.float64)
        length = np.linalg.norm(along)
        assert np.abs(along / length - shape.direction).max() < 2e-7
        assert shape.inverse_length_squared == pytest.approx(1 / length**2, rel=5e-7)
        return
    ends = shape.small[:, None], shape.big[:, None]
    cone = Cone.between(ends, (shape.small_radius, shape.big_radius), roots)
    assert np.abs(cone.axis[:, 0] - shape.axis).max() < 2e-7
    assert np.abs(shape.small - cone.base * cone.axis[:, 0] - shape.apex).max() < 1e-6
    members = {"length": "length", "sine": "sin", "cosine": "cos", "tangent": "tan", "base": "apex_distance"}
    for made, stored in members.items():
        assert getattr(cone, made)[0] == pytest.approx(getattr(shape, stored), rel=3e-7)
    assert cone.tangent[0] ** 2 == pytest.approx(shape.tan_squared, rel=7e-7)


def test_loose_collidables_have_the_same_derived_members(corpus):
    for name in ("WP_A_0213_collidable.hkx", "WP_A_0606_collidable.hkx"):
        for one in load(corpus, name).cloth.collidables:
            check_derived(one.shape, ROOTS[RootChoice.EXACT])


def test_references_lie_on_the_rest_pose(sample):
    """The states that reset a cloth skin its reference mesh, by the operators' own binds, into the particles."""
    setup = build_setup(sample.cloth)
    state = new_state(setup)
    reset(setup, state, still(sample.cloth))
    for place in setup.layout.sims:
        for shift in (0, setup.layout.particles):
            got = state.store[:, place.start + shift : place.stop + shift].T
            assert np.abs(got - place.record.poses[0]).max() < SKINS[sample.name][0]


def test_binds_undo_the_reference_pose(sample):
    pose = reference_pose(sample.cloth.skeleton).astype(np.float64)
    worst = 0.0
    for data in sample.cloth:
        for operator in data.operators:
            if isinstance(operator, records.Skin) and operator.binds is not None:
                worst = max(worst, np.abs(pose[operator.bones] @ operator.binds - np.eye(4)).max())
    limit = SKINS[sample.name][2]
    assert limit / 4 < worst < limit


def test_display_skins_give_the_model(sample):
    setup = build_setup(sample.cloth)
    meshes, flver = bound_meshes(sample)
    state = new_state(setup)
    step(setup, state, still(sample.cloth), 1 / 60, Settings(state=StateChoice.SKIN, tangents=True))
    for place, mesh in enumerate(meshes):
        vertices = flver.vertices(mesh)
        used = np.unique(flver.triangles(mesh, 0))
        assert np.abs(display_positions(setup, state, place) - vertices.positions)[used].max() < SKINS[sample.name][1]
        limit = 2.2e-2 if sample.name == "c4500_c.hkx" else 2.5e-5
        assert np.abs(display_normals(setup, state, place) - vertices.normals[:, :3])[used].max() < limit


def test_mesh_mesh_deformers_give_the_model_at_rest(sample):
    gaps = mesh_mesh_gaps(sample)
    assert np.abs(gaps).max(initial=0) < 5.2e-5
    counts = {"c7190_c.hkx": 977, "c4500_c.hkx": 0, "HD_M_1140_c.hkx": 543, "HD_M_1630_c.hkx": 7416}
    assert len(gaps) == counts.get(sample.name, 3527)


def mesh_mesh_gaps(sample):
    """Return how far deformed vertices are from the model's, with the particles in their rest pose, (n, 3).

    Everything that follows the particles is run, without a step.
    """
    setup = build_setup(sample.cloth, triangles=drawn_triangles(sample))
    meshes, flver = bound_meshes(sample)
    gaps = [np.zeros((0, 3), np.float32)]
    state = at_rest(setup, sample)
    for place, (display, mesh) in enumerate(zip(setup.displays, meshes, strict=True)):
        data = sample.cloth[display.place.data]
        for operator in data.operators:
            if isinstance(operator, records.MeshMeshDeform) and operator.output == display.place.buffer:
                rows = np.concatenate([blend.vertices for blend in operator.blends])
                gaps.append(display_positions(setup, state, place)[rows] - flver.vertices(mesh).positions[rows])
    return np.concatenate(gaps)


def at_rest(setup, sample):
    """Return a state in which the display stages ran over particles that did not move."""
    state = new_state(setup)
    fixed = np.concatenate([place.record.fixed.astype(np.intp) + place.start for place in setup.layout.sims])
    before = state.store[:, fixed].copy()
    frozen = Settings(
        gravity=(0, 0, 0), collisions=False, tangents=True, damping=1.0,
        disabled=frozenset(type(one).__name__ for sim in sims(sample) for one in sim.constraints),
    )  # fmt: skip
    step(setup, state, still(sample.cloth), 1 / 60, frozen)
    moved = np.abs(state.store[:, fixed] - before).max()
    assert moved < SKINS[sample.name][0]
    return state


def test_driven_bones_rest_in_the_reference_pose(sample):
    if not (setup := build_setup(sample.cloth)).driven:
        pytest.skip("drives no bones")
    pose = reference_pose(sample.cloth.skeleton).astype(np.float64)
    rest = new_state(setup)
    for data, stage_data in enumerate(sample.cloth):
        for operator in stage_data.operators:
            if isinstance(operator, records.SimpleMeshBoneDeform):
                place = setup.layout.buffers[data][operator.input]
                corners = rest.store[:, place.start + place.triangles[operator.triangles].astype(int)].astype(float)
                center = corners.mean(2)
                a, b = corners[:, :, 0] - center, corners[:, :, 1] - center
                frame = np.stack([a, b, np.cross(a.T, b.T).T, center], 2).transpose(1, 0, 2)
                made = frame @ operator.local
                scale = max(1.0, np.abs(corners).max())
                assert np.abs(made[:, :3] - pose[operator.bones][:, :3])[..., [0, 2, 3]].max() < 3e-6 * scale


def test_vertex_frames(sample):
    """The stored angles are those of the model's tangents from the direction to the reference vertex."""
    meshes, flver = bound_meshes(sample)
    setup = build_setup(sample.cloth)
    worst, count = 0.0, 0
    for display, mesh in zip(setup.displays, meshes, strict=True):
        for operator in sample.cloth[display.place.data].operators:
            if not isinstance(operator, records.VertexFrames) or operator.buffer != display.place.buffer:
                continue
            triangles = flver.triangles(mesh, 0)
            vertices = flver.vertices(mesh)
            rows = np.arange(len(vertices.positions)) if operator.vertices is None else operator.vertices
            use = np.isin(rows, triangles)
            rows, references = rows[use], operator.references[use]
            positions, normal, tangent = (
                table.astype(np.float64)
                for table in (vertices.positions, vertices.normals[rows, :3], vertices.tangents[0][rows, :3])
            )
            normal /= np.linalg.norm(normal, axis=1, keepdims=True)
            tangent /= np.linalg.norm(tangent, axis=1, keepdims=True)
            edge = positions[references] - positions[rows]
            start = edge - normal * (normal * edge).sum(1, keepdims=True)
            start /= np.linalg.norm(start, axis=1, keepdims=True)
            cos, sin = (start * tangent).sum(1), (np.cross(normal, start) * tangent).sum(1)
            worst = max(worst, np.abs(cos - operator.cos[use]).max(), np.abs(sin - operator.sin[use]).max())
            neighbours = np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]])
            pairs = {*map(tuple, neighbours.tolist()), *map(tuple, neighbours[:, ::-1].tolist())}
            assert set(zip(rows.tolist(), references.tolist(), strict=True)) <= pairs
            count += len(rows)
            check_flips(operator, vertices, triangles)
    assert count
    assert worst < 4e-7


def check_flips(operator, vertices, triangles):
    """A triangle is flipped where it winds against the model's normals."""
    if not operator.normals:
        return
    if operator.corners is not None:
        triangles = operator.involved[operator.corners.astype(int)]
    corners = vertices.positions.astype(np.float64)[triangles]
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    against = (normal * vertices.normals[:, :3].astype(np.float64)[triangles].sum(1)).sum(1)
    flips = operator.flips[: len(triangles)]
    clear = np.abs(against) > 1e-12
    assert np.array_equal(flips[clear], against[clear] < 0)


def test_frames_agree_with_the_model(sample):
    """At rest, normals and tangents made from triangles lie close to the model's."""
    setup = build_setup(sample.cloth, triangles=drawn_triangles(sample))
    meshes, flver = bound_meshes(sample)
    state = at_rest(setup, sample)
    for place, mesh in enumerate(meshes):
        used = np.unique(flver.triangles(mesh, 0))
        vertices = flver.vertices(mesh)
        for got, stored in (
            (display_normals(setup, state, place), vertices.normals),
            (display_tangents(setup, state, place), vertices.tangents[0]),
        ):
            agree = (got * stored[:, :3]).sum(1)[used]
            assert np.median(agree) > 0.97
