"""A FLVER model whose every number is known, in the scene."""

from __future__ import annotations

import os

import numpy as np
import pytest

from addon.codec.flver.records import NODE
from addon.codec.source import open_source
from tests.scene import tiny
from tests.scene.shown import attribute, coordinates, load, weights

# the tree


def test_collections_hold_model_and_dummies(imported):
    assert imported.collection.name == "tiny"
    assert {obj.name for obj in imported.collection.objects} == {"tiny", "tiny 00 #01#Böne", "tiny 01 #01#Böne"}
    assert [child.name for child in imported.collection.children] == ["tiny dummies"]
    assert imported.collection["flver_member"] == "N:\\GR\\data\\tiny.flver"
    assert imported.collection["flver_game"] == "eldenring"
    assert imported.collection["flver_version"] == 0x2001A


def test_bones_have_origin_rotation_and_tree_of_their_nodes(imported):
    bones = imported.armature.data.bones
    assert [bones[name].parent and bones[name].parent.name for name in ("root", "scaled", "child", "loose")] == [
        None, "root", "scaled", None]  # fmt: skip
    # root stands at y = 1 turned a quarter about z, so its x axis points up: Blender's z
    np.testing.assert_allclose(bones["root"].head_local, (0, 0, 1), atol=1e-6)
    np.testing.assert_allclose(bones["scaled"].head_local, (0, 0, 2), atol=1e-6)
    np.testing.assert_allclose(bones["child"].head_local, (0, 0, 3), atol=1e-6)  # 0.5 scaled by 2
    np.testing.assert_allclose(bones["loose"].head_local, (0, 5, 0), atol=1e-6)
    np.testing.assert_allclose(bones["root"].matrix_local.col[1][:3], (0, 0, 1), atol=1e-6)
    # lengths reach the child on the axis; leaves have the default
    np.testing.assert_allclose([bones[name].length for name in ("root", "scaled", "child")], (1, 1, 0.05), atol=1e-6)


def test_a_bone_reaches_its_farthest_child_but_is_never_too_short_to_exist(blender):
    from addon.scene.armature import bone_lengths

    rest = np.tile(np.eye(4), (6, 1, 1))
    rest[:, 1, 3] = (0, 0.2, 0.3, 0, 0.301, 0)
    rest[5, :3, 3] = (0.1, 0.9, 0)
    lengths = bone_lengths(np.array([-1, 0, 0, 0, 2, 1]), rest, 0.05)
    assert np.allclose(lengths, (0.3, 0.05, 0.05, 0.05, 0.05, 0.05))
    assert bone_lengths(np.array([-1]), rest[:1], 0.001).tolist() == [0.01]


def test_bones_keep_the_stored_record(imported):
    bone = imported.armature.data.bones["scaled"]
    record = tiny.model().nodes[1]
    for field in ("translation", "rotation", "scale"):
        np.testing.assert_array_equal(np.array(bone[f"flver_{field}"], np.float32), record[field])
    assert bone["flver_index"] == 1
    assert bone["flver_name"] == "scaled"
    assert bone["flver_parent"] == 0
    assert np.float32(bone["flver_bounds_min"][0]) == np.finfo("f4").max
    world = np.array(bone["flver_world"]).reshape(4, 4)
    np.testing.assert_allclose(world[:3, 0], (0, 2, 0), atol=1e-6)
    assert imported.armature.data.bones["loose"]["flver_flags"] == 1


def test_bone_collections_sort_by_use_and_hide_the_unused(scene_api, tmp_path):
    flver = tiny.model()
    flver.dummies["parent"] = flver.dummies["attach"] = (2, 2)
    flver.meshes[1].node = 1
    imported = load(scene_api, tiny.write(tmp_path / "a.partsbnd", flver))
    groups = {each.name: sorted(bone.name for bone in each.bones) for each in imported.armature.data.collections}
    assert groups == {
        "skeleton": ["child", "root", "scaled"],
        "dummy owners": ["child"],
        "mesh owners": ["root", "scaled"],
        "unused": ["loose"],
    }
    assert [each.name for each in imported.armature.data.collections if not each.is_visible] == ["unused"]
    shown = load(scene_api, tmp_path / "a.partsbnd", show_unused_bones=True)
    assert shown.armature.data.collections["unused"].is_visible


# meshes


def test_skinned_mesh_keeps_vertices_in_order_and_weights_as_stored(imported):
    obj = imported.meshes[0]
    np.testing.assert_array_equal(coordinates(obj.data), [[0, 0, 1], [1, 0, 1], [1, 0, 2], [0, 0, 2]])
    assert weights(obj) == [{"root": 200, "scaled": 53}] * 4
    assert obj.parent == imported.armature
    assert [(each.type, each.object) for each in obj.modifiers] == [("ARMATURE", imported.armature)]


def test_a_bone_that_a_vertex_names_twice_gets_both_weights(scene_api, tmp_path):
    flver = tiny.model()
    flver.meshes[0].buffers[0].data["bones0"][:, 1] = flver.meshes[0].buffers[0].data["bones0"][:, 0]
    imported = load(scene_api, tiny.write(tmp_path / "a.partsbnd", flver))
    assert weights(imported.meshes[0]) == [{"root": 253}] * 4


def test_static_mesh_is_placed_by_the_full_product(imported):
    obj = imported.meshes[1]
    expected = [[0, 0, 2], [0, 0, 4], [-2, 0, 4], [-2, 0, 2]]
    np.testing.assert_allclose(coordinates(obj.data), expected, atol=1e-6)
    assert weights(obj) == [{"scaled": 255}] * 4
    assert obj.data["flver_dynamic"] == 0
    np.testing.assert_array_equal(attribute(obj.data, "flver_normal_node", "value", 1).ravel(), [1, 1, 1, 1])


def test_a_repeated_triangle_corner_is_skipped_and_remembered(imported):
    mesh = imported.meshes[0].data
    assert [tuple(each.vertices) for each in mesh.polygons] == [(0, 1, 2), (0, 2, 3)]
    assert list(mesh["flver_skipped_triangles"]) == [2]
    assert any("1 triangles" in warning for warning in imported.warnings)


def test_shading_shows_the_stored_normals_and_faces_turn_outward(imported):
    for obj in imported.meshes:
        corners = np.array([each.vector for each in obj.data.corner_normals])
        np.testing.assert_allclose(corners, np.tile((0, -1, 0), (6, 1)), atol=1e-4)
        np.testing.assert_allclose([each.normal for each in obj.data.polygons], [(0, -1, 0)] * 2, atol=1e-6)
    np.testing.assert_array_equal(attribute(imported.meshes[0].data, "flver_normal", "vector", 3), [[0, 0, -1]] * 4)


def test_uv_maps_colours_and_tangents(imported):
    mesh = imported.meshes[0].data
    assert [each.name for each in mesh.uv_layers] == ["UV0", "UV0.zw"]
    first = [tuple(each.vector) for each in mesh.uv_layers["UV0"].uv]
    assert first == [(0, 1), (1, 1), (1, 0), (0, 1), (1, 0), (0, 0.5)]
    second = np.array([each.vector[:] for each in mesh.uv_layers["UV0.zw"].uv])
    np.testing.assert_allclose(second[1], (1 / 2048, 1 - 2 / 2048), atol=1e-7)
    np.testing.assert_allclose(attribute(mesh, "Color0", "color", 4)[0] * 255, (255, 128, 0, 64), atol=1e-4)
    np.testing.assert_array_equal(attribute(mesh, "flver_tangent0", "value", 4), [[0, 1, 0, 1]] * 4)


def test_materials_carry_what_a_shader_needs(imported):
    (material,) = imported.meshes[0].data.materials
    assert material.name == "#01#Böne"
    assert imported.meshes[1].data.materials[0] == material
    assert material["flver_path"] == "N:\\x\\bone.matxml"
    assert [(each["type"], each["path"]) for each in material["flver_textures"]] == [("Albedo", "bone.tif")]
    assert material.use_backface_culling


def test_face_sets_and_layouts_are_kept(imported):
    sets = imported.meshes[0].data["flver_face_sets"]
    assert [(each["lod"], each["motion_blur"], each["indices"]) for each in sets] == [
        (0, False, 9), (1, False, 3), (0, True, 9), (1, True, 3)]  # fmt: skip
    assert sets[2]["flags"] == -0x80000000
    assert [member["type"] for member in imported.collection["flver_layouts"][1]] == [2, 0x13]


def test_custom_normals_turn_with_the_armature(scene_api, tiny_file):
    import bpy

    obj = load(scene_api, tiny_file).meshes[0]
    pose = obj.parent.pose.bones["root"]
    pose.rotation_mode = "AXIS_ANGLE"
    pose.rotation_axis_angle = (np.radians(60), 0, 1, 0)  # about the bone, which points up
    bpy.context.view_layer.update()
    evaluated = obj.evaluated_get(bpy.context.evaluated_depsgraph_get()).to_mesh()
    # 200 of 253 parts of the weight turn by 60 degrees with root, and with its child the rest
    turned = np.array([each.vector for each in evaluated.corner_normals])
    faces = np.array([each.normal for each in evaluated.polygons])
    np.testing.assert_allclose(turned[0], faces[0], atol=1e-3)
    assert np.degrees(np.arccos(-turned[0][1])) == pytest.approx(60, abs=0.2)


# dummies


def test_dummies_stand_where_their_parent_says_and_follow_what_they_are_attached_to(imported):
    first, second = imported.dummies
    assert (first.name, second.name) == ("tiny dummy 100 [0]", "tiny dummy 100 [1]")
    # in node space one metre along z; the scaled ancestor makes it two, which is Blender's y
    np.testing.assert_allclose(first.matrix_world.translation, (0, 2, 3), atol=1e-5)
    # its forward, -z, is Blender's -y; its upward, +y in the node that is turned a quarter, is -x
    np.testing.assert_allclose(first.matrix_world.col[1][:3], (0, -1, 0), atol=1e-5)
    np.testing.assert_allclose(first.matrix_world.col[2][:3], (-1, 0, 0), atol=1e-5)
    assert (first.parent_bone, second.parent_bone) == ("root", "loose")
    # forward and upward parallel: still a frame, along forward
    np.testing.assert_allclose(second.matrix_world.col[1][:3], (0, 0, 1), atol=1e-5)
    np.testing.assert_allclose(np.array(second.matrix_world)[:3, :3] @ np.array(second.matrix_world)[:3, :3].T,
                               np.eye(3), atol=1e-5)  # fmt: skip
    np.testing.assert_allclose(second.matrix_world.translation, (0, 5, 0), atol=1e-5)


def test_dummies_move_with_their_bone(scene_api, tiny_file):
    import bpy

    imported = load(scene_api, tiny_file)
    imported.armature.pose.bones["root"].location = (0, 0.5, 0)  # along the bone: up
    bpy.context.view_layer.update()
    np.testing.assert_allclose(imported.dummies[0].matrix_world.translation, (0, 2, 3.5), atol=1e-5)


def test_dummies_keep_the_stored_record(imported):
    dummy = imported.dummies[0]
    assert (dummy["flver_index"], dummy["flver_reference_id"]) == (0, 100)
    assert (dummy["flver_parent"], dummy["flver_parent_name"]) == (2, "child")
    assert (dummy["flver_attach"], dummy["flver_attach_name"]) == (0, "root")
    assert list(dummy["flver_position"]) == [0, 0, 1]
    assert "flver_attach_name" not in imported.dummies[1]


# options


def test_options(scene_api, tiny_file):
    plain = load(scene_api, tiny_file, dummies=False, custom_normals=False, scale=2.0, bone_length=0.3)
    assert plain.dummies == []
    assert not plain.meshes[0].data.has_custom_normals
    assert plain.armature.data.bones["child"].length == pytest.approx(0.3)
    assert plain.meshes[0].matrix_world.to_scale()[0] == pytest.approx(2.0)
    assert load(scene_api, tiny_file, dummy_size=0.2).dummies[0].empty_display_size == pytest.approx(0.2)


def test_levels_of_detail(scene_api, tiny_file):
    assert load(scene_api, tiny_file).lods == []
    every = load(scene_api, tiny_file, lods=scene_api.Lods.ALL)
    (lod,) = every.lods
    assert (lod.data["flver_mesh"], lod.data["flver_lod"]) == (0, 1)
    assert lod.hide_get()  # by the eye, the one icon that the outliner shows
    assert not lod.hide_viewport
    assert lod.hide_render
    assert len(lod.data.polygons) == 1
    np.testing.assert_array_equal(attribute(lod.data, "flver_vertex", "value", 1).ravel(), [0, 1, 2])
    chosen = load(scene_api, tiny_file, lods=scene_api.Lods.CHOSEN, lod=1)
    assert [len(obj.data.polygons) for obj in chosen.meshes] == [1, 2]  # the second mesh has one level only
    assert len(chosen.meshes[0].data.vertices) == 4


def test_binder_members_by_filter(scene_api, tmp_path):
    import bpy

    names = ("a.flver", "a_S.flver")
    path = tiny.write(tmp_path / "two.mapbnd.dcx", tiny.model(), tiny.model(("x", "y", "z", "w")), names=names)
    assert load(scene_api, path, member_filter="*_s.flver").name == "a_S"
    both = scene_api.import_flver(bpy.context, [path])
    assert [model.name for model in both.models] == ["a", "a_S"]
    none = scene_api.import_flver(bpy.context, [path], scene_api.FlverSettings(member_filter="b*"))
    assert none.failures == [("two.mapbnd.dcx", "holds no FLVER model that matches 'b*'")]


def test_redo_uses_the_decoded_file_until_it_changes(scene_api, tiny_file):
    import bpy

    opened = []

    def opener(path, *rest):
        opened.append(path)
        return open_source(path, *rest)

    cache = scene_api.DecodedCache()
    for size in (0.05, 0.5):
        settings = scene_api.FlverSettings(dummy_size=size)
        made = scene_api.import_flver(bpy.context, [tiny_file], settings, cache=cache, opener=opener)
        assert len(made.models) == 1
    assert len(opened) == 1
    tiny.write(tiny_file, tiny.model(("other", "names", "in", "it!")))
    changed = scene_api.import_flver(bpy.context, [tiny_file], cache=cache, opener=opener)
    assert len(opened) == 2
    assert "other" in changed.models[0].armature.data.bones
    os.utime(tiny_file, ns=(1, 1))
    scene_api.import_flver(bpy.context, [tiny_file], cache=cache, opener=opener)
    assert len(opened) == 3
    assert len(cache.files) == 1


# odd models


def test_names_that_blender_cannot_hold(scene_api, tmp_path):
    long = "a" + "骨" * 40
    imported = load(scene_api, tiny.write(tmp_path / "ñ 名.partsbnd.dcx", tiny.model(("bone", "bone", long, ""))))
    bones = imported.armature.data.bones
    assert [each["flver_name"] for each in sorted(bones, key=lambda each: each["flver_index"])] == [
        "bone", "bone", long, ""]  # fmt: skip
    names = {each["flver_index"]: each.name for each in bones}
    assert names[0] != names[1]
    assert names[2] == "a" + "骨" * 20
    # each vertex group and dummy goes to the bone of its node, whatever the bone is called
    assert weights(imported.meshes[0]) == [{names[0]: 200, names[1]: 53}] * 4
    assert imported.dummies[1].parent_bone == names[3]


def test_names_that_are_not_text(scene_api, tmp_path):
    imported = load(scene_api, tiny.write(tmp_path / "a.partsbnd", tiny.model(("a\ud800", "b", "c", "d"))))
    names = [each["flver_name"] for each in imported.armature.data.bones]
    assert "a\ud800".encode("utf-8", "surrogatepass") in names


def test_a_model_without_nodes(scene_api, tmp_path):
    flver = tiny.model()
    flver.nodes, flver.node_names, flver.meshes[1].node = NODE.zeros(0), [], -1
    imported = load(scene_api, tiny.write(tmp_path / "a.partsbnd", flver), scale=2.0)
    assert imported.armature is None
    assert [obj.parent for obj in imported.meshes] == [None, None]
    np.testing.assert_allclose(coordinates(imported.meshes[1].data)[1], (1, 0, 0))  # as stored
    np.testing.assert_allclose(imported.dummies[0].matrix_world.translation, (0, 2, 0), atol=1e-6)
    assert imported.meshes[0].scale[0] == 2.0


def test_zero_scales_and_inverted_bounds_do_no_harm(scene_api, tmp_path):
    flver = tiny.model()
    flver.nodes["scale"] = 0
    flver.header["bounds_min"], flver.header["bounds_max"] = np.finfo("f4").max, np.finfo("f4").min
    imported = load(scene_api, tiny.write(tmp_path / "a.partsbnd", flver))
    assert np.isfinite(coordinates(imported.meshes[1].data)).all()
    assert all(np.isfinite(np.array(obj.matrix_world)).all() for obj in imported.dummies)
    assert any("bounds" in warning for warning in imported.warnings)


def test_indices_that_name_nothing_are_reported_and_treated_as_none(scene_api, tmp_path):
    flver = tiny.model()
    flver.nodes["next_sibling"][0] = 77
    flver.meshes[0].material = 9
    flver.dummies["attach"][0], flver.dummies["parent"][1] = 400, 300
    flver.meshes[0].buffers[0].data["bones0"][:, 1] = 200
    imported = load(scene_api, tiny.write(tmp_path / "a.partsbnd", flver))
    assert weights(imported.meshes[0]) == [{"root": 200}] * 4
    assert len(imported.meshes[0].data.materials) == 0
    assert imported.dummies[0].parent_bone == "child"
    assert (imported.dummies[1].parent, imported.dummies[1].parent_bone) == (imported.armature, "")
    text = "\n".join(imported.warnings)
    assert all(part in text for part in ("node links", "materials", "dummy parents", "dummy attach nodes", "4 weights"))


def test_two_members_alike_are_imported_once(scene_api, tmp_path):
    import bpy

    path = tiny.write(tmp_path / "a.partsbnd", tiny.model(), tiny.model(), names=("a.flver", "a.flver"))
    result = scene_api.import_flver(bpy.context, [path])
    assert len(result.models) == 1
    assert result.warnings == ["a.partsbnd: holds a.flver twice, imported once"]
