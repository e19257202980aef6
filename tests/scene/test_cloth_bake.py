"""Cloth baked into caches, which play without the simulation."""

from __future__ import annotations

import struct

from tests.scene.playing import play, same, shown, turn, written_whole
from tests.scene.test_cloth_import import BIRD, HAT, SKIRT, model


def test_baked_caches_show_the_same_without_the_simulation(scene_api, scene, player, corpus, tmp_path):
    import bpy

    made = model(scene_api, corpus(HAT))
    for obj, name in zip(made.cloths[0].meshes, ("hat.1", "Hat_1"), strict=True):
        obj.name = name  # one file's name, where small letters are big ones
        obj.modifiers.new("Own", "TRIANGULATE")
    turn(made.armature, "Head", (1, 0.0), (12, 0.5))
    scene.frame_start, scene.frame_end = 3, 12
    frames = {}
    for frame in range(3, 13):
        play(scene, frame)
        frames[frame] = shown(made.cloths[0])
    assert bpy.ops.scene.ossuary_cloth_bake(directory=str(tmp_path)) == {"FINISHED"}
    assert not scene.ossuary_cloth.play
    files = sorted(tmp_path.glob("*.pc2"))
    assert len({path.name.casefold() for path in files}) == 2
    magic, version, _, first, rate, samples = struct.unpack_from("<12siiffi", files[0].read_bytes())
    assert (magic, version, first, rate, samples) == (b"POINTCACHE2\0", 1, 3, 1, 10)
    for frame in (3, 7, 12, 5):
        play(scene, frame)
        assert same(shown(made.cloths[0]), frames[frame])
    assert not player.sessions
    caches = [each for obj in made.cloths[0].meshes for each in obj.modifiers if each.type == "MESH_CACHE"]
    whole = [not obj.modifiers["cloth_cache"].vertex_group for obj in made.cloths[0].meshes]
    assert whole == written_whole(made.cloths[0])
    assert bpy.ops.scene.ossuary_cloth_bake(directory=str(tmp_path)) == {"FINISHED"}
    assert scene.frame_current == 5
    again = [[each.type for each in obj.modifiers] for obj in made.cloths[0].meshes]
    assert again == [["ARMATURE", "MESH_CACHE", "TRIANGULATE"]] * len(caches)
    play(scene, 7)
    assert same(shown(made.cloths[0]), frames[7])


def test_a_bake_tells_of_bones_that_it_leaves_out(scene_api, scene, player, corpus, tmp_path):
    import bpy

    from addon.scene.cloth.bake import bake

    model(scene_api, corpus(BIRD))
    scene.frame_end = 2
    found = bake(bpy.context, player, tmp_path)
    assert found.warnings == ["c4500_c Cloth: the 65 bones it drives are not cached"]
    assert len(found.files) == 8


def test_caches_give_way_to_play(scene_api, scene, player, tmp_path):
    import bpy

    from tests.sample import write_sample

    made = model(scene_api, write_sample(tmp_path)[0])
    scene.frame_end = 20
    assert bpy.ops.scene.ossuary_cloth_bake(directory=str(tmp_path)) == {"FINISHED"}
    play(scene, *range(1, 21))
    baked = shown(made.cloths[0])
    scene.ossuary_cloth.wind = (0, 20, 0)
    scene.ossuary_cloth.play = True
    play(scene, *range(1, 21))
    assert not same(shown(made.cloths[0]), baked)
    scene.ossuary_cloth.play = False
    play(scene, 20)
    assert same(shown(made.cloths[0]), baked)


def test_the_groups_of_caches_are_not_warned_of(scene_api, scene, player, corpus, tmp_path):
    import bpy

    made = model(scene_api, corpus(SKIRT))
    scene.frame_end = 2
    assert bpy.ops.scene.ossuary_cloth_bake(directory=str(tmp_path)) == {"FINISHED"}
    assert any("cloth_cache" in mesh.vertex_groups for mesh in made.cloths[0].meshes)
    assert not scene_api.export_flver(bpy.context, made.collection, tmp_path / "a.flver").warnings
