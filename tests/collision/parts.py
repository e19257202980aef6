"""Shapes of the tests' own that are no compressed meshes."""

from __future__ import annotations

import numpy as np

from addon.codec.havok.collision.shapes import ConvexShape, ExternShape, GroupShape, RoundShape, ShapeInstance
from addon.codec.havok.collision.trees import Nodes
from addon.collision.compiler.simd_tree import simd_tree

COMMON = {"flags": 0, "key_bits": 0, "radius": 0.0, "user_data": 0}
BOX_FACES = np.array([[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]], "u1")


def box(size=(2, 2, 2), centre=(0, 0, 0), *, faces: bool = True, name: str = "hknpConvexPolytopeShape") -> ConvexShape:
    """Return a box of eight corners; without faces only its hull is meant."""
    corners = np.array([(x, y, z) for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)], "f4")
    vertices = (corners * np.float32(size) + np.float32(centre)).astype("f4")
    runs = np.array([(4 * face, 4) for face in range(6)], "i4")
    return ConvexShape(
        name=name, type=1, **COMMON, vertices=vertices, planes=np.zeros((8, 4), "f4"),
        faces=runs if faces else runs[:0], indices=BOX_FACES.ravel() if faces else BOX_FACES.ravel()[:0],
    )  # fmt: skip


def ball(kind: str, a, b, thickness: float) -> RoundShape:
    """Return a sphere, capsule or cylinder."""
    name = f"hknp{kind.capitalize()}Shape"
    return RoundShape(
        name=name, type=2, **(COMMON | {"radius": thickness if kind == "sphere" else 0.0}), kind=kind,
        a=np.float32(a), b=np.float32(b), thickness=thickness, vertices=np.float32([a] * 4),
        planes=np.zeros((0, 4), "f4"), faces=np.zeros((0, 2), "i4"), indices=np.zeros(0, "u1"),
    )  # fmt: skip


def group(*instances: tuple[np.ndarray, object], name: str = "hknpCompoundShape") -> GroupShape:
    """Return a compound of shapes with their matrices."""
    made = [ShapeInstance(matrix=np.asarray(matrix, "f4"), shape=shape) for matrix, shape in instances]
    return GroupShape(name=name, type=12, **COMMON, instances=made)


def extern(side: int = 3, *, old: bool = False) -> ExternShape:
    """Return an extern mesh of a flat ground; ``old`` gives it the tree of 2016.2."""
    x, z = np.meshgrid(np.arange(side + 1.0), np.arange(side + 1.0), indexing="ij")
    vertices = np.stack([x, 0 * x, z], axis=-1).reshape(-1, 3).astype("f4")
    corner = (np.arange(side)[:, None] * (side + 1) + np.arange(side)).ravel()
    cells = np.stack([corner, corner + 1, corner + side + 2, corner + side + 1], axis=1)
    indices = cells[:, [0, 1, 2, 0, 2, 3]].reshape(-1, 3).astype("i4")
    count = len(indices)
    bits = count.bit_length() + (not old)
    shape = ExternShape(
        name="hknpExternMeshShape", type=10, **(COMMON | {"key_bits": bits}), vertices=vertices, indices=indices,
        materials=np.full(count, 0xFFFFFFFF, "u4"),
    )  # fmt: skip
    if old:
        # a comb: every inner node has a leaf first
        inner = np.arange(2 * count - 1) % 2 == 0
        inner[-1] = False
        value = np.where(inner, 1, (np.arange(2 * count - 1)) // 2)
        value[-1] = count - 1
        shape.tree = Nodes(np.zeros((2 * count - 1, 3), "u1"), inner, value)
        low, high = vertices.min(axis=0), vertices.max(axis=0)
        shape.domain = np.c_[[low, high], [1, 1]].astype("f4")
        shape.simd = None
    else:
        points = vertices[indices]
        boxes = np.stack([points.min(axis=1), points.max(axis=1)], axis=1)
        shape.simd = simd_tree(boxes, np.arange(count, dtype="u4"), flagged=True)
    return shape
