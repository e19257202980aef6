"""Cloth that plays in Blender, beside the same frames without it and Blender's own cloth on the same particles."""

from __future__ import annotations

import math
import time

import bpy
import numpy as np

import addon
from tests.conftest import CORPUS

FILES = (("sekiro/c7190.chrbnd.dcx", "Head"), ("eldenring/c4500.chrbnd.dcx", "Neck"))
FRAMES = 60


def run() -> None:
    """Print frames a second for each file: standing still and moving, with cloth and without."""
    for name, bone in FILES:
        path = CORPUS / name
        if path.exists():
            addon.register()
            try:
                measure(path, bone)
            finally:
                addon.unregister()
        else:
            print(f"{name}: not there")


def measure(path, bone) -> None:
    """Print the frame times of one file, one step a frame, without drawing."""
    from addon.scene import import_flver

    bpy.ops.wm.read_factory_settings(use_empty=True)
    scene = bpy.context.scene
    scene.render.fps = 60
    model = import_flver(bpy.context, [path]).models[0]
    clouds = model.cloths[0].points
    particles = sum(len(obj.data.points) for obj in clouds)
    print(f"{path.name}: {len(clouds)} cloths, {particles:,} particles")
    report("still, with cloth", frames(scene))
    turn(model.armature.pose.bones[bone])
    report("moving, with cloth", frames(scene))
    scene.ossuary_cloth.play = False
    report("moving, without", frames(scene))
    blender = [own_cloth(scene, *mesh) for mesh in simulated(model.cloths[0].collection)]
    bpy.data.objects.remove(model.armature)
    for obj in model.meshes:
        bpy.data.objects.remove(obj)
    report(f"Blender's cloth modifier on the same {len(blender)} meshes, nothing else in the scene", frames(scene))


def frames(scene) -> list[float]:
    """Return the seconds of each frame after the first."""
    seconds = []
    for number in range(1, FRAMES + 2):
        start = time.perf_counter()
        scene.frame_set(number)
        bpy.context.evaluated_depsgraph_get()
        seconds.append(time.perf_counter() - start)
    return seconds[1:]


def report(what: str, seconds: list[float]) -> None:
    """Print a line."""
    middle = float(np.median(seconds))
    print(f"  {what:<60} {middle * 1e3:6.1f} ms a frame, {1 / middle:5.0f} frames a second")


def turn(bone) -> None:
    """Key a turn to and fro."""
    bone.rotation_mode = "QUATERNION"
    for number, angle in ((1, 0.0), (FRAMES // 2, 0.5), (FRAMES + 1, -0.5)):
        bone.rotation_quaternion = (math.cos(angle / 2), math.sin(angle / 2), 0, 0)
        bone.keyframe_insert("rotation_quaternion", frame=number)


def simulated(collection):
    """Yield positions, triangles and pinned particles of each simulated cloth."""
    from addon.scene.cloth.edits import stored_cloth

    for data in stored_cloth(collection):
        for sim in data.sims:
            yield sim.poses[0][:, [0, 2, 1]], sim.triangles.astype(int), sim.fixed.astype(int)


def own_cloth(scene, positions, triangles, fixed):
    """Make a mesh that Blender's cloth modifier moves, at its default quality."""
    mesh = bpy.data.meshes.new("cloth")
    mesh.from_pydata(positions.tolist(), [], triangles.tolist())
    obj = bpy.data.objects.new("cloth", mesh)
    scene.collection.objects.link(obj)
    group = obj.vertex_groups.new(name="pinned")
    group.add(fixed.tolist(), 1.0, "REPLACE")
    modifier = obj.modifiers.new("Cloth", "CLOTH")
    modifier.settings.vertex_group_mass = group.name
    return obj
