"""Static bounding-volume trees: nodes of four, five or six bytes in pre-order, and the boxes they stand for.

An inner node's first child follows it, its second child is ``2 * value`` nodes after it. A node's box is its parent's
(the tree's domain for the root) less, on each axis, ``n * n / 226`` of the parent's extent on either side, n being the
high nibble for the minimum and the low one for the maximum (seed 003).

====== ============== ====================================================================
bytes  where          the value and the bit that marks an inner node
====== ============== ====================================================================
4      in a section   data >> 1, bit 0; a leaf is a primitive
5      over sections  hiData << 8 | loData, bit 15; a leaf is a section
6      extern mesh    (hiData & 0x7F) << 16 | loData, bit 7 of hiData; a leaf is a triangle
====== ============== ====================================================================
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...binary import Array
from ...errors import FormatError
from ..objects import View

SHRINK = np.float32(226)
SIX_BYTES = 6


@dataclass(frozen=True, eq=False)
class Nodes:
    """Nodes of one tree, or of several one after another.

    Attributes:
        nibbles: (n, 3) u1, x, y, z.
        inner: (n,) bool.
        value: (n,) i64: what a leaf names, or half the distance to the second child.
    """

    nibbles: Array
    inner: Array
    value: Array

    def __len__(self) -> int:
        return len(self.value)


def read_nodes(view: View) -> Nodes:
    """Read nodes of any of the three codecs; which one is told by the members of the class."""
    nibbles = view.numbers("xyz", "u1", (3,))
    if "data" in view:
        data = view.numbers("data", "u1").astype(np.int64)
        return Nodes(nibbles, (data & 1).astype(bool), data >> 1)
    high = view.numbers("hiData", "u1").astype(np.int64)
    if view.layout.size == SIX_BYTES:
        value = (high & 0x7F) << 16 | view.numbers("loData", "<u2")
        return Nodes(nibbles, high >= 0x80, value)
    value = high << 8 | view.numbers("loData", "u1")
    return Nodes(nibbles, value >= 0x8000, value & 0x7FFF)


@dataclass(frozen=True, eq=False)
class Walk:
    """Trees walked from their roots.

    Attributes:
        boxes: (n, 2, 3) f4, minimum and maximum of every node.
        parent: (n,) i64, -1 for roots.
        depth: (n,) i64.
    """

    boxes: Array
    parent: Array
    depth: Array


def walk(nodes: Nodes, roots: Array, ends: Array, domains: Array, trail: str = "nodes") -> Walk:
    """Walk trees that stand one after another, all together, level by level.

    Args:
        nodes: all nodes.
        roots: (t,) first node of each tree.
        ends: (t,) the node after its last.
        domains: (t, 2, 3) f4.
        trail: for messages.

    Raises:
        FormatError: a second child that is not inside its parent's part of the nodes, as in a loop, or nodes that no
            parent leads to.
    """
    count = len(nodes)
    boxes, parent = np.zeros((count, 2, 3), np.float32), np.full(count, -1, np.int64)
    depth = np.zeros(count, np.int64)
    some = roots < ends
    level, end, outer, up = roots[some], ends[some], domains[some], np.full(int(some.sum()), -1, np.int64)
    step = 0
    while len(level):
        depth[level], parent[level] = step, up
        outer = boxes[level] = shrunk(outer, nodes.nibbles[level])
        inner = nodes.inner[level]
        if (~inner & (level + 1 != end)).any():
            lost = int(level[~inner & (level + 1 != end)][0])
            raise FormatError("nodes follow a leaf that no parent leads to", trail=f"{trail}[{lost}]")
        at, box, end = level[inner], outer[inner], end[inner]
        second = at + 2 * nodes.value[at]
        bad = (second <= at + 1) | (second >= end)
        if bad.any():
            what = "the second child is not among the nodes below its parent: a loop, or outside of the tree"
            raise FormatError(what, trail=f"{trail}[{int(at[bad][0])}]")
        level, end = np.concatenate([at + 1, second]), np.concatenate([second, end])
        outer, up = np.concatenate([box, box]), np.concatenate([at, at])
        step += 1
    return Walk(boxes, parent, depth)


def shrunk(boxes: Array, nibbles: Array) -> Array:
    """Return the boxes, (n, 2, 3) f4, inside parent boxes that nibbles, (n, 3) u1, stand for."""
    low, high = boxes[:, 0], boxes[:, 1]
    extent = high - low
    first, last = (nibbles >> 4).astype(np.float32), (nibbles & 15).astype(np.float32)
    return np.stack([low + extent * (first * first) / SHRINK, high - extent * (last * last) / SHRINK], axis=1)
