"""How meshes are compiled, and how compiling tells of itself."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ...codec.errors import FormatError

Progress = Callable[[str, float], None]


class Cancelled(Exception):  # noqa: N818 - it is no error
    """What a progress callback raises to stop compiling; nothing is kept then."""


@dataclass(frozen=True)
class CompileSettings:
    """How a compressed mesh is made.

    Attributes:
        sdk: "20160200" or "20180100".
        radius: convex radius in metres. Objects and maps of the games use about 0.015, ragdolls 0.05.
        names: hit materials that the table begins with, in this order; others follow by first use.
        domain: box of the mesh, ((x, y, z), (x, y, z)) in metres, radius included, to code shared vertices over: an
            edited mesh that keeps its domain keeps their codes. Not used where vertices reach out of it.
        packed_error: how far a packed vertex may lie from its source along an axis, in metres; a section that is too
            large for that stores its vertices shared. None: a quarter of the radius, for boxes of trees hold sources.
        flat_quads: whether quads that are flat are marked so, as in ragdolls (``primitiveStoresIsFlatConvex`` 255).
        simd: whether there is a simd tree; maps, objects and assets have one, ragdolls have none.
        rows: whether there is a material table, as in all but ragdolls.
    """

    sdk: str = "20180100"
    radius: float = 0.015
    names: tuple[int, ...] = ()
    domain: tuple[tuple[float, float, float], tuple[float, float, float]] | None = None
    packed_error: float | None = None
    flat_quads: bool = False
    simd: bool = True
    rows: bool = True

    def __post_init__(self) -> None:
        if self.sdk not in ("20160200", "20180100"):
            raise FormatError(f"collision is compiled for the SDKs 20160200 and 20180100, not {self.sdk!r}")
        if not 0 <= self.radius <= 1000:
            raise FormatError(f"a convex radius of {self.radius} m")


def no_progress(_stage: str, _fraction: float) -> None:
    """Tell nobody."""
