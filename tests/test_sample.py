"""The sample keeps to all that the games' models keep to."""

from __future__ import annotations

import zlib
from pathlib import Path

import numpy as np
import pytest

from addon.codec import Binder, Dcx
from addon.codec.flver import Flver
from addon.maths import affine
from addon.model import dummy_frames, findings, node_matrices, place_mesh, vertex_bones
from addon.model.bounds import INVERTED
from tests.models import differences
from tests.sample import NAME, make_sample, write_sample


@pytest.fixture(scope="module")
def flver() -> Flver:
    return make_sample()


@pytest.fixture(scope="module")
def placed(flver) -> list:
    matrices = node_matrices(flver.nodes)
    return [place_mesh(flver, mesh, flver.vertices(i), matrices) for i, mesh in enumerate(flver.meshes)]


def test_the_file_holds_the_model(tmp_path: Path, flver):
    (path,) = write_sample(tmp_path)
    assert path.name == f"{NAME}.partsbnd.dcx"
    wrapped = Dcx.read(path.read_bytes())
    binder = Binder.read(wrapped.content)
    assert binder.write() == wrapped.content
    textures, entry, cloth = binder.entries
    assert (textures.basename, textures.id) == (f"{NAME}.tpf", 100)
    assert (entry.basename, entry.id) == (f"{NAME}.flver", 200)
    assert (cloth.basename, cloth.id) == (f"{NAME}_c.hkx", 700)
    read = Flver.read(entry.data)
    assert list(differences(flver, read)) == []
    assert read.write() == bytes(entry.data)


def test_nothing_is_odd_about_it(flver, placed):
    assert findings(flver, [positions for positions, _normals in placed]) == []


def test_it_has_a_bit_of_everything(flver):
    world = node_matrices(flver.nodes)
    scaled = np.abs(flver.nodes["scale"] - 1).max(axis=1) > 0.01
    assert (scaled & scaled[flver.nodes["parent"]] & (flver.nodes["parent"] >= 0)).any()
    assert np.isfinite(world).all()
    assert {mesh.dynamic for mesh in flver.meshes} == {0, 1}
    assert {len(mesh.buffers) for mesh in flver.meshes} == {1, 3}
    vertices = [flver.vertices(i) for i in range(len(flver.meshes))]
    assert {part.normal_nodes is None for part in vertices} == {True, False}
    assert any("position" in part.second for part in vertices)
    assert all(part.skipped == [] for part in vertices)
    for mesh in flver.meshes:
        kinds = [(face_set.lod, face_set.motion_blur) for face_set in mesh.face_sets]
        assert kinds == [(0, False), (1, False), (0, True), (1, True)]
        assert len(mesh.face_sets[1].indices) < len(mesh.face_sets[0].indices) / 4
    entered = {material.gx.item for material in flver.materials if material.gx}
    assert (len(flver.gx_lists), entered) == (1, {0, 1})
    assert (flver.dummies["attach"] == -1).any()


def test_triangles_are_wound_against_the_normals(flver, placed):
    for i, (positions, normals) in enumerate(placed):
        for j in range(len(flver.meshes[i].face_sets)):
            triangles = flver.triangles(i, j)
            a, b, c = (positions[triangles[:, corner]].astype(np.float64) for corner in range(3))
            cross = np.cross(b - a, c - a)
            assert (np.linalg.norm(cross, axis=1) > 0).all()
            facing = (cross * normals[triangles].sum(axis=1)).sum(axis=1) < 0
            assert facing.mean() > (0.95 if flver.meshes[i].face_sets[j].lod else 0.99), (i, j)


def test_normals_are_of_unit_length_and_tangents_square_to_them(flver):
    for i in range(len(flver.meshes)):
        vertices = flver.vertices(i)
        tangents = vertices.tangents[0]
        assert np.abs(np.linalg.norm(vertices.normals, axis=1) - 1).max() < 0.02
        assert np.abs(np.linalg.norm(tangents[:, :3], axis=1) - 1).max() < 0.02
        assert (np.abs(tangents[:, 3]) == 1).all()
        assert np.abs((vertices.normals * tangents[:, :3]).sum(axis=1)).max() < 0.02


def test_tangents_point_along_v(flver):
    for i in range(len(flver.meshes)):
        vertices, triangles = flver.vertices(i), flver.triangles(i, 0)
        p, uv = vertices.positions.astype(np.float64)[triangles], vertices.uvs[0].astype(np.float64)[triangles]
        (du1, dv1), (du2, dv2) = ((uv[:, corner] - uv[:, 0])[:, :2].T for corner in (1, 2))
        determinant = du1 * dv2 - du2 * dv1
        tells = np.abs(determinant) > 1e-9
        assert tells.mean() > 0.9
        down = (p[:, 2] - p[:, 0]) * du1[:, None] - (p[:, 1] - p[:, 0]) * du2[:, None]
        down *= np.sign(determinant)[:, None]
        tangent = vertices.tangents[0][triangles].mean(axis=1)
        assert ((tangent[:, :3] * down).sum(axis=1) > 0)[tells].mean() > 0.95
        normal = vertices.normals[triangles].mean(axis=1)
        across = (p[:, 1] - p[:, 0]) * dv2[:, None] - (p[:, 2] - p[:, 0]) * dv1[:, None]
        across *= np.sign(determinant)[:, None]
        side = (np.cross(normal, tangent[:, :3]) * across).sum(axis=1) * tangent[:, 3]
        assert (side > 0)[tells].mean() > 0.95


def test_weights_are_of_two_links_of_a_chain(flver):
    for i, mesh in enumerate(flver.meshes):
        bones, weights = vertex_bones(flver, mesh, flver.vertices(i))
        assert np.abs(weights.sum(axis=1) - 1).max() < 0.01
        if mesh.dynamic:
            used = np.unique(bones[weights > 0])
            assert len(used) == 4
            assert (flver.nodes["parent"][used[1:]] == used[:-1]).all()
            shared = (weights > 0.05).sum(axis=1)
            assert set(shared.tolist()) == {1, 2}


def test_boxes(flver):
    for i, mesh in enumerate(flver.meshes):
        turned = (flver.vertices(i).positions - mesh.bounds["center"]) @ affine.euler_zxy(mesh.bounds["rotation"])
        assert np.allclose(np.abs(turned).max(axis=0), mesh.bounds["half_extents"], atol=1e-6)
    carries = flver.nodes["bounds_min"][:, 0] < INVERTED
    assert 10 < carries.sum() < len(flver.nodes)
    assert (flver.nodes["bounds_min"][carries] <= flver.nodes["bounds_max"][carries]).all()


def test_nodes_and_dummies_keep_to_the_rules_of_the_games(flver):
    named = {mesh.node for mesh in flver.meshes} | set(flver.dummies["parent"]) | set(flver.dummies["attach"])
    unused = np.flatnonzero(flver.nodes["flags"] & 1)
    assert [flver.node_names[i] for i in unused] == ["old_hook"]
    assert not set(unused.tolist()) & named
    names = [flver.node_names[parent].encode("ascii") for parent in flver.dummies["parent"]]
    assert [int(crc) & 0xFFFFFFFF for crc in flver.dummies["name_crc"]] == [zlib.crc32(name) for name in names]
    assert (flver.dummies["unk2E"] == (flver.dummies["attach"] >= 0)).all()
    assert (flver.skeletons.base["node"] == np.arange(len(flver.nodes))).all()
    frames = dummy_frames(flver.dummies, node_matrices(flver.nodes)).matrices[:, :3, :3]
    assert np.allclose(frames @ frames.transpose(0, 2, 1), np.eye(3), atol=1e-9)


def test_it_stands_upright_and_looks_along_minus_z(flver, placed):
    low, high = flver.header["bounds_min"], flver.header["bounds_max"]
    assert -0.01 < low[1] < 0.01
    assert 1.5 < high[1] < 1.8
    assert flver.header["true_face_count"] * 2 == flver.header["total_face_count"]
    skull = next(i for i, mesh in enumerate(flver.meshes) if flver.node_names[mesh.node] == "reliquary_skull")
    assert placed[skull][0][:, 1].min() > 1.2
