"""Models of the games: written back byte for byte, and the facts of their records."""

from __future__ import annotations

import zlib

import numpy as np
import pytest

from addon.codec.flver import Flver
from addon.codec.flver.parts import ORIENTED_BOUNDS_FROM
from addon.maths import affine
from tests.corpus import CONVERTED, TOOL_MADE, every_model, model_bytes, read_model

EDITED_DUMMIES = {"c0000.flver": 6}  # whose parents were changed after the checksums were made
ONE_COUNT = {"AM_M_1122.flver", "WP_A_0213.flver"}  # whose header holds the same face count twice
STALE_COUNT = {"HD_M_1600.flver": 1632, "WP_A_0606.flver": 4246}


@pytest.fixture
def flver(corpus, binder: str, model: str) -> Flver:
    return read_model(corpus(binder), model)


@every_model
def test_is_written_back_byte_for_byte(corpus, binder, model):
    data = model_bytes(corpus(binder), model)
    assert Flver.read(data, model).write() == data


@every_model
def test_every_member_is_understood(flver):
    for i in range(len(flver.meshes)):
        assert flver.vertices(i).skipped == []


@every_model
def test_face_counts_are_those_of_the_header(flver, model):
    true, total = flver.count_faces()
    assert flver.header["total_face_count"] == total
    assert flver.header["true_face_count"] == STALE_COUNT.get(model, total if model in ONE_COUNT else true)


@every_model
def test_siblings_are_the_children(flver, model):
    if model in CONVERTED:
        pytest.skip("a mod tool left links past the nodes")
    nodes = flver.nodes
    for i in range(len(nodes)):
        found, child = [], int(nodes["first_child"][i])
        while child >= 0:
            found.append(child)
            following = int(nodes["next_sibling"][child])
            assert following < 0 or nodes["previous_sibling"][following] == child
            child = following
        assert sorted(found) == np.flatnonzero(nodes["parent"] == i).tolist()


@every_model
def test_used_roots_are_siblings(flver, model):
    if model in CONVERTED:
        pytest.skip("a mod tool left links past the nodes")
    nodes = flver.nodes
    roots = np.flatnonzero((nodes["parent"] < 0) & (nodes["flags"] & 1 == 0))
    assert (nodes["next_sibling"][roots] >= 0).sum() == max(len(roots) - 1, 0)
    unused = np.flatnonzero(nodes["flags"] & 1)
    assert (nodes["next_sibling"][unused] == -1).all()


@every_model
def test_flag_1_is_of_nodes_that_nothing_names(flver):
    unused = set(np.flatnonzero(flver.nodes["flags"] & 1).tolist())
    named = {mesh.node for mesh in flver.meshes} | set(flver.dummies["parent"]) | set(flver.dummies["attach"])
    assert not unused & (named | set(flver.nodes["parent"].tolist()))
    assert set(np.unique(flver.nodes["flags"])) <= {0, 1, 2, 4, 6, 8, 10, 12, 14}


@every_model
def test_node_bounds_are_boxes_or_inverted(flver):
    low, high = flver.nodes["bounds_min"], flver.nodes["bounds_max"]
    largest = np.finfo(np.float32).max
    inverted = ((low == largest) & (high == -largest)).all(axis=1)
    assert (inverted | (low <= high).all(axis=1)).all()


@every_model
def test_dummies_hold_the_checksum_of_their_parent(flver, model):
    if flver.version < ORIENTED_BOUNDS_FROM:
        pytest.skip("older models hold another number")
    names = [flver.node_names[parent].encode("cp932") for parent in flver.dummies["parent"]]
    expected = np.array([zlib.crc32(name) for name in names], np.uint32).view(np.int32)
    assert (flver.dummies["name_crc"] != expected).sum() == EDITED_DUMMIES.get(model, 0)


@every_model
def test_dummies_are_white_first_byte_alpha(flver):
    assert (flver.dummies["color"][:, 0] == 255).all()
    assert (flver.dummies["use_upward"] == 1).all()


@every_model
def test_first_skeleton_lists_the_nodes(flver, model):
    if flver.skeletons is None or model in CONVERTED:
        pytest.skip("no skeletons of these nodes")
    base, nodes = flver.skeletons.base, flver.nodes
    assert base["node"].tolist() == list(range(len(nodes)))
    for field in ("parent", "first_child", "next_sibling", "previous_sibling"):
        assert (base[field] == nodes[field]).all()
    assert sorted(flver.skeletons.all["node"]) == list(range(len(nodes)))


@every_model
def test_mesh_bounds_fit_the_stored_positions(flver, model):
    if model in TOOL_MADE:
        pytest.skip("its boxes are those of other meshes")
    for i, mesh in enumerate(flver.meshes):
        positions = flver.vertices(i).positions.astype(np.float64)
        if flver.version < ORIENTED_BOUNDS_FROM:
            fit = np.abs(np.array([positions.min(0) - mesh.bounds["min"], positions.max(0) - mesh.bounds["max"]]))
        else:
            turned = (positions - mesh.bounds["center"]) @ affine.euler_zxy(mesh.bounds["rotation"])
            fit = np.abs(turned).max(axis=0) - mesh.bounds["half_extents"]
        assert np.abs(fit).max() < 1e-4 * (1 + np.abs(positions).max()), i


@every_model
def test_tangents_point_along_v(flver, model):
    """The tangent is +dP/dV, its w the sign of the UV determinant: on nearly all triangles that tell."""
    if model in TOOL_MADE:
        pytest.skip("a mod tool made the tangents by another rule")
    along = sign = total = 0
    for i in range(len(flver.meshes)):
        vertices = flver.vertices(i)
        if 0 not in vertices.tangents or 0 not in vertices.uvs:
            continue
        triangles = flver.triangles(i, 0)
        p, uv = (values.astype(np.float64)[triangles] for values in (vertices.positions, vertices.uvs[0][:, :2]))
        (du1, dv1), (du2, dv2) = ((uv[:, corner] - uv[:, 0]).T for corner in (1, 2))
        determinant = du1 * dv2 - du2 * dv1
        tells = np.abs(determinant) > 1e-9
        edges = p[:, 1] - p[:, 0], p[:, 2] - p[:, 0]
        down = (edges[1] * du1[:, None] - edges[0] * du2[:, None]) * np.sign(determinant)[:, None]
        across = (edges[0] * dv2[:, None] - edges[1] * dv1[:, None]) * np.sign(determinant)[:, None]
        tangent = vertices.tangents[0][triangles].mean(axis=1).astype(np.float64)
        normal = vertices.normals[triangles].mean(axis=1).astype(np.float64)
        along += ((tangent[:, :3] * down).sum(axis=1) > 0)[tells].sum()
        side = (np.cross(normal, tangent[:, :3]) * across).sum(axis=1)
        sign += (side * tangent[:, 3] > 0)[tells].sum()
        total += tells.sum()
    if not total:
        pytest.skip("no texture coordinates")
    assert along >= 0.94 * total
    assert sign >= 0.94 * total
