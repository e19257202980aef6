"""Simd trees: a second bounding-volume tree over a mesh's primitives, four boxes a node.

Node 0 is a sentinel of empty lanes, node 1 the root. A lane is empty, or names a child node, or a leaf by its shape key
(seed 003):

=============== =================================== ===========================================
lane            2016.2, nodes of 112 bytes          2018.1, nodes of 128 bytes with ``isLeaf``
=============== =================================== ===========================================
empty           0                                   0, in a node of leaves 0xFFFFFFFF
child           node << 1                           the node
leaf            key << 1 | 1                        the key
=============== =================================== ===========================================
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...binary import Array
from ..objects import View

EMPTY, CHILD, LEAF = 0, 1, 2
NOTHING = np.uint32(0xFFFFFFFF)
BIG = np.uint32(0x7F7FFFEE).view(np.float32)  # what the games store in empty lanes, a little below the largest float
SIDES = ("lx", "hx", "ly", "hy", "lz", "hz")


@dataclass(frozen=True, eq=False)
class SimdTree:
    """A simd tree in one form for both encodings.

    Attributes:
        boxes: (n, 4, 2, 3) f4, minimum and maximum of every lane.
        kind: (n, 4) u1, `EMPTY`, `CHILD` or `LEAF`.
        value: (n, 4) u4, node index or shape key; 0 in empty lanes.
        compact: what ``isCompact`` says; None where the class lacks it.
        leaf_flags: whether nodes carry ``isLeaf``, the encoding of 2018.1.
    """

    boxes: Array
    kind: Array
    value: Array
    compact: int | None
    leaf_flags: bool

    @property
    def keys(self) -> Array:
        """The shape keys that the leaves name, in lane order, u4."""
        return np.asarray(self.value[self.kind == LEAF])


def empty_simd(*, flagged: bool = True) -> SimdTree:
    """Return the simd tree of a mesh without one: two nodes of empty lanes; ``flagged``: those of 2018.1."""
    boxes = np.empty((2, 4, 2, 3), np.float32)
    boxes[:, :, 0], boxes[:, :, 1] = BIG, -BIG
    kind, value = np.full((2, 4), EMPTY, np.uint8), np.zeros((2, 4), np.uint32)
    return SimdTree(boxes, kind, value, 0 if flagged else None, flagged)


def read_simd(view: View) -> SimdTree:
    """Read a ``hkcdSimdTree``."""
    nodes = view.many("nodes")
    sides = np.stack([nodes.numbers(side, "<f4", (4,)) for side in SIDES], axis=-1)
    boxes = sides.reshape(-1, 4, 3, 2).swapaxes(2, 3)
    data = nodes.numbers("data", "<u4", (4,))
    empty = (boxes[:, :, 0] > boxes[:, :, 1]).any(axis=-1)
    if "isLeaf" in nodes:
        leaf = np.broadcast_to(nodes.numbers("isLeaf", "?")[:, None], data.shape)
        value = data
    else:
        leaf, value = (data & 1).astype(bool), data >> 1
    kind = np.where(empty, EMPTY, np.where(leaf, LEAF, CHILD)).astype(np.uint8)
    compact = int(view["isCompact"]) if "isCompact" in view else None
    return SimdTree(boxes, kind, np.where(empty, 0, value).astype(np.uint32), compact, "isLeaf" in nodes)


def node_values(tree: SimdTree, dtype: np.dtype[np.void]) -> Array:
    """Return the stored nodes of a tree, (n,) of the node class's dtype; the inverse of `read_simd`."""
    values = np.zeros(len(tree.kind), dtype)
    for place, side in enumerate(SIDES):
        values[side] = tree.boxes[:, :, place % 2, place // 2]
    if tree.leaf_flags:
        leaves = (tree.kind == LEAF).any(axis=1)
        values["isLeaf"] = leaves
        nothing = np.where(leaves[:, None], NOTHING, np.uint32(0))
        values["data"] = np.where(tree.kind == EMPTY, nothing, tree.value)
    else:
        values["data"] = np.where(tree.kind == EMPTY, 0, tree.value << np.uint32(1) | (tree.kind == LEAF))
    return values
