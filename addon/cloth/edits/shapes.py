"""Shapes of collidables from what a user states; every member that files store besides follows.

The games' own shapes agree with these to a few units in the last place (found on real files).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from ...codec.binary import Array
from ...codec.havok.cloth import Capsule, Shape, Sphere, TaperedCapsule, differences, same
from ..contacts import Cone
from ..settings import ROOTS, RootChoice
from ..vectors import ONE, dot

SHORTEST = np.float32(1e-6)
"""Metres between the ends of a capsule below which it is a sphere: its direction would be noise."""
SLIMMEST = 1e-4
"""Sine of a cone's half angle below which a tapered capsule is a capsule: the apex would be too far off for float32."""
WIDEST = 0.999
"""Sine above which it is a sphere: one end lies inside the other, or all but."""


def sphere(center: npt.ArrayLike, radius: float) -> Sphere:
    """Return a sphere.

    Raises:
        ValueError: a radius that is not positive, numbers that are not finite.
    """
    return Sphere(_point(center), _radius(radius))


def capsule(start: npt.ArrayLike, end: npt.ArrayLike, radius: float) -> Capsule | Sphere:
    """Return a capsule between two points, (3,) each; a sphere where they coincide, as capsules need a length.

    Raises:
        ValueError: a radius that is not positive, numbers that are not finite.
    """
    a, b, wide = _point(start), _point(end), _radius(radius)
    along = (b - a)[:, None]
    square = dot(along, along)
    if square[0] < SHORTEST * SHORTEST:
        return Sphere(a, wide)
    inverse = np.empty_like(square)
    ROOTS[RootChoice.EXACT].refined(square, inverse)
    length = square * inverse
    return Capsule(a, b, wide, (along * inverse)[:, 0], (ONE / (length * length))[0])


def tapered_capsule(start: npt.ArrayLike, end: npt.ArrayLike, start_radius: float, end_radius: float) -> Shape:
    """Return a capsule with a radius at each end, in either order.

    Where that is a simpler shape it is one, as the members of a tapered capsule are not defined then: a capsule where
    the radii are alike, a sphere where one end lies inside the other.

    Args:
        start: (3,) centre of an end.
        end: (3,) centre of the other.
        start_radius: metres.
        end_radius: metres.

    Raises:
        ValueError: a radius that is not positive, numbers that are not finite.
    """
    ends = [(_point(start), _radius(start_radius)), (_point(end), _radius(end_radius))]
    (small, little), (big, large) = sorted(ends, key=lambda one: float(one[1]))
    along = big.astype(np.float64) - small
    length, wider = float(np.linalg.norm(along)), float(large) - float(little)
    if wider > WIDEST * length or length < SHORTEST:
        return Sphere(big, large)
    if wider < SLIMMEST * length:
        return capsule(start, end, float(large))
    cone = Cone.between((small[:, None], big[:, None]), (little, large), ROOTS[RootChoice.EXACT])
    apex = small - cone.base * cone.axis[:, 0]
    derived = (one[0] for one in (cone.length, cone.base, cone.sine, cone.cosine, cone.tangent, cone.tangent**2))
    return TaperedCapsule(small, big, little, large, apex, cone.axis[:, 0], *derived)


def remade(old: Shape, new: Shape) -> Shape:
    """Return ``new`` with the stored bits of all that follows from members in which ``old`` is the same.

    Derived members of the games' files differ in the last place from those made here; what a user did not change
    must not change in the file.
    """
    if isinstance(old, Capsule) and isinstance(new, Capsule) and same(old.start, new.start) and same(old.end, new.end):
        return old if same(old.radius, new.radius) else replace(old, radius=new.radius)
    if isinstance(old, TaperedCapsule) and isinstance(new, TaperedCapsule):
        stated = ("small", "big", "small_radius", "big_radius")
        if all(same(getattr(old, name), getattr(new, name)) for name in stated):
            return old
    return old if alike(old, new) else new


def alike(a: object, b: object) -> bool:
    """Tell whether two records, or tuples of records, hold the same to the bit."""
    return next(differences(a, b), None) is None


def _point(values: npt.ArrayLike) -> Array:
    point = np.array(values, np.float32)
    if point.shape != (3,) or not np.isfinite(point).all():
        raise ValueError(f"three finite coordinates are needed, not {np.asarray(values).tolist()}")
    return point


def _radius(value: float) -> np.float32:
    radius = np.float32(value)
    if not np.isfinite(radius) or radius <= 0:
        raise ValueError(f"a radius must be above 0, not {value}")
    return radius
