"""Wind: the action that Elden Ring adds to each simulated cloth (seed "Havok cloth data").

``F = ((-1 / dt) (position - previous) + velocity of the air) c``, with c the particle's share of the mass times the
stiffness and how squarely the wind meets its normal. Some particles reuse the force of the one before them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..codec.binary import Array
from ..codec.havok.cloth import SimCloth
from .vectors import ONE, dot

if TYPE_CHECKING:
    from .layout import Layout, SimPlace
    from .state import Work

STIFFNESS = np.float32(10)
WITHOUT_NORMALS = np.float32(0.7)
STRIDE = np.float32(0.6)


def computed(count: int) -> Array:
    """Return which particle's force each particle gets, (count,)."""
    index = np.arange(count)
    scaled = STRIDE * index.astype(np.float32)
    own = (scaled - np.trunc(scaled)) + STRIDE < ONE
    own[[0, -1] if count else []] = True
    return np.maximum.accumulate(np.where(own, index, 0))


def _shares(record: SimCloth) -> Array:
    """Return each particle's share of the mass, none where a cloth has no mass at all."""
    if record.total_mass <= 0:
        return np.zeros(len(record), np.float32)
    shares: Array = record.mass / record.total_mass
    return shares


class Wind:
    """The wind on a group of simulated cloths."""

    def __init__(self, places: list[SimPlace], layout: Layout) -> None:
        """Find the particles; ``places`` of the group, in its order."""
        starts = np.cumsum([0, *(len(place.record) for place in places)]).tolist()
        self.source = np.concatenate([
            computed(len(place.record)) + start for place, start in zip(places, starts, strict=False)
        ])  # fmt: skip
        self.columns = np.concatenate([np.arange(place.start, place.stop) for place in places])
        self.share = np.concatenate([_shares(place.record) for place in places])
        self.facing = np.concatenate([np.full(len(place.record), place.record.makes_normals) for place in places])
        self.previous = layout.particles

    def forces(self, work: Work, step: np.float32) -> Array:
        """Return the forces on the particles, (3, n), for a substep of ``step`` seconds."""
        air = np.array(work.settings.wind, np.float32)[:, None]
        direction = (air / np.float32(np.linalg.norm(air))).astype(np.float32)
        now, before = (work.state.store.take(self.columns + shift, 1) for shift in (0, self.previous))
        normal = work.state.normals.take(self.columns, 1)
        met = self.share * np.abs(dot(np.broadcast_to(direction, normal.shape), normal)) * STIFFNESS
        factor = np.where(self.facing, met, self.share * (STIFFNESS * WITHOUT_NORMALS))
        force: Array = (((-ONE / step) * (now - before)) + air) * factor
        return force.take(self.source, 1)
