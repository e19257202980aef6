"""Cloth records -> point clouds, links and collidables, in a collection of the cloth's own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import bpy
import numpy as np
from mathutils import Matrix

from ...cloth import Setup
from ...cloth.simulation import Body
from ...cloth.surfaces import surface
from ...codec.binary import Array
from ...codec.havok import cloth as records
from ...codec.havok.cloth.constraints import Links
from ...maths import axes
from ..geometry import connect, fill
from ..properties import PREFIX as NODE
from ..properties import set_properties, shown_name, stored_text
from . import nodes
from .keys import KIND, PREFIX, SIM
from .pointclouds import new_points, write
from .rig import stored_name

COLLIDABLE = (0.35, 0.75, 0.4, 0.35)
LINK_COLORS = {
    "StandardLinks": (0.9, 0.9, 0.9, 1), "StretchLinks": (0.9, 0.3, 0.3, 1), "BendLinks": (0.4, 0.8, 0.9, 1),
    "CompressibleLinks": (0.8, 0.5, 0.9, 1), "BendStiffness": (0.5, 0.9, 0.4, 1),
}  # fmt: skip


class ClothBuilder:
    """Makes the objects of a cloth file.

    Attributes:
        collection: of the cloth; takes the objects.
        armature: the object that it follows.
        setup: the file, ready to step.
    """

    def __init__(self, collection: Any, armature: Any, setup: Setup, context: Any) -> None:
        self.collection = collection
        self.armature = armature
        self.setup = setup
        self.context = context
        self._children = {kind: self._child(kind) for kind in ("points", "links", "collidables")}

    def _child(self, kind: str) -> Any:
        """Return the collection of a kind of objects; an earlier builder may have made it."""
        for child in self.collection.children:
            if child.get(KIND) == kind:
                return child
        child = bpy.data.collections.new(shown_name(f"{self.collection.name} {kind}"))
        child[KIND] = kind
        self.collection.children.link(child)
        return child

    def build(self) -> tuple[list[Any], list[Any], list[Any]]:
        """Make all objects: point clouds in the order of the cloths, links, collidables."""
        clouds: list[Any] = []
        links: list[Any] = []
        for place in self.setup.layout.sims:
            data = self.setup.file.datas[place.data]
            title = place.record.name or data.name
            cloud = self._points(title, place.record)
            set_properties(cloud, {PREFIX + "cloth": stored_text(data.name), SIM: len(clouds)})
            links += [self._links(title, place.record, index, len(clouds)) for index in _linked(place.record)]
            clouds.append(cloud)
        return clouds, links, list(self.collidables(self.setup.bodies.all))

    def _place(self, obj: Any, kind: str) -> None:
        obj[KIND] = kind
        obj.hide_render = True
        self._children[kind].objects.link(obj)
        obj.parent = self.armature

    def _points(self, title: str, record: records.SimCloth) -> Any:
        cloud = new_points(shown_name(title), axes.swap_vectors(record.poses[0]), self.context)
        for name, kind, values in point_attributes(record):
            write(cloud.data, name, kind, values)
        set_properties(cloud, {
            PREFIX + "name": stored_text(record.name),
            PREFIX + "gravity": record.gravity.tolist(),
            PREFIX + "damping": float(record.damping),
            PREFIX + "total_mass": float(record.total_mass),
            PREFIX + "landscape": record.landscape,
            PREFIX + "virtual_points": record.virtual_point_count,
            PREFIX + "sets": [type(one).__name__ for one in record.constraints],
        })  # fmt: skip
        cloud.data.materials.append(nodes.material("free", nodes.FREE))
        nodes.attach(cloud, nodes.POINTS)
        self._place(cloud, "points")
        return cloud

    def _links(self, title: str, record: records.SimCloth, index: int, sim: int) -> Any:
        constraint = record.constraints[index]
        kind = type(constraint).__name__
        mesh = bpy.data.meshes.new(shown_name(f"{title} {kind}"))
        fill_edges(mesh, axes.swap_vectors(record.poses[0]), edges(constraint))
        obj = bpy.data.objects.new(mesh.name, mesh)
        obj.color = LINK_COLORS[kind]
        obj.display_type = "WIRE"
        set_properties(obj, {SIM: sim, PREFIX + "set": kind, PREFIX + "name": stored_text(constraint.name)})
        self._place(obj, "links")
        return obj

    def collidables(self, bodies: tuple[Body, ...]) -> Iterator[Any]:
        """Make a surface for each collidable, once where several cloths share it."""
        bones = {stored_name(bone): bone for bone in reversed(self.armature.data.bones)}
        seen = set()
        for body in bodies:
            bone = self.setup.bones[body.bone] if body.bone >= 0 else ""
            key = id(body.record), bone, body.offset.tobytes()
            if key not in seen:
                seen.add(key)
                yield self._collidable(body, bones.get(bone), bone)

    def _collidable(self, body: Body, bone: Any, wanted: str) -> Any:
        mesh = bpy.data.meshes.new(shown_name(body.record.name))
        vertices, triangles = surface(body.record.shape)
        fill(mesh, axes.swap_vectors(vertices), np.ascontiguousarray(triangles[:, ::-1]))
        connect(mesh)
        mesh.materials.append(nodes.material("collidable", COLLIDABLE))
        obj = bpy.data.objects.new(mesh.name, mesh)
        obj.display_type = "WIRE"
        set_properties(obj, {
            PREFIX + "name": stored_text(body.record.name),
            PREFIX + "shape": type(body.record.shape).__name__,
            PREFIX + "bone": stored_text(wanted),
        })  # fmt: skip
        self._place(obj, "collidables")
        if bone is None:
            obj.matrix_basis = Matrix(axes.swap_matrices(body.record.transform).tolist())
        else:
            carry(obj, bone, body.offset)
        return obj

    def show(self, *, points: bool, links: bool, collidables: bool) -> None:
        """Open or shut the eyes of the kinds of objects."""
        for kind, shown in (("points", points), ("links", links), ("collidables", collidables)):
            set_shown(self._children[kind].objects, shown=shown)


def set_shown(objects: Any, *, shown: bool) -> None:
    """Open or shut the eyes of objects; those in an excluded collection have none."""
    for obj in objects:
        obj.hide_viewport = False
        try:
            obj.hide_set(not shown)
        except RuntimeError:  # not in the view layer
            obj.hide_viewport = not shown


def carry(obj: Any, bone: Any, offset: Array) -> None:
    """Hang an object on a bone, at a place in the space of the node that the bone was made from."""
    held = np.array(bone.matrix_local)
    tail = held.copy()
    tail[:3, 3] += held[:3, 1] * bone.length  # Blender puts children of bones at their tails
    stored = bone.get(NODE + "world")
    node = held if stored is None else axes.swap_matrices(np.array(stored).reshape(4, 4))
    obj.parent_type, obj.parent_bone = "BONE", bone.name
    obj.matrix_parent_inverse = Matrix(np.linalg.inv(tail).tolist())
    obj.matrix_basis = Matrix((node @ axes.swap_matrices(offset.astype(np.float64))).tolist())


def point_attributes(record: records.SimCloth) -> Iterator[tuple[str, str, Array]]:
    """Yield name, type and values of what the particles of a cloth have."""
    yield "radius", "FLOAT", record.radius
    yield "mass", "FLOAT", record.mass
    yield "inverse_mass", "FLOAT", record.inverse_mass
    yield "friction", "FLOAT", record.friction
    pinned = np.zeros(len(record), np.bool_)
    pinned[record.fixed] = True
    yield "pinned", "BOOLEAN", pinned
    reach = np.full(len(record), -1, np.float32)  # those without a range
    for one in record.constraints:
        if isinstance(one, records.LocalRange):
            reach[one.particle] = one.max_distance
    yield "local_range", "FLOAT", reach
    masks = record.masks if len(record.masks) == len(record) else np.zeros(len(record), np.uint32)
    yield "collision_mask", "INT", np.ascontiguousarray(masks, np.uint32).view(np.int32)


def edges(constraint: records.Constraint) -> Array:
    """Return the edges, (n, 2) i4, that show a set; of bend resistance, the wing tips of its triangle pairs."""
    if isinstance(constraint, Links):
        return np.stack([constraint.a, constraint.b], axis=-1).astype(np.int32)
    if isinstance(constraint, records.BendStiffness):
        return np.ascontiguousarray(constraint.indices[:2].T, np.int32)
    return np.zeros((0, 2), np.int32)


def fill_edges(mesh: Any, positions: Array, pairs: Array) -> None:
    """Fill an empty mesh with vertices, (n, 3) f4, and edges, (m, 2) i4."""
    mesh.vertices.add(len(positions))
    mesh.edges.add(len(pairs))
    mesh.attributes["position"].data.foreach_set("vector", positions.ravel())
    if len(pairs):
        mesh.edges.foreach_set("vertices", pairs.ravel())
    mesh.update()


def _linked(record: records.SimCloth) -> list[int]:
    return [index for index, one in enumerate(record.constraints) if type(one).__name__ in LINK_COLORS]
