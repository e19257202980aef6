"""Rules of a simulated cloth's particles and constraint sets, see `identities`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields
from typing import Any

import numpy as np

from ...codec.binary import Array
from ...codec.havok import cloth as records
from .accepting import listed
from .formulas import HEIGHT_FACTOR, bends, lengths, volume_center
from .pins import movers
from .terms import shares

Broken = tuple[str, str, str]
"""The rule, the set or operator, and what is wrong."""
ROUNDING = 8e-7
"""Metres a metre: what rest lengths of real files differ by from the distances."""
HEIGHT_ROUNDING = 4e-7
WEIGHT_ROUNDING = 2e-7
VECTOR_ROUNDING = 2e-6
SHARE_ROUNDING = 2e-6
FACTOR_ROUNDING = 1e-4


def set_rules(data: records.ClothData, place: int) -> Iterator[Broken]:
    """Yield the rules that a simulated cloth breaks.

    Args:
        data: its cloth data.
        place: its place there.
    """
    sim = data.sims[place]
    yield from _particles(sim)
    yield from _pins(data, place)
    for number, one in enumerate(sim.constraints):
        name = one.name or f"constraint set {number}"
        wild = [column.name for column in fields(one) if not _finite(getattr(one, column.name))]
        if wild:
            yield "number", name, f"{', '.join(wild)} is no number"
            continue
        rules = RULES.get(type(one))
        if rules is not None:
            yield from ((rule, name, text) for rule, text in rules(sim, one))


def _finite(values: Any) -> bool:
    values = np.asarray(values)
    return values.dtype.kind != "f" or bool(np.isfinite(values).all())


def _rows(wrong: Array, text: str, word: str = "row") -> Iterator[str]:
    if wrong.any():
        yield f"{listed(np.flatnonzero(wrong), word)}: {text}"


def _particles(sim: records.SimCloth) -> Iterator[Broken]:
    free = sim.mass > 0
    with np.errstate(divide="ignore", over="ignore"):
        inverse = np.where(free, np.float32(1) / sim.mass, np.float32(0))
    checks = (
        ("inverse mass", sim.inverse_mass != inverse, "the inverse mass is not that of the mass"),
        ("mass", ~(sim.mass >= 0) | ~np.isfinite(sim.mass), "the mass is negative or no number"),
        ("radius", ~(sim.radius >= 0) | ~np.isfinite(sim.radius), "the radius is negative or no number"),
        ("friction", ~(sim.friction >= 0) | ~np.isfinite(sim.friction), "the friction is negative or no number"),
        ("rest pose", ~np.isfinite(sim.poses[0]).all(1), "the rest pose is no number"),
    )
    for rule, wrong, text in checks:
        yield from ((rule, "", found) for found in _rows(wrong, text, "particle"))
    if not np.isfinite(sim.gravity).all() or not sim.damping >= 0:
        yield "settings", "", "gravity or damping is no number, or damping is negative"
    if not np.array_equal(sim.fixed, np.flatnonzero(~free)):
        yield "pinned", "", "the pinned particles are not those without a mass, in order"
    if len(sim) and sim.total_mass != np.add.accumulate(sim.mass, dtype=np.float32)[-1]:
        yield "total mass", "", "the total mass is not the sum of the masses"
    if len(sim) and sim.max_radius != sim.radius.max():
        yield "largest radius", "", "the largest radius is not that of any particle"


def _pins(data: records.ClothData, place: int) -> Iterator[Broken]:
    """Yield what is wrong with the operators that carry pinned particles."""
    sim = data.sims[place]
    carried: Array = np.zeros(0, np.uint16)
    found = movers(data, place)
    for _, operator in found:
        carried = np.concatenate([carried, operator.particles])
        tied = [one for one in sim.constraints if isinstance(one, records.LocalRange | records.Transition)]
        for one in tied:
            if one.buffer != operator.buffer:
                continue
            vertices = np.full(len(sim), -1, np.int64)
            vertices[one.particle] = one.vertex
            known = vertices[operator.particles]
            wrong = (known >= 0) & (known != operator.vertices)
            text = f"it is carried by another vertex than in {one.name}"
            yield from (("vertex", operator.name, t) for t in _rows(wrong, text, "pair"))
    if found and not np.array_equal(np.unique(carried), np.unique(sim.fixed)):
        yield "carried", found[0][1].name, "the particles it carries are not those pinned"


def _extent(sim: records.SimCloth) -> float:
    """Return the largest coordinate of the rest pose, but at least 1: rounding grows with it."""
    return max(1.0, float(np.abs(sim.poses[0]).max(initial=0)))


def _shares(sim: records.SimCloth, one: records.Constraint) -> Iterator[tuple[str, str]]:
    share = shares(one, sim.inverse_mass)
    if share is None:
        return
    wrong = np.atleast_1d((share < 0) | (share > 1 + SHARE_ROUNDING))
    text = "the stiffness times the inverse masses is not within 0 and 1"
    yield from (("stiffness", found) for found in _rows(wrong if wrong.ndim < 2 else wrong.any(1), text))


def _ties(sim: records.SimCloth, particles: Array) -> Iterator[tuple[str, str]]:
    """Yield links, (c, rows) particles, that tie nothing free or a particle to itself."""
    idle = ~(sim.inverse_mass[particles] > 0).any(0)
    order = np.sort(particles, axis=0)
    twice = (order[1:] == order[:-1]).any(0)
    yield from (("free end", text) for text in _rows(idle, "all its particles are pinned"))
    yield from (("two ends", text) for text in _rows(twice, "a particle is tied to itself"))


def _standard(sim: records.SimCloth, one: records.StandardLinks) -> Iterator[tuple[str, str]]:
    yield from _ties(sim, np.stack([one.a, one.b]))
    yield from _shares(sim, one)
    yield from _lengths(sim, one, one.rest, "the rest length is not the distance in the rest pose")


def _lengths(sim: records.SimCloth, one: records.Links, stored: Array, text: str) -> Iterator[tuple[str, str]]:
    gap = np.abs(stored - lengths(sim.poses[0], one.a, one.b))
    yield from (("rest length", found) for found in _rows(gap > ROUNDING * _extent(sim), text))


def _bend_links(sim: records.SimCloth, one: records.BendLinks) -> Iterator[tuple[str, str]]:
    yield from _ties(sim, np.stack([one.a, one.b]))
    yield from _shares(sim, one)
    for stored in (one.bend_min, one.stretch_max):
        yield from _lengths(sim, one, stored, "the length is not the distance in the rest pose")


def _stretch(sim: records.SimCloth, one: records.StretchLinks) -> Iterator[tuple[str, str]]:
    yield from _shares(sim, one)
    counts = np.bincount(one.b, minlength=len(sim))[one.b]
    # the rest length is the distance, or more by a factor
    short = one.rest - lengths(sim.poses[0], one.a, one.b) < -2 * ROUNDING * _extent(sim)
    for rule, wrong, text in (
        ("pinned end", sim.inverse_mass[one.a] > 0, "the end that holds is not pinned"),
        ("free end", ~(sim.inverse_mass[one.b] > 0), "the end that is held is pinned"),
        ("one link", counts > 1, "a particle is held twice"),
        ("rest length", short, "the rest length is below the distance in the rest pose"),
    ):
        yield from ((rule, found) for found in _rows(wrong, text))


def _compressible(sim: records.SimCloth, one: records.CompressibleLinks) -> Iterator[tuple[str, str]]:
    yield from _ties(sim, np.stack([one.a, one.b]))
    yield from _shares(sim, one)
    distance, slack = lengths(sim.poses[0], one.a, one.b), 2 * ROUNDING * _extent(sim)
    wrong = (one.compression - distance > slack) | (distance - one.rest > slack)
    yield from (("rest length", t) for t in _rows(wrong, "the distance in the rest pose is outside of both lengths"))


def _bend_stiffness(sim: records.SimCloth, one: records.BendStiffness) -> Iterator[tuple[str, str]]:
    yield from _ties(sim, one.indices)
    yield from _shares(sim, one)
    pose = sim.poses[0]
    bend = bends(pose, one.indices, one.weights)
    off = ~(np.abs(one.weights - bend.weights) <= WEIGHT_ROUNDING).all(0)
    yield from (("weights", text) for text in _rows(off, "the weights are not those of the rest pose"))
    if one.clamp != one.use_rest:
        yield "settings", "links are skipped although the rest pose is not used, or the other way"
    if not one.use_rest:
        if one.curvature.any() or one.max_height_squared:
            yield "curvature", "there are curvatures although the rest pose is not used"
        return
    heights = one.curvature.astype(np.float64) * bend.products
    off = ~(np.abs(heights + bend.heights) <= HEIGHT_ROUNDING * max(1.0, _extent(sim) / 4))
    yield from (("curvature", text) for text in _rows(off, "the curvature is not that of the rest pose"))
    limit = HEIGHT_FACTOR * np.square(heights).max(initial=0)
    if not abs(one.max_height_squared - limit) <= FACTOR_ROUNDING * limit:
        yield "height limit", "the limit is not that of the largest rest height"


def _volume(sim: records.SimCloth, one: records.Volume) -> Iterator[tuple[str, str]]:
    pose = sim.poses[0].astype(np.float64)
    yield from _shares(sim, one)
    if abs(one.frame_weight.astype(np.float64).sum() - 1) > 1e-6:
        yield "weights", "the weights do not add up to 1"
    center = volume_center(one, pose)
    for particles, vectors in (
        (one.frame_particle, one.frame_vector),
        (one.apply_particle, one.apply_vector),
    ):
        gap = np.abs(pose[particles] - vectors - center).max(1)
        yield from (
            ("rest vector", text)
            for text in _rows(
                gap > VECTOR_ROUNDING * _extent(sim), "the vector does not lead to the rest pose", "entry"
            )
        )
    pulled = ~(sim.inverse_mass[one.apply_particle] > 0) & (one.apply_stiffness > 0)
    yield from (("free end", text) for text in _rows(pulled, "a pinned particle is pulled", "entry"))


def _local_range(sim: records.SimCloth, one: records.LocalRange) -> Iterator[tuple[str, str]]:
    counts = np.bincount(one.particle, minlength=len(sim))[one.particle]
    for rule, wrong, text in (
        ("free end", ~(sim.inverse_mass[one.particle] > 0), "a pinned particle has a local range"),
        ("one range", counts > 1, "a particle has two"),
        ("range", ~(one.max_distance >= 0), "the distance is negative"),
    ):
        yield from ((rule, found) for found in _rows(wrong, text))
    if not 0 <= one.stiffness <= 1:
        yield "stiffness", "it is not within 0 and 1"


def _transition(sim: records.SimCloth, one: records.Transition) -> Iterator[tuple[str, str]]:
    if not np.array_equal(np.sort(one.particle), np.arange(len(sim))):
        yield "every particle", "not every particle stands in it once"


RULES: dict[type, Callable[[records.SimCloth, Any], Iterator[tuple[str, str]]]] = {
    records.StandardLinks: _standard,
    records.StretchLinks: _stretch,
    records.BendLinks: _bend_links,
    records.CompressibleLinks: _compressible,
    records.BendStiffness: _bend_stiffness,
    records.Volume: _volume,
    records.LocalRange: _local_range,
    records.Transition: _transition,
}
