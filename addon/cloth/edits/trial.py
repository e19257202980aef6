"""Trying a cloth out before it is written: stepped with still bones, does it stay in one piece?

All cloths of the games come to rest within two seconds: they stay within twice their size of where they began, and
in the end no particle moves more than a tenth of the way to its neighbour in a step (found on real files).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ...codec import FormatError
from ...codec.binary import Array
from ...codec.havok import cloth as records
from ..layout import SimPlace
from ..results import reference_pose
from ..settings import Settings
from ..setup import build_setup
from ..state import Pose
from ..step import new_state, reset, step
from .edited import QUIET, sim_title
from .formulas import lengths

STEPS = 120
DT = 1 / 60
FAR = 2.5
"""Sizes of a cloth, corner to corner at rest, that a particle may be from where it began."""
ROOM = 0.1
"""Metres more than that: cloths of a few particles have hardly a size."""
SETTLED = 0.75
"""The share of the steps after which a cloth must be calm."""
SHAKE = 1.0
"""Distances between neighbours that a particle of a calm cloth may move in a step."""


@dataclass(frozen=True, eq=False)
class Trial:
    """How a cloth behaved.

    Attributes:
        fault: what happened, a sentence; empty where it stayed in one piece.
        sim, particle: which cloth and particle; -1 where the fault has none.
        step: when, counted from 1; the number of steps where nothing happened.
        away: (s,) f8 for each simulated cloth, the farthest that a particle got from where it began, metres.
        motion: (s,) f8 the longest way that a particle moved in one of the last steps, metres.
    """

    fault: str
    sim: int
    particle: int
    step: int
    away: Array
    motion: Array


@np.errstate(**QUIET)
def try_out(
    file: records.ClothFile, steps: int = STEPS, *, triangles: Mapping[tuple[int, int], Array] | None = None
) -> Trial:
    """Step a cloth with its bones at the reference pose.

    Args:
        file: the cloth.
        steps: of a sixtieth of a second.
        triangles: of drawn meshes, as `setup.build_setup` takes them.
    """
    nothing = np.zeros(0)
    if not any(data.sims for data in file.datas) or file.skeleton is None:
        return Trial("", -1, -1, 0, nothing, nothing)
    try:
        setup = build_setup(file, triangles=triangles)
    except FormatError as error:
        return Trial(f"The cloth cannot be stepped: {error}.", -1, -1, 0, nothing, nothing)
    pose, settings = Pose(reference_pose(file.skeleton)), Settings(display=False)
    state = new_state(setup)
    reset(setup, state, pose, settings=settings)
    count = setup.layout.particles
    watch = [_Watch(place, sim_title(file, sim)) for sim, place in enumerate(setup.layout.sims)]
    start = state.store[:, :count].astype(np.float64)
    last = start
    away, motion = np.zeros(len(watch)), np.zeros(len(watch))
    for number in range(1, steps + 1):
        step(setup, state, pose, DT, settings)
        now = state.store[:, :count].astype(np.float64)
        calm = number > SETTLED * steps
        for sim, one in enumerate(watch):
            gone, moved = one.ways(start, now), one.ways(last, now)
            fault, particle = one.fault(gone, moved, calm=calm)
            if fault:
                return Trial(f"{one.title}: {fault} in step {number} of {steps}.", sim, particle, number, away, motion)
            away[sim] = max(away[sim], gone.max(initial=0))
            motion[sim] = max(motion[sim], moved.max(initial=0)) if calm else 0
        last = now
    return Trial("", -1, -1, steps, away, motion)


class _Watch:
    """What one cloth may do."""

    def __init__(self, place: SimPlace, title: str) -> None:
        self.title, self.span = title, slice(place.start, place.stop)
        rest = place.record.poses[0].astype(np.float64)
        size = float(np.linalg.norm(np.ptp(rest, axis=0)))
        links = [lengths(rest, one.a, one.b) for one in place.record.constraints if isinstance(one, records.Links)]
        held = [own for own in links if len(own)]
        self.reach = FAR * size + ROOM
        self.shake = SHAKE * max(float(np.median(np.concatenate(held))) if held else size, 1e-3)

    def ways(self, start: Array, end: Array) -> Array:
        """Return how far each particle came, (n,) f8."""
        with np.errstate(over="ignore", invalid="ignore"):
            gaps = end[:, self.span] - start[:, self.span]
            return np.sqrt(np.square(gaps).sum(0))

    def fault(self, gone: Array, moved: Array, *, calm: bool) -> tuple[str, int]:
        """Return what a cloth did that it must not, and which particle; an empty text for nothing."""
        wild = np.flatnonzero(~np.isfinite(gone))
        if len(wild):
            return f"the position of particle {wild[0]} is no number any more", int(wild[0])
        if len(gone) and gone.max() > self.reach:
            particle = int(gone.argmax())
            return f"particle {particle} is {gone[particle]:.3g} m from where it began, it runs away", particle
        if calm and len(moved) and moved.max() > self.shake:
            particle = int(moved.argmax())
            return f"particle {particle} still moves {moved[particle]:.3g} m, the cloth shakes", particle
        return "", -1
