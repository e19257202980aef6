"""Simd trees: four boxes a node.

The encoding, the numbering of nodes and what boxes hold are the games' (seed 003). How leaves are grouped is known only
of small meshes; larger ones are cut into four along the axis where their centres spread most, again and again.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ...codec.binary import Array
from ...codec.havok.collision.simd import BIG, CHILD, EMPTY, LEAF, SimdTree, empty_simd
from ...maths.single import HALF

LANES = 4


def simd_tree(boxes: Array, keys: Array, *, flagged: bool, sort_from: int = 0) -> SimdTree:
    """Return the simd tree over leaves; of none, the two empty nodes of meshes without one.

    Args:
        boxes: (n, 2, 3) f4.
        keys: (n,) u4 what the leaves name, ascending.
        flagged: whether nodes carry ``isLeaf``: the encoding and numbering of 2018.1; else those of 2016.2.
        sort_from: meshes of fewer leaves keep them in the order of their keys.
    """
    if not len(keys):
        return empty_simd(flagged=flagged)
    builder = _Builder(boxes, ordered=len(keys) < sort_from)
    builder.split(np.arange(len(keys)))
    return builder.tree(keys, flagged=flagged)


@dataclass
class _Builder:
    """Nodes in the order in which they are met: their leaves, or the numbers of their children."""

    boxes: Array
    ordered: bool
    leaves: list[Array] = field(default_factory=list)
    children: list[list[int]] = field(default_factory=list)

    def split(self, part: Array) -> int:
        """Make the node over some leaves and the nodes below it; return its number."""
        number = len(self.leaves)
        self.leaves.append(part[:0])
        self.children.append([])
        if len(part) <= LANES:
            self.leaves[number] = part
            return number
        if not self.ordered:
            part = self._sorted(part)
        # each part but the last fills whole nodes
        size = -(-len(part) // LANES)
        size += -size % LANES
        self.children[number] = [self.split(part[at : at + size]) for at in range(0, len(part), size)]
        return number

    def _sorted(self, part: Array) -> Array:
        centres = (self.boxes[part, 0] + self.boxes[part, 1]) * HALF
        axis = int(np.argmax(centres.max(axis=0) - centres.min(axis=0)))
        return part[np.argsort(centres[:, axis], kind="stable")]

    def tree(self, keys: Array, *, flagged: bool) -> SimdTree:
        """Return the tree with its nodes numbered: the root 1, behind an empty node."""
        number = self._stacked_numbers() if flagged else self._reversed_numbers()
        count = len(self.leaves) + 1
        boxes = np.empty((count, LANES, 2, 3), np.float32)
        boxes[:, :, 0], boxes[:, :, 1] = BIG, -BIG
        kind, value = np.full((count, LANES), EMPTY, np.uint8), np.zeros((count, LANES), np.uint32)
        for node in reversed(range(count - 1)):  # children are met after their parents
            place, part, below = number[node], self.leaves[node], self.children[node]
            if below:
                inner = boxes[[number[child] for child in below]]
                boxes[place, : len(below), 0] = inner[:, :, 0].min(axis=1)
                boxes[place, : len(below), 1] = inner[:, :, 1].max(axis=1)
                kind[place, : len(below)], value[place, : len(below)] = CHILD, [number[child] for child in below]
            else:
                boxes[place, : len(part)] = self.boxes[part]
                kind[place, : len(part)], value[place, : len(part)] = LEAF, keys[part]
        return SimdTree(boxes, kind, value, 1 if flagged else None, flagged)

    def _stacked_numbers(self) -> list[int]:
        """2018.1: a node's children are numbered in lane order when it is taken from a stack."""
        number, stack, following = [1] * len(self.leaves), [0], 2
        while stack:
            below = self.children[stack.pop()]
            for child in below:
                number[child] = following
                following += 1
            stack += below
        return number

    def _reversed_numbers(self) -> list[int]:
        """2016.2: depth first, the lanes of a node from the last to the first."""
        number, stack = [0] * len(self.leaves), [0]
        for following in range(1, len(self.leaves) + 1):
            node = stack.pop()
            number[node] = following
            stack += self.children[node]
        return number
