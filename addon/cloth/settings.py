"""What the user can change about a step."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from ..codec.binary import Array
from ..maths import estimates

Inverse = Callable[[Array, Array], None]


class RootChoice(StrEnum):
    """How lengths are inverted. The games estimate them with their processor; an exact root is the same everywhere."""

    EXACT = "exact"
    ESTIMATE = "estimate"
    ESTIMATE_ONLY = "estimate without Newton steps"


class StateChoice(StrEnum):
    """Which of its states each cloth runs."""

    SIMULATE = "simulate"
    SKIN = "skin"
    EMPTY = "empty"


@dataclass(frozen=True)
class Roots:
    """The inverses of one choice.

    Attributes:
        rough: reciprocal square root, where the games do not refine their estimate.
        refined: where they add a Newton step.
        reciprocal: always with a Newton step in the games.
    """

    rough: Inverse
    refined: Inverse
    reciprocal: Inverse


ROOTS = {
    RootChoice.EXACT: Roots(estimates.rsqrt_exact, estimates.rsqrt_exact, estimates.reciprocal_exact),
    RootChoice.ESTIMATE: Roots(estimates.rsqrt_estimate, estimates.rsqrt_refined, estimates.reciprocal_refined),
    RootChoice.ESTIMATE_ONLY: Roots(estimates.rsqrt_estimate, estimates.rsqrt_estimate, estimates.reciprocal_estimate),
}


@dataclass(frozen=True)
class Settings:
    """Settings of a step.

    Attributes:
        state: what the cloths do.
        gravity: m/s2 in place of the files' own; None for theirs.
        gravity_scale: factor of either.
        damping: fraction of the velocity lost in a second, in place of the files' own.
        substeps: in place of the files' own.
        wind: velocity of the air, m/s; zero switches the wind off.
        roots: how lengths are inverted.
        collisions: cloth meets collidables.
        disabled: names of constraint classes that do not act, such as "BendStiffness".
        display: the display buffers are made; without, only particles and bones move.
        tangents: the display buffers' tangents are made too.
    """

    state: StateChoice = StateChoice.SIMULATE
    gravity: tuple[float, float, float] | None = None
    gravity_scale: float = 1.0
    damping: float | None = None
    substeps: int | None = None
    wind: tuple[float, float, float] = (0.0, 0.0, 0.0)
    roots: RootChoice = RootChoice.EXACT
    collisions: bool = True
    disabled: frozenset[str] = frozenset()
    display: bool = True
    tangents: bool = False
