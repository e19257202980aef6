"""Extern meshes: a geometry as it is, under a tree (2016.2) or a simd tree (2018.1); nothing is quantised."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...codec.binary import Array
from ...codec.errors import FormatError
from ...codec.havok.collision.decode import NO_MATERIAL
from ...codec.havok.collision.shapes import ExternShape
from ...codec.havok.collision.simd import empty_simd
from ...codec.havok.collision.trees import Nodes
from .binary import Preorder
from .insertion import insertion_order
from .nibbles import store_nodes
from .rebuild import rebuild
from .refinement import put_larger_first, refine
from .settings import Progress, no_progress
from .simd_tree import simd_tree
from .source import FARTHEST

SHAPE_TYPE = 10  # extern mesh
SHAPE_FLAGS = 4  # composite
MAX_TRIANGLES = 1 << 23  # what a leaf of the tree can name
IN_ORDER = 32  # triangles up to which simd trees keep the order of their keys (seed 003)


@dataclass(frozen=True, eq=False)
class CompiledExtern:
    """A compiled extern mesh.

    Attributes:
        shape: the shape, ready to be written.
        left_out: (k,) i8, triangles that are not in it, for two of their corners are one vertex.
        kept: (m,) i8, the others.
    """

    shape: ExternShape
    left_out: Array
    kept: Array


def compile_extern(
    vertices: Array, triangles: Array, sdk: str, *, materials: Array | None = None, progress: Progress = no_progress
) -> CompiledExtern:
    """Compile an extern mesh.

    Args:
        vertices: (n, 3) f4, metres, in the space of the shape.
        triangles: (m, 3) vertex numbers.
        sdk: "20160200" makes the tree of class version 2, "20180100" the simd tree of version 3.
        materials: (m,) u4 as stored; the games have -1 everywhere, which is the default.
        progress: called with the stage and the fraction that is done; may raise to stop.

    Raises:
        FormatError: a triangle of a vertex that is not there, a vertex that is no number, too many triangles.
    """
    vertices = np.ascontiguousarray(vertices, np.float32).reshape(-1, 3)
    triangles = np.ascontiguousarray(triangles, np.int64).reshape(-1, 3)
    if ((triangles < 0) | (triangles >= len(vertices))).any() or not (np.abs(vertices) <= FARTHEST).all():
        raise FormatError(f"triangles of vertices that are not there, or not at a place, among {len(vertices)}")
    following = triangles[:, [1, 2, 0]]
    kept = np.flatnonzero((triangles != following).all(axis=1))
    if len(kept) > MAX_TRIANGLES:
        raise FormatError(f"{len(kept)} triangles, {MAX_TRIANGLES} are possible: divide the mesh")
    stored = np.full(len(triangles), NO_MATERIAL, np.uint32) if materials is None else materials.astype(np.uint32)
    old, chosen = sdk == "20160200", triangles[kept]
    bits = len(kept).bit_length() + (not old) if len(kept) else 0
    shape = ExternShape(
        name="hknpExternMeshShape", type=SHAPE_TYPE, flags=SHAPE_FLAGS, key_bits=bits, radius=0.0, user_data=0,
        vertices=vertices, indices=chosen.astype(np.int32), materials=stored[kept],
    )  # fmt: skip
    points = vertices[chosen]
    boxes = np.stack([points.min(axis=1), points.max(axis=1)], axis=1)
    if old:
        shape.tree, shape.domain = _tree(boxes, vertices, progress)
        shape.simd = empty_simd(flagged=False)
    else:
        shape.simd = simd_tree(boxes, np.arange(len(kept), dtype=np.uint32), flagged=True, sort_from=IN_ORDER + 1)
    progress("done", 1.0)
    left_out = np.setdiff1d(np.arange(len(triangles)), kept)
    return CompiledExtern(shape, left_out, kept)


def _tree(boxes: Array, vertices: Array, progress: Progress) -> tuple[Nodes, Array]:
    """Return the tree over triangles and its domain, (2, 4) f4, the box of the vertices.

    What tree the games' tool builds here is not known; it is built as for compressed meshes.
    """
    domain = np.ones((2, 4), np.float32)
    if not len(boxes):
        domain[:, :3] = 0
        return Nodes(np.zeros((0, 3), np.uint8), np.zeros(0, bool), np.zeros(0, np.int64)), domain
    domain[0, :3], domain[1, :3] = vertices.min(axis=0), vertices.max(axis=0)
    low, high = boxes[:, 0], boxes[:, 1]
    tree = rebuild(insertion_order(low, high, lambda done: progress("tree", 0.8 * done)), low, high)
    refine(tree)
    put_larger_first(tree)
    order = Preorder.of(tree)
    held = np.stack([tree.low, tree.high], axis=1)[order.node]
    return store_nodes(order.size, order.node, held, domain[None, :, :3], np.array([0])), domain
