"""Collision bodies -> a new tagfile of either SDK; the inverse of `read_collision`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from ...binary import Array
from ...errors import FormatError
from ..classes import new_tagfile
from ..items import OBJECT
from ..objects import View
from ..tagfile import Tagfile
from .bodies import Body
from .mesh import CompressedMesh
from .shapes import ConvexShape, ExternShape, GroupShape, MeshShape, RoundShape, Shape, ShapeInstance
from .simd import BIG, EMPTY, SimdTree, node_values
from .trees import Nodes

CLASSES = (
    "hknpPhysicsSceneData", "hknpPhysicsSystemData", "fsnpCustomParamCompressedMeshShape",
    "hknpCompressedMeshShapeData", "fsnpCustomMeshParameter", "hknpExternMeshShape", "hknpExternMeshShapeData",
    "hknpDefaultExternMeshShapeGeometry", "hknpConvexPolytopeShape", "hknpSphereShape", "hknpCapsuleShape",
    "hknpCylinderShape",
)  # fmt: skip
CLASSES_2018 = ("hknpBoxShape", "hknpScaledConvexShapeBase", "hknpCompoundShape")
SCENE = "hknpPhysicsSceneData"
MESH_CLASS, CUSTOM_MESH_CLASS = "hknpCompressedMeshShape", "fsnpCustomParamCompressedMeshShape"


def write_collision(sdk: str, bodies: Iterable[Body]) -> Tagfile:
    """Return a tagfile with a physics scene of one system that holds the bodies; of no bodies too.

    Raises:
        FormatError: a shape that the SDK has no class for.
    """
    tag = new_tagfile(sdk, CLASSES if sdk == "20160200" else (*CLASSES, *CLASSES_2018))
    scene, system = make(tag, SCENE), make(tag, "hknpPhysicsSystemData")
    variant = _records(tag.root, "namedVariants", 1)
    variant["variant"] = scene.item
    tag.root["namedVariants"] = variant
    tag.root.many("namedVariants").at(0)["name"] = "Physics Scene Data"
    tag.root.many("namedVariants").at(0)["className"] = SCENE
    scene["systemDatas"] = [system]
    writer = ShapeWriter(tag)
    chosen = list(bodies)
    system["bodyCinfos"] = _body_records(system, chosen)
    for record, body in zip(system.many("bodyCinfos"), chosen, strict=True):
        record["name"] = body.name
        record["shape"] = writer.write(body.shape) if body.shape is not None else None
    return tag


def make(tag: Tagfile, name: str) -> View:
    """Append an object of a class and return it.

    Raises:
        FormatError: the type table lacks the class.
    """
    kind = tag.types.find(name)
    if not kind:
        raise FormatError(f"SDK {tag.sdk} has no class {name}")
    view: View = tag.item(tag.add(kind, OBJECT, 1))
    return view


def _records(owner: View, name: str, count: int) -> Array:
    """Return zeroed elements for an array member."""
    return np.zeros(count, owner.tag.layouts[owner.layout.members[name].layout.target].dtype)


def _body_records(system: View, bodies: list[Body]) -> Array:
    records = _records(system, "bodyCinfos", len(bodies))
    for record, body in zip(records, bodies, strict=True):
        for name, value in body.fields.items():
            if name in (records.dtype.names or ()):
                record[name] = value
        record["position"][:3], record["position"][3] = body.position, 1
        record["orientation"] = body.orientation
    return records


class ShapeWriter:
    """Writes shapes into one file, each once."""

    def __init__(self, tag: Tagfile) -> None:
        self.tag = tag
        self._made: dict[int, View] = {}

    def write(self, shape: Shape) -> View:
        """Write a shape and what it holds, and return its object.

        Raises:
            FormatError: a kind of shape that is only read.
        """
        if id(shape) not in self._made:
            writers: tuple[tuple[type[Shape], Callable[[Any], View]], ...] = (
                (MeshShape, self._mesh), (ExternShape, self._extern), (RoundShape, self._round),
                (ConvexShape, self._convex), (GroupShape, self._group),
            )  # fmt: skip
            write = next((write for kind, write in writers if isinstance(shape, kind)), None)
            if write is None:
                raise FormatError(f"shapes of the class {shape.name} are not written")
            view = write(shape)
            view["flags"], view["type"], view["numShapeKeyBits"] = shape.flags, shape.type, shape.key_bits
            view["convexRadius"], view["userData"] = shape.radius, shape.user_data
            self._made[id(shape)] = view
        return self._made[id(shape)]

    def _mesh(self, shape: MeshShape) -> View:
        mesh = shape.mesh
        view = make(self.tag, MESH_CLASS if mesh.rows is None else CUSTOM_MESH_CLASS)
        store_mesh(view, mesh)
        if shape.externs:
            view["externShapes"] = self._instances(_records(view, "externShapes", len(shape.externs)), shape.externs)
        return view

    def _extern(self, shape: ExternShape) -> View:
        view, geometry = make(self.tag, "hknpExternMeshShape"), make(self.tag, "hkGeometry")
        around, bounds = make(self.tag, "hknpDefaultExternMeshShapeGeometry"), make(self.tag, "hknpExternMeshShapeData")
        geometry["vertices"] = _with_w(shape.vertices, 1)
        rows = _records(geometry, "triangles", len(shape.indices))
        for column, name in enumerate("abc"):
            rows[name] = shape.indices[:, column]
        rows["material"] = shape.materials.view(np.int32)
        geometry["triangles"] = rows
        around["geometry"], view["geometry"], view["boundingVolumeData"] = geometry, around, bounds
        _store_simd(bounds.one("simdTree"), shape.simd)
        if "aabbTree" in bounds and shape.tree is not None and shape.domain is not None:
            tree = bounds.one("aabbTree")
            tree["nodes"] = node_records(_records(tree, "nodes", len(shape.tree)), shape.tree)
            tree.one("domain")["min"], tree.one("domain")["max"] = shape.domain
        return view

    def _convex(self, shape: ConvexShape) -> View:
        view = make(self.tag, shape.name)
        view["vertices"] = _with_w(shape.vertices, 0.5)
        if "faces" in view:
            faces = _records(view, "faces", len(shape.faces))
            faces["firstIndex"], faces["numIndices"] = shape.faces[:, 0], shape.faces[:, 1]
            view["planes"], view["faces"], view["indices"] = shape.planes, faces, shape.indices
        return view

    def _round(self, shape: RoundShape) -> View:
        view = self._convex(shape)
        if "a" in view:
            view["a"], view["b"] = np.append(shape.a, np.float32(shape.thickness)), np.append(shape.b, np.float32(0))
        return view

    def _group(self, shape: GroupShape) -> View:
        view = make(self.tag, shape.name)
        if "instances" in view:
            elements = _records(view.one("instances"), "elements", len(shape.instances))
            view.one("instances")["elements"] = self._instances(elements, shape.instances)
            view.one("instances")["firstFree"] = -1
        else:
            inner = shape.instances[0]
            view["scale"] = np.append(np.diag(inner.matrix)[:3], np.float32(0))
            view["translation"] = np.append(inner.matrix[:3, 3], np.float32(0))
            view["coreShape"] = self.write(inner.shape)
        return view

    def _instances(self, records: Array, instances: list[ShapeInstance]) -> Array:
        matrices = np.stack([instance.matrix for instance in instances]).astype(np.float32)
        scale = np.linalg.norm(matrices[:, :3, :3], axis=1)
        turns = matrices.copy()
        turns[:, :3, :3] /= scale[:, None]
        records["transform"] = turns.swapaxes(1, 2).reshape(-1, 16)
        records["scale"][:, :3] = scale
        slots = records["shape"]
        (slots["item"] if slots.dtype.names else slots)[...] = [self.write(each.shape).item for each in instances]
        return records


def store_mesh(view: View, mesh: CompressedMesh) -> None:
    """Write a compressed mesh into a shape object, whatever of it the class can hold."""
    tag = view.tag
    data = make(tag, "hknpCompressedMeshShapeData")
    view["data"] = data
    _store_tree(data.one("meshTree"), mesh)
    _store_simd(data.one("simdTree"), mesh.simd)
    if "hasSimdTree" in data:
        data["hasSimdTree"] = bool(mesh.has_simd)
    _store_bits(view.one("triangleIsInterior"), mesh.interior)
    view["dispatchType"], view["shapeTagCodecInfo"] = 3, 0xFFFFFFFF
    if mesh.rows is not None:
        view["triangleIndexToShapeKey"] = mesh.rows
        if mesh.materials is not None:
            table = mesh.materials
            holder = make(tag, "fsnpCustomMeshParameter")
            rows = _records(holder, "triangleDataArray", len(table.primitive_data))
            rows["primitiveDataIndex"], rows["triangleDataIndex"] = table.primitive_data, table.triangle_data
            for column, corner in enumerate("ABC"):
                rows[f"vertexIndex{corner}"] = table.vertices[:, column]
            names = _records(holder, "primitiveDataArray", len(table.names))
            names["materialNameData"] = table.names
            holder["triangleDataArray"], holder["primitiveDataArray"] = rows, names
            holder["version"] = table.version
            view["pParam"] = holder


def _store_tree(tree: View, mesh: CompressedMesh) -> None:
    tree["nodes"] = node_records(_records(tree, "nodes", len(mesh.tree)), mesh.tree)
    tree.one("domain")["min"], tree.one("domain")["max"] = mesh.domain
    tree["numPrimitiveKeys"], tree["bitsPerKey"], tree["maxKeyValue"] = mesh.key_count, mesh.key_bits, mesh.max_key
    tree["primitiveStoresIsFlatConvex"] = mesh.flat_convex
    tree["sections"] = section_records(_records(tree, "sections", len(mesh.sections)), mesh)
    primitives = _records(tree, "primitives", len(mesh.primitives))
    primitives["indices"] = mesh.primitives
    tree["primitives"], tree["sharedVerticesIndex"] = primitives, mesh.shared_index
    tree["packedVertices"], tree["sharedVertices"] = mesh.packed, mesh.shared
    runs = _records(tree, "primitiveDataRuns", len(mesh.runs))
    value = runs["value"]
    (value["data"] if value.dtype.names else value)[...] = mesh.runs["value"]
    runs["index"], runs["count"] = mesh.runs["index"], mesh.runs["count"]
    tree["primitiveDataRuns"] = runs
    sections = tree.many("sections")
    for place, section in enumerate(sections):
        first, end = mesh.section_starts[place : place + 2]
        part = Nodes(*(each[first:end] for each in (*_columns(mesh.section_nodes),)))
        section["nodes"] = node_records(_records(section, "nodes", len(part)), part)


def _columns(nodes: Nodes) -> tuple[Array, Array, Array]:
    return nodes.nibbles, nodes.inner, nodes.value


def node_records(records: Array, nodes: Nodes) -> Array:
    """Fill stored tree nodes, (n,) of any of the three codecs' dtypes, and return them."""
    names = records.dtype.names or ()
    records["xyz"] = nodes.nibbles
    if "data" in names:
        records["data"] = nodes.value << 1 | nodes.inner
    elif records.dtype["loData"] == np.uint8:
        value = nodes.value | nodes.inner.astype(np.int64) << 15
        records["hiData"], records["loData"] = value >> 8, value & 0xFF
    else:
        value = nodes.value | nodes.inner.astype(np.int64) << 23
        records["hiData"], records["loData"] = value >> 16, value & 0xFFFF
    return records


def section_records(records: Array, mesh: CompressedMesh) -> Array:
    """Fill stored sections, (s,) of either SDK's dtype, and return them."""
    names, stored = records.dtype.names or (), mesh.sections
    records["domain"]["min"], records["domain"]["max"] = stored["domain"][:, 0], stored["domain"][:, 1]
    records["codecParms"] = stored["codec"].reshape(-1, 6)
    for member, name in (
        ("page", "page"), ("layerData", "layer_data"), ("flags", "flags"), ("leafIndex", "leaf_index"),
        ("numPackedVertices", "num_packed"), ("numSharedIndices", "num_shared"), ("unusedData", "unused"),
        ("firstPackedVertexIndex", "first_packed"), ("firstSharedVertexIndex", "first_shared"),
        ("firstPrimitiveIndex", "first_primitive"), ("firstDataRunIndex", "first_run"),
        ("numPrimitives", "num_primitives"), ("numDataRuns", "num_runs"), ("firstPackedVertex", "first_packed"),
    ):  # fmt: skip
        if member in names:
            records[member] = stored[name]
    if "firstPackedVertex" in names:
        # the low byte beside the first shared vertex is the number of packed ones (seed 003)
        records["sharedVertices"]["data"] = stored["first_shared"] << 8 | stored["num_packed"]
        records["primitives"]["data"] = stored["first_primitive"] << 8 | stored["num_primitives"]
        records["dataRuns"]["data"] = stored["first_run"] << 8 | stored["num_runs"]
    return records


def _store_simd(view: View, tree: SimdTree | None) -> None:
    if tree is None:
        tree = empty_simd()
    element = view.tag.layouts[view.layout.members["nodes"].layout.target].dtype
    flagged = "isLeaf" in (element.names or ())
    view["nodes"] = node_values(SimdTree(tree.boxes, tree.kind, tree.value, tree.compact, flagged), element)
    if "isCompact" in view:
        view["isCompact"] = tree.compact or 0


def empty_simd() -> SimdTree:
    """Return the simd tree of a mesh without one: two nodes of empty lanes."""
    boxes = np.empty((2, 4, 2, 3), np.float32)
    boxes[:, :, 0], boxes[:, :, 1] = BIG, -BIG
    return SimdTree(boxes, np.full((2, 4), EMPTY, np.uint8), np.zeros((2, 4), np.uint32), None, leaf_flags=True)


def _store_bits(view: View, bits: Array) -> None:
    while "storage" in view:
        view = view.one("storage")
    words = np.zeros(-(-len(bits) // 32), np.uint32)
    packed = np.packbits(bits, bitorder="little")
    words.view(np.uint8)[: len(packed)] = packed
    view["words"], view["numBits"] = words, len(bits)


def _with_w(vertices: Array, w: float) -> Array:
    out = np.full((len(vertices), 4), w, np.float32)
    out[:, :3] = vertices
    return out
