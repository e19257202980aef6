"""Where vertices and dummies stand, and who moves them."""

from __future__ import annotations

import numpy as np
import pytest

from addon.codec.flver import Flver, Layout, Mesh, Semantic, VertexBuffer, Vertices, encode_vertices
from addon.codec.flver.records import DUMMY, NODE
from addon.maths import affine
from addon.model import dummy_frames, findings, node_matrices, place_mesh, vertex_bones
from addon.model.placement import named_nodes
from tests.models import small_model

P, N, B, W = Semantic.POSITION, Semantic.NORMAL, Semantic.BONES, Semantic.WEIGHTS


def scaled_nodes() -> np.ndarray:
    """Return a turned and scaled root, and its scaled child."""
    nodes = NODE.zeros(3)
    nodes["parent"] = -1, 0, -1
    nodes["scale"] = (2, 1, 1), (1, 3, 1), (1, 1, 1)
    nodes["translation"] = (0, 0, 0), (1, 0, 0), (0, 0, 9)
    nodes["rotation"][0] = 0, np.pi / 2, 0
    return nodes


def static_model(members, nodes_of=None, *, node: int = 1, palette=()) -> Flver:
    """Return a model of one static mesh of two vertices at (1, 1, 1), whose normals point along (1, 1, 0)."""
    flver = Flver.new()
    flver.nodes, flver.node_names = scaled_nodes(), ["a", "b", "c"]
    flver.layouts = [Layout.new(*members)]
    vertices = Vertices(np.ones((2, 3), np.float32), np.array([[1, 1, 0]] * 2) / np.sqrt(2), nodes_of)
    buffers = encode_vertices(vertices, [VertexBuffer.new(flver.layouts, 0, 2)], flver.layouts, 2048)
    flver.meshes = [Mesh([], buffers, 0, 0, node, np.array(palette, np.int32))]
    return flver


def place(flver: Flver) -> tuple[np.ndarray, np.ndarray]:
    return place_mesh(flver, flver.meshes[0], flver.vertices(0), node_matrices(flver.nodes))


# (1, 1, 1) by hand: the child makes it (1, 3, 1), then (2, 3, 1); the root (4, 3, 1), turned about y (1, 3, -4).
BY_CHILD, BY_ROOT, BY_THIRD = [1, 3, -4], [1, 1, -2], [1, 1, 10]


def test_static_vertices_follow_the_normals_w():
    flver = static_model([(P, 2, 0), (N, 0x1A, 0)], np.array([1, 2]), node=0)
    positions, normals = place(flver)
    assert np.allclose(positions, [BY_CHILD, BY_THIRD], atol=1e-6)
    # The normal by the inverse transposes: (1, 1/3, 0), then (1/2, 1/3, 0), turned (0, 1/3, -1/2).
    assert np.allclose(normals[0], np.array([0, 2, -3]) / np.sqrt(13), atol=1e-4)
    assert positions.dtype == normals.dtype == np.float32


def test_the_palette_stands_between_w_and_nodes():
    flver = static_model([(P, 2, 0), (N, 0x1A, 0)], np.array([1, 0]), palette=[2, 1])
    assert np.allclose(place(flver)[0], [BY_CHILD, BY_THIRD], atol=1e-6)


@pytest.mark.parametrize("wild", [-1, 3, 200])
@pytest.mark.parametrize("palette", [(), (7, -1)])
def test_w_that_names_nothing_leaves_the_meshs_node(wild, palette):
    flver = static_model([(P, 2, 0), (N, 0x1A, 0)], np.array([wild, wild]), palette=palette)
    assert np.allclose(place(flver)[0], [BY_CHILD] * 2, atol=1e-6)


def test_without_w_the_meshs_node_carries():
    assert np.allclose(place(static_model([(P, 2, 0), (N, 2, 0)]))[0], [BY_CHILD] * 2, atol=1e-6)
    assert np.allclose(place(static_model([(P, 2, 0), (N, 2, 0)], node=0))[0], [BY_ROOT] * 2, atol=1e-6)


@pytest.mark.parametrize("node", [-1, 3, 99])
def test_where_nothing_names_a_node_vertices_stay(node):
    flver = static_model([(P, 2, 0), (N, 2, 0)], node=node)
    assert place(flver)[0].tolist() == [[1, 1, 1]] * 2
    bones, weights = vertex_bones(flver, flver.meshes[0], flver.vertices(0))
    assert (bones.tolist(), weights.tolist()) == ([[-1], [-1]], [[1], [1]])


def test_dynamic_vertices_stay():
    flver = static_model([(P, 2, 0), (N, 0x1A, 0)], np.array([1, 1]))
    flver.meshes[0].dynamic = 1
    positions, normals = place(flver)
    assert positions.tolist() == [[1, 1, 1]] * 2
    assert np.allclose(normals, np.array([[1, 1, 0]] * 2) / np.sqrt(2), atol=1e-4)


def test_a_mesh_without_normals():
    positions, normals = place(static_model([(P, 2, 0)]))
    assert normals is None
    assert np.allclose(positions, [BY_CHILD] * 2, atol=1e-6)


def test_normals_of_zero_bytes_are_none():
    flver = static_model([(P, 2, 0), (N, 0x13, 0)])
    flver.meshes[0].buffers[0].data["normal0"][0] = 0
    normals = place(flver)[1]
    assert normals[0].tolist() == [0, 0, 0]
    assert np.linalg.norm(normals[1]) == pytest.approx(1)
    flver.meshes[0].buffers[0].data["normal0"] = 0
    assert place(flver)[1] is None


def test_placing_leaves_the_vertices_alone():
    flver = static_model([(P, 2, 0), (N, 2, 0)])
    vertices = flver.vertices(0)
    place_mesh(flver, flver.meshes[0], vertices, node_matrices(flver.nodes))
    assert vertices.positions.tolist() == [[1, 1, 1]] * 2


def test_bones_of_skinned_vertices():
    flver = small_model()
    mesh = flver.meshes[0]
    vertices = flver.vertices(0)
    bones, weights = vertex_bones(flver, mesh, vertices)
    assert bones[:, 0].tolist() == [0, 0, 1, 1]
    assert weights[:, 0].tolist() == [1, 1, 1, 1]
    mesh.palette = np.array([2, 99], np.int32)
    assert vertex_bones(flver, mesh, vertices)[0][:, 0].tolist() == [2, 2, -1, -1]
    vertices.weights = None
    bones, weights = vertex_bones(flver, mesh, vertices)
    assert (bones.shape, weights.tolist()) == ((4, 1), [[1]] * 4)
    vertices.bones = None
    assert vertex_bones(flver, mesh, vertices)[0].tolist() == [[-1]] * 4


def test_two_bones_take_two_weights():
    flver = static_model([(P, 2, 0), (B, 0x17, 0), (W, 0x13, 0)])
    flver.meshes[0].dynamic = 1
    bones, weights = vertex_bones(flver, flver.meshes[0], flver.vertices(0))
    assert bones.shape == weights.shape == (2, 2)


def test_named_nodes():
    indices = np.array([-2, -1, 0, 1, 2, 3, 999])
    assert named_nodes(indices, np.zeros(0, np.int32), 3).tolist() == [-1, -1, 0, 1, 2, -1, -1]
    assert named_nodes(indices, np.array([2, 5, -1], np.int32), 3).tolist() == [-1, -1, 2, -1, -1, -1, -1]


def test_dummies_stand_in_their_parents_space():
    dummies = DUMMY.zeros(4)
    dummies["position"], dummies["forward"], dummies["upward"] = (1, 1, 1), (1, 0, 0), (1, 1, 0)
    dummies["parent"], dummies["attach"] = (1, -1, 99, 0), (2, 0, -1, -1)
    frames = dummy_frames(dummies, node_matrices(scaled_nodes()))
    assert np.allclose(frames.matrices[:, :3, 3], [BY_CHILD, [1, 1, 1], [1, 1, 1], BY_ROOT], atol=1e-6)
    assert frames.parents.tolist() == [1, -1, -1, 0]
    assert frames.followed.tolist() == [2, 0, -1, 0]
    # forward (1, 0, 0) is scaled and turned to -z; up, squared to it, stays up
    assert np.allclose(frames.matrices[0, :3, :3].T, [[-1, 0, 0], [0, 1, 0], [0, 0, -1]], atol=1e-6)
    assert np.allclose(frames.matrices[:, 3], [0, 0, 0, 1])


def test_no_dummies_and_no_nodes():
    assert dummy_frames(DUMMY.zeros(0), node_matrices(NODE.zeros(0))).matrices.shape == (0, 4, 4)
    frames = dummy_frames(DUMMY.zeros(1), node_matrices(NODE.zeros(0)))
    assert frames.parents.tolist() == [-1]


def test_a_scale_of_zero_does_no_harm():
    flver = static_model([(P, 2, 0), (N, 2, 0)])
    flver.nodes["scale"][1] = 0
    positions, normals = place(flver)
    assert np.allclose(positions, [[0, 0, -2]] * 2, atol=1e-6)
    assert not normals.any()


@pytest.mark.parametrize(
    ("change", "finding"),
    [
        (lambda f: f.nodes.__setitem__("next_sibling", 9), "3 node links"),
        (lambda f: setattr(f.meshes[0], "node", 9), "1 mesh nodes"),
        (lambda f: setattr(f.meshes[0], "palette", np.array([0, 9, -2], np.int32)), "2 palette entries"),
        (lambda f: f.dummies.__setitem__("parent", -2), "2 dummy parents"),
        (lambda f: f.dummies.__setitem__("attach", 3), "2 dummy attach nodes"),
        (lambda f: f.skeletons.all.__setitem__("node", 3), "3 skeleton entries"),
        (lambda f: setattr(f.meshes[0], "material", 2), "1 meshes name materials"),
        (lambda f: f.header.__setitem__("bounds_max", 5), "bounds"),
        (lambda f: f.header.__setitem__("bounds_max", np.nan), "bounds"),
    ],
    ids=["links", "nodes", "palette", "parents", "attach", "skeletons", "materials", "bounds", "no number"],
)
def test_findings(change, finding):
    flver = small_model()
    matrices = node_matrices(flver.nodes)
    positions = [place_mesh(flver, mesh, flver.vertices(i), matrices)[0] for i, mesh in enumerate(flver.meshes)]
    assert findings(flver, positions) == []
    change(flver)
    found = findings(flver, positions)
    assert len(found) == 1
    assert finding in found[0]


def test_matrices_are_full_products():
    nodes = scaled_nodes()
    world = node_matrices(nodes)
    expected = affine.compose(nodes["translation"], affine.euler_xzy(nodes["rotation"]), nodes["scale"])
    assert np.allclose(world[1], expected[0] @ expected[1])
