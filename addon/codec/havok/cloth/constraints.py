"""Constraint sets: what ties the particles of a simulated cloth together.

Arrays have one row a link, in the order in which the games solve them. Particle indices are u2, lengths metres. The
stored stiffness of standard, bend and compressible links is already divided by the sum of both inverse masses (found
on real files).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from ...binary import Array
from ..objects import View
from .values import flag, number, real


class RangeShape(IntEnum):
    """What a local range keeps its particles in."""

    SPHERE = 0
    CYLINDER = 1


@dataclass(frozen=True, eq=False)
class Constraint:
    """A set of constraints; ``name`` as stored."""

    name: str

    @property
    def particles(self) -> Array:
        """Every particle index of the set, (n,)."""
        return np.zeros(0, np.uint16)


@dataclass(frozen=True, eq=False)
class Links(Constraint):
    """Links between two particles, (n,) u2 each."""

    a: Array
    b: Array

    @property
    def particles(self) -> Array:
        """Every particle index of the set."""
        return np.concatenate([self.a, self.b])


@dataclass(frozen=True, eq=False)
class StandardLinks(Links):
    """Hold two particles at a distance; ``rest`` and ``stiffness`` (n,) f4."""

    rest: Array
    stiffness: Array


@dataclass(frozen=True, eq=False)
class StretchLinks(StandardLinks):
    """Keep particle b within ``rest`` of particle a, which is a fixed one; the stiffness is as authored."""


@dataclass(frozen=True, eq=False)
class BendLinks(Links):
    """Push below ``bend_min`` and pull above ``stretch_max``, (n,) f4, each with its stiffness."""

    bend_min: Array
    stretch_max: Array
    bend_stiffness: Array
    stretch_stiffness: Array


@dataclass(frozen=True, eq=False)
class CompressibleLinks(Links):
    """Push below ``compression``, pull above ``rest``, (n,) f4."""

    rest: Array
    compression: Array
    stiffness: Array


@dataclass(frozen=True, eq=False)
class BendStiffness(Constraint):
    """Bend resistance of two triangles; a and b are the wings, c and d the shared edge.

    Attributes:
        indices: (4, n) u2 particles a to d.
        weights: (4, n) f4.
        stiffness: (n,) f4, negative.
        curvature: (n,) f4, the rest pose's; zero where ``use_rest`` is False.
        max_height_squared: above it a link is skipped, where ``clamp`` is True.
        clamp, use_rest: settings of the set.
    """

    indices: Array
    weights: Array
    stiffness: Array
    curvature: Array
    max_height_squared: np.float32
    clamp: bool
    use_rest: bool

    @property
    def particles(self) -> Array:
        """Every particle index of the set."""
        return self.indices.reshape(-1)


@dataclass(frozen=True, eq=False)
class LocalRange(Constraint):
    """Keep particles near their vertex of a reference buffer.

    Attributes:
        particle, vertex: (n,) u2.
        max_distance, max_normal, min_normal: (n,) f4; those along the normal are about 3.4e38 where unused.
        buffer: index of the reference buffer.
        stiffness: of the pull to the distance.
        shape: as stored; the games' kernels skip values they do not know.
        use_normals: the limits along the normal act.
    """

    particle: Array
    vertex: Array
    max_distance: Array
    max_normal: Array
    min_normal: Array
    buffer: int
    stiffness: np.float32
    shape: int
    use_normals: bool

    @property
    def particles(self) -> Array:
        """Every particle index of the set."""
        return self.particle


@dataclass(frozen=True, eq=False)
class Transition(Constraint):
    """Blend between simulation and animation; it acts only while a game blends.

    Attributes:
        particle, vertex: (n,) u2.
        to_anim_delay, to_sim_delay, to_sim_max_distance: (n,) f4, seconds and metres.
        buffer: index of the reference buffer.
        to_anim_period, to_sim_period: seconds.
        to_anim_plus_delay, to_sim_plus_delay: seconds, the longest delay included.
    """

    particle: Array
    vertex: Array
    to_anim_delay: Array
    to_sim_delay: Array
    to_sim_max_distance: Array
    buffer: int
    to_anim_period: np.float32
    to_sim_period: np.float32
    to_anim_plus_delay: np.float32
    to_sim_plus_delay: np.float32

    @property
    def particles(self) -> Array:
        """Every particle index of the set."""
        return self.particle


@dataclass(frozen=True, eq=False)
class Volume(Constraint):
    """Shape matching: the best rotation of a rest shape pulls particles; batches first, then singles.

    Attributes:
        frame_particle: (n,) u2, whose particles tell the rotation.
        frame_vector: (n, 3) f4 rest position relative to the weighted centre.
        frame_weight: (n,) f4, of sum one.
        apply_particle: (m,) u2, whose particles are pulled.
        apply_vector: (m, 3) f4.
        apply_stiffness: (m,) f4.
    """

    frame_particle: Array
    frame_vector: Array
    frame_weight: Array
    apply_particle: Array
    apply_vector: Array
    apply_stiffness: Array

    @property
    def particles(self) -> Array:
        """Every particle index of the set."""
        return np.concatenate([self.frame_particle, self.apply_particle])


def read_constraint(view: View) -> Constraint:
    """Read a constraint set.

    Raises:
        FormatError: a class the games do not use.
    """
    reader = READERS.get(view.layout.name)
    if reader is None:
        view.fail(f"constraint sets of class {view.layout.name} are not supported: no game file has one")
    return reader(view, view.text("name") or "")


# the record of each class of links, and the members that fill it behind the two particles
LINKS: dict[str, tuple[type[Links], tuple[str, ...]]] = {
    "hclStandardLinkConstraintSet": (StandardLinks, ("restLength", "stiffness")),
    "hclStretchLinkConstraintSet": (StretchLinks, ("restLength", "stiffness")),
    "hclBendLinkConstraintSet": (
        BendLinks, ("bendMinLength", "stretchMaxLength", "bendStiffness", "stretchStiffness"),
    ),
    "hclCompressibleLinkConstraintSet": (CompressibleLinks, ("restLength", "compressionLength", "stiffness")),
}  # fmt: skip


def _links(view: View, name: str) -> Links:
    record, members = LINKS[view.layout.name]
    links = view.many("links")
    ends = (links.numbers(f"particle{end}", "<u2") for end in "AB")
    return record(name, *ends, *(links.numbers(member, "<f4") for member in members))


def _bend_stiffness(view: View, name: str) -> BendStiffness:
    links = view.many("links")
    return BendStiffness(
        name,
        np.stack([links.numbers(f"particle{corner}", "<u2") for corner in "ABCD"]),
        np.stack([links.numbers(f"weight{corner}", "<f4") for corner in "ABCD"]),
        links.numbers("bendStiffness", "<f4"),
        links.numbers("restCurvature", "<f4"),
        real(view, "maxRestPoseHeightSq"),
        flag(view, "clampBendStiffness"),
        flag(view, "useRestPoseConfig"),
    )


def _local_range(view: View, name: str) -> LocalRange:
    rows = view.many("localConstraints")
    return LocalRange(
        name,
        rows.numbers("particleIndex", "<u2"),
        rows.numbers("referenceVertex", "<u2"),
        rows.numbers("maximumDistance", "<f4"),
        rows.numbers("maxNormalDistance", "<f4"),
        rows.numbers("minNormalDistance", "<f4"),
        buffer=number(view, "referenceMeshBufferIdx", "<u4"),
        stiffness=real(view, "stiffness"),
        shape=number(view, "shapeType", "<u4"),
        use_normals=flag(view, "applyNormalComponent"),
    )


def _transition(view: View, name: str) -> Transition:
    rows = view.many("perParticleData")
    return Transition(
        name,
        rows.numbers("particleIndex", "<u2"),
        rows.numbers("referenceVertex", "<u2"),
        rows.numbers("toAnimDelay", "<f4"),
        rows.numbers("toSimDelay", "<f4"),
        rows.numbers("toSimMaxDistance", "<f4"),
        buffer=number(view, "referenceMeshBufferIdx", "<u4"),
        to_anim_period=real(view, "toAnimPeriod"),
        to_sim_period=real(view, "toSimPeriod"),
        to_anim_plus_delay=real(view, "toAnimPlusDelayPeriod"),
        to_sim_plus_delay=real(view, "toSimPlusDelayPeriod"),
    )


def _volume(view: View, name: str) -> Volume:
    """Read the batched form; a batch is 16 entries, member by member."""
    parts = []
    for kind, factor in (("frame", "weight"), ("apply", "stiffness")):
        batches, singles = view.many(f"{kind}BatchDatas"), view.many(f"{kind}SingleDatas")
        rows = [
            (batches.numbers(member, dtype, (16, *shape)).reshape(-1, *shape), singles.numbers(member, dtype, shape))
            for member, dtype, shape in (
                ("particleIndex", "<u2", ()),
                ("frameVector", "<f4", (4,)),
                (factor, "<f4", ()),
            )
        ]
        particle, vector, weight = (np.concatenate(row) for row in rows)
        parts += [particle, vector[:, :3], weight]
    return Volume(name, *parts)


READERS: dict[str, Callable[[View, str], Constraint]] = {
    **dict.fromkeys(LINKS, _links),
    "hclBendStiffnessConstraintSet": _bend_stiffness,
    "hclLocalRangeConstraintSet": _local_range,
    "hclTransitionConstraintSet": _transition,
    "hclVolumeConstraintMx": _volume,
}
