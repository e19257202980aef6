"""What becomes of a body's shape when its triangles or their hit materials are others.

Only what differs is made anew: other materials change rows of the material table, other triangles are compiled with the
settings of the mesh that was there. Shapes that are no meshes cannot be made from triangles and stay.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..codec.binary import Array
from ..codec.errors import FormatError
from ..codec.havok.collision import NO_MATERIAL, Body
from ..codec.havok.collision.custom import UNKNOWN
from ..codec.havok.collision.mesh import CompressedMesh
from ..codec.havok.collision.shapes import ExternShape, MeshShape, Shape
from ..maths import quaternions
from .checks import check
from .compiler import CompileSettings, Progress, compile_extern, compile_mesh, custom_parts, repaint
from .compiler.settings import no_progress
from .compiler.source import number_positions
from .surfaces import Surface, SurfaceKind, surface

FLAT = 255
LISTED = 8


@dataclass(frozen=True, eq=False)
class Faces:
    """The triangles of a body as they are wanted.

    Attributes:
        vertices: (n, 3) f4, metres, in the space of the file.
        triangles: (m, 3) i4, wound so that ``(b - a) x (c - a)`` points outwards.
        materials: (m,) u4 hit material ids, `NO_MATERIAL` where there is none.
        kind: (m,) of `SurfaceKind`.
        row: (m,) the row of the material table that each had, -1 without one.
        number: (m,) the face that each triangle is of, for messages.
        active: the material for triangles that need one and have none.
    """

    vertices: Array
    triangles: Array
    materials: Array
    kind: Array
    row: Array
    number: Array
    active: int = NO_MATERIAL

    @property
    def points(self) -> Array:
        """(m, 3, 3) f4, the corners."""
        found: Array = self.vertices[self.triangles]
        return found

    def having(self, chosen: Array) -> Faces:
        """Return some of the triangles, by numbers or marks."""
        return replace(
            self, triangles=self.triangles[chosen], materials=self.materials[chosen], kind=self.kind[chosen],
            row=self.row[chosen], number=self.number[chosen],
        )  # fmt: skip


@dataclass(frozen=True, eq=False)
class Edited:
    """A shape as it is to be stored.

    Attributes:
        shape: the one that was there where nothing differs.
        warnings: what the user should know, a sentence each.
    """

    shape: Shape | None
    warnings: tuple[str, ...] = ()


def edited_shape(body: Body, faces: Faces, progress: Progress = no_progress) -> Edited:
    """Return the shape of a body that has these triangles now.

    Args:
        body: as it was read.
        faces: as they are wanted.
        progress: of the compiler; may raise `Cancelled`.

    Raises:
        FormatError: an edit that cannot be stored, in words that say why.
    """
    stored, shape = surface(body), body.shape
    place = matched(faces.points, stored.mesh.vertices[stored.mesh.triangles])
    if place is not None:
        materials = np.empty(len(place), np.uint32)
        materials[place] = faces.materials
        return Edited(_repainted(shape, stored, materials))
    if not isinstance(shape, MeshShape | ExternShape):
        what = "no shape" if shape is None else f"a {shape.name.removeprefix('hknp')}"
        raise FormatError(f"is {what}, which cannot be made from faces: undo the changes to its geometry")
    faces = replace(faces, vertices=_in_shape(body, faces.vertices))
    if isinstance(shape, ExternShape):
        made = new_extern(faces, body.sdk, progress)
    else:
        made = _recompiled(shape, body, stored, faces, progress)
    if made.shape is not None:
        made.shape.name, made.shape.flags, made.shape.user_data = shape.name, shape.flags, shape.user_data
    return made


def matched(points: Array, stored: Array) -> Array | None:
    """Tell which stored triangle each triangle is, wherever its corners begin; None where they are not the same ones.

    Args:
        points: (m, 3, 3) f4 corners.
        stored: (k, 3, 3) f4.

    Returns:
        (m,) i8; equal triangles in their order.
    """
    if len(points) != len(stored):
        return None
    if points.tobytes() == stored.tobytes():
        return np.arange(len(points))
    corners = number_positions(np.concatenate([points, stored]).reshape(-1, 3))[0].reshape(-1, 3)
    turn = (corners.argmin(axis=1)[:, None] + np.arange(3)) % 3
    corners = np.take_along_axis(corners, turn, axis=1)
    new, old = corners[: len(points)], corners[len(points) :]
    new_order, old_order = (np.lexsort(each.T) for each in (new, old))
    if (new[new_order] != old[old_order]).any():
        return None
    place = np.empty(len(points), np.int64)
    place[new_order] = old_order
    return place


def _repainted(shape: Shape | None, stored: Surface, materials: Array) -> Shape | None:
    changed = materials != stored.mesh.materials
    if shape is None or not changed.any():
        return shape
    if isinstance(shape, ExternShape):
        return replace(shape, materials=materials)
    if not isinstance(shape, MeshShape):
        raise FormatError(f"is a {shape.name.removeprefix('hknp')}, whose faces have no hit materials")
    if changed[stored.kind != SurfaceKind.MESH].any():
        raise FormatError("the hit materials of extern shapes and point sets inside a mesh cannot be changed")
    return repaint(shape, materials[: len(shape.decoded)])


def _in_shape(body: Body, vertices: Array) -> Array:
    """Return points of the file's space in the space of the body's shape."""
    if not (body.orientation[:3] != 0).any() and not (body.position != 0).any():
        return vertices
    turn = quaternions.matrices(body.orientation)
    return ((vertices.astype(np.float64) - body.position) @ turn).astype(np.float32)


def _recompiled(shape: MeshShape, body: Body, stored: Surface, faces: Faces, progress: Progress) -> Edited:
    """Compile a mesh anew as it was compiled; what it holds besides triangles is kept."""
    warnings: list[str] = []
    inner, kept = faces.kind != SurfaceKind.MESH, stored.kind != SurfaceKind.MESH
    now = faces.having(inner)
    placed = replace(stored.mesh, vertices=_in_shape(body, stored.mesh.vertices)) if kept.any() else stored.mesh
    before = placed.vertices[placed.triangles[kept]]
    if matched(now.points, before) is None or (shape.custom.kind == UNKNOWN).any():
        raise FormatError(
            "extern shapes and point sets inside a mesh cannot be made from faces: undo the changes to theirs"
        )
    if (stored.mesh.row[kept] >= 0).any():
        warnings.append("the hit materials of extern shapes and point sets inside the mesh are left out")
    mesh = shape.mesh
    low, high = (tuple(corner) for corner in mesh.domain[:, :3].tolist())
    settings = CompileSettings(
        sdk=body.sdk, radius=shape.radius, names=() if mesh.materials is None else tuple(mesh.materials.names.tolist()),
        domain=(low, high), flat_quads=mesh.flat_convex == FLAT, simd=not body.ragdoll or _has_simd(mesh),
        rows=mesh.rows is not None,
    )  # fmt: skip
    made = _compiled(faces.having(~inner), settings, progress, shape)
    return replace(made, warnings=(*warnings, *made.warnings))


def _has_simd(mesh: CompressedMesh) -> bool:
    return mesh.simd is not None and len(mesh.simd.boxes) > 0


def new_mesh(faces: Faces, settings: CompileSettings, progress: Progress = no_progress) -> Edited:
    """Return a new compressed mesh of faces in the space of the shape.

    Raises:
        FormatError: see `compile_mesh`.
    """
    return _compiled(faces, settings, progress, None)


def _compiled(faces: Faces, settings: CompileSettings, progress: Progress, shape: MeshShape | None) -> Edited:
    # in the order of the rows that were there, which ties in the compiler follow; new triangles behind them
    faces = faces.having(np.lexsort((faces.row, faces.row < 0)))
    materials, warnings = faces.materials.copy(), []
    bare = materials == NO_MATERIAL
    if settings.rows and bare.any():
        if faces.active == NO_MATERIAL:
            raise FormatError(f"{int(bare.sum())} faces have no hit material: give them one")
        materials[bare] = faces.active
    made = compile_mesh(
        faces.vertices, faces.triangles, materials, settings, progress=progress,
        customs=() if shape is None else custom_parts(shape), externs=() if shape is None else shape.externs,
    )  # fmt: skip
    findings = check(made.shape.mesh)
    if findings:
        raise FormatError(f"the compiled mesh does not keep to the rules: {findings[0]}")
    if not len(made.kept):
        warnings.append("has no faces: the mesh is empty")
    return Edited(made.shape, (*warnings, *_left_out(faces, made.left_out, "are too thin to be collided with")))


def new_extern(faces: Faces, sdk: str, progress: Progress = no_progress) -> Edited:
    """Return a new extern mesh of faces in the space of the shape.

    Raises:
        FormatError: see `compile_extern`.
    """
    used, numbers = np.unique(faces.triangles, return_inverse=True)
    triangles = numbers.reshape(-1, 3)
    made = compile_extern(faces.vertices[used], triangles, sdk, materials=faces.materials, progress=progress)
    return Edited(made.shape, _left_out(faces, made.left_out, "have two corners at one vertex"))


def _left_out(faces: Faces, chosen: Array, why: str) -> tuple[str, ...]:
    if not len(chosen):
        return ()
    numbers = np.unique(faces.number[chosen]).tolist()
    listed = ", ".join(map(str, numbers[:LISTED])) + (", ..." if len(numbers) > LISTED else "")
    return (f"{len(chosen)} triangles {why} and are left out (faces {listed})",)
