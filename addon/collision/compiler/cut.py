"""The tree cut into sections (seed 003)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...codec.binary import Array
from ...codec.errors import FormatError
from .binary import BinaryTree, Preorder

MAX_LEAVES, MAX_SLOTS = 127, 255
MAX_SECTIONS = 32768  # what the leaves of a mesh tree can name


def cut_sections(tree: BinaryTree, order: Preorder, slots: Callable[[Array], int]) -> Array:
    """Return where in pre-order the subtree of each section begins, (s,) i8, in the order of the sections' numbers.

    A queue starts with the root. An entry of at most 127 leaves and 255 vertices is a section; any other is replaced by
    its first child, and its second child goes to the end of the queue.

    Args:
        tree: the tree.
        order: its nodes in pre-order.
        slots: how many vertex slots some leaves need together.

    Raises:
        FormatError: more sections than a mesh can have.
    """
    size, node = order.size.tolist(), order.node
    queue, number = [0], 0
    while number < len(queue):
        place = queue[number]
        while size[place] > 1:
            part = node[place : place + size[place]]
            if size[place] <= 2 * MAX_LEAVES - 1 and slots(part[part < tree.leaf_count]) <= MAX_SLOTS:
                break
            queue.append(place + 1 + size[place + 1])
            place += 1
        queue[number] = place
        number += 1
    if number > MAX_SECTIONS:
        raise FormatError(f"the mesh needs {number} sections, {MAX_SECTIONS} are possible: divide it")
    return np.array(queue, np.int64)


def mesh_preorder(order: Preorder, sections: Array) -> tuple[Array, Array, Array, Array]:
    """Return the tree above sections in pre-order.

    Returns:
        (n,) i8 places of its nodes in the whole tree's pre-order; (n,) i8 sizes of the subtrees; (n,) i8 the section of
        each leaf, -1 in inner nodes; (s,) i8 the leaf of each section.
    """
    above = np.ones(len(order.node), bool)
    for begin, end in zip(sections.tolist(), (sections + order.size[sections]).tolist(), strict=True):
        above[begin + 1 : end] = False
    place = np.flatnonzero(above)
    kept_before = np.concatenate([[0], np.cumsum(above)])
    size = kept_before[place + order.size[place]] - kept_before[place]
    leaf = np.searchsorted(place, sections)
    name = np.full(len(place), -1, np.int64)
    name[leaf] = np.arange(len(sections))
    return place, size, name, leaf
