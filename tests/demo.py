"""The demo: import files through the real operators, save the scene and render it, without a display.

Run by `dev.py demo`. The parts that know nothing of Ossuary (`frame`, `render`) serve tests and scripts as well.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import bpy
import numpy as np
from mathutils import Vector

import addon
from tests.sample import write_sample

# From the camera's right and above, looking at the model's front. Characters face -Y.
VIEW_FROM = (0.55, -1.0, 0.4)
SIZE = (1280, 960)
BACKGROUND = (0.8, 0.82, 0.85)

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
        timed(timings, f"import {path.name}", lambda path=path: bpy.ops.import_scene.ossuary_flver(filepath=str(path)))
        print(f"{path.name}: {describe(set(bpy.data.objects) - before)}")
    points = world_points(bpy.context.scene)
    frame(bpy.context.scene, points)
    # Saved with the camera in place, so that opening the file and rendering gives the same picture.
    blend, image = out / "demo.blend", out / "demo.png"
    timed(timings, "render", lambda: render(bpy.context.scene, image))
    timed(timings, "save", lambda: bpy.ops.wm.save_as_mainfile(filepath=str(blend), compress=True))
    for stage, seconds in timings:
        print(f"{seconds:9.3f} s  {stage}")
    print(f"{blend}: {blend.stat().st_size:,} bytes")
    print(f"{image}: {image.stat().st_size:,} bytes")


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


def world_points(scene: bpy.types.Scene) -> np.ndarray:
    """Return points, (n, 3) f32 in world space, that enclose what renders; else bones and empties; else the origin."""
    depsgraph = bpy.context.evaluated_depsgraph_get()
    seen = [each.evaluated_get(depsgraph) for each in scene.objects if not each.hide_render]
    solid = [each for each in seen if each.type in {"MESH", "POINTCLOUD", "CURVE"} and max(each.dimensions) > 0]
    points = [each.matrix_world @ Vector(corner) for each in solid for corner in each.bound_box]
    if not points:
        points = [each.matrix_world.translation for each in seen]
        for each in seen:
            if each.type == "ARMATURE":
                points += [each.matrix_world @ bone.tail_local for bone in each.data.bones]
    return np.array(points or [(0, 0, 0)], np.float32).reshape(-1, 3)


def frame(scene: bpy.types.Scene, points: np.ndarray) -> None:
    """Add a camera to ``scene`` that sees ``points``, (n, 3) f32 in world space, from the front, right and above."""
    data = bpy.data.cameras.new("Demo")
    camera = bpy.data.objects.new("Demo", data)
    scene.collection.objects.link(camera)
    scene.camera = camera
    scene.render.resolution_x, scene.render.resolution_y = SIZE
    camera.rotation_euler = Vector(VIEW_FROM).to_track_quat("Z", "Y").to_euler()
    bpy.context.view_layer.update()
    low, high = points.min(0), points.max(0)
    size = max(float(np.linalg.norm(high - low)), 0.1)
    center = (low + high) / 2
    around = np.concatenate([center + (points - center) * np.float32(1.08), [low - size * 0.01, high + size * 0.01]])
    flat = around.astype(np.float64).ravel().tolist()
    location, _scale = camera.camera_fit_coords(bpy.context.evaluated_depsgraph_get(), flat)
    camera.location = location
    data.clip_start, data.clip_end = size / 1000, (Vector(location) - Vector(center)).length + size


def render(scene: bpy.types.Scene, path: Path) -> None:
    """Render ``scene`` to a PNG in Solid view with studio light, which needs no display."""
    scene.render.engine = "BLENDER_WORKBENCH"
    shading = scene.display.shading
    shading.light, shading.color_type = "STUDIO", "MATERIAL"
    shading.show_cavity = shading.show_shadows = True
    scene.view_settings.view_transform = "Standard"
    scene.render.dither_intensity = 0
    scene.world = scene.world or bpy.data.worlds.new("Demo")
    scene.world.color = BACKGROUND
    scene.render.image_settings.file_format = "PNG"
    scene.render.filepath = str(path)
    bpy.ops.render.render(write_still=True)


if __name__ == "__main__":
    main()
