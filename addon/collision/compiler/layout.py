"""Where the parts of a cut tree stand: sections, their leaves, their primitives."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...codec.binary import Array
from ...maths.runs import ranges, starts
from ...maths.sorts import ranks
from .binary import BinaryTree, Preorder


@dataclass(frozen=True, eq=False)
class Layout:
    """A tree, cut. The walk is its leaves section after section, in pre-order of each section's tree.

    Attributes:
        tree: over the leaves.
        order: its nodes in pre-order.
        sections: (s,) i8, where in pre-order the subtree of each section begins.
        nodes: (k,) i8, nodes of the tree in the order in which sections store them.
        sizes: (k,) i8, how many nodes the subtree from each of these on has.
        roots: (s + 1,) i8, where the nodes of each section begin.
        counts: (s,) i8, leaves of each section.
        walk: (n,) i8, leaves.
        section: (n,) i8, section of each leaf of the walk.
        node: (n,) i8, which node of its section each leaf of the walk is.
        payload: (n,) i8, which primitive of its section each leaf of the walk is.
        stored: (n,) i8, which leaf of the walk each primitive is, section after section.
    """

    tree: BinaryTree
    order: Preorder
    sections: Array
    nodes: Array
    sizes: Array
    roots: Array
    counts: Array
    walk: Array
    section: Array
    node: Array
    payload: Array
    stored: Array

    @classmethod
    def of(cls, tree: BinaryTree, order: Preorder, sections: Array) -> Layout:
        """Lay out a tree cut at ``sections``."""
        node_counts = order.size[sections]
        places = ranges(sections, node_counts)
        nodes = order.node[places]
        leaf = np.flatnonzero(nodes < tree.leaf_count)
        counts = (node_counts + 1) >> 1
        begin = starts(counts)
        section = np.repeat(np.arange(len(sections)), counts)
        # the games sort a section's primitives by data run; all keys are equal, and the sort is not stable
        stored = begin[section] + np.concatenate([np.array(ranks(count)) for count in counts.tolist()])
        payload = np.empty(len(leaf), np.int64)
        payload[stored] = ranges(np.zeros_like(counts), counts)
        roots = np.append(starts(node_counts), len(nodes))
        return cls(
            tree, order, sections, nodes, order.size[places], roots, counts, nodes[leaf], section,
            leaf - roots[section], payload, stored,
        )  # fmt: skip
