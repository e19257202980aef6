"""Models of the games in model space: bounds, winding, findings."""

from __future__ import annotations

import numpy as np
import pytest

from addon.codec.flver import Flver, is_degenerate
from addon.model import dummy_frames, findings, node_matrices, place_mesh
from addon.model.bounds import INVERTED, node_bounds
from addon.model.checks import BOUNDS_TOLERANCE, bounds_deviation
from addon.model.derived import CARRIES, NAMED_BY_MESH, UNUSED, link, node_flags
from addon.model.placement import vertex_bones
from tests.corpus import CONVERTED, TOOL_MADE, every_model, read_model

# Made by mod tools; any other model whose bounds do not fit is a fault of ours.
BOUNDS_OFF = {"HD_M_1600.flver": 0.86, "WP_A_0606.flver": 0.059, "HD_M_1630.flver": 0.0017}


@pytest.fixture
def flver(corpus, binder: str, model: str) -> Flver:
    return read_model(corpus(binder), model)


def placed(flver: Flver) -> list:
    matrices = node_matrices(flver.nodes)
    return [place_mesh(flver, mesh, flver.vertices(i), matrices) for i, mesh in enumerate(flver.meshes)]


@every_model
def test_bounds_are_reproduced(flver, model):
    positions = [position for position, _normals in placed(flver)]
    deviation = bounds_deviation(flver, positions)
    if model in BOUNDS_OFF:
        assert deviation == pytest.approx(BOUNDS_OFF[model], rel=0.02)
    else:
        assert deviation <= BOUNDS_TOLERANCE
    assert any("bounds" in finding for finding in findings(flver, positions)) == (model in BOUNDS_OFF)


@every_model
def test_findings_name_what_is_wild(flver, model):
    wild = [finding for finding in findings(flver, [p for p, _n in placed(flver)]) if "name nodes" in finding]
    assert bool(wild) == (model in CONVERTED)


@every_model
def test_triangles_face_as_the_normals_do(flver):
    """In stored space the cross product of two edges points against the normals; the swap to Blender mends it.

    Shadow models have no normals.
    """
    facing = total = 0
    for i, (positions, normals) in enumerate(placed(flver)):
        if normals is None:
            continue
        triangles = flver.triangles(i, 0)
        a, b, c = (positions[triangles[:, corner]].astype(np.float64) for corner in range(3))
        cross = np.cross(b - a, c - a)
        tells = ~is_degenerate(triangles) & (np.linalg.norm(cross, axis=1) > 0)
        facing += ((cross * normals[triangles].sum(axis=1)).sum(axis=1) < 0)[tells].sum()
        total += tells.sum()
    assert facing >= 0.95 * total


@every_model
def test_normals_have_unit_length(flver, model):
    for _positions, normals in placed(flver):
        if normals is None:
            assert model == "m25_00_00_00_599010_S.flver"
            continue
        length = np.linalg.norm(normals, axis=1)
        assert (np.abs(length[length > 0] - 1) < 1e-5).all()


@every_model
def test_weights_sum_to_about_one(flver, model):
    if model in CONVERTED:
        pytest.skip("its weights are those of other meshes")
    for i, mesh in enumerate(flver.meshes):
        vertices = flver.vertices(i)
        bones, weights = vertex_bones(flver, mesh, vertices)
        assert bones.shape == weights.shape
        if mesh.dynamic and vertices.weights is not None:
            assert weights.sum(axis=1).min() > 0.98
            assert weights.sum(axis=1).max() < 1.01


@every_model
def test_dummies_are_placed(flver):
    frames = dummy_frames(flver.dummies, node_matrices(flver.nodes))
    axes = frames.matrices[:, :3, :3]
    assert np.allclose(axes @ axes.transpose(0, 2, 1), np.eye(3), atol=1e-9)
    assert np.isfinite(frames.matrices).all()


@every_model
def test_links_are_made_as_the_games_have_them(flver, model):
    """Ours are in index order; the games' differ in the order of siblings only."""
    if model in CONVERTED:
        pytest.skip("a mod tool left links past the nodes")
    nodes = flver.nodes.copy()
    link(nodes, nodes["flags"] & 1 == 0)
    assert (nodes["first_child"] == flver.nodes["first_child"]).all()
    assert ((nodes["next_sibling"] < 0).sum()) == (flver.nodes["next_sibling"] < 0).sum()
    assert (nodes["next_sibling"] != flver.nodes["next_sibling"]).mean() < 0.1


@every_model
def test_node_boxes_hold_what_the_nodes_carry(flver, model):
    if model in TOOL_MADE:
        pytest.skip("a mod tool changed the vertices")
    matrices = node_matrices(flver.nodes)
    vertices = [flver.vertices(i) for i in range(len(flver.meshes))]
    low, high = node_bounds(flver, vertices, matrices)
    ours, stored = low[:, 0] < INVERTED, flver.nodes["bounds_min"][:, 0] < INVERTED
    assert not (ours & ~stored).any()
    assert (stored & ~ours).sum() <= 2  # carried by weights too small to be stored
    slack = 1e-4 * (1 + np.abs(low[ours]))
    assert (flver.nodes["bounds_min"][ours] <= low[ours] + slack).all()
    assert (flver.nodes["bounds_max"][ours] >= high[ours] - slack).all()


@every_model
def test_flags_follow_from_who_names_a_node(flver, model):
    if model in CONVERTED or not flver.nodes["flags"].any():
        pytest.skip("the flags are those of other games")
    ours, stored = node_flags(flver), flver.nodes["flags"]
    assert np.isin(stored[ours == UNUSED], (UNUSED, NAMED_BY_MESH)).all()  # some were nodes of meshes that are gone
    assert (ours[stored == UNUSED] == UNUSED).all()
    assert (ours & CARRIES == stored & CARRIES).mean() > 0.98
