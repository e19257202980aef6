"""The interior bits, from the finished mesh: neighbours, convex edges, order, marking (seed 003).

Everything is computed from the vertices as their codes decode, in single precision.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...codec.binary import Array
from ...codec.havok.collision.decode import QUAD, Primitives, Triangles
from ...codec.havok.collision.mesh import CompressedMesh
from ...maths.single import EPSILON, cross, dot, units
from ...maths.sorts import quicksort
from ..corners import corner_points

COSINE = np.uint32(0x3EAF1D44).view(np.float32)  # of 70 degrees
EDGE_WEIGHT = np.float32(10)


def interior_bits(mesh: CompressedMesh, primitives: Primitives, decoded: Triangles) -> Array:
    """Return the interior bit of every key up to the largest, (``max_key`` + 1,) bool.

    Args:
        mesh: the mesh, but for its bits.
        primitives: all of its primitives.
        decoded: its triangles.
    """
    bits = np.zeros(mesh.max_key + 1 if len(mesh.sections) else 0, bool)
    points = corner_points(primitives, decoded)[primitives.kind <= QUAD]
    polygons = _Polygons.of(mesh, primitives.drawn(), points)
    bits[polygons.keys[_mark(polygons)]] = True
    return bits


@dataclass(frozen=True, eq=False)
class _Polygons:
    """Triangles and flat quads in key order.

    Attributes:
        keys: (n,) i8.
        points: (n, 4, 3) f4, the fourth of use in quads only.
        edges: (n,) i8, 3 or 4.
        neighbours: (n, 4) i8, the polygon across each edge, -1 for none.
        across: (n, 4) i8, which edge of the neighbour it is.
    """

    keys: Array
    points: Array
    edges: Array
    neighbours: Array
    across: Array

    @classmethod
    def of(cls, mesh: CompressedMesh, primitives: Primitives, corners: Array) -> _Polygons:
        """List the polygons of triangles and quads with their corners, (n, 4, 3) f4, and find their neighbours."""
        slots = primitives.slots.astype(np.int64)
        quad = primitives.kind == QUAD
        flat = quad & ((mesh.flat_convex & slots[:, 1]) > slots[:, 3])
        bent = quad & ~flat
        owner = np.repeat(np.arange(len(slots)), 1 + bent)
        second = np.zeros(len(owner), bool)
        second[np.flatnonzero(np.diff(owner, prepend=-1) == 0)] = True
        corner = np.where(second[:, None], [0, 2, 3, 3], [0, 1, 2, 3])
        identity = np.take_along_axis(_identities(mesh, primitives)[owner], corner, axis=1)
        points = np.take_along_axis(corners[owner], corner[..., None], axis=1)
        keys = primitives.keys.astype(np.int64)[owner] + second
        edges = 3 + flat[owner].astype(np.int64)
        neighbours, across = _pair(identity, edges, np.flatnonzero(second))
        return cls(keys, points, edges, neighbours, across)


def _identities(mesh: CompressedMesh, primitives: Primitives) -> Array:
    """Return what tells corners apart, (n, 4) i8: section and slot of packed ones, the stored index of shared ones."""
    table = mesh.sections
    slots, section = primitives.slots.astype(np.int64), primitives.section
    own = table["num_packed"].astype(np.int64)[section][:, None]
    entry = np.maximum(slots - own, 0) + table["first_shared"].astype(np.int64)[section][:, None]
    index = np.append(mesh.shared_index, np.uint16(0)).astype(np.int64)
    shared = index[np.minimum(entry, len(mesh.shared_index))]
    return np.where(slots < own, (section[:, None].astype(np.int64) + 256) << 8 | slots, shared)


def _pair(identity: Array, edges: Array, second_halves: Array) -> tuple[Array, Array]:
    """Return across each edge the polygon and its edge, (n, 4) i8 each, -1 for none.

    Polygons are visited in order; an edge meets the latest unpaired one on the same corners that runs the other way.
    The edge between the halves of a bent quad is paired outright: the third of the first, the first of the second.
    """
    count = len(identity)
    partner = [-1] * (4 * count)
    for half in second_halves.tolist():
        partner[4 * half], partner[4 * half - 2] = 4 * half - 2, 4 * half
    rows, ends = identity.tolist(), edges.tolist()
    waiting: dict[tuple[int, int], list[int]] = {}
    for number, (corners, last) in enumerate(zip(rows, ends, strict=True)):
        for side in range(last):
            edge = 4 * number + side
            if partner[edge] >= 0:
                continue
            one, other = corners[side], corners[side + 1 if side + 1 < last else 0]
            stack = waiting.get((other, one))
            if stack:
                partner[edge] = stack.pop()
                partner[partner[edge]] = edge
            else:
                waiting.setdefault((one, other), []).append(edge)
    found = np.array(partner, np.int64).reshape(count, 4)
    return np.where(found < 0, -1, found >> 2), found & 3


@np.errstate(over="ignore", invalid="ignore")
def _mark(polygons: _Polygons) -> list[int]:
    """Return the polygons whose bit is set."""
    points, edges, neighbours = polygons.points, polygons.edges, polygons.neighbours
    used = np.arange(4) < edges[:, None]
    whole = ((neighbours >= 0) | ~used).all(axis=1)
    normals = cross(points[:, 1] - points[:, 0], points[:, 2] - points[:, 0])
    unit = units(normals)
    # across a flat quad it is the half that owns the edge that counts
    other_half = np.where(
        (edges == 4)[:, None], units(cross(points[:, 2] - points[:, 0], points[:, 3] - points[:, 0])), unit
    )
    facing = np.where((polygons.across >= 2)[..., None], other_half[neighbours], unit[neighbours])
    following = np.where(np.arange(4) + 1 < edges[:, None], np.arange(4) + 1, 0)
    along = units(np.take_along_axis(points, following[..., None], axis=1) - points)
    convex = used & (dot(along, cross(normals[:, None], facing)) > EPSILON)
    steep = dot(unit[:, None], unit[neighbours]) < COSINE
    weight = np.sqrt(dot(normals, normals)) + EDGE_WEIGHT * convex.sum(axis=1).astype(np.float32)
    refused = (convex & steep).any(axis=1)
    listed = np.flatnonzero(whole)
    order = listed[np.array(quicksort(weight[listed].tolist()), np.int64)]
    met = np.where(convex, neighbours, len(whole)).tolist()
    is_set = bytearray(len(whole) + 1)
    marked = []
    for number in order[~refused[order]].tolist():
        one, other, third, fourth = met[number]
        if not (is_set[one] or is_set[other] or is_set[third] or is_set[fourth]):
            is_set[number] = 1
            marked.append(number)
    return marked
