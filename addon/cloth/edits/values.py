"""What a user sets of a simulated cloth: settings, particles, local ranges, stiffness.

What follows from them is not among them: inverse masses, the total mass, the largest radius, stored stiffness.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...codec.binary import Array
from ...codec.havok import cloth as records
from .edited import QUIET, sim_places
from .terms import shares

UNUSED = np.array([0x7F7FFFEE], np.uint32).view(np.float32)[0]
"""What files store for a limit along the normal that is not used (CLOTH notes 1.2, 24)."""
NO_RANGE = np.float32(-1)


@dataclass(frozen=True, eq=False)
class SimValues:
    """What a user sets of one simulated cloth of n particles; arrays are never written to.

    Attributes:
        gravity: (3,) f4 m/s2, game axes.
        damping: fraction of the velocity lost in a second.
        substeps, iterations: how often a step is divided, and the order of sets repeated; 1 to 255.
        landscape: collides with the world's geometry.
        landscape_radius, landscape_tolerance: metres.
        mass: (n,) f4 kg, 0 for pinned particles.
        radius, friction: (n,) f4, metres.
        mask: (n,) u4, bit k set where the particle meets collidable k; the highest bit is the landscape's.
        pinned: (n,) bool.
        max_distance: (n,) f4 metres from the reference vertex; -1 where a particle has no local range.
        max_normal, min_normal: (n,) f4 along the reference normal; about 3.4e38 and -3.4e38 where not used.
        stiffness: for each constraint set in stored order its shares, see `terms.shares`; None for a transition.
    """

    gravity: Array
    damping: np.float32
    substeps: int
    iterations: int
    landscape: bool
    landscape_radius: np.float32
    landscape_tolerance: np.float32
    mass: Array
    radius: Array
    friction: Array
    mask: Array
    pinned: Array
    max_distance: Array
    max_normal: Array
    min_normal: Array
    stiffness: tuple[Array | None, ...]


@np.errstate(**QUIET)
def values_of(file: records.ClothFile, sim: int) -> SimValues:
    """Return what a user sets of a simulated cloth, copies of what the file holds.

    Args:
        file: with the cloth.
        sim: its number.
    """
    number, place = sim_places(file)[sim]
    data = file.datas[number]
    record = data.sims[place]
    config = first_config(data, place)
    count = len(record)
    pinned = np.zeros(count, np.bool_)
    pinned[record.fixed] = True
    reach = [np.full(count, value, np.float32) for value in (NO_RANGE, UNUSED, -UNUSED)]
    for one in record.constraints:
        if isinstance(one, records.LocalRange):
            for values, own in zip(reach, (one.max_distance, one.max_normal, one.min_normal), strict=True):
                values[one.particle] = own
    return SimValues(
        gravity=record.gravity.copy(),
        damping=record.damping,
        substeps=1 if config is None else config.substeps,
        iterations=1 if config is None else config.iterations,
        landscape=record.landscape,
        landscape_radius=record.landscape_radius,
        landscape_tolerance=record.landscape_tolerance,
        mass=record.mass.copy(),
        radius=record.radius.copy(),
        friction=record.friction.copy(),
        mask=record.masks.copy() if len(record.masks) else np.zeros(count, np.uint32),
        pinned=pinned,
        max_distance=reach[0],
        max_normal=reach[1],
        min_normal=reach[2],
        stiffness=tuple(shares(one, record.inverse_mass) for one in record.constraints),
    )


def first_config(data: records.ClothData, place: int) -> records.SimulateConfig | None:
    """Return the setting that a simulated cloth of a cloth data is stepped with, None where nothing steps it."""
    for operator in data.operators:
        if isinstance(operator, records.Simulate) and operator.sim == place:
            return operator.configs[0]
    return None
