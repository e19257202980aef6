"""Edits of meshes and materials in Blender -> what changes in the file, and that nothing else does."""

from __future__ import annotations

import numpy as np
import pytest

from addon.codec.flver import Flver
from addon.model import node_matrices, place_mesh
from tests.sample import make_sample
from tests.scene import tiny
from tests.scene.shown import load
from tests.scene.written import (
    differences,
    edit_bones,
    edit_mesh,
    gathered,
    leave_edit_mode,
    source,
    written,
)

# vertices


def test_moved_vertices_of_a_static_mesh_go_through_the_inverse_of_their_node(imported, before):
    imported.meshes[1].data.vertices[0].co.z += 0.25
    after = written(imported.collection)
    assert not [name for name in differences(before, after) if name.startswith("meshes[0]")]
    moved = [
        place_mesh(each, each.meshes[1], each.vertices(1), node_matrices(each.nodes))[0] for each in (before, after)
    ]
    np.testing.assert_allclose(moved[1] - moved[0], [(0, 0.25, 0), (0, 0, 0), (0, 0, 0), (0, 0, 0)], atol=1e-6)


def test_uvs_split_a_vertex_where_its_corners_differ(imported, before):
    layer = imported.meshes[0].data.uv_layers["UV0"]
    layer.uv[0].vector.x += 0.5  # one of the two corners at vertex 0
    after = written(imported.collection)
    vertices = after.vertices(0)
    assert len(vertices.positions) == 5
    np.testing.assert_array_equal(vertices.positions[4], vertices.positions[0])
    old = before.vertices(0)
    np.testing.assert_array_equal(vertices.uvs[0][[4, 0], 0] - old.uvs[0][0, 0], (0, 0.5))
    assert sorted(after.triangles(0, 0)[:2].ravel().tolist()) == sorted([0, 1, 2, 4, 2, 3])
    layer.uv[3].vector.x += 0.5  # and the other
    assert differences(before, written(imported.collection)) == {"meshes[0].uv0", "meshes[0].tangent0"}


def test_colours_and_weights(imported, before):
    mesh = imported.meshes[0].data
    mesh.color_attributes["Color0"].data[1].color = (0, 1, 0, 1)
    assert differences(before, written(imported.collection)) == {"meshes[0].color0"}
    obj = imported.meshes[0]
    obj.vertex_groups["scaled"].add([3], 0.5, "REPLACE")
    obj.vertex_groups["root"].add([3], 0.25, "REPLACE")
    after = written(imported.collection)
    vertices = after.vertices(0)
    assert np.rint(vertices.weights[3] * 255).tolist() == [169, 84, 0, 0]  # two to one, adding up to 253
    assert vertices.bones[3].tolist() == [1, 0, 0, 0]
    np.testing.assert_array_equal(vertices.weights[:3], before.vertices(0).weights[:3])


def test_a_fifth_influence_is_dropped_and_reported(scene_api, tmp_path):
    flver = tiny.model()
    imported = load(scene_api, tiny.write(tmp_path / "a.partsbnd", flver))
    bones = edit_bones(imported)
    for name in "abc":
        bones.new(name).tail = (0, 0, 1)
    leave_edit_mode()
    obj = imported.meshes[0]
    for name, weight in zip(("root", "scaled", "a", "b", "c"), (0.4, 0.3, 0.2, 0.06, 0.04), strict=True):
        (obj.vertex_groups.get(name) or obj.vertex_groups.new(name=name)).add([0], weight, "REPLACE")
    flver, problems = gathered(imported.collection)
    vertices = Flver.read(flver.write()).vertices(0)
    assert vertices.bones[0].tolist() == [0, 1, 4, 5]
    assert np.rint(vertices.weights[0].sum() * 255) == 253
    assert ["1 vertices follow more" in str(each) for each in problems.warnings] == [True]


def test_custom_normals(imported, before):
    mesh = imported.meshes[0].data
    mesh.normals_split_custom_set_from_vertices([(0, 0, 1)] * 4)
    after = written(imported.collection)
    np.testing.assert_array_equal(after.vertices(0).normals, [(0, 1, 0)] * 4)
    assert {"meshes[0].normal0"} <= differences(before, after) <= {"meshes[0].normal0", "meshes[0].tangent0"}


def test_a_smooth_mesh_stays_smooth_and_whole(scene_api, sample):
    """Normals of edited vertices are those that are seen, and do not fall apart into faces."""
    obj = max(sample.meshes, key=lambda each: len(each.data.vertices) if each.data["flver_dynamic"] else 0)
    count = len(obj.data.vertices)
    for vertex in obj.data.vertices:
        vertex.co *= 1.5
    index = obj.data["flver_mesh"]
    after = written(sample.collection)
    assert after.meshes[index].vertex_count == count


# materials and meshes


def test_material_names_and_texture_paths(imported, before):
    block = imported.meshes[0].data.materials[0]
    block.name = "#02#Metall"
    block["flver_textures"][0]["path"] = "new.tif"
    after = written(imported.collection)
    assert differences(before, after) == {"materials"}
    assert (after.materials[0].name, after.materials[0].textures[0].path) == ("#02#Metall", "new.tif")
    assert after.materials[0].path == before.materials[0].path


def test_a_second_material_on_one_mesh_stands_in_the_way(imported):
    import bpy

    obj = imported.meshes[0]
    obj.data.materials.append(bpy.data.materials.new("second"))
    obj.data.polygons[1].material_index = 1
    _, problems = gathered(imported.collection)
    assert problems.errors[0].objects == (obj.name,)
    assert "2 materials" in problems.errors[0].text


def test_topology_follows_with_levels_of_detail(imported, before):
    obj = imported.meshes[0]
    edit_mesh(
        obj, lambda bmesh, shape: bmesh.ops.subdivide_edges(shape, edges=shape.edges[:], cuts=1, use_grid_fill=True)
    )
    after = written(imported.collection)
    vertices = after.vertices(0)
    triangles = after.triangles(0, 0)
    assert len(vertices.positions) == 9
    assert len(triangles) == 8
    np.testing.assert_array_equal(after.triangles(0, 2), triangles)  # the copy for motion blur
    np.testing.assert_array_equal(
        vertices.positions[after.triangles(0, 1)], before.vertices(0).positions[before.triangles(0, 1)]
    )
    assert np.rint(vertices.weights.sum(axis=1) * 255).min() >= 253
    assert after.header["total_face_count"] == 8 + 1 + 8 + 1 + 2
    assert written(imported.collection, lods="DROP").meshes[0].face_sets[1].flags == 0x80000000


@pytest.mark.parametrize("count", [1, 2])
def test_deleted_vertices(imported, count):
    obj = imported.meshes[0]
    edit_mesh(obj, lambda bmesh, shape: bmesh.ops.delete(shape, geom=[shape.verts[1]], context="VERTS"))
    flver, problems = gathered(imported.collection)
    after = Flver.read(flver.write())
    assert after.meshes[0].vertex_count == 3
    assert after.triangles(0, 0).tolist() == [[0, 1, 2]]
    assert after.triangles(0, 1).tolist() == []
    assert any("levels of detail" in str(each) for each in problems.warnings)


def test_new_meshes_take_a_layout(imported, before):
    import bpy

    copy = imported.meshes[0].copy()
    copy.data = copy.data.copy()
    imported.collection.objects.link(copy)
    data = bpy.data.meshes.new("pyramid")
    data.from_pydata([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)], [], [(0, 2, 1), (0, 1, 3), (1, 2, 3), (0, 3, 2)])
    data.uv_layers.new(name="UVMap")
    data.materials.append(imported.meshes[0].data.materials[0])
    new = bpy.data.objects.new("pyramid", data)
    imported.collection.objects.link(new)
    new.vertex_groups.new(name="child").add(range(4), 1.0, "REPLACE")
    flver, problems = gathered(imported.collection)
    assert not problems.errors
    after = Flver.read(flver.write())
    assert len(after.meshes) == 4
    np.testing.assert_array_equal(after.vertices(3).uvs[0], before.vertices(0).uvs[0])
    vertices = after.vertices(2)
    assert len(vertices.positions) == 12  # flat faces
    assert (vertices.bones[:, 0] == 2).all()
    assert (vertices.weights[:, 0] == 1).all()
    np.testing.assert_allclose(np.linalg.norm(vertices.normals, axis=1), 1, atol=0.02)
    assert after.meshes[2].bounds is not None
    points = vertices.positions[after.triangles(2, 0)]
    cross = np.cross(points[:, 1] - points[:, 0], points[:, 2] - points[:, 0])
    assert (np.einsum("ij,ij->i", cross, vertices.normals[after.triangles(2, 0)[:, 0]]) < 0).all()
    assert not [name for name in differences(before, after) if name.startswith(("meshes[0]", "meshes[1]"))]


def test_a_removed_mesh(imported, before):
    import bpy

    bpy.data.objects.remove(imported.meshes[0])
    after = written(imported.collection)
    assert len(after.meshes) == 1
    np.testing.assert_array_equal(after.vertices(0).positions, before.vertices(1).positions)


def test_cloth_keeps_its_vertices(scene_api, sample):
    cloth = next(obj for obj in sample.meshes if len(obj.data["flver_layouts"]) == 3)
    index = cloth.data["flver_mesh"]
    before = Flver.read(source(sample.collection))
    cloth.data.vertices[5].co.y += 0.001
    after = written(sample.collection)
    assert len(after.meshes[index].buffers) == 3
    second = after.vertices(index)
    np.testing.assert_array_equal(second.second["position"][5], second.positions[5])
    assert {f"meshes[{index}].position0", f"meshes[{index}].position1"} <= differences(before, after)
    edit_mesh(cloth, lambda bmesh, shape: bmesh.ops.delete(shape, geom=[shape.verts[0]], context="VERTS"))
    flver, problems = gathered(sample.collection)
    assert flver is None
    assert problems.errors[0].objects == (cloth.name,)
    assert "cloth" in problems.errors[0].text
    flver, problems = gathered(sample.collection, let_go_of_cloth=True)
    assert Flver.read(flver.write()).meshes[index].vertex_count == before.meshes[index].vertex_count - 1


def test_sorted_vertices_go_back_to_their_places(sample):
    cloth = next(obj for obj in sample.meshes if len(obj.data["flver_layouts"]) == 3)

    def reverse(_bmesh, shape):
        for vertex in shape.verts:
            vertex.index = len(shape.verts) - 1 - vertex.index
        shape.verts.sort()

    edit_mesh(cloth, reverse)
    before, after = Flver.read(source(sample.collection)), written(sample.collection)
    found = differences(before, after)
    assert found <= {f"meshes[{cloth.data['flver_mesh']}].face_sets"}


def test_five_round_trips_do_not_drift(scene_api, tmp_path):
    import bpy

    imported = load(scene_api, tiny.write(tmp_path / "0.partsbnd.dcx", make_sample()))
    edit_bones(imported)
    imported.armature.data.edit_bones[2].roll += 0.3
    leave_edit_mode()
    for vertex in imported.meshes[0].data.vertices:
        vertex.co.x *= 1.1
    first = written(imported.collection)
    for number in range(5):
        bpy.ops.wm.read_factory_settings(use_empty=True)
        again = load(scene_api, tiny.write(tmp_path / f"{number}.partsbnd.dcx", first))
        assert written(again.collection).write() == first.write()


def test_levels_that_are_objects_are_written_as_they_are_shown(scene_api, tmp_path):
    imported = load(scene_api, tiny.write(tmp_path / "a.partsbnd.dcx", make_sample()), lods="ALL")
    before = Flver.read(source(imported.collection))
    level = imported.lods[0]
    index, lod = level.data["flver_mesh"], level.data["flver_lod"]
    edit_mesh(level, lambda bmesh, shape: bmesh.ops.delete(shape, geom=shape.faces[:1], context="FACES_ONLY"))
    after = written(imported.collection)
    assert differences(before, after) <= {
        f"meshes[{index}].face_sets", "header.true_face_count", "header.total_face_count"
    }  # fmt: skip
    for number, face_set in enumerate(before.meshes[index].face_sets):
        gone = len(before.triangles(index, number)) - len(after.triangles(index, number))
        assert gone == (1 if face_set.lod == lod else 0)
    number = next(i for i, each in enumerate(before.meshes[index].face_sets) if each.lod == lod)
    np.testing.assert_array_equal(after.triangles(index, number), before.triangles(index, number)[1:])


def test_modifiers_are_applied_by_choice(imported, before):
    modifier = imported.meshes[0].modifiers.new("Array", "ARRAY")
    modifier.count, modifier.relative_offset_displace = 3, (1.5, 0, 0)
    assert differences(before, written(imported.collection)) == set()
    after = written(imported.collection, apply_modifiers=True)
    vertices = after.vertices(0)
    assert len(vertices.positions) == 12
    np.testing.assert_allclose(vertices.positions[4:8] - vertices.positions[:4], [(1.5, 0, 0)] * 4, atol=1e-6)
    np.testing.assert_array_equal(vertices.bones[4:8], vertices.bones[:4])
    np.testing.assert_array_equal(vertices.weights[4:8], vertices.weights[:4])


def test_a_scaled_bone_of_a_pose_is_no_edit(imported, before):
    imported.armature.pose.bones["scaled"].scale = (3, 3, 3)
    assert differences(before, written(imported.collection)) == set()


def test_colours_by_corner_split(imported, before):
    mesh = imported.meshes[0].data
    mesh.attributes.remove(mesh.attributes["Color0"])
    layer = mesh.color_attributes.new("Color0", "FLOAT_COLOR", "CORNER")
    for corner in layer.data:
        corner.color = (1, 0, 0, 1)
    layer.data[0].color = (0, 0, 1, 1)
    vertices = written(imported.collection).vertices(0)
    assert len(vertices.positions) == 5
    np.testing.assert_array_equal(vertices.colors[0][0], (0, 0, 1, 1))
    np.testing.assert_array_equal(vertices.colors[0][1:], [(1, 0, 0, 1)] * 4)


def test_a_custom_property_that_was_edited_is_written(imported, before):
    imported.armature.data.bones["child"]["flver_scale"] = [1.5, 1.0, 1.0]
    assert differences(before, written(imported.collection)) == {"nodes[2].scale"}
    imported.meshes[0].data["flver_face_sets"][0]["cull_back"] = 0
    assert "meshes[0].face_sets" in differences(before, written(imported.collection))
    imported.collection["flver_unk5C"] = 3
    assert "header.unk5C" in differences(before, written(imported.collection))
