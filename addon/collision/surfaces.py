"""The whole surface of a body: what its shape stores, and what it means without storing triangles.

Convex shapes without faces and point sets are the hulls of their points; those in one plane are their outline, one side
only. Spheres, capsules and cylinders are tessellated. Polytopes are shown as stored: the surface that collides lies a
convex radius outside of their faces.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import IntEnum

import numpy as np

from ..codec.binary import Array
from ..codec.errors import FormatError
from ..codec.havok.collision import Body, Triangles
from ..codec.havok.collision import custom as customs
from ..codec.havok.collision.decode import joined, materials_of, plain
from ..codec.havok.collision.shapes import (
    ConvexShape,
    ExternShape,
    GroupShape,
    MeshShape,
    RoundShape,
    Shape,
    UnknownShape,
)
from ..maths import affine, hulls, quaternions, solids

MAX_HULL_POINTS = 1024
MAX_PARTS = 65536


class SurfaceKind(IntEnum):
    """What a triangle comes from."""

    MESH = 0  # a compressed mesh
    EXTERN_MESH = 1  # an extern mesh
    CONVEX = 2  # a convex shape of its own
    EXTERN_SHAPE = 3  # a shape that a compressed mesh refers to
    POINTS = 4  # a point set of a compressed mesh


@dataclass(frozen=True, eq=False)
class Surface:
    """Triangles in the space of the file, the body's pose applied.

    Attributes:
        mesh: the triangles; wound so that ``(b - a) x (c - a)`` points out of the body, in the games' axes.
        kind: (m,) u1 of `SurfaceKind`.
        warnings: what of the shape is not shown.
    """

    mesh: Triangles
    kind: Array
    warnings: list[str]


def surface(body: Body) -> Surface:
    """Return the surface of a body.

    Raises:
        FormatError: a custom primitive that refers to a shape that is not there, shapes beyond count or size.
    """
    builder = _Builder()
    if body.shape is not None:
        builder.add(body.shape, np.eye(4), None)
    if not builder.parts:
        return Surface(plain(np.zeros((0, 3)), np.zeros((0, 3))), np.zeros(0, np.uint8), builder.warnings)
    mesh = joined([mesh for mesh, _ in builder.parts])
    kinds = np.concatenate([np.full(len(mesh), kind, np.uint8) for mesh, kind in builder.parts])
    turned = (body.orientation[:3] != 0).any()
    if turned or (body.position != 0).any():
        pose = np.eye(4)
        pose[:3, :3], pose[:3, 3] = quaternions.matrices(body.orientation), body.position
        mesh = _moved(mesh, pose)
    return Surface(mesh, kinds, builder.warnings)


class _Builder:
    """Collects the triangles of a shape and of the shapes inside it."""

    def __init__(self) -> None:
        self.parts: list[tuple[Triangles, SurfaceKind]] = []
        self.warnings: list[str] = []

    def add(self, shape: Shape, matrix: Array, kind: SurfaceKind | None) -> None:
        """Add a shape placed by a matrix; ``kind`` says what it counts as, None for what it is."""
        if isinstance(shape, MeshShape):
            self._put(shape.triangles, matrix, kind or SurfaceKind.MESH)
            self._add_custom(shape, matrix)
        elif isinstance(shape, ExternShape):
            self._put(shape.triangles, matrix, kind or SurfaceKind.EXTERN_MESH)
        elif isinstance(shape, ConvexShape):
            self._put(_convex(shape), matrix, kind or SurfaceKind.CONVEX)
        elif isinstance(shape, GroupShape):
            for inner in shape.instances:
                self.add(inner.shape, matrix @ inner.matrix, kind)
        elif isinstance(shape, UnknownShape):
            self.warnings.append(f"shapes of the class {shape.name} are not shown")

    def _put(self, mesh: Triangles, matrix: Array, kind: SurfaceKind) -> None:
        if len(self.parts) >= MAX_PARTS:
            raise FormatError(f"a body of more than {MAX_PARTS} shapes")
        if len(mesh) or len(mesh.vertices):
            still = (matrix == np.eye(4)).all()
            self.parts.append((mesh if still else _moved(mesh, matrix), kind))

    def _add_custom(self, shape: MeshShape, matrix: Array) -> None:
        """Add the custom primitives of a compressed mesh, each under its key."""
        custom = shape.custom
        unknown = int((custom.kind == customs.UNKNOWN).sum())
        if unknown:
            self.warnings.append(f"{unknown} custom primitives of an unknown kind are not shown")
        for place in range(len(custom)):
            inner = _Builder()
            if custom.kind[place] == customs.POINTS:
                points = custom.points[place]
                inner._put(plain(points, hulls.hull(points)), matrix, SurfaceKind.POINTS)
            elif custom.kind[place] == customs.EXTERN:
                number = int(custom.extern[place])
                if number >= len(shape.externs):
                    shape.mesh.fail(f"extern shape {number} of {len(shape.externs)}", f"key {custom.keys[place]}")
                instance = shape.externs[number]
                inner.add(instance.shape, matrix @ instance.matrix, SurfaceKind.EXTERN_SHAPE)
            self.warnings += inner.warnings
            for mesh, kind in inner.parts:
                self._put(_keyed(mesh, shape, place), np.eye(4), kind)


def _keyed(mesh: Triangles, shape: MeshShape, place: int) -> Triangles:
    """Return triangles with the key and material of a custom primitive."""
    custom, count = shape.custom, len(mesh)
    key = np.full(count, custom.keys[place], np.uint32)
    row, data, material = materials_of(shape.mesh, key)
    section, primitive = (np.full(count, part[place], np.int32) for part in (custom.section, custom.primitive))
    return replace(
        mesh, keys=key, section=section, primitive=primitive, half=np.zeros(count, np.int32), row=row,
        primitive_data=data, materials=material,
    )  # fmt: skip


def _convex(shape: ConvexShape) -> Triangles:
    if isinstance(shape, RoundShape):
        build = solids.cylinder if shape.kind == "cylinder" else solids.capsule
        return plain(*build(shape.a, shape.b, shape.thickness))
    if len(shape.faces):
        return shape.triangles
    if len(shape.vertices) > MAX_HULL_POINTS:
        raise FormatError(f"a {shape.name} of {len(shape.vertices)} vertices without faces")
    return plain(shape.vertices, hulls.hull(shape.vertices))


def _moved(mesh: Triangles, matrix: Array) -> Triangles:
    """Return triangles placed by an affine map; a reflection turns their winding."""
    triangles = mesh.triangles
    if np.linalg.det(matrix[:3, :3]) < 0:
        triangles = np.ascontiguousarray(triangles[:, [0, 2, 1]])
    placed = affine.transform_points(matrix, mesh.vertices)
    return replace(mesh, vertices=placed.astype(np.float32), triangles=triangles)
