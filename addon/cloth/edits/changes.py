"""What differs between a cloth file and its edit, in words with numbers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ...codec.binary import Array
from ...codec.havok import cloth as records
from ...maths import axes
from .accepting import counted, differing
from .collidables import placed_collidables
from .edited import QUIET, sim_places
from .names import stiffness_words, title, words
from .values import SimValues, values_of

SETTINGS = (
    "gravity", "damping", "substeps", "iterations", "landscape", "landscape_radius", "landscape_tolerance",
)  # fmt: skip
FOLLOWING = frozenset({"mass", "mask", "max_distance", "max_normal", "min_normal"})
"""What follows where a particle is pinned or freed."""
PARTICLES = ("mass", "radius", "friction", "mask", "max_distance", "max_normal", "min_normal")

Hung = tuple[records.Collidable, int | str, Array | None]
"""A collidable, its bone and offset; -1 and None where no bone carries it."""


class Matched(NamedTuple):
    """What differs between two lists of collidables.

    Attributes:
        changed: what was and what is; ``added`` and ``removed`` have no counterpart.
    """

    changed: list[tuple[Hung, Hung]]
    added: list[Hung]
    removed: list[Hung]


@dataclass(frozen=True)
class Change:
    """One thing that differs.

    Attributes:
        sim: number of the simulated cloth; -1 for what belongs to none.
        what: the part of `SimValues` or of the records: "radius", "pinned", "stiffness", "rest pose", "collidables".
        text: in words, such as "12 particles: radius 0.02 -> 0.03".
    """

    sim: int
    what: str
    text: str


@np.errstate(**QUIET)
def changes(old: records.ClothFile, new: records.ClothFile) -> list[Change]:
    """Return what differs between two states of a file.

    Args:
        old: the source.
        new: an edit of it, with the same simulated cloths and particles.

    Returns:
        By simulated cloth, settings first; only what a user set, not what follows from it. Directions are in Blender's
        axes, as users see them.
    """
    found: list[Change] = []
    whole = _matched(_whole(old), _whole(new))
    for sim, (number, place) in enumerate(sim_places(old)):
        before, after = old.datas[number], new.datas[number]
        if before is after:
            continue
        found += [Change(sim, what, text) for what, text in _values(old, new, sim)]
        found += [Change(sim, what, text) for what, text in _records(before.sims[place], after.sims[place], whole)]
    loose = _matched(_loose(old), _loose(new))
    known = Matched(loose.changed, _among(loose.added, whole.added), _among(loose.removed, whole.removed))
    return found + [Change(-1, "collidables", text) for text in _collidables(known, whole)]


def _values(old: records.ClothFile, new: records.ClothFile, sim: int) -> Iterator[tuple[str, str]]:
    before, after = values_of(old, sim), values_of(new, sim)
    for name in SETTINGS:
        left, right = getattr(before, name), getattr(after, name)
        if not records.same(left, right):
            if name == "gravity":
                left, right = axes.swap_vectors(left), axes.swap_vectors(right)
            yield name, f"{words(name)} {_number(left)} -> {_number(right)}"
    moved = before.pinned != after.pinned
    for state, word in ((True, "pinned"), (False, "freed")):
        count = np.count_nonzero(moved & (after.pinned == state))
        if count:
            yield "pinned", f"{_particles(count)} {word}"
    for name in PARTICLES:
        left, right = getattr(before, name), getattr(after, name)
        rows = differing(left, right) & ~(moved & (name in FOLLOWING))
        if name in {"max_normal", "min_normal"}:  # these go with the range
            rows &= after.max_distance >= 0
        if rows.any():
            shown = f"{np.count_nonzero(rows)} of {len(rows)} particles" if not rows.all() else "all particles"
            shown = _particles(np.count_nonzero(rows)) if np.count_nonzero(rows) == 1 else shown
            yield name, f"{shown}: {words(name)} {_span(left[rows])} -> {_span(right[rows])}"
    yield from _stiffness(old, new, sim, before, after)


def _stiffness(
    old: records.ClothFile, new: records.ClothFile, sim: int, before: SimValues, after: SimValues
) -> Iterator[tuple[str, str]]:
    number, place = sim_places(old)[sim]
    sets = old.datas[number].sims[place].constraints, new.datas[number].sims[place].constraints
    for first, second, one, other in zip(before.stiffness, after.stiffness, *sets, strict=True):
        left, right = first, second
        if left is None or right is None:
            continue
        if left.shape != right.shape:
            yield "links", f"{title(one)}: {len(left)} -> {len(right)} links"
            common = _common(one, other)
            left, right = left[common[0]], right[common[1]]
        # what is stored is rounded: less than that is no change
        rows = np.abs(left.astype(np.float64) - right) > 2e-6
        columns = [rows] if rows.ndim < 2 else list(rows.T)
        pairs = [(left, right)] if rows.ndim < 2 else list(zip(left.T, right.T, strict=True))
        for word, own, (was, now) in zip(stiffness_words(one), columns, pairs, strict=True):
            if own.any():
                count = np.count_nonzero(own)
                where = _particles(count) if isinstance(other, records.Volume) else counted(count, "link")
                text = f"{title(one)}: {word} {_span(was[own])} -> {_span(now[own])}"
                yield "stiffness", text + (f" in {where}" if own.ndim else "")


def _common(one: Any, other: Any) -> tuple[Array, Array]:
    """Return the rows of two states of a set that tie the same particles, (k,) each."""
    keys = [_keys(own) for own in (one, other)]
    places = {key: row for row, key in enumerate(keys[1])}
    pairs = [(row, places[key]) for row, key in enumerate(keys[0]) if key in places]
    rows = np.array(pairs, np.intp).reshape(-1, 2)
    return rows[:, 0], rows[:, 1]


def _keys(one: Any) -> list[tuple[int, ...]]:
    columns = one.indices if isinstance(one, records.BendStiffness) else np.stack([one.a, one.b])
    return [tuple(row) for row in columns.T.tolist()]


def _records(old: records.SimCloth, new: records.SimCloth, whole: Matched) -> Iterator[tuple[str, str]]:
    """Yield what differs beside the values: the rest pose and the collidables, ``whole`` those of the whole file."""
    gap = np.linalg.norm(new.poses[0].astype(np.float64) - old.poses[0], axis=1)
    if gap.any():
        yield "rest pose", f"{_particles(np.count_nonzero(gap))} moved by up to {_number(gap.max())} m"
    yield from (("collidables", text) for text in _collidables(_matched(_hung(old), _hung(new)), whole))


def _whole(file: records.ClothFile) -> list[Hung]:
    """Return the collidables of a file, each once."""
    return [(one.record, one.bone, one.offset) for one in placed_collidables(file)]


def _loose(file: records.ClothFile) -> list[Hung]:
    return [(one, -1, None) for one in file.collidables]


def _hung(sim: records.SimCloth) -> list[Hung]:
    own = sim.collidable_map
    if own.transform_set < 0:
        return [(one, -1, None) for one in sim.collidables]
    return list(zip(sim.collidables, own.bones.tolist(), own.offsets, strict=True))


def _collidables(own: Matched, whole: Matched) -> Iterator[str]:
    """Yield what became of the collidables of a cloth; what it no longer meets may still be in the file."""
    for old, new in own.changed:
        yield f"collidable {new[0].name}: {', '.join(_moves(old, new))}"
    for one in own.added:
        yield f"collidable {one[0].name}: {'added' if _among([one], whole.added) else 'met by this cloth'}"
    for one in own.removed:
        gone = _among([one], whole.removed)
        yield f"collidable {one[0].name}: {'removed' if gone else 'not met by this cloth any more'}"


def _among(some: list[Hung], others: list[Hung]) -> list[Hung]:
    """Return those of some collidables that are among others, wherever they hang."""
    return [one for one in some if any(not _differ(one[0], other[0]) for other in others)]


def _matched(old: list[Hung], new: list[Hung]) -> Matched:
    """Match two lists of collidables: by what they are, then by name, then by shape and place."""
    left, fresh = list(old), []
    for one in new:
        same = next((place for place, own in enumerate(left) if not _differ(own, one)), -1)
        if same >= 0:
            del left[same]
        else:
            fresh.append(one)
    pairs: dict[int, Hung] = {}
    for alike in (_namesakes, _in_one_place):
        for row, one in enumerate(fresh):
            known = next((place for place, own in enumerate(left) if alike(own, one)), -1)
            if row not in pairs and known >= 0:
                pairs[row] = left.pop(known)
    changed = [(pairs[row], one) for row, one in enumerate(fresh) if row in pairs]
    return Matched(changed, [one for row, one in enumerate(fresh) if row not in pairs], left)


def _namesakes(old: Hung, new: Hung) -> bool:
    return old[0].name == new[0].name


def _in_one_place(old: Hung, new: Hung) -> bool:
    return old[1] == new[1] and not (_differ(old[2], new[2]) or _differ(old[0].shape, new[0].shape))


def _moves(old: Hung, new: Hung) -> list[str]:
    """Return what became of a collidable."""
    shapes = old[0].shape, new[0].shape
    told = [] if _namesakes(old, new) else [f"renamed, was {old[0].name}"]
    if _differ(*shapes):
        told.append("resized" if type(shapes[0]) is type(shapes[1]) else f"now a {type(shapes[1]).__name__}")
    if old[1] != new[1]:
        told.append("on another bone")
    elif _differ(old[2], new[2]):
        told.append("moved")
    return told or ["other settings"]


def _differ(old: object, new: object) -> bool:
    return next(records.differences(old, new), None) is not None


def _particles(count: int | np.intp) -> str:
    return counted(count, "particle")


def _span(values: Array) -> str:
    """Return a value, or the smallest and largest."""
    low, high = _number(values.min()), _number(values.max())
    return low if low == high else f"{low} to {high}"


def _number(value: Any) -> str:
    if isinstance(value, bool | np.bool_):
        return "on" if value else "off"
    if isinstance(value, np.ndarray):
        return f"({', '.join(_number(one) for one in value)})"
    if isinstance(value, np.unsignedinteger):
        return f"{int(value):#x}"
    if abs(float(value)) > 1e38:
        return "unlimited"
    return f"{float(value):.4g}"
