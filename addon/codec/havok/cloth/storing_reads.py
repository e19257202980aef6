"""Which bones a cloth's operators and states say they read, where its collidables hang from other bones.

The engine's scheduler is told what reads what. A simulation reads the bones of its collidables, a state what its
operators read (found on all real files).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from ..making import records, store_bits
from ..objects import View
from .comparing import same
from .data import ClothData
from .operators import Simulate

READ, READ_FIRST = 1, 8
"""Flags of the use of a transform set: bones are read, and read before they are written."""
COMPONENTS = 2
"""Transforms, and their inverse transposes, which nothing in the games' files uses."""


def store_reads(view: View, old: ClothData, new: ClothData) -> None:
    """Tell the scheduler of a cloth which bones its simulation reads, where its collidables' bones changed.

    A simulation reads the bones of its collidables and no others; a state reads what its operators read (both found on
    all real files). What else they say they read stays.

    Args:
        view: the object of the cloth data.
        old: what it held.
        new: what it shall hold.
    """
    operators = view.links("operators").views()
    before = [_Use.of(operator) for operator in operators]
    for operator, record in zip(operators, new.operators, strict=True):
        if isinstance(record, Simulate):
            own = [data.sims[record.sim].collidable_map for data in (old, new)]
            if not same(own[0].bones, own[1].bones) or own[0].transform_set != own[1].transform_set:
                _store_operator_reads(operator, old, new, record.sim)
    after = [_Use.of(operator) for operator in operators]
    if before == after:
        return
    for state, listed in zip(view.links("clothStateDatas").views(), new.states, strict=True):
        for number, transform_set in enumerate(new.transform_sets):
            order = listed.operators.tolist()
            was, now = (_joined(uses[operator].get(number) for operator in order) for uses in (before, after))
            if was != now:
                held = _Use.of(state).get(number, _Use())
                left = _Use(held.read - was.read, held.first - was.first, held.written)
                _store_use(state, number, transform_set.count, _Use(left.read | now.read, left.first | now.first,
                                                                    left.written))  # fmt: skip


def _store_operator_reads(operator: View, old: ClothData, new: ClothData, sim: int) -> None:
    """Take a simulation's old collidable bones out of what it reads, and put the new ones in."""
    own, other = (data.sims[sim].collidable_map for data in (old, new))
    for number, transform_set in enumerate(new.transform_sets):
        gone, come = (
            frozenset(bones.bones.tolist()) if bones.transform_set == number else frozenset() for bones in (own, other)
        )
        held = _Use.of(operator).get(number, _Use())
        use = _Use((held.read - gone) | come, (held.first - gone) | come, held.written)
        if use != held:
            _store_use(operator, number, transform_set.count, use)


@dataclass(frozen=True)
class _Use:
    """Bones of a transform set that are read, read before they are written, and written."""

    read: frozenset[int] = frozenset()
    first: frozenset[int] = frozenset()
    written: frozenset[int] = frozenset()

    @staticmethod
    def of(owner: View) -> dict[int, _Use]:
        """Return what an operator or state uses, by transform set; only the first component has bones."""
        found = {}
        for access in owner.many("usedTransformSets"):
            trackers = access.one("transformSetUsage").many("perComponentTransformTrackers")
            if len(trackers):
                sets = (trackers.at(0).one(name).bits() for name in ("read", "readBeforeWrite", "written"))
                number = int(access.numbers("transformSetIndex", "<u4"))
                found[number] = _Use(*(frozenset(np.flatnonzero(bits).tolist()) for bits in sets))
        return found


def _joined(uses: Iterable[_Use | None]) -> _Use:
    """Return what operators use together, one after another."""
    read: set[int] = set()
    first: set[int] = set()
    written: set[int] = set()
    for use in uses:
        if use is not None:
            first |= use.first - written
            read |= use.read
            written |= use.written
    return _Use(frozenset(read), frozenset(first), frozenset(written))


def _store_use(owner: View, number: int, count: int, use: _Use) -> None:
    """Write what an operator or state uses of a transform set of ``count`` bones, no entry where that is nothing."""
    stored = owner.many("usedTransformSets")
    numbers = stored.numbers("transformSetIndex", "<u4").tolist()
    if not use.read and not use.written:
        if number in numbers:
            owner["usedTransformSets"] = np.delete(stored.values, numbers.index(number))
        return
    if number not in numbers:
        rows = records(owner, "usedTransformSets", len(numbers) + 1)
        rows["transformSetIndex"][-1] = number
        owner["usedTransformSets"] = rows
        numbers.append(number)
    usage = owner.many("usedTransformSets").at(numbers.index(number)).one("transformSetUsage")
    flags = usage.values["perComponentFlags"]
    other = int(flags[0]) & ~(READ | READ_FIRST)
    flags[0] = other | READ * bool(use.read) | READ_FIRST * bool(use.first)
    if not len(usage.many("perComponentTransformTrackers")):
        usage["perComponentTransformTrackers"] = records(usage, "perComponentTransformTrackers", COMPONENTS)
        for tracker in usage.many("perComponentTransformTrackers"):
            _store_tracker(tracker, count, _Use())
    _store_tracker(usage.many("perComponentTransformTrackers").at(0), count, use)


def _store_tracker(tracker: View, count: int, use: _Use) -> None:
    for name, bones in (("read", use.read), ("readBeforeWrite", use.first), ("written", use.written)):
        bits = np.zeros(max(count, *(bone + 1 for bone in bones), 0), np.bool_)
        bits[sorted(bones)] = True
        store_bits(tracker.one(name), bits)
