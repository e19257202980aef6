"""Meshes -> the objects of a tagfile, in place: what a class stores besides stays as it is."""

from __future__ import annotations

import numpy as np

from ...binary import Array
from ..making import records, store_bits, target
from ..objects import View
from .mesh import CompressedMesh, MaterialTable
from .shapes import ExternShape
from .simd import SimdTree, empty_simd, node_values
from .trees import Nodes

COMPOSITE_DISPATCH = 3
NO_CODEC = 0xFFFFFFFF


def store_mesh(view: View, mesh: CompressedMesh) -> None:
    """Write a compressed mesh into a shape object, whatever of it the class can hold."""
    if not view["data"]:
        view["dispatchType"], view["shapeTagCodecInfo"] = COMPOSITE_DISPATCH, NO_CODEC
    data = target(view, "data", "hknpCompressedMeshShapeData")
    _store_tree(data.one("meshTree"), mesh)
    if mesh.simd is not None:
        store_simd(data.one("simdTree"), mesh.simd)
    if "hasSimdTree" in data:
        data["hasSimdTree"] = bool(mesh.has_simd)
    store_bits(view.one("triangleIsInterior"), mesh.interior)
    if mesh.rows is not None:
        view["triangleIndexToShapeKey"] = mesh.rows
        if mesh.materials is not None:
            store_materials(target(view, "pParam", "fsnpCustomMeshParameter"), mesh.materials)


def store_materials(holder: View, table: MaterialTable) -> None:
    """Write a material table into its object."""
    rows = records(holder, "triangleDataArray", len(table.primitive_data))
    rows["primitiveDataIndex"], rows["triangleDataIndex"] = table.primitive_data, table.triangle_data
    for column, corner in enumerate("ABC"):
        rows[f"vertexIndex{corner}"] = table.vertices[:, column]
    names = records(holder, "primitiveDataArray", len(table.names))
    names["materialNameData"] = table.names
    holder["triangleDataArray"], holder["primitiveDataArray"] = rows, names
    holder["version"] = table.version


def store_extern(view: View, shape: ExternShape) -> None:
    """Write an extern mesh into a shape object of either class version."""
    if not view["geometry"]:
        view["dispatchType"], view["shapeTagCodecInfo"] = COMPOSITE_DISPATCH, NO_CODEC
    around = target(view, "geometry", "hknpDefaultExternMeshShapeGeometry")
    geometry = target(around, "geometry", "hkGeometry")
    bounds = target(view, "boundingVolumeData", "hknpExternMeshShapeData")
    geometry["vertices"] = with_w(shape.vertices, 1)
    rows = records(geometry, "triangles", len(shape.indices))
    for column, name in enumerate("abc"):
        rows[name] = shape.indices[:, column]
    rows["material"] = shape.materials.view(np.int32)
    geometry["triangles"] = rows
    store_simd(bounds.one("simdTree"), shape.simd or empty_simd())
    if "aabbTree" in bounds and shape.tree is not None and shape.domain is not None:
        tree = bounds.one("aabbTree")
        tree["nodes"] = node_records(records(tree, "nodes", len(shape.tree)), shape.tree)
        tree.one("domain")["min"], tree.one("domain")["max"] = shape.domain


def _store_tree(tree: View, mesh: CompressedMesh) -> None:
    tree["nodes"] = node_records(records(tree, "nodes", len(mesh.tree)), mesh.tree)
    tree.one("domain")["min"], tree.one("domain")["max"] = mesh.domain
    tree["numPrimitiveKeys"], tree["bitsPerKey"], tree["maxKeyValue"] = mesh.key_count, mesh.key_bits, mesh.max_key
    tree["primitiveStoresIsFlatConvex"] = mesh.flat_convex
    tree["sections"] = section_records(records(tree, "sections", len(mesh.sections)), mesh)
    primitives = records(tree, "primitives", len(mesh.primitives))
    primitives["indices"] = mesh.primitives
    tree["primitives"], tree["sharedVerticesIndex"] = primitives, mesh.shared_index
    tree["packedVertices"], tree["sharedVertices"] = mesh.packed, mesh.shared
    runs = records(tree, "primitiveDataRuns", len(mesh.runs))
    value = runs["value"]
    (value["data"] if value.dtype.names else value)[...] = mesh.runs["value"]
    runs["index"], runs["count"] = mesh.runs["index"], mesh.runs["count"]
    tree["primitiveDataRuns"] = runs
    for place, section in enumerate(tree.many("sections")):
        part = slice(*mesh.section_starts[place : place + 2])
        nodes = mesh.section_nodes
        nodes = Nodes(nodes.nibbles[part], nodes.inner[part], nodes.value[part])
        section["nodes"] = node_records(records(section, "nodes", len(nodes)), nodes)


def node_records(stored: Array, nodes: Nodes) -> Array:
    """Fill stored tree nodes, (n,) of any of the three codecs' dtypes, and return them."""
    names = stored.dtype.names or ()
    stored["xyz"] = nodes.nibbles
    if "data" in names:
        stored["data"] = nodes.value << 1 | nodes.inner
    elif stored.dtype["loData"] == np.uint8:
        value = nodes.value | nodes.inner.astype(np.int64) << 15
        stored["hiData"], stored["loData"] = value >> 8, value & 0xFF
    else:
        value = nodes.value | nodes.inner.astype(np.int64) << 23
        stored["hiData"], stored["loData"] = value >> 16, value & 0xFFFF
    return stored


def section_records(stored: Array, mesh: CompressedMesh) -> Array:
    """Fill stored sections, (s,) of either SDK's dtype, and return them."""
    names, table = stored.dtype.names or (), mesh.sections
    stored["domain"]["min"], stored["domain"]["max"] = table["domain"][:, 0], table["domain"][:, 1]
    stored["codecParms"] = table["codec"].reshape(-1, 6)
    for member, name in (
        ("page", "page"), ("layerData", "layer_data"), ("flags", "flags"), ("leafIndex", "leaf_index"),
        ("numPackedVertices", "num_packed"), ("numSharedIndices", "num_shared"), ("unusedData", "unused"),
        ("firstPackedVertexIndex", "first_packed"), ("firstSharedVertexIndex", "first_shared"),
        ("firstPrimitiveIndex", "first_primitive"), ("firstDataRunIndex", "first_run"),
        ("numPrimitives", "num_primitives"), ("numDataRuns", "num_runs"), ("firstPackedVertex", "first_packed"),
    ):  # fmt: skip
        if member in names:
            stored[member] = table[name]
    if "firstPackedVertex" in names:
        # the low byte beside the first shared vertex is the number of packed ones (seed 003)
        stored["sharedVertices"]["data"] = table["first_shared"] << 8 | table["num_packed"]
        stored["primitives"]["data"] = table["first_primitive"] << 8 | table["num_primitives"]
        stored["dataRuns"]["data"] = table["first_run"] << 8 | table["num_runs"]
    return stored


def store_simd(view: View, tree: SimdTree) -> None:
    """Write a simd tree in the encoding that the class asks for."""
    element = view.tag.layouts[view.layout.members["nodes"].layout.target].dtype
    flagged = "isLeaf" in (element.names or ())
    view["nodes"] = node_values(SimdTree(tree.boxes, tree.kind, tree.value, tree.compact, flagged), element)
    if "isCompact" in view:
        view["isCompact"] = tree.compact or 0


def with_w(vertices: Array, w: float) -> Array:
    """Return (n, 3) f4 as (n, 4) with a fourth component."""
    out = np.full((len(vertices), 4), w, np.float32)
    out[:, :3] = vertices
    return out
