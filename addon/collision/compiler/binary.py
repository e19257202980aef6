"""A binary tree over leaves, as arrays: the form in which trees are built, before they are stored."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ...codec.binary import Array


@dataclass(eq=False)
class BinaryTree:
    """A binary tree. Nodes below ``leaf_count`` are leaves, the others have two children each.

    Attributes:
        leaf_count: how many leaves there are.
        children: (n - 1, 2) i8, of the nodes from ``leaf_count`` on.
        root: its node.
        low, high: (2 n - 1, 3) f4, boxes of all nodes.
    """

    leaf_count: int
    children: Array
    root: int
    low: Array
    high: Array

    def children_of(self, nodes: Array) -> Array:
        """Return the children, (k, 2) i8, of inner nodes."""
        return self.children[nodes - self.leaf_count]

    def levels(self) -> Iterator[Array]:
        """Yield the nodes of each depth from the root on; children may be changed between the levels above them."""
        level = np.array([self.root])
        while len(level):
            yield level
            level = self.children_of(level[level >= self.leaf_count]).ravel()


@dataclass(frozen=True, eq=False)
class Preorder:
    """A tree's nodes in pre-order.

    Attributes:
        node: (n,) i8, the tree's node at each place.
        size: (n,) i8, how many nodes the subtree from each place on has.
        parent: (n,) i8, place of the parent, -1 for the root.
        depth: (n,) i8.
    """

    node: Array
    size: Array
    parent: Array
    depth: Array

    @classmethod
    def of(cls, tree: BinaryTree) -> Preorder:
        """Put a tree's nodes in pre-order."""
        levels = list(tree.levels())
        count = 2 * tree.leaf_count - 1
        size_of, place_of, parent_of, depth_of = (np.ones(count, np.int64) for _ in range(4))
        for level in reversed(levels):
            inner = level[level >= tree.leaf_count]
            size_of[inner] += size_of[tree.children_of(inner)].sum(axis=1)
        place_of[tree.root], parent_of[tree.root] = 0, -1
        for depth, level in enumerate(levels):
            depth_of[level] = depth
            inner = level[level >= tree.leaf_count]
            first, second = tree.children_of(inner).T
            place_of[first] = place_of[inner] + 1
            place_of[second] = place_of[first] + size_of[first]
            parent_of[first] = parent_of[second] = place_of[inner]
        node = np.argsort(place_of)
        return cls(node, size_of[node], parent_of[node], depth_of[node])
