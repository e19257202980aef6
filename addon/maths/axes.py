"""The games' axes and Blender's.

The games are left-handed with Y up, Blender is right-handed with Z up: swapping y and z does both, and the same swap
leads back. It is a reflection, so index lists that are wound against their normals in the games' space are wound along
them in Blender's.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

_SWAP = [0, 2, 1]
_SWAP_4 = [0, 2, 1, 3]


def swap_vectors(vectors: Array) -> Array:
    """Return (..., 3) points or directions in the other axes, contiguous and in the same dtype."""
    return np.ascontiguousarray(vectors[..., _SWAP])


def swap_matrices(matrices: Array) -> Array:
    """Return (..., 4, 4) maps of one space to itself as maps in the other axes."""
    return np.ascontiguousarray(matrices[..., _SWAP_4, :][..., _SWAP_4])
