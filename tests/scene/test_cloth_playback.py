"""Cloth that plays: frames, scrubbing, reset, settings."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from addon.cloth import (
    Pose,
    RootChoice,
    Settings,
    StateChoice,
    build_setup,
    display_positions,
    new_state,
    particles,
    reset,
    step,
)
from tests.scene.playing import evaluated, play, pose_of, same, session, shown, state_of, turn
from tests.scene.shown import coordinates
from tests.scene.test_cloth_import import BIRD, HAT, MAN, model, values


def test_frames_show_the_steps_of_the_simulation(scene_api, scene, player, corpus):
    whole = model(scene_api, corpus(HAT))
    made = whole.cloths[0]
    bone = whole.armature.pose.bones["Head"]
    bone.rotation_mode, bone.rotation_euler = "XYZ", (0.5, 0.2, 0)
    skinned = shown(made)
    play(scene, *range(1, 21))
    found = session(player)
    setup = build_setup(found.file)
    state, place = new_state(setup), found.frames.get(20).place
    reset(setup, state, Pose(place.bones, place.root))
    for _ in range(19):
        step(setup, state, Pose(place.bones, place.root), 1 / 60)
    for number, (obj, before) in enumerate(zip(made.meshes, skinned, strict=True)):
        written = setup.displays[number].written
        expected = display_positions(setup, state, number)[:, [0, 2, 1]]
        np.testing.assert_array_equal(evaluated(obj)[written], expected[written])
        np.testing.assert_allclose(evaluated(obj)[~written], before[~written], atol=1e-6)
        assert np.abs(expected - before).max() > 0.005
        armature = obj.modifiers[0]
        assert (armature.show_viewport, armature.show_render) == (not written.all(),) * 2  # no work for nothing


def test_nothing_moves_before_the_first_frame_and_the_start_frame_is_the_skin(scene_api, scene, player, corpus):
    made = model(scene_api, corpus(MAN)).cloths[0]
    before = shown(made)
    assert not player.sessions
    play(scene, 1)
    for now, then in zip(shown(made), before, strict=True):
        np.testing.assert_allclose(now, then, atol=1e-4)


def test_scrubbing_shows_what_was_simulated(scene_api, scene, player, corpus):
    made = model(scene_api, corpus(HAT))
    turn(made.armature, "Head", (1, 0.0), (10, 0.5), (20, -0.5))
    frames = {}
    for frame in range(1, 31):
        play(scene, frame)
        frames[frame] = shown(made.cloths[0])
    for frame in (12, 29, 3, 30, 2):
        play(scene, frame)
        assert same(shown(made.cloths[0]), frames[frame])
    found = session(player)
    kept = found.frames.get(5)
    found.frames.clear()
    found.frames.put(5, kept, 10**9)
    play(scene, *range(6, 31))
    assert same(shown(made.cloths[0]), frames[30])


def test_a_frame_that_was_gone_back_to_stays_as_it_was(scene_api, scene, player, corpus):
    """Steps that go on from a frame that is kept, with other settings, do not change what is kept."""
    made = model(scene_api, corpus(HAT)).cloths[0]
    play(scene, *range(1, 6))
    fifth = shown(made)
    play(scene, *range(6, 9), 5)
    scene.ossuary_cloth.gravity_scale = -1.0
    play(scene, *range(6, 9))
    assert list(session(player).frames) == [5, 6, 7, 8]
    play(scene, 5)
    assert same(shown(made), fifth)


def test_frames_are_kept_up_to_a_limit(scene_api, scene, player, corpus, monkeypatch):
    model(scene_api, corpus(HAT))
    play(scene, 1)
    room = 3 * session(player).frames.nbytes + 1
    options = replace(player._options(scene), limit=room)
    monkeypatch.setattr(player, "_options", lambda _: options)
    play(scene, *range(2, 8))
    assert list(session(player).frames) == [5, 6, 7]


def test_the_panels_settings_are_those_of_steps(scene):
    from addon.codec.havok import cloth as records
    from addon.codec.havok.cloth.constraints import Constraint
    from addon.operators.cloth_playback import SETS, play_options

    chosen = scene.ossuary_cloth
    assert play_options(scene).settings == Settings()
    assert (play_options(scene).rate, play_options(scene).limit) == (60, 512 << 20)
    for name, value in {
        "state": "EMPTY", "rate": "30", "substeps": 2, "gravity": (1, 2, 3), "gravity_scale": 0.5, "damping": 0.25,
        "wind": (4, 5, 6), "roots": "ESTIMATE_ONLY", "collisions": False, "memory": 100, **dict.fromkeys(SETS, False),
    }.items():  # fmt: skip
        setattr(chosen, name, value)
    kinds = [kind for kind in vars(records).values() if isinstance(kind, type) and issubclass(kind, Constraint)]
    names = {kind.__name__ for kind in kinds} - {"Constraint", "Links", "Transition"}  # nothing blends here
    expected = Settings(
        StateChoice.EMPTY, None, 0.5, None, 2, (4, 6, 5), RootChoice.ESTIMATE_ONLY, collisions=False,
        disabled=frozenset(names),
    )  # fmt: skip
    assert len(names) == 7
    assert play_options(scene).settings == expected
    assert (play_options(scene).rate, play_options(scene).limit) == (30, 100 << 20)
    chosen.own_gravity = chosen.own_damping = True
    assert play_options(scene).settings == replace(expected, gravity=(1, 3, 2), damping=0.25)
    chosen.play = False
    assert play_options(scene) is None


def test_steps_between_frames_follow_the_way_there(scene_api, scene, player, corpus, monkeypatch):
    from addon.scene.cloth import session as sessions

    made = model(scene_api, corpus(HAT))
    scene.render.fps = 20
    seen = []
    monkeypatch.setattr(sessions, "step", lambda *given: seen.append((given[2].root[0, 3], given[3], given[4].display)))
    play(scene, 1)
    made.armature.location = (3, 0, 0)
    play(scene, 2)
    assert seen == [(1, 1 / 60, False), (2, 1 / 60, False), (3, 1 / 60, True)]


def test_the_start_frame_resets(scene_api, scene, player, corpus):
    made = model(scene_api, corpus(HAT)).cloths[0]
    play(scene, 1)
    first = shown(made)
    play(scene, *range(2, 12))
    assert not same(shown(made), first)
    play(scene, 1)
    assert same(shown(made), first)
    assert list(session(player).frames) == [1]


def test_cloth_settles_before_the_start_frame_is_shown(scene_api, scene, player, corpus):
    made = model(scene_api, corpus(HAT)).cloths[0]
    play(scene, *range(1, 32))
    fallen = shown(made)
    scene.ossuary_cloth.settle = 30
    play(scene, 1)
    assert same(shown(made), fallen)
    play(scene, 2, 3)
    settled = shown(made)
    scene.ossuary_cloth.settle = 0
    play(scene, *range(1, 34))
    assert same(shown(made), settled)
    scene.ossuary_cloth.settle = 30
    play(scene, 100, 1)
    assert same(shown(made), fallen)


def test_dropped_frames_are_stepped_and_a_long_jump_starts_anew(scene_api, scene, player, corpus):
    model(scene_api, corpus(HAT))
    play(scene, *range(1, 11), 13)
    found = session(player)
    moved = particles(found.setup, found.state, 0)
    play(scene, 300)
    np.testing.assert_allclose(particles(found.setup, found.state, 0), found.file[0].sims[0].poses[0], atol=1e-3)
    assert np.abs(moved - found.file[0].sims[0].poses[0]).max() > 0.005


def test_reset_puts_everything_back(scene_api, scene, player, corpus):
    import bpy

    made = model(scene_api, corpus(MAN))
    clouds = [values(obj.data, "position", "vector") for obj in made.cloths[0].points]
    groups = {group.name for group in bpy.data.node_groups}
    for obj in made.meshes:
        obj.modifiers[0].show_render = False
        obj.modifiers.new("Own", "TRIANGULATE").show_viewport = False
    before, pose = state_of(made.meshes), pose_of(made.armature)
    scene.ossuary_cloth.points = True
    play(scene, *range(1, 6))
    assert state_of(made.meshes) != before
    for obj in made.cloths[0].meshes:
        assert [each.type for each in obj.modifiers] == ["ARMATURE", "NODES", "TRIANGULATE"]
    moved = [values(obj.data, "position", "vector") for obj in made.cloths[0].points]
    assert not same(moved, clouds)
    assert bpy.ops.scene.ossuary_cloth_reset() == {"FINISHED"}
    assert state_of(made.meshes) == before
    assert pose_of(made.armature) == pose
    assert same([values(obj.data, "position", "vector") for obj in made.cloths[0].points], clouds)
    assert {group.name for group in bpy.data.node_groups} == groups
    assert not player.sessions


def test_reset_puts_copies_of_what_played_back_too(scene_api, scene, player, tmp_path):
    from tests.sample import write_sample

    (mesh,) = model(scene_api, write_sample(tmp_path)[0]).cloths[0].meshes
    before = state_of([mesh])
    play(scene, *range(1, 6))
    copy = mesh.copy()
    copy.data = mesh.data.copy()
    scene.collection.objects.link(copy)
    player.reset(scene)
    assert [each[1:] for each in state_of([copy])] == [each[1:] for each in state_of([mesh])]
    assert state_of([mesh]) == before


def test_rest_data_of_meshes_is_never_changed(scene_api, scene, player, corpus):
    made = model(scene_api, corpus(MAN)).cloths[0]
    rest = [coordinates(obj.data) for obj in made.meshes]
    play(scene, *range(1, 4))
    assert same([coordinates(obj.data) for obj in made.meshes], rest)
    for obj in made.meshes:
        kinds = [each.type for each in obj.modifiers]
        assert kinds == ["ARMATURE", "NODES"]


def test_switching_play_off_puts_everything_back_and_stops(scene_api, scene, player, corpus):
    made = model(scene_api, corpus(HAT))
    before = state_of(made.meshes)
    play(scene, 1, 2)
    scene.ossuary_cloth.play = False
    assert state_of(made.meshes) == before
    play(scene, 3, 4)
    assert state_of(made.meshes) == before
    assert not player.sessions


def test_bones_that_cloth_drives_move_and_come_back(scene_api, scene, player, corpus):
    made = model(scene_api, corpus(BIRD))
    armature = made.armature
    driven = [name for name in build_names(made) if name in armature.pose.bones]
    assert len(driven) == 65
    armature.pose.bones[driven[0]].location = (0.01, 0.02, 0.03)
    turn(armature, driven[1], (1, 0.1), (40, 0.3))
    scene.frame_set(1)
    scene.ossuary_cloth.play = False
    before, keys = pose_of(armature), [len(curve.keyframe_points) for curve in curves(armature)]
    scene.ossuary_cloth.play = True
    play(scene, *range(1, 11))
    found = session(player)
    moved = sum(now != then for now, then in zip(pose_of(armature), before, strict=True))
    assert moved == len(driven)
    place = found.frames.get(10).place
    expected = nodes_of(armature, found)
    root = place.root.astype(np.float64)
    driven_now = found.state.driven.reshape(4, 3, -1)
    origins = (np.linalg.inv(root) @ np.vstack([driven_now[3], np.ones(len(found.setup.driven))]))[:3].T
    np.testing.assert_allclose(expected, origins, atol=2e-3)
    scene.frame_set(1)
    player.reset(scene)
    assert pose_of(armature) == before
    assert [len(curve.keyframe_points) for curve in curves(armature)] == keys


def build_names(made):
    from addon.scene.cloth.edits import stored_cloth

    return build_setup(stored_cloth(made.cloths[0].collection)).driven


def nodes_of(armature, found):
    """Return where the driven bones' nodes stand, (d, 3) in the games' axes."""
    import bpy

    posed = armature.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones
    result = []
    for name in found.setup.driven:
        bone = armature.data.bones[name]
        world = np.array(bone["flver_world"]).reshape(4, 4)[[0, 2, 1, 3]][:, [0, 2, 1, 3]]
        node = np.array(posed[name].matrix) @ np.linalg.inv(np.array(bone.matrix_local)) @ world
        result.append(node[[0, 2, 1], 3])
    return np.array(result)


def curves(armature):
    action = armature.animation_data.action
    if hasattr(action, "fcurves"):
        return list(action.fcurves)
    return [
        curve for layer in action.layers for strip in layer.strips for bag in strip.channelbags for curve in bag.fcurves
    ]


@pytest.mark.parametrize("animated", [False, True])
def test_driven_bones_are_never_read_back(scene_api, scene, player, corpus, animated):
    made = model(scene_api, corpus(BIRD))
    if animated:
        turn(made.armature, "Neck", (1, 0.1), (7, 0.1))
    play(scene, 1)
    first = session(player).frames.get(1).place.bones
    play(scene, *range(2, 8))
    np.testing.assert_array_equal(session(player).frames.get(7).place.bones, first)


def test_live_steps_follow_the_pose_without_a_frame_change(scene_api, scene, player, corpus):
    import bpy

    made = model(scene_api, corpus(BIRD))
    play(scene, 1)
    options = scene_api.PlayOptions()
    found = session(player)
    start = found.state.store.copy()
    for _ in range(5):
        player.live_steps(bpy.context, options, 1)
    assert np.abs(found.state.store - start)[:, : found.setup.layout.particles].max() > 0.005
    still = found._place.bones.copy()
    player.live_steps(bpy.context, options, 1)
    np.testing.assert_allclose(found._place.bones, still, atol=1e-4)
    before = shown(made.cloths[0])
    made.armature.pose.bones["Neck"].rotation_mode = "XYZ"
    made.armature.pose.bones["Neck"].rotation_euler = (0.2, 0, 0)
    made.armature.location = (0, 1, 0)
    for _ in range(3):
        player.live_steps(bpy.context, options, 2)
    assert not same(shown(made.cloths[0]), before)
    assert not player.problems
    assert all(np.isfinite(each).all() for each in shown(made.cloths[0]))
    assert not list(found.frames)
    play(scene, 2)
    assert list(found.frames) == [2]


def test_the_timer_starts_and_stops(scene_api, scene, player, corpus):
    import bpy

    model(scene_api, corpus(HAT))
    assert bpy.ops.scene.ossuary_cloth_live() == {"FINISHED"}
    assert bpy.app.timers.is_registered(player.timer)
    assert player.tick() > 0
    bpy.ops.scene.ossuary_cloth_live()
    assert not bpy.app.timers.is_registered(player.timer)
    assert player.tick() is None


@pytest.mark.parametrize("kind", ["points", "links"])
def test_what_is_shown_late_is_where_the_cloth_is(scene_api, scene, player, tmp_path, kind):
    from tests.sample import write_sample

    made = model(scene_api, write_sample(tmp_path)[0]).cloths[0]
    settings = scene.ossuary_cloth
    places = {}
    for early in (True, False):
        setattr(settings, kind, early)
        play(scene, *range(1, 21))
        setattr(settings, kind, True)
        places[early] = [values(obj.data, "position", "vector") for obj in getattr(made, kind)]
        player.reset(scene)
    assert same(places[True], places[False])
    assert not same(places[True], [values(obj.data, "position", "vector") for obj in getattr(made, kind)])


def test_cloth_follows_the_motion_of_its_object(scene_api, scene, player, corpus):
    made = model(scene_api, corpus(HAT), scale=2.0)
    armature = made.armature
    scene.ossuary_cloth.points = True
    play(scene, *range(1, 31))
    still = [evaluated(obj) for obj in made.cloths[0].meshes]
    armature.location = (3, 0, 0)
    play(scene, 31, 32)
    swung = [evaluated(obj) for obj in made.cloths[0].meshes]
    assert max(np.abs(now - then).max() for now, then in zip(swung, still, strict=True)) > 0.01
    play(scene, *range(33, 200))
    for obj, then in zip(made.cloths[0].meshes, still, strict=True):
        np.testing.assert_allclose(evaluated(obj), then, atol=2e-3)
    found = session(player)
    world = particles(found.setup, found.state, 0)[:, [0, 2, 1]] * 2  # twice the size of the file
    local = values(made.cloths[0].points[0].data, "position", "vector")
    np.testing.assert_allclose(local * 2 + np.float32([3, 0, 0]), world, atol=1e-4)


def test_a_changed_setting_forgets_the_frames(scene_api, scene, player, corpus):
    model(scene_api, corpus(HAT))
    play(scene, *range(1, 11))
    found = session(player)
    assert len(found.frames) == 10
    scene.ossuary_cloth.gravity_scale = 0.5
    play(scene, 11)
    assert list(found.frames) == [10, 11]
    scene.ossuary_cloth.rate = "30"
    play(scene, 12)
    assert list(found.frames) == [12]
    scene.render.fps = 24
    play(scene, 13)
    assert list(found.frames) == [13]
    scene.render.fps_base = 1.001
    play(scene, 14)
    assert list(found.frames) == [14]


def test_cloth_that_is_simulated_again_starts_where_it_is(scene_api, scene, player, corpus):
    made = model(scene_api, corpus(HAT))
    play(scene, *range(1, 11))
    scene.ossuary_cloth.state = "SKIN"
    play(scene, 11)
    found = session(player)
    assert list(found.frames) == [10, 11]
    made.armature.location = (0, 100, 0)
    play(scene, 12, 13)
    scene.ossuary_cloth.state = "SIMULATE"
    play(scene, 14)
    assert list(found.frames) == [14]
    rest = found.file[0].sims[0].poses[0] + np.float32([0, 0, 100])
    np.testing.assert_allclose(particles(found.setup, found.state, 0), rest, atol=1e-3)


def test_settings_reach_the_steps(scene_api, scene, player, corpus):
    made = model(scene_api, corpus(HAT)).cloths[0]
    settings = scene.ossuary_cloth
    ends = []
    for name, value in (
        (None, None), ("gravity_scale", -1.0), ("collisions", False), ("stiffness", False), ("ranges", False),
        ("roots", "ESTIMATE"), ("substeps", 3), ("wind", (5.0, 0.0, 0.0)), ("state", "SKIN"),
    ):  # fmt: skip
        if name is not None:
            before = getattr(settings, name)
            setattr(settings, name, value)
        play(scene, *range(1, 13))
        ends.append(np.concatenate(shown(made)).tobytes())
        if name is not None:
            setattr(settings, name, before)
    assert ends.count(ends[0]) == 2  # this cloth has nothing to meet
    assert len(set(ends)) == len(ends) - 1


def test_meshes_written_in_part_feed_the_cloth_as_they_are_posed(scene_api, scene, player, corpus, monkeypatch):
    from addon.scene.cloth import session as sessions

    made = model(scene_api, corpus(MAN))
    turn(made.armature, "Pelvis", (1, 0.0), (5, 0.3))
    seen = []

    def noted(setup, state, pose, dt, settings):
        seen.append(pose.display)
        step(setup, state, pose, dt, settings)

    monkeypatch.setattr(sessions, "step", noted)
    play(scene, *range(1, 6))
    found = session(player)
    partial = [number for number, each in enumerate(found.setup.displays) if not each.written.all()]
    assert [sorted(each) for each in seen] == [sorted(partial)] * 4
    for number in partial:
        obj = made.cloths[0].collection["cloth_meshes"][str(number)]
        rest = ~found.setup.displays[number].written
        np.testing.assert_array_equal(seen[-1][number][:, [0, 2, 1]][rest], evaluated(obj)[rest])
        assert np.abs(seen[-1][number] - seen[0][number]).max() > 0.01
