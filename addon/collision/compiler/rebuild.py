"""The tree built again from the list of its leaves: split from the top, joined from the bottom (seed 003).

All lists of one depth are split together, and all lists of up to sixteen leaves are joined together; the lists do not
touch each other, so the result is that of one after another.
"""

from __future__ import annotations

import numpy as np

from ...codec.binary import Array
from ...maths.runs import ranges, starts
from ...maths.single import HALF, surfaces
from ...maths.sorts import quicksort
from .binary import BinaryTree
from .joining import JOINED, join_lists

BINS = 32
INFINITE = np.float32(np.inf)
BEFORE, INSIDE, AFTER = 0, 1, 2


def rebuild(order: Array, low: Array, high: Array) -> BinaryTree:
    """Return the tree over leaves.

    Args:
        order: (n,) i8, the leaves left to right after insertion, n > 0.
        low: (n, 3) f4, of the leaves' boxes.
        high: (n, 3) f4.
    """
    count = len(order)
    inner = max(count - 1, 0)
    children = np.zeros((inner, 2), np.int64)
    room = np.zeros((inner, 3), np.float32)
    tree = BinaryTree(count, children, 0, np.concatenate([low, room]), np.concatenate([high, room]))
    if count == 1:
        return tree
    if count == 2:  # nothing to choose: the first leaf was there first
        tree.root, children[0] = 2, order
        set_boxes(tree)
        return tree
    splitter = _Splitter(tree, order)
    while len(splitter.counts):
        splitter.split_all()
    set_boxes(tree)
    return tree


def set_boxes(tree: BinaryTree) -> None:
    """Set the boxes of all inner nodes from those of the leaves."""
    for level in reversed(list(tree.levels())):
        inner = level[level >= tree.leaf_count]
        first, second = tree.children_of(inner).T
        tree.low[inner] = np.minimum(tree.low[first], tree.low[second])
        tree.high[inner] = np.maximum(tree.high[first], tree.high[second])


class _Splitter:
    """Lists of leaves of one depth, one after another, and the nodes they become."""

    def __init__(self, tree: BinaryTree, order: Array) -> None:
        self.tree = tree
        self.order = order
        self.counts = np.array([len(order)])
        self.nodes = np.array([tree.leaf_count])
        tree.root = self.next = tree.leaf_count
        self.next += 1

    def split_all(self) -> None:
        """Split every list in two; those that are short enough then become whole subtrees, the others remain."""
        firsts = self._divide()
        counts = np.stack([firsts, self.counts - firsts], axis=1).ravel()
        parents = np.repeat(self.nodes, 2)
        side = np.tile([0, 1], len(self.nodes))
        nodes = self._number(counts)
        self.tree.children[parents - self.tree.leaf_count, side] = nodes
        begin = starts(counts)
        short = (counts > 1) & (counts <= JOINED)
        join_lists(self.tree, self.order, begin[short], counts[short], nodes[short])
        long = counts > JOINED
        self.order = self.order[ranges(begin[long], counts[long])]
        self.counts, self.nodes = counts[long], nodes[long]

    def _number(self, counts: Array) -> Array:
        """Return the node of each list: its leaf, or the first of the ``count - 1`` nodes that it will need.

        A long list needs them one after another, as its parts are split; so numbers are handed out list by list.
        """
        needed = np.where(counts <= JOINED, counts - 1, 1)
        nodes = self.next + starts(needed)
        self.next += int(needed.sum())
        single = counts == 1
        nodes[single] = self.order[starts(counts)[single]]
        return nodes

    def _divide(self) -> Array:
        """Put the order of every list so that its first part comes first; return the lengths of the first parts."""
        begin = starts(self.counts)
        owner = np.repeat(np.arange(len(self.counts)), self.counts)
        low, high = self.tree.low[self.order], self.tree.high[self.order]
        centres = (low + high) * HALF
        bins = _bins(low, high, centres, begin, owner)
        axis, chosen = _least_cost(low, high, bins, owner, len(self.counts))
        row = np.arange(len(owner))
        leaf_bin, centre = bins[row, axis[owner]], centres[row, axis[owner]]
        kind = np.sign(leaf_bin - chosen[owner]) + 1
        totals = np.stack([np.bincount(owner[kind == each], minlength=len(begin)) for each in range(3)], axis=1)
        one_empty = (totals[:, BEFORE] == 0) != (totals[:, AFTER] == 0)
        # the bin itself becomes the side that is empty, or is sorted and halved
        kind = np.where((kind == INSIDE) & one_empty[owner], np.where(totals[owner, BEFORE] == 0, BEFORE, AFTER), kind)
        inside = np.flatnonzero(kind == INSIDE)
        rank = row.copy()  # in the list; behind all others for those of the bin
        side = kind.copy()
        ranked = _sorted_ranks(centre[inside], owner[inside])
        rank[inside] = len(row) + ranked
        side[inside] = np.where(ranked < totals[owner[inside], INSIDE] >> 1, BEFORE, AFTER)
        self.order = self.order[np.lexsort((rank, side, owner))]
        return np.bincount(owner[side == BEFORE], minlength=len(begin))


def _bins(low: Array, high: Array, centres: Array, begin: Array, owner: Array) -> Array:
    """Return the bin of each leaf on each axis of its list's box, (n, 3) i8; 0 along axes without extent."""
    least = np.minimum.reduceat(low, begin)
    extent = np.maximum.reduceat(high, begin) - least
    extent, offset = extent[owner], centres - least[owner]
    share = np.divide(offset, extent, out=np.zeros_like(offset), where=extent > 0)
    return np.clip((share * np.float32(BINS) + HALF).astype(np.int64), 0, BINS - 1)


def _least_cost(low: Array, high: Array, bins: Array, owner: Array, lists: int) -> tuple[Array, Array]:
    """Return the axis and bin of each list where splitting costs least, axes and bins in order, the first on a tie.

    A bin costs the surface of all bins up to it times their count, and that of all from it on times theirs.
    """
    key = ((owner[:, None] * 3 + np.arange(3)) * BINS + bins).ravel()
    order = np.argsort(key, kind="stable")
    held, first, count = np.unique(key[order], return_index=True, return_counts=True)
    leaf = order // 3
    lows = np.full((lists * 3 * BINS, 3), INFINITE)
    highs = np.full((lists * 3 * BINS, 3), -INFINITE)
    counts = np.zeros(lists * 3 * BINS, np.float32)
    lows[held] = np.minimum.reduceat(low[leaf], first)
    highs[held] = np.maximum.reduceat(high[leaf], first)
    counts[held] = count
    shape = (lists, 3, BINS)
    lows, highs = lows.reshape(*shape, 3), highs.reshape(*shape, 3)
    up = _side_costs(lows, highs, counts.reshape(shape))
    down = _side_costs(lows[:, :, ::-1], highs[:, :, ::-1], counts.reshape(shape)[:, :, ::-1])[:, :, ::-1]
    cost = np.full(lists * 3 * BINS, INFINITE)
    cost[held] = (up + down).ravel()[held]
    best = cost.reshape(lists, -1).argmin(axis=1)
    return best // BINS, best % BINS


@np.errstate(invalid="ignore")
def _side_costs(lows: Array, highs: Array, counts: Array) -> Array:
    """Return surface times count of all bins up to each, (n, 3, bins) f4; something where all these are empty."""
    surface = surfaces(np.minimum.accumulate(lows, axis=2), np.maximum.accumulate(highs, axis=2))
    return surface * counts.cumsum(axis=2, dtype=np.float32)


def _sorted_ranks(values: Array, owner: Array) -> Array:
    """Return the place of each value among those of its owner after the games' quicksort, (n,) i8.

    Args:
        values: (n,) f4, those of one owner together.
        owner: (n,) ascending.
    """
    order = np.lexsort((values, owner))
    count = np.bincount(owner, minlength=0)
    begin = starts(count)
    rank = np.empty(len(values), np.int64)
    rank[order] = np.arange(len(values)) - begin[owner]
    # any sort is right where all differ; equal values come out as the quicksort leaves them
    tied = np.flatnonzero((values[order][1:] == values[order][:-1]) & (owner[1:] == owner[:-1]))
    for each in np.unique(owner[tied]).tolist():
        part = slice(begin[each], begin[each] + count[each])
        rank[begin[each] + np.array(quicksort(values[part].tolist()))] = np.arange(count[each])
    return rank
