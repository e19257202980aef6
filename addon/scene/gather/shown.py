"""What Blender shows of a mesh object, in bulk, in the games' axes and the model's space."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any

import bmesh
import bpy
import numpy as np

from ...codec.binary import Array
from ...codec.flver import Vertices
from ...maths import affine, axes
from ...model.edits import ShownMesh, StoredMesh, up
from ...model.influences import Influences
from .. import held
from ..cloth.keys import CACHE

AT_REST = 1e-6  # a map is the identity when no entry is off by more
UV_NAME = re.compile(r"UV(\d+)(\.zw)?")
COLOR_NAME = re.compile(r"Color(\d+)")


@dataclass
class ReadMesh:
    """A mesh object as it was read.

    Attributes:
        shown: what Blender shows.
        stored: what it was imported with.
        influences: by node.
        strangers: names of vertex groups with weights that are no bones.
        numbers: (n,) int32 number of each vertex in the mesh of the file, -1 for vertices without one.
        slots: numbers of the material slots that its faces use.
        imported: whether the mesh has what an import keeps.
    """

    shown: ShownMesh
    stored: StoredMesh
    influences: Influences
    strangers: list[str]
    numbers: Array
    slots: list[int]
    imported: bool


def read_mesh(obj: Any, mesh: Any, matrix: Array, by_bone: dict[str, int], bone_width: int) -> ReadMesh:
    """Read a mesh object.

    Args:
        obj: the object, which has the vertex groups.
        mesh: its mesh, or the evaluated one.
        matrix: (4, 4) from the mesh's space to the model's, in Blender's axes.
        by_bone: the node of each bone.
        bone_width: how many bones a vertex of its layout names.
    """
    mesh.calc_loop_triangles()
    loops = _values(mesh.loop_triangles, "loops", 3, np.int32)
    vertices = _values(mesh.loops, "vertex_index", 1, np.int32)
    positions = _values(mesh.vertices, "co", 3).reshape(-1, 3)
    normals = _values(mesh.corner_normals, "vector", 3).reshape(-1, 3)
    if not (matrix == np.eye(4)).all():
        positions = affine.transform_points(matrix, positions).astype(np.float32)
        normals = affine.normalized(normals @ affine.normal_matrices(matrix[None])[0].T).astype(np.float32)
        if np.linalg.det(matrix[:3, :3]) < 0:
            loops = loops.reshape(-1, 3)[:, ::-1].ravel()
    stored = held.read_vertices(mesh, bone_width)
    shown = ShownMesh(
        axes.swap_vectors(positions), vertices[loops], axes.swap_vectors(normals)[loops], _same_normals(mesh)[loops]
    )
    numbers = held.read(mesh, held.VERTEX)
    influences, strangers = _influences(obj, mesh, by_bone)
    result = ReadMesh(
        shown,
        _unknown(len(positions)) if stored is None else StoredMesh(stored, _placed(mesh, stored)),
        influences,
        strangers,
        np.full(len(positions), -1, np.int32) if numbers is None else numbers,
        np.unique(_values(mesh.polygons, "material_index", 1, np.int32)).tolist(),
        stored is not None,
    )
    _read_layers(mesh, result, loops)
    return _in_order(result)


def _values(data: Any, field: str, width: int, kind: Any = np.float32) -> Array:
    """Return a property of all items of a collection, flat."""
    values = np.empty(len(data) * width, kind)
    if len(data):
        data.foreach_get(field, values)
    return values


def _placed(mesh: Any, stored: Vertices) -> Array:
    placed = held.read(mesh, held.PLACED)
    return stored.positions if placed is None else placed


def _unknown(count: int) -> StoredMesh:
    nothing = np.full((count, 3), np.nan, np.float32)
    return StoredMesh(Vertices(nothing), nothing)


def _same_normals(mesh: Any) -> Array:
    """Return by corner whether Blender's own form of the shown normal is the one that the import made.

    A mesh that was imported without its normals shows Blender's: they are no edit, the stored ones stay.
    """
    before, now = (held.read(mesh, name, "CORNER") for name in (held.SHOWN_NORMAL, held.CUSTOM_NORMAL))
    if before is None or now is None:
        return np.full(len(mesh.loops), before is None and now is None)
    if before.shape != now.shape or before.dtype != now.dtype:
        return np.zeros(len(mesh.loops), bool)
    return (before == now).all(axis=1)


def _influences(obj: Any, mesh: Any, by_bone: dict[str, int]) -> tuple[Influences, list[str]]:
    """Return the weights of vertex groups that are bones, and the names of others that have some, but a bake's."""
    triples = [(vertex.index, each.group, each.weight) for vertex in mesh.vertices for each in vertex.groups]
    table: Array = np.array(triples, np.float64).reshape(-1, 3)
    groups: Array = np.array([by_bone.get(group.name, -1) for group in obj.vertex_groups], np.int64)
    numbers = table[:, 1].astype(np.int64)
    inside = numbers < len(groups)
    table, numbers = table[inside], numbers[inside]
    nodes, weights = groups[numbers], table[:, 2].astype(np.float32)
    strangers = np.unique(numbers[(nodes < 0) & (weights > 0)])
    names = [obj.vertex_groups[number].name for number in strangers.tolist()]
    names = [name for name in names if name != CACHE]
    return Influences.of(table[:, 0].astype(np.int64), nodes, weights, len(mesh.vertices)), names


def _read_layers(mesh: Any, result: ReadMesh, loops: Array) -> None:
    """Read UV maps and those colours that are by corner; of a mesh that was not imported, whatever it has, in order."""
    for number, layer in enumerate(mesh.uv_layers):
        match = UV_NAME.fullmatch(layer.name)
        if match is None and result.imported:
            continue
        key = (int(match[1]), 2 if match[2] else 0) if match else (number, 0)
        result.shown.uvs[key] = up(_values(layer.uv, "vector", 2).reshape(-1, 2)[loops])
    for number, attribute in enumerate(mesh.color_attributes):
        match = COLOR_NAME.fullmatch(attribute.name)
        if match is None and result.imported:
            continue
        values = _values(attribute.data, "color", 4).reshape(-1, 4)
        index = int(match[1]) if match else number
        if attribute.domain == "CORNER":
            result.shown.colors[index] = values[loops]
        else:
            result.stored.vertices.colors[index] = values


def _in_order(result: ReadMesh) -> ReadMesh:
    """Return the vertices in the order of the file where each of its vertices is there once."""
    numbers = result.numbers
    order = np.argsort(numbers, kind="stable")
    if (numbers == np.arange(len(numbers))).all() or not (numbers[order] == np.arange(len(numbers))).all():
        return result
    places = np.empty(len(order), np.int32)
    places[order] = np.arange(len(order))
    shown, influences = result.shown, result.influences
    shown.positions, shown.corners = shown.positions[order], places[shown.corners]
    result.influences = Influences.of(
        places[influences.vertices], influences.nodes, influences.weights, influences.count
    )
    result.stored, result.numbers = result.stored.take(order), numbers[order]
    return result


def model_matrix(obj: Any, armature: Any, from_world: Array) -> Array:
    """Return the (4, 4) map from an object's space to the model's, in Blender's axes; the identity, exactly, at rest.

    Args:
        obj: the object.
        armature: of the model, None where it has none.
        from_world: (4, 4) from the scene to the model.
    """
    if armature is not None and obj.parent == armature and obj.parent_type == "OBJECT":
        matrix: Array = np.array(obj.matrix_parent_inverse, np.float64) @ np.array(obj.matrix_basis, np.float64)
    else:
        matrix = from_world @ np.array(obj.matrix_world, np.float64)
    return np.eye(4) if np.abs(matrix - np.eye(4)).max() < AT_REST else matrix


@contextmanager
def evaluated(obj: Any, armature: Any, context: Any, *, modifiers: bool) -> Iterator[Any]:
    """Give an object's mesh as the options ask for it, without a change to the scene.

    Args:
        obj: a mesh object; what is being edited in its edit mode counts.
        armature: the modifier that poses by this object is left out.
        context: Blender's.
        modifiers: whether the object's other modifiers count.
    """
    editing = obj.mode == "EDIT"
    if editing:
        obj.update_from_editmode()
    chosen = [each for each in obj.modifiers if each.type == "ARMATURE" and each.object == armature]
    others = [each for each in obj.modifiers if each not in chosen and each.show_viewport]
    if not modifiers or not others:
        with _edited(obj.data) if editing else nullcontext(obj.data) as mesh:
            yield mesh
        return
    shown = [each.show_viewport for each in chosen]
    for each in chosen:
        each.show_viewport = False
    try:
        owner = obj.evaluated_get(context.evaluated_depsgraph_get())
        yield owner.to_mesh()
        owner.to_mesh_clear()
    finally:
        for each, value in zip(chosen, shown, strict=True):
            each.show_viewport = value


@contextmanager
def _edited(mesh: Any) -> Iterator[Any]:
    """Give a mesh that is in edit mode, whose attributes cannot be read there."""
    copy = bpy.data.meshes.new(mesh.name)
    try:
        bmesh.from_edit_mesh(mesh).to_mesh(copy)
        yield copy
    finally:
        bpy.data.meshes.remove(copy)
