"""Which quads are flat, and how they say so.

Where a mesh marks flat quads (``primitiveStoresIsFlatConvex`` 255), a quad is flat whose second slot is larger than its
fourth. Slots are numbered with the quad as it was paired; turning it by two corners exchanges the two.
"""

from __future__ import annotations

import numpy as np

from ...codec.binary import Array
from ...maths.single import cross, dot, units

# Of 7.5 degrees: the flat quads of the one ragdoll at hand reach 5.1, the others begin at 10.1.
FLAT_COSINE = np.float32(0.9914449)


def turned_quads(slots: Array, points: Array, quads: Array) -> Array:
    """Return which primitives have to be turned by two corners, (n,) bool.

    Args:
        slots: (n, 4) i8.
        points: (n, 4, 3) f4 corners.
        quads: (n,) bool, which are quads.
    """
    return quads & ((slots[:, 1] > slots[:, 3]) != is_flat(points))


def is_flat(points: Array) -> Array:
    """Return which quads, (n, 4, 3) f4 corners ``a b c d``, are flat: their halves' normals are nearly the same."""
    a, b, c, d = (points[:, corner] for corner in range(4))
    return dot(units(cross(b - a, c - a)), units(cross(c - a, d - a))) > FLAT_COSINE
