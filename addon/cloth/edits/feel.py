"""The feel of a cloth - stiffness, damping, masses - brought to another by relative position.

Where a particle is in its cloth is told by four numbers: its place in the rest pose's bounds, from 0 to 1 along each
axis, and its distance from the nearest pinned particle over the largest such. A link is where the middle of its
particles is. A value comes from the nearest place of the cloth it is taken from, set by set of the same class.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...codec import FormatError
from ...codec.binary import Array
from ...codec.havok import cloth as records
from .edited import QUIET, Edited, sim_title, sims_of
from .formulas import nearest
from .names import title
from .setting import with_values
from .terms import shares
from .values import values_of

VERSION = 1
THIN = 0.05
"""An axis along which a cloth is thinner than this share of its largest is measured as if it had that share."""
SAME = 2e-6
"""Stiffness is rounded as it is stored: shares that differ by less are the same."""


@dataclass(frozen=True, eq=False)
class Field:
    """Values over a cloth.

    Attributes:
        values: (n,) or (n, 2) f4; one row where it is the same everywhere.
        places: (n, 4) f4 where they are; (0, 4) where it is the same everywhere.
    """

    values: Array
    places: Array

    @classmethod
    def of(cls, values: Array, places: Array, slack: float = 0) -> Field:
        """Return a field; values that differ by no more than ``slack`` are one."""
        if len(values) and (np.ptp(values.astype(np.float64), axis=0) <= slack).all():
            return cls(values[:1].copy(), np.zeros((0, 4), np.float32))
        return cls(values.copy(), places.astype(np.float32))

    def at(self, places: Array) -> Array:
        """Return the values at other places, (m,) or (m, 2) f4."""
        if not len(self.places):
            return np.repeat(self.values[:1], len(places), axis=0)
        return self.values[nearest(places, self.places)]


@dataclass(frozen=True, eq=False)
class Feel:
    """The feel of a simulated cloth.

    Attributes:
        damping: fraction of the velocity lost in a second.
        mass: (n,) kg of the free particles.
        stiffness: of each constraint set that has one, its class and its shares, see `terms.shares`.
    """

    damping: np.float32
    mass: Field
    stiffness: tuple[tuple[str, Field], ...]

    def to_json(self) -> str:
        """Return it as text."""
        sets = [{"class": kind, **_field_data(field)} for kind, field in self.stiffness]
        data = {"version": VERSION, "damping": _plain(self.damping), "mass": _field_data(self.mass), "sets": sets}
        return json.dumps(data, separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str) -> Feel:
        """Return what `to_json` wrote.

        Raises:
            FormatError: anything else.
        """
        try:
            data = json.loads(text)
            if data["version"] != VERSION:
                raise FormatError(f"a feel of version {data['version']!r}, {VERSION} is known")
            sets = tuple((str(one["class"]), _field_from(one)) for one in data["sets"])
            damping = np.float32(float(data["damping"]))
            mass = _field_from(data["mass"])
        except (ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError, OverflowError) as error:
            raise FormatError("not the feel of a cloth") from error
        if mass.values.ndim != 1 or not np.isfinite(damping):
            raise FormatError("not the feel of a cloth: masses or damping are no numbers")
        return cls(damping, mass, sets)


@np.errstate(**QUIET)
def feel_of(file: records.ClothFile, sim: int) -> Feel:
    """Return the feel of a simulated cloth.

    Args:
        file: with the cloth.
        sim: its number.
    """
    record = sims_of(file)[sim]
    places = relative_places(record)
    free = np.flatnonzero(record.mass > 0)
    sets = []
    for one in record.constraints:
        values = shares(one, record.inverse_mass)
        if values is not None:
            field = Field.of(np.atleast_1d(values), _set_places(one, places), SAME)
            sets.append((type(one).__name__, field))
    return Feel(record.damping, Field.of(record.mass[free], places[free]), tuple(sets))


@np.errstate(**QUIET)
def with_feel(file: records.ClothFile, sim: int, feel: Feel) -> Edited:
    """Return the file in which a simulated cloth has the feel of another.

    Args:
        file: to start from.
        sim: number of the cloth.
        feel: of the other; classes of sets that it lacks keep their stiffness, which a note tells.
    """
    record, old = sims_of(file)[sim], values_of(file, sim)
    places = relative_places(record)
    notes: list[str] = []
    mass = old.mass.copy()
    free = np.flatnonzero(record.mass > 0)
    if len(feel.mass.values):
        mass[free] = feel.mass.at(places[free])
    stiffness: list[Array | None] = []
    met: dict[str, int] = {}
    for one, own in zip(record.constraints, old.stiffness, strict=True):
        kind = type(one).__name__
        place = met[kind] = met.get(kind, -1) + 1
        if own is None or not own.size:
            stiffness.append(own)
            continue
        columns = max(own.ndim, 1)
        fields = [field for name, field in feel.stiffness if name == kind]
        known = [field for field in fields if len(field.values) and field.values.ndim == columns]
        if not known:
            notes.append(f"{sim_title(file, sim)}: the stiffness of {title(one)} stays, the feel has none.")
            stiffness.append(own)
            continue
        made = known[min(place, len(known) - 1)].at(_set_places(one, places)).reshape(own.shape)
        stiffness.append(np.where(np.abs(made.astype(np.float64) - own) <= SAME, own, made))
    edited = with_values(file, {sim: replace(old, damping=feel.damping, mass=mass, stiffness=tuple(stiffness))})
    return Edited(edited.file, notes + edited.notes, edited.refusals)


def relative_places(record: records.SimCloth) -> Array:
    """Return where each particle is in its cloth, (n, 4) f8."""
    rest = record.poses[0].astype(np.float64)
    low, high = rest.min(0), rest.max(0)
    size = np.maximum(high - low, max(THIN * (high - low).max(), 1e-9))
    places = np.zeros((len(rest), 4))
    places[:, :3] = (rest - (low + high) / 2) / size + 0.5
    if len(record.fixed):
        pins = rest[record.fixed]
        gaps = np.linalg.norm(rest - pins[nearest(rest, pins)], axis=1)
        places[:, 3] = gaps / max(gaps.max(), 1e-9)
    return places


def _set_places(one: Any, places: Array) -> Array:
    """Return where the rows of a set are, (rows, 4) f8; one row for a set with one stiffness."""
    if isinstance(one, records.Links):
        return (places[one.a] + places[one.b]) / 2
    if isinstance(one, records.BendStiffness):
        return places[one.indices].mean(0)
    if isinstance(one, records.Volume):
        return places[one.apply_particle]
    return np.full((1, 4), 0.5)


def _plain(values: Any) -> Any:
    """Return float32 values as Python numbers with no more digits than they need."""
    return np.asarray(values, np.float32).astype(str).astype(np.float64).tolist()


def _field_data(field: Field) -> dict[str, Any]:
    return {"values": _plain(field.values), "places": _plain(field.places)}


def _field_from(data: Any) -> Field:
    with np.errstate(over="ignore"):
        values = np.array(data["values"], np.float32)
        places = np.array(data["places"], np.float32).reshape(-1, 4)
    if values.ndim not in {1, 2} or values.shape[1:] not in {(), (2,)} or len(places) not in {0, len(values)}:
        raise FormatError("not the feel of a cloth: values and places do not fit together")
    if not (np.isfinite(values).all() and np.isfinite(places).all()):
        raise FormatError("not the feel of a cloth: values that are no numbers")
    return Field(values, places)
