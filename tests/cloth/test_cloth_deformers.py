"""Deformers by themselves: blends of every kind, triangle frames, driven bones, normals, and what binds to what."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from addon.cloth import (
    MeshKey,
    Pose,
    Settings,
    StateChoice,
    bind_displays,
    build_setup,
    display_positions,
    driven_bones,
    new_state,
    reset,
    step,
)
from addon.cloth.bones import BonePart, Bones
from addon.cloth.deformers import BlendPart, Blends, TriangleSources
from addon.cloth.normals import NormalPart, Normals, Sums
from addon.cloth.settings import ROOTS, RootChoice
from addon.codec.havok import cloth as records
from tests.cloth.synthetic import sheet

F = np.float32
EXACT = ROOTS[RootChoice.EXACT]
RANDOM = np.random.default_rng(11)


def maps(count):
    """Return random affine maps (12, count), and as (count, 3, 4) float64."""
    table = RANDOM.normal(size=(4, 3, count)).astype(F)
    return table.reshape(12, count), table.transpose(2, 1, 0).astype(np.float64)


def part(k, vertices, *, object_space):
    count = len(vertices)
    sources = RANDOM.integers(0, 20, (count, k))
    weights = RANDOM.dirichlet(np.ones(k), count).astype(F)
    lanes = (count, 3) if object_space else (count, k, 4)
    positions, normals = RANDOM.normal(size=lanes).astype(F), RANDOM.normal(size=(*lanes[:-1], 3)).astype(F)
    blend = records.Blend(
        vertices.astype(np.int32), sources.astype(np.int32), weights if object_space and k > 1 else None, positions,
        normals, normals * F(2),
    )  # fmt: skip
    return BlendPart(blend, sources, vertices, object_space)


def expected(one, matrices):
    blend = one.blend
    own = matrices[one.sources]
    if one.object_space:
        weights = np.ones(one.sources.shape) if blend.weights is None else blend.weights
        own = (own * weights[..., None, None]).sum(1)
        normals = np.einsum("nrc,nc->nr", own[..., :3], blend.normals)
        return np.einsum("nrc,nc->nr", own[..., :3], blend.positions) + own[..., 3], normals
    return (
        np.einsum("nkrc,nkc->nr", own, blend.positions),
        np.einsum("nkrc,nkc->nr", own[..., :3], blend.normals),
    )


def test_blends_of_all_kinds():
    sources, matrices = maps(20)
    parts = [
        part(k, np.arange(start, start + 50), object_space=space)
        for start, (k, space) in enumerate((k, space) for k in (1, 2, 3, 4) for space in (True, False))
    ]
    parts = [replace(one, vertices=one.vertices + 60 * place) for place, one in enumerate(parts)]
    # the last part writes vertices of the first again
    parts.append(part(2, np.arange(0, 30, 2), object_space=True))
    width = 600
    stores = [np.zeros(3 * width, F) for _ in range(3)]
    Blends(parts, width).write(sources, *stores)
    points, normals, tangents = (store.reshape(3, width).T for store in stores)
    wanted = np.zeros((2, width, 3))
    for one in parts:
        for table, values in zip(wanted, expected(one, matrices), strict=True):
            table[one.vertices] = values
    assert np.allclose(points, wanted[0], atol=1e-5)
    assert np.allclose(normals, wanted[1], atol=1e-5)
    assert np.allclose(tangents, 2 * wanted[1], atol=2e-5)


@pytest.mark.parametrize("bones", [1, 3, 20])
def test_vertices_of_few_bones_take_a_short_way(bones):
    sources, matrices = maps(20)
    one = part(1, RANDOM.permutation(50), object_space=True)
    chosen = one.sources % bones
    one = replace(one, sources=chosen)
    made = Blends([one], 50)
    assert bool(made.objects[0].runs) == (bones <= 8)
    store, normals = np.zeros(150, F), np.zeros(150, F)
    made.write(sources, store, normals, None)
    wanted = np.zeros((50, 3))
    wanted[one.vertices] = expected(one, matrices)[0]
    assert np.allclose(store.reshape(3, 50).T, wanted, atol=1e-5)


def test_triangle_frames():
    points = RANDOM.normal(size=(30, 3))
    corners = RANDOM.permutation(30)[:27].reshape(9, 3)
    scale = np.arange(9) % 3
    flat = np.ascontiguousarray(points.T.astype(F)).reshape(-1)
    a, b, n, c = TriangleSources(corners, scale, 30).frames(flat, EXACT).transpose(0, 2, 1)
    center = points[corners].mean(1)
    assert np.allclose(c, center, atol=1e-6)
    assert np.allclose(a, points[corners[:, 0]] - center, atol=1e-6)
    assert np.allclose(b, points[corners[:, 1]] - center, atol=1e-6)
    cross = np.cross(a, b)
    size = np.linalg.norm(cross, axis=1, keepdims=True)
    factor = np.choose(scale[:, None], [1 / size, np.ones_like(size), 1 / size**2])
    assert np.allclose(n, cross * factor, rtol=1e-4, atol=1e-5)


def bones_made(operator, corners, flat, width):
    driven = np.zeros((12, 5), F)
    Bones([BonePart(operator, corners, 0)], width).make(flat, driven, EXACT.rough)
    return driven.reshape(4, 3, 5).transpose(2, 1, 0)


def test_driven_bones_are_square_and_follow_their_triangles():
    points = RANDOM.normal(size=(12, 3)).astype(F)
    flat = np.ascontiguousarray(points.T).reshape(-1)
    corners = np.arange(12).reshape(4, 3)
    local = RANDOM.normal(size=(3, 4, 4)).astype(F)
    simple = records.SimpleMeshBoneDeform("", 0, 0, np.array([4, 2, 7]), np.array([1, 3, 0]), local)
    found = bones_made(simple, corners, flat, 12)[:3]
    axes = found[:, :, :3].astype(np.float64)
    assert np.allclose(axes.transpose(0, 2, 1) @ axes, np.eye(3), atol=1e-5)
    center = points[corners[[1, 3, 0]]].astype(np.float64).mean(1)
    a, b = points[corners[[1, 3, 0], 0]] - center, points[corners[[1, 3, 0], 1]] - center
    frame = np.stack([a, b, np.cross(a, b), center], 2)
    made = frame @ local
    assert np.allclose(found[:, :, 3], made[:, :, 3], atol=1e-5)
    third = made[:, :, 2] / np.linalg.norm(made[:, :, 2], axis=1, keepdims=True)
    assert np.allclose(axes[:, :, 2], third, atol=1e-5)
    # each bone from one triangle of weight 1, or from the same one in two shares
    starts = np.array([0, 1, 1, 2, 3])
    full = records.MeshBoneDeform("", 0, 0, starts, np.array([1, 3, 0]), np.ones(3, F), local)
    assert np.array_equal(bones_made(full, corners, flat, 12)[:3], found)
    halves = records.MeshBoneDeform(
        "", 0, 0, np.array([0, 2, 3, 4]), np.array([1, 1, 3, 0]), np.array([0.25, 0.75, 1, 1], F), local[[0, 0, 1, 2]]
    )
    assert np.allclose(bones_made(halves, corners, flat, 12)[:3], found, atol=1e-5)


def with_driven_bone(operators):
    """Return a sheet whose second bone follows its 20th triangle, with the default state's list of operators."""
    file = sheet(kinds=("LocalRange", "StandardLinks"))
    data = file[0]
    deform = records.SimpleMeshBoneDeform("bone", 1, 0, np.array([1]), np.array([20]), np.eye(4, dtype=F)[None])
    drawn = replace(data.operators[7], bones=np.array([1], np.uint16))
    state = replace(data.states[0], operators=np.array(operators, np.uint32))
    data = replace(data, operators=(*data.operators, deform, drawn), states=(state, *data.states[1:]))
    return replace(file, datas=(data,))


def test_later_skins_see_driven_bones_and_earlier_ones_the_animation():
    pose = Pose(np.tile(np.eye(4, dtype=F), (2, 1, 1)))
    rest = sheet()[0].sims[0].poses[0]
    made = []
    for order in ([0, 1, 2, 8, 9], [0, 1, 2, 9, 8]):
        setup = build_setup(with_driven_bone(order))
        assert setup.driven == ("Body",)
        state = new_state(setup)
        reset(setup, state, pose)
        for _ in range(5):
            step(setup, state, pose, 1 / 60)
        made.append((driven_bones(state)[0], display_positions(setup, state, 0)))
    (bone, follows), (same, waits) = made
    assert np.array_equal(bone, same)
    assert not np.allclose(bone, np.eye(4), atol=1e-2)
    assert np.allclose(follows, rest @ bone[:3, :3].T + bone[:3, 3], atol=1e-6)
    assert np.array_equal(waits, rest)


def test_driven_bones_stand_where_the_animation_has_them_without_simulation():
    setup = build_setup(with_driven_bone([0, 1, 2, 8]))
    state = new_state(setup)
    bones = np.tile(np.eye(4, dtype=F), (2, 1, 1))
    bones[1, :3, 3] = [1, 2, 3]
    reset(setup, state, Pose(bones))
    assert np.array_equal(driven_bones(state)[0], bones[1])
    step(setup, state, Pose(bones), 1 / 60)
    assert not np.allclose(driven_bones(state)[0], bones[1], atol=1e-3)
    step(setup, state, Pose(bones), 1 / 60, Settings(state=StateChoice.EMPTY))
    assert np.array_equal(driven_bones(state)[0], bones[1])


def test_sums_keep_the_order_of_the_triangles():
    ids = RANDOM.integers(0, 40, (300, 3))
    vectors = (RANDOM.normal(size=(3, 300)) * 10.0 ** RANDOM.integers(-4, 4, 300)).astype(F)
    total = np.zeros((3, 41), F)
    for triangle, corners in enumerate(ids):
        for corner in corners:
            total[:, corner] += vectors[:, triangle]
    assert np.array_equal(Sums(ids, 41).add(vectors), total)


def test_normals_count_flipped_triangles_three_times_the_other_way():
    """``(1 - 4 flip)`` times the cross product, and a triangle as often as it is listed."""
    points = RANDOM.normal(size=(20, 3)).astype(F)
    corners = RANDOM.permutation(np.arange(60) % 20).reshape(20, 3)
    corners, flips = np.concatenate([corners, corners[:7]]), np.arange(27) % 3 == 0
    ids, store = np.arange(20) // 2, np.zeros(60, F)
    part = NormalPart(corners, flips, ids[corners], 10, np.arange(20), ids)
    Normals([part], 20).make(np.ascontiguousarray(points.T).reshape(-1), store, EXACT.rough)
    total = np.zeros((10, 3))
    for (a, b, c), flip in zip(corners, flips, strict=True):
        normal = np.cross(points[b] - points[a], points[c] - points[a]) * (-3 if flip else 1)
        np.add.at(total, ids[[a, b, c]], normal)
    expected = total / np.linalg.norm(total, axis=1, keepdims=True)
    assert np.allclose(store.reshape(3, 20).T, expected[ids], atol=1e-5)


def test_binding():
    display = build_setup(sheet()).displays[0]
    triangles = display.record.triangle_count

    def bind(*meshes, displays=(display,)):
        found = bind_displays(displays, meshes)
        return found.meshes, found.warnings

    fits, other = MeshKey("sheet", 48, triangles), MeshKey("sheet", 47, triangles)
    assert bind(other, fits) == ((1,), ())
    # no mesh has its triangles: name and vertices do
    assert bind(other, MeshKey("sheet", 48, 0)) == ((1,), ())
    meshes, warnings = bind(other)
    assert meshes == (-1,)
    assert "sheet of 48 vertices fits no mesh" in warnings[0]
    meshes, warnings = bind(fits, fits)
    assert meshes == (0,)
    assert "fits meshes 0, 1" in warnings[0]
    # two buffers of one name take their meshes by sub type
    second = replace(display, record=replace(display.record, sub_type=-1))
    assert bind(fits, other, fits, displays=(display, second)) == ((2, 0), ())
    # cloth datas may share a mesh
    shared = replace(display, place=replace(display.place, data=1))
    assert bind(fits, displays=(display, shared)) == ((0, 0), ())
