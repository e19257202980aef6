"""Shape matching: the rotation that fits a rest shape best pulls particles to it.

``A = sum of frame vector x (position - centre)``; its polar rotation comes from the eigenvectors of ``A A'``, found by
Jacobi rotations that start from those of the step before (seed "Havok cloth data": instance data, target).
"""

from __future__ import annotations

import numpy as np

from ..codec.binary import Array
from .links import Part, flat_index
from .settings import Inverse
from .vectors import EPSILON, HALF, ONE, TWO, ZERO

ROUNDS = 20
PAIRS = ((0, 1), (0, 2), (1, 2))

Matrix = list[list[np.float32]]


class Volumes:
    """The volume sets of a group of cloths."""

    def __init__(self, parts: list[Part], width: int, columns: list[int]) -> None:
        """Prepare the sets.

        Args:
            parts: the sets.
            width: columns of the store.
            columns: where each one's eigenvectors are in the state.
        """
        self.columns = columns
        self.sets = [
            (
                flat_index(part.record.frame_particle.astype(np.intp) + part.start, width),
                np.ascontiguousarray(part.record.frame_vector.T),
                part.record.frame_weight,
                flat_index(part.record.apply_particle.astype(np.intp) + part.start, width),
                np.ascontiguousarray(part.record.apply_vector.T),
                part.record.apply_stiffness,
            )
            for part in parts
        ]

    def solve(self, flat: Array, eigenvectors: Array, rsqrt: Inverse) -> None:
        """Solve the sets; ``eigenvectors`` (sets of the whole setup, 3, 3) f4 are read and renewed."""
        for place, one in zip(self.columns, self.sets, strict=True):
            framed, vectors, weights, applied, targets, stiffness = one
            points = flat.take(framed).reshape(3, -1)
            center = np.add.accumulate(weights * points, axis=1)[:, -1]
            spread = (vectors[:, None] * (points - center[:, None])) * weights
            start = np.full((3, 3, 1), EPSILON)
            fit = np.add.accumulate(np.concatenate((start, spread), axis=2), axis=2)[:, :, -1]
            rotation, eigenvectors[place] = polar_rotation(fit, eigenvectors[place], rsqrt)
            target = ((rotation[0][:, None] * targets[0] + center[:, None]) + rotation[1][:, None] * targets[1]) + (
                rotation[2][:, None] * targets[2]
            )
            moving = flat.take(applied).reshape(3, -1)
            flat[applied] = (moving + (target - moving) * stiffness).reshape(-1)


def polar_rotation(fit: Array, start: Array, rsqrt: Inverse) -> tuple[Array, Array]:
    """Return the rotation in ``fit`` and the eigenvectors of ``fit fit'``.

    Args:
        fit: (3, 3) f4.
        start: (3, 3) f4 rows, the eigenvectors to begin with.
        rsqrt: the kernel takes a refined one.
    """
    rows: Matrix = [list(row) for row in fit]
    product = _times(rows, _transposed(rows))
    values, vectors = _eigen(product, [list(row) for row in start])
    size = np.array([abs(value) for value in values], np.float32)
    inverse = np.empty_like(size)
    rsqrt(size, inverse)
    roots = size * inverse + EPSILON
    scaled = [[root * lane for lane in row] for root, row in zip(roots, vectors, strict=True)]
    stretch = _times(_transposed(vectors), scaled)
    return np.array(_times(_inverse(stretch), rows), np.float32), np.array(vectors, np.float32)


def _eigen(symmetric: Matrix, vectors: Matrix) -> tuple[list[np.float32], Matrix]:
    """Return eigenvalues and eigenvectors, rows of unit length, by classic Jacobi rotations."""
    turned = _times(_times(vectors, symmetric), _transposed(vectors))
    whole = sum((lane * lane for row in symmetric for lane in row), ZERO)
    limit = whole * (EPSILON * EPSILON)
    for _ in range(ROUNDS):
        rest = (turned[2][0] * turned[2][0] + turned[1][0] * turned[1][0]) + turned[2][1] * turned[2][1]
        if limit > TWO * rest or rest == ZERO:
            break
        spin = _rotation(turned)
        turned = _times(_times(spin, turned), _transposed(spin))
        vectors = _times(spin, vectors)
    unit = []
    for row in vectors:
        length = np.sqrt((row[0] * row[0] + row[1] * row[1]) + row[2] * row[2])
        unit.append([lane / length for lane in row])
    return [turned[axis][axis] for axis in range(3)], unit


def _rotation(turned: Matrix) -> Matrix:
    """Return the rotation that clears the largest element beside the diagonal."""
    p, q = max(PAIRS, key=lambda pair: abs(turned[pair[1]][pair[0]]))
    theta = (turned[q][q] - turned[p][p]) * (HALF / turned[q][p])
    root = np.sqrt(theta * theta + ONE)
    tangent = ONE / (root + theta) if theta >= ZERO else ONE / (theta - root)
    cosine = ONE / np.sqrt(tangent * tangent + ONE)
    sine = tangent * cosine
    spin = [[ONE if row == column else ZERO for column in range(3)] for row in range(3)]
    spin[p][p] = spin[q][q] = cosine
    spin[q][p], spin[p][q] = sine, -sine
    return spin


def _times(a: Matrix, b: Matrix) -> Matrix:
    return [[(row[0] * b[0][lane] + row[1] * b[1][lane]) + row[2] * b[2][lane] for lane in range(3)] for row in a]


def _transposed(matrix: Matrix) -> Matrix:
    return [[matrix[row][lane] for row in range(3)] for lane in range(3)]


def _inverse(matrix: Matrix) -> Matrix:
    """Return the inverse by cofactors, zero of a singular matrix: everything then falls to the centre."""
    (a, b, c), (d, e, f), (g, h, i) = matrix
    cofactors = [
        [e * i - f * h, c * h - b * i, b * f - c * e],
        [f * g - d * i, a * i - c * g, c * d - a * f],
        [d * h - e * g, b * g - a * h, a * e - b * d],
    ]
    determinant = (a * cofactors[0][0] + b * cofactors[1][0]) + c * cofactors[2][0]
    if abs(determinant) <= np.float32(1e-30):
        return [[ZERO] * 3 for _ in range(3)]
    return [[lane / determinant for lane in row] for row in cofactors]
