"""The rebuilt tree made a little better: grandchildren exchanged, larger children first (seed 003)."""

from __future__ import annotations

import numpy as np

from ...codec.binary import Array
from ...maths.single import surfaces
from .binary import BinaryTree


def refine(tree: BinaryTree) -> None:
    """Exchange grandchildren below the root where that makes the children smaller, until nothing changes.

    A pass is in pre-order; but what an exchange changes is only its node's children, whose turn comes later, and what
    its parent sees in the next pass. So all nodes of one depth are done together.
    """
    changed = tree.leaf_count > 3
    while changed:
        changed = False
        for depth, level in enumerate(tree.levels()):
            if depth:
                changed |= _exchange(tree, level[level >= tree.leaf_count])


def _exchange(tree: BinaryTree, nodes: Array) -> bool:
    """Exchange grandchildren of nodes of one depth; return whether any were."""
    pairs = tree.children_of(nodes)
    pairs = pairs[(pairs >= tree.leaf_count).all(axis=1)]
    if not len(pairs):
        return False
    (a0, a1), (b0, b1) = tree.children_of(pairs[:, 0]).T, tree.children_of(pairs[:, 1]).T
    first = _union_surface(tree, a0, b0) + _union_surface(tree, a1, b1)
    second = _union_surface(tree, a0, b1) + _union_surface(tree, b0, a1)
    present = surfaces(tree.low[pairs], tree.high[pairs])
    better = np.minimum(first, second) < present[:, 0] + present[:, 1]
    if not better.any():
        return False
    with_first = first < second
    ones = np.stack([a0, np.where(with_first, b0, b1)], axis=1)
    others = np.stack([np.where(with_first, a1, b0), np.where(with_first, b1, a1)], axis=1)
    for side, children in ((0, ones), (1, others)):
        node, inner = pairs[better, side], children[better]
        tree.children[node - tree.leaf_count] = inner
        tree.low[node] = tree.low[inner].min(axis=1)
        tree.high[node] = tree.high[inner].max(axis=1)
    return True


def _union_surface(tree: BinaryTree, one: Array, other: Array) -> Array:
    return surfaces(np.minimum(tree.low[one], tree.low[other]), np.maximum(tree.high[one], tree.high[other]))


def put_larger_first(tree: BinaryTree) -> None:
    """Let every node below the root have its larger child, by surface, first."""
    surface = surfaces(tree.low[tree.children], tree.high[tree.children])
    turned = surface[:, 1] > surface[:, 0]
    if tree.root >= tree.leaf_count:
        turned[tree.root - tree.leaf_count] = False
    tree.children[turned] = tree.children[turned][:, ::-1]
