"""The demo: import files through the real operators, save the scene and render it, without a display.

Run by `dev.py demo`.
"""

from __future__ import annotations

import argparse
import math
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import bpy
from mathutils import Quaternion, Vector

import addon
from addon.codec.source import Kind, open_source
from addon.operators.cloth_playback import UsesPlayer
from addon.scene.cloth.keys import ARMATURE, cloths
from tests.sample import write_sample
from tests.stage import frame, render, world_points

PLAYED = 60  # frames
TURNED = ("Head", "Neck", "Arm")  # the bone that turns: the first of these that an armature has

Timings = list[tuple[str, float]]


def main() -> None:
    """Run the demo on the files of the command line."""
    parser = argparse.ArgumentParser()
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    addon.register()
    try:
        demo(args.files, args.out)
    finally:
        # Blender 4.5 as a module hangs at exit with classes registered.
        addon.unregister()


def demo(files: list[Path], out: Path) -> None:
    """Import ``files``, or the sample, write demo.blend and demo.png to ``out`` and print what came of it."""
    timings: Timings = []
    if not files:
        files = timed(timings, "make the sample", lambda: write_sample(out))
    timed(timings, "start Blender", lambda: bpy.ops.wm.read_factory_settings(use_empty=True))
    for path in files:
        before = set(bpy.data.objects)
        timed(timings, f"import {path.name}", lambda path=path: import_file(path))
        print(f"{path.name}: {describe(set(bpy.data.objects) - before)}", flush=True)
    if cloths(bpy.context.scene):
        timed(timings, f"play {PLAYED} frames", play)
    frame(bpy.context.scene, world_points(bpy.context.scene))
    # Saved with the camera in place, so that opening the file and rendering gives the same picture.
    blend, image = out / "demo.blend", out / "demo.png"
    timed(timings, "render", lambda: render(bpy.context.scene, image))
    timed(timings, "save", lambda: bpy.ops.wm.save_as_mainfile(filepath=str(blend), compress=True))
    for stage, seconds in timings:
        print(f"{seconds:9.3f} s  {stage}")
    print(f"{blend}: {blend.stat().st_size:,} bytes")
    print(f"{image}: {image.stat().st_size:,} bytes")


def import_file(path: Path) -> None:
    """Import a file by its own operator: models with what comes with them, of other files all that they hold."""
    if open_source(path).of_kind(Kind.FLVER):
        bpy.ops.import_scene.ossuary_flver(filepath=str(path))
    else:
        bpy.ops.import_scene.ossuary_drop(directory=str(path.parent), files=[{"name": path.name}])


def play() -> None:
    """Play the cloth of the scene while heads turn, and stay at the last frame."""
    scene = bpy.context.scene
    scene.render.fps, scene.frame_start, scene.frame_end = 60, 1, PLAYED
    for collection in cloths(scene):
        turn(collection[ARMATURE])
    began = time.perf_counter()
    for number in range(1, PLAYED + 1):
        scene.frame_set(number)
    print(f"{PLAYED} frames at {PLAYED / (time.perf_counter() - began):.0f} frames a second", flush=True)
    for collection in cloths(scene):
        problem = UsesPlayer.player_now().problem(collection)
        print(f"{collection.name}: {problem or 'plays'}", flush=True)


def turn(armature: bpy.types.Object) -> None:
    """Key a turn of the first bone of `TURNED` that an armature has: to one side and half way back."""
    bone = next((armature.pose.bones[name] for name in TURNED if name in armature.pose.bones), None)
    if bone is not None:
        up = bone.bone.matrix_local.to_3x3().inverted() @ Vector((0, 0, 1))
        bone.rotation_mode = "QUATERNION"
        for number, degrees in ((1, 0), (PLAYED // 2, 40), (PLAYED, -20)):
            bone.rotation_quaternion = Quaternion(up, math.radians(degrees))
            bone.keyframe_insert("rotation_quaternion", frame=number)


def timed(timings: Timings, stage: str, action: Callable[[], Any]) -> Any:
    """Return what ``action`` returns, and note its seconds under ``stage``."""
    start = time.perf_counter()
    result = action()
    timings.append((stage, time.perf_counter() - start))
    return result


def describe(objects: set[bpy.types.Object]) -> str:
    """Say what objects are: how many of a type, with vertices, faces, bones and points."""
    kinds = Counter(each.type.lower().replace("_", " ") for each in objects)
    data = {each.data for each in objects if each.data}
    parts = Counter()
    for name in ("vertices", "polygons", "bones", "points"):
        parts[name] = sum(len(getattr(each, name, ())) for each in data)
    counts = [*kinds.most_common(), *parts.items()]
    return ", ".join(f"{count:,} {name}" for name, count in counts if count) or "nothing"


if __name__ == "__main__":
    main()
