"""Meshes of the scene turned into collision: new files of both games, and bodies added to files that are there."""

from __future__ import annotations

import numpy as np
import pytest

from addon.codec import Dcx, Tagfile, read_collision
from addon.codec.havok.collision import NO_MATERIAL
from addon.codec.havok.collision.shapes import ExternShape, MeshShape
from addon.codec.havok.collision.writing import write_collision
from addon.collision import check, surface
from tests.collision.build import body
from tests.scene import collision_files as made
from tests.scene.collision_exports import activate, export, exported, load, set_face, stored
from tests.scene.test_export_collision_edits import assert_same_triangles, shown

SDKS = {"sekiro": "20160200", "eldenring": "20180100"}


@pytest.fixture
def ground(scene):
    """Return an object of quads."""
    import bpy

    mesh = bpy.data.meshes.new("ground")
    places = [(x, y, (x * y) % 3 * 0.2) for y in range(4) for x in range(4)]
    quads = [(i, i + 1, i + 5, i + 4) for y in range(3) for i in range(4 * y, 4 * y + 3)]
    mesh.from_pydata(places, [], quads)
    obj = bpy.data.objects.new("433653", mesh)
    bpy.context.scene.collection.objects.link(obj)
    return obj


def make(objects, beside=None, **settings):
    import bpy

    from addon.scene.collision.keys import CollisionSet
    from addon.scene.collision.make import NewCollision, make_collision

    bpy.context.view_layer.update()
    settings["set"] = CollisionSet(settings.get("set", "h"))
    made_of = make_collision(bpy.context, objects, NewCollision(**settings), beside)
    bpy.context.view_layer.update()
    return made_of


@pytest.mark.parametrize("game", SDKS)
def test_a_new_file_with_its_own_types(scene_api, ground, tmp_path, game):
    (obj,) = make([ground], game=game, material=21, radius=0.02)
    set_face(obj, "material", 4, 77)
    (now,) = exported(scene_api, tmp_path / "h1.hkx.dcx")
    tag = Tagfile.read(Dcx.read((tmp_path / "h1.hkx.dcx").read_bytes()).content)
    assert (tag.sdk, tag.reference) == (SDKS[game], None)
    assert isinstance(now.shape, MeshShape)
    assert (now.name, now.shape.radius) == ("h433653", np.float32(0.02))
    assert not check(now.shape.mesh)
    assert sorted(now.materials.tolist()) == [21] * 16 + [77] * 2
    assert_same_triangles(now.vertices[now.triangles], shown(obj))


@pytest.mark.parametrize("game", SDKS)
def test_an_extern_mesh_for_the_set_f(scene_api, ground, tmp_path, game):
    (obj,) = make([ground], set="f", game=game, material=-1)
    (now,) = exported(scene_api, tmp_path / "f1.hkx")
    assert isinstance(now.shape, ExternShape)
    assert set(now.materials.tolist()) == {NO_MATERIAL}
    assert {name: now.fields.get(name) for name in ("motionType", "mass", "motionPropertiesId")} == {
        "motionType": 0, "mass": -1, "motionPropertiesId": 0xFFFF,
    }  # fmt: skip
    assert_same_triangles(now.vertices[now.triangles], shown(obj), 1e-7)
    assert now.shape.key_bits == 5 + (game == "eldenring")


@pytest.mark.parametrize("game", SDKS)
def test_the_types_of_a_compendium(scene_api, ground, tmp_path, game):
    make([ground], game=game, material=21)
    types = tmp_path / "h1.compendium"
    types.write_bytes(made.compendium(SDKS[game]))
    (now,) = exported(scene_api, tmp_path / "h1.hkx", compendium=types)
    assert len(now.triangles) == 18
    data = (tmp_path / "h1.hkx").read_bytes()
    assert len(data) < len(write_collision(SDKS[game], []).write())
    tag = Tagfile.read(data, types.read_bytes())
    assert tag.sdk == SDKS[game]
    assert tag.reference is not None
    types.write_bytes(made.hkx())
    assert "a compendium with an id" in str(export(scene_api, tmp_path / "h1.hkx", compendium=types).errors[0])


def test_classes_that_a_compendium_lacks_are_named(scene_api, ground, corpus, tmp_path):
    make([ground], set="f", material=-1)
    types = corpus("eldenring/h_collision.compendium.dcx")
    result = export(scene_api, tmp_path / "f1.hkx", compendium=types)
    assert "lacks the classes" in str(result.errors[0])
    assert "hknpExternMeshShape" in str(result.errors[0])


def test_several_bodies_of_one_new_file_where_they_stand(scene_api, ground, tmp_path):
    import bpy

    other = ground.copy()
    bpy.context.scene.collection.objects.link(other)
    other.location, other.rotation_euler = (10, 0, 2), (0, 0, 1)
    bodies = make([ground, other], area="11_00", material=5)
    assert {tuple(each.users_collection) for each in bodies} == {(bpy.data.collections["11_00 h"],)}
    assert bodies[0].data is not bodies[1].data
    first, second = exported(scene_api, tmp_path / "new.hkx")
    assert_same_triangles(first.vertices[first.triangles], shown(ground))
    turn = np.array(other.matrix_world)
    placed = np.einsum("ij,mkj->mki", turn[:3, :3], shown(other)[:, :, [0, 2, 1]]) + turn[:3, 3]
    assert_same_triangles(second.vertices[second.triangles], placed[:, :, [0, 2, 1]])


@pytest.mark.parametrize("scale", [1.0, 0.5])
def test_a_body_added_to_the_file_of_another(scene_api, ground, tmp_path, scale):
    import bpy

    header = made.area(tmp_path)["h"]
    first, second = load(scene_api, header, scale=scale)
    ground.location, ground.scale = (1, 2, 3), (scale,) * 3
    (obj,) = make([ground], first, material=5)
    activate(obj)
    assert set(scene_api.chosen_bodies(bpy.context)) == {first, second, obj}
    before = stored(header)
    old, new, last = exported(scene_api, header)
    assert (old.name, new.name, last.name) == (before[0].name, "h433653", before[1].name)
    np.testing.assert_array_equal(old.vertices, before[0].vertices)
    assert_same_triangles(new.vertices[new.triangles], shown(obj) + np.float32([1, 3, 2]) / scale)


def test_what_stands_in_the_way_of_a_new_file(scene_api, ground, tmp_path):
    (obj,) = make([ground], material=-1)
    assert "18 faces have no hit material" in str(export(scene_api, tmp_path / "a.hkx").errors[0])
    assert "no source that says which member" in str(_with_material(scene_api, obj, tmp_path / "a.objbnd.dcx"))
    assert export(scene_api, tmp_path / "a.hkx", []).details == ["there is no collision to export"]
    obj.data.vertices[0].co.x = float("nan")
    assert "has corners at" in str(export(scene_api, tmp_path / "a.hkx").errors[0])
    assert not (tmp_path / "a.hkx").exists()


def _with_material(scene_api, obj, path):
    from addon.scene.collision.make import assign_material

    assert assign_material(obj, 7, selected=False) == 9
    return export(scene_api, path).errors[0]


def test_a_body_without_faces(scene_api, tmp_path):
    import bpy

    obj = bpy.data.objects.new("nothing", bpy.data.meshes.new("nothing"))
    bpy.context.scene.collection.objects.link(obj)
    make([obj])
    result = export(scene_api, tmp_path / "a.hkx")
    assert (result.written, [each.text for each in result.warnings]) == (True, ["has no faces: the mesh is empty"])
    (now,) = stored(tmp_path / "a.hkx")
    assert len(surface(now).mesh) == 0


# operators


def test_the_operators(blender, ground, tmp_path):
    bpy = blender

    bpy.context.view_layer.objects.active = ground
    ground.select_set(state=True)
    assert bpy.ops.object.ossuary_make_collision(set="l", game="sekiro", material=3) == {"FINISHED"}
    assert not bpy.ops.object.ossuary_make_collision.poll()
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.select_all(action="DESELECT")
    assert bpy.ops.mesh.ossuary_collision_material(material=9) == {"FINISHED"}
    bpy.ops.mesh.select_all(action="SELECT")
    bpy.ops.mesh.primitive_plane_add(size=1, location=(9, 9, 9))
    bpy.ops.object.mode_set(mode="OBJECT")
    path = tmp_path / "l1.hkx"
    assert bpy.ops.export_scene.ossuary_collision(filepath=str(path)) == {"FINISHED"}
    (now,) = read_collision(Tagfile.read(path.read_bytes()))
    assert (now.name, now.sdk, sorted(now.materials.tolist())) == ("l433653", "20160200", [3] * 18 + [9] * 2)
    with pytest.raises(RuntimeError, match="must end in"):
        bpy.ops.export_scene.ossuary_collision(filepath=str(tmp_path / "l1.obj"))
    assert "Nothing exported" in bpy.context.window_manager.ossuary_problems


def test_the_operator_needs_a_body_it_can_tell(blender, scene_api, tmp_path):
    bpy = blender
    with pytest.raises(RuntimeError, match="no collision in this scene"):
        bpy.ops.export_scene.ossuary_collision(filepath=str(tmp_path / "a.hkx"))
    for name in ("a.hkx", "b.hkx"):
        (tmp_path / name).write_bytes(made.hkx(body(made.ground())))
        (obj,) = load(scene_api, tmp_path / name)
    with pytest.raises(RuntimeError, match="Select a body"):
        bpy.ops.export_scene.ossuary_collision(filepath=str(tmp_path / "c.hkx"))
    activate(obj)
    assert bpy.ops.export_scene.ossuary_collision(filepath=str(tmp_path / "c.hkx")) == {"FINISHED"}
