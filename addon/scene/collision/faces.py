"""Faces of collision meshes: what the active one is, and which are like it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import bpy
import numpy as np

from ...codec.binary import Array
from ...codec.havok.collision import NO_MATERIAL
from ...collision import SurfaceKind
from .colors import KIND_TITLES, read
from .keys import PREFIX, SET

LIKE = {"MATERIAL": "material", "SECTION": "section", "INTERIOR": "interior", "KIND": "kind", "DATA": "table entry"}


@dataclass(frozen=True)
class Face:
    """What the file says of a face.

    Attributes:
        key: shape key.
        section, primitive, half: its parts; -1 where the shape has none.
        material: hit material id, None without one.
        data, row: material table entry and source row, -1 without one.
        interior: whether the game marks it as interior.
        kind: what it comes from.
    """

    key: int
    section: int
    primitive: int
    half: int
    material: int | None
    data: int
    row: int
    interior: bool
    kind: str


def active_face(obj: Any) -> Face | None:
    """Return what the active face of a collision body is, None without one; in object and edit mode."""
    if obj is None or obj.type != "MESH" or SET not in obj:
        return None
    names = ("key", "section", "primitive", "half", "material", "data", "row", "kind", "interior")
    values = _edited(obj.data, names) if obj.mode == "EDIT" else _stored(obj.data, names)
    if values is None:
        return None
    material = values["material"] & NO_MATERIAL
    return Face(
        values["key"] & NO_MATERIAL, values["section"], values["primitive"], values["half"],
        None if material == NO_MATERIAL else material, values["data"], values["row"], bool(values["interior"]),
        KIND_TITLES[SurfaceKind(values["kind"])],
    )  # fmt: skip


def _stored(mesh: Any, names: tuple[str, ...]) -> dict[str, int] | None:
    index = mesh.polygons.active
    found = [mesh.attributes.get(PREFIX + name) for name in names]
    if not 0 <= index < len(mesh.polygons) or None in found:
        return None
    return {name: int(attribute.data[index].value) for name, attribute in zip(names, found, strict=True)}


def _edited(mesh: Any, names: tuple[str, ...]) -> dict[str, int] | None:
    import bmesh  # noqa: PLC0415

    edit = bmesh.from_edit_mesh(mesh)
    face, layers = edit.faces.active, edit.faces.layers
    found = [layers.bool.get(PREFIX + name) or layers.int.get(PREFIX + name) for name in names]
    if face is None or None in found:
        return None
    return {name: int(face[layer]) for name, layer in zip(names, found, strict=True)}


def select_like(context: Any, obj: Any, what: str) -> int:
    """Select, in edit mode, all faces of the body that are like its active one; return how many.

    Args:
        context: Blender's.
        obj: a body that is the active object.
        what: one of `LIKE`.
    """
    if obj.mode == "EDIT":
        bpy.ops.object.mode_set(mode="OBJECT")
    values = read(obj.data, what.lower())
    like = values == values[obj.data.polygons.active]
    _select(obj.data, like)
    context.tool_settings.mesh_select_mode = (False, False, True)
    bpy.ops.object.mode_set(mode="EDIT")
    return int(like.sum())


def _select(mesh: Any, faces: Array) -> None:
    """Select faces, (m,) bool, with their edges and vertices, and nothing else."""
    sizes = np.empty(len(mesh.polygons), np.int32)
    mesh.polygons.foreach_get("loop_total", sizes)  # edits leave more than triangles
    corners = np.repeat(faces, sizes)
    for field, parts in (("vertex_index", mesh.vertices), ("edge_index", mesh.edges)):
        numbers = np.empty(len(mesh.loops), np.int32)
        mesh.loops.foreach_get(field, numbers)
        chosen = np.zeros(len(parts), bool)
        chosen[numbers[corners]] = True
        parts.foreach_set("select", chosen)
    mesh.polygons.foreach_set("select", faces)
