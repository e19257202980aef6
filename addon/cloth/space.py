"""The two spaces of a step: particles and bones are in the world's, display buffers in the character's own.

Seed "Havok cloth data": the display buffer's world-from-mesh matrix is the character's root, mesh-from-world a stored
inverse; all other buffers hold the identity.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from ..codec.binary import Array
from .vectors import columns


class Turn(IntEnum):
    """What happens to something on its way into a buffer."""

    NONE = 0
    TO_DISPLAY = 1
    TO_WORLD = 2

    @classmethod
    def between(cls, *, source_display: bool, target_display: bool) -> Turn:
        """Return the turn from one buffer to another."""
        if source_display == target_display:
            return cls.NONE
        return cls.TO_DISPLAY if target_display else cls.TO_WORLD


@dataclass(frozen=True, eq=False)
class Spaces:
    """The character's place as maps (4, 3, 1); None where the two spaces are one."""

    world_from_display: Array | None
    display_from_world: Array | None

    @classmethod
    def at(cls, root: Array | None) -> Spaces:
        """Return the spaces of a root matrix (4, 4)."""
        if root is None or np.array_equal(root, np.eye(4)):
            return cls(None, None)
        inverse = np.linalg.inv(np.asarray(root, np.float64))
        return cls(columns(root[None]), columns(inverse[None]))

    def of(self, turn: Turn) -> Array | None:
        """Return the map of a turn."""
        return {Turn.TO_DISPLAY: self.display_from_world, Turn.TO_WORLD: self.world_from_display}.get(turn)
