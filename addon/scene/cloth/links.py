"""What ties particles together as edges of a mesh: made, and their stiffness in Blender and back.

A mesh has one edge at most between two vertices (more would make it invalid, and exporters mend or drop those), while
sets of real files tie some pairs twice: bend resistance where two pairs of triangles have the same tips, bend links as
they are. One edge then shows all links of a pair, the first of them by number and value; what is set of it is set of
all, and each keeps its own while nobody sets it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...cloth.edits.accepting import differing
from ...codec import FormatError
from ...codec.binary import Array
from ...codec.havok import cloth as records
from ...codec.havok.cloth.constraints import Links
from ..gather.shown import evaluated
from .keys import STIFFNESS
from .pointclouds import read, read_own, write

ROW = "row"  # of edges: which link of the set, the first of those that it shows


@dataclass(frozen=True, eq=False)
class Shown:
    """Which edges show the links of a set.

    Attributes:
        pairs: (m, 2) i4 particles, each pair once.
        rows: (m,) which link is the first that each edge shows; ascending.
        edges: (n,) which edge shows each link; -1 for one from a particle to itself, which none does.
    """

    pairs: Array
    rows: Array
    edges: Array

    @classmethod
    def of(cls, constraint: records.Constraint) -> Shown:
        """Choose them."""
        pairs = _pairs(constraint)
        links = np.flatnonzero(pairs[:, 0] != pairs[:, 1])
        _, first, inverse = np.unique(np.sort(pairs[links], 1), axis=0, return_index=True, return_inverse=True)
        rows = links[np.sort(first)]
        edges = np.full(len(pairs), -1, np.intp)
        edges[links] = np.argsort(np.argsort(first))[inverse.reshape(-1)]
        return cls(pairs[rows], rows.astype(np.int32), edges)


def _pairs(constraint: records.Constraint) -> Array:
    """Return the particles, (n, 2) i4, of a set's links; of bend resistance, the wing tips of its triangle pairs."""
    if isinstance(constraint, Links):
        return np.stack([constraint.a, constraint.b], axis=-1).astype(np.int32)
    if isinstance(constraint, records.BendStiffness):
        return np.ascontiguousarray(constraint.indices[:2].T, np.int32)
    return np.zeros((0, 2), np.int32)


def fill_links(mesh: Any, positions: Array, constraint: records.Constraint) -> None:
    """Fill an empty mesh with particles, (n, 3) f4 in Blender's axes, and the edges that show a set."""
    shown = Shown.of(constraint)
    mesh.vertices.add(len(positions))
    mesh.edges.add(len(shown.pairs))
    mesh.attributes["position"].data.foreach_set("vector", positions.ravel())
    if len(shown.pairs):
        mesh.edges.foreach_set("vertices", shown.pairs.ravel())
    mesh.update()
    write(mesh, ROW, "INT", shown.rows, "EDGE")


def write_stiffness(obj: Any, constraint: records.Constraint, stiffness: Array) -> None:
    """Write the stiffness of a set, (links,) or (links, 2) f4, onto its edges."""
    rows = _rows(obj.data, Shown.of(constraint))
    columns = np.atleast_2d(stiffness.T)
    for name, column in zip(STIFFNESS[len(columns)], columns, strict=True):
        write(obj.data, name, "FLOAT", column[rows], "EDGE")


def read_stiffness(obj: Any, constraint: records.Constraint, stiffness: Array) -> Array:
    """Return the stiffness of a set from its edges, in the order of its links.

    Args:
        obj: the links; what is being edited counts.
        constraint: the set as it is in the file.
        stiffness: (links,) or (links, 2) f4 of the file, for what is missing.

    Raises:
        FormatError: links were added, deleted or copied, or an attribute was converted.
    """
    shown = Shown.of(constraint)
    with evaluated(obj, None, None, modifiers=False) as mesh:
        rows = _rows(mesh, shown)
        order = np.argsort(rows, kind="stable")
        if len(mesh.edges) != len(shown.rows) or (rows[order] != shown.rows).any():
            raise FormatError(f"has other links than the {len(stiffness)} of its set: undo what was added or deleted")
        columns = list(np.ascontiguousarray(np.atleast_2d(stiffness.T)))
        for place, name in enumerate(STIFFNESS[len(columns)]):
            found = read_own(mesh, name, "FLOAT", "EDGE")
            if found is not None:
                columns[place] = _spread(found[order], shown, columns[place])
    return np.stack(columns, axis=-1).reshape(stiffness.shape)


def _spread(found: Array, shown: Shown, stored: Array) -> Array:
    """Return what edges say of links, (n,): the links of one that says what it did in the file keep their own."""
    changed = differing(stored[shown.rows], found)
    links = np.flatnonzero(shown.edges >= 0)
    links = links[changed[shown.edges[links]]]
    made = stored.copy()
    made[links] = found[shown.edges[links]]
    return made


def _rows(mesh: Any, shown: Shown) -> Array:
    """Return which links the edges of a mesh say that they are; where they do not, in order."""
    rows = read(mesh, ROW, "INT", "EDGE")
    return shown.rows if rows is None else rows
