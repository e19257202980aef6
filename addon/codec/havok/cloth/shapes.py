"""Collidables: rigid shapes that cloth meets."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ...binary import Array
from ..objects import View
from .values import flag, number, real, transform


@dataclass(frozen=True, eq=False)
class Shape:
    """A shape in its collidable's space; points and directions (3,) f4, lengths metres."""


@dataclass(frozen=True, eq=False)
class Sphere(Shape):
    """A sphere."""

    center: Array
    radius: np.float32


@dataclass(frozen=True, eq=False)
class Capsule(Shape):
    """A capsule; ``direction`` and ``inverse_length_squared`` follow from its ends."""

    start: Array
    end: Array
    radius: np.float32
    direction: Array
    inverse_length_squared: np.float32


@dataclass(frozen=True, eq=False)
class TaperedCapsule(Shape):
    """Two spheres and the cone that touches both; all but the first four members follow from those.

    Attributes:
        small, big: centres.
        small_radius, big_radius: the first is the smaller.
        apex, axis: of the cone; the axis runs from small to big.
        length: between the centres.
        apex_distance: of the small sphere's cone base from the apex, ``small_radius / sin``.
        sin, cos, tan, tan_squared: of the cone's half angle.
    """

    small: Array
    big: Array
    small_radius: np.float32
    big_radius: np.float32
    apex: Array
    axis: Array
    length: np.float32
    apex_distance: np.float32
    sin: np.float32
    cos: np.float32
    tan: np.float32
    tan_squared: np.float32


@dataclass(frozen=True, eq=False)
class Plane(Shape):
    """A half space: ``equation`` (4,) is its unit normal and minus the distance."""

    equation: Array


@dataclass(frozen=True, eq=False)
class ConvexGeometry(Shape):
    """A convex body cut into tetrahedra.

    Attributes:
        equations: (n, 4, 4) f4; row k is the plane of a tetrahedron's face k, the first being the body's surface.
        grid: (m,) u2 where each cell of the grid starts in ``cells``.
        cells: (k,) u1 tetrahedra.
        resolution: cells of the grid along an axis.
        local_from_world, world_from_local: (4, 4) f4.
        bounds: (2, 3) f4 smallest and largest corner.
        centroid: (3,) f4.
        inverse_cell_size: (3,) f4.
    """

    equations: Array
    grid: Array
    cells: Array
    resolution: int
    local_from_world: Array
    world_from_local: Array
    bounds: Array
    centroid: Array
    inverse_cell_size: Array


@dataclass(frozen=True, eq=False)
class Collidable:
    """A shape and where it is.

    Attributes:
        name: as stored.
        transform: (4, 4) f4; in a cloth that of the reference pose.
        shape: what it is.
        enabled: False where it does nothing.
        pinch_radius, pinch_enabled, virtual_points: settings the games' files hardly use.
    """

    name: str
    transform: Array
    shape: Shape
    enabled: bool
    pinch_radius: np.float32
    pinch_enabled: bool
    virtual_points: bool


def read_collidable(view: View) -> Collidable:
    """Read a collidable.

    Raises:
        FormatError: a shape of a class the games do not use.
    """
    shape = view.one("shape")
    reader = READERS.get(shape.layout.name)
    if reader is None:
        shape.fail(f"shapes of class {shape.layout.name} are not supported: no game file has one")
    return Collidable(
        view.text("name") or "",
        transform(view.numbers("transform", "<f4", (16,))),
        reader(shape),
        flag(view, "enabled"),
        real(view, "pinchDetectionRadius"),
        flag(view, "pinchDetectionEnabled"),
        flag(view, "virtualCollisionPointCollisionEnabled"),
    )


def _point(view: View, name: str) -> Array:
    return view.numbers(name, "<f4", (4,))[:3]


def _sphere(view: View) -> Sphere:
    stored = view.one("sphere").numbers("pos", "<f4", (4,))
    return Sphere(stored[:3], np.float32(stored[3]))


def _capsule(view: View) -> Capsule:
    start, end, direction = (_point(view, name) for name in ("start", "end", "dir"))
    return Capsule(start, end, real(view, "radius"), direction, real(view, "capLenSqrdInv"))


def _tapered(view: View) -> TaperedCapsule:
    small, big, apex, axis = (_point(view, name) for name in ("small", "big", "coneApex", "coneAxis"))
    radii = real(view, "smallRadius"), real(view, "bigRadius")
    derived = (real(view, name) for name in ("l", "d", "sinTheta", "cosTheta", "tanTheta", "tanThetaSqr"))
    return TaperedCapsule(small, big, *radii, apex, axis, *derived)


def _plane(view: View) -> Plane:
    return Plane(view.numbers("planeEquation", "<f4", (4,)))


def _convex(view: View) -> ConvexGeometry:
    box = view.one("objAabb")
    return ConvexGeometry(
        view.numbers("tetrahedraEquations", "<f4", (16,)).reshape(-1, 4, 4),
        view.numbers("tetrahedraGrid", "<u2"),
        view.numbers("gridCells", "u1"),
        number(view, "gridRes", "<u2"),
        transform(view.numbers("localFromWorld", "<f4", (16,))),
        transform(view.numbers("worldFromLocal", "<f4", (16,))),
        np.stack([_point(box, "min"), _point(box, "max")]),
        _point(view, "geomCentroid"),
        _point(view, "invCellSize"),
    )


READERS: dict[str, Callable[[View], Shape]] = {
    "hclSphereShape": _sphere,
    "hclCapsuleShape": _capsule,
    "hclTaperedCapsuleShape": _tapered,
    "hclPlaneShape": _plane,
    "hclConvexGeometryShape": _convex,
}
