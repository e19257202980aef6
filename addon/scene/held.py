"""What Blender held of a mesh when it was built: attributes of our own, exact, beside what is shown.

Blender rounds or moves some of what it shows (normals, positions of static vertices, UVs with V turned up). The stored
values are kept by vertex, so that they follow the vertices through edits; an export takes them where what is shown is
still what was made of them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..codec.binary import Array
from ..codec.flver import Vertices
from .keys import PREFIX

POSITION = PREFIX + "position"
PLACED = PREFIX + "placed"  # of static meshes: where the vertex was shown, in the games' axes
NORMAL = PREFIX + "normal"
NORMAL_NODE = PREFIX + "normal_node"
SHOWN_NORMAL = PREFIX + "shown_normal"  # by corner: Blender's own form of the normal that is shown
TANGENT = PREFIX + "tangent"
BITANGENT = PREFIX + "bitangent"
SECOND = PREFIX + "second_"
BONES = PREFIX + "bones"
WEIGHTS = PREFIX + "weights"
UV = PREFIX + "uv"
COLOR = "Color"
FACTORS = "Factors"
VERTEX = PREFIX + "vertex"  # the vertex's number in the mesh of the file

CUSTOM_NORMAL = "custom_normal"  # Blender's name
_FIELDS = {"FLOAT_COLOR": ("color", 4), "QUATERNION": ("value", 4), "FLOAT_VECTOR": ("vector", 3),
           "FLOAT2": ("vector", 2), "INT": ("value", 1), "INT16_2D": ("value", 2)}  # fmt: skip
_INTEGERS = {"INT": np.int32, "INT16_2D": np.int16}


def keep_vertices(mesh: Any, vertices: Vertices, numbers: Array, placed: Array | None) -> None:
    """Keep the stored values of a mesh's vertices that Blender shows otherwise or not at all.

    Args:
        mesh: Blender's, with all its vertices.
        vertices: as stored.
        numbers: (n,) int32, their numbers in the mesh of the file.
        placed: (n, 3) where static vertices are shown, in the games' axes; None where that is where they are stored.
    """
    add(mesh, VERTEX, "INT", numbers)
    add(mesh, POSITION, "FLOAT_VECTOR", vertices.positions)
    if placed is not None:
        add(mesh, PLACED, "FLOAT_VECTOR", placed)
    for title, value in ((BONES, vertices.bones), (WEIGHTS, vertices.weights)):
        if value is not None:
            add(mesh, title, "QUATERNION", _widened(value, 4))
    for index, pairs in vertices.uvs.items():
        add(mesh, f"{UV}{index}", *(("QUATERNION", pairs) if pairs.shape[1] == 4 else ("FLOAT2", pairs)))


def keep_shown_normals(mesh: Any) -> None:
    """Keep the custom normals that Blender has made of those it was given."""
    shown = read(mesh, CUSTOM_NORMAL, "CORNER")
    if shown is not None and shown.dtype == np.int16:
        add(mesh, SHOWN_NORMAL, "INT16_2D", shown, "CORNER")


def add(mesh: Any, name: str, kind: str, values: Array, domain: str = "POINT") -> None:
    """Add an attribute and fill it; ``kind`` is Blender's type of it."""
    attribute = mesh.attributes.new(name, kind, domain)
    if len(values):
        attribute.data.foreach_set(
            _FIELDS[kind][0], np.ascontiguousarray(values, _INTEGERS.get(kind, np.float32)).ravel()
        )


def read(mesh: Any, name: str, domain: str = "POINT") -> Array | None:
    """Return an attribute's values, (n, width) float32, int32 or int16, (n,) where they are single; None without it."""
    attribute = mesh.attributes.get(name)
    if attribute is None or attribute.domain != domain or attribute.data_type not in _FIELDS:
        return None
    field, width = _FIELDS[attribute.data_type]
    values = np.empty(len(attribute.data) * width, _INTEGERS.get(attribute.data_type, np.float32))
    if len(values):
        attribute.data.foreach_get(field, values)
    return values.reshape(-1, width) if width > 1 else values


def read_vertices(mesh: Any, bone_width: int) -> Vertices | None:
    """Return the stored values of a mesh's vertices as they were imported; None for a mesh that was not imported.

    Args:
        mesh: Blender's.
        bone_width: how many bones a vertex of the layout names.
    """
    positions = read(mesh, POSITION)
    if positions is None:
        return None
    bones = read(mesh, BONES)
    result = Vertices(
        positions,
        read(mesh, NORMAL),
        read(mesh, NORMAL_NODE),
        None if bones is None else bones[:, :bone_width].astype(np.int32),
        read(mesh, WEIGHTS),
    )
    places: tuple[tuple[str, dict[Any, Array]], ...] = (
        (TANGENT, result.tangents), (BITANGENT, result.bitangents), (COLOR, result.colors), (FACTORS, result.factors),
        (UV, result.uvs), (SECOND, result.second),
    )  # fmt: skip
    for title, parts in places:
        for attribute in mesh.attributes.keys():  # noqa: SIM118 - Blender's collection yields values
            key = attribute.removeprefix(title)
            if key != attribute and (value := read(mesh, attribute)) is not None:
                if title == SECOND:
                    parts[key] = value
                elif key.isdigit():
                    parts[int(key)] = value
    return result


def _widened(values: Array, width: int) -> Array:
    result = np.zeros((len(values), width), np.float32)
    result[:, : values.shape[1]] = values
    return result
