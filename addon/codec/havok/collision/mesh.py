"""Compressed meshes as stored: sections, primitives, codes, trees and material tables, one form for both SDKs.

The SDKs name a section's runs differently; what 2016.2 packs into words (`sharedVertices`, `primitives`, `dataRuns`:
first << 8 | a count) is taken apart here. By seed 003.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import NoReturn

import numpy as np

from ....maths.runs import starts
from ...binary import Array
from ...errors import FormatError
from ..objects import View
from .simd import SimdTree, read_simd
from .trees import Nodes, read_nodes

SECTION = np.dtype([
    ("domain", "<f4", (2, 4)),  # box of its vertices grown by the convex radius; w: 1 - radius, 1 + radius
    ("codec", "<f4", (2, 3)),  # offset and scale of the packed vertices
    ("first_packed", "<u4"),  # of the mesh's packed vertices
    ("first_shared", "<u4"),  # of the mesh's shared-vertex index
    ("first_primitive", "<u4"),  # of the mesh's primitives
    ("first_run", "<u4"),  # of the mesh's data runs
    ("num_packed", "<u4"),
    ("num_shared", "<u4"),  # not stored in 2018.1: up to the next section's first
    ("num_primitives", "<u4"),
    ("num_runs", "<u4"),
    ("leaf_index", "<u2"),  # the node of the mesh tree that names the section
    ("page", "u1"),  # of shared vertices: the index holds the low 16 bits of their places, this the rest
    ("layer_data", "u1"),  # 0
    ("flags", "u1"),  # bit 0: the section holds a custom primitive
    ("unused", "u1"),  # 0; 2016.2 only
])  # fmt: skip
DATA_RUN = np.dtype([("value", "<u2"), ("index", "u1"), ("count", "u1")])


@dataclass(eq=False)
class MaterialTable:
    """What ``fsnpCustomMeshParameter`` says of the source triangles, the rows.

    Attributes:
        primitive_data: (rows,) u4, index into ``names``.
        triangle_data: (rows,) u4.
        vertices: (rows, 3) u4, vertex numbers of the source mesh.
        names: (n,) u4, hit material ids, ``materialNameData``.
        version: as stored.
    """

    primitive_data: Array
    triangle_data: Array
    vertices: Array
    names: Array
    version: int


@dataclass(eq=False)
class CompressedMesh:
    """A ``hknpCompressedMeshShape`` with its data.

    Attributes:
        sections: (s,) of `SECTION`.
        primitives: (p, 4) u1.
        packed: (n,) u4 codes, `packing`.
        shared: (m,) u8 codes.
        shared_index: (k,) u2.
        runs: (r,) of `DATA_RUN`.
        domain: (2, 4) f4, of the mesh tree.
        tree: nodes of the mesh tree.
        section_nodes: nodes of all section trees, one after another.
        section_starts: (s + 1,) i64 where each section's nodes start.
        has_simd: ``hasSimdTree``, None where the class lacks it.
        key_count, key_bits, max_key: ``numPrimitiveKeys``, ``bitsPerKey``, ``maxKeyValue``.
        flat_convex: ``primitiveStoresIsFlatConvex``.
        interior: (bits,) bool, one for each key.
        rows: (n,) u4 left-aligned keys by source row; None where the class is not FromSoftware's.
        materials: the material table, None where there is none.
        shape_bits: ``numShapeKeyBits`` of the shape.
        radius: convex radius, metres.
        simd_source: where the simd tree is stored.
        file, trail: for messages.
    """

    sections: Array
    primitives: Array
    packed: Array
    shared: Array
    shared_index: Array
    runs: Array
    domain: Array
    tree: Nodes
    section_nodes: Nodes
    section_starts: Array
    has_simd: bool | None
    key_count: int
    key_bits: int
    max_key: int
    flat_convex: int
    interior: Array
    rows: Array | None = None
    materials: MaterialTable | None = None
    shape_bits: int = 0
    radius: float = 0.0
    simd_source: View | None = field(default=None, repr=False)
    file: str = ""
    trail: str = field(default="", repr=False)

    @cached_property
    def simd(self) -> SimdTree | None:
        """The simd tree, read when first asked for: only checks need it.

        Raises:
            FormatError: its class lacks what is needed.
        """
        return None if self.simd_source is None else read_simd(self.simd_source)

    def fail(self, what: str, step: str) -> NoReturn:
        """Raise `FormatError` about a part of the mesh."""
        raise FormatError(what, self.file, None, f"{self.trail}.{step}")


def read_mesh(shape: View) -> CompressedMesh:
    """Read a ``hknpCompressedMeshShape`` of either SDK.

    Raises:
        FormatError: a class that lacks what is needed, or runs outside of their arrays.
    """
    data = shape.one("data")
    tree = data.one("meshTree")
    sections = tree.many("sections")
    nodes, bounds = sections.links("nodes").joined()
    shared_index = tree.numbers("sharedVerticesIndex", "<u2")
    mesh = CompressedMesh(
        sections=_read_sections(sections, len(shared_index)),
        primitives=tree.many("primitives").numbers("indices", "u1", (4,)),
        packed=tree.numbers("packedVertices", "<u4"),
        shared=tree.numbers("sharedVertices", "<u8"),
        shared_index=shared_index,
        runs=_read_runs(tree.many("primitiveDataRuns")),
        domain=read_box(tree.one("domain")),
        tree=read_nodes(tree.many("nodes")),
        section_nodes=read_nodes(nodes),
        section_starts=bounds,
        has_simd=bool(data["hasSimdTree"]) if "hasSimdTree" in data else None,
        key_count=int(tree.numbers("numPrimitiveKeys", "<i4")),
        key_bits=int(tree.numbers("bitsPerKey", "<i4")),
        max_key=int(tree.numbers("maxKeyValue", "<u4")),
        flat_convex=int(tree["primitiveStoresIsFlatConvex"]) if "primitiveStoresIsFlatConvex" in tree else 0,
        interior=shape.one("triangleIsInterior").bits(),
        shape_bits=int(shape.numbers("numShapeKeyBits", "u1")),
        radius=float(shape.numbers("convexRadius", "<f4")),
        simd_source=data.one("simdTree") if "simdTree" in data else None,
        file=shape.tag.file,
        trail=shape.trail,
    )
    if "triangleIndexToShapeKey" in shape:
        mesh.rows = shape.numbers("triangleIndexToShapeKey", "<u4")
        table = shape.maybe("pParam")
        mesh.materials = None if table is None else _read_materials(table)
    _check_runs(mesh)
    return mesh


def read_box(view: View) -> Array:
    """Read a ``hkAabb``, or an array of them: (..., 2, 4) f4."""
    return np.stack([view.numbers("min", "<f4", (4,)), view.numbers("max", "<f4", (4,))], axis=-2)


def _read_sections(view: View, index_count: int) -> Array:
    out = np.zeros(len(view), SECTION)
    out["domain"] = read_box(view.one("domain"))
    out["codec"] = view.numbers("codecParms", "<f4", (6,)).reshape(-1, 2, 3)
    for name, member in (("page", "page"), ("layer_data", "layerData"), ("flags", "flags")):
        out[name] = view.numbers(member, "u1")
    out["leaf_index"] = view.numbers("leafIndex", "<u2")
    out["num_packed"] = view.numbers("numPackedVertices", "u1")
    if "firstPackedVertexIndex" in view:
        _read_runs_of_2018(view, out, index_count)
    else:
        _read_runs_of_2016(view, out)
    return out


def _read_runs_of_2018(view: View, out: Array, index_count: int) -> None:
    for name, member in (
        ("first_packed", "firstPackedVertexIndex"), ("first_shared", "firstSharedVertexIndex"),
        ("first_primitive", "firstPrimitiveIndex"), ("first_run", "firstDataRunIndex"),
    ):  # fmt: skip
        out[name] = view.numbers(member, "<u4")
    out["num_primitives"] = view.numbers("numPrimitives", "u1")
    out["num_runs"] = view.numbers("numDataRuns", "u1")
    firsts = np.concatenate([out["first_shared"].astype(np.int64), [index_count]])
    bad = np.flatnonzero(np.diff(firsts) < 0)
    if len(bad):
        view.fail("the run of shared vertices ends before it starts", f"[{bad[0]}]")
    out["num_shared"] = np.diff(firsts)


def _read_runs_of_2016(view: View, out: Array) -> None:
    out["first_packed"] = view.numbers("firstPackedVertex", "<u4")
    out["num_shared"] = view.numbers("numSharedIndices", "u1")
    out["unused"] = view.numbers("unusedData", "u1") if "unusedData" in view else 0
    for member, first, count in (
        ("sharedVertices", "first_shared", ""),
        ("primitives", "first_primitive", "num_primitives"),
        ("dataRuns", "first_run", "num_runs"),
    ):
        word = view.one(member).numbers("data", "<u4")
        out[first] = word >> 8
        if count:
            out[count] = word & 0xFF


def _read_runs(view: View) -> Array:
    out = np.zeros(len(view), DATA_RUN)
    holds_record = bool(view.layout.members["value"].layout.members) if "value" in view else False
    out["value"] = view.one("value").numbers("data", "<u2") if holds_record else view.numbers("value", "<u2")
    out["index"], out["count"] = view.numbers("index", "u1"), view.numbers("count", "u1")
    return out


def _read_materials(view: View) -> MaterialTable:
    rows = view.many("triangleDataArray")
    corners = [rows.numbers(f"vertexIndex{corner}", "<u4") for corner in "ABC"]
    return MaterialTable(
        rows.numbers("primitiveDataIndex", "<u4"),
        rows.numbers("triangleDataIndex", "<u4"),
        np.stack(corners, axis=-1),
        view.many("primitiveDataArray").numbers("materialNameData", "<u4"),
        int(view.numbers("version", "<u4")),
    )


def _check_runs(mesh: CompressedMesh) -> None:
    """Check that every section's runs lie inside the mesh's arrays."""
    for name, first, count, limit in (
        ("packed vertices", "first_packed", "num_packed", len(mesh.packed)),
        ("shared vertices", "first_shared", "num_shared", len(mesh.shared_index)),
        ("primitives", "first_primitive", "num_primitives", len(mesh.primitives)),
    ):
        ends = mesh.sections[first].astype(np.int64) + mesh.sections[count]
        bad = np.flatnonzero(ends > limit)
        if len(bad):
            mesh.fail(f"the run of {name} ends at {ends[bad[0]]} of {limit}", f"sections[{bad[0]}]")
    total = int(mesh.sections["num_primitives"].sum())
    if total > 2 * len(mesh.primitives):
        mesh.fail(f"the sections name {total} primitives of {len(mesh.primitives)}", "sections")


def packed_starts(mesh: CompressedMesh) -> Array:
    """Return where each section's packed vertices start when the sections' are put one after another, (s,) i64."""
    return starts(mesh.sections["num_packed"])
