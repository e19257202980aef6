"""Stiffness in a user's terms and as files store it.

Links but stretch links are stored divided by the sum of both inverse masses, bend stiffness as -4 of the share over
the sum of four (CLOTH-CHECKS B2 and B3 of the notes; found on every real file). A link whose particles are all fixed
has no such sum: what it stores is shown as it is.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ...codec.binary import Array
from ...codec.havok import cloth as records

BENDING = np.float64(-4)


def mass_sums(constraint: records.Constraint, inverse_mass: Array) -> Array | None:
    """Return what a set's stiffness is stored divided by, (rows,) f4; None where it is stored as it is."""
    if isinstance(constraint, records.BendStiffness):
        w = inverse_mass[constraint.indices]
        return ((w[0] + w[1]) + w[2]) + w[3]
    if isinstance(constraint, records.StretchLinks) or not isinstance(constraint, DIVIDED):
        return None
    return inverse_mass[constraint.a] + inverse_mass[constraint.b]


DIVIDED = records.StandardLinks, records.CompressibleLinks, records.BendLinks


def stored_stiffness(constraint: records.Constraint) -> Array | None:
    """Return a set's stiffness as stored, of the shape of `shares`; None where it has none."""
    if isinstance(constraint, records.BendLinks):
        return np.stack([constraint.bend_stiffness, constraint.stretch_stiffness], 1)
    if isinstance(constraint, records.Volume):
        return constraint.apply_stiffness
    stiffness = getattr(constraint, "stiffness", None)
    return None if stiffness is None else np.asarray(stiffness)


def with_stored(constraint: records.Constraint, stiffness: Array) -> Any:
    """Return a set with other stiffness, as `stored_stiffness` returns it."""
    if isinstance(constraint, records.BendLinks):
        bend, stretch = (np.ascontiguousarray(column) for column in stiffness.T)
        return replace(constraint, bend_stiffness=bend, stretch_stiffness=stretch)
    if isinstance(constraint, records.Volume):
        return replace(constraint, apply_stiffness=stiffness)
    if isinstance(constraint, records.LocalRange):
        return replace(constraint, stiffness=np.float32(stiffness))
    changed: Any = constraint
    return replace(changed, stiffness=stiffness)


def shares(constraint: records.Constraint, inverse_mass: Array) -> Array | None:
    """Return a set's stiffness in a user's terms.

    Returns:
        (rows,) f4 shares of 0 to 1; (rows, 2) bending and stretching of bend links; (m,) of a volume's pulled
        particles; () of a local range; None for a transition.
    """
    stored = stored_stiffness(constraint)
    sums = mass_sums(constraint, inverse_mass)
    if stored is None or sums is None:
        return None if stored is None else stored.copy()
    factor = _factor(constraint, sums)
    return (stored * (factor if stored.ndim == 1 else factor[:, None])).astype(np.float32)


def to_stored(constraint: records.Constraint, share: Array, sums: Array | None) -> Array:
    """Return shares as they are stored, f4; ``sums`` as `mass_sums` returns them, of the same rows."""
    if sums is None:
        return share
    factor = _factor(constraint, sums)
    return (share / (factor if share.ndim == 1 else factor[:, None])).astype(np.float32)


def _factor(constraint: records.Constraint, sums: Array) -> Array:
    """Return (rows,) f8 what stored stiffness is multiplied by to give a share."""
    factor = np.where(sums > 0, sums.astype(np.float64), 1)
    return factor / BENDING if isinstance(constraint, records.BendStiffness) else factor
