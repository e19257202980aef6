"""Triangles -> a compressed mesh, as the games' tool makes it; the steps are in the modules beside this one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...codec.binary import Array
from ...codec.errors import FormatError
from ...codec.havok.collision.custom import read_custom
from ...codec.havok.collision.decode import CUSTOM, QUAD, decode, list_primitives
from ...codec.havok.collision.keys import width_for
from ...codec.havok.collision.mesh import CompressedMesh
from ...codec.havok.collision.shapes import MeshShape, ShapeInstance
from ..corners import corner_points
from .binary import Preorder
from .customs import store_points
from .cut import cut_sections
from .insertion import insertion_order
from .interior import interior_bits
from .layout import Layout
from .leaves import CustomPart, Leaves
from .nodes import store_trees
from .quads import pair_quads
from .rebuild import rebuild
from .refinement import put_larger_first, refine
from .settings import CompileSettings, Progress, no_progress
from .simd_tree import simd_tree
from .source import Rows, keep_rows
from .tables import material_indices, material_table
from .vertices import empty_mesh, store_vertices

SHAPE_TYPE = 9  # compressed mesh
SHAPE_FLAGS = 4  # composite
CLASS, CUSTOM_CLASS = "hknpCompressedMeshShape", "fsnpCustomParamCompressedMeshShape"


@dataclass(frozen=True, eq=False)
class Compiled:
    """A compiled mesh.

    Attributes:
        shape: the shape, ready to be written.
        left_out: (k,) i8, triangles that are not in it, for they are degenerate.
        kept: (m,) i8, triangle of the source of each row of the material table.
        keys: (m,) u4 shape key of each of these.
    """

    shape: MeshShape
    left_out: Array
    kept: Array
    keys: Array


def compile_mesh(
    vertices: Array,
    triangles: Array,
    materials: Array,
    settings: CompileSettings | None = None,
    *,
    customs: Sequence[CustomPart] = (),
    externs: Sequence[ShapeInstance] = (),
    progress: Progress = no_progress,
) -> Compiled:
    """Compile a mesh.

    Args:
        vertices: (n, 3) f4, metres, in the space of the shape.
        triangles: (m, 3) vertex numbers, wound so that ``(b - a) x (c - a)`` points outwards.
        materials: (m,) hit material ids.
        settings: how.
        customs: parts that are no triangles: references to ``externs``, and point sets.
        externs: the shapes that the mesh refers to.
        progress: called with the stage and the fraction that is done; may raise `Cancelled`.

    Raises:
        FormatError: arrays that do not fit together, a corner that is no number, a mesh that is too large.
    """
    settings = settings or CompileSettings()
    vertices = np.ascontiguousarray(vertices, np.float32).reshape(-1, 3)
    triangles = np.ascontiguousarray(triangles, np.int64).reshape(-1, 3)
    if len(materials) != len(triangles):
        raise FormatError(f"{len(triangles)} triangles with {len(materials)} materials")
    progress("triangles", 0.0)
    names, data = material_indices(np.asarray(materials), settings.names)
    rows = keep_rows(vertices, triangles, data)
    progress("quads", 0.02)
    radius = np.float32(settings.radius)
    leaves = Leaves.of(rows, pair_quads(rows), list(customs), radius)
    progress("tree", 0.1)
    layout = _lay_out(leaves, progress)
    progress("sections", 0.7)
    if layout is None:
        mesh, keys = empty_mesh(settings), np.zeros(0, np.uint32)
    else:
        mesh, keys = _store(rows, leaves, layout, list(customs), settings)
    if settings.rows:
        mesh.rows, mesh.materials = material_table(keys, mesh.shape_bits, rows, triangles, names)
    progress("interior", 0.8)
    primitives = list_primitives(mesh)
    decoded = decode(mesh, primitives)
    mesh.interior = interior_bits(mesh, primitives, decoded)
    decoded = replace(decoded, interior=mesh.interior[decoded.keys])
    shape = MeshShape(
        name=CUSTOM_CLASS if settings.rows else CLASS, type=SHAPE_TYPE, flags=SHAPE_FLAGS, key_bits=mesh.shape_bits,
        radius=mesh.radius, user_data=0, mesh=mesh, primitives=primitives, decoded=decoded,
        custom=read_custom(mesh, primitives), externs=list(externs),
    )  # fmt: skip
    progress("done", 1.0)
    return Compiled(shape, rows.left_out, rows.source, keys)


def _lay_out(leaves: Leaves, progress: Progress) -> Layout | None:
    """Build the tree over leaves and cut it; None where there are no leaves."""
    if not len(leaves):
        return None
    order = insertion_order(leaves.low, leaves.high, lambda done: progress("tree", 0.1 + 0.4 * done))
    progress("tree", 0.5)
    tree = rebuild(order, leaves.low, leaves.high)
    progress("tree", 0.6)
    refine(tree)
    put_larger_first(tree)
    preorder = Preorder.of(tree)
    return Layout.of(tree, preorder, cut_sections(tree, preorder, leaves.slots))


def _store(
    rows: Rows, leaves: Leaves, layout: Layout, customs: list[CustomPart], settings: CompileSettings
) -> tuple[CompressedMesh, Array]:
    """Return the mesh, but for interior bits and material table, and the key of each row, (m,) u4."""
    mesh, keys, words = store_vertices(rows, leaves, layout, customs, settings)
    primitives = list_primitives(mesh)
    points = corner_points(primitives, decode(mesh, primitives))
    store_trees(mesh, layout, primitives, points)
    store_points(mesh, words, layout.payload[leaves.kind[layout.walk] == CUSTOM])
    kind, named = primitives.kind, primitives.keys
    mesh.max_key = int((named + (kind == QUAD)).max())
    mesh.key_bits = mesh.shape_bits = width_for(mesh.max_key)
    mesh.key_count = len(kind) + int((kind == QUAD).sum())
    if not settings.simd:
        return mesh, keys
    boxes = np.stack([points.min(axis=1), points.max(axis=1)], axis=1)
    if customs:
        number = layout.walk[layout.stored] - (len(leaves) - len(customs))
        boxes[kind == CUSTOM] = np.array([part.box for part in customs], np.float32)[number[kind == CUSTOM]]
    mesh.simd = simd_tree(boxes, named, flagged=settings.sdk == "20180100")
    return mesh, keys
