"""Constraints that tie particles to their vertex of a reference buffer: local ranges and transitions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import numpy as np

from ..codec.binary import Array
from ..codec.havok.cloth import LocalRange, RangeShape, Transition
from .links import flat_index
from .schedule import dependency_levels
from .settings import Inverse
from .vectors import EPSILON, ONE, ZERO, dot, transform_directions, transform_points


@dataclass(frozen=True, eq=False)
class RangePart:
    """A set tied to a reference buffer.

    Attributes:
        record: the set.
        sim: place of its cloth among all simulated cloths.
        start, buffer_start: where the cloth's particles and the buffer's vertices start in the store.
        in_display: the buffer is in the display's space, not in the world's.
        has_normals: the buffer stores normals.
        adapts: where a step is divided, a correction moves the previous position too.
    """

    record: Any
    sim: int
    start: int
    buffer_start: int
    in_display: bool
    has_normals: bool
    adapts: bool


class LocalRanges:
    """The local range sets of all cloths of a group."""

    def __init__(self, parts: Sequence[RangePart], width: int, previous: int) -> None:
        """Sort the entries by what they need.

        Args:
            parts: the sets.
            width: columns of the store.
            previous: where the previous positions start in the store.
        """
        groups: dict[tuple[Any, ...], list[RangePart]] = {}
        for part in parts:
            record: LocalRange = part.record
            if record.shape in tuple(RangeShape):
                normals = record.use_normals and part.has_normals
                # a cylinder without normals is a sphere
                shape = record.shape if normals else RangeShape.SPHERE
                key = (shape, normals, part.in_display, part.adapts)
                groups.setdefault(key, []).append(part)
        self.groups = [group for key, rows in groups.items() for group in _range_groups(key, rows, width, previous)]

    def solve(self, flat: Array, normals: Array, root: Array | None, rsqrt: Inverse, *, divided: bool = False) -> None:
        """Solve the sets.

        Args:
            flat: the store's positions.
            normals: the store's normals, flat.
            root: map (4, 3, 1) of the display's space to the world, None for none.
            rsqrt: the kernel takes a rough one.
            divided: the step has several substeps.
        """
        for group in self.groups:
            group.solve(flat, normals, root, rsqrt, keeps_velocity=group.adapts and divided)


@dataclass(frozen=True, eq=False)
class _Ranges:
    """Entries that need the same.

    Attributes:
        particles, previous, vertices: (3 n,) flat places.
        most, above, below: (n,) f4 largest distance, and the limits along the normal.
        stiffness: (n,) f4.
        cylinder, limited, in_display, adapts: what the entries need.
    """

    particles: Array
    previous: Array
    vertices: Array
    most: Array
    above: Array
    below: Array
    stiffness: Array
    cylinder: bool
    limited: bool
    in_display: bool
    adapts: bool

    def solve(self, flat: Array, normals: Array, root: Array | None, rsqrt: Inverse, *, keeps_velocity: bool) -> None:
        point = flat.take(self.particles).reshape(3, -1)
        center = flat.take(self.vertices).reshape(3, -1)
        normal = normals.take(self.vertices).reshape(3, -1) if self.limited else None
        if self.in_display and root is not None:
            center = transform_points(root, center)
            normal = None if normal is None else transform_directions(root, normal)
        gap = point - center
        along = None
        if self.cylinder and normal is not None:
            along = dot(gap, normal)
            gap = point - (center + along * normal)
        gap += EPSILON
        square = dot(gap, gap)
        inverse = np.empty_like(square)
        rsqrt(square, inverse)
        unit = inverse * gap
        length = inverse * square
        change = np.minimum((self.most - length) * self.stiffness, ZERO)
        moved = change * unit + point
        if normal is not None:
            if along is None:
                along = dot(normal, unit) * (change + length)
            moved -= np.minimum(along - self.below, ZERO) * normal
            moved += np.minimum(self.above - along, ZERO) * normal
        if keeps_velocity:
            velocity = point - flat.take(self.previous).reshape(3, -1)
            flat[self.previous] = (moved - velocity).reshape(-1)
        flat[self.particles] = moved.reshape(-1)


def _range_groups(key: tuple[Any, ...], parts: list[RangePart], width: int, previous: int) -> list[_Ranges]:
    """Return the groups of one kind: one a level, which is one where no particle occurs twice."""
    shape, limited, in_display, adapts = key
    records = [part.record for part in parts]
    particles = np.concatenate([part.record.particle.astype(np.intp) + part.start for part in parts])
    vertices = np.concatenate([part.record.vertex.astype(np.intp) + part.buffer_start for part in parts])
    most, above, below = (
        np.concatenate([getattr(record, name) for record in records])
        for name in ("max_distance", "max_normal", "min_normal")
    )
    stiffness = np.concatenate([np.full(len(record.particle), record.stiffness, np.float32) for record in records])
    return [
        _Ranges(
            flat_index(particles[rows], width),
            flat_index(particles[rows] + previous, width),
            flat_index(vertices[rows], width),
            np.ascontiguousarray(most[rows], np.float32),
            np.ascontiguousarray(above[rows], np.float32),
            np.ascontiguousarray(below[rows], np.float32),
            stiffness[rows],
            cylinder=shape == RangeShape.CYLINDER,
            limited=limited,
            in_display=in_display,
            adapts=adapts,
        )
        for rows in dependency_levels(particles[:, None])
    ]


class Blending(IntEnum):
    """What a cloth's transition does."""

    SIMULATED = 0
    ANIMATED = 1
    TO_ANIMATION = 2
    TO_SIMULATION = 3


@dataclass(frozen=True, eq=False)
class Blends:
    """Transitions under way.

    Attributes:
        blending: (sims,) `Blending`.
        times: (sims,) f4 seconds since each began.
        starts: (particles,) f4, from each cloth's first on how far each entry stood from the animation.
    """

    blending: Array
    times: Array
    starts: Array


class Transitions:
    """The transition sets of a group of cloths: they act while `Blending` says so."""

    def __init__(self, parts: Sequence[RangePart], width: int, previous: int) -> None:
        """Build one entry a set; arguments as those of `LocalRanges`."""
        self.parts = list(parts)
        self.places = [
            tuple(
                flat_index(part_rows.astype(np.intp) + start, width)
                for part_rows, start in (
                    (part.record.particle, part.start),
                    (part.record.vertex, part.buffer_start),
                    (part.record.particle, part.start + previous),
                )
            )
            for part in parts
        ]

    def solve(self, flat: Array, root: Array | None, blends: Blends, rsqrt: Inverse, *, divided: bool = False) -> None:
        """Solve the sets of the cloths that blend.

        Args:
            flat: the store's positions.
            root: map (4, 3, 1) of the display's space to the world, None for none.
            blends: how far the blends are.
            rsqrt: the kernel takes a refined one.
            divided: the step has several substeps.
        """
        for part, (particles, vertices, previous) in zip(self.parts, self.places, strict=True):
            state = Blending(int(blends.blending[part.sim]))
            if state is Blending.SIMULATED:
                continue
            point, goal = (flat.take(places).reshape(3, -1) for places in (particles, vertices))
            if part.in_display and root is not None:
                goal = transform_points(root, goal)
            gap = point - goal
            square = dot(gap, gap)
            inverse = np.empty_like(square)
            rsqrt(square, inverse)
            start = blends.starts[part.start : part.start + len(square)]
            bound, snap, free = _bounds(part.record, state, blends.times[part.sim], square * inverse, start)
            ratio = (bound - square * inverse) * inverse
            moved = point + ratio * gap
            pulled = (square * inverse > bound) & ~free & ~snap
            if part.adapts and divided:
                old = flat.take(previous).reshape(3, -1)
                flat[previous] = np.where(pulled, moved - (point - old), old).reshape(-1)
            flat[particles] = np.where(snap, goal, np.where(pulled, moved, point)).reshape(-1)


def _bounds(
    record: Transition, state: Blending, time: np.float32, length: Array, start: Array
) -> tuple[Array, Array, Array]:
    """Return the distances particles may have, which lie on the animation, and which are free.

    The bounds multiply by reciprocals (seed "Havok cloth data"); a particle whose blend to the animation has not
    begun stores how far it is in ``start``.
    """
    if state is Blending.ANIMATED:
        everything = np.ones(len(length), np.bool_)
        return length, everything, ~everything
    if state is Blending.TO_ANIMATION:
        elapsed = time - record.to_anim_delay
        before = elapsed <= ZERO
        np.copyto(start, length, where=before)
        bound = (ONE - (ONE / record.to_anim_period) * elapsed) * start
        return bound, elapsed >= record.to_anim_period, before
    elapsed = time - record.to_sim_delay
    bound = ((ONE / record.to_sim_period) * elapsed) * record.to_sim_max_distance
    # the kernel leaves its loop at the first particle whose blend is over
    over = np.logical_or.accumulate(elapsed >= record.to_sim_period)
    return bound, (elapsed <= ZERO) & ~over, over
