"""Edited collision: what an edit changes in the file, what it leaves, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from addon.codec import Tagfile, read_collision
from addon.codec.havok.collision import NO_MATERIAL
from addon.collision import check, surface
from addon.collision.compiler import Cancelled
from addon.scene.collision.keys import ACTIVE
from tests.collision.build import body, build, grid
from tests.collision.parts import box, extern
from tests.scene import collision_files as made
from tests.scene.collision_exports import activate, contents, export, exported, load, set_face, surface_corners
from tests.scene.written import edit_mesh

STEP = 1e-3  # of vertices that are coded; the files of these tests are some metres large


@pytest.fixture
def ground_file(tmp_path):
    path = tmp_path / "h11_00_00_00_000100.hkx"
    path.write_bytes(made.hkx(body(made.ground(), "h000100", materialId=3)))
    return path


def only(path):
    (found,) = read_collision(Tagfile.read(path.read_bytes()))
    return found


def shown(obj) -> np.ndarray:
    """Return the corners that are shown, (m, 3, 3) in the games' axes, from a triangle's first corner on."""
    obj.data.calc_loop_triangles()
    faces = [[tuple(obj.data.vertices[i].co) for i in each.vertices] for each in obj.data.loop_triangles]
    return np.array(faces)[:, [0, 2, 1]][..., [0, 2, 1]]


def assert_same_triangles(found, wanted, tolerance: float = STEP):
    """Check that two sets of triangles are one within a tolerance, by their middles and normals."""
    assert len(found) == len(wanted)
    for values in (found, wanted):
        assert values.shape[1:] == (3, 3)

    def described(points):
        normal = np.cross(points[:, 1] - points[:, 0], points[:, 2] - points[:, 0])
        return np.concatenate([points.mean(axis=1), normal], axis=1)

    left, right = described(found), described(wanted)
    distance = np.abs(left[:, None] - right[None]).max(axis=2)
    assert (distance.min(axis=1) < 20 * tolerance).all()
    assert (distance.min(axis=0) < 20 * tolerance).all()


# materials


def test_an_edited_material_changes_its_row_and_nothing_else(scene_api, ground_file):
    ground_file.write_bytes(made.hkx(body(made.ground(8), "h000100")))
    before = ground_file.read_bytes()
    old = only(ground_file)
    (obj,) = load(scene_api, ground_file)
    other = next(name for name in old.shape.mesh.materials.names.tolist() if name != old.materials[5])
    set_face(obj, "material", 5, other)
    (now,) = exported(scene_api, ground_file)
    np.testing.assert_array_equal(now.keys, old.keys)
    assert np.flatnonzero(now.materials != old.materials).tolist() == [5]
    after = ground_file.read_bytes()
    changed = [place for place in range(len(before)) if before[place] != after[place]]
    assert len(after) == len(before)
    assert 1 <= len(changed) <= 4
    assert ground_file.with_name(ground_file.name + ".bak").read_bytes() == before
    set_face(obj, "material", 5, int(old.materials[5]))
    exported(scene_api, ground_file)
    assert ground_file.read_bytes() == before


def test_a_material_that_the_table_lacks(scene_api, ground_file):
    old = only(ground_file)
    (obj,) = load(scene_api, ground_file)
    for face, name in ((3, 77), (4, -(2**31) + 5)):
        set_face(obj, "material", face, name)
    (now,) = exported(scene_api, ground_file)
    assert now.materials[[3, 4]].tolist() == [77, 2**31 + 5]
    np.testing.assert_array_equal(np.delete(now.materials, [3, 4]), np.delete(old.materials, [3, 4]))
    assert now.shape.mesh.packed.tolist() == old.shape.mesh.packed.tolist()
    assert now.fields == old.fields


def test_corpus_material(scene_api, corpus, tmp_path):
    import shutil

    for name in ("eldenring/h_collision.hkx.dcx", "eldenring/h_collision.compendium.dcx"):
        shutil.copyfile(corpus(name), tmp_path / name.rsplit("/", 1)[1])
    path = tmp_path / "h_collision.hkx.dcx"
    (obj,) = load(scene_api, path)
    old = [each.value for each in obj.data.attributes["collision_material"].data]
    set_face(obj, "material", 2, 6)
    (now,) = exported(scene_api, path)
    assert now.materials.tolist() == [*old[:2], 6, *old[3:]]


# geometry


@pytest.mark.parametrize("sdk", ["20160200", "20180100"])
def test_a_moved_vertex(scene_api, ground_file, sdk):
    ground_file.write_bytes(made.hkx(body(made.ground(flagged=sdk == "20180100"), "h000100", materialId=3), sdk=sdk))
    old = only(ground_file)
    (obj,) = load(scene_api, ground_file)
    obj.data.vertices[7].co.z += 0.5
    (now,) = exported(scene_api, ground_file)
    assert_same_triangles(now.vertices[now.triangles], shown(obj))
    assert not check(now.shape.mesh)
    assert (now.name, now.fields, now.shape.radius) == (old.name, old.fields, old.shape.radius)
    assert now.shape.mesh.materials.names.tolist() == old.shape.mesh.materials.names.tolist()
    assert sorted(now.materials.tolist()) == sorted(old.materials.tolist())


@pytest.mark.parametrize("name", ["h_collision.hkx.dcx", "tool_made_collision.hkx"])
def test_corpus_geometry(scene_api, corpus, tmp_path, name):
    import shutil

    for each in (name, "h_collision.compendium.dcx"):
        shutil.copyfile(corpus(f"eldenring/{each}"), tmp_path / each)
    (obj,) = load(scene_api, tmp_path / name)
    before = len(obj.data.polygons)
    obj.data.vertices[0].co.z += 0.25
    (now,) = exported(scene_api, tmp_path / name)
    assert len(now.triangles) == before
    assert_same_triangles(now.vertices[now.triangles], shown(obj))
    assert not check(now.shape.mesh)


def test_corpus_ragdoll_mesh_in_its_binder(scene_api, corpus, tmp_path):
    source, path = corpus("eldenring/c4500.chrbnd.dcx"), tmp_path / "c4500.chrbnd.dcx"
    objects = load(scene_api, source)
    (obj,) = [each for each in objects if "CompressedMesh" in each["collision_shape"]]
    count = len(obj.data.polygons)
    edit_mesh(obj, lambda bmesh, shape: bmesh.ops.delete(shape, geom=shape.faces[:10], context="FACES"))
    now = exported(scene_api, path)
    assert len(now) == len(objects)
    (mesh,) = [each for each in now if "CompressedMesh" in (each.shape.name if each.shape else "")]
    assert len(mesh.triangles) == count - 10
    assert mesh.shape.mesh.rows is None
    assert_same_triangles(surface(mesh).mesh.vertices[mesh.triangles], shown(obj), 5e-3)
    old, new = contents(source), contents(path)
    assert [name for (name, data), other in zip(old, new, strict=True) if (name, data) != other] == [
        next(name for name, _ in old if name.endswith("c4500.HKX"))
    ]


def test_new_faces_take_the_active_material(scene_api, ground_file):
    (obj,) = load(scene_api, ground_file)
    obj[ACTIVE] = 99

    def add(_bmesh, shape):
        shape.faces.new([shape.verts.new(place) for place in ((9, 9, 0), (10, 9, 0), (10, 10, 1), (9, 10, 1))])

    edit_mesh(obj, add)
    (now,) = exported(scene_api, ground_file)
    assert len(now.triangles) == 34
    far = now.vertices[now.triangles][:, :, 0].min(axis=1) > 8
    assert now.materials[far].tolist() == [99, 99]
    assert 99 not in now.materials[~far].tolist()
    assert sorted(now.mesh.row[far].tolist()) == [32, 33]  # rows that were there keep their places


def test_a_posed_body_and_an_object_that_was_moved(scene_api, tmp_path):
    turn = np.float32([0, np.sin(0.3), 0, np.cos(0.3)])
    path = tmp_path / "o100.hkx"
    path.write_bytes(made.hkx(body(made.ground(), "one", (10, 0, 5), turn)))
    (obj,) = load(scene_api, path, scale=2.0)
    before = shown(obj)
    obj.location.z += 3.0
    (now,) = exported(scene_api, path)
    found = surface(now).mesh
    assert_same_triangles(found.vertices[found.triangles], before + np.float32([0, 1.5, 0]))
    np.testing.assert_array_equal(now.position, np.float32([10, 0, 5]))
    obj.location.z, obj.scale.x = 0.0, -2.0
    (now,) = exported(scene_api, path)
    found = surface(now).mesh
    assert_same_triangles(found.vertices[found.triangles], before[:, [0, 2, 1]] * [-1, 1, 1])


@pytest.mark.parametrize("sdk", ["20160200", "20180100"])
def test_extern_meshes(scene_api, tmp_path, sdk):
    path = tmp_path / "f11_00_00_00_000100.hkx"
    path.write_bytes(made.hkx(body(extern(3, old=sdk == "20160200"), "f000100"), sdk=sdk))
    (obj,) = load(scene_api, path)
    obj.data.vertices[3].co.z += 1.0
    (now,) = exported(scene_api, path)
    assert_same_triangles(now.vertices[now.triangles], shown(obj), 1e-7)
    assert set(now.materials.tolist()) == {NO_MATERIAL}
    assert (now.shape.tree is not None) == (sdk == "20160200")
    set_face(obj, "material", 2, 5)
    (now,) = exported(scene_api, path)
    assert now.materials.tolist() == [NO_MATERIAL] * 2 + [5] + [NO_MATERIAL] * 15


def test_what_a_mesh_holds_besides_triangles_is_kept(scene_api, tmp_path):
    source = grid(3)
    source.points = [np.float32([[9, 0, 9], [10, 0, 9], [9, 0, 10], [9, 1, 9]])]
    path = tmp_path / "o100.hkx"
    path.write_bytes(made.hkx(body(build(source), "one")))
    old = only(path)
    (obj,) = load(scene_api, path)
    obj.data.vertices[0].co.z += 0.5
    (now,) = exported(scene_api, path)
    assert len(now.triangles) == len(old.triangles)
    np.testing.assert_allclose(now.shape.custom.points[0], old.shape.custom.points[0], atol=STEP)
    obj.data.vertices[len(obj.data.vertices) - 1].co.z += 0.5
    assert "point sets inside a mesh cannot be made" in str(export(scene_api, path).errors[0])


def test_convex_shapes_are_not_edited(scene_api, tmp_path):
    path = tmp_path / "o100.hkx"
    path.write_bytes(made.hkx(body(box(), "one"), body(made.ground(), "two")))
    before = path.read_bytes()
    first, _ = load(scene_api, path)
    first.data.vertices[0].co.z += 0.5
    result = export(scene_api, path)
    assert (result.errors[0].objects, result.written) == (("o100 one",), False)
    assert "is a ConvexPolytopeShape, which cannot be made from faces" in str(result.errors[0])
    assert path.read_bytes() == before
    first.data.vertices[0].co.z -= 0.5
    set_face(first, "material", 0, 4)
    assert "no hit materials" in str(export(scene_api, path).errors[0])


def test_bodies_taken_out_and_copied(scene_api, tmp_path):
    import bpy

    path = tmp_path / "o100.hkx"
    path.write_bytes(made.hkx(*(body(made.ground(side), f"body{side}", materialId=side) for side in (2, 3, 4))))
    first, second, third = load(scene_api, path)
    copy = third.copy()
    copy.data = third.data.copy()
    third.users_collection[0].objects.link(copy)
    copy.data.vertices[0].co.z += 1
    bpy.data.objects.remove(second)
    activate(first)
    result = export(scene_api, path)
    assert [str(each) for each in result.warnings] == [
        f"{copy.name}: is a copy of another body's object: body body4 is added",
        "body body3 has no object: it is taken out of o100.hkx",
    ]
    now = read_collision(Tagfile.read(path.read_bytes()))
    assert [(each.name, each.fields["materialId"]) for each in now] == [("body2", 2), ("body4", 4), ("body4", 4)]
    assert surface_corners(now[1]) != surface_corners(now[2])


def test_ragdolls_keep_their_bodies(scene_api, corpus, tmp_path):
    import bpy

    objects = load(scene_api, corpus("eldenring/c0000.chrbnd.dcx"))
    bpy.data.objects.remove(objects[3])
    activate(objects[0])
    result = export(scene_api, tmp_path / "c0000.hkx")
    assert any("constraints hold together" in str(each) for each in result.errors)


def test_thin_faces_are_listed_and_modifiers_told(scene_api, ground_file):
    (obj,) = load(scene_api, ground_file)
    edit_mesh(obj, lambda _bmesh, shape: shape.faces.new([shape.verts.new((place, 9, 0)) for place in (1, 2, 3)]))
    obj.modifiers.new("Mirror", "MIRROR")
    result = export(scene_api, ground_file)
    assert [each.text for each in result.warnings] == [
        "is written without its modifiers",
        "1 triangles are too thin to be collided with and are left out (faces 32)",
    ]
    assert len(only(ground_file).triangles) == 32
    assert export(scene_api, ground_file, apply_modifiers=True).written
    assert len(only(ground_file).triangles) == 64


def test_the_scene_does_not_change(scene_api, ground_file, tmp_path):
    import bpy

    (obj,) = load(scene_api, ground_file)
    obj.data.vertices[0].co.z += 0.5
    activate(obj)
    obj.select_set(state=True)
    bpy.ops.object.mode_set(mode="EDIT")
    blocks = {each.name for each in (*bpy.data.objects, *bpy.data.meshes, *bpy.data.collections, *bpy.data.materials)}
    properties = {name: str(obj[name]) for name in obj.keys()}  # noqa: SIM118
    assert export(scene_api, tmp_path / "a.hkx").written
    assert obj.mode == "EDIT"
    assert {name: str(obj[name]) for name in obj.keys()} == properties  # noqa: SIM118
    now = {each.name for each in (*bpy.data.objects, *bpy.data.meshes, *bpy.data.collections, *bpy.data.materials)}
    assert now == blocks
    bpy.ops.object.mode_set(mode="OBJECT")


def test_cancelled_nothing_is_written(scene_api, ground_file):
    before = ground_file.read_bytes()
    (obj,) = load(scene_api, ground_file)
    obj.data.vertices[0].co.z += 0.5
    told = []

    def progress(stage, share):
        told.append((stage, share))
        if "sections" in stage:
            raise Cancelled

    result = export(scene_api, ground_file, progress=progress)
    assert [str(each) for each in result.errors] == ["cancelled"]
    assert len(told) > 3
    assert ground_file.read_bytes() == before
