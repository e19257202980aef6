"""Pairs of triangles that become quads, by the rule of seed 003."""

from __future__ import annotations

import numpy as np

from ...codec.binary import Array
from ...maths.single import surfaces
from ...maths.sorts import quicksort
from .source import Rows

FIRST_EDGE, THIRD_EDGE = 0, 2


def pair_quads(rows: Rows) -> Array:
    """Return the pairs in the order in which they are taken, (q, 2) i8 rows: ``a b c`` and ``a c d`` of a quad."""
    candidates = _candidates(rows)
    points = rows.vertices[rows.corners[candidates]]
    low, high = points.min(axis=2), points.max(axis=2)
    union = surfaces(low.min(axis=1), high.max(axis=1))
    first, second = surfaces(low[:, 0], high[:, 0]), surfaces(low[:, 1], high[:, 1])
    cost = (union - second) + (union - first)
    taken = bytearray(len(rows))
    pairs = []
    listed = candidates.tolist()
    for place in quicksort(cost.tolist()):
        one, other = listed[place]
        if not taken[one] and not taken[other]:
            taken[one] = taken[other] = 1
            pairs.append((one, other))
    return np.array(pairs, np.int64).reshape(-1, 2)


def _candidates(rows: Rows) -> Array:
    """Return pairs of rows that share an edge, the third of one and the first of the other, (n, 2) i8.

    For each edge record, in the order of the sort by vertex numbers, the first later one that fits makes a candidate.
    """
    start = rows.corners.ravel()
    end, opposite = rows.corners[:, [1, 2, 0]].ravel(), rows.corners[:, [2, 0, 1]].ravel()
    count = len(rows.vertices)
    keys = np.minimum(start, end) * count + np.maximum(start, end)
    order = np.array(quicksort(keys.tolist()), np.int64)
    order = order[order % 3 != 1]  # second edges make no candidates
    start, end, opposite = start[order], end[order], opposite[order]
    row, edge = order // 3, order % 3
    # what a record is, and what it looks for: the other direction and the other edge, with the same material
    groups = int(rows.data.max(initial=0)) + 1
    kind = ((start * count + end) * 3 + edge) * groups + rows.data[row]
    wanted = ((end * count + start) * 3 + (THIRD_EDGE - edge)) * groups + rows.data[row]
    found = _first_later(kind, wanted, opposite)
    record = np.flatnonzero(found >= 0)
    other = found[record]
    third = edge[record] == THIRD_EDGE
    return np.stack([row[np.where(third, record, other)], row[np.where(third, other, record)]], axis=1)


def _first_later(kind: Array, wanted: Array, opposite: Array) -> Array:
    """Return for each record the first later one of the kind it wants with another vertex opposite, -1 for none.

    Args:
        kind: (n,) what each record is.
        wanted: (n,) the kind that each looks for.
        opposite: (n,) vertex opposite to each record's edge.
    """
    count = len(kind)
    known, number = np.unique(kind, return_inverse=True)
    listed = np.sort(number.reshape(-1) * count + np.arange(count))
    group = np.minimum(np.searchsorted(known, wanted), max(len(known) - 1, 0))
    found = np.full(count, -1, np.int64)
    active = np.flatnonzero(known[group] == wanted)
    place = np.searchsorted(listed, group[active] * count + active, side="right")
    end = np.searchsorted(listed, group[active] * count + count)
    while len(active):
        inside = place < end
        active, place, end = active[inside], place[inside], end[inside]
        other = listed[place] % count
        good = opposite[other] != opposite[active]
        found[active[good]] = other[good]
        active, place, end = active[~good], place[~good] + 1, end[~good]
    return found
