"""A camera and a picture for whatever a scene holds, without a display."""

from __future__ import annotations

from pathlib import Path

import bpy
import numpy as np
from mathutils import Vector

# From the camera's right and above, looking at the model's front. Characters face -Y.
VIEW_FROM = (0.55, -1.0, 0.4)
SIZE = (1280, 960)
FILLED = 0.92  # of the picture, by what it shows
BACKGROUND = (0.8, 0.82, 0.85)


def world_points(scene: bpy.types.Scene) -> np.ndarray:
    """Return the points, (n, 3) f32 in world space, of what renders; else of bones and empties; else the origin."""
    depsgraph = bpy.context.evaluated_depsgraph_get()
    seen = [each.evaluated_get(depsgraph) for each in scene.objects if not each.hide_render]
    parts = [placed(each, drawn_points(each.data)) for each in seen if each.type in {"MESH", "POINTCLOUD"}]
    parts = [points for points in parts if len(points)]
    if not parts:
        parts = [placed(each, np.zeros((1, 3), np.float32)) for each in seen]
        bones = [(each, [bone.tail_local for bone in each.data.bones]) for each in seen if each.type == "ARMATURE"]
        parts += [placed(each, np.array(tails, np.float32)) for each, tails in bones if tails]
    return np.concatenate(parts) if parts else np.zeros((1, 3), np.float32)


def drawn_points(data: bpy.types.Mesh | bpy.types.PointCloud) -> np.ndarray:
    """Return the points of a cloud or of a mesh's faces, (n, 3) f32 in the object's space."""
    is_mesh = isinstance(data, bpy.types.Mesh)
    points = data.vertices if is_mesh else data.points
    found = np.empty(len(points) * 3, np.float32)
    points.foreach_get("co", found)
    if not is_mesh:
        return found.reshape(-1, 3)
    corners = np.empty(len(data.loops), np.int32)
    data.loops.foreach_get("vertex_index", corners)
    return found.reshape(-1, 3)[corners]


def placed(each: bpy.types.Object, points: np.ndarray) -> np.ndarray:
    """Return points of an object's space, (n, 3), in world space."""
    matrix = np.array(each.matrix_world, np.float32)
    return points @ matrix[:3, :3].T + matrix[:3, 3]


def frame(scene: bpy.types.Scene, points: np.ndarray) -> None:
    """Add an orthographic camera that sees ``points``, (n, 3) f32 in world space, from the front, right and above."""
    data = bpy.data.cameras.new("Demo")
    camera = bpy.data.objects.new("Demo", data)
    scene.collection.objects.link(camera)
    scene.camera = camera
    scene.render.resolution_x, scene.render.resolution_y = SIZE
    turn = Vector(VIEW_FROM).to_track_quat("Z", "Y")
    local = points @ np.array(turn.to_matrix(), np.float32)  # x right, y up, z towards the camera
    low, high = local.min(0), local.max(0)
    width, height, depth = np.maximum(high - low, 0.01).tolist()
    camera.rotation_euler = turn.to_euler()
    camera.location = turn @ Vector((*(low + high)[:2] / 2, high[2] + depth))
    data.type = "ORTHO"
    data.ortho_scale = max(width, height * SIZE[0] / SIZE[1]) / FILLED
    data.clip_start, data.clip_end = depth / 2, depth * 3


def render(scene: bpy.types.Scene, path: Path) -> None:
    """Render ``scene`` to a PNG in Solid view with studio light, which needs no display; with textures if it has any.

    Alpha cuts nothing out here: an engine that does takes minutes without a graphics card.
    """
    scene.render.engine = "BLENDER_WORKBENCH"
    shading = scene.display.shading
    shading.light, shading.color_type = "STUDIO", "TEXTURE" if bpy.data.images else "MATERIAL"
    shading.show_cavity = shading.show_shadows = True
    scene.view_settings.view_transform = "Standard"
    scene.render.dither_intensity = 0
    scene.world = scene.world or bpy.data.worlds.new("Demo")
    scene.world.color = BACKGROUND
    scene.render.image_settings.file_format = "PNG"
    scene.render.filepath = str(path)
    bpy.ops.render.render(write_still=True)
