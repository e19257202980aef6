"""Playing cloth in tests, and what Blender then shows."""

from __future__ import annotations

import math

import numpy as np

from tests.scene.shown import coordinates


def evaluated(obj):
    import bpy

    return coordinates(obj.evaluated_get(bpy.context.evaluated_depsgraph_get()).data)


def play(scene, *frames):
    for frame in frames:
        scene.frame_set(frame)


def shown(made):
    return [evaluated(obj) for obj in made.meshes]


def same(first, second):
    return all(np.array_equal(a, b) for a, b in zip(first, second, strict=True))


def session(player):
    (found,) = player.sessions.values()
    return found


def turn(armature, name, *keys):
    """Key turns of a bone: frame and radians."""
    bone = armature.pose.bones[name]
    bone.rotation_mode = "QUATERNION"
    for frame, angle in keys:
        bone.rotation_quaternion = (math.cos(angle / 2), math.sin(angle / 2), 0, 0)
        bone.keyframe_insert("rotation_quaternion", frame=frame)


def state_of(objects):
    """Return what playing must give back."""
    return [
        (
            obj.name,
            [(each.name, each.type, each.show_viewport, each.show_render) for each in obj.modifiers],
            sorted(obj.keys()),
            sorted(obj.data.attributes.keys()),
            coordinates(obj.data).tobytes(),
        )
        for obj in objects
    ]


def pose_of(armature):
    return [
        (bone.name, *map(tuple, (bone.location, bone.rotation_quaternion, bone.rotation_euler, bone.scale)))
        for bone in armature.pose.bones
    ]


def written_whole(made):
    """Return which meshes of a cloth are written whole."""
    from addon.cloth import build_setup
    from addon.scene.cloth.edits import stored_cloth

    return [bool(each.written.all()) for each in build_setup(stored_cloth(made.collection)).displays]
