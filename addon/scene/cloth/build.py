"""Cloth records -> point clouds, links and collidables, in a collection of the cloth's own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import bpy
import numpy as np

from ...cloth import ExtraCollidable
from ...cloth.edits import PlacedCollidable, placed_collidables, values_of
from ...cloth.edits.edited import sim_places, sim_title
from ...codec.havok import cloth as records
from ...maths import axes
from ..properties import set_properties
from ..texts import shown_name, stored_text
from . import nodes, shapes
from .keys import BONE, KIND, NAME, PREFIX, RUNTIME, SET, SIM, SIMS, SOURCE
from .links import fill_links
from .placing import place_at
from .pointclouds import new_points, write
from .values import REST, write_values

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
        file: its records.
    """

    def __init__(self, collection: Any, armature: Any, file: records.ClothFile, context: Any) -> None:
        self.collection = collection
        self.armature = armature
        self.file = file
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
        for sim in range(len(sim_places(self.file))):
            cloud, own = self.simulated(sim, None, {})
            clouds.append(cloud)
            links += own.values()
        return clouds, links, [self.collidable(placed) for placed in placed_collidables(self.file)]

    def simulated(self, sim: int, cloud: Any, links: Mapping[int, Any]) -> tuple[Any, dict[int, Any]]:
        """Make the objects of a simulated cloth, and let them show what the file has.

        Args:
            sim: which.
            cloud: its points where they are there, None where they are to be made.
            links: its links that are there, by constraint set; the others are made.

        Returns:
            All of them.
        """
        number, place = sim_places(self.file)[sim]
        data = self.file.datas[number]
        record, title = data.sims[place], sim_title(self.file, sim)
        if cloud is None:
            cloud = self._points(title, record)
            set_properties(cloud, {PREFIX + "cloth": stored_text(data.name), SIM: sim})
            nodes.attach(cloud, nodes.POINTS)
        own = {index: links.get(index) or self._links(title, record, index, sim) for index in _linked(record)}
        write_values(cloud, own, record, values_of(self.file, sim))
        return cloud, own

    def _place(self, obj: Any, kind: str) -> None:
        obj[KIND] = kind
        obj.hide_render = True
        self._children[kind].objects.link(obj)
        obj.parent = self.armature

    def _points(self, title: str, record: records.SimCloth) -> Any:
        rest = axes.swap_vectors(record.poses[0])
        cloud = new_points(shown_name(title), rest, self.context)
        write(cloud.data, REST, "FLOAT_VECTOR", rest)
        set_properties(cloud, {
            NAME: stored_text(record.name),
            PREFIX + "total_mass": float(record.total_mass),
            PREFIX + "virtual_points": record.virtual_point_count,
            PREFIX + "sets": [type(one).__name__ for one in record.constraints],
        })  # fmt: skip
        cloud.data.materials.append(nodes.material("free", nodes.FREE))
        self._place(cloud, "points")
        return cloud

    def _links(self, title: str, record: records.SimCloth, index: int, sim: int) -> Any:
        constraint = record.constraints[index]
        kind = type(constraint).__name__
        mesh = bpy.data.meshes.new(shown_name(f"{title} {kind}"))
        fill_links(mesh, axes.swap_vectors(record.poses[0]), constraint)
        obj = bpy.data.objects.new(mesh.name, mesh)
        obj.color = LINK_COLORS[kind]
        obj.display_type = "WIRE"
        set_properties(obj, {
            SIM: sim,
            SET: index,
            PREFIX + "set": kind,
            NAME: stored_text(constraint.name),
        })  # fmt: skip
        self._place(obj, "links")
        return obj

    def collidable(self, placed: PlacedCollidable) -> Any:
        """Make the surface of a collidable, once where several cloths share it."""
        mesh = bpy.data.meshes.new(shown_name(placed.record.name))
        mesh.materials.append(nodes.material("collidable", COLLIDABLE))
        obj = bpy.data.objects.new(mesh.name, mesh)
        obj.display_type = "WIRE"
        set_properties(obj, {
            NAME: stored_text(placed.record.name),
            BONE: stored_text(placed.bone),
            SIMS: sorted(placed.sims),
        })  # fmt: skip
        if placed.source is not None:
            obj[SOURCE] = placed.source
        shapes.describe(obj, placed.record.shape)
        shapes.draw(obj, placed.record.shape)
        self._place(obj, "collidables")
        place_at(obj, self.armature, placed)
        return obj

    def added(self, extra: ExtraCollidable) -> Any:
        """Make the surface of a collidable that the file does not list."""
        offset = (extra.offset.astype(np.float64) @ extra.record.transform).astype(np.float32)
        obj = self.collidable(PlacedCollidable(extra.record, extra.bone, offset, frozenset()))
        obj[RUNTIME] = True
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


def _linked(record: records.SimCloth) -> list[int]:
    return [index for index, one in enumerate(record.constraints) if type(one).__name__ in LINK_COLORS]
