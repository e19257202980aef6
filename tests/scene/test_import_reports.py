"""What users of such tools have reported, as imports that must not show it again."""

from __future__ import annotations

import numpy as np
import pytest

from addon.codec import Dcx
from addon.codec.flver import Layout, Material, Mesh, Semantic, Texture
from addon.codec.flver.records import DUMMY
from tests.scene import tiny
from tests.scene.shown import attribute, coordinates, load, weights
from tests.scene.written import written


def result_of(scene_api, path):
    import bpy

    return scene_api.import_flver(bpy.context, [path])


def test_cloth_meshes_have_their_uvs_and_weights(scene_api, corpus):
    """Their members are spread over three vertex buffers."""
    imported = load(scene_api, corpus("eldenring/hd_m_1140.partsbnd.dcx"))
    cloth = [obj for obj in imported.meshes if list(obj.data["flver_slots"]) == [0, 1, 2]]
    assert sorted(len(obj.data.vertices) for obj in cloth) == [165, 494]
    for obj in cloth:
        uv = np.array([each.vector[:] for each in obj.data.uv_layers[0].uv])
        assert np.ptp(uv, axis=0).min() > 0.1
        assert all(weights(obj))
        assert "flver_second_position" in obj.data.attributes


def test_weights_go_to_the_bones_that_the_file_names(scene_api, corpus):
    """Vertex bones are node indices where a mesh has no palette: each lies near the vertices it moves."""
    imported = load(scene_api, corpus("eldenring/hd_m_1140.partsbnd.dcx"))
    bones = imported.armature.data.bones
    for obj in imported.meshes:
        points = coordinates(obj.data)
        names = {name for vertex in weights(obj) for name in vertex}
        assert names <= set(bones.keys())
        heads = np.array([bones[max(vertex, key=vertex.get)].head_local for vertex in weights(obj) if vertex])
        # a helmet's: none is farther than a body is tall
        assert np.linalg.norm(heads - points[: len(heads)], axis=1).max() < 2.0


def test_uv_layers_are_told_by_their_index_not_their_order(scene_api, corpus, tmp_path):
    """The file lists layers 0, 3, 4, 1, 2, of which only the first is one; the others are wind and blend factors."""
    imported = load(scene_api, corpus("eldenring/wp_a_0213.partsbnd.dcx"))
    listed = [
        [member["index"] for member in layout if member["semantic"] == Semantic.UV]
        for layout in imported.collection["flver_layouts"]
    ]
    assert [0, 3, 4, 1, 2] in listed
    for obj in imported.meshes:
        assert [each.name for each in obj.data.uv_layers] == ["UV0", "UV0.zw"]
        factors = [each.name for each in obj.data.attributes if each.name.startswith("Factors")]
        assert factors in ([], ["Factors3", "Factors4", "Factors1", "Factors2"])
    flver = tiny.model()
    flver.layouts[0] = Layout.new((Semantic.POSITION, 0x02, 0), (Semantic.UV, 0x15, 3), (Semantic.UV, 0x15, 1))
    data = np.zeros(4, flver.layouts[0].dtype(flver.layouts[0].vertex_size))
    data["position0"], data["uv3"], data["uv1"] = tiny.QUAD, (2048, 0), (0, 2048)
    flver.meshes[0].buffers[0].data = data
    mesh = load(scene_api, tiny.write(tmp_path / "a.partsbnd", flver)).meshes[0].data
    assert {each.name: tuple(each.uv[0].vector) for each in mesh.uv_layers} == {"UV1": (0, 0), "UV3": (1, 1)}


def test_scaled_bones_carry_their_vertices_and_dummies(scene_api, corpus):
    """Static meshes under scaled nodes make up the bounds of the header."""
    imported = load(scene_api, corpus("eldenring/wp_a_0213.partsbnd.dcx"))
    points = np.concatenate([coordinates(obj.data) for obj in imported.meshes])
    low, high = (np.array(imported.collection[f"flver_bounds_{side}"])[[0, 2, 1]] for side in ("min", "max"))
    np.testing.assert_allclose([points.min(0), points.max(0)], [low, high], atol=1e-3 * np.linalg.norm(high - low))
    for dummy in imported.dummies:
        bone = next(each for each in imported.armature.data.bones if each["flver_index"] == dummy["flver_parent"])
        world = np.array(bone["flver_world"]).reshape(4, 4)
        expected = (world @ [*dummy["flver_position"], 1.0])[[0, 2, 1]]
        np.testing.assert_allclose(dummy.matrix_world.translation, expected, atol=1e-4)


def test_only_the_nearest_level_of_detail_is_shown(scene_api, corpus):
    imported = load(scene_api, corpus("eldenring/am_m_1122.partsbnd.dcx"))
    shown = [len(obj.data.polygons) for obj in imported.meshes]
    first = [
        next(each["indices"] for each in obj.data["flver_face_sets"] if each["flags"] == 0) // 3
        for obj in imported.meshes
    ]
    assert shown == first


def test_a_material_nobody_knows_keeps_its_mesh_whole(scene_api, tmp_path):
    flver = tiny.model()
    flver.materials = [Material("", "C:\\nobody\\knows.mtd", [Texture("g_Unknown", "")])]
    imported = load(scene_api, tiny.write(tmp_path / "a.partsbnd", flver))
    assert imported.meshes[0].data.materials[0]["flver_path"] == "C:\\nobody\\knows.mtd"
    assert imported.meshes[0].data.materials[0]["flver_textures"][0]["path"] == ""
    assert len(imported.meshes[0].data.uv_layers) == 2


@pytest.mark.parametrize("code", [0x7F, 0x2222])
def test_a_vertex_type_nobody_knows_is_left_out_and_named(scene_api, tmp_path, code):
    flver = tiny.model()
    members = flver.layouts[1].members.copy()
    members[1]["type"] = code
    flver.layouts[1] = Layout(members)
    imported = load(scene_api, tiny.write(tmp_path / "a.partsbnd", flver))
    assert len(imported.meshes[1].data.polygons) == 2
    assert any("mesh 1 holds normal0 in a form that is not known" in each for each in imported.warnings)


def test_a_layout_longer_than_the_vertex_still_shows_the_rest(scene_api, tmp_path):
    flver = tiny.model()
    members = flver.layouts[1].members.copy()
    members[1]["offset"] = 400
    flver.layouts[1] = Layout(members)
    assert len(load(scene_api, tiny.write(tmp_path / "a.partsbnd", flver)).meshes[1].data.polygons) == 2


def test_a_binder_whose_model_has_no_meshes(scene_api, tmp_path):
    flver = tiny.model()
    flver.meshes, flver.materials, flver.layouts = [], [], []
    imported = load(scene_api, tiny.write(tmp_path / "a.chrbnd.dcx", flver))
    assert (imported.bone_count, imported.meshes) == (4, [])
    empty = tiny.model()
    empty.meshes.append(Mesh(buffers=[]))
    assert len(load(scene_api, tiny.write(tmp_path / "b.chrbnd.dcx", empty)).meshes[2].data.vertices) == 0


def test_more_than_five_hundred_dummies(scene_api, tmp_path):
    flver = tiny.model()
    flver.dummies = np.repeat(flver.dummies, 400)
    flver.dummies["reference_id"] = np.arange(800) - 400
    imported = load(scene_api, tiny.write(tmp_path / "a.chrbnd.dcx", flver))
    assert [dummy["flver_reference_id"] for dummy in imported.dummies] == list(range(-400, 400))
    assert len({dummy.name for dummy in imported.dummies}) == 800
    assert DUMMY.dtype == flver.dummies.dtype


def test_several_parts_of_an_armour_together(scene_api, corpus):
    import bpy

    names = (
        "eldenring/am_m_1122.partsbnd.dcx",
        "eldenring/hd_m_1140.partsbnd.dcx",
        "eldenring/bd_f_9002_l.partsbnd.dcx",
    )
    result = scene_api.import_flver(bpy.context, [corpus(name) for name in names])
    assert (len(result.models), result.failures) == (3, [])


def test_wrappers_that_mod_tools_write(scene_api, tmp_path):
    wrapped = bytearray(tiny.write(tmp_path / "a.partsbnd.dcx", tiny.model()).read_bytes())
    wrapped[0x30], wrapped[0x38], wrapped[0x23] = 15, 77, wrapped[0x23] ^ 1
    (tmp_path / "a.partsbnd.dcx").write_bytes(wrapped)
    assert load(scene_api, tmp_path / "a.partsbnd.dcx").bone_count == 4


@pytest.mark.parametrize("codec", ["ZSTD", "EDGE"])
def test_other_compressions_are_named(scene_api, tmp_path, codec):
    wrapped = bytearray(tiny.write(tmp_path / "a.partsbnd.dcx", tiny.model()).read_bytes())
    wrapped[0x28:0x2C] = codec.encode()
    (tmp_path / "a.partsbnd.dcx").write_bytes(wrapped)
    ((_name, why),) = result_of(scene_api, tmp_path / "a.partsbnd.dcx").failures
    assert codec in why
    assert "\n" not in why


def test_a_download_that_is_cut_off(scene_api, corpus, tmp_path):
    whole = corpus("eldenring/c0000.chrbnd.dcx").read_bytes()
    (tmp_path / "c0000.chrbnd.dcx").write_bytes(whole[: len(whole) // 2])
    ((_name, why),) = result_of(scene_api, tmp_path / "c0000.chrbnd.dcx").failures
    assert "cut off" in why


def test_stock_files_need_no_library_of_the_game(scene_api, corpus):
    assert Dcx.read(corpus("eldenring/c4500.chrbnd.dcx").read_bytes()).codec == "KRAK"
    imported = load(scene_api, corpus("eldenring/c4500.chrbnd.dcx"))
    assert (imported.bone_count, len(imported.dummies), len(imported.meshes)) == (630, 407, 19)


def test_files_in_a_folder_that_cannot_be_written(scene_api, tmp_path):
    folder = tmp_path / "read only"
    folder.mkdir()
    path = tiny.write(folder / "a.partsbnd.dcx", tiny.model())
    path.chmod(0o444)
    folder.chmod(0o555)
    try:
        assert load(scene_api, path).bone_count == 4
    finally:
        folder.chmod(0o755)
    assert [each.name for each in folder.iterdir()] == ["a.partsbnd.dcx"]


def test_normals_of_a_mirrored_uv_keep_their_tangent_sign(scene_api, tmp_path):
    flver = tiny.model()
    flver.meshes[0].buffers[0].data["tangent0"][2:, 3] = 0
    imported = load(scene_api, tiny.write(tmp_path / "a.partsbnd", flver))
    np.testing.assert_array_equal(
        attribute(imported.meshes[0].data, "flver_tangent0", "value", 4)[:, 3], [1, 1, -1, -1]
    )


def test_more_uv_maps_than_blender_holds_are_told(scene_api, tmp_path):
    flver = tiny.model()
    flver.layouts[0] = Layout.new((Semantic.POSITION, 0x02, 0), *((Semantic.UV, 0x16, index) for index in range(5)))
    data = np.zeros(4, flver.layouts[0].dtype(flver.layouts[0].vertex_size))
    data["position0"], data["uv4"] = tiny.QUAD, (1, 2, 3, 4)
    flver.meshes[0].buffers[0].data = data
    imported = load(scene_api, tiny.write(tmp_path / "a.partsbnd", flver))
    assert len(imported.meshes[0].data.uv_layers) == 8
    assert "mesh 0 has 10 UV maps, the first 8 are shown" in imported.warnings
    assert written(imported.collection).write() == flver.write()
