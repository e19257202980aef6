"""Which nodes move vertices: comparing what is shown with what was stored, and storing what has changed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..codec.binary import Array

TOLERANCE = 1e-6  # of a weight; Blender adds up the weights of a bone that a vertex names twice


@dataclass(frozen=True)
class Influences:
    """Weights above zero, sorted by vertex, then node; no pair twice.

    Attributes:
        vertices: (m,) int64.
        nodes: (m,) int64.
        weights: (m,) float32.
        count: number of vertices.
    """

    vertices: Array
    nodes: Array
    weights: Array
    count: int

    @classmethod
    def of(cls, vertices: Array, nodes: Array, weights: Array, count: int) -> Influences:
        """Put pairs in order; weights of pairs that occur twice are added, and kept below 1 as Blender does."""
        used = (nodes >= 0) & (weights > 0)
        span = int(nodes.max(initial=0)) + 1
        keys = vertices[used].astype(np.int64) * span + nodes[used]
        pairs, places = np.unique(keys, return_inverse=True)
        sums = np.bincount(places, weights[used], len(pairs)).astype(np.float32)
        return cls(pairs // span, pairs % span, np.minimum(sums, np.float32(1)), count)

    @classmethod
    def of_slots(cls, nodes: Array, weights: Array) -> Influences:
        """Return the influences of (n, k) slots, as an import shows them."""
        vertices = np.repeat(np.arange(len(nodes)), nodes.shape[1])
        return cls.of(vertices, nodes.ravel(), weights.ravel(), len(nodes))

    def differs(self, other: Influences) -> Array:
        """Return (n,) bool: the vertices that another has other nodes or weights for."""
        span = int(max(self.nodes.max(initial=0), other.nodes.max(initial=0))) + 1
        own, its = (each.vertices * span + each.nodes for each in (self, other))
        result = np.zeros(self.count, bool)
        result[np.setxor1d(own, its, assume_unique=True) // span] = True
        _, mine, theirs = np.intersect1d(own, its, assume_unique=True, return_indices=True)
        unlike = np.abs(self.weights[mine] - other.weights[theirs]) > TOLERANCE
        result[self.vertices[mine[unlike]]] = True
        return result

    def slots(self, width: int) -> tuple[Array, Array, Array]:
        """Return the heaviest influences of each vertex.

        Args:
            width: how many.

        Returns:
            (n, width) int64 nodes, -1 for none; (n, width) float64 weights, heaviest first; (n,) bool: the vertices
            that have more than that.
        """
        order = np.lexsort((-self.weights, self.vertices))
        vertices = self.vertices[order]
        counts = np.bincount(vertices, minlength=self.count)
        rank = np.arange(len(vertices)) - np.repeat(np.cumsum(counts) - counts, counts)
        fits = rank < width
        nodes, weights = np.full((self.count, width), -1, np.int64), np.zeros((self.count, width))
        nodes[vertices[fits], rank[fits]] = self.nodes[order][fits]
        weights[vertices[fits], rank[fits]] = self.weights[order][fits]
        return nodes, weights, counts > width


def quantised(weights: Array, totals: Array, steps: float) -> Array:
    """Return weights that add up to given totals in whole steps, each as near as that allows.

    Args:
        weights: (n, k), not all zero in a row.
        totals: (n,) what each row shall add up to, in steps.
        steps: that make 1; 0 for layouts that store real numbers.

    Returns:
        (n, k) float64, in units of 1.
    """
    sums = weights.sum(axis=1, keepdims=True)
    exact = np.divide(weights, sums, out=np.zeros_like(weights), where=sums > 0) * totals[:, None]
    if not steps:
        return exact
    whole = np.floor(exact)
    missing = np.rint(totals - whole.sum(axis=1))
    rank = np.argsort(np.argsort(-(exact - whole), axis=1, kind="stable"), axis=1, kind="stable")
    return (whole + (rank < missing[:, None])) / steps
