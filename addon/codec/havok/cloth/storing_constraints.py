"""Constraint sets -> their objects in a tagfile, in place: the reverse of `constraints`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import Any

import numpy as np

from ...binary import Array
from ..objects import View
from .comparing import same
from .constraints import LINKS, BendStiffness, Constraint, LocalRange, Transition, Volume

LANES = 16
Column = tuple[str, Array, Array]
"""A member of the rows of an array, what it holds, and what it shall hold."""


def put(view: View, name: str, old: Any, new: Any) -> None:
    """Write a member of numbers where it differs; an array member may change its length."""
    if not same(old, new):
        view[name] = new


def put_columns(owner: View, name: str, columns: list[Column]) -> None:
    """Write the rows of an array member, only what differs; where their number differs, all of them anew.

    Raises:
        FormatError: the number of rows differs, and the class has members that nobody knows.
    """
    stored = owner.many(name)
    count = len(columns[0][2])
    if count == len(stored):
        for member, old, new in columns:
            if not same(old, new):
                stored.values[member] = new
        return
    dtype = owner.tag.layouts[owner.layout.members[name].layout.target].dtype
    unknown = {*(dtype.names or ())} - {member for member, _, _ in columns}
    if unknown:
        owner.fail(f"rows cannot be added or removed: nothing tells their {', '.join(sorted(unknown))}", name)
    rows = np.zeros(count, dtype)
    for member, _, new in columns:
        rows[member] = new
    owner[name] = rows


def store_constraint(view: View, old: Constraint, new: Constraint) -> None:
    """Write a constraint set into the object it was read from.

    Args:
        view: the object.
        old: what `constraints.read_constraint` makes of it.
        new: of the same class; the rows of links, bend stiffness and local range may be more or fewer.

    Raises:
        FormatError: another class, or a number of rows that cannot change.
    """
    if type(old) is not type(new):
        view.fail(f"a set of class {type(new).__name__} cannot take the place of {type(old).__name__}")
    if old.name != new.name:
        view["name"] = new.name
    WRITERS[view.layout.name](view, old, new)


def _links(view: View, old: Any, new: Any) -> None:
    names = [one.name for one in fields(new)][1:]
    members = ("particleA", "particleB", *LINKS[view.layout.name][1])
    columns = [(member, getattr(old, name), getattr(new, name)) for name, member in zip(names, members, strict=True)]
    put_columns(view, "links", columns)


def _bend_stiffness(view: View, old: BendStiffness, new: BendStiffness) -> None:
    columns = [(f"particle{corner}", old.indices[row], new.indices[row]) for row, corner in enumerate("ABCD")]
    columns += [(f"weight{corner}", old.weights[row], new.weights[row]) for row, corner in enumerate("ABCD")]
    columns.append(("bendStiffness", old.stiffness, new.stiffness))
    columns.append(("restCurvature", old.curvature, new.curvature))
    put_columns(view, "links", columns)
    put(view, "maxRestPoseHeightSq", old.max_height_squared, new.max_height_squared)
    put(view, "clampBendStiffness", old.clamp, new.clamp)
    put(view, "useRestPoseConfig", old.use_rest, new.use_rest)


def _local_range(view: View, old: LocalRange, new: LocalRange) -> None:
    columns = [
        ("particleIndex", old.particle, new.particle),
        ("referenceVertex", old.vertex, new.vertex),
        ("maximumDistance", old.max_distance, new.max_distance),
        ("maxNormalDistance", old.max_normal, new.max_normal),
        ("minNormalDistance", old.min_normal, new.min_normal),
    ]
    put_columns(view, "localConstraints", columns)
    put(view, "referenceMeshBufferIdx", old.buffer, new.buffer)
    put(view, "stiffness", old.stiffness, new.stiffness)
    put(view, "shapeType", old.shape, new.shape)
    put(view, "applyNormalComponent", old.use_normals, new.use_normals)


def _transition(view: View, old: Transition, new: Transition) -> None:
    columns = [
        ("particleIndex", old.particle, new.particle),
        ("referenceVertex", old.vertex, new.vertex),
        ("toAnimDelay", old.to_anim_delay, new.to_anim_delay),
        ("toSimDelay", old.to_sim_delay, new.to_sim_delay),
        ("toSimMaxDistance", old.to_sim_max_distance, new.to_sim_max_distance),
    ]
    put_columns(view, "perParticleData", columns)
    put(view, "referenceMeshBufferIdx", old.buffer, new.buffer)
    put(view, "toAnimPeriod", old.to_anim_period, new.to_anim_period)
    put(view, "toSimPeriod", old.to_sim_period, new.to_sim_period)
    put(view, "toAnimPlusDelayPeriod", old.to_anim_plus_delay, new.to_anim_plus_delay)
    put(view, "toSimPlusDelayPeriod", old.to_sim_plus_delay, new.to_sim_plus_delay)


def _volume(view: View, old: Volume, new: Volume) -> None:
    """Write both lists, batches first; which particle stands in which batch is fixed, so is their number."""
    for kind, factor in (("frame", "weight"), ("apply", "stiffness")):
        for member, attribute in (("particleIndex", "particle"), ("frameVector", "vector"), (factor, factor)):
            before, after = getattr(old, f"{kind}_{attribute}"), getattr(new, f"{kind}_{attribute}")
            if before.shape != after.shape:
                view.fail(f"{len(after)} entries of a volume that has {len(before)}", f"{kind}BatchDatas")
            if same(before, after):
                continue
            batches, singles = view.many(f"{kind}BatchDatas").values, view.many(f"{kind}SingleDatas").values
            batched, rest = np.split(after, [LANES * len(batches)])
            shape = after.shape[1:]
            lanes = (..., slice(0, 3)) if shape else ...
            batches[member][lanes] = batched.reshape(len(batches), LANES, *shape)
            singles[member][lanes] = rest


WRITERS: dict[str, Callable[[View, Any, Any], None]] = {
    **dict.fromkeys(LINKS, _links),
    "hclBendStiffnessConstraintSet": _bend_stiffness,
    "hclLocalRangeConstraintSet": _local_range,
    "hclTransitionConstraintSet": _transition,
    "hclVolumeConstraintMx": _volume,
}
