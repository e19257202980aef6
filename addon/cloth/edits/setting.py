"""A file with other values, and everything that follows from them.

What follows is made anew only where an input changed, so that everything else stays as the file has it, to the bit.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ...codec.havok import cloth as records
from .accepting import Subject, accepted, differing
from .edited import QUIET, Edited, sim_places, sim_title, with_data, with_operators, with_sim
from .pins import settle_pins, with_pins
from .sets import settle_sets
from .values import SimValues, values_of

LANDSCAPE_BIT = np.uint32(1 << 31)


@np.errstate(**QUIET)
def with_values(file: records.ClothFile, wanted: Mapping[int, SimValues]) -> Edited:
    """Return the file with other values.

    Args:
        file: to start from; it is not changed.
        wanted: by number of the simulated cloth, of the shapes that `values_of` returns for this file.

    Returns:
        The file in which everything that follows from the values follows. A value that is refused keeps what the file
        has, everything else is done.
    """
    notes: list[str] = []
    refusals: list[str] = []
    for sim, values in sorted(wanted.items()):
        if not 0 <= sim < len(sim_places(file)):
            refusals.append(f"There is no simulated cloth {sim}.")
            continue
        file = _with_one(file, sim, values, (notes, refusals))
    return Edited(file, notes, refusals)


def _with_one(
    file: records.ClothFile, sim: int, wanted: SimValues, said: tuple[list[str], list[str]]
) -> records.ClothFile:
    number, place = sim_places(file)[sim]
    data = file.datas[number]
    record = data.sims[place]
    old = values_of(file, sim)
    subject = Subject(data, place, sim_title(file, sim), *said)
    new = settle_pins(subject, old, accepted(old, wanted, subject))
    new = _settle_landscape(old, new, subject)
    particles = _with_particles(record, old, new)
    sets = settle_sets(subject, particles.inverse_mass, old, new)
    changed = replace(particles, constraints=sets)
    if all(getattr(changed, name) is getattr(record, name) for name in vars(record)):
        changed = record
    operators = with_pins(data, place, old.pinned, new.pinned) | _with_steps(subject, old, new)
    if changed is record and not operators:
        return file
    return with_data(file, number, with_operators(with_sim(data, place, changed), operators))


def _with_steps(subject: Subject, old: SimValues, new: SimValues) -> dict[int, records.Operator]:
    """Return the operators that step a cloth in other substeps or iterations, by their places."""
    if (old.substeps, old.iterations) == (new.substeps, new.iterations):
        return {}
    found: dict[int, records.Operator] = {}
    for index, operator in enumerate(subject.data.operators):
        if isinstance(operator, records.Simulate) and operator.sim == subject.place:
            first = replace(operator.configs[0], substeps=new.substeps, iterations=new.iterations)
            found[index] = replace(operator, configs=(first, *operator.configs[1:]))
    if not found:
        subject.refuse("its substeps and iterations cannot be set: no operator simulates it")
    return found


def _settle_landscape(old: SimValues, new: SimValues, subject: Subject) -> SimValues:
    """Give the free particles the landscape's bit where it is switched on and nobody has it."""
    if old.landscape or not new.landscape or (new.mask & LANDSCAPE_BIT).any():
        return new
    subject.note("all free particles meet the landscape: none had its bit (31) in its mask")
    return replace(new, mask=np.where(new.pinned, new.mask, new.mask | LANDSCAPE_BIT))


def _with_particles(record: records.SimCloth, old: SimValues, new: SimValues) -> records.SimCloth:
    """Return the cloth with other settings and particles, and what follows from these; constraint sets stay."""
    done: dict[str, Any] = {}
    for name in ("damping", "landscape", "landscape_radius", "landscape_tolerance"):
        if getattr(old, name) != getattr(new, name):
            done[name] = getattr(new, name)
    for name in ("gravity", "mass", "radius", "friction"):
        if not records.same(getattr(old, name), getattr(new, name)):
            done[name] = getattr(new, name)
    if "mass" in done:
        moved = differing(old.mass, new.mass)
        inverse = np.divide(np.float32(1), new.mass, out=np.zeros_like(new.mass), where=new.mass > 0)
        done["inverse_mass"] = np.where(moved, inverse, record.inverse_mass)
        done["total_mass"] = np.add.accumulate(new.mass, dtype=np.float32)[-1]
    if "radius" in done:
        done["max_radius"] = new.radius.max()
    if not records.same(old.mask, new.mask):
        done["masks"] = new.mask
        meets = [int(np.count_nonzero(mask & LANDSCAPE_BIT)) for mask in (old.mask, new.mask)]
        if meets[0] != meets[1]:
            done["landscape_count"] = meets[1]
    if not records.same(old.pinned, new.pinned):
        done["fixed"] = np.flatnonzero(new.pinned).astype(np.uint16)
    return replace(record, **done) if done else record
