"""A model made ready to be shown: everything decoded, checked and placed, nothing of Blender yet."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ..codec.binary import Array
from ..codec.flver import Flver, Mesh, Vertices, is_degenerate
from .checks import findings
from .placement import DummyFrames, dummy_frames, node_matrices, place_mesh, vertex_bones

UV_MAPS = 8  # as many as Blender's meshes hold


@dataclass
class Level:
    """The triangles of one level of detail.

    Attributes:
        triangles: (m, 3) int32, none of which repeats a vertex.
        cull_back: whether back faces are not drawn.
        skipped: (k,) int32: places, in the stored order of all the level's triangles, of those that repeat one.
        skipped_corners: (k, 3) int32: the vertices of those.
    """

    triangles: Array
    cull_back: bool
    skipped: Array = field(default_factory=lambda: np.zeros(0, np.int32))
    skipped_corners: Array = field(default_factory=lambda: np.zeros((0, 3), np.int32))


@dataclass
class PlacedMesh:
    """A mesh in model space.

    Attributes:
        mesh: the record.
        vertices: its decoded vertices, as stored.
        positions: (n, 3) float32.
        normals: (n, 3) float32 of unit length (zero where the stored one has no length), None without.
        nodes: (n, k) int32 nodes that move each vertex, -1 none.
        weights: (n, k) float32 as stored.
        levels: by level of detail, the triangles that are seen (not those for motion blur).
    """

    mesh: Mesh
    vertices: Vertices
    positions: Array
    normals: Array | None
    nodes: Array
    weights: Array
    levels: dict[int, Level]


@dataclass
class PlacedModel:
    """A model in model space (left-handed, Y up, metres).

    Attributes:
        flver: the model.
        world: (n, 4, 4) float64, the nodes' full world matrices.
        meshes: its meshes.
        dummies: where its dummies stand.
        findings: what is odd about it, a sentence each.
    """

    flver: Flver
    world: Array
    meshes: list[PlacedMesh]
    dummies: DummyFrames
    findings: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, flver: Flver) -> PlacedModel:
        """Decode, check and place a model.

        Raises:
            FormatError: vertices or faces that cannot be decoded.
        """
        world = node_matrices(flver.nodes)
        meshes = [_place(flver, i, world) for i in range(len(flver.meshes))]
        notes = findings(flver, [mesh.positions for mesh in meshes])
        for i, mesh in enumerate(meshes):
            maps = sum(pairs.shape[1] // 2 for pairs in mesh.vertices.uvs.values())
            if maps > UV_MAPS:
                notes.append(f"mesh {i} has {maps} UV maps, the first {UV_MAPS} are shown")
            if mesh.vertices.skipped:
                notes.append(f"mesh {i} holds {', '.join(mesh.vertices.skipped)} in a form that is not known")
        lost = sum(_lost_weights(mesh) for mesh in meshes)
        if lost:
            notes.append(f"{lost} weights are of bones that the model does not have")
        skipped = sum(len(level.skipped) for mesh in meshes for lod, level in mesh.levels.items() if lod == 0)
        if skipped:
            notes.append(f"{skipped} triangles that repeat a vertex are not shown")
        return cls(flver, world, meshes, dummy_frames(flver.dummies, world), notes)


def _place(flver: Flver, index: int, world: Array) -> PlacedMesh:
    mesh, vertices = flver.meshes[index], flver.vertices(index)
    positions, normals = place_mesh(flver, mesh, vertices, world)
    nodes, weights = vertex_bones(flver, mesh, vertices)
    return PlacedMesh(mesh, vertices, positions, normals, nodes, weights, _levels(flver, index))


def _lost_weights(mesh: PlacedMesh) -> int:
    """Return how many weights of a skinned mesh name no node."""
    if not mesh.mesh.dynamic or mesh.vertices.bones is None:
        return 0
    return int(((mesh.nodes < 0) & (mesh.weights > 0)).sum())


def _levels(flver: Flver, index: int) -> dict[int, Level]:
    """Return the visible triangles of a mesh by level of detail; several sets of one level are put together."""
    sets: dict[int, list[int]] = {}
    for i, face_set in enumerate(flver.meshes[index].face_sets):
        if not face_set.motion_blur:
            sets.setdefault(face_set.lod, []).append(i)
    return {lod: _level(flver, index, sets[lod]) for lod in sorted(sets)}


def _level(flver: Flver, index: int, numbers: list[int]) -> Level:
    """Return the triangles of some face sets of a mesh, put together."""
    face_sets = [flver.meshes[index].face_sets[i] for i in numbers]
    triangles = np.concatenate([flver.triangles(index, i) for i in numbers])
    repeats = is_degenerate(triangles)
    return Level(
        triangles[~repeats],
        all(face_set.cull_back for face_set in face_sets),
        np.flatnonzero(repeats).astype(np.int32),
        triangles[repeats],
    )
