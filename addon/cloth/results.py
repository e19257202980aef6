"""What a step made, as arrays that a caller can use: copies, contiguous, in the games' spaces."""

from __future__ import annotations

import numpy as np

from ..codec.binary import Array
from ..codec.havok.cloth import Skeleton
from ..maths import affine, quaternions
from .setup import Setup
from .state import State
from .vectors import matrices


def particles(setup: Setup, state: State, sim: int) -> Array:
    """Return the positions of a simulated cloth's particles, (n, 3) f4, in the world."""
    place = setup.layout.sims[sim]
    return np.ascontiguousarray(state.store[:, place.start : place.stop].T)


def display_positions(setup: Setup, state: State, display: int) -> Array:
    """Return the positions of a drawn mesh, (n, 3) f4, posed already, in the character's space."""
    return _rows(setup, state.store, display)


def display_normals(setup: Setup, state: State, display: int) -> Array:
    """Return the normals of a drawn mesh, (n, 3) f4, nearly of unit length; zero where nothing made one."""
    return _rows(setup, state.normals, display)


def display_tangents(setup: Setup, state: State, display: int) -> Array:
    """Return the tangents of a drawn mesh, (n, 3) f4; they are made with ``Settings.tangents``."""
    return _rows(setup, state.tangents, display)


def driven_bones(state: State) -> Array:
    """Return the world matrices of the bones that cloth drives, (d, 4, 4) f4, by the setup's ``driven`` names."""
    return matrices(state.driven.reshape(4, 3, -1))


def collidables(state: State) -> Array:
    """Return the world matrices of the collidables, (k, 4, 4) f4, by the setup's ``bodies.all``."""
    return matrices(state.places)


def reference_pose(skeleton: Skeleton) -> Array:
    """Return the model-space matrices of a skeleton's reference pose, (b, 4, 4) f4, the parents' scale included."""
    local = affine.compose(skeleton.translation, quaternions.matrices(skeleton.rotation), skeleton.scale)
    return affine.world_matrices(local, skeleton.parents).astype(np.float32)


def _rows(setup: Setup, store: Array, display: int) -> Array:
    place = setup.displays[display].place
    return np.ascontiguousarray(store[:, place.start : place.start + place.count].T)
