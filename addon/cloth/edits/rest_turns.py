"""How the surroundings of particles turn as the rest pose moves."""

from __future__ import annotations

import numpy as np

from ...codec.binary import Array
from ...codec.havok.cloth import SimCloth
from .rest_sets import Move

TURNED = 1e-5
"""A turn that is more than rounding: positions are float32, triangles centimetres."""


def turns(sim: SimCloth, move: Move) -> tuple[Array, Array]:
    """Return which particles' surroundings turn, (n,) bool, and how, (n, 3, 3) f8.

    The turn is the one that brings the edges of a particle's triangles nearest to where they moved, and its normal
    right there: normals and tangents of its reference turn so.
    """
    triangles = sim.triangles.astype(np.intp)
    before, after = (_normals(sim, pose) for pose in (move.old, move.new))
    turned = np.zeros(len(sim), np.bool_)
    turned[triangles[move.moved[triangles].any(1)]] = True
    # a normal that turns over has no way to turn, and one of no length none at all
    turned &= (before * after).sum(1) > TURNED - 1
    pairs = np.zeros((len(sim), 3, 3))
    for corner, others in ((0, (1, 2)), (1, (2, 0)), (2, (0, 1))):
        for other in others:
            old, new = (
                (pose[triangles[:, other]] - pose[triangles[:, corner]]).astype(np.float64)
                for pose in (move.old, move.new)
            )
            np.add.at(pairs, triangles[:, corner], new[:, :, None] * old[:, None])
    size = np.linalg.norm(pairs, axis=(1, 2))[:, None, None]
    u, _, v = np.linalg.svd(pairs[turned] + (size * after[:, :, None] * before[:, None])[turned])
    u[:, :, 2] *= np.linalg.det(u @ v)[:, None]
    near = u @ v
    made = np.broadcast_to(np.eye(3), (len(sim), 3, 3)).copy()
    made[turned] = _turn_between(np.einsum("nij,nj->ni", near, before[turned]), after[turned]) @ near
    turned &= np.abs(made - np.eye(3)).max((1, 2)) > TURNED
    return turned, made


def _turn_between(old: Array, new: Array) -> Array:
    """Return the shortest turns between unit vectors (n, 3), (n, 3, 3)."""
    cosine = (old * new).sum(1)
    x, y, z = np.cross(old, new).T
    zero = np.zeros_like(x)
    skew = np.stack([np.stack([zero, -z, y], 1), np.stack([z, zero, -x], 1), np.stack([-y, x, zero], 1)], 1)
    made: Array = np.eye(3) + skew + skew @ skew / np.maximum(1 + cosine, TURNED)[:, None, None]
    return made


def _normals(sim: SimCloth, pose: Array) -> Array:
    """Return the unit normals of particles, (n, 3) f8, weighted as the games do it; zero where there is no triangle."""
    p0, p1, p2 = np.moveaxis(pose.astype(np.float64)[sim.triangles], 1, 0)
    own = np.cross(p1 - p0, p2 - p0) * np.where(sim.flips, -3.0, 1.0)[:, None]
    made = np.zeros((len(sim), 3))
    np.add.at(made, sim.triangles.astype(np.intp), own[:, None])
    length = np.linalg.norm(made, axis=1, keepdims=True)
    return np.divide(made, length, out=made, where=length > 0)
