"""Shapes of collision bodies: compressed and extern meshes, convex shapes, compounds, scaled shapes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...binary import Array
from ..objects import View
from ..tagfile import Tagfile
from .custom import CustomPrimitives, read_custom
from .decode import Primitives, Triangles, decode, list_primitives, plain
from .mesh import CompressedMesh, read_box, read_mesh
from .simd import SimdTree, read_simd
from .trees import Nodes, read_nodes

MAX_DEPTH = 16
ROUND = {"hknpSphereShape": "sphere", "hknpCapsuleShape": "capsule", "hknpCylinderShape": "cylinder"}


@dataclass(kw_only=True, eq=False)
class Shape:
    """What every shape says.

    Attributes:
        name: its class.
        type: ``hknpShapeType``.
        flags: as stored.
        key_bits: ``numShapeKeyBits``.
        radius: convex radius in metres; the surface is that far outside of what vertices say.
        user_data: as stored.
    """

    name: str
    type: int
    flags: int
    key_bits: int
    radius: float
    user_data: int

    @property
    def triangles(self) -> Triangles:
        """The triangles that the shape stores, in its own space."""
        return plain(np.zeros((0, 3)), np.zeros((0, 3)))


@dataclass(kw_only=True, eq=False)
class UnknownShape(Shape):
    """A shape of a class that is not read."""


@dataclass(kw_only=True, eq=False)
class ConvexShape(Shape):
    """A convex polytope, box or triangle, or bare vertices, the hull of which is meant.

    Attributes:
        vertices: (n, 3) f4, metres.
        planes: (p, 4) f4, normal and distance; padding after the last face's included.
        faces: (f, 2) i4, first index and number of indices.
        indices: (k,) u1 vertex numbers, face by face.
    """

    vertices: Array
    planes: Array
    faces: Array
    indices: Array

    @property
    def triangles(self) -> Triangles:
        """The faces, each as a fan; none where only vertices are stored."""
        counts = np.maximum(self.faces[:, 1] - 2, 0)
        step = np.arange(int(counts.sum())) - np.repeat(np.cumsum(counts) - counts, counts)
        first = np.repeat(self.faces[:, 0], counts)
        corners = np.stack([first, first + step + 1, first + step + 2], axis=-1)
        return plain(self.vertices, self.indices[corners] if len(corners) else np.zeros((0, 3)))


@dataclass(kw_only=True, eq=False)
class RoundShape(ConvexShape):
    """A sphere, capsule or cylinder.

    Attributes:
        kind: "sphere", "capsule" or "cylinder".
        a, b: (3,) f4 ends of the axis; equal in a sphere.
        thickness: metres, the radius of the surface.
    """

    kind: str
    a: Array
    b: Array
    thickness: float


@dataclass(kw_only=True, eq=False)
class ShapeInstance:
    """A shape inside another.

    Attributes:
        matrix: (4, 4) f4 in column form, the scale included.
        shape: the shape.
    """

    matrix: Array
    shape: Shape


@dataclass(kw_only=True, eq=False)
class GroupShape(Shape):
    """A compound of shapes, or one shape that is scaled.

    Attributes:
        instances: the shapes.
    """

    instances: list[ShapeInstance]


@dataclass(kw_only=True, eq=False)
class MeshShape(Shape):
    """A compressed mesh.

    Attributes:
        mesh: as stored.
        primitives: all of them.
        decoded: its triangles.
        custom: its custom primitives.
        externs: the shapes that custom primitives refer to.
    """

    mesh: CompressedMesh
    primitives: Primitives
    decoded: Triangles
    custom: CustomPrimitives
    externs: list[ShapeInstance]

    @property
    def triangles(self) -> Triangles:
        """The triangles of the mesh, without its custom primitives."""
        return self.decoded


@dataclass(kw_only=True, eq=False)
class ExternShape(Shape):
    """An extern mesh around a ``hkGeometry``.

    Attributes:
        vertices: (n, 3) f4.
        indices: (m, 3) i4.
        materials: (m,) u4, as stored.
        tree: the tree of the older class, None in the newer one.
        domain: (2, 4) f4 of that tree.
        simd: the simd tree.
    """

    vertices: Array
    indices: Array
    materials: Array
    tree: Nodes | None = None
    domain: Array | None = None
    simd: SimdTree | None = None

    @property
    def triangles(self) -> Triangles:
        """The triangles of the geometry; the stored -1 is no material."""
        return plain(self.vertices, self.indices, self.materials)


@dataclass
class ShapeReader:
    """Reads the shapes of one file, each once, however many refer to it."""

    tag: Tagfile
    _made: dict[int, Shape] = field(default_factory=dict)
    _open: list[int] = field(default_factory=list)

    def read(self, view: View) -> Shape:
        """Read a shape of any class; one that is not known becomes an `UnknownShape`.

        Raises:
            FormatError: a shape that contains itself or is nested too deep, or whose arrays contradict one another.
        """
        if view.item in self._made:
            return self._made[view.item]
        if view.item in self._open or len(self._open) >= MAX_DEPTH:
            view.fail("the shape contains itself, or shapes are nested too deep")
        self._open.append(view.item)
        try:
            shape = self._made[view.item] = self._make(view)
        finally:
            self._open.pop()
        return shape

    def _make(self, view: View) -> Shape:
        for name, read in (
            ("hknpCompressedMeshShape", self._mesh),
            ("hknpExternMeshShape", _extern),
            ("hknpCompoundShape", self._compound),
            ("hknpDecoratorShape", self._decorated),
            ("hknpConvexShape", _convex),
        ):
            if view.is_a(name):
                return read(view)
        return UnknownShape(**_common(view))

    def _mesh(self, view: View) -> Shape:
        mesh = read_mesh(view)
        primitives = list_primitives(mesh)
        externs = self._instances(view.many("externShapes")) if "externShapes" in view else []
        return MeshShape(
            **_common(view), mesh=mesh, primitives=primitives, decoded=decode(mesh, primitives),
            custom=read_custom(mesh, primitives), externs=externs,
        )  # fmt: skip

    def _compound(self, view: View) -> Shape:
        elements = view.one("instances").many("elements")
        return GroupShape(**_common(view), instances=self._instances(elements, elements.numbers("isEmpty", "u1")))

    def _decorated(self, view: View) -> Shape:
        """Read a shape around another one: scaled and moved, or masked, which changes nothing that is stored."""
        matrix = np.eye(4, dtype=np.float32)
        if "scale" in view:
            matrix[[0, 1, 2], [0, 1, 2]] = view.numbers("scale", "<f4", (4,))[:3]
            matrix[:3, 3] = view.numbers("translation", "<f4", (4,))[:3]
        inner = ShapeInstance(matrix=matrix, shape=self.read(view.one("coreShape")))
        return GroupShape(**_common(view), instances=[inner])

    def _instances(self, view: View, empty: Array | None = None) -> list[ShapeInstance]:
        columns = view.numbers("transform", "<f4", (16,)).reshape(-1, 4, 4)
        matrices = columns.swapaxes(1, 2).copy()
        matrices[:, 3] = (0, 0, 0, 1)  # the stored fourth components say nothing
        matrices[:, :3, :3] *= view.numbers("scale", "<f4", (4,))[:, None, :3]
        shapes = view.links("shape")
        chosen = range(len(view)) if empty is None else np.flatnonzero(empty == 0).tolist()
        found = ((place, shapes[place]) for place in chosen)
        return [
            ShapeInstance(matrix=matrices[place], shape=self.read(shape)) for place, shape in found if shape is not None
        ]


def _common(view: View) -> dict[str, Any]:
    return {
        "name": view.layout.name,
        "type": int(view.numbers("type", "u1")),
        "flags": int(view.numbers("flags", "<u2")),
        "key_bits": int(view.numbers("numShapeKeyBits", "u1")),
        "radius": float(view.numbers("convexRadius", "<f4")),
        "user_data": int(view.numbers("userData", "<u8")),
    }


def _extern(view: View) -> Shape:
    geometry = view.one("geometry").maybe("geometry")
    if geometry is None:
        return ExternShape(
            **_common(view),
            vertices=np.zeros((0, 3), "f4"),
            indices=np.zeros((0, 3), "i4"),
            materials=np.zeros(0, "u4"),
        )
    vertices = geometry.numbers("vertices", "<f4", (4,))[:, :3]
    rows = geometry.many("triangles")
    indices = np.stack([rows.numbers(name, "<i4") for name in "abc"], axis=-1)
    bad = np.flatnonzero(((indices < 0) | (indices >= len(vertices))).any(axis=1))
    if len(bad):
        geometry.fail(f"a triangle of vertices {indices[bad[0]].tolist()} of {len(vertices)}", f"triangles[{bad[0]}]")
    shape = ExternShape(
        **_common(view), vertices=vertices, indices=indices, materials=rows.numbers("material", "<i4").view(np.uint32)
    )
    bounds = view.maybe("boundingVolumeData")
    if bounds is not None:
        shape.simd = read_simd(bounds.one("simdTree"))
        if "aabbTree" in bounds:
            tree = bounds.one("aabbTree")
            shape.tree = read_nodes(tree.many("nodes"))
            shape.domain = read_box(tree.one("domain"))
    return shape


def _convex(view: View) -> Shape:
    parts = _common(view)
    parts["vertices"] = vertices = view.numbers("vertices", "<f4", (4,))[:, :3]
    parts["planes"], parts["faces"] = np.zeros((0, 4), np.float32), np.zeros((0, 2), np.int32)
    parts["indices"] = np.zeros(0, np.uint8)
    if "faces" in view:
        faces = view.many("faces")
        runs = [faces.numbers("firstIndex", "<u2"), faces.numbers("numIndices", "u1")]
        table = parts["faces"] = np.stack(runs, axis=-1).astype(np.int32)
        indices = parts["indices"] = view.numbers("indices", "u1")
        parts["planes"] = view.numbers("planes", "<f4", (4,))
        bad = np.flatnonzero(table.sum(axis=1) > len(indices))
        if len(bad):
            view.fail(f"a face of indices up to {table[bad[0]].sum()} of {len(indices)}", f"faces[{bad[0]}]")
        if len(indices) and indices.max() >= len(vertices):
            view.fail(f"vertex {indices.max()} of {len(vertices)}", "indices")
    return _round(view, parts) or ConvexShape(**parts)


def _round(view: View, parts: dict[str, Any]) -> Shape | None:
    """Return a sphere, capsule or cylinder; None for other shapes.

    A capsule's polytope is a bar a hundredth of its radius thick, and the convex radius the rest; the whole radius is
    the fourth component of ``a`` (found on the ragdolls of both games).
    """
    kind = next((kind for name, kind in ROUND.items() if view.is_a(name)), None)
    if kind is None:
        return None
    radius, vertices = parts["radius"], parts["vertices"]
    if kind == "sphere":
        centre = vertices[0] if len(vertices) else np.zeros(3, np.float32)
        return RoundShape(**parts, kind=kind, a=centre, b=centre, thickness=radius)
    a, b = view.numbers("a", "<f4", (4,)), view.numbers("b", "<f4", (4,))
    thickness = float(view.numbers("radius", "<f4")) if "radius" in view else float(a[3])
    return RoundShape(**parts, kind=kind, a=a[:3], b=b[:3], thickness=thickness if thickness > 0 else radius)
