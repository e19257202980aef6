"""Cloth written back untouched: same bytes in every form, whatever was done with it that is no edit."""

from __future__ import annotations

import shutil

import pytest

from addon.codec import Dcx
from tests.scene.cloth_exports import SAMPLE, cloud, contents, copied, every_cloth, export, load, members
from tests.scene.playing import play, turn
from tests.scene.test_cloth_import import HAT, cloth, values
from tests.scene.test_export_files import everything


@every_cloth
def test_every_cloth_untouched_in_its_binder_and_loose(scene_api, corpus, tmp_path, name):
    path = copied(corpus, name, tmp_path)
    before, file = contents(path), path.read_bytes()
    data = bytes(members(path)[0].data())
    made = load(scene_api, path)
    result = export(scene_api, made.collection, path)
    assert (result.errors, result.warnings, result.written, result.data) == ([], [], False, data)
    assert path.read_bytes() == file
    assert not list(tmp_path.glob("*.bak"))
    again = path.with_name(f"again-{path.name}")
    assert export(scene_api, made.collection, again).written
    assert contents(again) == before
    for ending in (".hkx", ".hkx.dcx"):
        loose = tmp_path / f"loose_c{ending}"
        assert export(scene_api, made.collection, loose).written
        assert (Dcx.read(loose.read_bytes()).content if "dcx" in ending else loose.read_bytes()) == data


@every_cloth
def test_a_loose_file_on_its_own_skeleton_untouched(scene_api, corpus, tmp_path, name):
    path = tmp_path / "loose_c.hkx"
    path.write_bytes(members(copied(corpus, name, tmp_path))[0].data())
    before = path.read_bytes()
    made = cloth(scene_api, path)
    for _ in range(2):
        result = export(scene_api, made.collection, path)
        assert (result.details, result.written, result.data) == ([], False, before)


@every_cloth
def test_what_is_done_without_an_edit_changes_nothing(scene_api, scene, player, corpus, tmp_path, name):
    """Played, scrubbed, posed, moved, played live, reset, saved, loaded and imported at another size."""
    import bpy

    path = copied(corpus, name, tmp_path)
    data = bytes(members(path)[0].data())
    imported = scene_api.import_flver(bpy.context, [path], scene_api.FlverSettings(scale=0.37)).models[0]
    collection = imported.cloths[0].collection
    for kind in ("points", "links", "collidables"):
        setattr(scene.ossuary_cloth, kind, True)

    def unchanged():
        result = export(scene_api, collection, tmp_path / "out.hkx")
        assert (result.details, result.data) == ([], data)

    bones = imported.armature.data.bones
    turn(imported.armature, bones[len(bones) // 2].name, (1, 0.0), (6, 0.7))
    imported.armature.location = (3, 4, 5)
    play(scene, 1, 2, 3, 4)
    unchanged()
    play(scene, 2, 6)
    player.live_steps(bpy.context, scene_api.PlayOptions(), 2)
    unchanged()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "played.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "played.blend"))
    (collection,) = (each for each in bpy.data.collections if "cloth_data" in each)
    unchanged()
    play(bpy.context.scene, 7, 8)
    player.reset(bpy.context.scene)
    unchanged()


def test_undo_and_redo_change_nothing(scene_api, scene, player, corpus, tmp_path):
    import bpy

    path = copied(corpus, "BD_M_2210_c.hkx", tmp_path)
    made = load(scene_api, path)
    data, name = bytes(members(path)[0].data()), made.collection.name
    bpy.ops.ed.undo_push(message="imported")
    shape = made.collidables[0]
    shape.location.x += 0.1
    for row in range(4):
        cloud(made).data.attributes["radius"].data[row].value = 0.5
    bpy.ops.ed.undo_push(message="edited")
    assert export(scene_api, made.collection, tmp_path / "a.hkx", insist=True).data != data
    bpy.ops.ed.undo()
    assert export(scene_api, bpy.data.collections[name], tmp_path / "a.hkx").data == data
    bpy.ops.ed.redo()
    assert export(scene_api, bpy.data.collections[name], tmp_path / "a.hkx", insist=True).data != data


def test_baking_changes_nothing(scene_api, scene, player, corpus, tmp_path):
    import bpy

    path = copied(corpus, "HD_M_1140_c.hkx", tmp_path)
    made = load(scene_api, path)
    scene.frame_end = 4
    bpy.ops.scene.ossuary_cloth_bake(directory=str(tmp_path / "caches"))
    assert export(scene_api, made.collection, path).details == []
    assert not export(scene_api, made.collection, path).written


def test_collidables_of_a_weapon_are_not_written(scene_api, scene, player, corpus, tmp_path):
    import bpy

    path = copied(corpus, "BD_M_2210_c.hkx", tmp_path)
    made = load(scene_api, path)
    bpy.context.view_layer.objects.active = made.points[0]
    weapon = corpus("eldenring/wp_a_0213.partsbnd.dcx")
    bone = made.collidables[0].parent_bone
    assert bpy.ops.scene.ossuary_cloth_collidables(filepath=str(weapon), bone=bone) == {"FINISHED"}
    result = export(scene_api, made.collection, path)
    assert (result.details, result.written) == ([], False)


def test_a_cloth_that_a_binder_holds_twice_is_written_twice(scene_api, corpus, tmp_path):
    path = copied(corpus, "HD_M_1630_c.hkx", tmp_path)
    made = load(scene_api, path)
    cloud(made)["cloth_damping"] = 0.25
    assert export(scene_api, made.collection, path).written
    first, second = members(path)
    assert bytes(first.data()) == bytes(second.data())


@pytest.mark.parametrize("mode", ["OBJECT", "EDIT", "POSE"])
def test_the_scene_is_the_same_before_and_after(blender, scene_api, corpus, tmp_path, mode):
    path = copied(corpus, SAMPLE, tmp_path)
    made = load(scene_api, path)
    active = made.armature if mode == "POSE" else made.links[0]
    made.links[0].hide_set(state=False)
    blender.context.view_layer.objects.active = active
    active.select_set(state=True)
    blender.ops.object.mode_set(mode=mode)
    cloud(made)["cloth_damping"] = 0.5
    before = everything(blender)
    assert export(scene_api, made.collection, tmp_path / "a.hkx").written
    assert everything(blender) == before
    assert export(scene_api, made.collection, tmp_path / "a.obj").errors
    assert everything(blender) == before
    blender.ops.object.mode_set(mode="OBJECT")


def test_the_operator_takes_a_path_alone(blender, scene_api, corpus, tmp_path):
    first = load(scene_api, copied(corpus, SAMPLE, tmp_path))
    out = tmp_path / "out.hkx"
    assert blender.ops.export_scene.ossuary_cloth(filepath=str(out)) == {"FINISHED"}
    data = out.read_bytes()
    blender.context.view_layer.layer_collection.children[0].exclude = False
    blender.context.view_layer.active_layer_collection = blender.context.view_layer.layer_collection
    blender.context.view_layer.objects.active = None
    second = cloth(scene_api, corpus(HAT))
    blender.context.view_layer.objects.active = None
    blender.context.view_layer.active_layer_collection = blender.context.view_layer.layer_collection
    with pytest.raises(RuntimeError, match="Select an object"):
        blender.ops.export_scene.ossuary_cloth(filepath=str(out))
    for made in (second, first):
        for active in (made.points[0], made.armature):
            blender.context.view_layer.objects.active = active
            assert scene_api.chosen_cloth(blender.context) == made.collection
    assert blender.ops.export_scene.ossuary_cloth(filepath=str(out), wrapper="KRAK") == {"FINISHED"}
    assert out.read_bytes() == data


def test_a_binder_of_another_name_is_a_copy(scene_api, corpus, tmp_path):
    path = copied(corpus, "HD_M_1140_c.hkx", tmp_path)
    made = load(scene_api, path)
    before = contents(path)
    cloud(made)["cloth_damping"] = 0.125
    (tmp_path / "mod").mkdir()
    target = tmp_path / "mod" / "new.partsbnd.dcx"
    assert export(scene_api, made.collection, target, wrapper="KRAK").written
    assert Dcx.read(target.read_bytes()).codec == "KRAK"
    now = contents(target)
    changed = [place for place, (old, new) in enumerate(zip(before, now, strict=True)) if old != new]
    assert [now[place][0].rsplit("\\", 1)[-1] for place in changed] == ["HD_M_1140_c.hkx"]
    assert contents(path) == before
    assert "must end in .hkx" in str(export(scene_api, made.collection, tmp_path / "a.obj").errors[0])
    shutil.copyfile(corpus("eldenring/wp_a_0213.partsbnd.dcx"), tmp_path / "other.partsbnd.dcx")
    assert "holds no HD_M_1140_c" in str(export(scene_api, made.collection, tmp_path / "other.partsbnd.dcx").errors[0])


def test_points_come_back_from_playing_to_where_they_rest(scene_api, scene, player, corpus, tmp_path):
    made = load(scene_api, copied(corpus, "HD_M_1140_c.hkx", tmp_path))
    scene.ossuary_cloth.points = True
    play(scene, *range(1, 9))
    obj = made.points[0]
    assert (values(obj.data, "position", "vector") != values(obj.data, "rest", "vector")).any()
    player.reset(scene)
    assert (values(obj.data, "position", "vector") == values(obj.data, "rest", "vector")).all()
