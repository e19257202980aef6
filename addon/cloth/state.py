"""What changes while cloth plays, and what a step is given."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields

import numpy as np

from ..codec.binary import Array
from .settings import Roots, Settings
from .space import Spaces


@dataclass(frozen=True, eq=False)
class Pose:
    """Where the animation is.

    Attributes:
        bones: (b, 4, 4) f4 world matrices for column vectors, by the setup's ``bones``; in the games' space,
            left-handed, Y up, metres.
        root: (4, 4) f4, the character's place in the world: display buffers are in its space. None for the identity.
        display: posed positions (n, 3) f4 of display buffers by their place in the setup's ``displays``, in the
            character's space: they stand where no operator writes. A buffer that is not given is skinned by the
            cloth file's own weights there.
    """

    bones: Array
    root: Array | None = None
    display: Mapping[int, Array] = field(default_factory=dict)


@dataclass(eq=False)
class State:
    """What changes.

    A copy holds everything that a later step depends on.

    Attributes:
        store: (3, w) f4 positions of all columns, see `layout`.
        normals, tangents: (3, w) f4.
        last: (s,) f4 length of the last substep of each simulated cloth, 0 before the first.
        places: (4, 3, k) f4 maps of the collidables.
        linear, angular: (3, k) f4 their velocities.
        driven: (12, d) f4 maps of the bones that cloth drives; where the animation has them until it does.
        eigenvectors: (v, 3, 3) f4 of the volume sets.
        blending: (s,) i1 `ranges.Blending` of each cloth, ``times`` (s,) f4 seconds since it began, ``starts`` (n,) f4
            how far each particle stood from the animation.
    """

    store: Array
    normals: Array
    tangents: Array
    last: Array
    places: Array
    linear: Array
    angular: Array
    driven: Array
    eigenvectors: Array
    blending: Array
    times: Array
    starts: Array

    def copy(self) -> State:
        """Return a state that shares nothing with this one."""
        return State(**{one.name: getattr(self, one.name).copy() for one in fields(self)})

    @property
    def nbytes(self) -> int:
        """Bytes of memory a copy takes."""
        return sum(getattr(self, one.name).nbytes for one in fields(self))


@dataclass(frozen=True, eq=False)
class Work:
    """One step under way: what its stages read and write.

    Attributes:
        state: what they change; ``flat``, ``normals`` and ``tangents`` are flat views of it.
        bones: (12, b + d) f4 maps: the animation's, then the driven ones.
        spaces: the two spaces.
        settings: of the user; ``roots`` those they choose.
        dt: seconds of the step.
    """

    state: State
    flat: Array
    normals: Array
    tangents: Array | None
    bones: Array
    spaces: Spaces
    settings: Settings
    roots: Roots
    dt: np.float32
