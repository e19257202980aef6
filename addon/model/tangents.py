"""Tangents as the games have them: along +dP/dV, V pointing down as stored.

Found on the games' files: on nearly all vertices the tangent is the direction of +dP/dV, square to the normal, and its
w is the sign with which ``cross(normal, tangent)`` points along +dP/dU. The usual rule, dP/dU, breaks their shading.
"""

from __future__ import annotations

import numpy as np

from ..codec.binary import Array
from ..maths import affine


@np.errstate(over="ignore", invalid="ignore", divide="ignore")
def tangents(positions: Array, normals: Array, uvs: Array, triangles: Array) -> Array:
    """Return the tangent of each vertex.

    Args:
        positions: (n, 3) in model space.
        normals: (n, 3) of unit length.
        uvs: (n, 2) as stored.
        triangles: (t, 3).

    Returns:
        (n, 4) float64; zero where no triangle with an area in UV space uses the vertex.
    """
    along_v, along_u = np.zeros((2, len(positions), 3))
    points, maps = positions[triangles].astype(np.float64), uvs[triangles].astype(np.float64)
    edge_1, edge_2 = points[:, 1] - points[:, 0], points[:, 2] - points[:, 0]
    (u_1, v_1), (u_2, v_2) = (maps[:, 1] - maps[:, 0]).T, (maps[:, 2] - maps[:, 0]).T
    area = np.sign(u_1 * v_2 - u_2 * v_1)[:, None]
    by_v = affine.normalized((u_1[:, None] * edge_2 - u_2[:, None] * edge_1) * area)
    by_u = affine.normalized((v_2[:, None] * edge_1 - v_1[:, None] * edge_2) * area)
    for corner in triangles.T:
        np.add.at(along_v, corner, by_v)
        np.add.at(along_u, corner, by_u)
    along_v -= normals * np.einsum("ij,ij->i", normals, along_v)[:, None]
    result = np.zeros((len(positions), 4))
    result[:, :3] = affine.normalized(along_v)
    side = np.einsum("ij,ij->i", np.cross(normals, result[:, :3]), along_u)
    result[:, 3] = np.where(result[:, :3].any(axis=1), np.where(side < 0, -1.0, 1.0), 0.0)
    return result
