"""Cloth among all else: other cloths, undo, load, deletion, and what is left behind."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from addon.cloth import particles
from tests.scene.playing import evaluated, play, pose_of, same, session, shown, state_of, turn, written_whole
from tests.scene.shown import coordinates
from tests.scene.test_cloth_import import BIRD, HAT, SKIRT, cloth, model, values
from tests.scene.test_cloth_playback import build_names


def test_two_characters_play_by_themselves(scene_api, scene, player, corpus):
    first, second = (model(scene_api, corpus(HAT)) for _ in range(2))
    turn(second.armature, "Head", (1, 0.0), (10, 0.6))
    play(scene, *range(1, 16))
    assert len(player.sessions) == 2
    one, other = shown(first.cloths[0]), shown(second.cloths[0])
    assert not same(one, other)
    player.reset(scene)
    import bpy

    bpy.data.objects.remove(second.armature)
    play(scene, *range(1, 16))
    assert same(shown(first.cloths[0]), one)
    problem = player.problem(second.cloths[0].collection)
    assert "armature is not in the scene" in problem


def test_deleting_the_cloth_while_playing_gives_the_meshes_back(scene_api, scene, player, tmp_path):
    import bpy

    from tests.sample import write_sample

    made = model(scene_api, write_sample(tmp_path)[0]).cloths[0]
    before = state_of(made.meshes)
    play(scene, *range(1, 6))
    assert state_of(made.meshes) != before
    bpy.data.collections.remove(made.collection)
    play(scene, 6)
    assert state_of(made.meshes) == before
    assert not player.sessions


@pytest.mark.parametrize("pushed", [False, True])
def test_deleting_the_cloth_while_playing_gives_the_pose_back(scene_api, scene, player, corpus, *, pushed):
    import bpy

    def armature():
        return next(obj for obj in bpy.data.objects if obj.type == "ARMATURE")

    made = model(scene_api, corpus(BIRD))
    made.armature.pose.bones["Neck"].location = (0.01, 0.02, 0.03)
    made.armature.pose.bones[build_names(made)[0]].location = (0.01, 0.02, 0.03)
    before, keys = pose_of(made.armature), sorted(made.armature.keys())
    bpy.ops.ed.undo_push(message="imported")
    play(scene, *range(1, 6))
    moved = pose_of(made.armature)
    assert sum(now != then for now, then in zip(moved, before, strict=True)) == 65
    if pushed:
        bpy.ops.ed.undo_push(message="played")
    bpy.data.collections.remove(made.cloths[0].collection)
    bpy.ops.ed.undo_push(message="deleted")
    play(bpy.context.scene, 6)
    assert (pose_of(armature()), sorted(armature().keys())) == (before, keys)
    bpy.ops.ed.undo()
    assert pose_of(armature()) == (moved if pushed else before)
    bpy.ops.ed.redo()
    assert (pose_of(armature()), sorted(armature().keys())) == (before, keys)
    bpy.ops.ed.undo()
    play(bpy.context.scene, *range(1, 6))
    assert not player.problems
    player.reset(bpy.context.scene)
    assert (pose_of(armature()), sorted(armature().keys())) == (before, keys)


def test_two_cloths_on_one_armature_give_its_pose_back(scene_api, scene, player, corpus):
    import bpy

    path = corpus(BIRD)
    made = model(scene_api, path)
    twin = cloth(scene_api, path)
    assert twin.armature == made.armature
    before = pose_of(made.armature)
    play(scene, *range(1, 4))
    bpy.data.collections.remove(made.cloths[0].collection)
    play(scene, 4)
    player.reset(scene)
    assert pose_of(made.armature) == before


def test_a_copy_of_an_armature_that_played_gets_the_pose_back(scene_api, scene, player, corpus):
    made = model(scene_api, corpus(BIRD))
    before = pose_of(made.armature)
    play(scene, *range(1, 4))
    copy = made.armature.copy()
    scene.collection.objects.link(copy)
    assert pose_of(copy) != before
    player.reset(scene)
    assert pose_of(copy) == pose_of(made.armature) == before


def test_deleting_the_armature_while_playing_gives_the_meshes_back(scene_api, scene, player, corpus):
    import bpy

    made = model(scene_api, corpus(HAT))
    before = [modifiers for _, modifiers, *_ in state_of(made.meshes)]
    play(scene, 1, 2)
    collection = made.cloths[0].collection
    bpy.data.objects.remove(made.armature)
    play(scene, 3)
    assert [modifiers for _, modifiers, *_ in state_of(made.meshes)] == before
    assert player.problem(collection)


def test_undo_and_redo_leave_cloth_that_plays(scene_api, scene, player, corpus):
    import bpy

    model(scene_api, corpus(HAT))
    bpy.ops.ed.undo_push(message="imported")
    play(bpy.context.scene, *range(1, 6))
    bpy.ops.ed.undo_push(message="played")
    obj = next(obj for obj in bpy.data.objects if obj.type == "ARMATURE")
    obj.location.x = 1
    bpy.ops.ed.undo_push(message="moved")
    bpy.ops.ed.undo()
    bpy.ops.ed.undo()
    assert not list(session(player).frames)
    play(bpy.context.scene, 6, 7)
    assert not player.problems
    assert list(session(player).frames) == [6, 7]
    bpy.ops.ed.redo()
    play(bpy.context.scene, 8)
    assert not player.problems
    assert list(session(player).frames) == [8]
    player.reset(bpy.context.scene)
    for mesh in (obj for obj in bpy.data.objects if obj.type == "MESH" and "flver_mesh" in obj.data):
        assert [each.type for each in mesh.modifiers] == ["ARMATURE"]
        assert mesh.modifiers[0].show_viewport


def test_undo_leaves_cloth_that_plays_live_where_it_is(scene_api, scene, player, corpus):
    import bpy

    model(scene_api, corpus(HAT))
    play(bpy.context.scene, *range(1, 31))
    bpy.ops.ed.undo_push(message="played")
    next(obj for obj in bpy.data.objects if obj.type == "ARMATURE").show_in_front = True
    bpy.ops.ed.undo_push(message="changed")
    found = session(player)
    fallen = found.state.store.copy()
    player.start_live()
    bpy.ops.ed.undo()
    player.live_steps(bpy.context, scene_api.PlayOptions(), 1)
    near = np.abs(found.state.store - fallen).max()
    player.stop_live()
    found.restart()
    player.live_steps(bpy.context, scene_api.PlayOptions(), 1)
    assert near < 0.002 < 0.005 < np.abs(found.state.store - fallen).max()


def test_undoing_the_import_forgets_the_cloth(scene_api, scene, player, corpus):
    import bpy

    bpy.ops.ed.undo_push(message="empty")
    model(scene_api, corpus(HAT))
    bpy.ops.ed.undo_push(message="imported")
    play(bpy.context.scene, 1, 2)
    assert player.sessions
    bpy.ops.ed.undo()
    assert not player.sessions
    play(bpy.context.scene, 3)
    assert not player.problems


def test_a_file_saved_while_playing_goes_on_and_resets(scene_api, scene, player, corpus, tmp_path):
    import bpy

    made = model(scene_api, corpus(BIRD))
    before, pose = state_of(made.meshes), pose_of(made.armature)
    play(scene, *range(1, 6))
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "playing.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "playing.blend"))
    assert not player.sessions
    scene = bpy.context.scene
    play(scene, *range(1, 6))
    assert len(session(player).frames) == 5
    assert not player.problems
    player.reset(scene)
    meshes = [bpy.data.objects[name] for name, *_ in before]
    assert state_of(meshes) == before
    armature = next(obj for obj in bpy.data.objects if obj.type == "ARMATURE")
    assert pose_of(armature) == pose


def test_registering_leaves_nothing_behind(scene_api, scene, player, corpus):
    import bpy

    import addon

    model(scene_api, corpus(HAT))
    play(scene, 1, 2)
    player.start_live()
    names = ("frame_change_pre", "frame_change_post", "load_post", "undo_post", "redo_post")
    with_it = {name: len(getattr(bpy.app.handlers, name)) for name in names}
    try:
        addon.unregister()
        without = {name: len(getattr(bpy.app.handlers, name)) for name in names}
        assert all(with_it[name] > without[name] for name in names)
        assert not bpy.app.timers.is_registered(player.timer)
        assert not player.sessions
        assert not hasattr(bpy.types.Scene, "ossuary_cloth")
    finally:
        addon.register()
    assert {name: len(getattr(bpy.app.handlers, name)) for name in names} == with_it


def test_collidables_of_a_file_are_added_to_a_bone(scene_api, scene, player, corpus):
    import bpy

    made = model(scene_api, corpus(HAT))
    play(scene, *range(1, 11))
    before = shown(made.cloths[0])
    weapon = corpus("eldenring/wp_a_0213.partsbnd.dcx")
    answer = bpy.ops.scene.ossuary_cloth_collidables(filepath=str(weapon), bone="Head")
    assert answer == {"FINISHED"}
    added = [obj for obj in made.cloths[0].collection.all_objects if obj.get("cloth_kind") == "collidables"]
    assert [obj.parent_bone for obj in added] == ["Head", "Head"]
    play(scene, *range(1, 11))
    assert len(session(player).setup.bodies.all) == 4  # two for each of two cloths
    assert not same(shown(made.cloths[0]), before)
    with pytest.raises(RuntimeError, match="no bone 'Nowhere'"):
        bpy.ops.scene.ossuary_cloth_collidables(filepath=str(weapon), bone="Nowhere")


def test_collidables_go_to_the_active_cloth_and_the_active_bone(scene_api, scene, player, corpus):
    import bpy

    weapon = str(corpus("eldenring/wp_a_0213.partsbnd.dcx"))
    made, other = model(scene_api, corpus(HAT)), model(scene_api, corpus(SKIRT))
    add, objects = bpy.ops.scene.ossuary_cloth_collidables, bpy.context.view_layer.objects
    objects.active, bpy.context.view_layer.active_layer_collection = None, bpy.context.view_layer.layer_collection
    with pytest.raises(RuntimeError, match="Which cloth"):
        add(filepath=weapon, bone="Head")
    objects.active = other.cloths[0].points[0]
    with pytest.raises(RuntimeError, match="Which bone"):
        add(filepath=weapon)
    assert add(filepath=weapon, bone="R_Hand") == {"FINISHED"}
    objects.active = made.armature
    made.armature.data.bones.active = made.armature.data.bones["Head"]
    with bpy.context.temp_override(active_bone=made.armature.data.bones["Head"]):
        assert add(filepath=weapon) == {"FINISHED"}
    for one, bone in ((other, "R_Hand"), (made, "Head")):
        added = [obj for obj in one.cloths[0].collection.all_objects if "cloth_runtime" in obj]
        assert [obj.parent_bone for obj in added] == [bone, bone]
    assert add.get_rna_type().properties["bone"].is_skip_save  # the last one would be taken for a choice


def test_the_file_of_collidables_is_looked_for_beside_that_of_the_cloth(scene_api, scene, player, tmp_path):
    import bpy

    from addon.operators.cloth_playback import SCENE_OT_ossuary_cloth_collidables as Operator
    from tests.sample import write_sample

    made = model(scene_api, write_sample(tmp_path)[0])
    bpy.context.view_layer.objects.active = made.armature
    opened = []
    manager = SimpleNamespace(fileselect_add=opened.append)
    for chosen in ("", "/elsewhere/a.hkx"):
        operator, context = SimpleNamespace(filepath=chosen, bone="Arm"), bpy.context.copy()
        context = SimpleNamespace(**context | {"window_manager": manager})
        assert Operator.invoke(operator, context, None) == {"RUNNING_MODAL"}
        assert opened.pop().filepath == (chosen or str(tmp_path / "_")[:-1])


def test_a_file_that_cannot_be_read_is_named_with_the_reason(scene_api, scene, player, tmp_path):
    import bpy

    from tests.sample import write_sample

    made = model(scene_api, write_sample(tmp_path)[0])
    bpy.context.view_layer.objects.active = made.cloths[0].points[0]
    ops, gone = bpy.ops.scene, str(tmp_path / "gone.hkx")
    for call, options in ((ops.ossuary_cloth_collidables, {"bone": "Arm"}), (ops.ossuary_cloth_feel_load, {})):
        with pytest.raises(RuntimeError, match=r"^Error: gone.hkx: No such file or directory"):
            call(filepath=gone, **options)


def test_cloth_is_known_by_its_collection_whatever_that_is_called(scene_api, scene, player, corpus):
    made = model(scene_api, corpus(HAT)).cloths[0]
    play(scene, *range(1, 6))
    (uid,) = player.sessions
    assert uid == made.collection.session_uid
    made.collection.name = "Hat"
    play(scene, 6)
    assert list(player.sessions) == [uid]
    assert list(session(player).frames) == [1, 2, 3, 4, 5, 6]


def test_meshes_that_stand_elsewhere_are_where_the_cloth_is(scene_api, scene, player, corpus):
    import bpy

    made, other = (model(scene_api, corpus(HAT)) for _ in range(2))
    shift = np.float32([0.5, -0.25, 0.125])
    for obj in other.cloths[0].meshes:
        obj.location = shift
    bpy.context.view_layer.update()
    play(scene, *range(1, 11))
    whole = written_whole(made.cloths[0])
    assert any(whole)
    for obj, moved, is_whole in zip(made.cloths[0].meshes, other.cloths[0].meshes, whole, strict=True):
        if is_whole:
            np.testing.assert_allclose(evaluated(moved) + shift, evaluated(obj), atol=1e-5)


def test_cloths_that_share_a_mesh_write_their_own_vertices(scene):
    from addon.scene.cloth.outputs import Output, in_mesh

    masks = np.array([1, 1, 0, 0], bool), np.array([0, 1, 1, 0], bool)
    output = Output(0, (0, 1), masks)
    assert output.selection.tolist() == [True, True, True, False]
    assert not output.whole
    parts = [np.full((4, 3), number, np.float32) for number in (1, 2)]
    assert in_mesh(output, parts, None)[:, 0].tolist() == [1, 2, 2, 1]


def test_a_bone_that_was_deleted_stands_still(scene_api, scene, player, corpus):
    """Cloth that hangs from it stays with the armature as a whole."""
    import bpy

    made = model(scene_api, corpus(HAT), cloth=False)
    bpy.context.view_layer.objects.active = made.armature
    bpy.ops.object.mode_set(mode="EDIT")
    made.armature.data.edit_bones.remove(made.armature.data.edit_bones["Head"])
    bpy.ops.object.mode_set(mode="OBJECT")
    found = cloth(scene_api, corpus(HAT))
    assert any("Head" in warning and "stand still" in warning for warning in found.warnings)
    made.armature.location = (0, 2, 0)
    bpy.context.view_layer.update()
    play(scene, 1)
    assert not player.problems
    playing = session(player)
    for sim, place in enumerate(playing.setup.layout.sims):
        rest = place.record.poses[0] + np.float32([0, 0, 2])
        np.testing.assert_allclose(particles(playing.setup, playing.state, sim), rest, atol=1e-3)


def test_cloth_on_its_own_skeleton_plays(scene_api, scene, player, corpus):
    made = cloth(scene_api, corpus(HAT))
    before = [values(obj.data, "position", "vector") for obj in made.points]
    play(scene, *range(1, 11))
    assert not player.problems
    for obj, then in zip(made.points, before, strict=True):
        moved = np.linalg.norm(values(obj.data, "position", "vector") - then, axis=1)
        assert moved[values(obj.data, "pinned")].max() < 1e-4
        assert 0.002 < moved.max() < 0.05


def test_the_samples_banner_hangs_from_its_arm(scene_api, scene, player, tmp_path):
    from tests.sample import write_sample

    made = model(scene_api, write_sample(tmp_path)[0])
    assert not made.warnings
    assert not made.cloths[0].warnings
    (mesh,) = made.cloths[0].meshes
    before = evaluated(mesh)
    play(scene, 1)
    np.testing.assert_allclose(evaluated(mesh), before, atol=1e-4)
    play(scene, *range(2, 31))
    still = evaluated(mesh)
    moved = np.linalg.norm(still - before, axis=1)
    assert moved[:25].max() < 1e-4  # the upper edge is pinned
    assert 0.01 < moved.max() < 0.3
    turn(made.armature, "Arm", (30, 0.0), (45, 0.6))
    play(scene, *range(31, 46))
    assert np.linalg.norm(evaluated(mesh) - still, axis=1).max() > 0.05
    play(scene, 30)
    assert np.array_equal(evaluated(mesh), still)
    assert made.cloths[0].collidables[0].parent_bone == "Stand"
    player.reset(scene)
    np.testing.assert_allclose(coordinates(mesh.data), before, atol=1e-6)


def test_a_mesh_that_is_edited_or_deleted_is_left_out_and_named(scene_api, scene, player, corpus):
    import bpy

    made = model(scene_api, corpus(HAT)).cloths[0]
    play(scene, *range(1, 4))
    obj, other = made.meshes
    bpy.context.view_layer.objects.active = obj
    bpy.ops.object.mode_set(mode="EDIT")
    before = evaluated(other)
    play(scene, 4, 5)
    assert player.problem(made.collection) == f"{obj.name} is being edited"
    assert not np.array_equal(evaluated(other), before)
    bpy.ops.object.mode_set(mode="OBJECT")
    play(scene, 6)
    assert not player.problem(made.collection)
    bpy.data.objects.remove(obj)
    bpy.data.objects.remove(made.points[0])
    play(scene, 7)
    assert player.problem(made.collection) == "the mesh of HD_hat is gone"
    player.reset(scene)
    assert [each.type for each in other.modifiers] == ["ARMATURE"]


def test_a_model_is_exported_the_same_while_its_cloth_plays(scene_api, scene, player, tmp_path):
    import bpy

    from addon.codec import Flver
    from addon.codec.source import Kind, open_source
    from tests.sample import write_sample

    (file,) = write_sample(tmp_path)
    model(scene_api, file)
    play(scene, *range(1, 6))
    target = tmp_path / "out.flver"
    assert bpy.ops.export_scene.ossuary_flver(filepath=str(target)) == {"FINISHED"}
    stored = next(member for member in open_source(file).members if member.kind == Kind.FLVER)
    assert Flver.read(target.read_bytes()).write() == bytes(stored.data())
