"""Spheres, capsules and cylinders as triangles, wound so that ``(b - a) x (c - a)`` points outwards."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

SEGMENTS = 24  # round the axis
RINGS = 6  # from a pole to the equator


def capsule(a: Array, b: Array, radius: float) -> tuple[Array, Array]:
    """Return vertices, (n, 3) f4, and triangles, (m, 3) i4, of a capsule; of a sphere where the ends are equal."""
    angles = np.linspace(0, np.pi / 2, RINGS + 1)
    rings = [(a, -np.cos(angle), np.sin(angle)) for angle in angles[1:]]
    rings += [(b, np.cos(angle), np.sin(angle)) for angle in angles[:0:-1]]
    axis = _axis(a, b)
    return _lathe(axis, rings, radius, (a - axis * radius, b + axis * radius))


def tapered(small: Array, big: Array, small_radius: float, big_radius: float) -> tuple[Array, Array]:
    """Return vertices, (n, 3) f4, and triangles, (m, 3) i4, of two spheres and the cone that touches both.

    Where the big sphere holds the small one, it is the big one alone.
    """
    distance = float(np.linalg.norm(big.astype(np.float64) - small))
    if distance <= big_radius - small_radius:
        return capsule(big, big, big_radius)
    tilt = np.arcsin((big_radius - small_radius) / distance)  # the cone touches both that far above their equators
    rings = [
        (small, -small_radius * np.cos(angle), small_radius * np.sin(angle))
        for angle in np.linspace(0, np.pi / 2 - tilt, RINGS + 1)[1:]
    ]
    rings += [
        (big, -big_radius * np.cos(angle), big_radius * np.sin(angle))
        for angle in np.linspace(np.pi / 2 - tilt, np.pi, 2 * RINGS + 1)[:-1]
    ]
    axis = _axis(small, big)
    return _lathe(axis, rings, 1.0, (small - axis * small_radius, big + axis * big_radius))


def cylinder(a: Array, b: Array, radius: float) -> tuple[Array, Array]:
    """Return vertices, (n, 3) f4, and triangles, (m, 3) i4, of a cylinder between two points."""
    return _lathe(_axis(a, b), [(a, 0.0, 1.0), (b, 0.0, 1.0)], radius, (a, b))


def _axis(a: Array, b: Array) -> Array:
    length = float(np.linalg.norm(b.astype(np.float64) - a))
    return (b.astype(np.float64) - a) / length if length > 0 else np.array([0.0, 1.0, 0.0])


def _lathe(axis: Array, rings: list[Any], radius: float, poles: tuple[Array, Array]) -> tuple[Array, Array]:
    """Turn rings (centre, height along the axis, width) round an axis and close both ends."""
    side = np.eye(3)[int(np.argmin(np.abs(axis)))]
    u = np.cross(axis, side) / np.linalg.norm(np.cross(axis, side))
    v = np.cross(axis, u)
    turn = np.linspace(0, 2 * np.pi, SEGMENTS, endpoint=False)
    circle = np.cos(turn)[:, None] * u + np.sin(turn)[:, None] * v
    parts = [centre + radius * (height * axis + width * circle) for centre, height, width in rings]
    vertices = np.concatenate([*parts, poles[0][None], poles[1][None]]).astype(np.float32)
    step = np.arange(SEGMENTS)
    following = (step + 1) % SEGMENTS
    last = len(rings) * SEGMENTS
    faces = [np.stack([following, step, np.full(SEGMENTS, last)], axis=1)]
    for ring in range(len(rings) - 1):
        low, high = ring * SEGMENTS, (ring + 1) * SEGMENTS
        faces.append(np.stack([low + step, low + following, high + following], axis=1))
        faces.append(np.stack([low + step, high + following, high + step], axis=1))
    top = (len(rings) - 1) * SEGMENTS
    faces.append(np.stack([top + step, top + following, np.full(SEGMENTS, last + 1)], axis=1))
    return vertices, np.concatenate(faces).astype(np.int32)
