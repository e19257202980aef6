"""Where the parts of a model stand in model space (left-handed, Y up, metres).

Rules: seed "FLVER nodes and skinning". A node's world matrix is the full product of the affine maps from its root
down, scale included. Static vertices are in the space of a node: the one that the normal's W names, else the mesh's
own. Dynamic vertices are in bind space, which is model space. Indices that are out of range occur in real files; they
name nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ..codec.binary import Array
from ..codec.flver import Flver, Mesh, Vertices
from ..maths import affine


def local_matrices(nodes: Array) -> Array:
    """Return each node's map to its parent's space.

    Args:
        nodes: (n,) `NODE`.

    Returns:
        (n, 4, 4) float64.
    """
    return affine.compose(nodes["translation"], affine.euler_xzy(nodes["rotation"]), nodes["scale"])


def node_matrices(nodes: Array) -> Array:
    """Return each node's map to model space: the full product, scale included.

    Args:
        nodes: (n,) `NODE`, parents without cycles.

    Returns:
        (n, 4, 4) float64.
    """
    return affine.world_matrices(local_matrices(nodes), nodes["parent"])


def named_nodes(indices: Array, palette: Array, node_count: int) -> Array:
    """Return the nodes that stored indices name.

    Args:
        indices: integers of any shape.
        palette: (k,) int32 node indices; empty where indices name nodes directly.
        node_count: nodes of the model.

    Returns:
        Node indices in the shape of ``indices``, int32, -1 where nothing is named.
    """
    nodes = np.asarray(indices, np.int32)
    if len(palette):
        inside = (nodes >= 0) & (nodes < len(palette))
        nodes = np.where(inside, palette[np.where(inside, nodes, 0)], -1)
    return np.where((nodes >= 0) & (nodes < node_count), nodes, -1).astype(np.int32)


def static_nodes(flver: Flver, mesh: Mesh, vertices: Vertices) -> Array:
    """Return the (n,) int32 node that carries each vertex of a static mesh, -1 where none does."""
    own = mesh.node if 0 <= mesh.node < len(flver.nodes) else -1
    if vertices.normal_nodes is None:
        return np.full(len(vertices.positions), own, np.int32)
    nodes = named_nodes(vertices.normal_nodes, mesh.palette, len(flver.nodes))
    return np.where(nodes < 0, np.int32(own), nodes)


def vertex_bones(flver: Flver, mesh: Mesh, vertices: Vertices) -> tuple[Array, Array]:
    """Return which nodes move each vertex, and how much.

    Returns:
        (n, k) int32 node indices, -1 for none; (n, k) float32 weights as stored. Static vertices have the node that
        carries them at weight one; dynamic ones without weights follow their first bone, or nothing.
    """
    if not mesh.dynamic or vertices.bones is None:
        nodes = np.full(len(vertices.positions), -1, np.int32) if mesh.dynamic else static_nodes(flver, mesh, vertices)
        return nodes[:, None], np.ones((len(nodes), 1), np.float32)
    nodes = named_nodes(vertices.bones, mesh.palette, len(flver.nodes))
    if vertices.weights is None:
        return nodes[:, :1], np.ones((len(nodes), 1), np.float32)
    return nodes, vertices.weights[:, : nodes.shape[1]]


@np.errstate(over="ignore", invalid="ignore")
def place_mesh(flver: Flver, mesh: Mesh, vertices: Vertices, matrices: Array) -> tuple[Array, Array | None]:
    """Return a mesh's vertices in model space.

    Args:
        flver: the model.
        mesh: one of its meshes.
        vertices: its decoded vertices.
        matrices: (n, 4, 4) of `node_matrices`.

    Returns:
        (v, 3) float32 positions; (v, 3) float32 normals of unit length, zero for vertices that have none, or None
        where the whole mesh has none.
    """
    positions, normals = vertices.positions, _given_normals(vertices.normals)
    if not mesh.dynamic:
        nodes = static_nodes(flver, mesh, vertices)
        positions = positions.copy()
        turns = affine.normal_matrices(matrices)
        for node, carried in _by_node(nodes):
            positions[carried] = positions[carried] @ matrices[node, :3, :3].T + matrices[node, :3, 3]
            if normals is not None:
                normals[carried] = normals[carried] @ turns[node].T
    return positions, None if normals is None else affine.normalized(normals)


def _given_normals(normals: Array | None) -> Array | None:
    """Return a copy of stored normals, zero where all their bytes are (Sekiro's shadow models), None without any."""
    if normals is None:
        return None
    absent = (normals == -1).all(axis=1)
    return None if absent.all() else np.where(absent[:, None], np.float32(0), normals)


def _by_node(nodes: Array) -> Iterator[tuple[int, Array]]:
    """Yield each node that is named, with the numbers of the vertices that name it."""
    order = np.argsort(nodes, kind="stable")
    named, starts = np.unique(nodes[order], return_index=True)
    for node, part in zip(named.tolist(), np.split(order, starts[1:]), strict=False):
        if node >= 0:
            yield node, part


@dataclass
class DummyFrames:
    """Where dummies stand.

    Attributes:
        matrices: (d, 4, 4) float64 to model space: orthonormal frames, x right, y up, z forward (left-handed space:
            the columns read as numbers make a right-handed frame), at the dummy's position.
        parents: (d,) int32 node whose space holds the dummy, -1 none.
        followed: (d,) int32 node that the dummy moves with: its attach node, the parent where there is none.
    """

    matrices: Array
    parents: Array
    followed: Array


def dummy_frames(dummies: Array, matrices: Array) -> DummyFrames:
    """Place dummies by their parent's world matrix, scale included.

    Args:
        dummies: (d,) `DUMMY`.
        matrices: (n, 4, 4) of `node_matrices`.
    """
    nothing = np.zeros(0, np.int32)
    parents = named_nodes(dummies["parent"], nothing, len(matrices))
    attached = named_nodes(dummies["attach"], nothing, len(matrices))
    maps = np.concatenate((matrices, np.eye(4)[None]))[parents]  # -1 is the identity at the end
    forward, upward = (affine.transform_vectors(maps, dummies[field]) for field in ("forward", "upward"))
    result = np.tile(np.eye(4), (len(dummies), 1, 1))
    result[:, :3, :3] = affine.frames(forward, upward)
    result[:, :3, 3] = affine.transform_points(maps, dummies["position"])
    return DummyFrames(result, parents, np.where(attached < 0, parents, attached))
