"""Which of the wanted values of a cloth can be: what cannot is refused with the reason and keeps the file's value."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ...codec.binary import Array
from ...codec.havok import cloth as records
from .names import title, words

if TYPE_CHECKING:
    from .values import SimValues

SHOWN = 5
Limits = tuple[float, float, str]
FAR = float(np.finfo(np.float32).max)
# the smallest and largest value of each setting, and what a user is told
NUMBERS: dict[str, Limits] = {
    "damping": (0, FAR, "0 or more"),
    "substeps": (1, 255, "1 to 255"),
    "iterations": (1, 255, "1 to 255"),
    "landscape_radius": (0, FAR, "0 or more"),
    "landscape_tolerance": (0, FAR, "0 or more"),
}
ROWS: dict[str, Limits] = {
    "mass": (0, FAR, "0 or more"),
    "radius": (0, FAR, "0 or more"),
    "friction": (0, FAR, "0 or more"),
    "max_distance": (-1, FAR, "0 or more, or -1 for no limit"),
    "max_normal": (-FAR, FAR, "a number"),
    "min_normal": (-FAR, FAR, "a number"),
}
SHARE: Limits = (0, 1 + 1e-6, "0 to 1")


@dataclass(frozen=True, eq=False)
class Subject:
    """The simulated cloth that an edit is about, before it, and what the edit has to say.

    Attributes:
        data, place: its cloth data, and its place there.
        title: how sentences name it.
        notes, refusals: the sentences so far, see `Edited`.
    """

    data: records.ClothData
    place: int
    title: str
    notes: list[str]
    refusals: list[str]

    @property
    def record(self) -> records.SimCloth:
        """The simulated cloth."""
        return self.data.sims[self.place]

    def note(self, text: str) -> None:
        """Add what was done besides."""
        self.notes.append(f"{self.title}: {text}.")

    def refuse(self, text: str) -> None:
        """Add what was not done and why."""
        self.refusals.append(f"{self.title}: {text}.")


def counted(count: int | np.intp, word: str) -> str:
    """Return a number of things in words: "1 link", "2 links"."""
    return f"{count} {word}{'' if count == 1 else 's'}"


def listed(rows: Iterable[Any], word: str = "particle") -> str:
    """Return rows in words: "particle 3", "particles 3, 4 and 12 more"."""
    found = [int(row) for row in rows]
    names = ", ".join(str(row) for row in found[:SHOWN])
    more = f" and {len(found) - SHOWN} more" if len(found) > SHOWN else ""
    return f"{word}{'s' if len(found) > 1 else ''} {names}{more}"


def accepted(old: SimValues, wanted: SimValues, subject: Subject) -> SimValues:
    """Return the wanted values in the file's shapes and kinds, the file's own in place of those that cannot be."""
    done: dict[str, Any] = {"landscape": bool(wanted.landscape)}
    for name, limits in NUMBERS.items():
        done[name] = _number(name, getattr(old, name), getattr(wanted, name), limits, subject)
    gravity = _shaped("gravity", old.gravity, wanted.gravity, subject)
    if not np.isfinite(gravity).all():
        subject.refuse("its gravity is not a number")
        gravity = old.gravity
    done["gravity"] = gravity
    for name, limits in ROWS.items():
        rows = _shaped(name, getattr(old, name), getattr(wanted, name), subject)
        wrong = _outside(getattr(old, name), rows, limits)
        if wrong.any():
            who, why = _why(wrong, rows, limits)
            subject.refuse(f"{who}: {words(name)} {why}")
        done[name] = np.where(wrong, getattr(old, name), rows)
    for name in ("mask", "pinned"):
        done[name] = _shaped(name, getattr(old, name), getattr(wanted, name), subject)
    done["stiffness"] = _stiffness(old.stiffness, wanted.stiffness, subject)
    return _ordered(old, replace(old, **done), subject)


def _number(name: str, old: Any, wanted: Any, limits: Limits, subject: Subject) -> Any:
    made = type(old)(wanted)
    if made == old or limits[0] <= made <= limits[1]:
        return made
    subject.refuse(f"its {words(name)} cannot be {wanted:g}, only {limits[2]}")
    return old


def _shaped(name: str, old: Array, wanted: Any, subject: Subject) -> Array:
    rows = np.asarray(wanted)
    if rows.shape != old.shape:
        subject.refuse(f"its {words(name)} has {rows.shape} values where {old.shape} are needed")
        return old
    return rows.astype(old.dtype)


def _outside(old: Array, wanted: Array, limits: Limits) -> Array:
    """Return which values changed to one outside of the limits or to no number, bool."""
    return differing(old, wanted) & ~((wanted >= limits[0]) & (wanted <= limits[1]))


def _why(wrong: Array, wanted: Array, limits: Limits, word: str = "particle") -> tuple[str, str]:
    """Return the rows that are wrong, and why, in words."""
    rows = np.flatnonzero(wrong if wrong.ndim < 2 else wrong.any(1))
    return listed(rows, word), f"cannot be {wanted[wrong].reshape(-1)[0]:g}, only {limits[2]}"


def _stiffness(
    old: tuple[Array | None, ...], wanted: tuple[Array | None, ...], subject: Subject
) -> tuple[Array | None, ...]:
    if len(old) != len(wanted):
        subject.refuse(f"there are stiffnesses for {len(wanted)} constraint sets, the cloth has {len(old)}")
        return old
    done: list[Array | None] = []
    for one, before, after in zip(subject.record.constraints, old, wanted, strict=True):
        if before is None or after is None:
            done.append(before)
            continue
        name = f"stiffness of {title(one)}"
        rows = _shaped(name, before, after, subject)
        wrong = _outside(before, rows, SHARE)
        if wrong.any():
            who, why = _why(wrong, rows, SHARE, "row" if isinstance(one, records.Volume) else "link")
            subject.refuse(f"{name}{f', {who}' if wrong.ndim else ''}: it {why}")
        done.append(np.where(wrong, before, rows).astype(before.dtype))
    return tuple(done)


def _ordered(old: SimValues, new: SimValues, subject: Subject) -> SimValues:
    """Refuse limits along the normal that leave no room between them."""
    changed = differing(old.max_normal, new.max_normal) | differing(old.min_normal, new.min_normal)
    wrong = changed & (new.min_normal > new.max_normal)
    # between -1 and 0 a distance means nothing
    half = differing(old.max_distance, new.max_distance) & (new.max_distance < 0) & (new.max_distance != -1)
    if wrong.any():
        subject.refuse(f"{listed(np.flatnonzero(wrong))}: {words('min_normal')} is more than {words('max_normal')}")
    limits = [np.where(wrong, *pair) for pair in ((old.max_normal, new.max_normal), (old.min_normal, new.min_normal))]
    if half.any():
        who = listed(np.flatnonzero(half))
        subject.refuse(f"{who}: {words('max_distance')} cannot be negative, but -1 for no limit")
    distance = np.where(half, old.max_distance, new.max_distance)
    return replace(new, max_normal=limits[0], min_normal=limits[1], max_distance=distance)


def differing(old: Array, new: Array) -> Array:
    """Return which values differ to the bit, bool of their shape; both f4, or both of another kind."""
    if old.dtype == np.float32:
        # not ascontiguousarray, which has no arrays of no dimensions
        return np.asarray(np.asarray(old, order="C").view(np.uint32) != np.asarray(new, order="C").view(np.uint32))
    return np.asarray(old != new)
