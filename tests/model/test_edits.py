"""What becomes of shown meshes: splitting, weights, tangents, levels of detail. Plain numbers, no Blender."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from addon.codec.flver import FaceSet, Flver, Mesh, VertexBuffer, Vertices
from addon.model.corners import agreed, split
from addon.model.edits import ShownMesh, Space, StoredMesh, edited, up
from addon.model.facesets import FaceSets, LodPolicy, with_skipped
from addon.model.influences import Influences, quantised
from addon.model.lods import coarser, renumbered
from addon.model.tangents import tangents
from tests.corpus import every_model, read_model
from tests.models import small_model

QUAD = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]], np.float32)
CORNERS = np.array([0, 1, 2, 0, 2, 3], np.int32)


def shown_quad(**changes) -> tuple[ShownMesh, StoredMesh]:
    normals = np.tile(np.float32([0, 0, -1]), (4, 1))
    uv = QUAD[:, :2].copy()
    tangent = np.tile(np.float32([0, 1, 0, 1]), (4, 1))
    stored = Vertices(QUAD.copy(), normals, tangents={0: tangent}, uvs={0: uv})
    shown = ShownMesh(QUAD.copy(), CORNERS, normals[CORNERS], np.ones(6, bool), {(0, 0): up(up(uv))[CORNERS]})
    for name, value in changes.items():
        setattr(shown, name, value)
    return shown, StoredMesh(stored, QUAD.copy())


# splitting


def test_corners_that_agree_keep_their_vertices():
    parts = split(CORNERS, QUAD[CORNERS], 5)
    assert parts.sources.tolist() == [0, 1, 2, 3, 4]
    assert parts.corners.tolist() == [0, 1, 2, 5, -1]
    assert parts.indices.tolist() == CORNERS.tolist()


def test_corners_that_differ_split_their_vertex():
    values = QUAD[CORNERS]
    values[4] = 9  # the second corner at vertex 2
    parts = split(CORNERS, values, 4)
    assert parts.sources.tolist() == [0, 1, 2, 3, 2]
    assert parts.indices.tolist() == [0, 1, 2, 0, 4, 3]


@given(npst.arrays(np.int32, st.integers(0, 8).map(lambda n: 3 * n), elements=st.integers(0, 5)), st.data())
def test_every_corner_finds_its_values(vertices, data):
    shape = (len(vertices), 2)
    kinds = st.sampled_from([0.0, -0.0, 1.0, float("nan")])
    values = data.draw(npst.arrays(np.float32, shape, elements=kinds))
    parts = split(vertices, values, 6)
    found = values[parts.corners[parts.indices]]
    assert found.tobytes() == values.tobytes()
    assert (parts.sources[parts.indices] == vertices).all()
    rows = {(int(s), values[c].tobytes()) for s, c in zip(parts.sources, parts.corners, strict=True) if c >= 0}
    assert len(rows) == int((parts.corners >= 0).sum())  # merged where equal


def test_normals_that_are_nearly_one_become_one():
    vertices = np.array([0, 0, 0, 1, 1])
    normals = np.array([[0, 0, 1], [0.001, 0, 1], [-0.001, 0, 1], [0, 0, 1], [1, 0, 0]], np.float64)
    result = agreed(vertices, normals, np.ones(5, bool), 2)
    assert len(np.unique(result[:3], axis=0)) == 1
    np.testing.assert_array_equal(result[3:], normals[3:])


# meshes


def test_an_untouched_mesh_comes_back_to_the_bit():
    shown, stored = shown_quad()
    result = edited(shown, stored, None, {"normals": 127.0, "uvs0": 2048.0})
    assert not result.moved
    for name in ("positions", "normals"):
        assert getattr(result.vertices, name).tobytes() == getattr(stored.vertices, name).tobytes()
    assert result.vertices.tangents[0].tobytes() == stored.vertices.tangents[0].tobytes()


def test_uvs_that_blender_cannot_turn_and_back_come_back_to_the_bit():
    shown, stored = shown_quad()
    stored.vertices.uvs[0][:] = np.float32(1e-9)  # 1 - v is 1
    shown.uvs[0, 0] = up(up(stored.vertices.uvs[0]))[CORNERS]
    result = edited(shown, stored, None, {})
    assert result.vertices.uvs[0].tobytes() == stored.vertices.uvs[0].tobytes()


def test_edited_values_lie_on_the_steps_of_the_layout_and_so_do_not_split():
    shown, stored = shown_quad()
    shown.uvs[0, 0] = shown.uvs[0, 0] + np.float32(0.3)
    shown.uvs[0, 0][0] += np.float32(1e-5)  # less than a step apart from the vertex's other corner
    result = edited(shown, stored, None, {"normals": 127.0, "uvs0": 2048.0})
    assert len(result.sources) == 4
    np.testing.assert_array_equal(result.vertices.uvs[0] * 2048 % 1, 0)


def test_static_vertices_go_back_into_the_space_of_their_node():
    shown, stored = shown_quad()
    matrix = np.diag([2.0, 4.0, 1.0, 1.0])
    matrix[:3, 3] = 1, 2, 3
    stored.placed = (QUAD @ matrix[:3, :3].T + matrix[:3, 3]).astype(np.float32)
    shown.positions = stored.placed.copy()
    shown.positions[1] += (2, 0, 0)
    space = Space(np.tile(matrix, (4, 1, 1)), np.ones(4, bool))
    result = edited(shown, stored, space, {})
    np.testing.assert_allclose(
        result.vertices.positions - QUAD, [[0, 0, 0], [1, 0, 0], [0, 0, 0], [0, 0, 0]], atol=1e-6
    )
    assert result.vertices.positions[[0, 2, 3]].tobytes() == QUAD[[0, 2, 3]].tobytes()


# weights


def test_influences_are_compared_as_blender_holds_them():
    nodes, weights = np.array([[0, 1, 0, 0], [2, -1, 0, 0]]), np.float32([[0.5, 0.3, 0.2, 0], [1, 0.5, 0, 0]])
    stored = Influences.of_slots(nodes, weights)
    assert stored.nodes.tolist() == [0, 1, 2]  # a node that is named twice has the sum
    np.testing.assert_allclose(stored.weights, [0.7, 0.3, 1])
    shown = Influences.of(np.array([1, 0, 0]), np.array([2, 1, 0]), np.float32([1, 0.3, 0.7]), 2)
    assert shown.differs(stored).tolist() == [False, False]
    other = Influences.of(np.array([0, 0]), np.array([1, 0]), np.float32([0.3, 0.6]), 2)
    assert other.differs(stored).tolist() == [True, True]


@given(npst.arrays(np.float64, (5, 4), elements=st.floats(0.01, 1)), st.sampled_from([255.0, 127.0, 32767.0, 0.0]))
def test_quantised_weights_add_up(weights, steps):
    totals = np.full(5, steps or 1.0) - (3 if steps else 0)
    result = quantised(weights, totals, steps)
    np.testing.assert_allclose(result.sum(axis=1) * (steps or 1), totals)
    if steps:
        np.testing.assert_allclose(result * steps, np.rint(result * steps), atol=1e-9)
        exact = weights / weights.sum(axis=1, keepdims=True) * totals[:, None]
        assert np.abs(result * steps - exact).max() < 1


def test_the_heaviest_influences_stay():
    shown = Influences.of(np.zeros(5, int), np.arange(5), np.float32([0.1, 0.4, 0.05, 0.25, 0.2]), 2)
    nodes, weights, more = shown.slots(4)
    assert nodes.tolist() == [[1, 3, 4, 0], [-1] * 4]
    np.testing.assert_allclose(weights[0], [0.4, 0.25, 0.2, 0.1])
    assert more.tolist() == [True, False]


# tangents


@pytest.mark.parametrize("mirrored", [False, True])
def test_tangents_run_along_v_with_the_sign_of_u(mirrored):
    uv = QUAD[:, :2] * (-1 if mirrored else 1, 1)
    normals = np.tile([0.0, 0.0, -1.0], (4, 1))
    result = tangents(QUAD, normals, uv.astype(np.float32), CORNERS.reshape(-1, 3))
    np.testing.assert_allclose(result[:, :3], [(0, 1, 0)] * 4, atol=1e-9)
    side = np.cross(normals, result[:, :3]) * result[:, 3:]
    np.testing.assert_allclose(side, [(-1 if mirrored else 1, 0, 0)] * 4, atol=1e-9)


@every_model
def test_tangents_of_the_games_are_reproduced(corpus, binder, model):
    """Where the games' files have a sign at all, nearly every vertex has that of the rule."""
    from addon.model import node_matrices, place_mesh
    from tests.corpus import TOOL_MADE

    flver = read_model(corpus(binder), model)
    world = node_matrices(flver.nodes)
    agree = total = 0
    for index, mesh in enumerate(flver.meshes):
        vertices = flver.vertices(index)
        if len(mesh.buffers) > 1 or not mesh.dynamic or not vertices.tangents or not vertices.uvs:
            continue
        positions, normals = place_mesh(flver, mesh, vertices, world)
        uvs = vertices.uvs[min(vertices.uvs)][:, :2]
        made = tangents(positions, normals, uvs, flver.triangles(index, 0))
        known = made[:, 3] != 0
        agree += int((np.sign(vertices.tangents[0][known, 3]) == made[known, 3]).sum())
        total += int(known.sum())
    if total and model not in TOOL_MADE:
        assert agree > 0.98 * total


# triangles


def test_triangles_that_were_skipped_go_back_to_their_places():
    triangles = np.array([[0, 1, 2], [3, 4, 5]], np.int32)
    whole = with_skipped(triangles, np.array([0, 2]), np.array([[9, 9, 1], [8, 8, 8]]))
    assert whole.tolist() == [[9, 9, 1], [0, 1, 2], [8, 8, 8], [3, 4, 5]]


def test_levels_follow_renumbered_vertices():
    made, lost = renumbered(np.array([[0, 1, 2], [2, 3, 0]]), np.array([5, -1, 6, 7]))
    assert (made.tolist(), lost) == ([[6, 7, 5]], 1)


def test_coarser_levels_have_fewer_triangles_over_the_same_vertices():
    side = 65
    grid = np.stack(np.meshgrid(np.arange(side), np.arange(side)), axis=-1).reshape(-1, 2)
    positions = np.column_stack((grid, np.zeros(len(grid)))).astype(np.float32)
    corner = np.arange(side * side).reshape(side, side)[:-1, :-1].ravel()
    triangles = np.stack((corner, corner + 1, corner + side), axis=1)
    counts = [len(triangles)] + [len(coarser(positions, triangles, level)) for level in (1, 2, 3)]
    for before, after in pairwise(counts):
        assert before / 8 < after < before / 2
    assert len(coarser(QUAD, CORNERS.reshape(-1, 3), 3)) == 2  # what would vanish stays
    assert coarser(positions, triangles, 2).max() < len(positions)


def strip_model() -> Flver:
    flver = small_model()
    mesh = flver.meshes[0]
    mesh.face_sets = [FaceSet(np.array([0, 1, 2, 3], "<u2"), strip=1), FaceSet(np.array([0, 1, 2], "<u2"), 0x80000000)]
    return flver


def test_strips_stay_as_long_as_their_triangles_do():
    flver = strip_model()
    triangles = flver.triangles(0, 0)
    maker = FaceSets(flver, 0, np.arange(4), np.zeros((4, 3)))
    same = maker.make(flver.meshes[0].face_sets, {0: triangles}, LodPolicy.KEEP)
    assert not same.changed
    assert same.sets[0].strip == 1
    other = FaceSets(flver, 0, np.arange(4), np.zeros((4, 3)))
    made = other.make(flver.meshes[0].face_sets, {0: triangles[::-1]}, LodPolicy.KEEP)
    assert made.changed
    assert made.sets[0].strip == 0
    assert made.sets[0].indices.tolist() == triangles[::-1].ravel().tolist()
    assert made.sets[1].indices.tolist() == [0, 1, 2]  # no copy of the level: it stays


def test_sets_that_share_a_level_keep_their_share():
    flver = small_model()
    flver.meshes[0] = Mesh(
        [FaceSet(np.array(each, "<u2")) for each in ([0, 1, 2], [2, 1, 3, 0, 2, 3])],
        [VertexBuffer.new(flver.layouts, 0, 4)],
    )
    triangles = np.concatenate([flver.triangles(0, i) for i in (0, 1)])
    maker = FaceSets(flver, 0, np.arange(4), np.zeros((4, 3)))
    made = maker.make(flver.meshes[0].face_sets, {0: triangles}, LodPolicy.KEEP)
    assert [each.indices.tolist() for each in made.sets] == [[0, 1, 2], [2, 1, 3, 0, 2, 3]]
    maker = FaceSets(flver, 0, np.arange(4), np.zeros((4, 3)))
    made = maker.make(flver.meshes[0].face_sets, {0: triangles[:2]}, LodPolicy.KEEP)
    assert [each.indices.tolist() for each in made.sets] == [[0, 1, 2, 2, 1, 3], []]
