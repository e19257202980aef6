"""Bones that cloth drives: each from one triangle, or from several."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..codec.binary import Array
from ..codec.havok.cloth import MeshBoneDeform, SimpleMeshBoneDeform
from .deformers import triangle_frames
from .links import flat_index
from .settings import Inverse
from .vectors import cross, dot


@dataclass(frozen=True, eq=False)
class BonePart:
    """Triangles that carry bones.

    Attributes:
        operator: the operator.
        corners: (t, 3) columns of the store, the triangles of its input.
        first: place of its first bone among all driven ones; its bones follow in the order of `driven_bones`.
    """

    operator: SimpleMeshBoneDeform | MeshBoneDeform
    corners: Array
    first: int


def driven_bones(operator: SimpleMeshBoneDeform | MeshBoneDeform) -> Array:
    """Return the bones that an operator writes, in the order it writes them."""
    if isinstance(operator, SimpleMeshBoneDeform):
        return operator.bones
    return np.flatnonzero(np.diff(operator.starts) > 0)


class Bones:
    """The bone deformers of several cloths."""

    def __init__(self, parts: list[BonePart], width: int) -> None:
        """Join the operators; ``width`` is the number of columns of the store."""
        triangles, local, weights, targets, rounds = [], [], [], [], []
        for part in parts:
            operator = part.operator
            triangles.append(part.corners[operator.triangles])
            local.append(operator.local)
            if isinstance(operator, SimpleMeshBoneDeform):
                weights.append(np.ones(len(operator.local), np.float32))
                targets.append(part.first + np.arange(len(operator.local)))
                rounds.append(np.zeros(len(operator.local), np.intp))
            else:
                counts = np.diff(operator.starts)
                rows = np.arange(operator.starts[0], operator.starts[-1])
                triangles[-1], local[-1] = triangles[-1][rows], operator.local[rows]
                weights.append(operator.weights[rows])
                targets.append(part.first + np.repeat(np.arange(np.count_nonzero(counts)), counts[counts > 0]))
                rounds.append(rows - np.repeat(operator.starts[:-1], counts))
        corners = np.concatenate(triangles).astype(np.intp)
        self.corners = [flat_index(corners[:, corner], width) for corner in range(3)]
        self.local = np.ascontiguousarray(np.concatenate(local).transpose(2, 1, 0))
        """(4, 4, n): column, then lane."""
        self.targets = np.concatenate(targets).astype(np.intp)
        self.weights = np.concatenate(weights)
        order = np.concatenate(rounds)
        self.rounds = [np.flatnonzero(order == step) for step in range(int(order.max(initial=-1)) + 1)]

    def make(self, flat: Array, driven: Array, rsqrt: Inverse) -> None:
        """Write the driven bones, (12, d) maps; the kernel takes a rough root (seed "Havok cloth data")."""
        a, b, n, c = triangle_frames(tuple(flat.take(places).reshape(3, -1) for places in self.corners))  # type: ignore[arg-type]
        parts = [((b * lane[1] + a * lane[0]) + n * lane[2]) + c * lane[3] for lane in self.local[[0, 2, 3]]]
        sums = [np.zeros((3, driven.shape[1]), np.float32) for _ in parts]
        for total, part in zip(sums, parts, strict=True):
            for rows in self.rounds:
                total[:, self.targets[rows]] += part[:, rows] * self.weights[rows]
        written = np.unique(self.targets)
        first, third, origin = (total[:, written] for total in sums)
        second = cross(third, first)
        axes = (cross(second, third), second, third)
        maps = driven.reshape(4, 3, -1)
        for column, axis in enumerate(axes):
            square = dot(axis, axis)
            inverse = np.empty_like(square)
            rsqrt(square, inverse)
            maps[column][:, written] = axis * inverse
        maps[3][:, written] = origin
