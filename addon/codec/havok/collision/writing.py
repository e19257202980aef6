"""Collision bodies -> a new tagfile of either SDK; the inverse of `read_collision`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from ...binary import Array
from ...errors import FormatError
from ..classes import ROOT, new_tagfile
from ..items import OBJECT
from ..making import make, records
from ..objects import View
from ..tagfile import TCRF, Tagfile
from .bodies import Body
from .shapes import ConvexShape, ExternShape, GroupShape, MeshShape, RoundShape, Shape, ShapeInstance
from .storing import store_extern, store_mesh, with_w
from .systems import SCENE_NAME, fill_body, fill_system

SCENE, SYSTEM = "hknpPhysicsSceneData", "hknpPhysicsSystemData"
MESH_CLASS, CUSTOM_MESH_CLASS = "hknpCompressedMeshShape", "fsnpCustomParamCompressedMeshShape"
EXTERN_CLASS = "hknpExternMeshShape"
CLASSES = (
    SCENE, SYSTEM, CUSTOM_MESH_CLASS, "hknpCompressedMeshShapeData", "fsnpCustomMeshParameter", EXTERN_CLASS,
    "hknpExternMeshShapeData", "hknpDefaultExternMeshShapeGeometry", "hknpConvexPolytopeShape", "hknpSphereShape",
    "hknpCapsuleShape", "hknpCylinderShape",
)  # fmt: skip
CLASSES_2018 = ("hknpBoxShape", "hknpScaledConvexShapeBase", "hknpCompoundShape")
OF_MESHES = {
    MESH_CLASS: ("hknpCompressedMeshShapeData",),
    CUSTOM_MESH_CLASS: ("hknpCompressedMeshShapeData", "fsnpCustomMeshParameter"),
    EXTERN_CLASS: ("hknpExternMeshShapeData", "hknpDefaultExternMeshShapeGeometry", "hkGeometry"),
}


def write_collision(sdk: str, bodies: Iterable[Body], compendium: Tagfile | None = None) -> Tagfile:
    """Return a tagfile with a physics scene of one system that holds the bodies; of no bodies too.

    Args:
        sdk: "20160200" or "20180100".
        bodies: what the file holds.
        compendium: what the file takes its types from; otherwise it has its own.

    Raises:
        FormatError: a shape that the SDK, or the compendium, has no class for; all that a compendium lacks are named.
    """
    chosen = list(bodies)
    if compendium is None:
        tag = new_tagfile(sdk, CLASSES if sdk == "20160200" else (*CLASSES, *CLASSES_2018))
    else:
        tag = _tagfile_of(sdk, compendium, chosen)
    scene, system = make(tag, SCENE), make(tag, SYSTEM)
    variant = records(tag.root, "namedVariants", 1)
    variant["variant"] = scene.item
    tag.root["namedVariants"] = variant
    tag.root.many("namedVariants").at(0)["name"] = SCENE_NAME
    tag.root.many("namedVariants").at(0)["className"] = SCENE
    scene["systemDatas"] = [system]
    fill_system(system, extern=all(isinstance(body.shape, ExternShape) for body in chosen))
    writer = ShapeWriter(tag)
    system["bodyCinfos"] = records(system, "bodyCinfos", len(chosen))
    for record, body in zip(system.many("bodyCinfos"), chosen, strict=True):
        write_body(record, body, writer)
    return tag


def _tagfile_of(sdk: str, compendium: Tagfile, bodies: list[Body]) -> Tagfile:
    """Return a tagfile with an empty root whose types are those of a compendium."""
    if not compendium.ids:
        raise FormatError("new files take their types from a compendium with an id", compendium.file)
    wanted = {ROOT, SCENE, SYSTEM}
    for shape in _all_shapes(body.shape for body in bodies):
        wanted |= {shape.name, *OF_MESHES.get(shape.name, ())}
    missing = sorted(name for name in wanted if not compendium.types.find(name))
    if missing:
        raise FormatError(f"the compendium lacks the classes {', '.join(missing)}", compendium.file)
    reference = TCRF.zeros(1)[0:1].reshape(())
    reference["id"] = np.void(compendium.ids[0])
    tag = Tagfile(sdk, compendium.layouts, reference=reference)
    tag.add(tag.types.find(ROOT), OBJECT, 1)
    return tag


def _all_shapes(shapes: Iterable[Shape | None]) -> Iterable[Shape]:
    """Yield shapes and the shapes inside them."""
    waiting = [shape for shape in shapes if shape is not None]
    while waiting:
        shape = waiting.pop()
        yield shape
        inner = shape.externs if isinstance(shape, MeshShape) else []
        inner = shape.instances if isinstance(shape, GroupShape) else inner
        waiting += [instance.shape for instance in inner]


def write_body(record: View, body: Body, writer: ShapeWriter) -> None:
    """Write a body that is new into its record, all zeros."""
    fill_body(record, extern=isinstance(body.shape, ExternShape))
    for name, value in body.fields.items():
        if name in record:
            record[name] = value
    record["name"] = body.name
    record["shape"] = None if body.shape is None else writer.write(body.shape)
    record["position"], record["orientation"] = np.append(body.position, np.float32(1)), body.orientation


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
            view["externShapes"] = self._instances(records(view, "externShapes", len(shape.externs)), shape.externs)
        return view

    def _extern(self, shape: ExternShape) -> View:
        view = make(self.tag, "hknpExternMeshShape")
        store_extern(view, shape)
        return view

    def _convex(self, shape: ConvexShape) -> View:
        view = make(self.tag, shape.name)
        view["vertices"] = with_w(shape.vertices, 0.5)
        if "faces" in view:
            faces = records(view, "faces", len(shape.faces))
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
            elements = records(view.one("instances"), "elements", len(shape.instances))
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
