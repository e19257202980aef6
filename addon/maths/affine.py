"""Affine maps as (…, 4, 4) matrices for column vectors: ``p' = M @ [p, 1]``.

The games' own notation has row vectors (Scale * RotationX * RotationZ * RotationY * Translation); the same map for
column vectors is ``T @ Ry @ Rz @ Rx @ S`` (seed "FLVER nodes and skinning").

Numbers of damaged files, infinite or none, go through without a warning and make numbers of the same kind.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from .hierarchy import depths

Array = npt.NDArray[Any]


@np.errstate(over="ignore", invalid="ignore")
def rotation(axis: int, angles: Array) -> Array:
    """Return rotations about one axis.

    Args:
        axis: 0, 1 or 2 for x, y, z.
        angles: (n,) radians.

    Returns:
        (n, 3, 3) float64.
    """
    angles = np.asarray(angles, np.float64)
    first, second = (axis + 1) % 3, (axis + 2) % 3
    matrix = np.zeros((*angles.shape, 3, 3))
    matrix[..., axis, axis] = 1.0
    matrix[..., first, first] = matrix[..., second, second] = np.cos(angles)
    matrix[..., second, first] = np.sin(angles)
    matrix[..., first, second] = -matrix[..., second, first]
    return matrix


def euler_xzy(angles: Array) -> Array:
    """Return the rotations of nodes: about x first, then z, then y.

    Args:
        angles: (n, 3) radians about x, y, z.

    Returns:
        (n, 3, 3) float64.
    """
    return rotation(1, angles[..., 1]) @ rotation(2, angles[..., 2]) @ rotation(0, angles[..., 0])


def euler_zxy(angles: Array) -> Array:
    """Return the rotations of oriented mesh bounds: about z first, then x, then y.

    Args:
        angles: (n, 3) radians about x, y, z.

    Returns:
        (n, 3, 3) float64.
    """
    return rotation(1, angles[..., 1]) @ rotation(0, angles[..., 0]) @ rotation(2, angles[..., 2])


@np.errstate(over="ignore", invalid="ignore")
def compose(translation: Array, rotations: Array, scale: Array) -> Array:
    """Return the maps that scale, then rotate, then translate.

    Args:
        translation: (n, 3).
        rotations: (n, 3, 3).
        scale: (n, 3).

    Returns:
        (n, 4, 4) float64.
    """
    matrix = np.zeros((len(translation), 4, 4))
    matrix[:, :3, :3] = rotations * np.asarray(scale, np.float64)[:, None, :]
    matrix[:, :3, 3] = translation
    matrix[:, 3, 3] = 1.0
    return matrix


@np.errstate(over="ignore", invalid="ignore")
def world_matrices(local: Array, parents: Array) -> Array:
    """Return the full product of each node's map with those of its ancestors, scale included.

    One vectorised pass a depth level.

    Args:
        local: (n, 4, 4) maps to the parent's space.
        parents: (n,) parent indices, negative for roots; no cycles.

    Returns:
        (n, 4, 4) float64 maps to model space.
    """
    world = np.array(local, np.float64)
    depth = depths(parents)
    for level in range(1, int(depth.max(initial=0)) + 1):
        nodes = np.flatnonzero(depth == level)
        world[nodes] = world[parents[nodes]] @ world[nodes]
    return world


@np.errstate(over="ignore", invalid="ignore")
def transform_points(matrices: Array, points: Array) -> Array:
    """Map each point by its own matrix.

    Args:
        matrices: (n, 4, 4), or (4, 4) for one map of all points.
        points: (n, 3).

    Returns:
        (n, 3) float64.
    """
    return transform_vectors(matrices, points) + matrices[..., :3, 3]


@np.errstate(over="ignore", invalid="ignore")
def transform_vectors(matrices: Array, vectors: Array) -> Array:
    """Map each direction by the linear part of its own matrix; shapes as in `transform_points`."""
    return (matrices[..., :3, :3] @ np.asarray(vectors, np.float64)[..., None])[..., 0]


@np.errstate(over="ignore", invalid="ignore")
def normal_matrices(matrices: Array) -> Array:
    """Return the (n, 3, 3) maps that carry normals: the inverse transposes, zero where a map is singular."""
    linear = matrices[..., :3, :3]
    a, b, c = linear[..., 0], linear[..., 1], linear[..., 2]
    cofactors = np.stack((np.cross(b, c), np.cross(c, a), np.cross(a, b)), axis=-1)
    determinant = np.einsum("...i,...i->...", a, cofactors[..., 0])[..., None, None]
    return np.divide(cofactors, determinant, out=np.zeros_like(cofactors), where=determinant != 0)


@np.errstate(over="ignore", invalid="ignore")
def inverses(matrices: Array) -> Array:
    """Return the inverses of (..., n, n) maps; those that have none, or no numbers, become the identity."""
    matrices = np.asarray(matrices, np.float64)
    sound = np.isfinite(matrices).all(axis=(-2, -1))
    identity = np.eye(matrices.shape[-1])
    known = np.where(sound[..., None, None], matrices, identity)
    sound &= np.abs(np.linalg.det(known)) > 0
    return np.linalg.inv(np.where(sound[..., None, None], known, identity))


@np.errstate(over="ignore", invalid="ignore")
def normalized(vectors: Array) -> Array:
    """Return (n, k) vectors at unit length; vectors without length stay zero."""
    length = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return np.divide(vectors, length, out=np.zeros_like(vectors), where=length > 0)


@np.errstate(over="ignore", invalid="ignore")
def frames(forward: Array, upward: Array) -> Array:
    """Return right-handed orthonormal frames along two directions that need not be square to each other.

    Forward is kept. Where upward is (nearly) parallel to it or has no length, the axis least parallel to forward
    takes its place; where forward has no length, it is taken as z.

    Args:
        forward: (n, 3).
        upward: (n, 3).

    Returns:
        (n, 3, 3) float64; columns x = up cross forward, y = up, z = forward.
    """
    z = normalized(np.asarray(forward, np.float64))
    z[~z.any(axis=1)] = (0.0, 0.0, 1.0)
    y = normalized(np.asarray(upward, np.float64))
    x = np.cross(y, z)
    flat = np.linalg.norm(x, axis=1) < 1e-4
    spare = np.eye(3)[np.argmin(np.abs(z), axis=1)]
    x[flat] = np.cross(spare[flat], z[flat])
    x = normalized(x)
    return np.stack((x, np.cross(z, x), z), axis=-1)


@np.errstate(over="ignore", invalid="ignore")
def angles_xzy(rotations: Array) -> Array:
    """Return the angles that `euler_xzy` makes rotations of.

    Args:
        rotations: (n, 3, 3), orthonormal.

    Returns:
        (n, 3) float64 radians about x, y, z; where y and x turn about one axis, x is 0.
    """
    r = np.asarray(rotations, np.float64)
    locked = np.hypot(r[:, 1, 1], r[:, 1, 2]) < 1e-10
    x = np.where(locked, 0.0, np.arctan2(-r[:, 1, 2], r[:, 1, 1]))
    sine, cosine = np.sin(x), np.cos(x)
    # y and z are those of what is left once x is turned back, which is exact however near the axes come together
    y = np.arctan2(r[:, 0, 1] * sine + r[:, 0, 2] * cosine, r[:, 2, 1] * sine + r[:, 2, 2] * cosine)
    z = np.arctan2(r[:, 1, 0], r[:, 1, 1] * cosine - r[:, 1, 2] * sine)
    return np.stack((x, y, z), axis=-1)


@np.errstate(over="ignore", invalid="ignore")
def split_scale(linear: Array, signs: Array) -> tuple[Array, Array, Array]:
    """Return the rotations and scales that come nearest to linear maps, and what they leave.

    Args:
        linear: (n, 3, 3).
        signs: (n, 3), whose signs the scales take where the maps allow it.

    Returns:
        (n, 3, 3) rotations, (n, 3) scales, and (n,) shear: the largest entry of the difference between the map and
        ``rotation @ diag(scale)``, as a share of the largest scale.
    """
    lengths = np.linalg.norm(linear, axis=1) * np.where(np.asarray(signs) < 0, -1.0, 1.0)
    columns = np.divide(linear, lengths[:, None, :], out=np.zeros_like(linear), where=lengths[:, None, :] != 0)
    mirrored = np.linalg.det(columns) < 0
    columns[mirrored, :, 0] *= -1.0
    u, _, v = np.linalg.svd(columns)
    u[np.linalg.det(u @ v) < 0, :, 2] *= -1.0
    rotations = u @ v
    scale = np.einsum("nij,nij->nj", rotations, linear)
    rest = np.abs(rotations * scale[:, None, :] - linear).max(axis=(1, 2), initial=0)
    largest = np.abs(scale).max(axis=1, initial=0)
    return rotations, scale, np.divide(rest, largest, out=np.zeros_like(rest), where=largest > 0)
