"""The boxes that a model stores: of its nodes, of its meshes, and of the whole.

Rules found on real files. Wrong ones show in the game as models that vanish near the edge of the screen.
"""

from __future__ import annotations

import numpy as np

from ..codec.binary import Array
from ..codec.flver import Flver, Vertices
from ..codec.flver.parts import ORIENTED_BOUNDS_FROM
from ..codec.flver.records import BOX_BOUNDS, ORIENTED_BOUNDS
from ..maths import affine
from .placement import node_matrices, place_mesh, vertex_bones

INVERTED = np.finfo(np.float32).max  # of a box without content: the minimum is this, the maximum minus this


def set_bounds(flver: Flver) -> None:
    """Set all boxes of a model from its vertices, in place.

    Raises:
        FormatError: vertices that cannot be read.
    """
    vertices = [flver.vertices(i) for i in range(len(flver.meshes))]
    matrices = node_matrices(flver.nodes)
    for mesh, part in zip(flver.meshes, vertices, strict=True):
        mesh.bounds = mesh_bounds(part.positions, flver.version)
    flver.nodes["bounds_min"], flver.nodes["bounds_max"] = node_bounds(flver, vertices, matrices)
    placed = [place_mesh(flver, mesh, part, matrices)[0] for mesh, part in zip(flver.meshes, vertices, strict=True)]
    low, high = box(np.concatenate([np.zeros((0, 3), np.float32), *placed]))
    flver.header["bounds_min"], flver.header["bounds_max"] = low, high


def box(points: Array) -> tuple[Array, Array]:
    """Return the least and the greatest coordinates of (n, 3) points, (3,) float32 each; inverted without points."""
    if not len(points):
        return np.full(3, INVERTED), np.full(3, -INVERTED)
    return points.min(axis=0).astype(np.float32), points.max(axis=0).astype(np.float32)


def mesh_bounds(positions: Array, version: int) -> Array | None:
    """Return the box of a mesh's stored positions, (n, 3), as its version has it; None without vertices.

    The box is aligned to the axes, which is one of the oriented boxes that version 0x2001A and later allow.
    """
    if not len(positions):
        return None
    low, high = box(positions)
    if version < ORIENTED_BOUNDS_FROM:
        bounds = BOX_BOUNDS.zeros(1).reshape(())
        bounds["min"], bounds["max"] = low, high
        return bounds
    bounds = ORIENTED_BOUNDS.zeros(1).reshape(())
    bounds["half_extents"], bounds["center"] = (high - low) / 2, (high + low) / 2
    return bounds


def node_bounds(flver: Flver, vertices: list[Vertices], matrices: Array) -> tuple[Array, Array]:
    """Return the boxes of what nodes carry, in the space of each.

    A node carries the static vertices that name it and all vertices with a weight on it. (The games' files count
    weights that were too small to be stored as well, so that their boxes of skinned nodes are some percent larger.)

    Args:
        flver: the model.
        vertices: of each mesh.
        matrices: (n, 4, 4) of `node_matrices`.

    Returns:
        (n, 3) float32 minima and maxima, inverted for nodes that carry nothing.
    """
    low = np.full((len(flver.nodes), 3), INVERTED, np.float32)
    high = -low
    invertible = np.abs(np.linalg.det(matrices)) > 0
    inverses = np.linalg.inv(np.where(invertible[:, None, None], matrices, np.eye(4)))
    for mesh, part in zip(flver.meshes, vertices, strict=True):
        bones, weights = vertex_bones(flver, mesh, part)
        for nodes, shares in zip(bones.T, weights.T, strict=True):
            carried = (nodes >= 0) & (shares > 0)
            owners, points = nodes[carried], part.positions[carried]
            if mesh.dynamic:
                points = affine.transform_points(inverses[owners], points).astype(np.float32)
            np.minimum.at(low, owners, points)
            np.maximum.at(high, owners, points)
    return low, high
