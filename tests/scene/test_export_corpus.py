"""Edits of the games' models: what changes, and that repeated trips do not drift."""

from __future__ import annotations

import numpy as np
import pytest

from addon.codec.flver import Flver
from addon.model import node_matrices, place_mesh
from tests.scene.shown import load
from tests.scene.written import differences, gathered, source, written


def turn_bone(imported, index: int, angle: float) -> None:
    import bpy

    name = next(bone.name for bone in imported.armature.data.bones if bone["flver_index"] == index)
    bpy.context.view_layer.objects.active = imported.armature
    bpy.ops.object.mode_set(mode="EDIT")
    imported.armature.data.edit_bones[name].roll += angle
    bpy.ops.object.mode_set(mode="OBJECT")


def test_a_scaled_bone_turns_and_everything_else_is_seen_where_it_was(scene_api, corpus):
    imported = load(scene_api, corpus("eldenring/wp_a_0213.partsbnd.dcx"))
    before = Flver.read(source(imported.collection))
    index = int(np.flatnonzero(np.abs(before.nodes["scale"] - 1).max(axis=1) > 0.1)[0])
    turn_bone(imported, index, 0.4)
    flver, problems = gathered(imported.collection)
    assert not problems.errors
    after = Flver.read(flver.write())
    others = np.arange(len(before.nodes)) != index
    worlds = [node_matrices(each.nodes) for each in (before, after)]
    np.testing.assert_allclose(worlds[1][others], worlds[0][others], atol=2e-4)
    assert np.abs(worlds[1][index] - worlds[0][index]).max() > 1e-3
    for i, mesh in enumerate(after.meshes):
        was = place_mesh(before, before.meshes[i], before.vertices(i), worlds[0])[0]
        now = place_mesh(after, mesh, after.vertices(i), worlds[1])[0]
        np.testing.assert_allclose(now, was, atol=2e-5)
    found = {name for name in differences(before, after) if name.startswith("nodes")}
    children = np.flatnonzero(before.nodes["parent"] == index)
    allowed = {f"nodes[{node}]" for node in (index, *children)}
    assert {name.split(".")[0] for name in found if "bounds" not in name} <= allowed


def test_a_moved_vertex_of_a_cloth_moves_in_both_buffers_and_nothing_else(scene_api, corpus):
    imported = load(scene_api, corpus("sekiro/c7190.chrbnd.dcx"))
    before = Flver.read(source(imported.collection))
    cloth = next(obj for obj in imported.meshes if len(obj.data["flver_layouts"]) == 3)
    index = cloth.data["flver_mesh"]
    inner = int(
        np.argsort(np.linalg.norm(before.vertices(index).positions - before.vertices(index).positions.mean(0), axis=1))[
            0
        ]
    )
    cloth.data.vertices[inner].co.x += 2**-14
    after = written(imported.collection)
    assert differences(before, after) <= {f"meshes[{index}].position0", f"meshes[{index}].position1"}
    moved = after.vertices(index).positions != before.vertices(index).positions
    assert moved.sum() == 1


@pytest.mark.parametrize("name", ["eldenring/am_m_1122.partsbnd.dcx", "eldenring/wp_a_0213.partsbnd.dcx"])
def test_five_trips_of_an_edited_model_do_not_drift(scene_api, corpus, tmp_path, name):
    import bpy

    imported = load(scene_api, corpus(name))
    turn_bone(imported, 1, 0.3)
    for vertex in imported.meshes[0].data.vertices[:50]:
        vertex.co.y += 0.02
    imported.meshes[0].data.uv_layers[0].uv[0].vector.x += 0.25
    path = tmp_path / "trip.flver"
    path.write_bytes(written(imported.collection).write())
    first = path.read_bytes()
    for _ in range(5):
        bpy.ops.wm.read_factory_settings(use_empty=True)
        path.write_bytes(written(load(scene_api, path).collection).write())
    assert path.read_bytes() == first


def test_edit_mode_and_back_changes_nothing(scene_api, corpus):
    import bpy

    imported = load(scene_api, corpus("eldenring/hd_m_1140.partsbnd.dcx"))
    for obj in (*imported.meshes, imported.armature):
        bpy.context.view_layer.objects.active = obj
        bpy.ops.object.mode_set(mode="EDIT")
        bpy.ops.object.mode_set(mode="OBJECT")
    assert written(imported.collection).write() == source(imported.collection)
