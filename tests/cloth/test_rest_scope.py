"""A rest pose that moved: what does not depend on it stays to the bit, and what cannot be done is refused."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

from addon.cloth.edits.rest import with_rest
from addon.cloth.edits.rest_frames import frames, rehung
from addon.cloth.edits.rest_references import Shift, shifted
from addon.cloth.edits.rest_sets import Move
from addon.codec.havok import cloth as records
from addon.codec.havok.cloth.values import pack, unpack
from tests.cloth.subjects import OWN, SUBJECTS, stored, subject
from tests.cloth.synthetic import sheet

F = np.float32
# what of a cloth data may differ, by the place of the cloth
MAY_DIFFER = (
    r"sims\[{sim}\]\.poses",
    r"sims\[{sim}\]\.constraints\[\d+\]\.(rest|compression|bend_min|stretch_max|weights|curvature)",
    r"sims\[{sim}\]\.constraints\[\d+\]\.(max_height_squared|frame_vector|apply_vector)",
    r"operators\[\d+\]\.blends\[\d+\]\.(positions|normals|tangents)",
    r"operators\[\d+\]\.(binds|local)",
)


@pytest.fixture(params=SUBJECTS)
def one(request, corpus):
    return subject(corpus, request.param)


def bulged(sim, particle, radius, height):
    """Return a pose in which the particles around one are lifted, and which those are."""
    pose = sim.poses[0].astype(np.float64)
    gap = np.linalg.norm(pose - pose[particle], axis=1) / radius
    lift = np.where(gap < 1, np.cos(np.minimum(gap, 1) * np.pi / 2) ** 2, 0)
    moved = (pose + height * lift[:, None] * np.array([0.6, 0.64, 0.48])).astype(F)
    return moved, (moved != sim.poses[0]).any(1)


def test_a_pose_that_is_the_stored_one_changes_nothing(one):
    made = with_rest(one.cloth, {number: sim.poses[0].copy() for number, sim in enumerate(one.sims)})
    assert made.file is one.cloth
    assert not made.notes
    assert not made.refusals
    assert stored(one, made.file).write() == one.data


def test_only_what_depends_on_the_moved_particles_differs(one):
    for number, sim in enumerate(one.sims):
        extent = np.ptp(sim.poses[0], axis=0).max()
        pose, moved = bulged(sim, len(sim) // 2, 0.25 * extent, 0.02 * extent)
        made = with_rest(one.cloth, {number: pose})
        assert not made.refusals
        places = [(data, place) for data, own in enumerate(one.cloth) for place in range(len(own.sims))]
        own, place = places[number]
        for index, (old, new) in enumerate(zip(one.cloth, made.file, strict=True)):
            if index != own:
                assert new is old
                continue
            may = [re.compile(text.replace("{sim}", str(place)) + "$") for text in MAY_DIFFER]
            found = list(records.differences(old, new))
            assert all(any(pattern.match(trail) for pattern in may) for trail in found), found
            check_sets(old.sims[place], new.sims[place], moved)
            check_operators(old, new, place, moved)


def check_sets(old, new, moved):
    for left, right in zip(old.constraints, new.constraints, strict=True):
        if isinstance(left, records.Volume):
            continue
        columns = [left.a, left.b] if isinstance(left, records.Links) else list(getattr(left, "indices", []))
        if not columns:
            assert left is right
            continue
        rows = np.any([moved[column] for column in columns], axis=0)
        for name, values in vars(left).items():
            if isinstance(values, np.ndarray):
                same = values[..., ~rows] == getattr(right, name)[..., ~rows]
                assert same.all(), name


def check_operators(old, new, place, moved):
    sim = old.sims[place]
    near = np.zeros(len(moved), bool)
    near[sim.triangles[moved[sim.triangles].any(1)]] = True
    touched = moved | near
    for left, right in zip(old.operators, new.operators, strict=True):
        if isinstance(left, records.MeshMeshDeform | records.SimpleMeshBoneDeform) and left is not right:
            triangles = sim.triangles if left.triangles is None else sim.triangles[left.triangles]
            rows = moved[triangles].any(1)
            name = "local" if isinstance(left, records.SimpleMeshBoneDeform) else "binds"
            if getattr(left, name) is not None:
                assert records.same(getattr(left, name)[~rows], getattr(right, name)[~rows])
                assert (getattr(left, name)[rows] != getattr(right, name)[rows]).any()
            for before, after in zip(getattr(left, "blends", ()), getattr(right, "blends", ()), strict=True):
                calm = ~rows[before.sources].any(1)
                assert records.same(before.positions[calm], after.positions[calm])
        if isinstance(left, records.Skin) and left is not right:
            assert 0 < changed(left, right, "positions") <= np.count_nonzero(moved)
            assert changed(left, right, "normals") <= np.count_nonzero(touched)


def changed(old, new, name):
    """Return how many vertices of a skin have other local data."""
    pairs = [(getattr(a, name), getattr(b, name)) for a, b in zip(old.blends, new.blends, strict=True)]
    return sum(int((a != b).reshape(len(a), -1).any(1).sum()) for a, b in pairs if a is not None)


def test_only_moved_numbers_differ_in_the_file(one):
    """Of the tagfile's items, those that hold moved numbers differ, and none in its size."""
    sim = one.sims[0]
    extent = np.ptp(sim.poses[0], axis=0).max()
    made = with_rest(one.cloth, {0: bulged(sim, len(sim) // 2, 0.25 * extent, 0.02 * extent)[0]})
    before, after = one.tag(), stored(one, made.file)
    assert len(before.items) == len(after.items)
    names = set()
    for old, new in zip(before.items, after.items, strict=True):
        assert old.layout.name == new.layout.name
        assert len(old.raw) == len(new.raw)
        if old.raw.tobytes() != new.raw.tobytes():
            names.add(old.layout.name)
    kinds = ("ConstraintSet::Link", "LocalBlock", "VolumeConstraintMx::", "hkMatrix4", "hkVector4",
             "hclBendStiffnessConstraintSet", "TriangleBonePair")  # fmt: skip
    assert names
    assert all(any(kind in name for kind in kinds) for name in names), names


def test_refusals_name_the_cloth_and_the_reason(one):
    sim = one.sims[0]
    short = with_rest(one.cloth, {0: sim.poses[0][:-1]})
    assert short.file is one.cloth
    assert f"{len(sim) - 1} positions for {len(sim)} particles" in short.refusals[0]
    assert one.cloth[0].name in short.refusals[0]
    wild = sim.poses[0].copy()
    wild[0, 1] = np.nan
    assert "no finite number" in with_rest(one.cloth, {0: wild}).refusals[0]
    assert f"no cloth {len(one.sims)}" in with_rest(one.cloth, {len(one.sims): wild}).refusals[0]


def test_triangles_cannot_be_squashed(corpus):
    one = subject(corpus, "HD_M_1140_c.hkx")
    for number, sim in enumerate(one.sims):
        line = sim.poses[0].copy()
        line[:] = line[0] + np.linspace(0, 1, len(line), dtype=F)[:, None] * np.array([1, 2, 2], F)
        made = with_rest(one.cloth, {number: line, 1 - number: one.sims[1 - number].poses[0] + F(0.01)})
        assert len(made.refusals) == 1
        assert "triangle without area" in made.refusals[0]
        # the other one moves all the same
        moved = [sim for data in made.file for sim in data.sims]
        assert moved[number] is sim
        assert moved[1 - number] is not one.sims[1 - number]


def test_particles_that_follow_the_drawn_mesh_itself_stay():
    """A reference vertex that no operator writes comes from the posed model."""
    file = sheet()
    data = file[0]
    skin = data.operators[0]
    cut = replace(skin, blends=(skin.blends[0].take(np.arange(3, len(data.sims[0]))),))
    file = replace(file, datas=(replace(data, operators=(cut, *data.operators[1:])),))
    pose = data.sims[0].poses[0].copy()
    pose[2] += F(0.01)
    made = with_rest(file, {0: pose})
    assert made.file is file
    assert "particle 2 follows the drawn mesh itself" in made.refusals[0]
    pose = data.sims[0].poses[0].copy()
    pose[20] += F(0.01)
    assert not with_rest(file, {0: pose}).refusals


def test_a_vertex_cannot_follow_two_particles_apart():
    file = sheet()
    data = file[0]
    move = data.operators[1]
    shared = replace(move, vertices=np.where(move.vertices == 1, 0, move.vertices).astype(np.uint16))
    file = replace(file, datas=(replace(data, operators=(data.operators[0], shared, *data.operators[2:])),))
    pose = data.sims[0].poses[0].copy()
    pose[0] += F(0.01)
    assert "that another particle follows elsewhere" in with_rest(file, {0: pose}).refusals[0]
    pose = data.sims[0].poses[0].copy()
    pose[:2] += F(0.01)
    assert not with_rest(file, {0: pose}).refusals


@pytest.mark.parametrize("scale", list(records.ScaleNormal))
@pytest.mark.parametrize("influences", [1, 2, 4])
def test_deformers_in_bone_space_hold_their_vertices(scale, influences):
    """Weights of several triangles, and every length of their normals; no file of the corpus has either."""
    random = np.random.default_rng(8)
    old = random.normal(size=(12, 3)).astype(F)
    new = (old + 0.1 * random.normal(size=old.shape)).astype(F)
    triangles = np.array([[0, 1, 2], [3, 4, 5], [6, 7, 8], [9, 10, 11], [2, 5, 8]], np.uint16)
    subset = np.array([3, 1, 0, 4], np.uint16)
    held, count = frames(old, triangles[subset], scale), 9
    sources = np.stack([random.permutation(4)[:influences] for _ in range(count)]).astype(np.int32)
    weights = random.dirichlet(np.ones(influences), count)
    points = random.normal(size=(count, 3))
    local = np.linalg.inv(held)[sources] @ np.append(points, np.ones((count, 1)), 1)[:, None, :, None]
    normals = np.linalg.inv(held[sources][..., :3, :3]) @ np.array([0.6, 0, 0.8])[:, None]
    blend = records.Blend(
        np.arange(count, dtype=np.int32), sources, None, (local[..., 0] * weights[..., None]).astype(F),
        (normals[..., 0] * weights[..., None]).astype(F), None,
    )  # fmt: skip
    operator = records.MeshMeshDeform("deform", 0, 1, subset, int(scale), None, (blend,))
    made = rehung(operator, triangles, Move.of(old, new), None)
    there = frames(new, triangles[subset], scale)[sources]
    now = made.blends[0]
    np.testing.assert_allclose(
        np.einsum("nkij,nkj->ni", there, now.positions.astype(np.float64))[:, :3], points, atol=2e-5
    )
    np.testing.assert_allclose(now.positions[..., 3], weights, rtol=1e-6)
    turned = np.einsum("nkij,nkj->ni", there[..., :3, :3], now.normals.astype(np.float64))
    np.testing.assert_allclose(turned, np.tile([0.6, 0, 0.8], (count, 1)), atol=2e-3)
    # normals are what packed vectors hold
    assert records.same(now.normals, unpack(pack(now.normals)))


@pytest.mark.parametrize("scale", list(records.ScaleNormal))
def test_deformers_in_object_space_undo_the_new_frames(scale):
    random = np.random.default_rng(9)
    old = random.normal(size=(9, 3)).astype(F)
    new = old.copy()
    new[4] += F(0.2)
    triangles = np.arange(9, dtype=np.uint16).reshape(3, 3)
    binds = np.linalg.inv(frames(old, triangles, scale)).astype(F)
    # a tool's file, whose third bind leads elsewhere, keeps leading there
    binds[2] = (binds[2] @ np.diag([1, 2, 1, 1])).astype(F)
    operator = records.MeshMeshDeform("deform", 0, 1, None, int(scale), binds, ())
    made = rehung(operator, triangles, Move.of(old, new), None)
    assert records.same(made.binds[[0, 2]], binds[[0, 2]])
    np.testing.assert_allclose(frames(new, triangles, scale)[1] @ made.binds[1], np.eye(4), atol=3e-6)
    new[8] += F(0.1)
    made = rehung(operator, triangles, Move.of(old, new), None)
    np.testing.assert_allclose(
        frames(new, triangles, scale)[2] @ made.binds[2], frames(old, triangles, scale)[2] @ binds[2], atol=2e-5
    )


def test_bones_of_several_triangles_stay():
    random = np.random.default_rng(10)
    old = random.normal(size=(9, 3)).astype(F)
    new = (old + 0.05 * random.normal(size=old.shape)).astype(F)
    triangles = np.arange(9, dtype=np.uint16).reshape(3, 3)
    rows = np.array([2, 0, 1, 2], np.int32)
    bone = random.normal(size=(4, 4, 4))
    bone[:, 3] = (0, 0, 0, 1)
    local = (np.linalg.inv(frames(old, triangles[rows], records.ScaleNormal.AREA)) @ bone).astype(F)
    operator = records.MeshBoneDeform("bones", 0, 0, np.array([0, 2, 4], np.int32), rows, np.full(4, 0.5, F), local)
    made = rehung(operator, triangles, Move.of(old, new), np.tile(np.eye(4), (2, 1, 1)))
    there = frames(new, triangles[rows], records.ScaleNormal.AREA) @ made.local
    np.testing.assert_allclose(there[:, :3], bone[:, :3], atol=5e-5)


@pytest.mark.parametrize("influences", [1, 3])
def test_references_in_bone_space_move_by_their_weights(influences):
    random = np.random.default_rng(11)
    bones = np.tile(np.eye(4), (3, 1, 1))
    bones[:, :3, :3] = np.linalg.qr(random.normal(size=(3, 3, 3)))[0]
    bones[:, :3, 3] = random.normal(size=(3, 3))
    sources = np.tile(np.arange(influences, dtype=np.int32), (5, 1))
    weights = random.dirichlet(np.ones(influences), 5)
    old = random.normal(size=(5, 3)).astype(F)
    new = old.copy()
    new[[1, 3]] += F(0.1)
    local = np.linalg.inv(bones)[sources] @ np.append(old, np.ones((5, 1)), 1)[:, None, :, None]
    positions = (local[..., 0] * weights[..., None]).astype(F)
    blend = records.Blend(np.arange(5, dtype=np.int32), sources, None, positions, None, None)
    operator = records.Skin("skin", 0, 0, np.arange(3, dtype=np.uint16), None, (blend,))
    move = Move.of(old, new)
    still = np.tile(np.eye(3), (5, 1, 1))
    shift = Shift(move.moved, new.astype(np.float64) - old, old, new, np.zeros(5, bool), still)
    made = shifted(operator, shift, bones).blends[0]
    seen = np.einsum("nkij,nkj->ni", bones[sources], made.positions.astype(np.float64))[:, :3]
    np.testing.assert_allclose(seen, new, atol=1e-6)
    assert records.same(made.positions[[0, 2, 4]], positions[[0, 2, 4]])


def test_cloth_that_another_cloth_carries_moves_alone(corpus):
    """The second cloth takes its pins from a mesh that hangs from the first one's triangles."""
    file = carried()
    first, second = file[0].sims
    lift = first.poses[0].copy()
    lift[20:] += F(0.02)
    made = with_rest(file, {0: lift})
    assert not made.refusals
    assert made.file[0].sims[1] is second
    assert seen(made.file) == pytest.approx(second.poses[0], abs=2e-5)
    move = second.poses[0] + F(0.03)
    made = with_rest(file, {1: move})
    assert made.file[0].sims[0] is first
    assert seen(made.file) == pytest.approx(move, abs=2e-5)
    both = with_rest(file, {0: lift, 1: move})
    assert seen(both.file) == pytest.approx(move, abs=2e-5)


def carried():
    """Return a file of two cloths in one data: particles of the second hang from triangles of the first."""
    file = sheet()
    data = file[0]
    first = data.sims[0]
    count = 4
    pose = first.poses[0][:count] + np.array([0, 0, 0.02], F)
    second = replace(
        first, name="fur", mass=first.mass[:count] * 0, inverse_mass=first.inverse_mass[:count] * 0,
        radius=first.radius[:count], friction=first.friction[:count], fixed=np.arange(count, dtype=np.uint16),
        triangles=np.array([[0, 1, 2]], np.uint16), flips=np.zeros(1, bool), poses=pose[None], constraints=(),
        masks=first.masks[:count],
    )  # fmt: skip
    buffers = list(data.buffers)
    scratch, current, previous = len(buffers), len(buffers) + 1, len(buffers) + 2
    sample = buffers[1]
    buffers += [
        replace(sample, name="carried", type=6, vertex_count=count, triangle_count=0),
        replace(sample, name="fur", type=1, vertex_count=count, triangle_count=1),
        replace(sample, name="before", type=2, vertex_count=count, triangle_count=1),
    ]
    triangles = np.array([30, 10, 11, 33], np.uint16)
    held = frames(first.poses[0], first.triangles[triangles], records.ScaleNormal.AREA)
    local = np.linalg.inv(held) @ np.append(pose, np.ones((count, 1)), 1)[:, :, None]
    blend = records.Blend(
        np.arange(count, dtype=np.int32), np.arange(count, dtype=np.int32)[:, None], None,
        local[:, None, :, 0].astype(F), None, None,
    )  # fmt: skip
    operators = (
        *data.operators,
        records.MeshMeshDeform("carry", 1, scratch, triangles, 1, None, (blend,)),
        records.MoveParticles("move fur", 1, scratch, second.fixed, second.fixed),
    )
    state = data.states[0]
    order = [*state.operators.tolist(), len(operators) - 2, len(operators) - 1]
    states = (replace(state, operators=np.array(order, np.uint32)), *data.states[1:])
    assert current < previous
    return replace(
        file,
        datas=(replace(data, sims=(first, second), buffers=tuple(buffers), operators=operators, states=states),),
    )


def seen(file):
    """Return where the second cloth's pins are at rest."""
    data = file[0]
    carry = data.operators[-2]
    first = data.sims[0]
    held = frames(first.poses[0], first.triangles[carry.triangles], carry.scale)
    blend = carry.blends[0]
    return np.einsum("nkij,nkj->ni", held[blend.sources], blend.positions.astype(np.float64))[:, :3]


def test_normals_of_the_reference_turn_with_the_cloth(corpus):
    one = subject(corpus, OWN)
    sim = one.sims[0]
    angle = np.radians(25)
    turn = np.array([[np.cos(angle), 0, np.sin(angle)], [0, 1, 0], [-np.sin(angle), 0, np.cos(angle)]])
    center = sim.poses[0].mean(0)
    made = with_rest(one.cloth, {0: ((sim.poses[0] - center) @ turn.T + center).astype(F)})
    old, new = (next(o for o in file[0].operators if isinstance(o, records.Skin)) for file in (one.cloth, made.file))
    for before, after in zip(old.blends, new.blends, strict=True):
        assert np.abs(after.normals - before.normals @ turn.T).max() < 2e-3
