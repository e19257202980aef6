"""The first tree: leaves put in one after another. Only the order of its leaves matters, for the tree is rebuilt.

The rule is sequential, so this is plain Python: numbers are floats that hold float32 values. Decisions are made in
double precision, and anew with single rounding where the two sides are so close that rounding could turn them.
"""

from __future__ import annotations

import ctypes
from array import array
from collections.abc import Callable

import numpy as np

from ...codec.binary import Array

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
        weight = (extent[:, 0] + extent[:, 1]) + extent[:, 2]
        self.boxes: list[Numbers] = np.concatenate([low, high], axis=1).tolist()
        # twice the centre, for halving it would change no comparison, and the sum of extents
        self.middles: list[Numbers] = np.concatenate([low + high, weight[:, None]], axis=1).tolist()
        self.scratch = array("f", bytes(24))
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
            if _grow(boxes[node], box):
                middles[node] = _middle(boxes[node], self.scratch)
                self.leftmost.pop(node, None)
            one, other = first[node], second[node]
            ax, ay, az, one_weight = middles[one]
            bx, by, bz, other_weight = middles[other]
            ax, ay, az, bx, by, bz = ax - x, ay - y, az - z, bx - x, by - y, bz - z
            to_one = (ax * ax + ay * ay + az * az) * (one_weight + weight)
            to_other = (bx * bx + by * by + bz * bz) * (other_weight + weight)
            if to_one and abs(to_one - to_other) <= CLOSE * to_one:
                to_one, to_other = _measure(middles[one], middles[leaf]), _measure(middles[other], middles[leaf])
            parent = node
            node, side = (other, second) if to_other < to_one else (one, first)
        made = len(boxes)
        if boxes[node] == box:
            self.leftmost[made] = made
            if entered >= 0:
                self.leftmost[entered] = made
        boxes.append(list(boxes[node]))
        _grow(boxes[made], box)
        middles.append(_middle(boxes[made], self.scratch))
        first.append(node)
        second.append(leaf)
        if parent < 0:
            self.root = made
        else:
            side[parent] = made

    def leaves(self) -> Array:
        found, waiting = [], [self.root]
        while waiting:
            node = waiting.pop()
            if node < self.count:
                found.append(node)
            else:
                waiting += [self.second[node], self.first[node]]
        return np.array(found, np.int64)


def _grow(held: Numbers, box: Numbers) -> bool:
    """Let a box hold another; return whether it had to grow."""
    a, b, c, d, e, f = box
    x, y, z, u, v, w = held
    if a >= x and b >= y and c >= z and d <= u and e <= v and f <= w:
        return False
    if a < x:
        held[0] = a
    if b < y:
        held[1] = b
    if c < z:
        held[2] = c
    if d > u:
        held[3] = d
    if e > v:
        held[4] = e
    if f > w:
        held[5] = f
    return True


def _middle(box: Numbers, scratch: array[float]) -> Numbers:
    """Return twice the centre, and the sum of extents, of a box, each step rounded by storing it as a float32."""
    a, b, c, d, e, f = box
    scratch[0], scratch[1], scratch[2] = a + d, b + e, c + f
    scratch[3], scratch[4], scratch[5] = d - a, e - b, f - c
    scratch[3] = scratch[3] + scratch[4]
    scratch[3] += scratch[5]
    return scratch[:4].tolist()


_single = ctypes.c_float  # rounds one number


def _measure(node: Numbers, leaf: Numbers) -> float:
    """Return the squared distance times the sum of extents, each step in single precision."""
    x, y, z = (_single(a - b).value for a, b in zip(node[:3], leaf[:3], strict=True))
    square = _single(_single(x * x).value + _single(y * y).value).value
    square = _single(square + _single(z * z).value).value
    return _single(square * _single(node[3] + leaf[3]).value).value
