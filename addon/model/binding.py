"""Binding vertices to nodes: what is stored stays where what is shown is what it says, the rest is stored anew."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..codec.binary import Array
from ..codec.flver import Flver, Mesh, Vertices
from .influences import Influences, quantised
from .placement import named_nodes, vertex_bones

FULL = 1.0


@dataclass
class Renumbering:
    """How nodes are numbered before and after.

    Attributes:
        places: (old,) int32 new number of each node, -1 where it is gone.
        count: nodes there are now.
    """

    places: Array
    count: int

    @property
    def unchanged(self) -> bool:
        """Whether every node has its old number."""
        return bool((self.places == np.arange(len(self.places))).all())

    def of(self, indices: Array | int, gone: int = -1) -> Array:
        """Return the new numbers of nodes; numbers that name nothing stay as they are."""
        values = np.asarray(indices, np.int64)
        inside = (values >= 0) & (values < len(self.places))
        moved = self.places[np.where(inside, values, 0)] if len(self.places) else values
        return np.where(inside, np.where(moved < 0, gone, moved), values)


@dataclass
class Bound:
    """What binding has found.

    Attributes:
        vertices: with bones, weights and normal nodes as they are to be stored.
        palette: (k,) int32 of the mesh.
        changed: (n,) bool: vertices that are bound otherwise than before.
        dropped: vertices that had more influences than can be stored.
        unbound: vertices of a dynamic mesh that nothing moves and that were moved before, or are new.
        fault: why it cannot be stored; empty where it can.
    """

    vertices: Vertices
    palette: Array
    changed: Array
    dropped: int = 0
    unbound: int = 0
    fault: str = ""


def bind(template: Flver, mesh: Mesh, vertices: Vertices, shown: Influences, nodes: Renumbering, steps: float) -> Bound:
    """Bind the vertices of a mesh as Blender shows them.

    Args:
        template: the model as it was imported.
        mesh: with its palette and node as they were.
        vertices: as stored, in the order of those shown.
        shown: of the new nodes.
        nodes: how nodes are numbered now.
        steps: in which the layout stores weights, 0 for real numbers.
    """
    old_nodes, old_weights = vertex_bones(template, mesh, vertices)
    was = Influences.of_slots(np.where(old_nodes >= 0, nodes.of(old_nodes), -1), old_weights)
    lost = ((old_nodes >= 0) & (nodes.of(old_nodes) < 0) & (old_weights > 0)).any(axis=1)
    changed = was.differs(shown) | lost
    result = Bound(vertices, nodes.of(mesh.palette, gone=0).astype(np.int32), changed)
    if not nodes.unchanged and not len(mesh.palette):
        result.vertices = replace(
            vertices,
            bones=None if vertices.bones is None else nodes.of(vertices.bones, gone=0).astype(np.int32),
            normal_nodes=None if vertices.normal_nodes is None else nodes.of(vertices.normal_nodes, gone=0),
        )
    if changed.any():
        own = int(nodes.of(mesh.node))
        (_bind_dynamic if mesh.dynamic else _bind_static)(result, shown, max(own, 0), steps)
    return result


def _bind_dynamic(bound: Bound, shown: Influences, own: int, steps: float) -> None:
    vertices, rows = bound.vertices, np.flatnonzero(bound.changed)
    if vertices.bones is None:
        bound.fault = "has a layout without bone indices, but weights that differ from those of the file"
        return
    width = vertices.bones.shape[1] if vertices.weights is not None else 1
    slots, weights, more = shown.slots(width)
    slots, weights = slots[rows], weights[rows]
    bound.dropped = int(more[rows].sum())
    empty = (slots < 0).all(axis=1)
    bound.unbound = int(empty.sum())
    slots[empty, 0], weights[empty, 0] = own, FULL
    bones = vertices.bones.copy()
    bones[rows] = 0
    bones[rows, :width] = np.where(slots < 0, 0, _stored_indices(bound, np.maximum(slots, 0), slots >= 0))
    if vertices.weights is not None:
        full = steps or FULL
        totals = (
            np.rint(vertices.weights[rows].sum(axis=1, dtype=np.float64) * full) if steps else np.full(len(rows), full)
        )
        totals = np.where((totals > full * 0.9) & (totals <= full), totals, full)
        stored = vertices.weights.copy()
        stored[rows] = 0
        stored[rows, :width] = quantised(weights, totals, steps)
        bound.vertices = replace(vertices, bones=bones, weights=stored)
    else:
        bound.vertices = replace(vertices, bones=bones)


def _bind_static(bound: Bound, shown: Influences, own: int, _steps: float) -> None:
    rows = np.flatnonzero(bound.changed)
    slots, _, more = shown.slots(1)
    bound.dropped = int(more[rows].sum())
    carriers = np.where(slots[rows, 0] < 0, own, slots[rows, 0])
    if bound.vertices.normal_nodes is None:
        if (carriers != own).any():
            bound.fault = "is static with a layout that cannot name a node for each vertex"
        return
    stored = bound.vertices.normal_nodes.copy()
    stored[rows] = _stored_indices(bound, carriers, np.ones(len(rows), bool))
    bound.vertices = replace(bound.vertices, normal_nodes=stored)


def _stored_indices(bound: Bound, nodes: Array, used: Array) -> Array:
    """Return what vertices store to name nodes; nodes that the mesh's palette lacks are added to it."""
    if not len(bound.palette):
        return nodes
    missing = np.setdiff1d(nodes[used], bound.palette)
    bound.palette = np.concatenate((bound.palette, missing.astype(np.int32)))
    order = np.argsort(bound.palette, kind="stable")
    found = np.searchsorted(bound.palette[order], nodes)
    return order[np.minimum(found, len(order) - 1)]


def carriers(mesh: Mesh, vertices: Vertices, palette: Array, own: int, count: int) -> Array:
    """Return the (n,) int32 node that carries each vertex of a static mesh, -1 where none does."""
    inside = own if 0 <= own < count else -1
    if vertices.normal_nodes is None:
        return np.full(len(vertices.positions), inside, np.int32)
    nodes = named_nodes(vertices.normal_nodes, palette, count)
    return np.where(nodes < 0, np.int32(inside), nodes)
