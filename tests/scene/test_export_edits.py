"""Edits in Blender -> what changes in the file, and that nothing else does."""

from __future__ import annotations

import zlib

import numpy as np

from addon.codec.flver import Flver
from addon.maths import axes
from addon.model import dummy_frames, node_matrices, place_mesh
from tests.scene import tiny
from tests.scene.shown import load
from tests.scene.written import (
    changed_bytes,
    differences,
    edit_bones,
    gathered,
    leave_edit_mode,
    written,
)

# dummies


def test_a_moved_dummy_changes_twelve_bytes(imported, before):
    imported.dummies[0].location.x += 0.3
    after = written(imported.collection)
    assert differences(before, after) == {"dummies[0].position"}
    record = 0x80
    assert set(changed_bytes(before.write(), after.write())) <= set(range(record, record + 12))
    # moved by 0.3 along the games' x; the parent is turned by 90 degrees about z and scaled by 2
    moved = dummy_frames(after.dummies, node_matrices(after.nodes)).matrices[0, :3, 3]
    still = dummy_frames(before.dummies, node_matrices(before.nodes)).matrices[0, :3, 3]
    np.testing.assert_allclose(moved - still, (0.3, 0, 0), atol=1e-6)


def test_a_turned_dummy_changes_its_directions(imported, before):
    import mathutils

    imported.dummies[1].matrix_basis = imported.dummies[1].matrix_basis @ mathutils.Matrix.Rotation(0.5, 4, "X")
    after = written(imported.collection)
    assert differences(before, after) == {"dummies[1].forward", "dummies[1].upward"}
    frame = dummy_frames(after.dummies, node_matrices(after.nodes)).matrices[1]
    np.testing.assert_allclose(axes.swap_matrices(frame), np.array(imported.dummies[1].matrix_basis), atol=1e-6)


def test_a_renumbered_dummy(imported, before):
    imported.dummies[1]["flver_reference_id"] = 221
    after = written(imported.collection)
    assert differences(before, after) == {"dummies[1].reference_id"}
    imported.dummies[1]["flver_reference_id"] = 70000
    _, problems = gathered(imported.collection)
    assert problems.errors[0].objects == (imported.dummies[1].name,)
    assert "70000" in problems.errors[0].text


def test_a_dummy_that_follows_another_bone(imported, before):
    dummy = imported.dummies[1]
    world = dummy.matrix_world.copy()
    dummy.parent_bone = "child"
    import bpy

    bpy.context.view_layer.update()
    dummy.matrix_world = world
    after = written(imported.collection)
    assert after.dummies["attach"][1] == 2
    assert after.dummies["parent"][1] == 3
    assert after.dummies["unk2E"][1] == 1
    assert differences(before, after) <= {
        "dummies[1].attach", "dummies[1].unk2E", "dummies[1].position", "dummies[1].name_crc", "nodes[2].flags"
    }  # fmt: skip
    np.testing.assert_allclose(after.dummies["position"][1], before.dummies["position"][1], atol=1e-5)


def test_a_dummy_in_the_space_of_another_bone_stays_where_it_is_seen(imported, before):
    imported.dummies[0]["flver_parent_name"] = "root"
    after = written(imported.collection)
    assert after.dummies["parent"][0] == 0
    assert np.uint32(after.dummies["name_crc"][0]) == zlib.crc32(b"root")
    frames = [dummy_frames(each.dummies, node_matrices(each.nodes)).matrices[0] for each in (before, after)]
    np.testing.assert_allclose(frames[1], frames[0], atol=1e-6)
    imported.dummies[0]["flver_parent_name"] = "nowhere"
    assert "nowhere" in str(gathered(imported.collection)[1].errors[0])


def test_copied_added_and_deleted_dummies(imported, before):
    import bpy

    copy = imported.dummies[0].copy()
    copy.location.z += 1
    imported.collection.children[0].objects.link(copy)
    added = bpy.data.objects.new("added", None)
    added.parent, added.parent_type, added.parent_bone = imported.armature, "BONE", "root"
    imported.collection.objects.link(added)
    after = written(imported.collection)
    assert len(after.dummies) == 4
    np.testing.assert_array_equal(after.dummies[:2], before.dummies)
    assert after.dummies["reference_id"].tolist() == [100, 100, -1, 100]
    assert (after.dummies["parent"][2], after.dummies["attach"][2], after.dummies["unk2E"][2]) == (0, 0, 1)
    frame = dummy_frames(after.dummies, node_matrices(after.nodes)).matrices[2, :3, 3]
    np.testing.assert_allclose(frame, (0, 2, 0), atol=1e-5)  # the tail of the root, where Blender puts it
    for obj in (copy, added, imported.dummies[0]):
        bpy.data.objects.remove(obj)
    after = written(imported.collection)
    assert len(after.dummies) == 1
    assert after.dummies[0].tobytes() == before.dummies[1].tobytes()


# bones


def test_a_moved_bone_under_a_scaled_parent(imported, before):
    bones = edit_bones(imported)
    for end in ("head", "tail"):
        setattr(bones["child"], end, getattr(bones["child"], end) + type(bones["child"].head)((0, 0, 0.5)))
    leave_edit_mode()
    after = written(imported.collection)
    assert "nodes[2].translation" in differences(before, after)
    assert not {"nodes[2].rotation", "nodes[2].scale", "nodes[1].translation"} & differences(before, after)
    origins = [node_matrices(each.nodes)[:, :3, 3] for each in (before, after)]
    np.testing.assert_allclose(origins[1] - origins[0], [(0, 0, 0), (0, 0, 0), (0, 0.5, 0), (0, 0, 0)], atol=1e-6)
    # the static mesh on "scaled" and the dummy seen in Blender stay where they are; the dummy's parent moved
    np.testing.assert_allclose(after.dummies["position"][0], before.dummies["position"][0] - (0.25, 0, 0), atol=1e-6)


def test_a_turned_bone_keeps_what_is_seen_of_its_children(imported, before):
    bones = edit_bones(imported)
    bones["scaled"].roll += 0.5
    leave_edit_mode()
    after = written(imported.collection)
    worlds = [node_matrices(each.nodes) for each in (before, after)]
    np.testing.assert_allclose(worlds[1][[0, 2, 3]], worlds[0][[0, 2, 3]], atol=1e-5)
    assert np.abs(worlds[1][1] - worlds[0][1]).max() > 0.1
    placed = [place_mesh(each, each.meshes[1], each.vertices(1), node_matrices(each.nodes)) for each in (before, after)]
    np.testing.assert_allclose(placed[1][0], placed[0][0], atol=1e-5)
    np.testing.assert_allclose(placed[1][1], placed[0][1], atol=0.02)  # normals in bytes


def test_a_shear_is_reported_with_its_size(scene_api, tmp_path):
    flver = tiny.model()
    flver.nodes["scale"][1] = (1, 2, 1)
    imported = load(scene_api, tiny.write(tmp_path / "a.partsbnd", flver))
    bones = edit_bones(imported)
    bones["child"].tail = bones["child"].head + type(bones["child"].head)((0.3, 0.0, 0.3))
    leave_edit_mode()
    after, problems = gathered(imported.collection)
    assert "child" in str(problems.warnings[0])
    assert "%" in str(problems.warnings[0])
    assert after is not None


def test_a_renamed_bone_renames_its_node_only(imported, before):
    imported.armature.data.bones["child"].name = "Ünterarm"
    after = written(imported.collection)
    assert after.node_names == ["root", "scaled", "Ünterarm", "loose"]
    assert differences(before, after) == {"node_names", "dummies[0].name_crc"}
    assert np.uint32(after.dummies["name_crc"][0]) == zlib.crc32("Ünterarm".encode("cp932", "replace"))


def test_an_added_bone(imported, before):
    bones = edit_bones(imported)
    bone = bones.new("extra")
    bone.head, bone.tail, bone.parent = (0, 0, 4), (0, 0, 4.5), bones["scaled"]
    leave_edit_mode()
    after = written(imported.collection)
    assert after.node_names == ["root", "scaled", "child", "loose", "extra"]
    assert after.nodes["parent"].tolist() == [-1, 0, 1, -1, 1]
    assert after.nodes["next_sibling"].tolist() == [-1, -1, 4, -1, -1]
    assert after.nodes["previous_sibling"].tolist() == [-1, -1, -1, -1, 2]
    assert after.nodes["flags"][4] == 1
    np.testing.assert_allclose(node_matrices(after.nodes)[4, :3, 3], (0, 4, 0), atol=1e-6)
    np.testing.assert_allclose(node_matrices(after.nodes)[4, :3, 0], (0, 1, 0), atol=1e-6)  # along the bone
    assert len(after.skeletons.base) == len(after.skeletons.all) == 5


def test_a_copied_bone_is_a_node_of_its_own(imported):
    import bpy

    bones = edit_bones(imported)
    for bone in bones:
        bone.select = bone.select_head = bone.select_tail = bone.name == "scaled"
    bpy.ops.armature.duplicate()
    leave_edit_mode()
    after = written(imported.collection)
    assert after.node_names == ["root", "scaled", "child", "loose", "scaled.001"]
    worlds = node_matrices(after.nodes)
    np.testing.assert_allclose(worlds[4], worlds[1], atol=1e-6)  # its scale too


def test_a_removed_bone(imported, before):
    bones = edit_bones(imported)
    bones.remove(bones["root"])
    leave_edit_mode()
    flver, problems = gathered(imported.collection)
    after = Flver.read(flver.write())
    assert after.node_names == ["scaled", "child", "loose"]
    assert after.nodes["parent"].tolist() == [-1, 0, -1]
    np.testing.assert_allclose(node_matrices(after.nodes)[:, :3, 3], node_matrices(before.nodes)[1:, :3, 3], atol=1e-6)
    np.testing.assert_allclose(node_matrices(after.nodes), node_matrices(before.nodes)[1:], atol=1e-5)
    vertices = after.vertices(0)
    assert vertices.bones[:, 0].tolist() == [0] * 4
    assert np.rint(vertices.weights.sum(axis=1) * 255).tolist() == [253] * 4  # what they added up to
    assert any("root" in str(warning) for warning in problems.warnings)
    assert after.meshes[1].node == 1
    assert after.dummies["parent"].tolist() == [1, 2]
