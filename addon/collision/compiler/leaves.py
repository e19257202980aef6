"""What the trees are built over: quads, triangles, and shapes and point sets that the mesh only names."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...codec.binary import Array
from ...codec.havok.collision.decode import CUSTOM, QUAD, TRIANGLE
from .source import Rows


@dataclass(frozen=True, eq=False)
class CustomPart:
    """A part of a mesh that is not made of its triangles.

    Attributes:
        box: (2, 3) f4, metres, without convex radius.
        extern: which of the shape's extern shapes it names, -1 for a point set.
        points: (n, 3) f4, the points of a set, 255 at most.
        word: the word of its record whose meaning is not known; 0: what most records have.
    """

    box: Array
    extern: int
    points: Array
    word: int = 0

    @property
    def words(self) -> int:
        """How many words its record takes in the shared-vertex index."""
        return 4 if self.extern >= 0 else 3


@dataclass(frozen=True, eq=False)
class Leaves:
    """The leaves in the order in which they are put into the tree.

    Attributes:
        kind: (n,) u1, `TRIANGLE`, `QUAD` or `CUSTOM`.
        corners: (n, 4) i8 vertex numbers; the last of a triangle twice, -1 in custom parts.
        rows: (n, 2) i8, the row of each half, -1 for none.
        low, high: (n, 3) f4, boxes grown by the convex radius.
        words: (n,) i8, entries of the shared-vertex index that each needs besides its vertices.
    """

    kind: Array
    corners: Array
    rows: Array
    low: Array
    high: Array
    words: Array

    def __len__(self) -> int:
        return len(self.kind)

    @classmethod
    def of(cls, rows: Rows, pairs: Array, customs: list[CustomPart], radius: np.float32) -> Leaves:
        """List quads in the order taken, other triangles in row order, then custom parts."""
        single = np.ones(len(rows), bool)
        single[pairs] = False
        alone = np.flatnonzero(single)
        quads = np.concatenate([rows.corners[pairs[:, 0]], rows.corners[pairs[:, 1], 2:]], axis=1)
        triangles = rows.corners[alone][:, [0, 1, 2, 2]]
        corners = np.concatenate([quads, triangles])
        points = rows.vertices[corners]
        boxes = np.array([part.box for part in customs], np.float32).reshape(-1, 2, 3)
        none = np.full((len(customs), 4), -1)
        return cls(
            np.repeat(np.array([QUAD, TRIANGLE, CUSTOM], np.uint8), [len(quads), len(triangles), len(customs)]),
            np.concatenate([corners, none]),
            np.concatenate([pairs, np.stack([alone, np.full(len(alone), -1)], axis=1), none[:, :2]]),
            np.concatenate([points.min(axis=1), boxes[:, 0]]) - radius,
            np.concatenate([points.max(axis=1), boxes[:, 1]]) + radius,
            np.array([0] * len(corners) + [part.words for part in customs], np.int64),
        )

    def slots(self, which: Array) -> int:
        """Return how many slots some leaves need together."""
        corners = self.corners[which]
        return len(np.unique(corners[corners >= 0])) + int(self.words[which].sum())
