"""Pinning and freeing particles: what has to be known for it, what is refused, and what follows.

A pinned particle is put on a vertex of a reference buffer before every step (`MoveParticles`) and has no mass; a free
one has a mass, a local range round such a vertex, and links that hold it. Found on all real files: a cloth's transition
set names the vertex of every particle, move-particle pairs and local ranges stand in the order of their vertices, every
free particle has all collision bits that a free one has, and a stretch link to a pinned one.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...codec.binary import Array
from ...codec.havok import cloth as records
from .accepting import Subject, differing, listed
from .formulas import nearest
from .values import SimValues

NOWHERE = -1


def settle_pins(subject: Subject, old: SimValues, new: SimValues) -> SimValues:
    """Return the values with what pinned and freed particles need; what cannot be keeps the file's values.

    Args:
        subject: the cloth.
        old: its values.
        new: the accepted ones.
    """
    pinned = _refuse(subject, old, new)
    new = _with_masses(old, replace(new, pinned=pinned), subject)
    freed, fixed = old.pinned & ~pinned, pinned & ~old.pinned
    same_mask = ~differing(old.mask, new.mask)
    free_masks = old.mask[~old.pinned]
    usual = _usual(free_masks) if len(free_masks) else np.uint32(0)
    mask = np.where(fixed & same_mask, np.uint32(0), np.where(freed & same_mask, usual, new.mask))
    return _with_ranges(subject, old, replace(new, mask=mask))


def with_pins(data: records.ClothData, place: int, old: Array, new: Array) -> dict[int, records.Operator]:
    """Return the operators that carry a cloth's pinned particles, by their places; empty where none changes.

    Args:
        data: the cloth data.
        place: of the simulated cloth in it.
        old: (n,) bool which particles are pinned.
        new: which shall be.
    """
    freed, fixed = np.flatnonzero(old & ~new), np.flatnonzero(new & ~old)
    done: dict[int, records.Operator] = {}
    carried = np.zeros(len(new), np.bool_)
    for index, operator in movers(data, place):
        vertices = reference_vertices(data, place, operator.buffer)
        keep = ~np.isin(operator.particles, freed)
        added = fixed[(vertices[fixed] != NOWHERE) & ~carried[fixed]]
        carried[added] = True
        if keep.all() and not len(added):
            continue
        particles = np.concatenate([operator.particles[keep], added]).astype(np.uint16)
        pairs = np.concatenate([operator.vertices[keep], vertices[added]]).astype(np.uint16)
        order = insertion_order(operator.vertices, pairs)
        done[index] = replace(operator, vertices=pairs[order], particles=particles[order])
    return done


def movers(data: records.ClothData, place: int) -> list[tuple[int, records.MoveParticles]]:
    """Return the operators that carry a simulated cloth's pinned particles, with their places."""
    return [
        (index, operator)
        for index, operator in enumerate(data.operators)
        if isinstance(operator, records.MoveParticles) and operator.sim == place
    ]


def reference_vertices(data: records.ClothData, place: int, buffer: int) -> Array:
    """Return the vertex of a reference buffer that each particle of a cloth belongs to, (n,) i8, -1 if not told."""
    record = data.sims[place]
    vertices = np.full(len(record), NOWHERE, np.int64)
    for one in record.constraints:
        if isinstance(one, records.LocalRange | records.Transition) and one.buffer == buffer:
            vertices[one.particle] = one.vertex
    for _, operator in movers(data, place):
        if operator.buffer == buffer:
            vertices[operator.particles] = operator.vertices
    return vertices


def insertion_order(stored: Array, joined: Array) -> Array:
    """Return how rows are put in order after some were added: as the stored ones are, by vertex, else at the end."""
    ascending = bool((np.diff(stored.astype(np.int64)) >= 0).all())
    return np.argsort(joined, kind="stable") if ascending else np.arange(len(joined))


def _refuse(subject: Subject, old: SimValues, new: SimValues) -> Array:
    """Return (n,) bool which particles are pinned, without those that cannot be pinned or freed."""
    data, place = subject.data, subject.place
    pinned = new.pinned.copy()
    fixed, freed = pinned & ~old.pinned, old.pinned & ~pinned
    if not (fixed.any() or freed.any()):
        return pinned
    carried = np.zeros(len(pinned), np.bool_)
    for _, operator in movers(data, place):
        written = written_vertices(data, operator.buffer)
        vertices = reference_vertices(data, place, operator.buffer)
        carried |= (vertices != NOWHERE) & written[np.maximum(vertices, 0)]
    reasons: list[tuple[Array, str]] = [
        (fixed & ~carried, "cannot be pinned, having no known vertex that bones carry"),
        (freed & ~linked(subject.record), "cannot be freed, having no links"),
    ]
    for rows, reason in reasons:
        if rows.any():
            subject.refuse(f"{listed(np.flatnonzero(rows))} {reason}")
            pinned[rows] = old.pinned[rows]
    for state, reason in ((True, "pinned, for none would be free"), (False, "freed, for none would be pinned")):
        if (pinned == state).all() and (old.pinned != state).any():
            subject.refuse(f"no particles are {reason}")
            return old.pinned
    return pinned


def linked(record: records.SimCloth) -> Array:
    """Return (n,) bool which particles some link holds that can hold a free one."""
    found = np.zeros(len(record), np.bool_)
    for one in record.constraints:
        if isinstance(one, records.StandardLinks | records.CompressibleLinks | records.BendLinks) and not isinstance(
            one, records.StretchLinks
        ):
            found[one.particles] = True
    return found


def written_vertices(data: records.ClothData, buffer: int) -> Array:
    """Return (v,) bool which vertices of a buffer some operator writes."""
    written = np.zeros(max(data.buffers[buffer].vertex_count, 1), np.bool_)
    for operator in data.operators:
        if isinstance(operator, records.Skin | records.MeshMeshDeform) and operator.output == buffer:
            for blend in operator.blends:
                written[blend.vertices] = True
        elif isinstance(operator, records.CopyVertices | records.GatherVertices) and operator.output == buffer:
            written[:] = True
    return written


def _with_masses(old: SimValues, new: SimValues, subject: Subject) -> SimValues:
    """Return the values with masses that fit the pins: none for pinned particles, some for free ones."""
    mass = np.where(new.pinned & ~old.pinned, np.float32(0), new.mass)
    idle = new.pinned & old.pinned & differing(old.mass, mass)
    if idle.any():  # such as of one that was freed and pinned again
        who = listed(np.flatnonzero(idle))
        subject.note(f"{who}: what was set as mass is left out, for pinned particles have none")
        mass[idle] = old.mass[idle]
    freed = old.pinned & ~new.pinned
    free = ~old.pinned & (old.mass > 0)
    usual = _usual(old.mass[free]) if free.any() else np.float32(1)
    mass[freed & (mass <= 0)] = usual
    with np.errstate(divide="ignore", over="ignore"):
        heavy = np.isfinite(np.float32(1) / mass)
    wrong = ~new.pinned & ~heavy & differing(old.mass, mass)
    if wrong.any():
        subject.refuse(f"{listed(np.flatnonzero(wrong))}: a free particle needs a mass")
        mass[wrong] = old.mass[wrong]
    return replace(new, mass=mass)


def _with_ranges(subject: Subject, old: SimValues, new: SimValues) -> SimValues:
    """Return the values with the local ranges that fit the pins."""
    record = subject.record
    distance, limits = new.max_distance.copy(), [new.max_normal.copy(), new.min_normal.copy()]
    sets = [one for one in record.constraints if isinstance(one, records.LocalRange)]
    distance[new.pinned & ~old.pinned] = -1
    ranged = np.flatnonzero(old.max_distance >= 0)
    freed = np.flatnonzero(old.pinned & ~new.pinned & (distance < 0))
    if sets and len(freed) and len(ranged):
        near = ranged[nearest(record.poses[0][freed], record.poses[0][ranged])]
        distance[freed] = np.maximum(new.max_distance[near], old.max_distance[near])
        for values, own in zip(limits, (old.max_normal, old.min_normal), strict=True):
            values[freed] = own[near]
        subject.note(f"{listed(freed)}: range as that of the nearest particle")
    known = np.zeros(len(record), np.bool_)
    if sets:
        known = reference_vertices(subject.data, subject.place, sets[0].buffer) != NOWHERE
    added = (distance >= 0) & (old.max_distance < 0)
    for wrong, tell, reason in (
        (added & new.pinned, subject.note, "what was set as range is left out, for pinned particles have none"),
        (added & ~new.pinned & ~known, subject.refuse, "no range is possible: its reference vertex is not known"),
    ):
        if wrong.any():
            tell(f"{listed(np.flatnonzero(wrong))}: {reason}")
            distance[wrong] = old.max_distance[wrong]
    return replace(new, max_distance=distance, max_normal=limits[0], min_normal=limits[1])


def _usual(values: Array) -> np.generic:
    """Return the value that occurs most often, the smallest of those."""
    found, counts = np.unique(values, return_counts=True)
    return found[counts.argmax()]
