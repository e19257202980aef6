"""What follows from a changed model: bounds, links, flags, skeletons, face counts.

Files of the games and of tools do not always have what their own rules give. So only what the change itself alters is
made anew: where the rule gives the same before and after, the stored value stays.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..codec.binary import Array
from ..codec.flver import Flver
from .bounds import box, mesh_bounds, node_bounds
from .derived import NAMED_BY_DUMMY, UNUSED, link, node_flags, skeleton_set
from .placement import node_matrices, place_mesh

LINKS = ("first_child", "next_sibling", "previous_sibling")


@dataclass
class Changes:
    """What an edit has touched.

    Attributes:
        tree: nodes were added, removed or have other parents.
        naming: dummies or meshes name other nodes than before.
        shape: nodes moved, or vertices moved or have other weights.
        faces: triangles are others.
        node_sources: (n,) int32: the number that each node had, -1 for a new one.
        mesh_sources: the number that each mesh had, -1 for a new one.
    """

    tree: bool
    naming: bool
    shape: bool
    faces: bool
    node_sources: Array
    mesh_sources: list[int]


def follow(before: Flver, after: Flver, changes: Changes) -> None:
    """Bring what follows from a changed model up to date, in place.

    Args:
        before: the model as it was imported.
        after: the changed one; what follows is as it was, links are already numbered anew.
        changes: what has changed.
    """
    if changes.shape or changes.tree:
        _follow_bounds(before, after, changes)
    if changes.tree:
        _follow_links(before, after, changes.node_sources)
        if after.skeletons is not None:
            after.skeletons = skeleton_set(after.nodes)
    if changes.tree or changes.naming:
        _follow_flags(before, after, changes.node_sources)
    if changes.faces and before.count_faces() != after.count_faces():
        after.header["true_face_count"], after.header["total_face_count"] = after.count_faces()


def _follow_bounds(before: Flver, after: Flver, changes: Changes) -> None:
    old, new = _Boxes.of(before), _Boxes.of(after)
    other = _differs(np.hstack(old.nodes), np.hstack(new.nodes), changes.node_sources)
    for field, now in zip(("bounds_min", "bounds_max"), new.nodes, strict=True):
        after.nodes[field][other] = now[other]
    for i, source in enumerate(changes.mesh_sources):
        stored = source < 0 or before.meshes[source].bounds is not None
        if stored and (source < 0 or not np.array_equal(old.meshes[source], new.meshes[i])):
            after.meshes[i].bounds = mesh_bounds(after.vertices(i).positions, after.version)
    if not np.array_equal(old.whole, new.whole):
        after.header["bounds_min"], after.header["bounds_max"] = new.whole


@dataclass
class _Boxes:
    """The boxes that the rules give for a model."""

    nodes: tuple[Array, Array]
    meshes: list[tuple[Array, Array]]
    whole: tuple[Array, Array]

    @classmethod
    def of(cls, flver: Flver) -> _Boxes:
        vertices = [flver.vertices(i) for i in range(len(flver.meshes))]
        matrices = node_matrices(flver.nodes)
        placed = [place_mesh(flver, mesh, part, matrices)[0] for mesh, part in zip(flver.meshes, vertices, strict=True)]
        return cls(
            node_bounds(flver, vertices, matrices),
            [box(part.positions) for part in vertices],
            box(np.concatenate([np.zeros((0, 3), np.float32), *placed])),
        )


def _differs(before: Array, after: Array, sources: Array) -> Array:
    """Return (n,) bool: rows that are new or differ from those they come from."""
    result = sources < 0
    known = ~result
    unlike = before[sources[known]] != after[known]
    result[known] = unlike.any(axis=1) if unlike.ndim > 1 else unlike
    return result


def _follow_links(before: Flver, after: Flver, sources: Array) -> None:
    places = np.full(len(before.nodes) + 1, -1, np.int64)  # -1 stays -1
    places[sources[sources >= 0]] = np.flatnonzero(sources >= 0)
    old, new = before.nodes.copy(), after.nodes.copy()
    link(old, (before.nodes["flags"] & UNUSED) == 0)
    link(new, (after.nodes["flags"] & UNUSED) == 0)
    for field in LINKS:
        other = _differs(places[old[field]], new[field].astype(np.int64), sources)
        after.nodes[field][other] = new[field][other]


def _follow_flags(before: Flver, after: Flver, sources: Array) -> None:
    """Set the flags of new nodes, and of the others the two bits whose rule is known, where that gives another one."""
    old, new = node_flags(before), node_flags(after)
    added = sources < 0
    after.nodes["flags"][added] = new[added]
    known = ~added
    changed = (old[sources[known]] ^ new[known]) & (UNUSED | NAMED_BY_DUMMY)
    flags = after.nodes["flags"][known]
    after.nodes["flags"][known] = (flags & ~changed) | (new[known] & changed)
