"""Settings of playing cloth that are changed while nothing plays."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from tests.sample import write_sample
from tests.scene.playing import evaluated, play, pose_of, same, session, shown, turn
from tests.scene.test_cloth_import import BIRD, HAT, MAN, model


@pytest.fixture
def banner(scene_api, scene, tmp_path):
    """Return the sample's cloth; its banner falls from where it starts."""
    return model(scene_api, write_sample(tmp_path)[0])


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    """Let any machine be fast enough to show changes at once."""
    from addon.scene.cloth import settings_shown

    monkeypatch.setattr(settings_shown, "QUICK", 1e9)


CHANGES = (
    ("settle", 30), ("substeps", 2), ("rate", "30"), ("gravity_scale", 0.5), ("own_gravity", True),
    ("gravity", (0.0, 5.0, 0.0)), ("own_damping", True), ("damping", 0.0), ("wind", (0.0, 20.0, 0.0)),
    ("roots", "ESTIMATE_ONLY"), ("stretch", False), ("collisions", False), ("state", "SKIN"),
)  # fmt: skip


def test_every_change_shows_on_the_start_frame(scene, player, banner):
    play(scene, 1)
    settings = scene.ossuary_cloth
    for name, value in CHANGES:
        before = shown(banner.cloths[0])
        setattr(settings, name, value)
        at_once = shown(banner.cloths[0])
        play(scene, 1)
        assert same(at_once, shown(banner.cloths[0])), name
        if name not in {"own_gravity", "collisions"}:  # the cloth's own is the same; there is nothing to meet
            assert not same(at_once, before), name
    assert list(session(player).frames) == [1]


def test_a_change_shows_before_anything_was_played(scene, player, banner):
    before = shown(banner.cloths[0])
    scene.ossuary_cloth.settle = 20
    assert not same(shown(banner.cloths[0]), before)
    assert not player.problems


def test_elsewhere_a_change_acts_on_the_next_frame(scene, player, banner):
    play(scene, *range(1, 11))
    then = shown(banner.cloths[0])
    settings = scene.ossuary_cloth
    for name, value in CHANGES[:-1]:
        setattr(settings, name, value)
    assert same(shown(banner.cloths[0]), then)
    play(scene, 11)
    assert not same(shown(banner.cloths[0]), then)


@pytest.mark.parametrize("name", [HAT, MAN])
@pytest.mark.parametrize("state", ["SKIN", "EMPTY"])
def test_the_state_shows_on_any_frame_and_back_again(scene_api, scene, player, corpus, name, state):
    made = model(scene_api, corpus(name)).cloths[0]
    settings = scene.ossuary_cloth
    settings.points = True
    skinned = shown(made)
    play(scene, *range(1, 11))
    then = shown(made)
    for _ in range(2):
        settings.state = state
        at_once = shown(made)
        if state == "SKIN":
            for now, rest in zip(at_once, skinned, strict=True):
                np.testing.assert_allclose(now, rest, atol=1e-4)
        settings.state = "SIMULATE"
        assert same(shown(made), then)
    settings.state = state
    play(scene, 11, 10)
    assert same(shown(made), at_once)
    play(scene, 11)
    settings.state = "SIMULATE"
    play(scene, 12, 13, 12)
    assert not player.problems


def test_play_goes_on_from_the_frame_as_it_was(scene, player, banner):
    play(scene, *range(1, 12))
    then = shown(banner.cloths[0])
    play(scene, *range(1, 11))
    for frame in (10, 11):
        play(scene, frame)
        scene.ossuary_cloth.state = "SKIN"
        assert not same(shown(banner.cloths[0]), then)
        scene.ossuary_cloth.state = "SIMULATE"
    assert same(shown(banner.cloths[0]), then)


@pytest.mark.parametrize("animated", [False, True])
def test_bones_that_cloth_drives_are_not_read_back(scene_api, scene, player, corpus, *, animated):
    made = model(scene_api, corpus(BIRD))
    if animated:
        turn(made.armature, "Neck", (1, 0.0), (10, 0.3))
    play(scene, 1, 2, 3)
    posed = pose_of(made.armature)
    scene.ossuary_cloth.state = "SKIN"
    player.reset(scene)
    play(scene, 1, 2, 3)
    skin = pose_of(made.armature)
    assert skin != posed
    scene.ossuary_cloth.state = "SIMULATE"
    player.reset(scene)
    play(scene, 1, 2, 3)
    scene.ossuary_cloth.state = "SKIN"
    for now, then in zip(pose_of(made.armature), skin, strict=True):
        np.testing.assert_allclose(np.concatenate(now[1:]), np.concatenate(then[1:]), atol=1e-4)


def test_no_change_shows_while_something_plays(scene, player, banner, blender):
    from addon.scene.cloth.settings_shown import SettingsShown

    play(scene, 1)
    then = shown(banner.cloths[0])
    player.live = True
    scene.ossuary_cloth.settle = 10
    assert same(shown(banner.cloths[0]), then)
    player.live = False
    scene.ossuary_cloth.play = False
    scene.ossuary_cloth.settle = 11
    assert not player.sessions
    scene.ossuary_cloth.play = True
    playing = SimpleNamespace(screen=SimpleNamespace(is_animation_playing=True))
    manager = SimpleNamespace(windows=[playing])
    SettingsShown(player).changed(SimpleNamespace(scene=scene, window_manager=manager), scene)
    assert not player.sessions
    manager.windows = []
    other = blender.data.scenes.new("other")
    SettingsShown(player).changed(SimpleNamespace(scene=scene, window_manager=manager), other)
    assert not player.sessions
    other.ossuary_cloth.settle = 5
    assert not player.sessions


def test_without_cloth_nothing_is_loaded_for_a_change(scene, monkeypatch):
    from addon.operators.cloth_playback import UsesPlayer

    monkeypatch.setattr(UsesPlayer.calls, "_player", None)
    scene.ossuary_cloth.settle = 5
    assert UsesPlayer.calls._player is None


def test_what_takes_long_shows_later_and_what_takes_very_long_not(scene, player, banner, blender, monkeypatch):
    from addon.operators.cloth_playback import UsesPlayer
    from addon.scene.cloth import settings_shown

    monkeypatch.setattr(settings_shown, "QUICK", 0.1)
    timers = blender.app.timers
    play(scene, 1)
    then = shown(banner.cloths[0])
    session(player).speed = 100.0
    scene.ossuary_cloth.settle = 100
    timer = UsesPlayer.calls._settings.timer
    assert timers.is_registered(timer)
    assert same(shown(banner.cloths[0]), then)
    timer()
    assert not same(shown(banner.cloths[0]), then)
    session(player).speed = 100.0
    scene.ossuary_cloth.settle = 1000
    assert not timers.is_registered(timer)
    session(player).speed = 100.0
    scene.ossuary_cloth.settle = 100
    assert timers.is_registered(timer)
    UsesPlayer.calls.after_load()
    assert not timers.is_registered(timer)


def test_a_change_is_undone_with_what_it_showed(scene, player, banner):
    import bpy

    name = banner.cloths[0].meshes[0].name
    play(scene, 1)
    bpy.ops.ed.undo_push(message="played")
    then = evaluated(bpy.data.objects[name])
    scene.ossuary_cloth.settle = 20
    bpy.ops.ed.undo_push(message="settled")
    settled = evaluated(bpy.data.objects[name])
    assert not np.array_equal(settled, then)
    bpy.ops.ed.undo()
    assert np.array_equal(evaluated(bpy.data.objects[name]), then)
    bpy.ops.ed.redo()
    assert np.array_equal(evaluated(bpy.data.objects[name]), settled)
    assert not player.problems
