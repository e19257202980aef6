"""Particles against collidables: the nearest surface, and what a contact does.

Every shape answers with the distance to its surface, the normal there and the surface point; a particle nearer than
its radius is pushed out, and friction takes part of the sliding from its velocity. A first test against a sphere
around the shape leaves the particles that cannot touch.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ..codec.binary import Array
from ..codec.havok.cloth import Capsule, ConvexGeometry, Plane, Shape, Sphere, TaperedCapsule
from .settings import Roots
from .vectors import EPSILON, ONE, ZERO, cross, dot, transform_directions

FAR = np.float32(np.inf)
MARGIN, SLACK = np.float32(1.001), np.float32(1e-4)

Hit = tuple[Array, Array, Array]
"""Distance (n,), normal (3, n) and surface point (3, n)."""


@dataclass(frozen=True, eq=False)
class Candidates:
    """The particles of one cloth that may meet one collidable.

    Attributes:
        collidable: place among all collidables.
        shape: its shape.
        particles: (3, n) flat places; ``previous`` those of the previous positions.
        radius, friction: (n,) f4.
        reach: (3,) centre and radius of a sphere around the shape, the largest particle included; None for a plane.
    """

    collidable: int
    shape: Shape
    particles: Array
    previous: Array
    radius: Array
    friction: Array
    reach: tuple[Array, np.float32] | None


@dataclass(frozen=True, eq=False)
class Moving:
    """A collidable at one substep: map (4, 3, 1), velocities (3, 1), seconds of the substep."""

    place: Array
    linear: Array
    angular: Array
    dt: np.float32


def collide(one: Candidates, moving: Moving, flat: Array, roots: Roots) -> None:
    """Resolve the contacts of a cloth with a collidable, on the flat store."""
    points = flat.take(one.particles)
    rows = None
    if one.reach is not None:
        gap = points - world_point(moving.place, one.reach[0])
        rows = np.flatnonzero(dot(gap, gap) <= one.reach[1] * one.reach[1])
        if not len(rows):
            return
        points = points[:, rows]
    radius = one.radius if rows is None else one.radius[rows]
    distance, normal, surface = nearest(one.shape, moving.place, points, radius, roots)
    touching = np.flatnonzero(distance - radius < ZERO)
    if not len(touching):
        return
    chosen = touching if rows is None else rows[touching]
    places, before = one.particles[:, chosen], one.previous[:, chosen]
    normal, surface = normal[:, touching], surface[:, touching]
    points = points[:, touching]
    points = points + (radius[touching] - dot(points - surface, normal)) * normal
    carried = (moving.linear + cross(moving.angular, surface - moving.place[3])) * moving.dt
    previous = flat.take(before)
    velocity = (points - previous) - carried
    sliding = velocity - dot(velocity, normal) * normal
    flat[places] = points
    flat[before] = previous + sliding * one.friction[chosen]


def reach_of(shape: Shape, radius: np.float32) -> tuple[Array, np.float32] | None:
    """Return a sphere, in the shape's space, that holds every particle that can touch the shape."""
    match shape:
        case Sphere():
            center, size = shape.center, shape.radius
        case Capsule():
            center, size = _middle(shape.start, shape.end, shape.radius)
        case TaperedCapsule():
            center, size = _middle(shape.small, shape.big, max(shape.small_radius, shape.big_radius))
        case ConvexGeometry():
            center, size = _middle(shape.bounds[0], shape.bounds[1], ZERO)
        case _:
            return None
    return np.asarray(center, np.float32), np.float32((size + radius) * MARGIN + SLACK)


def _middle(start: Array, end: Array, radius: np.float32) -> tuple[Array, np.float32]:
    half = (end.astype(np.float64) - start) / 2
    return (start + half).astype(np.float32), np.float32(np.linalg.norm(half) + radius)


def nearest(shape: Shape, place: Array, points: Array, radius: Array, roots: Roots) -> Hit:
    """Return where a shape's surface is, seen from points.

    Args:
        shape: the shape.
        place: (4, 3, 1) map of its space to the world.
        points: (3, n).
        radius: (n,) of the particles; only convex bodies look at it.
        roots: how lengths are inverted.
    """
    match shape:
        case Sphere():
            return _sphere(world_point(place, shape.center), shape.radius, points, roots)
        case Capsule():
            return _capsule(shape, place, points, roots)
        case TaperedCapsule():
            return _tapered(shape, place, points, roots)
        case Plane():
            return _plane(shape, place, points)
        case ConvexGeometry():
            return _convex(shape, place, points, radius, roots)
    return np.full(points.shape[1], FAR), points, points


def world_points(place: Array, points: Array) -> Array:
    """Return points (3, n) of a shape in the world: the translation is added last."""
    return ((place[0] * points[0] + place[1] * points[1]) + place[2] * points[2]) + place[3]


def world_point(place: Array, point: Array) -> Array:
    """Return one point (3,) of a shape in the world, (3, 1)."""
    return world_points(place, point[:, None])


def _sphere(center: Array, radius: np.float32, points: Array, roots: Roots, slack: np.float32 = EPSILON) -> Hit:
    """Answer for spheres: ``center`` (3, 1) or (3, n)."""
    gap = points - center
    square = dot(gap, gap) + slack
    inverse = np.empty_like(square)
    roots.refined(square, inverse)
    normal = gap * inverse
    return square * inverse - radius, normal, center + normal * radius


def _capsule(shape: Capsule, place: Array, points: Array, roots: Roots) -> Hit:
    start, end = world_point(place, shape.start), world_point(place, shape.end)
    along = end - start
    square = dot(along, along)
    inverse = np.empty_like(square)
    roots.refined(square, inverse)
    length = square * inverse
    scale = ONE / (length * length)
    share = np.minimum(np.maximum(dot(points - start, along) * scale, ZERO), ONE)
    return _sphere(start + share * along, shape.radius, points, roots)


def _tapered(shape: TaperedCapsule, place: Array, points: Array, roots: Roots) -> Hit:
    small, big = world_point(place, shape.small), world_point(place, shape.big)
    cone = Cone.between((small, big), (shape.small_radius, shape.big_radius), roots)
    axis = cone.axis
    gap = points - (small - cone.base * axis)
    along = dot(gap, axis)
    beside = cross(np.broadcast_to(axis, gap.shape), cross(gap, np.broadcast_to(axis, gap.shape)))
    square = dot(beside, beside) + EPSILON
    inverse = np.empty_like(square)
    roots.refined(square, inverse)
    beside = beside * inverse
    height = square * inverse
    first = cone.base - cone.tangent * height
    last = cone.length + first
    normal: Array = cone.cosine * beside - cone.sine * axis
    square = dot(normal, normal)
    roots.rough(square, inverse)
    normal = normal * inverse
    distance: Array = (height - cone.tangent * along) * cone.cosine
    surface: Array = points - normal * distance
    spheres = (small, shape.small_radius, along < first), (big, shape.big_radius, last < along)
    for center, radius, ends in spheres:
        own_distance, own_normal, own_surface = _sphere(center, radius, points, roots, ZERO)
        distance = np.where(ends, own_distance, distance)
        normal = np.where(ends, own_normal, normal)
        surface = np.where(ends, own_surface, surface)
    return distance, normal, surface


@dataclass(frozen=True, eq=False)
class Cone:
    """What follows from a tapered capsule's ends, of n capsules: (3, n) axis, (n,) the rest.

    The members that files store agree with these to a few units in the last place, the length without an epsilon.

    Attributes:
        axis: unit vector from the small to the big end.
        length: between the centres.
        sine, cosine, tangent: of the half angle.
        base: distance of the small centre from the apex.
    """

    axis: Array
    length: Array
    sine: Array
    cosine: Array
    tangent: Array
    base: Array

    @classmethod
    def between(cls, ends: tuple[Array, Array], radii: tuple[np.float32, np.float32], roots: Roots) -> Cone:
        """Return the cone of two centres (3, n) and their radii, the smaller first."""
        along = ends[1] - ends[0]
        square = dot(along, along)
        inverse = np.empty_like(square)
        roots.refined(square, inverse)
        length = square * inverse
        wider = radii[1] - radii[0]
        sine = wider / length
        height = ((length * length - wider * wider) * radii[1]) / (wider * length)
        squared = (radii[1] * height) * sine
        cosine = height / np.sqrt(squared + height * height)
        return cls(along * inverse, length, sine, cosine, np.sqrt(squared) / height, radii[0] / sine)


def _plane(shape: Plane, place: Array, points: Array) -> Hit:
    """Answer for a plane, ``((x px + y py) + z pz) + w`` (seed "Havok cloth data")."""
    turned = transform_directions(place, shape.equation[:3, None])
    offset = shape.equation[3] - dot(place[3], turned)
    normal = np.broadcast_to(turned, points.shape)
    distance = dot(points, normal) + offset
    return distance, normal, points - distance * normal


def _convex(shape: ConvexGeometry, place: Array, points: Array, radius: Array, roots: Roots) -> Hit:
    """Answer for a convex body: the tetrahedron that holds a point tells the face it is pushed out of.

    The tetrahedra of the point's cell are tried in their order until one holds it, or has it outside its face by more
    than the particle's radius (notes on cloth, 4.3). A point that none holds is far. The matrices stored in the shape
    are taken for what the game last wrote there: the collidable's place is what counts. No file at hand has such a
    shape.
    """
    gap = points - place[3]
    local = np.stack([dot(np.broadcast_to(column, gap.shape), gap) for column in place[:3]])
    faces = shape.equations
    if not len(faces):
        return np.full(points.shape[1], FAR), points, points
    trying = ((local >= shape.bounds[0][:, None] - radius) & (local <= shape.bounds[1][:, None] + radius)).all(0)
    found = np.full(points.shape[1], -1)
    for face in _candidate_faces(shape, local):
        trying &= (face >= 0) & (face < len(faces))
        if not trying.any():
            break
        planes = faces[np.where(trying, face, 0)].transpose(1, 2, 0)
        depth = ((planes[:, 0] * local[0] + planes[:, 1] * local[1]) + planes[:, 2] * local[2]) + planes[:, 3]
        near = depth[0] <= radius
        hit = trying & near & (depth[1:] <= ZERO).all(0)
        found = np.where(hit, face, found)
        trying &= near & ~hit
    chosen = faces[np.maximum(found, 0), 0].T
    distance = ((chosen[0] * local[0] + chosen[1] * local[1]) + chosen[2] * local[2]) + chosen[3]
    outward = local - shape.centroid[:, None]
    square = dot(outward, outward)
    inverse = np.empty_like(square)
    roots.refined(square, inverse)
    outward = outward * inverse
    facing = np.maximum(dot(chosen[:3], outward), EPSILON)
    surface = local + outward * (-distance * (ONE / facing))
    return np.where(found < 0, FAR, distance), transform_directions(place, chosen[:3]), world_points(place, surface)


def _candidate_faces(shape: ConvexGeometry, local: Array) -> Iterator[Array]:
    """Yield the tetrahedra to try for points, (n,) each, one after another; -1 where a point has no more.

    Those of the point's cell, ``(x res + y) res + z``; all where there is no grid. A cell ends where the next starts.

    Args:
        shape: the body.
        local: (3, n) f4 points in its space.
    """
    count, side = local.shape[1], shape.resolution
    if side < 2 or len(shape.grid) < side**3:
        yield from (np.full(count, face) for face in range(len(shape.equations)))
        return
    steps = (local - shape.bounds[0][:, None]) * shape.inverse_cell_size[:, None]
    x, y, z = np.nan_to_num(np.clip(steps, 0, side - 1)).astype(np.intp)
    cell = (x * side + y) * side + z
    bounds = np.append(shape.grid[: side**3].astype(np.intp), len(shape.cells))
    first, last = bounds[cell], np.minimum(bounds[cell + 1], len(shape.cells))
    for number in range(max(0, int((last - first).max(initial=0)))):
        place = first + number
        inside = place < last
        yield np.where(inside, shape.cells[np.where(inside, place, 0)].astype(np.intp), -1)
