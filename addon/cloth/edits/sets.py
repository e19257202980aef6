"""Constraint sets after masses, pins and stiffness changed: only the rows that depend on a change are made anew."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

import numpy as np

from ...codec.binary import Array
from ...codec.havok import cloth as records
from .accepting import Subject, counted, differing, listed
from .formulas import height_limit, nearest
from .names import title
from .pins import insertion_order, reference_vertices
from .terms import mass_sums, stored_stiffness, to_stored, with_stored
from .values import SimValues


@dataclass(frozen=True, eq=False)
class Change:
    """What changes in a simulated cloth.

    Attributes:
        subject: the cloth before.
        inverse_mass: (n,) f4 after.
        old, new: the values.
    """

    subject: Subject
    inverse_mass: Array
    old: SimValues
    new: SimValues

    @cached_property
    def fixed(self) -> Array:
        """Particles that the change pins, (n,) bool."""
        return self.new.pinned & ~self.old.pinned

    @cached_property
    def freed(self) -> Array:
        """Particles that the change frees, (n,) bool."""
        return self.old.pinned & ~self.new.pinned


def settle_sets(
    subject: Subject, inverse_mass: Array, old: SimValues, new: SimValues
) -> tuple[records.Constraint, ...]:
    """Return the constraint sets of a cloth; those of the record itself where nothing changes.

    Args:
        subject: the cloth before.
        inverse_mass: (n,) f4 after.
        old: its values.
        new: the settled ones.
    """
    record = subject.record
    change = Change(subject, inverse_mass, old, new)
    sets = []
    first = True
    for one, *stiffness in zip(record.constraints, old.stiffness, new.stiffness, strict=True):
        made: Any = _stiff(one, change, *stiffness)
        if isinstance(one, records.StretchLinks):
            made = _stretched(made, change)
        elif isinstance(one, records.Links):
            made = _held(made, one, change)
        elif isinstance(one, records.BendStiffness):
            made = _bent(made, one, change)
        elif isinstance(one, records.LocalRange):
            made = _ranged(made, change, grows=first)
            first = False
        elif isinstance(one, records.Volume) and change.fixed[one.apply_particle].any():
            calm = np.where(change.fixed[one.apply_particle], np.float32(0), made.apply_stiffness)
            made = replace(made, apply_stiffness=calm)
        sets.append(made)
    unchanged = all(made is one for made, one in zip(sets, record.constraints, strict=True))
    return record.constraints if unchanged else tuple(sets)


def _stiff(one: records.Constraint, change: Change, old: Array | None, new: Array | None) -> records.Constraint:
    """Return a set with the stiffness that its shares and its particles' masses ask for."""
    stored = stored_stiffness(one)
    if stored is None or old is None or new is None:
        return one
    changed = differing(old, new)
    sums = mass_sums(one, change.inverse_mass)
    before = mass_sums(one, change.subject.record.inverse_mass)
    if sums is not None and before is not None:
        moved = differing(before, sums)
        changed = changed | (moved if changed.ndim == 1 else moved[:, None])
    if not changed.any():
        return one
    return with_stored(one, np.where(changed, to_stored(one, new, sums), stored))


def take(one: Any, rows: Array) -> Any:
    """Return some rows of links or of a local range: (n,) bool or (k,) places."""
    columns = {column.name: getattr(one, column.name) for column in fields(one)}
    return replace(one, **{name: own[rows] for name, own in columns.items() if getattr(own, "ndim", 0) == 1})


def _kept(particles: Array, change: Change) -> Array:
    """Return which rows, (c, rows) particles, still tie a free one; rows that never did stay."""
    after, before = change.inverse_mass[particles], change.subject.record.inverse_mass[particles]
    return (after > 0).any(0) | ~(before > 0).any(0)


def _held(made: Any, one: records.Links, change: Change) -> Any:
    keep = _kept(np.stack([one.a, one.b]), change)
    if keep.all():
        return made
    change.subject.note(f"{title(one)}: {_links(~keep)} between pinned particles left out")
    return take(made, keep)


def _links(rows: Array) -> str:
    return counted(np.count_nonzero(rows), "link")


def _bent(made: records.BendStiffness, one: records.BendStiffness, change: Change) -> records.BendStiffness:
    keep = _kept(one.indices, change)
    if keep.all():
        return made
    change.subject.note(f"{title(one)}: {_links(~keep)} between pinned particles left out")
    made = replace(
        made,
        indices=made.indices[:, keep],
        weights=made.weights[:, keep],
        stiffness=made.stiffness[keep],
        curvature=made.curvature[keep],
    )
    pose = change.subject.record.poses[0]
    if height_limit(made, pose) == height_limit(one, pose):
        return made
    return replace(made, max_height_squared=height_limit(made, pose))


def _stretched(made: records.StretchLinks, change: Change) -> records.StretchLinks:
    """Let stretch links go where their free end was pinned, and find another pin where theirs was freed.

    Such links move their end b whatever its mass, and hold it to a pinned a (found on all real files).
    """
    keep = ~change.fixed[made.b]
    lost = change.freed[made.a] & keep
    held = np.zeros(len(change.fixed), np.bool_)
    held[made.b] = True
    # where every free particle has such a link, one that is freed gets one too
    added = np.flatnonzero(change.freed) if held[~change.old.pinned].all() and len(made.b) else np.zeros(0, np.intp)
    if keep.all() and not lost.any() and not len(added):
        return made
    pose = change.subject.record.poses[0].astype(np.float64)
    pins = np.flatnonzero(change.new.pinned)
    ratio = _ratios(made, pose)
    if lost.any():
        anchors = pins[nearest(pose[made.b[lost]], pose[pins])]
        a, rest = made.a.copy(), made.rest.copy()
        a[lost] = anchors
        rest[lost] = ratio[lost] * np.linalg.norm(pose[anchors] - pose[made.b[lost]], axis=1)
        made = replace(made, a=a, rest=rest)
        change.subject.note(f"{title(made)}: {_links(lost)} moved to the nearest particle still pinned")
    stiffness = np.float32(np.median(made.stiffness)) if len(made.b) else np.float32(1)
    usual = np.median(ratio) if len(ratio) else 1.0
    made = take(made, keep)
    if len(added):
        anchors = pins[nearest(pose[added], pose[pins])]
        rest = usual * np.linalg.norm(pose[anchors] - pose[added], axis=1)
        made = replace(
            made,
            a=np.concatenate([made.a, anchors]).astype(np.uint16),
            b=np.concatenate([made.b, added]).astype(np.uint16),
            rest=np.concatenate([made.rest, rest]).astype(np.float32),
            stiffness=np.concatenate([made.stiffness, np.full(len(added), stiffness)]).astype(np.float32),
        )
        change.subject.note(f"{title(made)}: a link to the nearest pinned particle for {listed(added)}")
    return made


def _ratios(one: records.StretchLinks, pose: Array) -> Array:
    """Return the rest lengths over the distances in the rest pose, (rows,) f8; 1 where there is no distance."""
    distance = np.linalg.norm(pose[one.b] - pose[one.a], axis=1)
    return np.divide(one.rest, distance, out=np.ones(len(distance)), where=distance > 0)


def _ranged(made: records.LocalRange, change: Change, *, grows: bool) -> records.LocalRange:
    """Return a local range with the values' distances and particles; ``grows``: new particles come into this set."""
    old, new = change.old, change.new
    done: dict[str, Any] = {}
    for name in ("max_distance", "max_normal", "min_normal"):
        stored, before, after = (getattr(source, name) for source in (made, old, new))
        changed = differing(before, after)[made.particle] & (new.max_distance[made.particle] >= 0)
        if changed.any():
            done[name] = np.where(changed, after[made.particle], stored)
    if done:
        made = replace(made, **done)
    keep = ~(change.fixed | ((new.max_distance < 0) & (old.max_distance >= 0)))[made.particle]
    added = np.flatnonzero((new.max_distance >= 0) & (old.max_distance < 0)) if grows else np.zeros(0, np.intp)
    if keep.all() and not len(added):
        return made
    vertices = reference_vertices(change.subject.data, change.subject.place, made.buffer)
    stored = made.vertex
    made = take(made, keep)
    made = replace(
        made,
        particle=np.concatenate([made.particle, added]).astype(np.uint16),
        vertex=np.concatenate([made.vertex, vertices[added]]).astype(np.uint16),
        max_distance=np.concatenate([made.max_distance, new.max_distance[added]]),
        max_normal=np.concatenate([made.max_normal, new.max_normal[added]]),
        min_normal=np.concatenate([made.min_normal, new.min_normal[added]]),
    )
    return take(made, insertion_order(stored, made.vertex))
