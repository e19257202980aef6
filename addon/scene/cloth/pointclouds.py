"""Point clouds with attributes, on every Blender: those before 5.1 have no way to make one of a size."""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np

from ...codec import FormatError
from ...codec.binary import Array

FIELDS = {"FLOAT": "value", "BOOLEAN": "value", "INT": "value", "FLOAT_VECTOR": "vector"}
DTYPES = {"FLOAT": np.float32, "BOOLEAN": np.bool_, "INT": np.int32, "FLOAT_VECTOR": np.float32}


def new_points(name: str, positions: Array, context: Any) -> Any:
    """Return a new point cloud object that no collection holds yet.

    Args:
        name: of the object.
        positions: (n, 3) f4 in Blender's axes.
        context: Blender's.
    """
    cloud = bpy.data.pointclouds.new(name)
    if hasattr(cloud, "resize"):
        cloud.resize(len(positions))
        obj = bpy.data.objects.new(name, cloud)
    else:
        bpy.data.pointclouds.remove(cloud)
        obj = _converted(name, len(positions), context)
    write(obj.data, "position", "FLOAT_VECTOR", positions)
    return obj


def write(data: Any, name: str, kind: str, values: Array, domain: str = "POINT") -> None:
    """Write an attribute of points or edges, which is made where it is missing or of another kind."""
    attribute = data.attributes.get(name)
    if attribute is not None and (attribute.data_type, attribute.domain) != (kind, domain):
        data.attributes.remove(attribute)
        attribute = None
    attribute = attribute or data.attributes.new(name, kind, domain)
    if len(values):
        attribute.data.foreach_set(FIELDS[kind], np.ascontiguousarray(values).ravel())


def read(data: Any, name: str, kind: str, domain: str = "POINT") -> Array | None:
    """Return an attribute of points or edges, (n,) or of vectors (n, 3); None where there is none of that kind."""
    attribute = data.attributes.get(name)
    if attribute is None or (attribute.data_type, attribute.domain) != (kind, domain):
        return None
    values = np.empty(len(attribute.data) * (3 if kind == "FLOAT_VECTOR" else 1), DTYPES[kind])
    if len(values):
        attribute.data.foreach_get(FIELDS[kind], values)
    return values.reshape(-1, 3) if kind == "FLOAT_VECTOR" else values


def read_own(data: Any, name: str, kind: str, domain: str = "POINT") -> Array | None:
    """Return an attribute that users set, as `read` does; None where it was removed.

    Raises:
        FormatError: it was converted, so that it says nothing.
    """
    if name in data.attributes and read(data, name, kind, domain) is None:
        raise FormatError(
            f"has an attribute {name} of another type or domain than {kind} and {domain}: convert it back"
        )
    return read(data, name, kind, domain)


def _converted(name: str, count: int, context: Any) -> Any:
    """Make the point cloud from a mesh, in a scene that holds nothing else: the operator evaluates all of its scene."""
    mesh = bpy.data.meshes.new(name)
    mesh.vertices.add(count)
    obj = bpy.data.objects.new(name, mesh)
    scene = bpy.data.scenes.new(name)
    scene.collection.objects.link(obj)
    chosen = [obj]
    with context.temp_override(
        scene=scene, view_layer=scene.view_layers[0], active_object=obj, object=obj,
        selected_objects=chosen, selected_editable_objects=chosen,
    ):  # fmt: skip
        bpy.ops.object.convert(target="POINTCLOUD")
    scene.collection.objects.unlink(obj)
    bpy.data.scenes.remove(scene)
    bpy.data.meshes.remove(mesh)
    for left in [each.name for each in obj.data.attributes if each.name in {".select_vert", ".selection"}]:
        obj.data.attributes.remove(obj.data.attributes[left])
    return obj
