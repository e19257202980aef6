"""Collidables edited in Blender: moved, turned, resized, renamed, met by other cloths, added, deleted."""

from __future__ import annotations

import math

import numpy as np
import pytest

from addon.cloth.edits.collidables import placed_collidables
from addon.codec.havok.cloth.comparing import differences
from tests.scene.cloth_exports import SAMPLE, copied, export, exported, load, members, stored
from tests.scene.playing import play, session

SKIRT, HAT, MAN = "BD_M_2210_c.hkx", "HD_M_1140_c.hkx", "c7190_c.hkx"


@pytest.fixture
def bring(scene_api, corpus, tmp_path):
    def brought(name: str = SKIRT):
        path = copied(corpus, name, tmp_path)
        return path, load(scene_api, path), stored(bytes(members(path)[0].data()))

    return brought


def number(obj) -> int:
    return obj["cloth_collidable"]


def unlike(old, new, but: int | None = None) -> list[int]:
    """Return which collidables differ between two files of as many."""
    pairs = zip(placed_collidables(old), placed_collidables(new), strict=True)
    return [place for place, (a, b) in enumerate(pairs) if a.offset.tobytes() != b.offset.tobytes()
            or (a.bone, a.sims) != (b.bone, b.sims) or any(differences(a.record, b.record))]  # fmt: skip


def world(file, place: int) -> np.ndarray:
    """Return where a collidable stands in the reference pose, in Blender's axes."""
    return placed_collidables(file)[place].record.transform.astype(float)[[0, 2, 1, 3]][:, [0, 2, 1, 3]]


@pytest.mark.parametrize("name", [SKIRT, MAN, SAMPLE])
def test_moved_and_turned(scene_api, bring, tmp_path, name):
    _, made, old = bring(name)
    obj = made.collidables[0]
    before = world(old, number(obj))
    obj.location.z += 0.0625
    obj.rotation_mode = "QUATERNION"
    new = exported(scene_api, made.collection, tmp_path / "a.hkx", insist=True)
    assert unlike(old, new) == [number(obj)]
    after = world(new, number(obj))
    np.testing.assert_allclose(after[:3, 3] - before[:3, 3], [0, 0, 0.0625], atol=1e-5)
    np.testing.assert_allclose(after[:3, :3], before[:3, :3], atol=1e-5)
    assert not any(differences(placed_collidables(old)[number(obj)].record.shape,
                               placed_collidables(new)[number(obj)].record.shape))  # fmt: skip
    obj.rotation_mode = "XYZ"
    obj.rotation_euler.rotate_axis("X", 0.5)
    turned = exported(scene_api, made.collection, tmp_path / "b.hkx", insist=True)
    turn = np.linalg.inv(after) @ world(turned, number(obj))
    assert math.acos((np.trace(turn[:3, :3]) - 1) / 2) == pytest.approx(0.5, abs=1e-4)


def test_moved_collidables_are_imported_where_they_were_put(scene_api, blender, bring, tmp_path):
    _, made, _ = bring()
    obj = made.collidables[2]
    obj.location.x += 0.125
    obj.rotation_euler.z += 0.25
    target = tmp_path / "again.partsbnd.dcx"
    assert export(scene_api, made.collection, target, insist=True).written
    blender.context.view_layer.update()
    expected = np.array(obj.matrix_world)
    again = load(scene_api, target).collidables[2]
    np.testing.assert_allclose(np.array(again.matrix_world), expected, atol=1e-5)


@pytest.mark.parametrize("name", [SKIRT, MAN, SAMPLE])
def test_scaled_alike_is_larger(scene_api, bring, tmp_path, name):
    _, made, old = bring(name)
    obj = made.collidables[0]
    obj.scale = (2, 2, 2)
    new = exported(scene_api, made.collection, tmp_path / "a.hkx", insist=True)
    assert unlike(old, new) == [number(obj)]
    before, after = (placed_collidables(file)[number(obj)].record.shape for file in (old, new))
    assert type(before) is type(after)
    for title in ("radius", "small_radius", "big_radius", "start", "end", "small", "big", "center"):
        if hasattr(before, title):
            np.testing.assert_allclose(getattr(after, title), 2 * getattr(before, title), rtol=1e-5, atol=1e-7)


def along(obj) -> int:
    """Return the object's axis along which a capsule's ends lie, -1 where they are on none."""
    ends = [np.array(obj[f"cloth_{name}"]) for name in ("start", "end", "small", "big") if f"cloth_{name}" in obj]
    line = np.abs(ends[1] - ends[0])
    return int(line.argmax()) if line.max() > 0.9999 * np.linalg.norm(line) else -1


def test_scaled_along_the_axis_is_longer_and_otherwise_refused(scene_api, bring, tmp_path):
    _, made, old = bring()
    obj = next(each for each in made.collidables if along(each) >= 0)
    axis = along(obj)
    obj.scale[axis] = 1.5
    new = exported(scene_api, made.collection, tmp_path / "a.hkx", insist=True)
    before, after = (placed_collidables(file)[number(obj)].record.shape for file in (old, new))
    names = ("start", "end") if hasattr(before, "start") else ("small", "big")
    lengths = [np.linalg.norm(getattr(s, names[1]) - getattr(s, names[0])) for s in (before, after)]
    assert lengths[1] / lengths[0] == pytest.approx(1.5, rel=1e-4)
    radius = "radius" if hasattr(before, "radius") else "big_radius"
    assert getattr(after, radius) == pytest.approx(getattr(before, radius), rel=1e-5)
    obj.scale[axis] = 1.0
    obj.scale[(axis + 1) % 3] = 2.0
    result = export(scene_api, made.collection, tmp_path / "b.hkx")
    assert result.errors[0].objects == (obj.name,)
    assert "stays round" in result.errors[0].text
    assert not (tmp_path / "b.hkx").exists()


def test_applied_scale_and_moved_corners_count(scene_api, blender, bring, tmp_path):
    _, made, _ = bring()
    obj = made.collidables[0]
    place = number(obj)
    obj.scale = (2, 2, 2)
    scaled = exported(scene_api, made.collection, tmp_path / "a.hkx", insist=True)
    obj.hide_set(state=False)
    for each in blender.context.view_layer.objects:
        each.select_set(state=each == obj)
    blender.context.view_layer.objects.active = obj
    blender.ops.object.transform_apply(location=False, rotation=False, scale=True)
    assert tuple(obj.scale) == (1, 1, 1)
    applied = exported(scene_api, made.collection, tmp_path / "b.hkx", insist=True)
    shapes = [placed_collidables(file)[place].record.shape for file in (scaled, applied)]
    radius = "radius" if hasattr(shapes[0], "radius") else "big_radius"
    assert getattr(shapes[1], radius) == pytest.approx(getattr(shapes[0], radius), rel=1e-4)
    np.testing.assert_allclose(world(applied, place), world(scaled, place), atol=1e-5)
    obj.data.vertices[5].co.x += 0.1
    result = export(scene_api, made.collection, tmp_path / "c.hkx")
    assert "reshaped" in result.errors[0].text
    assert result.errors[0].objects == (obj.name,)


def test_numbers_in_the_panel_change_the_shape_and_the_mesh(scene_api, blender, bring, tmp_path):
    _, made, old = bring()
    obj = made.collidables[0]
    title = "radius" if "cloth_radius" in obj else "big_radius"
    size = max(obj.dimensions)
    setattr(obj.ossuary_cloth, title, 0.5)
    blender.context.view_layer.update()
    assert max(obj.dimensions) > size
    new = exported(scene_api, made.collection, tmp_path / "a.hkx", insist=True)
    assert unlike(old, new) == [number(obj)]
    assert getattr(placed_collidables(new)[number(obj)].record.shape, title) == np.float32(0.5)
    assert (
        placed_collidables(new)[number(obj)].offset.tobytes() == placed_collidables(old)[number(obj)].offset.tobytes()
    )
    obj["cloth_" + title] = -1.0
    assert "radius must be above 0" in str(export(scene_api, made.collection, tmp_path / "b.hkx").errors[0])


def test_renamed_and_met_by_other_cloths(scene_api, blender, bring, tmp_path):
    _, made, _ = bring()
    obj = made.collidables[0]
    obj.ossuary_cloth.name_stored = "Größe"
    met = set(obj["cloth_sims"])
    other = min(set(range(len(made.points))) - met or met)
    blender.context.view_layer.objects.active = obj
    assert blender.ops.object.ossuary_cloth_collidable_meets(sim=other) == {"FINISHED"}
    new = exported(scene_api, made.collection, tmp_path / "a.hkx", insist=True)
    found = next(each for each in placed_collidables(new) if each.record.name == "Größe")
    assert found.sims == met ^ {other}


def test_one_that_no_cloth_meets_is_refused_by_name(scene_api, bring, tmp_path):
    _, made, _ = bring()
    obj = made.collidables[0]
    obj["cloth_sims"] = []
    result = export(scene_api, made.collection, tmp_path / "a.hkx")
    assert "no cloth would meet it" in result.errors[0].text
    assert result.errors[0].objects == (obj.name,)
    assert not (tmp_path / "a.hkx").exists()


def test_a_linked_copy_gets_a_mesh_of_its_own_with_its_shape(scene_api, bring, tmp_path):
    _, made, old = bring()
    obj = made.collidables[0]
    twin = obj.copy()
    obj.users_collection[0].objects.link(twin)
    setattr(twin.ossuary_cloth, "radius" if "cloth_radius" in twin else "big_radius", 0.5)
    assert twin.data != obj.data
    new = exported(scene_api, made.collection, tmp_path / "a.hkx", insist=True)
    assert len(placed_collidables(new)) == len(placed_collidables(old)) + 1
    shapes = [each.record.shape for each in placed_collidables(new) if each.record.name == obj["cloth_name"]]
    assert len(shapes) == 2
    assert any(differences(*shapes))


def test_deleted_is_removed_and_copies_are_added(scene_api, blender, bring, tmp_path):
    _, made, old = bring()
    obj, twin_of = made.collidables[0], made.collidables[1]
    gone = obj["cloth_name"], number(obj)
    blender.data.objects.remove(obj)
    count = len(placed_collidables(old))
    new = exported(scene_api, made.collection, tmp_path / "a.hkx", insist=True)
    assert len(placed_collidables(new)) == count - 1
    kept = [each for each in placed_collidables(old) if each.source != gone[1]]
    for before, after in zip(kept, placed_collidables(new), strict=True):
        assert not any(differences(before.record, after.record))
    twin = twin_of.copy()
    twin_of.users_collection[0].objects.link(twin)
    twin.location.x += 0.5
    new = exported(scene_api, made.collection, tmp_path / "b.hkx", insist=True)
    assert len(placed_collidables(new)) == count
    names = [each.record.name for each in placed_collidables(new)]
    assert names.count(twin["cloth_name"]) == 1 + [e.record.name for e in placed_collidables(old)].count(
        twin["cloth_name"]) - (gone[0] == twin["cloth_name"])  # fmt: skip


def test_deleted_and_undone_is_there_again(scene_api, blender, bring):
    path, made, _ = bring()
    name = made.collection.name
    blender.ops.ed.undo_push(message="imported")
    blender.data.objects.remove(made.collidables[0])
    blender.ops.ed.undo_push(message="deleted")
    assert export(scene_api, made.collection, path.with_name("a.hkx")).written
    blender.ops.ed.undo()
    result = export(scene_api, blender.data.collections[name], path)
    assert (result.details, result.written) == ([], False)


def test_hung_on_another_bone(scene_api, blender, bring, tmp_path):
    _, made, old = bring()
    obj = made.collidables[0]
    bones = [each.bone for each in placed_collidables(old)]
    other = next(bone for bone in bones if bone != bones[number(obj)])
    name = next(bone.name for bone in made.armature.data.bones if bone["flver_name"] == other)
    blender.context.view_layer.update()
    where = obj.matrix_world.copy()
    obj.parent_bone = name
    blender.context.view_layer.update()
    obj.matrix_world = where
    new = exported(scene_api, made.collection, tmp_path / "a.hkx", insist=True)
    placed = placed_collidables(new)[number(obj)]
    assert placed.bone == other
    np.testing.assert_allclose(world(new, number(obj)), world(old, number(obj)), atol=1e-4)
    obj.parent = None
    result = export(scene_api, made.collection, tmp_path / "b.hkx")
    assert "hangs on no bone" in result.errors[0].text


# new ones


def primitive(blender, kind: str, name: str, **options):
    getattr(blender.ops.mesh, f"primitive_{kind}_add")(**options)
    obj = blender.context.view_layer.objects.active
    obj.name = name
    return obj


@pytest.mark.parametrize("posed", [False, True])
@pytest.mark.parametrize("name", [HAT, SKIRT, SAMPLE])
def test_added_from_primitives_on_a_posed_bone(scene_api, blender, bring, tmp_path, posed, name):
    """Spheres, cylinders and cones, turned and scaled, on a character that stands elsewhere, larger and posed."""
    _, made, old = bring(name)
    bone = next(b for b in made.armature.data.bones if b["flver_name"] in old.skeleton.bones and b.parent)
    if posed:
        made.armature.scale, made.armature.location = (2, 2, 2), (1, 2, 3)
        pose = made.armature.pose.bones[bone.name]
        pose.rotation_mode = "XYZ"
        pose.rotation_euler = (0.4, 0.2, 0.1)
    size = 2.0 if posed else 1.0
    blender.context.view_layer.active_layer_collection = blender.context.view_layer.layer_collection
    objects = [
        primitive(blender, "uv_sphere", "Ball", radius=0.2, location=(0.5, 0.5, 2)),
        primitive(blender, "cylinder", "Rod", radius=0.05, depth=1.0, location=(1, 0, 2), rotation=(0.3, 0.4, 0.5)),
        primitive(blender, "cone", "Cone", radius1=0.2, radius2=0.1, depth=1.0, location=(0, 1, 2), rotation=(1, 0, 0)),
    ]
    blender.context.view_layer.update()
    centres = [np.array(obj.matrix_world)[:3, 3] for obj in objects]
    axis = np.array(objects[1].matrix_world)[:3, 2]
    for obj in blender.context.view_layer.objects:
        obj.select_set(state=obj in objects)
    answer = blender.ops.object.ossuary_cloth_collidable_add(bone=bone.name)
    assert answer == {"FINISHED"}
    assert not [obj for obj in blender.data.objects if obj.name.startswith(("Ball.", "Rod."))]
    added = blender.context.selected_objects
    blender.context.view_layer.update()
    assert [obj["cloth_shape"] for obj in added] == ["Sphere", "Capsule", "TaperedCapsule"]
    assert all(obj.parent_bone == bone.name for obj in added)
    for obj, centre in zip(added[:2], centres, strict=False):
        corners = np.array([obj.matrix_world @ vertex.co for vertex in obj.data.vertices])
        np.testing.assert_allclose((corners.min(0) + corners.max(0)) / 2, centre, atol=2e-3)
    new = exported(scene_api, made.collection, tmp_path / "a.hkx", insist=True)
    assert len(placed_collidables(new)) == len(placed_collidables(old)) + 3
    found = {each.record.name: each for each in placed_collidables(new) if each.record.name in {"Ball", "Rod", "Cone"}}
    assert found["Ball"].record.shape.radius == pytest.approx(0.2 / size, rel=0.01)
    rod = found["Rod"].record
    assert rod.shape.radius == pytest.approx(0.05 / size, rel=0.01)
    assert np.linalg.norm(rod.shape.end - rod.shape.start) == pytest.approx(0.9 / size, rel=0.01)
    assert found["Cone"].record.shape.big_radius == pytest.approx(0.181 / size, rel=0.02)
    assert all(each.sims == frozenset(range(len(made.points))) for each in found.values())
    if not posed:
        line = (rod.transform[:3, :3] @ (rod.shape.end - rod.shape.start))[[0, 2, 1]]
        assert abs(line @ axis) / np.linalg.norm(line) == pytest.approx(1, abs=1e-4)


def test_the_cloth_meets_what_was_added(scene_api, scene, player, blender, bring):
    bring(SAMPLE)
    play(scene, *range(1, 11))
    before = len(session(player).setup.bodies.all)
    ball = primitive(blender, "uv_sphere", "Ball", radius=0.1)
    ball.select_set(state=True)
    assert blender.ops.object.ossuary_cloth_collidable_add(bone="Stand", keep=True) == {"FINISHED"}
    assert "Ball" in blender.data.objects
    play(scene, 11)
    assert not player.problems
    assert len(session(player).setup.bodies.all) == before + 1


def test_what_cannot_be_added_is_refused_and_nothing_is_made(scene_api, blender, bring):
    bring(SAMPLE)
    flat = primitive(blender, "plane", "Flat")
    count = len(blender.data.objects)
    with pytest.raises(RuntimeError, match="Flat is flat"):
        blender.ops.object.ossuary_cloth_collidable_add(bone="Stand")
    with pytest.raises(RuntimeError, match="no bone 'Nowhere'"):
        blender.ops.object.ossuary_cloth_collidable_add(bone="Nowhere")
    assert len(blender.data.objects) == count
    flat.select_set(state=False)
    with pytest.raises(RuntimeError, match="poll"):
        blender.ops.object.ossuary_cloth_collidable_add(bone="Stand")


def test_reverted(scene_api, blender, bring, tmp_path):
    path, made, _ = bring()
    name = made.collection.name
    first, second, third, fourth = made.collidables[:4]
    first.location.x += 1
    setattr(second.ossuary_cloth, "radius" if "cloth_radius" in second else "big_radius", 0.5)
    third.scale = (2, 2, 2)
    blender.data.objects.remove(fourth)
    ball = primitive(blender, "uv_sphere", "Ball", radius=0.1)
    bone = first.parent_bone
    assert ball.select_get()
    assert blender.ops.object.ossuary_cloth_collidable_add(bone=bone) == {"FINISHED"}
    assert not export(scene_api, made.collection, tmp_path / "a.hkx", insist=True).errors
    assert blender.ops.scene.ossuary_cloth_revert(what="COLLIDABLES") == {"FINISHED"}
    result = export(scene_api, blender.data.collections[name], path)
    assert (result.details, result.written) == ([], False)
    assert "Ball" not in blender.data.objects
