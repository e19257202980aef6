"""Binding vertices to nodes: what is stored stays where what is shown is what it says, the rest is stored anew."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..codec.binary import Array
from ..codec.flver import Flver, Mesh, Vertices
from .influences import Influences, quantised
from .placement import named_nodes, vertex_bones

USUAL = 0.95  # of 1: the weights of the games' vertices add up to 252/255 and more


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
    """Vertices as they are bound to nodes.

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

    def carriers(self, own: int, count: int) -> Array:
        """Return the (n,) int32 node that carries each vertex of a static mesh, -1 where none does.

        Args:
            own: the mesh's node.
            count: nodes of the model.
        """
        inside = own if 0 <= own < count else -1
        if self.vertices.normal_nodes is None:
            return np.full(len(self.vertices.positions), inside, np.int32)
        nodes = named_nodes(self.vertices.normal_nodes, self.palette, count)
        return np.where(nodes < 0, np.int32(inside), nodes)

    def indices(self, nodes: Array, used: Array) -> Array:
        """Return what vertices store to name nodes; nodes that the mesh's palette lacks are added to it.

        Args:
            nodes: integers of any shape.
            used: bool of that shape: which of them are to be named.
        """
        if not len(self.palette):
            return nodes
        missing = np.setdiff1d(nodes[used], self.palette)
        self.palette = np.concatenate((self.palette, missing.astype(np.int32)))
        order = np.argsort(self.palette, kind="stable")
        found = np.searchsorted(self.palette[order], nodes)
        return order[np.minimum(found, len(order) - 1)]


@dataclass
class Binder:
    """Binds the vertices of a mesh as Blender shows them.

    Attributes:
        template: the model as it was imported.
        mesh: with its palette and node as they were.
        nodes: how nodes are numbered now.
        steps: in which the layout stores weights, 0 for real numbers.
    """

    template: Flver
    mesh: Mesh
    nodes: Renumbering
    steps: float

    def bind(self, vertices: Vertices, shown: Influences, *, everything: bool = False) -> Bound:
        """Return vertices as they are to be stored.

        Args:
            vertices: as stored, in the order of those shown.
            shown: by the new nodes.
            everything: all vertices are bound anew, whatever is stored.
        """
        nodes, palette = self.nodes, self.mesh.palette
        changed = np.ones(shown.count, bool) if everything else self._differs(vertices, shown)
        bound = Bound(vertices, nodes.of(palette, gone=0).astype(np.int32), changed)
        if not nodes.unchanged and not len(palette):
            old_bones, old_nodes = vertices.bones, vertices.normal_nodes
            bound.vertices = replace(
                vertices,
                bones=None if old_bones is None else nodes.of(old_bones, gone=0).astype(np.int32),
                normal_nodes=None if old_nodes is None else nodes.of(old_nodes, gone=0).astype(np.int32),
            )
        if changed.any() and self.mesh.dynamic:
            self._bind_dynamic(bound, shown)
        elif changed.any():
            self._bind_static(bound, shown)
        return bound

    @property
    def _own(self) -> int:
        return max(int(self.nodes.of(self.mesh.node)), 0)

    def _differs(self, vertices: Vertices, shown: Influences) -> Array:
        """Return (n,) bool: the vertices that are shown with other nodes or weights than they are stored with."""
        old, weights = vertex_bones(self.template, self.mesh, vertices)
        now = self.nodes.of(old)
        gone = ((old >= 0) & (now < 0) & (weights > 0)).any(axis=1)
        return gone | Influences.of_slots(now, weights).differs(shown)

    def _bind_dynamic(self, bound: Bound, shown: Influences) -> None:
        vertices, rows = bound.vertices, np.flatnonzero(bound.changed)
        if vertices.bones is None:
            named = np.isin(shown.vertices, rows).any()
            bound.fault = "is weighted to bones, but its layout has no place for that" if named else ""
            return
        width = 1 if vertices.weights is None else vertices.bones.shape[1]
        slots, weights, more = (each[rows] for each in shown.slots(width))
        bound.dropped = int(more.sum())
        empty = slots[:, 0] < 0
        bound.unbound = int(empty.sum())
        slots[empty, 0], weights[empty, 0] = self._own, 1.0
        bones = vertices.bones.copy()
        bones[rows] = 0
        bones[rows, :width] = np.where(slots < 0, 0, bound.indices(np.maximum(slots, 0), slots >= 0))
        bound.vertices = replace(vertices, bones=bones)
        if vertices.weights is not None:
            stored = vertices.weights.copy()
            stored[rows] = 0
            stored[rows, :width] = quantised(weights, self._totals(vertices.weights[rows]), self.steps)
            bound.vertices.weights = stored

    def _totals(self, weights: Array) -> Array:
        """Return what the weights of vertices add up to, in steps: what they did, where that was nearly one."""
        full = self.steps or 1.0
        totals = weights.sum(axis=1, dtype=np.float64) * full
        return np.where((totals > full * USUAL) & (totals < full), np.rint(totals) if self.steps else totals, full)

    def _bind_static(self, bound: Bound, shown: Influences) -> None:
        rows = np.flatnonzero(bound.changed)
        slots, _, more = shown.slots(1)
        bound.dropped = int(more[rows].sum())
        carriers = np.where(slots[rows, 0] < 0, self._own, slots[rows, 0])
        if bound.vertices.normal_nodes is not None:
            stored = bound.vertices.normal_nodes.copy()
            stored[rows] = bound.indices(carriers, np.ones(len(rows), bool))
            bound.vertices = replace(bound.vertices, normal_nodes=stored)
        elif (carriers != self._own).any():
            bound.fault = "is static, with a layout that cannot name a bone for each vertex"
