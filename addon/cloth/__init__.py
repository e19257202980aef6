"""Cloth: what is done with cloth records. numpy only, float32, the games' spaces: left-handed, Y up, metres.

::

    setup = build_setup(read_cloth(tagfile), triangles=...)    frozen: once a file
    state = new_state(setup)                                   mutable; copy() for scrubbing
    reset(setup, state, Pose(bones))                           where the animation starts
    step(setup, state, Pose(bones), 1 / 60, Settings())        each step; then read `results`

Matrices are (..., 4, 4) for column vectors, ``p' = M @ [p, 1]``. Bones are the world matrices of ``setup.bones``, by
name; there is no clock, no randomness and no state outside of `State`.
"""

from .binding import Binding, MeshKey, bind_displays
from .ranges import Blending
from .results import (
    collidables,
    display_normals,
    display_positions,
    display_tangents,
    driven_bones,
    particles,
    reference_pose,
)
from .settings import RootChoice, Settings, StateChoice
from .setup import DisplayBuffer, ExtraCollidable, Setup, build_setup
from .state import Pose, State
from .step import begin_blend, new_state, reset, step

__all__ = [
    "Binding",
    "Blending",
    "DisplayBuffer",
    "ExtraCollidable",
    "MeshKey",
    "Pose",
    "RootChoice",
    "Settings",
    "Setup",
    "State",
    "StateChoice",
    "begin_blend",
    "bind_displays",
    "build_setup",
    "collidables",
    "display_normals",
    "display_positions",
    "display_tangents",
    "driven_bones",
    "new_state",
    "particles",
    "reference_pose",
    "reset",
    "step",
]
