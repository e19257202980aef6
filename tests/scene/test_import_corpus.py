"""The games' own models in the scene."""

from __future__ import annotations

import numpy as np
import pytest

from tests.scene.shown import attribute, load


@pytest.mark.parametrize(
    ("name", "bones", "meshes", "dummies"),
    [
        ("sekiro/c7190.chrbnd.dcx", 500, 28, 76),
        ("eldenring/c0000.chrbnd.dcx", 488, 0, 523),
        ("eldenring/am_m_1122.partsbnd.dcx", 127, 3, 0),
        ("eldenring/hd_m_9000.partsbnd.dcx", 131, 9, 0),
        ("eldenring/hd_m_9007.partsbnd.dcx", 82, 6, 0),
        ("eldenring/wp_a_9008.partsbnd.dcx", 3, 4, 9),
    ],
)
def test_corpus_models(scene_api, corpus, name, bones, meshes, dummies):
    imported = load(scene_api, corpus(name))
    assert (imported.bone_count, len(imported.meshes), len(imported.dummies)) == (bones, meshes, dummies)
    agree = total = 0
    for obj in imported.meshes:
        stored = attribute(obj.data, "flver_normal", "vector", 3)[:, [0, 2, 1]]
        faces = np.array([each.normal for each in obj.data.polygons]).reshape(-1, 3)
        corners = np.array([each.vertices[:] for each in obj.data.polygons], int).reshape(-1, 3)
        if obj.data["flver_dynamic"]:
            agree += int((np.einsum("ij,ikj->i", faces, stored[corners]) > 0).sum())
            total += len(faces)
    assert agree >= 0.95 * total


def test_corpus_bones_stand_where_nodes_do(scene_api, corpus):
    imported = load(scene_api, corpus("sekiro/c7190.chrbnd.dcx"))
    for bone in imported.armature.data.bones:
        world = np.array(bone["flver_world"]).reshape(4, 4)
        np.testing.assert_allclose(bone.head_local, world[[0, 2, 1], 3], atol=5e-6)
        if bone["flver_index"] == 0:
            assert world.shape == (4, 4)
    roots = [bone for bone in imported.armature.data.bones if bone.parent is None]
    assert len(roots) == 379


def test_corpus_skipped_triangles(scene_api, corpus):
    imported = load(scene_api, corpus("eldenring/hd_m_9000.partsbnd.dcx"))
    skipped = sum(len(obj.data["flver_skipped_triangles"]) for obj in imported.meshes)
    shown = sum(len(obj.data.polygons) for obj in imported.meshes)
    assert (skipped, skipped + shown) == (4866, 15778)


def test_corpus_posing_a_bone_turns_normals(scene_api, corpus):
    import bpy

    imported = load(scene_api, corpus("eldenring/am_m_1122.partsbnd.dcx"))
    for bone in imported.armature.pose.bones:
        if bone.parent is None:
            bone.rotation_mode = "AXIS_ANGLE"
            bone.rotation_axis_angle = (np.radians(60), *bone.bone.matrix_local.inverted().col[2][:3])
    rest = [np.array([each.vector for each in obj.data.corner_normals]) for obj in imported.meshes]
    bpy.context.view_layer.update()
    depsgraph = bpy.context.evaluated_depsgraph_get()
    for obj, before in zip(imported.meshes, rest, strict=True):
        after = np.array([each.vector for each in obj.evaluated_get(depsgraph).to_mesh().corner_normals])
        moved = np.linalg.norm(after - before, axis=1) > 1e-3
        assert moved.mean() > 0.5
        lengths = np.linalg.norm(after[:, :2], axis=1), np.linalg.norm(before[:, :2], axis=1)
        np.testing.assert_allclose(after[:, 2][moved], before[:, 2][moved], atol=0.02)  # a turn about z keeps z
        np.testing.assert_allclose(lengths[0][moved], lengths[1][moved], atol=0.02)
