"""Constraint sets after the rest pose moved: only the rows whose particles moved are made anew."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...codec.binary import Array
from ...codec.havok import cloth as records
from .formulas import bends, height_limit, lengths, volume_center

ROUNDING = 8e-7
"""How far a stored length is from its distance where it is meant to be that, by the pose's extent (real files)."""
FLAT = 1e-6
"""Metres: a triangle of less height is none."""
LENGTHS: dict[type[records.Links], tuple[str, ...]] = {
    records.StandardLinks: ("rest",),
    records.StretchLinks: ("rest",),
    records.BendLinks: ("bend_min", "stretch_max"),
    records.CompressibleLinks: ("rest", "compression"),
}


@dataclass(frozen=True, eq=False)
class Move:
    """The rest pose of one simulated cloth, moved.

    Attributes:
        old, new: (n, 3) f4.
        moved: (n,) bool which particles did.
    """

    old: Array
    new: Array
    moved: Array

    @classmethod
    def of(cls, old: Array, new: Array) -> Move:
        """Compare two poses."""
        return cls(old, new, (old != new).any(1))


def rested(one: records.Constraint, move: Move) -> records.Constraint:
    """Return a set for the new rest pose; itself where none of its particles moved.

    Lengths keep their share of the distance: a stretch link that was 5 % longer stays so. Distances from a reference
    mesh stay, as that moves along.
    """
    if isinstance(one, records.Links):
        return _links(one, move)
    if isinstance(one, records.BendStiffness):
        return _bend_stiffness(one, move)
    if isinstance(one, records.Volume):
        return _volume(one, move)
    return one


def flat_bends(one: records.Constraint, move: Move) -> Array:
    """Return the bend stiffness links that would have a triangle without area, (k, 4) particles."""
    if not isinstance(one, records.BendStiffness):
        return np.zeros((0, 4), np.int64)
    rows = move.moved[one.indices].any(0)
    a, b, c, d = move.new.astype(np.float64)[one.indices]
    edge = np.linalg.norm(d - c, axis=1)
    areas = (np.linalg.norm(np.cross(wing - c, d - c), axis=1) for wing in (a, b))
    wrong = rows & (np.minimum(*areas) <= FLAT * edge)
    return one.indices[:, wrong].T.astype(np.int64)


def _links(one: records.Links, move: Move) -> records.Links:
    rows = np.flatnonzero(move.moved[one.a] | move.moved[one.b])
    if not len(rows):
        return one
    before, after = (lengths(pose, one.a[rows], one.b[rows]) for pose in (move.old, move.new))
    close = ROUNDING * max(1.0, float(np.abs(move.old).max()))
    changed: dict[str, Array] = {}
    for name in LENGTHS[type(one)]:
        values = getattr(one, name).copy()
        stored = values[rows].astype(np.float64)
        share = np.divide(stored, before, out=np.ones_like(stored), where=before > 0)
        share[np.abs(stored - before) <= close] = 1
        values[rows] = share * after
        changed[name] = values
    made: Any = one
    return replace(made, **changed)


def _bend_stiffness(one: records.BendStiffness, move: Move) -> records.BendStiffness:
    rows = np.flatnonzero(move.moved[one.indices].any(0))
    if not len(rows):
        return one
    weights, curvature = one.weights.copy(), one.curvature.copy()
    indices = one.indices[:, rows]
    weights[:, rows] = bends(move.new, indices).weights
    if one.use_rest:
        shape = bends(move.new, indices, weights[:, rows])
        curvature[rows] = -shape.heights / shape.products
    made = replace(one, weights=weights, curvature=curvature)
    limit = height_limit(made, move.new)
    if limit == height_limit(one, move.old):
        return made
    return replace(made, max_height_squared=limit)


def _volume(one: records.Volume, move: Move) -> records.Volume:
    moved = move.moved[one.frame_particle].any()
    center = volume_center(one, move.new)
    changed = {}
    for kind in ("frame", "apply"):
        particles, vectors = getattr(one, f"{kind}_particle"), getattr(one, f"{kind}_vector").copy()
        rows = np.flatnonzero(move.moved[particles] | moved)
        vectors[rows] = move.new.astype(np.float64)[particles[rows]] - center
        changed[f"{kind}_vector"] = vectors
        moved |= bool(len(rows))
    return replace(one, **changed) if moved else one
