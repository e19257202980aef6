"""What breaks in other exporters, as their users report it: each with the smallest model that shows it."""

from __future__ import annotations

import numpy as np
import pytest

from addon.codec.flver import FaceSet, Flver, Layout, Mesh, Semantic, VertexBuffer, Vertices, encode_vertices, uv_factor
from addon.model import node_matrices, place_mesh
from tests.scene import tiny
from tests.scene.shown import load
from tests.scene.written import gathered, source, written


def test_a_model_without_meshes(scene_api, tmp_path):
    flver = tiny.model()
    flver.meshes = []
    imported = load(scene_api, tiny.write(tmp_path / "a.chrbnd", flver))
    assert written(imported.collection).write() == flver.write()


def test_a_model_without_nodes(scene_api, tmp_path):
    flver = tiny.model()
    flver.nodes, flver.node_names, flver.dummies = flver.nodes[:0], [], flver.dummies[:0]
    flver.meshes = flver.meshes[:1]
    flver.meshes[0].node = -1
    for scale in (1.0, 2.5):
        imported = load(scene_api, tiny.write(tmp_path / "a.mapbnd", flver), scale=scale)
        assert written(imported.collection).write() == flver.write()
        imported.meshes[0].location.x += scale
        moved = written(imported.collection).vertices(0).positions
        np.testing.assert_allclose(moved - flver.vertices(0).positions, [(1, 0, 0)] * 4, atol=1e-6)


def test_vertices_of_a_stride_that_the_layout_does_not_fill(scene_api, tmp_path):
    flver = tiny.model()
    buffer = flver.meshes[0].buffers[0]
    wider = flver.layouts[0].dtype(flver.layouts[0].vertex_size + 12)
    data = np.frombuffer(bytes(range(4 * wider.itemsize)), wider).copy()
    for name in buffer.data.dtype.names:
        data[name] = buffer.data[name]
    flver.meshes[0].buffers = [VertexBuffer(0, data)]
    imported = load(scene_api, tiny.write(tmp_path / "a.partsbnd", flver))
    assert written(imported.collection).write() == flver.write()


def test_members_that_no_coding_reads_stay(scene_api, tmp_path):
    flver = tiny.model()
    layout = Layout.new((Semantic.POSITION, 0x02, 0), (Semantic.NORMAL, 0x13, 0), (Semantic.TANGENT, 0x17, 0))
    data = np.zeros(4, layout.dtype(layout.vertex_size))
    data["position0"], data["normal0"], data["tangent0"] = tiny.QUAD, (127, 127, 0, 1), ((1, 2), (3, 4), (5, 6), (7, 8))
    flver.layouts[1], flver.meshes[1].buffers = layout, [VertexBuffer(1, data)]
    imported = load(scene_api, tiny.write(tmp_path / "a.partsbnd", flver))
    assert written(imported.collection).write() == flver.write()


@pytest.mark.parametrize("version", [0x2000D, 0x20010, 0x20014, 0x2001A])
def test_bones_through_a_palette(scene_api, tmp_path, version):
    import bpy

    flver = Flver.new(version)
    for name in ("nodes", "node_names", "layouts", "materials", "meshes"):
        setattr(flver, name, getattr(tiny.model(), name))
    for mesh in flver.meshes:
        mesh.palette = np.array([3, 1, 0], np.int32)
        mesh.bounds = None
    if version <= 0x20010:
        flver.header["index_size"] = 16
    imported = load(scene_api, tiny.write(tmp_path / "a.partsbnd", flver))
    assert written(imported.collection).write() == flver.write()
    obj = imported.meshes[0]
    obj.vertex_groups.new(name="child").add([2], 1.0, "REPLACE")
    obj.vertex_groups.remove(obj.vertex_groups["loose"])
    bpy.context.view_layer.objects.active = imported.armature
    bpy.ops.object.mode_set(mode="EDIT")
    imported.armature.data.edit_bones.remove(imported.armature.data.edit_bones["loose"])
    bpy.ops.object.mode_set(mode="OBJECT")
    after = written(imported.collection)
    mesh, vertices = after.meshes[0], after.vertices(0)
    assert mesh.palette.tolist() == [0, 1, 0, 2]  # the place of what is gone stays, so that others keep theirs
    assert mesh.palette[vertices.bones[2][vertices.weights[2] > 0]].tolist() == [2, 1]


def test_mirrored_uvs_have_tangents_of_the_other_sign(scene_api, imported):
    obj = imported.meshes[0]
    before = Flver.read(source(imported.collection)).vertices(0)
    layer = obj.data.uv_layers["UV0"]
    for each in layer.uv:
        each.vector.x *= -1
    after = written(imported.collection).vertices(0)
    assert (after.tangents[0][:, 3] == -np.sign(before.tangents[0][:, 3])).all() or (
        np.sign(after.tangents[0][:, 3]) == -1
    ).all()


def test_tangents_of_a_new_plane_run_along_v_as_stored(imported):
    import bpy

    data = bpy.data.meshes.new("plane")
    data.from_pydata([(0, 0, 0), (1, 0, 0), (1, 0, 1), (0, 0, 1)], [], [(0, 1, 2, 3)])
    layer = data.uv_layers.new(name="UVMap")
    for each, uv in zip(layer.uv, ((0, 0), (1, 0), (1, 1), (0, 1)), strict=True):
        each.vector = uv
    data.materials.append(imported.meshes[0].data.materials[0])
    new = bpy.data.objects.new("plane", data)
    imported.collection.objects.link(new)
    new.vertex_groups.new(name="root").add(range(4), 1.0, "REPLACE")
    after = written(imported.collection).vertices(2)
    # Blender's V grows upward, the stored one downward: towards -y in the games' axes; U grows along +x
    np.testing.assert_allclose(after.tangents[0][:, :3], [(0, -1, 0)] * 4, atol=0.01)
    side = np.cross(after.normals, after.tangents[0][:, :3]) * after.tangents[0][:, 3:]
    np.testing.assert_allclose(side, [(1, 0, 0)] * 4, atol=0.02)


def test_a_smooth_new_sphere_stays_smooth(imported):
    import bmesh
    import bpy

    data = bpy.data.meshes.new("sphere")
    shape = bmesh.new()
    bmesh.ops.create_icosphere(shape, subdivisions=3, radius=0.5)
    for face in shape.faces:
        face.smooth = True
    shape.to_mesh(data)
    shape.free()
    data.materials.append(imported.meshes[0].data.materials[0])
    new = bpy.data.objects.new("sphere", data)
    imported.collection.objects.link(new)
    new.vertex_groups.new(name="root").add(range(len(data.vertices)), 1.0, "REPLACE")
    after = written(imported.collection)
    vertices = after.vertices(2)
    assert len(vertices.positions) == len(data.vertices)
    directions = vertices.positions / np.linalg.norm(vertices.positions, axis=1, keepdims=True)
    assert np.einsum("ij,ij->i", directions, vertices.normals).min() > 0.99


def test_bounds_hold_what_was_moved_outward(imported):
    obj = imported.meshes[1]  # static, on a scaled node
    obj.data.vertices[0].co.x -= 7
    flver, _ = gathered(imported.collection)
    after = Flver.read(flver.write())
    for index, mesh in enumerate(after.meshes):
        points = place_mesh(after, mesh, after.vertices(index), node_matrices(after.nodes))[0]
        assert (points >= after.header["bounds_min"] - 1e-5).all()
        assert (points <= after.header["bounds_max"] + 1e-5).all()
    local = after.vertices(1).positions
    assert (local >= after.nodes["bounds_min"][1] - 1e-5).all()
    assert (local <= after.nodes["bounds_max"][1] + 1e-5).all()


def test_a_dummy_on_an_unused_bone_changes_its_flags(scene_api, tmp_path):
    flver = tiny.model()
    flver.dummies["parent"] = 2
    imported = load(scene_api, tiny.write(tmp_path / "a.partsbnd", flver))
    assert written(imported.collection).nodes["flags"].tolist() == [0, 0, 0, 1]
    imported.dummies[0].parent_bone = "loose"
    assert written(imported.collection).nodes["flags"].tolist() == [0, 0, 0, 2]
    imported.dummies[0].parent_bone = "root"
    assert written(imported.collection).nodes["flags"].tolist() == [0, 0, 0, 1]


def test_more_vertices_than_16_bits_hold(scene_api, tmp_path):
    flver = tiny.model()
    side = 260
    grid = np.stack(np.meshgrid(np.arange(side), np.arange(side)), axis=-1).reshape(-1, 2)
    positions = np.column_stack((grid, np.zeros(len(grid)))).astype(np.float32)
    corner = np.arange(side * side).reshape(side, side)[:-1, :-1].ravel()
    triangles = np.stack((corner, corner + 1, corner + side), axis=1)
    buffer = VertexBuffer.new(flver.layouts, 1, len(positions))
    normals = np.tile(np.float32([0, 0, -1]), (len(positions), 1))
    vertices = Vertices(positions, normals, np.ones(len(positions), np.int32))
    buffers = encode_vertices(vertices, [buffer], flver.layouts, uv_factor(flver.version))
    flver.meshes[1] = Mesh([FaceSet(triangles.ravel().astype("<u4"), index_size=32)], buffers, dynamic=0, node=2)
    imported = load(scene_api, tiny.write(tmp_path / "a.partsbnd", flver))
    assert written(imported.collection).write() == flver.write()

    import bmesh

    obj = imported.meshes[1]
    shape = bmesh.new()
    shape.from_mesh(obj.data)
    shape.verts.ensure_lookup_table()
    bmesh.ops.delete(shape, geom=shape.verts[60_000:], context="VERTS")
    shape.to_mesh(obj.data)
    shape.free()
    after = written(imported.collection)
    assert after.meshes[1].face_sets[0].index_size == 16
    assert after.meshes[1].face_sets[0].indices.dtype.itemsize == 2
    assert after.meshes[1].vertex_count == 60_000


def test_levels_of_detail_are_made_anew_by_choice(imported):
    flver, _ = gathered(imported.collection, lods="REGENERATE")
    after = Flver.read(flver.write())
    assert [each.flags for each in after.meshes[0].face_sets] == [0, 0x01000000, 0x80000000, 0x81000000]
    assert len(after.triangles(0, 1)) == 2  # four far corners: nothing to join
    assert np.array_equal(after.triangles(0, 1), after.triangles(0, 3))


def test_what_is_missing_is_said(imported):
    import bpy

    bpy.data.objects.remove(imported.meshes[0])
    bpy.data.objects.remove(imported.dummies[0])
    bpy.data.objects.new("stray", None)
    imported.collection.objects.link(bpy.data.objects["stray"])
    flver, problems = gathered(imported.collection)
    texts = [str(each) for each in problems.warnings]
    assert [text for text in texts if "left out: 0" in text]
    assert [text for text in texts if "1 dummies" in text]
    assert [text for text in texts if text.startswith("stray")]
    assert len(flver.meshes) == len(flver.dummies) == 1


def test_names_that_blender_numbers_are_no_other_names(scene_api, tiny_file):
    first, second = load(scene_api, tiny_file), load(scene_api, tiny_file)
    second.meshes[0].data.materials[0].name += ".001"
    assert written(first.collection).write() == source(first.collection)
    assert written(second.collection).write() == source(second.collection)


def test_what_is_wild_stays_wild(scene_api, tmp_path):
    flver = tiny.model()
    flver.dummies["attach"] = 99
    flver.meshes[0].node = 77
    flver.meshes[1].buffers[0].data["normal0"][:, 3] = 200
    flver.meshes[0].buffers[0].data["bones0"][:, 1] = 250
    imported = load(scene_api, tiny.write(tmp_path / "a.partsbnd", flver))
    assert written(imported.collection).write() == flver.write()
