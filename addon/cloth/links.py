"""Links between two particles: standard, stretch, bend, compressible.

Arithmetic: ``u = d / |d|`` with ``|d| = s * rsqrt(s)``, s the square; the stiffness model of both games is 1, so no
further factor stands at the links. Each class builds its levels once; `solve` runs them on the flat store of positions.

A level's scratch is made with it and overwritten by every run: two threads must not step one setup.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..codec.binary import Array
from ..codec.havok import cloth as records
from .schedule import dependency_levels
from .settings import Inverse
from .vectors import ZERO


@dataclass(frozen=True, eq=False)
class Part:
    """A constraint set and where its cloth's particles start in the store."""

    record: Any
    start: int


@dataclass(frozen=True, eq=False)
class _Level:
    """Links of one level, ready to run.

    Attributes:
        index: flat places of all ends: for each component the particles a, then the particles b.
        ends: flat scratch for ``index``; ``both`` is it as (3, 2, n): component, end, link.
        gap, square, size, inverse, factor, push: scratch.
        numbers: (n,) f4 parameters, by class.
        shares: (2, n) f4 how much of a correction each end takes.
    """

    index: Array
    ends: Array
    both: Array
    gap: Array
    square: Array
    size: Array
    inverse: Array
    factor: Array
    push: Array
    numbers: tuple[Array, ...]
    shares: Array


class Links:
    """A constraint set of one class over all cloths of a group.

    Attributes:
        levels: what can be solved together.
    """

    def __init__(self, parts: Sequence[Part], inverse_mass: Array, width: int) -> None:
        """Build the levels.

        Args:
            parts: the sets.
            inverse_mass: (n,) f4 of every particle of the store.
            width: columns of the store, the distance between components in the flat store.
        """
        a = np.concatenate([part.record.a.astype(np.intp) + part.start for part in parts])
        b = np.concatenate([part.record.b.astype(np.intp) + part.start for part in parts])
        numbers = [np.concatenate(rows) for rows in zip(*(self.numbers(part.record) for part in parts), strict=True)]
        ends = np.stack([a, b])
        touched = np.where(inverse_mass[ends] > 0, ends, -1)
        shares = self.shares(inverse_mass[ends])
        self.levels = [
            _level(ends[:, rows], [row[rows] for row in numbers], shares[:, rows], width)
            for rows in dependency_levels(touched.T)
        ]

    @staticmethod
    def numbers(record: Any) -> Iterable[Array]:
        """Return the parameters of a set, in the order `correction` takes them."""
        return record.rest, record.stiffness

    @staticmethod
    def shares(inverse_mass: Array) -> Array:
        """Return how much of a correction each end takes, (2, n): what is subtracted from b is added as a negative."""
        return inverse_mass * np.array([[1], [-1]], np.float32)

    @staticmethod
    def correction(level: _Level) -> None:
        """Turn the lengths in ``level.size`` into signed corrections, in place."""
        rest, stiffness = level.numbers
        np.subtract(level.size, rest, level.size)
        np.multiply(level.size, stiffness, level.size)

    def solve(self, flat: Array, rsqrt: Inverse) -> None:
        """Solve the set on the flat store."""
        for level in self.levels:
            gap, size, inverse = level.gap, level.size, level.inverse
            flat.take(level.index, 0, level.ends, "clip")
            np.subtract(level.both[:, 1], level.both[:, 0], gap)
            np.multiply(gap, gap, level.square)
            np.add(level.square[0], level.square[1], size)
            np.add(size, level.square[2], size)
            rsqrt(size, inverse)
            np.multiply(gap, inverse, gap)
            np.multiply(size, inverse, size)
            self.correction(level)
            np.multiply(gap, size, gap)
            np.multiply(level.shares, gap[:, None], level.push)
            np.add(level.both, level.push, level.both)
            flat[level.index] = level.ends


class StretchLinks(Links):
    """Pull b to within reach of a."""

    @staticmethod
    def shares(inverse_mass: Array) -> Array:
        """Only b moves, whatever it weighs."""
        return np.broadcast_to(np.array([[0], [1]], np.float32), inverse_mass.shape)

    @staticmethod
    def correction(level: _Level) -> None:
        """``min(rest - |d|, 0) * stiffness``."""
        rest, stiffness = level.numbers
        np.subtract(rest, level.size, level.size)
        np.minimum(level.size, ZERO, out=level.size)
        np.multiply(level.size, stiffness, level.size)


class BendLinks(Links):
    """Push below a length, pull above another."""

    @staticmethod
    def numbers(record: records.BendLinks) -> Iterable[Array]:
        """Return the two lengths and their stiffnesses."""
        return record.stretch_max, record.stretch_stiffness, record.bend_min, record.bend_stiffness

    @staticmethod
    def correction(level: _Level) -> None:
        """``max(0, |d| - most) * pull - max(0, least - |d|) * push``."""
        most, pull, least, push = level.numbers
        np.subtract(level.size, most, level.factor)
        np.maximum(ZERO, level.factor, out=level.factor)
        np.multiply(level.factor, pull, level.factor)
        np.subtract(least, level.size, level.size)
        np.maximum(ZERO, level.size, out=level.size)
        np.multiply(level.size, push, level.size)
        np.subtract(level.factor, level.size, level.size)


class CompressibleLinks(Links):
    """Push below the compressed length, else pull above the rest length."""

    @staticmethod
    def numbers(record: records.CompressibleLinks) -> Iterable[Array]:
        """Return the two lengths and the stiffness."""
        return record.rest, record.compression, record.stiffness

    @staticmethod
    def correction(level: _Level) -> None:
        """``(|d| - compression) * stiffness`` below that, ``(|d| - rest) * stiffness`` above rest, else nothing."""
        rest, compression, stiffness = level.numbers
        np.subtract(level.size, compression, level.factor)
        np.subtract(level.size, rest, level.size)
        np.maximum(level.size, ZERO, out=level.size)
        np.copyto(level.size, level.factor, where=level.factor < ZERO)
        np.multiply(level.size, stiffness, level.size)


def flat_index(particles: Array, width: int) -> Array:
    """Return the flat places of the three components of particles (...,), one component after another."""
    return (np.arange(3, dtype=np.intp)[:, None] * width + particles.reshape(-1)).reshape(-1)


def _level(ends: Array, numbers: list[Array], shares: Array, width: int) -> _Level:
    count = ends.shape[1]
    scratch = np.zeros(6 * count, np.float32)
    rows = [np.zeros(count, np.float32) for _ in range(3)]
    return _Level(
        flat_index(ends, width),
        scratch,
        scratch.reshape(3, 2, count),
        np.zeros((3, count), np.float32),
        np.zeros((3, count), np.float32),
        rows[0],
        rows[1],
        rows[2],
        np.zeros((3, 2, count), np.float32),
        tuple(np.ascontiguousarray(row, np.float32) for row in numbers),
        np.ascontiguousarray(shares),
    )
