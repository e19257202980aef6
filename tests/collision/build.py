"""Compressed meshes of the tests' own, made by the compiler, with what it does not make put in afterwards.

That is dead primitives, and sections that find their shared vertices on a page above 0 though there are few of them.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from addon.codec.havok.collision import keys
from addon.codec.havok.collision.bodies import Body
from addon.codec.havok.collision.custom import read_custom
from addon.codec.havok.collision.decode import CUSTOM, DEAD, QUAD, decode, list_primitives
from addon.codec.havok.collision.mesh import CompressedMesh
from addon.codec.havok.collision.shapes import MeshShape, Shape, ShapeInstance
from addon.codec.havok.collision.simd import LEAF
from addon.collision.compiler import Compiled, CompileSettings, CustomPart, compile_mesh
from addon.collision.compiler.simd_tree import simd_tree

PAGE = 65536


@dataclass
class Source:
    """What a mesh is made of.

    Attributes:
        vertices: (n, 3) f4.
        quads: (q, 4) vertex numbers, rows ``a b c`` and ``a c d``.
        triangles: (t, 3) vertex numbers.
        names: hit material of each quad, then of each triangle.
        points: point sets, (k, 3) f4 each.
        externs: shapes that the mesh refers to, each once.
        dead: dead primitives to put in.
    """

    vertices: np.ndarray
    quads: np.ndarray = field(default_factory=lambda: np.zeros((0, 4), int))
    triangles: np.ndarray = field(default_factory=lambda: np.zeros((0, 3), int))
    names: np.ndarray | None = None
    points: list[np.ndarray] = field(default_factory=list)
    externs: list[tuple[ShapeInstance, np.ndarray]] = field(default_factory=list)
    dead: int = 0


def grid(side: int, step: float = 1.0, height: float = 0.5, origin=(0, 0, 0)) -> Source:
    """Return a bumpy ground of side x side cells, a third of them quads, materials in stripes."""
    x, z = np.meshgrid(np.arange(side + 1), np.arange(side + 1), indexing="ij")
    y = height * np.sin(x * 0.7) * np.cos(z * 0.4)
    vertices = (np.stack([x * step, y, z * step], axis=-1).reshape(-1, 3) + origin).astype(np.float32)
    corner = (np.arange(side)[:, None] * (side + 1) + np.arange(side)).ravel()
    cells = np.stack([corner, corner + 1, corner + side + 2, corner + side + 1], axis=1)
    whole = np.arange(len(cells)) % 3 == 0
    triangles = cells[~whole][:, [0, 1, 2, 0, 2, 3]].reshape(-1, 3)
    names = 21 + np.r_[corner[whole] // 40 % 5, np.repeat(corner[~whole] // 40 % 5, 2)]
    return Source(vertices, cells[whole], triangles, names.astype(np.uint32))


def build(source: Source, radius: float = 0.015, *, flagged: bool = True, page: int = 0, simd: bool = True):
    """Return a `MeshShape`; ``flagged`` chooses the SDK, ``page`` where every other section finds shared vertices."""
    quads, triangles = np.asarray(source.quads), np.asarray(source.triangles)
    vertices, extra = _apart(source.vertices, source.dead)
    rows = np.concatenate([quads[:, [0, 1, 2, 0, 2, 3]].reshape(-1, 3), triangles, extra]).astype(int)
    names = np.full(len(quads) + len(triangles), 21, "u4") if source.names is None else source.names
    repeats = np.r_[np.full(len(quads), 2), np.ones(len(triangles), int)]
    names = np.r_[np.repeat(names, repeats), np.full(len(extra), names[0] if len(names) else 21)]
    boxes = [np.stack([each.min(axis=0), each.max(axis=0)]) for each in source.points]
    none = np.zeros((0, 3), "f4")
    customs = [CustomPart(box, -1, each) for box, each in zip(boxes, source.points, strict=True)]
    customs += [CustomPart(np.asarray(box, "f4"), number, none) for number, (_, box) in enumerate(source.externs)]
    settings = CompileSettings("20180100" if flagged else "20160200", radius, simd=simd)
    externs = [instance for instance, _ in source.externs]
    made = compile_mesh(vertices, rows, names, settings, customs=customs, externs=externs)
    assert not len(made.left_out)
    if source.dead:
        _kill(made, source.dead)
    if page:
        _turn_pages(made.shape.mesh, page)
    return shape_of(made.shape.mesh, externs)


def _apart(vertices: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Return vertices with more, and triangles of those that share none with others."""
    if not count:
        return vertices, np.zeros((0, 3), int)
    points = vertices.mean(axis=0) + np.array([[0, 0, 0], [0.5, 0, 0], [0, 0, 0.5]])
    more = (points + np.arange(count)[:, None, None] * 0.1).reshape(-1, 3)
    corners = np.arange(3 * count).reshape(-1, 3) + len(vertices)
    return np.concatenate([vertices, more]).astype("f4"), corners


def _kill(made: Compiled, count: int) -> None:
    """Make the triangles of the last rows dead primitives."""
    mesh = made.shape.mesh
    section, primitive, _ = keys.parts(made.keys[-count:])
    place = mesh.sections["first_primitive"][section] + primitive
    mesh.primitives.view("<u4")[place, 0] = DEAD
    primitives = list_primitives(mesh)
    alive = primitives.kind <= CUSTOM
    mesh.max_key = int((primitives.keys + (primitives.kind == QUAD))[alive].max())
    mesh.key_bits = mesh.shape_bits = keys.width_for(mesh.max_key)
    mesh.interior = mesh.interior[: mesh.max_key + 1]
    mesh.rows = keys.to_left(made.keys[:-count], mesh.shape_bits)
    table = mesh.materials
    mesh.materials = replace(
        table, primitive_data=table.primitive_data[:-count], triangle_data=table.triangle_data[:-count],
        vertices=table.vertices[:-count],
    )  # fmt: skip
    node, lane = np.nonzero((mesh.simd.kind == LEAF) & ~np.isin(mesh.simd.value, made.keys[-count:]))
    if len(node):
        order = np.argsort(mesh.simd.value[node, lane])
        boxes, named = mesh.simd.boxes[node, lane][order], mesh.simd.value[node, lane][order]
        mesh.simd = simd_tree(boxes, named, flagged=mesh.simd.leaf_flags)


def _turn_pages(mesh: CompressedMesh, page: int) -> None:
    """Store the shared vertices again on a page, one place further, and let every other section take those."""
    room = np.zeros(page * PAGE + 1 - len(mesh.shared), np.uint64)
    mesh.shared = np.concatenate([mesh.shared, room, mesh.shared])
    turned = np.arange(len(mesh.sections)) % 2 == 0
    assert not mesh.sections["flags"].any()  # records of custom primitives are not moved
    mesh.sections["page"][turned] = page
    mesh.shared_index += np.repeat(turned, mesh.sections["num_shared"]).astype(np.uint16)


def shape_of(mesh: CompressedMesh, externs=()) -> MeshShape:
    primitives = list_primitives(mesh)
    return MeshShape(
        name="fsnpCustomParamCompressedMeshShape", type=9, flags=4, key_bits=mesh.shape_bits, radius=mesh.radius,
        user_data=0, mesh=mesh, primitives=primitives, decoded=decode(mesh, primitives),
        custom=read_custom(mesh, primitives), externs=list(externs),
    )  # fmt: skip


def body(shape: Shape | None, name: str = "h000100", position=(0, 0, 0), orientation=(0, 0, 0, 1), **fields) -> Body:
    mesh = shape.triangles if shape is not None else None
    values = {"motionType": 0, "mass": 0.0, "motionId": 0x7FFFFFFF, "attachedBody": -1} | fields
    place, turn = np.array(position, np.float32), np.array(orientation, np.float32)
    return Body(name, 0, 0, False, shape, place, turn, mesh, values)  # noqa: FBT003
