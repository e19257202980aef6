"""Boxes -> stored tree nodes: how far each shrinks from its parent, in squares of nibbles (seed 003)."""

from __future__ import annotations

import numpy as np

from ...codec.binary import Array
from ...codec.havok.collision.trees import SHRINK, Nodes, shrunk

SQUARES = np.arange(16, dtype=np.float32) ** 2


def store_nodes(size: Array, leaf_value: Array, boxes: Array, domains: Array, roots: Array) -> Nodes:
    """Return stored nodes of trees that stand one after another in pre-order.

    Args:
        size: (n,) nodes of the subtree from each on.
        leaf_value: (n,) what leaves name; not looked at in inner nodes.
        boxes: (n, 2, 3) f4, what each node has to hold.
        domains: (t, 2, 3) f4, the box that each tree's root shrinks from.
        roots: (t,) where each tree begins.
    """
    inner = size > 1
    # the second child follows the first one's subtree, an even number of nodes away
    first_size = np.append(size[1:], 0)
    value = np.where(inner, (first_size + 1) >> 1, leaf_value)
    nibbles = np.zeros((len(size), 3), np.uint8)
    nodes, outer = np.asarray(roots), np.asarray(domains, np.float32)
    while len(nodes):
        nibbles[nodes] = nibbles_for(outer, boxes[nodes])
        own = shrunk(outer, nibbles[nodes])
        above, own = nodes[inner[nodes]], own[inner[nodes]]
        nodes = np.concatenate([above + 1, above + 2 * value[above]])
        outer = np.concatenate([own, own])
    return Nodes(nibbles, inner, value)


def nibbles_for(outer: Array, boxes: Array) -> Array:
    """Return the nibbles, (n, 3) u1, of boxes, (n, 2, 3) f4, inside parent boxes: the largest that still hold them."""
    low, high = outer[:, 0], outer[:, 1]
    step = (high - low)[..., None] * SQUARES / SHRINK
    first = (low[..., None] + step <= boxes[:, 0][..., None]).sum(axis=-1)
    last = (high[..., None] - step >= boxes[:, 1][..., None]).sum(axis=-1)
    # a box that reaches out of its parent's by a rounding step does not shrink
    return (np.maximum(first - 1, 0) << 4 | np.maximum(last - 1, 0)).astype(np.uint8)
