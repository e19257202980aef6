"""Collision in the scene: objects, sets, colours, faces, what goes wrong; through the functions and the operator."""

from __future__ import annotations

import shutil

import numpy as np
import pytest

from addon.codec import Tagfile, read_collision
from addon.codec.source import open_source
from addon.model import PlacedModel
from tests.collision.build import body, build, grid
from tests.collision.parts import ball, box, extern
from tests.scene import collision_files as made
from tests.scene import tiny
from tests.scene.shown import attribute, coordinates


@pytest.fixture
def ground_file(tmp_path):
    path = tmp_path / "h11_00_00_00_000100.hkx"
    path.write_bytes(made.hkx(body(made.ground(), "h000100", materialId=3)))
    return path


def load(scene_api, *paths, **settings):
    """Import files that must succeed; return the result."""
    import bpy

    result = scene_api.import_collision(bpy.context, paths, scene_api.CollisionSettings(**settings))
    assert not result.failures
    bpy.context.view_layer.update()
    return result


def collections(scene) -> dict[str, list[str]]:
    return {each.name: sorted(obj.name for obj in each.objects) for each in scene.collection.children_recursive}


# objects


def test_a_body_is_a_mesh_object_with_what_the_file_says(scene_api, ground_file):
    (imported,) = load(scene_api, ground_file).bodies
    obj, (stored,) = imported.object, read_collision(Tagfile.read(ground_file.read_bytes()))
    mesh = obj.data
    assert (obj.name, imported.set, imported.triangles) == ("h11_00_00_00_000100", "h", 32)
    np.testing.assert_array_equal(coordinates(mesh), stored.vertices[:, [0, 2, 1]])
    for name, wanted in (
        ("key", stored.keys), ("section", stored.mesh.section), ("primitive", stored.mesh.primitive),
        ("half", stored.mesh.half), ("row", stored.mesh.row), ("material", stored.materials),
        ("data", stored.mesh.primitive_data), ("kind", 0 * stored.keys),
    ):  # fmt: skip
        np.testing.assert_array_equal(attribute(mesh, f"collision_{name}", "value", 1)[:, 0], wanted)
    interior = [each.value for each in mesh.attributes["collision_interior"].data]
    assert interior == stored.mesh.interior.tolist()
    found = {name: obj[f"collision_{name}"] for name in ("set", "area", "part", "model", "sdk", "key_bits", "sections")}
    assert found == {
        "set": "h", "area": "11_00_00_00", "part": "11_00_00_00_000100", "model": "000100", "sdk": "20180100",
        "key_bits": stored.shape.key_bits, "sections": 1,
    }  # fmt: skip
    assert obj["collision_fields"]["materialId"] == 3
    assert obj["collision_fields"]["attachedBody"] == -1


def test_faces_look_up_where_the_ground_does(scene_api, ground_file):
    (imported,) = load(scene_api, ground_file).bodies
    normals = np.array([tuple(face.normal) for face in imported.object.data.polygons])
    assert (normals[:, 2] > 0).all()


def test_names_and_posed_bodies(scene_api, tmp_path):
    turn = np.float32([0, np.sin(np.pi / 4), 0, np.cos(np.pi / 4)])
    path = tmp_path / "o100200.hkx"
    path.write_bytes(
        made.hkx(body(box((1, 2, 6)), "one", (10, 20, 30), turn), body(ball("sphere", (0, 0, 0), (0, 0, 0), 1), "two"))
    )
    first, second = load(scene_api, path).bodies
    assert (first.object.name, second.object.name, first.set) == ("o100200 one", "o100200 two", "other")
    points = coordinates(first.object.data)
    np.testing.assert_allclose([points.min(axis=0), points.max(axis=0)], [(7, 29.5, 19), (13, 30.5, 21)], atol=1e-5)


def test_collision_lies_over_the_model_it_was_made_from(scene_api, tmp_path):
    import bpy

    flver = tiny.model()
    placed = PlacedModel.of(flver).meshes[0]
    tiny.write(tmp_path / "tiny.partsbnd.dcx", flver)
    source = grid(1)
    # models are wound against their normals in the games' space, collision along them
    source.vertices, source.triangles = placed.positions.astype("f4"), placed.levels[0].triangles[:, [0, 2, 1]]
    source.quads, source.names = source.quads[:0], None
    path = tmp_path / "h00_00_00_00_000000.hkx"
    path.write_bytes(made.hkx(body(build(source, radius=0.001))))
    model = scene_api.import_flver(bpy.context, [tmp_path / "tiny.partsbnd.dcx"]).models[0].meshes[0]
    collision = load(scene_api, path).bodies[0].object
    depsgraph = bpy.context.evaluated_depsgraph_get()
    found = []
    for obj in (model, collision):
        shown, matrix = obj.evaluated_get(depsgraph).data, np.array(obj.matrix_world)
        points = coordinates(shown) @ matrix[:3, :3].T + matrix[:3, 3]
        corners = np.array([polygon.vertices[:] for polygon in shown.polygons])
        found.append((points[corners], np.array([tuple(polygon.normal) for polygon in shown.polygons])))
    (model_faces, model_normals), (faces, normals) = found
    centres = [each.mean(axis=1) for each in (model_faces, faces)]
    near = np.linalg.norm(centres[0][:, None] - centres[1], axis=2)
    np.testing.assert_allclose(near.min(axis=1), 0, atol=2e-3)
    np.testing.assert_allclose(np.ptp(faces, axis=(0, 1)), np.ptp(model_faces, axis=(0, 1)), atol=2e-3)
    assert np.ptp(faces, axis=(0, 1)).max() > 0.9
    assert ((normals[near.argmin(axis=1)] * model_normals).sum(axis=1) > 0.99).all()


# sets


def test_sets_of_a_map_share_parents(scene_api, scene, tmp_path):
    paths = made.area(tmp_path)
    result = load(scene_api, paths["h"], also=frozenset("lf"))
    assert result.summary == "Imported 2 h + 2 f + 2 l bodies of 116 triangles"
    assert collections(scene) == {
        "Collision 11_01_00_00": ["part 11_01_00_00_000100", "part 11_01_00_00_000200"],
        "11_01_00_00 h": ["h11_01_00_00_000100", "h11_01_00_00_000200"],
        "11_01_00_00 l": ["l11_01_00_00_000100", "l11_01_00_00_000200"],
        "11_01_00_00 f": ["f11_01_00_00_000100", "f11_01_00_00_000200"],
    }
    parents = {imported.object.parent.name for imported in result.bodies}
    assert parents == {"part 11_01_00_00_000100", "part 11_01_00_00_000200"}


def test_a_set_that_is_imported_later_joins_the_others(scene_api, scene, tmp_path):
    paths = made.area(tmp_path)
    load(scene_api, paths["h"])
    load(scene_api, tmp_path / "l11_01_00_00.hkxbdt")
    assert len(scene.collection.children_recursive) == 3
    assert len([obj for obj in scene.objects if obj.type == "EMPTY"]) == 2


def test_a_set_of_another_size_has_parents_of_its_own(scene_api, scene, tmp_path):
    paths = made.area(tmp_path)
    load(scene_api, paths["h"])
    load(scene_api, paths["l"], scale=2.0)
    scales = sorted(obj.scale[0] for obj in scene.objects if obj.type == "EMPTY")
    assert scales == [1.0, 1.0, 2.0, 2.0]


def test_both_halves_of_a_split_binder_are_one_file(scene_api, scene, tmp_path):
    path = made.area(tmp_path)["h"]
    result = load(scene_api, path, path.with_suffix(".hkxbdt"))
    assert len(result.bodies) == 2


def test_placeholders_point_to_the_f_set(scene_api, tmp_path):
    paths = made.area(tmp_path, "30_01_00_00", {"h": 0, "f": 3})
    result = load(scene_api, paths["h"])
    assert result.warnings == [
        "only placeholders of one triangle: the collision of such maps is in their f set, f30_01_00_00.hkxbhd"
    ]
    assert not load(scene_api, paths["h"], also=frozenset("f")).warnings


def test_assets_and_reassigned_sets(scene_api, scene, tmp_path):
    import bpy

    for name in ("aeg001_002_h", "aeg001_002_l"):
        made.binder(tmp_path / f"{name}.geomhkxbnd.dcx", {f"{name}.hkx": made.hkx(body(made.ground(), "Collision"))})
    result = load(scene_api, *sorted(tmp_path.iterdir()))
    assert [imported.set for imported in result.bodies] == ["h", "l"]
    assert len({imported.object.parent for imported in result.bodies}) == 1
    chosen = load(scene_api, tmp_path / "aeg001_002_h.geomhkxbnd.dcx", set="f")
    assert [imported.set for imported in chosen.bodies] == ["f"]
    result.bodies[0].object.select_set(state=True)
    assert bpy.ops.object.ossuary_collision_assign(set="other") == {"FINISHED"}
    assert result.bodies[0].object["collision_set"] == "other"
    assert [each.name for each in result.bodies[0].object.users_collection] == ["aeg001_002 other"]


def test_showing_sets_and_parts(scene_api, scene, tmp_path):
    import bpy

    result = load(scene_api, made.area(tmp_path)["h"], also=frozenset("lf"))
    bpy.ops.object.ossuary_collision_set(name="l")
    assert {imported.set for imported in result.bodies if not imported.object.visible_get()} == {"l"}
    bpy.ops.object.ossuary_collision_set(name="l")
    bpy.context.view_layer.objects.active = result.bodies[0].object
    bpy.ops.object.ossuary_collision_part()
    hidden = [imported.object.name for imported in result.bodies if imported.object.hide_get()]
    assert sorted(hidden) == ["f11_01_00_00_000100", "h11_01_00_00_000100", "l11_01_00_00_000100"]


# colours


def colors(obj) -> dict[str, int]:
    index = attribute(obj.data, "material_index", "value", 1)[:, 0]
    return {
        slot.name.removeprefix("Collision "): int((index == place).sum())
        for place, slot in enumerate(obj.data.materials)
    }


def test_colours_by_every_mode(scene_api, scene, tmp_path):
    import bpy

    source = grid(16)
    source.points = [box((1, 1, 1), (4, 3, 4)).vertices]
    path = tmp_path / "h11_00_00_00_000100.hkx"
    path.write_bytes(made.hkx(body(build(source)), body(extern()), body(box())))
    first, second, third = (imported.object for imported in load(scene_api, path).bodies)
    materials = np.unique(attribute(first.data, "collision_material", "value", 1), return_counts=True)
    wanted = {
        f"h material {name}": count
        for name, count in zip(*(each.tolist() for each in materials), strict=True)
        if name > 0
    }
    assert colors(first) == wanted | {"h no material point set": 12}
    assert list(colors(second)) == ["h no material extern mesh"]
    assert list(colors(third)) == ["h no material convex"]
    settings = scene.ossuary_collision
    for mode, found in (
        ("SET", {"h": 524}),
        ("KIND", {"h mesh": 512, "h point set": 12}),
        ("INTERIOR", None),
        ("SECTION", None),
    ):
        settings.color = mode
        assert sum(colors(first).values()) == 524
        if found:
            assert colors(first) == found
    assert len(colors(first)) == first["collision_sections"]
    assert list(colors(third)) == ["no section"]
    assert set(bpy.data.materials) == {block for block in bpy.data.materials if block.name.startswith("Collision ")}
    settings.color = "MATERIAL"
    assert colors(first) == wanted | {"h no material point set": 12}


def test_shades_differ_in_lightness(blender):
    from addon.scene.collision.colors import color_of
    from addon.scene.collision.keys import CollisionSet, Mode

    lights = [sum(color_of(Mode.MATERIAL, CollisionSet.HIGH, name).rgb) for name in range(20, 28)]
    assert min(abs(a - b) for place, a in enumerate(lights) for b in lights[:place]) > 0.01
    sets = [sum(color_of(Mode.SET, name, 0).rgb) for name in (CollisionSet.HIGH, CollisionSet.LOW, CollisionSet.FALL)]
    assert min(abs(a - b) for place, a in enumerate(sets) for b in sets[:place]) > 0.1


def test_wireframe_in_front_and_legend(scene_api, scene, ground_file):
    import bpy

    from addon.scene.collision.colors import legend

    (imported,) = load(scene_api, ground_file).bodies
    scene.ossuary_collision.wire = scene.ossuary_collision.in_front = True
    assert imported.object.show_wire
    assert imported.object.show_in_front
    bpy.ops.import_scene.ossuary_collision(filepath=str(ground_file))  # what comes later is shown like the rest
    assert all(obj.show_wire and obj.show_in_front for obj in scene.objects if "collision_set" in obj)
    assert sum(count for _, count in legend([imported.object])) == 32


# faces


def test_the_active_face_and_faces_like_it(scene_api, scene, tmp_path):
    import bpy

    from addon.scene.collision.faces import active_face

    path = tmp_path / "h11_00_00_00_000100.hkx"
    path.write_bytes(made.hkx(body(made.ground(16))))
    (imported,) = load(scene_api, path).bodies
    obj = imported.object
    bpy.context.view_layer.objects.active = obj
    obj.data.polygons.active = 100
    face = active_face(obj)
    assert (face.key, face.section) == (obj.data.attributes["collision_key"].data[100].value, face.key >> 8)
    assert (face.material, face.kind) == (obj.data.attributes["collision_material"].data[100].value, "mesh")
    for what, name in (("SECTION", "section"), ("MATERIAL", "material")):
        assert bpy.ops.mesh.ossuary_collision_like(what=what) == {"FINISHED"}
        assert bpy.context.mode == "EDIT_MESH"
        assert active_face(obj) == face
        bpy.ops.object.mode_set(mode="OBJECT")
        values = attribute(obj.data, f"collision_{name}", "value", 1)[:, 0]
        chosen = np.array([polygon.select for polygon in obj.data.polygons])
        np.testing.assert_array_equal(chosen, values == values[100])
        corners = {vertex for polygon in obj.data.polygons if polygon.select for vertex in polygon.vertices}
        assert {vertex.index for vertex in obj.data.vertices if vertex.select} == corners


def test_faces_like_it_among_faces_of_any_size(scene_api, scene, ground_file):
    import bpy

    (imported,) = load(scene_api, ground_file).bodies
    obj = imported.object
    bpy.context.view_layer.objects.active = obj
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.select_all(action="SELECT")
    bpy.ops.mesh.tris_convert_to_quads()
    bpy.ops.object.mode_set(mode="OBJECT")
    assert max(len(polygon.vertices) for polygon in obj.data.polygons) == 4
    obj.data.polygons.active = 0
    for what in ("KIND", "DATA"):
        assert bpy.ops.mesh.ossuary_collision_like(what=what) == {"FINISHED"}
        bpy.ops.object.mode_set(mode="OBJECT")
        values = attribute(obj.data, f"collision_{what.lower()}", "value", 1)[:, 0]
        np.testing.assert_array_equal([polygon.select for polygon in obj.data.polygons], values == values[0])


def test_the_check_reads_the_file_again(scene_api, scene, tmp_path, corpus):
    import bpy

    from addon.operators import report

    path = tmp_path / "tool.hkx"
    shutil.copy(corpus("eldenring/tool_made_collision.hkx"), path)
    load(scene_api, path)
    assert bpy.ops.object.ossuary_collision_check() == {"FINISHED"}
    lines = report.kept(bpy.context)
    assert lines[0] == "Checked 1 compressed mesh: 4 findings"
    assert "tool: section trees: the tree of a section is missing (1, first sections[0])" in lines
    path.unlink()
    bpy.ops.object.ossuary_collision_check()
    assert "No such file" in report.kept(bpy.context)[1]


# files


def test_types_inside_beside_chosen_and_nowhere(scene_api, scene, tmp_path):
    loose, elsewhere = tmp_path / "h000100.hkx", tmp_path / "other"
    loose.write_bytes(made.hkx(body(made.ground()), shared=True))
    import bpy

    result = scene_api.import_collision(bpy.context, [loose])
    assert result.failures == [
        ("h000100.hkx", f"the types are in the compendium {made.ID.hex()}, which is missing (TCRF)")
    ]
    assert not scene.objects
    elsewhere.mkdir()
    chosen = elsewhere / "types.bin"
    chosen.write_bytes(made.compendium())
    assert len(load(scene_api, loose, compendium=chosen).bodies) == 1
    operator = bpy.ops.import_scene.ossuary_collision
    for text in (str(chosen), f'"{chosen}"', "other/types.bin"):
        assert operator(filepath=str(loose), compendium=text) == {"FINISHED"}
    assert bpy.ops.object.ossuary_collision_check() == {"FINISHED"}  # which needs it again
    assert bpy.context.window_manager.ossuary_report == "Checked 4 compressed meshes: 0 findings"
    (tmp_path / "h.compendium.dcx").write_bytes(made.compendium())
    assert len(load(scene_api, loose).bodies) == 1


def test_a_broken_file_leaves_nothing_and_the_others_are_imported(scene_api, scene, tmp_path, ground_file):
    import bpy

    before = {kind: len(getattr(bpy.data, kind)) for kind in ("meshes", "objects", "collections", "materials")}
    good = ground_file.read_bytes()
    broken, cut = write_broken(tmp_path / "c.hkx"), tmp_path / "d.hkx"
    cut.write_bytes(good[: len(good) // 2])
    bad = made.binder(tmp_path / "bad.objbnd.dcx", {"a.hkx": good, "b.hkx": broken.read_bytes()})
    result = scene_api.import_collision(bpy.context, [bad, broken, cut])
    assert [name for name, _ in result.failures] == ["bad.objbnd.dcx", "c.hkx", "d.hkx"]
    assert "(b.hkx, " in result.failures[0][1]
    assert "sections[0].primitives[0]" in result.failures[1][1]
    assert "does not fit" in result.failures[2][1]
    assert before == {kind: len(getattr(bpy.data, kind)) for kind in before}
    result = scene_api.import_collision(bpy.context, [bad, ground_file])
    assert result.summary == "Imported 1 h body of 32 triangles; 1 failed"


def write_broken(path):
    from addon.codec.havok.collision.writing import write_collision

    tag = write_collision("20180100", [body(made.ground())])
    (shape,) = tag.find("hknpCompressedMeshShape")
    shape.one("data").one("meshTree").many("primitives").values["indices"][0] = (0, 1, 254, 254)
    path.write_bytes(tag.write())
    return path


def test_files_without_collision_or_bodies(scene_api, scene, tmp_path, corpus):
    import bpy

    empty = tmp_path / "f11_00_00_00_000100.hkx"
    empty.write_bytes(made.hkx())
    result = scene_api.import_collision(bpy.context, [empty, corpus("eldenring/hd_m_9007.partsbnd.dcx")])
    assert result.summary == "Nothing imported; 1 warning; 1 failed"
    assert result.warnings == ["f11_00_00_00_000100.hkx: f11_00_00_00_000100.hkx holds no body"]
    assert "is a Havok packfile" in result.failures[0][1]


def test_members_by_filter_and_the_cache(scene_api, tmp_path):
    import bpy

    opened = []

    def opener(path, *rest):
        opened.append(path)
        return open_source(path, *rest)

    path, cache = made.area(tmp_path)["h"], scene_api.DecodedCache()
    for pattern, count, times in (("*_000200.hkx*", 1, 1), ("*_000200.hkx*", 1, 1), ("", 2, 2)):
        settings = scene_api.CollisionSettings(member_filter=pattern)
        result = scene_api.import_collision(bpy.context, [path], settings, cache=cache, opener=opener)
        assert len(result.bodies) == count
        assert len(opened) == times


# the operator


def test_the_operator_imports_and_reports(blender, scene, tmp_path):
    from addon.operators import report

    path = made.area(tmp_path)["h"]
    call = blender.ops.import_scene.ossuary_collision
    assert call(filepath=str(path), also_f=True, color="SET", scale=2.0) == {"FINISHED"}
    assert report.kept(blender.context) == ["Imported 2 h + 2 f bodies of 100 triangles"]
    assert scene.ossuary_collision.color == "SET"
    assert blender.data.objects["part 11_01_00_00_000100"].scale[:] == (2, 2, 2)
    with pytest.raises(RuntimeError, match="No such file"):
        call(filepath=str(tmp_path / "nothing.hkx"))


def test_dropped_collision(blender, scene, tmp_path):
    made.area(tmp_path)
    drop = blender.ops.wm.drop_import_file
    assert drop(directory=str(tmp_path), files=[{"name": "h11_01_00_00.hkxbhd"}]) == {"FINISHED"}
    assert len(blender.data.meshes) == 2


def test_ragdolls_of_the_corpus(scene_api, corpus):
    result = load(scene_api, corpus("sekiro/c7190.chrbnd.dcx"))
    assert {imported.set for imported in result.bodies} == {"ragdoll"}
    assert len(result.bodies) == 20
    assert result.bodies[0].object.name == "c7190 Ragdoll_Pelvis"
