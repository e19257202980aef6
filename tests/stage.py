"""A camera and a picture for whatever a scene holds, without a display."""

from __future__ import annotations

from pathlib import Path

import bpy
import numpy as np
from mathutils import Vector

# From the camera's right and above, looking at the model's front. Characters face -Y.
VIEW_FROM = (0.55, -1.0, 0.4)
SIZE = (1280, 960)
BACKGROUND = (0.8, 0.82, 0.85)


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
