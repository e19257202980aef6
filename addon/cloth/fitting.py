"""Round shapes for collidables from the corners of a mesh: a sphere, a capsule or a tapered capsule."""

from __future__ import annotations

import numpy as np

from ..codec.binary import Array
from ..codec.havok.cloth import Shape
from .edits import capsule, sphere, tapered_capsule

LONGISH = 1.15  # times the second longest extent: then the longest one is the axis
TAPER = 0.15  # how much narrower a mesh must get in a metre of its length to count as a cone
ROUND = 1.1  # largest share of the extents across a cone
FLAT = 0.5  # share of the longest extent: what is thinner and not longish is no round thing
POINTED = 0.05  # smallest radius of a cone's narrow end, as a share of the other
SMALLEST = 1e-4  # metres


def fitted_shape(points: Array) -> Shape:
    """Return the round shape that is as large as a mesh.

    The mesh's own directions are the axes that count, so that a cylinder, a cone, a box or a stretched sphere as
    Blender makes them becomes what it looks like: longish things capsules, what narrows along an axis a tapered
    capsule, all others spheres. Rounded ends lie inside of the mesh.

    Args:
        points: (n, 3) in the object's space, scaled to metres.

    Raises:
        ValueError: the points are one, or make a flat thing; the text says so.
    """
    if not len(points) or not np.isfinite(points).all():
        raise ValueError("has no corners")
    low, high = points.min(axis=0).astype(np.float64), points.max(axis=0).astype(np.float64)
    middle, half = (low + high) / 2, (high - low) / 2
    if half.max() < SMALLEST:
        raise ValueError("has no size")
    axis, lines = _axis(points - middle, half)
    if axis is None:
        if half.min() < FLAT * half.max():
            raise ValueError("is flat: cloth meets round shapes. Add several along it")
        return sphere(middle, float(half.mean()))
    along = np.eye(3)[axis]
    (start, start_radius), (end, end_radius) = _ends(lines[axis], float(half[axis]))
    if abs(lines[axis][1]) < TAPER / 2:
        radius = (start_radius + end_radius) / 2
        ends = (radius - half[axis], half[axis] - radius)
        if ends[0] >= ends[1]:
            return sphere(middle, float(half.mean()))
        return capsule(middle + ends[0] * along, middle + ends[1] * along, radius)
    return tapered_capsule(middle + start * along, middle + end * along, start_radius, end_radius)


def _axis(points: Array, half: Array) -> tuple[int | None, list[tuple[float, float]]]:
    """Return the axis of a longish or tapering thing, None for others; and the outline along each axis."""
    lines = [_outline(points, half, axis) for axis in range(3)]
    order = np.argsort(half)
    if half[order[2]] > LONGISH * half[order[1]]:
        return int(order[2]), lines
    best = max(range(3), key=lambda axis: abs(lines[axis][1]))
    across = np.delete(half, best)
    if abs(lines[best][1]) > TAPER and across.max() <= ROUND * across.min():
        return best, lines
    return None, lines


def _outline(points: Array, half: Array, axis: int) -> tuple[float, float]:
    """Return width and slope of a mesh's outline along an axis: a line through the middle half of its length.

    The widest place is as wide as the mean of the extents across.
    """
    across = [other for other in range(3) if other != axis]
    sizes = np.maximum(half[across], SMALLEST)
    width = np.hypot(*(points[:, across] / sizes).T)
    width *= float(sizes.mean()) / max(float(width.max()), SMALLEST)
    places, widths = _upper_hull(points[:, axis].astype(np.float64), width)
    sampled = np.linspace(-0.5, 0.5, 17) * half[axis]
    heights = np.interp(sampled, places, widths)
    if half[axis] < SMALLEST:
        return float(heights.max()), 0.0
    slope, level = np.polyfit(sampled, heights, 1)
    return float(level + (heights - (level + slope * sampled)).max()), float(slope)


def _upper_hull(x: Array, y: Array) -> tuple[Array, Array]:
    """Return the corners of the smallest concave curve above points, from left to right."""
    hull: list[tuple[float, float]] = []
    for point in sorted(zip(x.tolist(), y.tolist(), strict=True)):
        while len(hull) > 1 and _turn(hull[-2], hull[-1], point) >= 0:
            hull.pop()
        hull.append(point)
    corners = np.array(hull)
    return corners[:, 0], corners[:, 1]


def _turn(a: tuple[float, float], b: tuple[float, float], c: tuple[float, float]) -> float:
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


def _ends(line: tuple[float, float], half: float) -> tuple[tuple[float, float], tuple[float, float]]:
    """Return place and radius of the spheres at both ends that touch an outline and lie inside the length."""
    level, slope = line
    cosine = 1 / np.sqrt(1 + slope * slope)
    rise, base = slope * cosine, level * cosine
    ends = []
    for side in (-1, 1):
        place = (side * half - side * base) / (1 + side * rise)
        ends.append([place, base + rise * place])
    widest = max(radius for _, radius in ends)
    (start, first), (end, last) = ((place, max(radius, POINTED * widest)) for place, radius in ends)
    return (float(start), float(first)), (float(end), float(last))
