"""Short lists of leaves joined from the bottom: always the two whose union has the least surface (seed 003)."""

from __future__ import annotations

import numpy as np

from ...codec.binary import Array
from ...maths.single import surfaces
from .binary import BinaryTree

JOINED = 16  # leaves of the longest list
BATCH = 2048  # lists at a time, for their matrices of surfaces take a kilobyte each


def join_lists(tree: BinaryTree, order: Array, begin: Array, counts: Array, nodes: Array) -> None:
    """Make subtrees of many lists of 2 to 16 leaves.

    Args:
        tree: gets the children; boxes of inner nodes are not set.
        order: leaves, list after list.
        begin: (k,) where each list is in ``order``.
        counts: (k,) how long it is.
        nodes: (k,) root of each list's subtree, whose others are the ``count - 2`` numbers after it.
    """
    for at in range(0, len(nodes), BATCH):
        part = slice(at, at + BATCH)
        _Joiner(tree, order, begin[part], counts[part]).run(nodes[part])


class _Joiner:
    """Lists padded to sixteen entries; the joins of all of them go in step."""

    def __init__(self, tree: BinaryTree, order: Array, begin: Array, counts: Array) -> None:
        self.tree = tree
        self.counts = counts.copy()
        place = np.minimum(begin[:, None] + np.arange(JOINED), len(order) - 1)
        self.entry = order[place]
        self.low, self.high = tree.low[self.entry], tree.high[self.entry]
        self.cost = np.full((len(counts), JOINED, JOINED), np.inf, np.float32)
        for column in range(JOINED):
            self._update(np.arange(len(counts)), np.full(len(counts), column))

    def run(self, nodes: Array) -> None:
        """Join until one entry is left; the last join makes the root, the ones before it the numbers after."""
        while True:
            lists = np.flatnonzero(self.counts > 1)
            if not len(lists):
                return
            best = self.cost[lists].reshape(len(lists), -1).argmin(axis=1)
            first, second = best // JOINED, best % JOINED
            made = nodes[lists] + self.counts[lists] - 2
            self.tree.children[made - self.tree.leaf_count, 0] = self.entry[lists, first]
            self.tree.children[made - self.tree.leaf_count, 1] = self.entry[lists, second]
            self.low[lists, first] = np.minimum(self.low[lists, first], self.low[lists, second])
            self.high[lists, first] = np.maximum(self.high[lists, first], self.high[lists, second])
            self.entry[lists, first] = made
            last = self.counts[lists] - 1
            for array in (self.entry, self.low, self.high):
                array[lists, second] = array[lists, last]
            self.counts[lists] = last
            for place in (first, second, last):
                self._update(lists, place)

    def _update(self, lists: Array, place: Array) -> None:
        """Compute the surfaces of the unions of one entry of each list with the others."""
        low = np.minimum(self.low[lists, place][:, None], self.low[lists])
        high = np.maximum(self.high[lists, place][:, None], self.high[lists])
        surface = surfaces(low, high)
        column = np.arange(JOINED)
        count = self.counts[lists, None]
        surface[(column >= count) | (column == place[:, None]) | (place[:, None] >= count)] = np.inf
        smaller, larger = np.minimum(place[:, None], column), np.maximum(place[:, None], column)
        self.cost[lists[:, None], smaller, larger] = surface
