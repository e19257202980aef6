"""Imports for tests, and what Blender then shows."""

from __future__ import annotations

import numpy as np


def load(scene_api, path, **settings):
    """Import one file that must succeed; return its one model."""
    import bpy

    result = scene_api.import_flver(bpy.context, [path], scene_api.FlverSettings(**settings))
    assert not result.failures
    assert len(result.models) == 1
    bpy.context.view_layer.update()
    return result.models[0]


def coordinates(mesh):
    found = np.empty(len(mesh.vertices) * 3, np.float32)
    mesh.attributes["position"].data.foreach_get("vector", found)
    return found.reshape(-1, 3)


def attribute(mesh, name, field, width):
    data = mesh.attributes[name].data
    found = np.empty(len(data) * width, np.int32 if field == "value" and width == 1 else np.float32)
    data.foreach_get(field, found)
    return found.reshape(-1, width)


def weights(obj):
    names = [group.name for group in obj.vertex_groups]
    return [
        {names[each.group]: round(each.weight * 255) for each in vertex.groups if each.weight > 0}
        for vertex in obj.data.vertices
    ]
