"""What a cloth's numbers are made of at its rest pose: the formulas, in float64, that every file of the games obeys.

`identities` checks files by them, edits make numbers with them. Positions are (n, 3), in metres.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...codec.binary import Array
from ...codec.havok import cloth as records

HEIGHT_FACTOR = 64
"""A bend link is skipped where it stands 8 times as far off as the set's largest rest height (found on real files)."""
PAIRS = 4_000_000
"""Distances measured at once."""


class Bend(NamedTuple):
    """The rest shape of k bend stiffness links.

    Attributes:
        weights: (4, k) f8.
        heights: (k,) f8 how far the edge stands off the wings along the mean normal, metres: minus curvature x product.
        products: (k,) f8 of both triangles' heights over the shared edge; a curvature is -heights / products.
    """

    weights: Array
    heights: Array
    products: Array


def lengths(pose: Array, a: Array, b: Array) -> Array:
    """Return the distances between particles a and b, (k,) f8."""
    points = pose.astype(np.float64)
    return np.linalg.norm(points[b] - points[a], axis=1)


def bends(pose: Array, indices: Array, weights: Array | None = None) -> Bend:
    """Return the rest shape of bend stiffness links.

    Volino and Magnenat-Thalmann's coefficients: with N1 = (A-C)x(A-D), N2 = (B-D)x(B-C), N3 = (C-B)x(C-A),
    N4 = (D-A)x(D-B), the wings share by the other wing's area, the edge's ends by the other end's.

    Args:
        pose: (n, 3).
        indices: (4, k) particles a to d, a and b the wings.
        weights: (4, k) the heights are measured with; None for those returned.
    """
    a, b, c, d = pose.astype(np.float64)[indices]
    first, second = np.cross(a - c, a - d), np.cross(b - d, b - c)
    normals = first, second, np.cross(c - b, c - a), np.cross(d - a, d - b)
    n1, n2, n3, n4 = (np.linalg.norm(normal, axis=1) for normal in normals)
    with np.errstate(divide="ignore", invalid="ignore"):
        made = np.stack([n2 / (n1 + n2), n1 / (n1 + n2), -n4 / (n3 + n4), -n3 / (n3 + n4)])
        mean = first / n1[:, None] + second / n2[:, None]
        mean /= np.linalg.norm(mean, axis=1, keepdims=True)
        products = n1 * n2 / np.square(d - c).sum(1)
    own = made if weights is None else weights.astype(np.float64)
    off = own[0, :, None] * a + own[1, :, None] * b + own[2, :, None] * c + own[3, :, None] * d
    return Bend(made, (off * mean).sum(1), products)


def height_limit(one: records.BendStiffness, pose: Array) -> np.float32:
    """Return what a set stores to skip links that stand too far off, from its curvatures and the rest pose."""
    if not one.use_rest or not len(one.curvature):
        return np.float32(0)
    heights = one.curvature.astype(np.float64) * bends(pose, one.indices).products
    return np.float32(HEIGHT_FACTOR * np.square(heights).max())


def volume_center(one: records.Volume, pose: Array) -> Array:
    """Return the weighted centre of a volume's particles, (3,) f8: rest vectors run from there."""
    return one.frame_weight.astype(np.float64) @ pose.astype(np.float64)[one.frame_particle]


def nearest(points: Array, targets: Array) -> Array:
    """Return for each point, (k, d), the place of the nearest target, (m, d); the first of those equally near.

    Args:
        points: of any number of dimensions.
        targets: at least one.
    """
    found = np.zeros(len(points), np.intp)
    rows = max(1, PAIRS // len(targets))
    for start in range(0, len(points), rows):
        part = points[start : start + rows].astype(np.float64)
        gaps = np.zeros((len(part), len(targets)))
        for axis in range(points.shape[1]):
            gaps += np.square(part[:, axis, None] - targets[:, axis])
        found[start : start + rows] = gaps.argmin(1)
    return found


def triangle_frames(corners: Array, scale: int) -> Array:
    """Return the frames of triangles, (t, 4, 4) f8: a - c, b - c, their cross product, the centre c.

    Args:
        corners: (t, 3, 3).
        scale: a `ScaleNormal`.
    """
    center = corners.mean(1)
    a, b = corners[:, 0] - center, corners[:, 1] - center
    normal = np.cross(a, b)
    size = np.linalg.norm(normal, axis=1, keepdims=True)
    powers: dict[int, int] = {records.ScaleNormal.UNIT: 1, records.ScaleNormal.INVERSE_AREA: 2}
    frames = np.zeros((len(corners), 4, 4))
    with np.errstate(divide="ignore", invalid="ignore"):
        columns = a, b, normal / size ** powers.get(scale, 0), center
    for column, values in enumerate(columns):
        frames[:, :3, column] = values
    frames[:, 3, 3] = 1
    return frames
