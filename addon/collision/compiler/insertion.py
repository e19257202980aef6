"""The first tree: leaves put in one after another. Only the order of its leaves matters, for the tree is rebuilt.

The rule is sequential, so this is plain Python: numbers are floats that hold float32 values. Decisions are made in
double precision, and anew with single rounding where the two sides are so close that rounding could turn them.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable

import numpy as np

from ...codec.binary import Array
from ...maths.single import HALF

CLOSE = 1e-6  # relative; rounding moves a product by less than half of this
STEP = 1024

Numbers = list[float]


def insertion_order(low: Array, high: Array, progress: Callable[[float], None]) -> Array:
    """Return the leaves left to right in the tree that insertion makes, (n,) i8.

    A leaf descends from the root, which grows to hold it like every node it passes, into the child for which the
    squared distance of the centres times the sum of all extents is less, the first on a tie; the leaf it meets becomes
    a node of that leaf and the new one (seed 003).

    Args:
        low: (n, 3) f4, of the leaves' boxes.
        high: (n, 3) f4.
        progress: called now and then with the fraction that is done; may raise to stop.
    """
    if len(low) < 3:
        return np.arange(len(low))
    tree = _Tree(low, high)
    for leaf in range(1, len(low)):
        if not leaf % STEP:
            progress(leaf / len(low))
        tree.insert(leaf)
    return tree.leaves()


class _Tree:
    """Nodes as parallel lists; the first are the leaves, the children of node k are ``first[k]`` and ``second[k]``."""

    def __init__(self, low: Array, high: Array) -> None:
        self.count = len(low)
        extent = high - low
        centre = (low + high) * HALF
        weight = (extent[:, 0] + extent[:, 1]) + extent[:, 2]
        self.boxes: list[Numbers] = np.concatenate([low, high], axis=1).tolist()
        # centre and sum of extents
        self.middles: list[Numbers] = np.concatenate([centre, weight[:, None]], axis=1).tolist()
        self.first, self.second = [-1] * self.count, [-1] * self.count
        # nodes whose leaves all have the same box: a leaf with that box goes to the leftmost, so to here at once
        self.leftmost: dict[int, int] = {}
        self.root = 0

    def insert(self, leaf: int) -> None:
        boxes, middles, first, second = self.boxes, self.middles, self.first, self.second
        box, (x, y, z, weight) = boxes[leaf], middles[leaf]
        node, parent, side = self.root, -1, second
        entered = -1
        while first[node] >= 0:
            if node in self.leftmost and entered < 0 and boxes[node] == box:
                entered, node = node, self.leftmost[node]
            self._grow(node, box)
            one, other = first[node], second[node]
            ax, ay, az, one_weight = middles[one]
            bx, by, bz, other_weight = middles[other]
            to_one = ((ax - x) ** 2 + (ay - y) ** 2 + (az - z) ** 2) * (one_weight + weight)
            to_other = ((bx - x) ** 2 + (by - y) ** 2 + (bz - z) ** 2) * (other_weight + weight)
            if to_one and abs(to_one - to_other) <= CLOSE * to_one:
                to_one, to_other = _measure(middles[one], middles[leaf]), _measure(middles[other], middles[leaf])
            parent = node
            node, side = (other, second) if to_other < to_one else (one, first)
        made = len(boxes)
        boxes.append(list(boxes[node]))
        middles.append(list(middles[node]))
        first.append(node)
        second.append(leaf)
        if boxes[node] == box:
            self.leftmost[made] = made
            if entered >= 0:
                self.leftmost[entered] = made
        self._grow(made, box)
        if parent < 0:
            self.root = made
        else:
            side[parent] = made

    def _grow(self, node: int, box: Numbers) -> None:
        """Let a node's box hold another."""
        held = self.boxes[node]
        grown = False
        for axis in (0, 1, 2):
            if box[axis] < held[axis]:
                held[axis] = box[axis]
                grown = True
        for axis in (3, 4, 5):
            if box[axis] > held[axis]:
                held[axis] = box[axis]
                grown = True
        if grown:
            self.middles[node] = _middle(held)
            self.leftmost.pop(node, None)

    def leaves(self) -> Array:
        found, waiting = [], [self.root]
        while waiting:
            node = waiting.pop()
            if node < self.count:
                found.append(node)
            else:
                waiting += [self.second[node], self.first[node]]
        return np.array(found, np.int64)


_single = ctypes.c_float  # the fastest way to round one number


def _middle(box: Numbers) -> Numbers:
    """Return centre and sum of extents of a box, as `_Tree` does for the leaves."""
    a, b, c, d, e, f = box
    weight = _single(_single(d - a).value + _single(e - b).value).value
    return [
        _single(a + d).value * 0.5, _single(b + e).value * 0.5, _single(c + f).value * 0.5,
        _single(weight + _single(f - c).value).value,
    ]  # fmt: skip


def _measure(node: Numbers, leaf: Numbers) -> float:
    """Return the squared distance times the sum of extents, each step in single precision."""
    x, y, z = (_single(a - b).value for a, b in zip(node[:3], leaf[:3], strict=True))
    square = _single(_single(x * x).value + _single(y * y).value).value
    square = _single(square + _single(z * z).value).value
    return _single(square * _single(node[3] + leaf[3]).value).value
