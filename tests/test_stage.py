"""The camera sees what was imported, and the picture shows it."""

from __future__ import annotations

import numpy as np
import pytest


def seen_by_camera(scene, points: np.ndarray) -> np.ndarray:
    """Return (n, 3): x and y in the picture from 0 to 1, and the depth."""
    from bpy_extras.object_utils import world_to_camera_view
    from mathutils import Vector

    return np.array([world_to_camera_view(scene, scene.camera, Vector(point)) for point in points])


def add_box(bpy, scene, low, high) -> None:
    corners = np.array(np.meshgrid(*zip(low, high, strict=True))).reshape(3, -1).T
    mesh = bpy.data.meshes.new("box")
    loose = [(-99, 0, 0)]  # belongs to no face and so is not drawn
    mesh.from_pydata(corners.tolist() + loose, [], [(0, 1, 3, 2), (4, 5, 7, 6), (0, 1, 5, 4), (2, 3, 7, 6)])
    scene.collection.objects.link(bpy.data.objects.new("box", mesh))
    bpy.context.view_layer.update()


@pytest.mark.parametrize("size", [0.02, 2.0, 300.0])
@pytest.mark.parametrize("shape", [(1, 1, 1), (1, 9, 1), (0.1, 0.1, 5)])
def test_camera_sees_all_and_fills_the_picture(blender, scene, size, shape):
    from tests.stage import frame, world_points

    low, high = np.array([3, -5, 1]) * size, (np.array([3, -5, 1]) + shape) * size
    add_box(blender, scene, low, high)
    points = world_points(scene)
    np.testing.assert_allclose([points.min(0), points.max(0)], [low, high], rtol=1e-5)
    frame(scene, points)
    blender.context.view_layer.update()
    view = seen_by_camera(scene, points)
    assert (view[:, :2] > 0).all()
    assert (view[:, :2] < 1).all()
    assert (view[:, 2] > scene.camera.data.clip_start).all()
    assert (view[:, 2] < scene.camera.data.clip_end).all()
    assert np.ptp(view[:, :2], axis=0).max() > 0.85
    np.testing.assert_allclose(view[:, :2].min(0), 1 - view[:, :2].max(0), atol=1e-2)


def test_bones_are_framed_where_nothing_renders(blender, scene):
    from tests.stage import world_points

    blender.ops.object.armature_add(location=(0, 0, 4))
    np.testing.assert_allclose(world_points(scene), [(0, 0, 4), (0, 0, 5)], atol=1e-6)


def test_an_empty_scene_is_framed_too(scene):
    from tests.stage import frame, world_points

    frame(scene, world_points(scene))
    assert np.isfinite(scene.camera.location).all()


def test_render_shows_the_object(blender, scene, tmp_path):
    from tests.stage import frame, render, world_points

    add_box(blender, scene, (0, 0, 0), (1, 1, 1))
    frame(scene, world_points(scene))
    render(scene, tmp_path / "picture.png")
    image = blender.data.images.load(str(tmp_path / "picture.png"))
    width, height = image.size
    pixels = np.empty(width * height * 4, np.float32)
    image.pixels.foreach_get(pixels)
    pixels = pixels.reshape(height, width, 4)
    assert np.abs(pixels[height // 2, width // 2] - pixels[0, 0]).max() > 0.1
    assert (pixels[0] == pixels[0, 0]).all()
