"""FLVER meshes -> mesh objects: one object a mesh, vertex order kept."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import bpy
import numpy as np

from ..codec.binary import Array
from ..codec.flver import Vertices
from ..maths import axes
from ..model import Level, PlacedMesh, PlacedModel
from . import geometry, held
from .armature import BuiltArmature
from .keys import PREFIX
from .properties import property_value, set_properties
from .texts import shown_name


class MeshBuilder:
    """Builds the objects of a model's meshes."""

    def __init__(
        self,
        model: PlacedModel,
        name: str,
        armature: BuiltArmature | None,
        materials: list[Any],
        *,
        custom_normals: bool,
    ) -> None:
        self.model = model
        self.name = name
        self.armature = armature
        self.materials = materials
        self.custom_normals = custom_normals

    def build(self, index: int, lod: int, collection: Any) -> Any:
        """Make the object of a mesh with all its vertices and one level of detail, and link it to a collection."""
        placed = self.model.meshes[index]
        level = placed.levels.get(lod, _EMPTY)
        numbers = np.arange(len(placed.positions), dtype=np.int32)
        obj = self._object(self._title(index), placed, level, numbers, collection)
        set_properties(obj.data, _properties(placed, index, lod, level))
        return obj

    def build_lod(self, index: int, lod: int, collection: Any) -> Any:
        """Make the object of a further level of detail; it holds the vertices that the level uses.

        The attribute `held.VERTEX` of the object says which vertex of the mesh each of them is.
        """
        placed, level = self.model.meshes[index], self.model.meshes[index].levels[lod]
        used, triangles = np.unique(level.triangles, return_inverse=True)
        part = _part(placed, used)
        level = replace(level, triangles=triangles.reshape(-1, 3).astype(np.int32))
        obj = self._object(f"{self._title(index)} LOD{lod}", part, level, used.astype(np.int32), collection)
        set_properties(obj.data, {PREFIX + "mesh": index, PREFIX + "lod": lod} | _level_properties(level))
        return obj

    def _title(self, index: int) -> str:
        material = self.model.meshes[index].mesh.material
        known = 0 <= material < len(self.model.flver.materials)
        return f"{self.name} {index:02} {self.model.flver.materials[material].name if known else ''}".rstrip()

    def _object(self, title: str, placed: PlacedMesh, level: Level, numbers: Array, collection: Any) -> Any:
        mesh = bpy.data.meshes.new(shown_name(title))
        geometry.fill(mesh, axes.swap_vectors(placed.positions), level.triangles)
        _uv_maps(mesh, placed, level.triangles.ravel())
        _vertex_attributes(mesh, placed)
        held.keep_vertices(mesh, placed.vertices, numbers, None if placed.mesh.dynamic else placed.positions)
        material = placed.mesh.material
        if 0 <= material < len(self.materials):
            mesh.materials.append(self.materials[material])
            self.materials[material].use_backface_culling = level.cull_back
        geometry.connect(mesh)
        if placed.normals is not None and self.custom_normals and len(level.triangles):
            mesh.normals_split_custom_set_from_vertices(axes.swap_vectors(placed.normals))
            held.keep_shown_normals(mesh)
        obj = bpy.data.objects.new(shown_name(title), mesh)
        mesh[PREFIX + "object"] = obj.name
        collection.objects.link(obj)
        if self.armature is not None:
            obj.parent = self.armature.object
            modifier = obj.modifiers.new("Armature", "ARMATURE")
            modifier.object = self.armature.object
            _vertex_groups(obj, placed, self.armature.bone_names)
        return obj


_EMPTY = Level(np.zeros((0, 3), np.int32), cull_back=False)


def _part(placed: PlacedMesh, used: Array) -> PlacedMesh:
    """Return a mesh with some of its vertices only."""
    return replace(
        placed,
        vertices=placed.vertices.take(used),
        positions=placed.positions[used],
        normals=None if placed.normals is None else placed.normals[used],
        nodes=placed.nodes[used],
        weights=placed.weights[used],
    )


def uv_maps(vertices: Vertices) -> list[tuple[str, Array]]:
    """Return the UV maps that vertices have, by name, each (n, 2) as stored, in the order of the games' UV sets."""
    return [
        (f"UV{index}{suffix}", pairs[:, first : first + 2])
        for index, pairs in sorted(vertices.uvs.items())
        for first, suffix in ((0, ""), (2, ".zw"))[: pairs.shape[1] // 2]
    ]


def _uv_maps(mesh: Any, placed: PlacedMesh, corners: Array) -> None:
    """Store the UV layers by corner; the second pair of a member that holds two is a map of its own."""
    for name, pairs in uv_maps(placed.vertices):
        layer = mesh.uv_layers.new(name=name, do_init=False)
        if layer is not None and len(corners):
            uv = pairs[corners]
            uv[:, 1] = np.float32(1.0) - uv[:, 1]
            layer.uv.foreach_set("vector", uv.ravel())


def _vertex_attributes(mesh: Any, placed: PlacedMesh) -> None:
    """Store by vertex what the file holds exactly: colours, normals, tangents and the rest."""
    vertices = placed.vertices
    for title, kind, parts in (
        (held.COLOR, "FLOAT_COLOR", vertices.colors),
        (held.FACTORS, "FLOAT_COLOR", vertices.factors),
        (held.TANGENT, "QUATERNION", vertices.tangents),
        (held.BITANGENT, "QUATERNION", vertices.bitangents),
        (held.SECOND, "FLOAT_VECTOR", vertices.second),
    ):
        for key, value in parts.items():
            held.add(mesh, f"{title}{key}", kind, value)
    if vertices.normals is not None:
        held.add(mesh, held.NORMAL, "FLOAT_VECTOR", vertices.normals)
    if vertices.normal_nodes is not None:
        held.add(mesh, held.NORMAL_NODE, "INT", vertices.normal_nodes)


def _vertex_groups(obj: Any, placed: PlacedMesh, bone_names: list[str]) -> None:
    """Give an object the stored weights, a group for each bone that has any.

    Vertices of one bone and one weight go in with one call; a bone that a vertex names twice gets the sum.
    """
    vertex, slot = np.nonzero((placed.nodes >= 0) & (placed.weights != 0))
    nodes, weights = placed.nodes[vertex, slot], placed.weights[vertex, slot]
    order = np.lexsort((weights, nodes))
    vertex, nodes, weights = vertex[order], nodes[order], weights[order]
    if not len(order):
        return
    starts = np.flatnonzero(np.r_[True, (np.diff(nodes) != 0) | (np.diff(weights) != 0)])
    groups = {node: obj.vertex_groups.new(name=bone_names[node]) for node in np.unique(nodes).tolist()}
    vertices, ends = vertex.tolist(), [*starts[1:].tolist(), len(vertex)]
    for start, end, node, weight in zip(
        starts.tolist(), ends, nodes[starts].tolist(), weights[starts].tolist(), strict=True
    ):
        groups[node].add(vertices[start:end], weight, "ADD")


def _properties(placed: PlacedMesh, index: int, lod: int, level: Level) -> dict[str, Any]:
    """Return what a mesh's record says and Blender does not show."""
    mesh = placed.mesh
    values: dict[str, Any] = {
        PREFIX + "mesh": index,
        PREFIX + "lod": lod,
        PREFIX + "dynamic": mesh.dynamic,
        PREFIX + "material": mesh.material,
        PREFIX + "node": mesh.node,
        PREFIX + "palette": mesh.palette.tolist(),
        PREFIX + "vertex_count": len(placed.positions),
        PREFIX + "layouts": [buffer.layout for buffer in mesh.buffers],
        PREFIX + "slots": [buffer.slot for buffer in mesh.buffers],
        PREFIX + "face_sets": [
            {
                "flags": property_value(np.uint32(face_set.flags)), "lod": face_set.lod,
                "motion_blur": face_set.motion_blur, "strip": face_set.strip, "cull_back": face_set.cull_back,
                "unk06": face_set.unk06, "index_size": face_set.index_size, "indices": len(face_set.indices),
            }
            for face_set in mesh.face_sets
        ],
    }  # fmt: skip
    values |= _level_properties(level)
    if mesh.bounds is not None:
        values[PREFIX + "bounds"] = {field: mesh.bounds[field].tolist() for field in mesh.bounds.dtype.names or ()}
    return values


def _level_properties(level: Level) -> dict[str, Any]:
    """Return what a level of detail has and its polygons do not show: triangles that repeat a vertex."""
    return {
        PREFIX + "skipped_triangles": level.skipped,
        PREFIX + "skipped_corners": level.skipped_corners.ravel(),
        PREFIX + "triangles": len(level.triangles),
    }
