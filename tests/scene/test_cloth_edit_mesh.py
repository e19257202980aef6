"""Particles edited as a mesh: made, changed, applied or thrown away."""

from __future__ import annotations

import numpy as np
import pytest

from addon.codec.havok.cloth.comparing import differences
from tests.scene.cloth_exports import SAMPLE, cloud, copied, every_cloth, export, exported, load, members, stored
from tests.scene.playing import play
from tests.scene.shown import coordinates
from tests.scene.test_cloth_import import values

HAT, SKIRT = "HD_M_1140_c.hkx", "BD_M_2210_c.hkx"


@pytest.fixture
def bring(scene_api, corpus, tmp_path):
    def brought(name: str = HAT):
        path = copied(corpus, name, tmp_path)
        return path, load(scene_api, path), stored(bytes(members(path)[0].data()))

    return brought


def begin(obj):
    import bpy

    bpy.context.view_layer.objects.active = obj
    assert bpy.ops.object.ossuary_cloth_edit() == {"FINISHED"}
    return bpy.context.view_layer.objects.active


def select(obj, rows):
    import bmesh

    shape = bmesh.from_edit_mesh(obj.data)
    for vertex in shape.verts:
        vertex.select = vertex.index in set(np.atleast_1d(rows).tolist())
    bmesh.update_edit_mesh(obj.data)


def move(obj, rows, by):
    import bmesh
    from mathutils import Vector

    shape = bmesh.from_edit_mesh(obj.data)
    shape.verts.ensure_lookup_table()
    for row in np.atleast_1d(rows).tolist():
        shape.verts[row].co += Vector(by)
    bmesh.update_edit_mesh(obj.data)


@every_cloth
def test_begun_and_applied_or_cancelled_changes_nothing(scene_api, blender, corpus, tmp_path, name):
    path = copied(corpus, name, tmp_path)
    made = load(scene_api, path)
    for ending in (blender.ops.object.ossuary_cloth_apply, blender.ops.object.ossuary_cloth_cancel):
        for obj in made.points:
            obj.hide_set(state=obj["cloth_sim"] == 0)
            mesh = begin(obj)
            assert mesh.mode == "EDIT"
            assert obj.hide_get()
            assert ending() == {"FINISHED"}
            assert blender.context.view_layer.objects.active == obj
            assert obj.hide_get() == (obj["cloth_sim"] == 0)
    result = export(scene_api, made.collection, path)
    assert (result.details, result.written) == ([], False)
    assert not [each for each in blender.data.meshes if each.name.endswith("Edit")]


def test_the_mesh_shows_the_particles_where_they_rest(scene_api, scene, player, blender, bring):
    _, made, old = bring()
    scene.ossuary_cloth.points = True
    play(scene, *range(1, 11))
    mesh = begin(cloud(made))
    blender.ops.object.mode_set(mode="OBJECT")
    record = old[0].sims[0]
    np.testing.assert_array_equal(coordinates(mesh.data), record.poses[0][:, [0, 2, 1]])
    np.testing.assert_array_equal(values(mesh.data, "radius"), record.radius)
    np.testing.assert_array_equal(np.flatnonzero(values(mesh.data, "pinned")), np.sort(record.fixed))
    assert len(mesh.data.polygons) == len(record.triangles)
    assert mesh.show_in_front
    assert begin(mesh) == mesh  # goes on with it


def test_values_are_set_on_what_is_selected(scene_api, blender, bring, tmp_path):
    _, made, old = bring(SKIRT)
    record = old[0].sims[0]
    rows = np.flatnonzero(record.inverse_mass > 0)[[1, 4, 7]]
    mesh = begin(cloud(made))
    select(mesh, rows)
    for what, value in (("radius", 0.0625), ("mass", 0.5), ("friction", 0.125), ("local_range", 0.25)):
        assert blender.ops.mesh.ossuary_cloth_set(what=what, value=value) == {"FINISHED"}
    bits = [bit == 1 for bit in range(32)]
    assert blender.ops.mesh.ossuary_cloth_set(what="collision_mask", meets=bits) == {"FINISHED"}
    assert blender.ops.object.ossuary_cloth_apply() == {"FINISHED"}
    new = exported(scene_api, made.collection, tmp_path / "a.hkx", insist=True)[0].sims[0]
    for name, value in (("radius", 0.0625), ("mass", 0.5), ("friction", 0.125), ("masks", 2)):
        before, after = getattr(record, name), getattr(new, name)
        assert set(np.flatnonzero(before != after)) <= set(rows)
        assert (after[rows] == np.array(value, after.dtype)).all()
    begin(cloud(made))
    with pytest.raises(RuntimeError, match="no volume"):
        blender.ops.mesh.ossuary_cloth_set(what="volume_stiffness_", value=1)


def test_what_is_asked_for_begins_with_what_a_selected_one_has(scene_api, blender, bring):
    from addon.scene.cloth.editing import selected_value

    _, made, old = bring(SKIRT)
    record = old[0].sims[0]
    free, fixed = np.flatnonzero(record.inverse_mass > 0)[:4], np.sort(record.fixed)[:5]
    mesh = begin(cloud(made))
    for rows, what, value in ((free[:1], "local_range", 0.25), (free[1:], "local_range", -1), (free, "mass", 0.5)):
        select(mesh, rows)
        assert blender.ops.mesh.ossuary_cloth_set(what=what, value=value) == {"FINISHED"}
    for rows, bits in ((free[:1], {0}), (free[1:], {1, 31})):
        select(mesh, rows)
        meets = [bit in bits for bit in range(32)]
        assert blender.ops.mesh.ossuary_cloth_set(what="collision_mask", meets=meets) == {"FINISHED"}
    select(mesh, [*free, *fixed])
    assert selected_value(mesh, "mass", unless="pinned") == 0.5
    assert selected_value(mesh, "local_range", unless="pinned") == -1
    select(mesh, free)
    assert selected_value(mesh, "collision_mask") == np.uint32(1 << 31 | 2).view(np.int32)
    select(mesh, [])
    assert selected_value(mesh, "mass") is None


def test_pinned_from_the_panel(scene_api, blender, bring, tmp_path):
    _, made, old = bring(SKIRT)
    record = old[0].sims[0]
    row = int(np.flatnonzero(record.inverse_mass > 0)[0])
    mesh = begin(cloud(made))
    select(mesh, row)
    assert blender.ops.mesh.ossuary_cloth_set(what="pinned", pinned=True) == {"FINISHED"}
    assert blender.ops.object.ossuary_cloth_apply() == {"FINISHED"}
    assert cloud(made).data.attributes["pinned"].data[row].value
    new = exported(scene_api, made.collection, tmp_path / "a.hkx", insist=True)[0].sims[0]
    assert row in new.fixed.tolist()
    assert len(new.fixed) == len(record.fixed) + 1


def test_free_leaves_out_what_no_link_holds(scene_api, blender, bring, tmp_path, capfd):
    from addon.cloth.edits.pins import linked

    _, made, old = bring(SKIRT)
    record = old[0].sims[0]
    pinned, held = record.inverse_mass == 0, linked(record)
    lost = np.flatnonzero(pinned & ~held)
    freed = np.flatnonzero(pinned & held)[1:]
    assert len(lost)
    assert len(freed)
    mesh = begin(cloud(made))
    select(mesh, [*lost, *freed])
    assert blender.ops.mesh.ossuary_cloth_set(what="pinned", pinned=False) == {"FINISHED"}
    told = f"{len(freed)} particles set; {len(lost)} particles left pinned, having no links"
    assert told.replace("1 particles", "1 particle") in capfd.readouterr().out
    blender.ops.object.ossuary_cloth_apply()
    new = exported(scene_api, made.collection, tmp_path / "a.hkx", insist=True)
    assert np.flatnonzero((new[0].sims[0].inverse_mass != 0) != ~pinned).tolist() == freed.tolist()


def test_freed_and_pinned_again_is_no_change(scene_api, blender, bring):
    """What was set of it between is left out, which is told, and nothing stands in the way of the export."""
    from addon.cloth.edits.pins import linked

    path, made, old = bring(SKIRT)
    record = old[0].sims[0]
    row = int(np.flatnonzero(linked(record) & (record.inverse_mass == 0))[0])
    mesh = begin(cloud(made))
    select(mesh, row)
    for values_set in ({"pinned": False}, {"what": "mass", "value": 0.5}, {"what": "local_range", "value": 0.25}, {}):
        done = blender.ops.mesh.ossuary_cloth_set(**({"what": "pinned", "pinned": True} | values_set))
        assert done == {"FINISHED"}
    assert blender.ops.object.ossuary_cloth_apply() == {"FINISHED"}
    result = export(scene_api, made.collection, path)
    assert (result.errors, result.written) == ([], False)
    assert [each.text for each in result.warnings] == [
        f"particle {row}: what was set as {word} is left out, for pinned particles have none."
        for word in ("mass", "range")
    ]


@every_cloth
def test_moved_vertices_are_the_rest_pose(scene_api, blender, corpus, tmp_path, name):
    """A bulge moves what is free and not near what is pinned; the file then rests there, and shows so when imported."""
    path = copied(corpus, name, tmp_path)
    made, old = load(scene_api, path), stored(bytes(members(path)[0].data()))
    record = old[0].sims[0]
    rest = record.poses[0]
    free = np.flatnonzero(record.inverse_mass > 0)
    centre = rest[free[len(free) // 2]]
    size = np.ptp(rest, axis=0).max() / 3
    near = np.exp(-(((rest - centre) / size) ** 2).sum(1)) * (record.inverse_mass > 0)
    rows = np.flatnonzero(near > 0.2)
    mesh = begin(cloud(made))
    import bmesh
    from mathutils import Vector

    shape = bmesh.from_edit_mesh(mesh.data)
    shape.verts.ensure_lookup_table()
    for row in rows.tolist():
        shape.verts[row].co += Vector((0, 0, -0.01 * size * float(near[row])))
    bmesh.update_edit_mesh(mesh.data)
    assert blender.ops.object.ossuary_cloth_apply() == {"FINISHED"}
    target = tmp_path / "moved.hkx"
    result = export(scene_api, made.collection, target, insist=True)
    assert not result.errors, result.details
    new = stored(result.data)
    moved = new[0].sims[0].poses[0]
    assert np.flatnonzero((moved != rest).any(1)).tolist() == rows.tolist()
    assert 0.004 * size < np.abs(moved - rest).max() < 0.011 * size
    assert all(trail.startswith("datas[0].") for trail in differences(old, new))
    again = scene_api.import_cloth(blender.context, [target]).cloths[0]
    np.testing.assert_array_equal(values(again.points[0].data, "rest", "vector"), moved[:, [0, 2, 1]])


def test_the_moved_object_moves_the_rest_pose(scene_api, blender, bring, tmp_path):
    _, made, old = bring()
    mesh = begin(cloud(made))
    blender.ops.object.mode_set(mode="OBJECT")
    mesh.location.z = 0.25
    assert blender.ops.object.ossuary_cloth_apply() == {"FINISHED"}
    rest = values(cloud(made).data, "rest", "vector")
    expected = old[0].sims[0].poses[0][:, [0, 2, 1]] + np.float32([0, 0, 0.25])
    np.testing.assert_allclose(rest, expected, atol=1e-6)
    np.testing.assert_array_equal(values(cloud(made).data, "position", "vector"), rest)


def test_other_vertices_are_refused_and_the_mesh_stays(scene_api, blender, bring):
    import bmesh

    path, made, _ = bring()
    mesh = begin(cloud(made))
    shape = bmesh.from_edit_mesh(mesh.data)
    shape.verts.new((0, 0, 0))
    bmesh.update_edit_mesh(mesh.data)
    with pytest.raises(RuntimeError, match="33 vertices, the cloth 32 particles"):
        blender.ops.object.ossuary_cloth_apply()
    assert mesh.name in blender.data.objects
    blender.ops.object.mode_set(mode="EDIT")
    shape = bmesh.from_edit_mesh(mesh.data)
    shape.verts.ensure_lookup_table()
    shape.verts.remove(shape.verts[32])
    for vertex in shape.verts:
        vertex.index = 31 - vertex.index
    shape.verts.sort()
    bmesh.update_edit_mesh(mesh.data)
    with pytest.raises(RuntimeError, match="another order"):
        blender.ops.object.ossuary_cloth_apply()
    assert blender.ops.object.ossuary_cloth_cancel() == {"FINISHED"}
    assert not export(scene_api, made.collection, path).written


def test_cancel_throws_away_and_undo_brings_back(scene_api, blender, bring, tmp_path):
    path, made, _ = bring()
    name, points = made.collection.name, cloud(made).name
    begin(cloud(made))
    blender.ops.ed.undo_push(message="begun")
    select(blender.context.view_layer.objects.active, range(32))
    blender.ops.mesh.ossuary_cloth_set(what="radius", value=0.5)
    blender.ops.object.ossuary_cloth_apply()
    blender.ops.ed.undo_push(message="applied")
    assert export(scene_api, made.collection, tmp_path / "a.hkx", insist=True).data != bytes(members(path)[0].data())
    blender.ops.ed.undo()
    (told,) = export(scene_api, blender.data.collections[name], path).details
    assert "is not applied" in told  # the mesh is there again
    assert not export(scene_api, blender.data.collections[name], path).written
    assert points in blender.data.objects


def edits(obj, sim):
    return (obj.get("cloth_kind"), obj.get("cloth_sim")) == ("edit", sim)


def deleted_by(blender, mesh, way):
    blender.ops.object.mode_set(mode="OBJECT")
    blender.ops.ed.undo_push(message="edited")
    if way == "operator":
        for obj in blender.context.view_layer.objects:
            obj.select_set(state=obj == mesh)
        blender.ops.object.delete()
        blender.ops.ed.undo_push(message="deleted")
    else:  # as in the window, where Blender tells of the change when its step is kept already
        blender.data.objects.remove(mesh)
        blender.ops.ed.undo_push(message="deleted")
        blender.context.view_layer.update()


@pytest.mark.parametrize("hidden", [False, True])
@pytest.mark.parametrize("way", ["operator", "data"])
def test_a_deleted_mesh_gives_its_points_back(scene, blender, bring, way, hidden):
    """Undo brings the mesh back and hides them again; deleting it again, and redo, show them."""
    from addon.scene.keys import held_objects

    _, made, _ = bring()
    name, points = made.collection.name, cloud(made).name
    cloud(made).hide_set(state=hidden)
    other = begin(cloud(made, 1))
    deleted_by(blender, begin(cloud(made)), way)

    def meshes():
        return [obj for obj in held_objects(blender.data.collections[name]) if edits(obj, 0)]

    def state():
        blender.context.view_layer.update()
        return len(meshes()), blender.data.objects[points].hide_get()

    assert state() == (0, hidden)
    assert (cloud(made, 1).hide_get(), edits(other, 1)) == (True, True)
    blender.ops.ed.undo_push(message="later")
    undo, redo = blender.ops.ed.undo, blender.ops.ed.redo
    for step, then in ((undo, (0, hidden)), (undo, (1, True)), (redo, (0, hidden)), (undo, (1, True))):
        step()
        assert state() == then
    blender.data.objects.remove(*meshes())
    assert state() == (0, hidden)
    blender.data.objects[points].hide_set(state=not hidden)  # by the user
    assert state() == (0, not hidden)


def test_an_edit_is_saved_with_the_file(scene_api, scene, player, blender, bring, tmp_path):
    _, made, _ = bring()
    mesh = begin(cloud(made))
    move(mesh, 8, (0, 0, 0.002))
    blender.ops.object.mode_set(mode="OBJECT")
    blender.ops.wm.save_as_mainfile(filepath=str(tmp_path / "a.blend"))
    blender.ops.wm.open_mainfile(filepath=str(tmp_path / "a.blend"))
    mesh = next(obj for obj in blender.data.objects if obj.get("cloth_kind") == "edit")
    blender.context.view_layer.objects.active = mesh
    assert blender.ops.object.ossuary_cloth_apply() == {"FINISHED"}
    (collection,) = (each for each in blender.data.collections if "cloth_data" in each)
    before = exported(scene_api, collection, tmp_path / "a.hkx", insist=True)
    blender.ops.wm.save_as_mainfile(filepath=str(tmp_path / "a.blend"))
    blender.ops.wm.open_mainfile(filepath=str(tmp_path / "a.blend"))
    (collection,) = (each for each in blender.data.collections if "cloth_data" in each)
    after = exported(scene_api, collection, tmp_path / "b.hkx", insist=True)
    assert (tmp_path / "a.hkx").read_bytes() == (tmp_path / "b.hkx").read_bytes()
    assert before[0].sims[0].poses[0].tobytes() == after[0].sims[0].poses[0].tobytes()


def test_the_model_is_written_the_same_while_its_cloth_is_edited(scene_api, blender, bring, tmp_path):
    from addon.codec.source import Kind, open_source

    path, made, _ = bring(SAMPLE)
    begin(cloud(made))
    target = tmp_path / "model.flver"
    blender.ops.object.mode_set(mode="OBJECT")
    blender.context.view_layer.objects.active = made.armature
    assert blender.ops.export_scene.ossuary_flver(filepath=str(target)) == {"FINISHED"}
    model = next(each for each in open_source(path).members if each.kind == Kind.FLVER)
    assert target.read_bytes() == bytes(model.data())


def test_what_is_not_applied_is_told_of(scene_api, blender, bring):
    path, made, _ = bring()
    mesh = begin(cloud(made))
    move(mesh, 8, (0, 0, 0.002))
    result = export(scene_api, made.collection, path)
    assert (result.errors, result.written) == ([], False)
    assert [each.objects for each in result.warnings] == [(mesh.name,)]
    assert "is not applied" in result.warnings[0].text
    assert blender.ops.object.ossuary_cloth_cancel() == {"FINISHED"}
    assert export(scene_api, made.collection, path).details == []


def test_a_hidden_mesh_is_shown_again_and_one_in_a_hidden_collection_is_said(blender, bring):
    _, made, _ = bring()
    mesh = begin(cloud(made))
    for name in ("hide_set", "hide_viewport"):
        blender.ops.object.mode_set(mode="OBJECT")
        if name == "hide_set":
            mesh.hide_set(state=True)
        else:
            mesh.hide_viewport = True
        assert begin(cloud(made)) == mesh
        assert mesh.mode == "EDIT"
    blender.ops.object.mode_set(mode="OBJECT")
    cloud(made).users_collection[0].hide_viewport = True
    for link in made.links:
        blender.context.view_layer.objects.active = link
        with pytest.raises(RuntimeError, match="hidden or excluded"):
            blender.ops.object.ossuary_cloth_edit()
    assert len([each for each in made.collection.all_objects if each["cloth_kind"] == "edit"]) == 1


def test_all_selected_sets_free_ones_of_all_that_are_edited(scene_api, blender, bring, tmp_path):
    _, made, old = bring()
    meshes = []
    for sim in (0, 1):
        meshes.append(begin(cloud(made, sim)))
        blender.ops.object.mode_set(mode="OBJECT")
    for each in meshes:
        each.select_set(state=True)
    blender.ops.object.mode_set(mode="EDIT")
    blender.ops.mesh.select_all(action="SELECT")
    for what, value in (("mass", 0.5), ("local_range", 0.25), ("radius", 0.03125)):
        assert blender.ops.mesh.ossuary_cloth_set(what=what, value=value) == {"FINISHED"}
    for each in meshes:
        blender.context.view_layer.objects.active = each
        assert blender.ops.object.ossuary_cloth_apply() == {"FINISHED"}
    new = exported(scene_api, made.collection, tmp_path / "a.hkx", insist=True)
    for number in (0, 1):
        record, made_one = old[number].sims[0], new[number].sims[0]
        np.testing.assert_array_equal(made_one.mass, np.where(record.mass > 0, np.float32(0.5), 0))
        np.testing.assert_array_equal(made_one.fixed, record.fixed)
        assert (made_one.radius == np.float32(0.03125)).all()


def test_playing_goes_on_while_the_mesh_is_edited(scene_api, scene, player, blender, bring):
    _, made, _ = bring()
    play(scene, *range(1, 6))
    (first,) = player.sessions.values()
    mesh = begin(cloud(made))
    move(mesh, 8, (0, 0, 0.002))
    play(scene, 6, 7)
    assert list(player.sessions.values()) == [first]
    assert not player.problems
    blender.ops.object.ossuary_cloth_apply()
    play(scene, 8)
    (second,) = player.sessions.values()
    assert second is not first
    assert not player.problems
