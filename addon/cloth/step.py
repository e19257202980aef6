"""The step: a setup, a state, where the animation is, and a time."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..codec.binary import Array
from ..codec.havok import cloth as records
from .plan import Plan
from .ranges import Blending
from .settings import ROOTS, Settings, StateChoice
from .setup import Setup
from .space import Spaces
from .state import Pose, State, Work
from .vectors import ONE, columns

DEFAULT = Settings()
QUIET: Any = {"over": "ignore", "invalid": "ignore", "divide": "ignore"}
"""Cloth of damaged files, and bones that are far away, overflow without a word, as in the games."""


def new_state(setup: Setup) -> State:
    """Return a state at rest: particles in their first pose, in model space. `reset` brings it to a pose."""
    layout = setup.layout
    store = np.zeros((3, layout.width), np.float32)
    for place in layout.sims:
        store[:, place.start : place.stop] = place.record.poses[0].T
    store[:, layout.particles : 2 * layout.particles] = store[:, : layout.particles]
    volumes = sum(isinstance(one, records.Volume) for place in layout.sims for one in place.record.constraints)
    bodies, sims = setup.bodies.all, len(layout.sims)
    return State(
        store,
        np.zeros_like(store),
        np.zeros_like(store),
        np.zeros(sims, np.float32),
        columns(np.array([body.record.transform for body in bodies], np.float32).reshape(-1, 4, 4)),
        np.zeros((3, len(bodies)), np.float32),
        np.zeros((3, len(bodies)), np.float32),
        np.zeros((12, len(setup.driven)), np.float32),
        np.tile(np.eye(3, dtype=np.float32), (volumes, 1, 1)),
        np.zeros(sims, np.int8),
        np.zeros(sims, np.float32),
        np.zeros(layout.particles, np.float32),
    )


def reset(setup: Setup, state: State, pose: Pose, before: Pose | None = None, settings: Settings = DEFAULT) -> None:
    """Put everything where the animation is, as the games do before they simulate.

    The cloths' own states do it: "_preAtoS_" fills the previous positions from the pose before, "_curAtoS_" the
    current ones from this pose.

    Args:
        setup: of the cloth.
        state: is overwritten.
        pose: where the animation is now.
        before: where it was a step ago; None for no motion.
        settings: of the user.
    """
    fresh = new_state(setup)
    for name in vars(fresh):
        getattr(state, name)[...] = getattr(fresh, name)
    with np.errstate(**QUIET):
        for name, at in (("before", before or pose), ("now", pose)):
            work = _work(setup, state, at, ONE, settings)
            for stage in setup.plans[name].full:
                stage.run(work)
        work = _work(setup, state, pose, ONE, settings)
        for simulation in setup.plans[StateChoice.SIMULATE].simulations:
            rows = simulation.body_columns
            if len(rows):
                state.places[:, :, rows] = simulation.goals(work.bones, state.places[:, :, rows])


def step(setup: Setup, state: State, pose: Pose, dt: float, settings: Settings = DEFAULT) -> None:
    """Advance the cloth.

    Args:
        setup: of the cloth.
        state: is changed.
        pose: where the animation is at the end of the step; driven bones are taken from it too, as the games refill
            their transforms before every step.
        dt: seconds.
        settings: of the user.
    """
    work = _work(setup, state, pose, np.float32(dt), settings)
    plan = setup.plans[settings.state]
    state.times[state.blending >= Blending.TO_ANIMATION] += work.dt
    with np.errstate(**QUIET):
        for simulation in plan.simulations:
            simulation.prepare(state, work.dt, settings.substeps)
        if settings.display or plan.particles_read:
            _take_display(setup, plan, pose, work)
        for stage in plan.full if settings.display else plan.particles:
            stage.run(work)
    _finish_blends(setup, state)


def begin_blend(setup: Setup, state: State, sim: int, blending: Blending) -> None:
    """Start the transition of a simulated cloth to the animation, or back to the simulation.

    Args:
        setup: of the cloth.
        state: is changed.
        sim: place of the cloth among all.
        blending: what to do.
    """
    place = setup.layout.sims[sim]
    state.blending[sim], state.times[sim] = blending, 0
    state.starts[place.start : place.stop] = 0


def _finish_blends(setup: Setup, state: State) -> None:
    """End the blends whose longest period is over."""
    for sim, place in enumerate(setup.layout.sims):
        over = {Blending.TO_ANIMATION: "to_anim_plus_delay", Blending.TO_SIMULATION: "to_sim_plus_delay"}
        name = over.get(Blending(int(state.blending[sim])))
        sets = [one for one in place.record.constraints if isinstance(one, records.Transition)]
        if name and all(state.times[sim] >= getattr(one, name) for one in sets):
            ends = {Blending.TO_ANIMATION: Blending.ANIMATED, Blending.TO_SIMULATION: Blending.SIMULATED}
            state.blending[sim] = ends[Blending(int(state.blending[sim]))]


def _take_display(setup: Setup, plan: Plan, pose: Pose, work: Work) -> None:
    """Put the posed meshes into the display buffers: the caller's, else the cloth file's own skins."""
    if plan.fill is not None and len(pose.display) < len(setup.displays):
        plan.fill.run(work)
    for place, positions in pose.display.items():
        buffer = setup.displays[place].place
        work.state.store[:, buffer.start : buffer.start + buffer.count] = np.asarray(positions, np.float32).T


def _work(setup: Setup, state: State, pose: Pose, dt: np.float32, settings: Settings) -> Work:
    """Return what a step works on, the transform set refilled from the animation."""
    animated = columns(pose.bones).reshape(12, -1)
    state.driven[...] = animated[:, setup.driven_columns]
    bones = np.concatenate([animated, state.driven], axis=1)
    tangents: Array | None = state.tangents.reshape(-1) if settings.tangents else None
    return Work(
        state,
        state.store.reshape(-1),
        state.normals.reshape(-1),
        tangents,
        bones,
        Spaces.at(pose.root),
        settings,
        ROOTS[settings.roots],
        dt,
    )
