"""The step of the particles: prepare, drive collidables, integrate, solve.

Simulated cloths with the same number of substeps go together. Order and arithmetic: seed "Havok cloth data", Sekiro's
rules; what it leaves out is after public descriptions of Havok Cloth's code, see the modules of the kernels.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..codec.binary import Array
from ..codec.havok import cloth as records
from . import links
from .bending import BendStiffness
from .contacts import Candidates, Moving, collide, reach_of
from .layout import Layout, SimPlace
from .links import Part, flat_index
from .motion import advance, drive
from .normals import NormalPart, Normals
from .ranges import Blends, LocalRanges, RangePart, Transitions
from .schedule import merge
from .state import State, Work
from .vectors import ONE, ZERO, compose
from .volume import Volumes
from .wind import Wind

COLLISION = "Collision"
TIED = (records.LocalRange, records.Transition)


@dataclass(frozen=True, eq=False)
class Body:
    """A collidable of one simulated cloth.

    Attributes:
        record: the collidable.
        sim: place of the cloth among all.
        bone: column of `Work.bones` that carries it, -1 for none.
        offset: (4, 4) f4 its space to the bone's.
        bit: of the particles' masks; None where it meets every particle.
    """

    record: records.Collidable
    sim: int
    bone: int
    offset: Array
    bit: int | None


@dataclass(frozen=True, eq=False)
class Bodies:
    """The collidables of all cloths: ``all`` of them, in the order of the columns of `State.places`."""

    all: tuple[Body, ...]

    def of(self, sims: Sequence[int]) -> Array:
        """Return the columns of the collidables of some cloths."""
        return np.array([place for place, body in enumerate(self.all) if body.sim in sims], np.intp)


class Simulation:
    """Simulated cloths that step together."""

    def __init__(
        self, sims: Sequence[int], config: Any, layout: Layout, bodies: Bodies, configs: Sequence[Any]
    ) -> None:
        """Prepare.

        Args:
            sims: places of the cloths among all.
            config: a setting whose substeps and iterations are those of all.
            layout: where everything stands.
            bodies: the collidables of all cloths.
            configs: the setting of each cloth.
        """
        self.sims = list(sims)
        self.substeps, self.iterations = max(int(config.substeps), 1), max(int(config.iterations), 1)
        self.layout = layout
        places = [layout.sims[sim] for sim in sims]
        self.spans = _spans(places)
        self.counts = [len(place.record) for place in places]
        self.damping = [place.record.damping for place in places]
        self.body_columns = bodies.of(self.sims)
        self.bones, self.offsets = _carriers([bodies.all[column] for column in self.body_columns])
        pinned = np.concatenate([place.record.fixed.astype(np.intp) + place.start for place in places])
        self.pinned = flat_index(pinned, layout.width)
        self.pinned_before = flat_index(pinned + layout.particles, layout.width)
        self.mass = np.concatenate([place.record.mass for place in places])
        self.inverse_mass = np.concatenate([place.record.inverse_mass for place in places])
        gravity = np.repeat(np.stack([place.record.gravity for place in places], 1), self.counts, axis=1)
        self.gravity = np.ascontiguousarray(gravity, np.float32)
        self.pull = (self.mass * self.gravity + ZERO) * self.inverse_mass
        self.wind = Wind(places, layout)
        self.normals = sim_normals([place for place in places if place.record.makes_normals], layout)
        self.program = Program(self.sims, configs, layout, bodies)

    def prepare(self, state: State, dt: np.float32, substeps: int | None) -> None:
        """Rescale the previous positions where the length of the substep changed."""
        step = substep_length(dt, substeps or self.substeps)
        for sim in self.sims:
            last = state.last[sim]
            if last == step:
                continue
            if last != ZERO:
                place = self.layout.sims[sim]
                now = state.store[:, place.start : place.stop]
                before = state.store[:, self.layout.particles + place.start : self.layout.particles + place.stop]
                before += (now - before) * (ONE - step / last)
            state.last[sim] = step

    def run(self, work: Work) -> None:
        """Step the particles."""
        state, settings = work.state, work.settings
        substeps = settings.substeps or self.substeps
        step = substep_length(work.dt, substeps)
        share = ONE / np.float32(substeps)
        self._drive(work)
        goal, origin = work.flat.take(self.pinned), work.flat.take(self.pinned_before)
        damping = [velocity_kept(one if settings.damping is None else settings.damping, step) for one in self.damping]
        kept = np.repeat(np.array(damping, np.float32), self.counts)
        for substep in range(substeps):
            self._advance(state, work, step)
            ahead = np.float32(substep + 1) * share
            between = ahead * goal + (ONE - ahead) * origin
            work.flat[self.pinned] = work.flat[self.pinned_before] = between
            self._integrate(work, kept, step)
            for _ in range(self.iterations):
                self.program.solve(work, step, substeps)

    def _drive(self, work: Work) -> None:
        columns, state = self.body_columns, work.state
        if not len(columns):
            return
        current = state.places[:, :, columns]
        goal = self.goals(work.bones, current)
        state.linear[:, columns], state.angular[:, columns] = drive(current, goal, work.dt, work.roots.refined)

    def goals(self, bones: Array, current: Array) -> Array:
        """Return where bones carry the collidables, (4, 3, k); those without a bone stay."""
        carried = compose(bones.take(np.maximum(self.bones, 0), 1).reshape(4, 3, -1), self.offsets)
        return np.where(self.bones >= 0, carried, current)

    def _advance(self, state: State, work: Work, step: np.float32) -> None:
        columns = self.body_columns
        if len(columns):
            velocities = state.linear[:, columns], state.angular[:, columns]
            state.places[:, :, columns] = advance(state.places[:, :, columns], *velocities, step, work.roots.refined)

    def _integrate(self, work: Work, kept: Array, step: np.float32) -> None:
        """``P' = ((m g + F) w) dt2 + ((P - Q) damping + P)``; the previous positions become the old ones."""
        settings, store, previous = work.settings, work.state.store, self.layout.particles
        pull = self.pull
        if settings.gravity is not None or settings.gravity_scale != 1 or any(settings.wind):
            gravity = self.gravity
            if settings.gravity is not None:
                gravity = np.array(settings.gravity, np.float32)[:, None]
            force = self.wind.forces(work, step) if any(settings.wind) else ZERO
            pull = (self.mass * (gravity * np.float32(settings.gravity_scale)) + force) * self.inverse_mass
        fall = pull * (step * step)
        for (start, stop), rows in self.spans:
            now = store[:, start:stop]
            before = store[:, previous + start : previous + stop]
            moved = now - before
            moved *= kept[rows]
            moved += now
            moved += fall[:, rows]
            before[...] = now
            now[...] = moved


class Program:
    """The constraint sets of a group of cloths in the order they are solved, collision among them."""

    def __init__(self, sims: Sequence[int], configs: Sequence[Any], layout: Layout, bodies: Bodies) -> None:
        """Bring the orders of all cloths into one; arguments as those of `Simulation`."""
        self.particles = layout.particles
        self.inverse_mass = np.concatenate([place.record.inverse_mass for place in layout.sims])
        orders = [execution(layout.sims[sim].record, configs[sim]) for sim in sims]
        done = [0] * len(orders)
        self.steps: list[tuple[str, Any]] = []
        kinds = [[kind(layout.sims[sim], one) for one in order] for sim, order in zip(sims, orders, strict=True)]
        for key, taking in merge(kinds):
            taken = [(sims[row], orders[row][done[row]]) for row in taking]
            for row in taking:
                done[row] += 1
            name = str(key)
            if name == COLLISION:
                self.steps.append((name, [one for sim, _ in taken for one in candidates(sim, layout, bodies)]))
            elif name == records.Volume.__name__:
                parts = [_part(layout.sims[sim], place) for sim, place in taken]
                self.steps.append((name, Volumes(parts, layout.width, [volume_column(layout, *one) for one in taken])))
            else:
                self.steps.append((name, self._kernel(name, taken, layout, configs)))

    def _kernel(self, name: str, taken: list[tuple[int, int]], layout: Layout, configs: Sequence[Any]) -> Any:
        if name in {one.__name__ for one in TIED}:
            parts = [_range_part(sim, layout.sims[sim], place, layout, configs[sim]) for sim, place in taken]
            tied = LocalRanges if name == records.LocalRange.__name__ else Transitions
            return tied(parts, layout.width, layout.particles)
        own = [_part(layout.sims[sim], place) for sim, place in taken]
        return KERNELS[name](own, self.inverse_mass, layout.width)

    def solve(self, work: Work, step: np.float32, substeps: int) -> None:
        """Run the order once; ``step`` is the length in seconds of each of the ``substeps``."""
        divided = substeps != 1
        state, roots, flat = work.state, work.roots, work.flat
        root = work.spaces.world_from_display
        for name, kernel in self.steps:
            if name in work.settings.disabled:
                continue
            if name == COLLISION:
                _collide_all(kernel, work, step)
            elif isinstance(kernel, links.Links):
                kernel.solve(flat, roots.rough)
            elif isinstance(kernel, BendStiffness):
                kernel.solve(flat, roots)
            elif isinstance(kernel, LocalRanges):
                kernel.solve(flat, work.normals, root, roots.rough, divided=divided)
            elif isinstance(kernel, Volumes):
                kernel.solve(flat, state.eigenvectors, roots.refined)
            elif state.blending.any():
                blends = Blends(state.blending, state.times, state.starts)
                kernel.solve(flat, root, blends, roots.refined, divided=divided)


def _collide_all(all_candidates: Sequence[Candidates], work: Work, step: np.float32) -> None:
    state = work.state
    for one in all_candidates if work.settings.collisions else ():
        row = slice(one.collidable, one.collidable + 1)
        moving = Moving(state.places[:, :, row], state.linear[:, row], state.angular[:, row], step)
        collide(one, moving, work.flat, work.roots)


KERNELS: dict[str, Any] = {
    "StandardLinks": links.Links,
    "StretchLinks": links.StretchLinks,
    "BendLinks": links.BendLinks,
    "CompressibleLinks": links.CompressibleLinks,
    "BendStiffness": BendStiffness,
}


def execution(record: records.SimCloth, config: Any) -> list[int]:
    """Return the sets a cloth is solved by, -1 for collision."""
    order: list[int] = config.execution.tolist()
    return order or [*range(len(record.constraints)), -1]


def kind(place: SimPlace, index: int) -> Hashable:
    """Return the class name of a set, or `COLLISION`."""
    return COLLISION if index < 0 else type(place.record.constraints[index]).__name__


def volume_column(layout: Layout, sim: int, index: int) -> int:
    """Return the place of a volume set's eigenvectors: volume sets are counted over all cloths."""
    before = [one for place in layout.sims[:sim] for one in place.record.constraints]
    before += layout.sims[sim].record.constraints[:index]
    return sum(isinstance(one, records.Volume) for one in before)


def _part(place: SimPlace, index: int) -> Part:
    return Part(place.record.constraints[index], place.start)


def _range_part(sim: int, place: SimPlace, index: int, layout: Layout, config: Any) -> RangePart:
    record: Any = place.record.constraints[index]
    buffer = layout.buffers[place.data][record.buffer]
    return RangePart(record, sim, place.start, buffer.start, buffer.display, buffer.has_normals, bool(config.adapt))


def candidates(sim: int, layout: Layout, bodies: Bodies) -> list[Candidates]:
    """Return what one cloth may touch, in the order of its collidables.

    A collidable the file lists meets the particles whose mask has its bit, one added at run time every particle; fixed
    particles are left alone, as pinned ones stay on the skin bit for bit in the recordings.
    """
    place = layout.sims[sim]
    record = place.record
    found = []
    for column in bodies.of([sim]).tolist():
        body = bodies.all[column]
        meets = record.inverse_mass > 0
        if body.bit is not None:
            meets &= (record.masks >> np.uint32(body.bit)) & np.uint32(1) > 0 if len(record.masks) else False
        particles = np.flatnonzero(meets)
        if not len(particles) or not body.record.enabled:
            continue
        index = flat_index(particles + place.start, layout.width).reshape(3, -1)
        radius = record.radius[particles]
        found.append(
            Candidates(
                column,
                body.record.shape,
                index,
                index + layout.particles,
                radius,
                record.friction[particles],
                reach_of(body.record.shape, radius.max()),
            )
        )
    return found


def substep_length(dt: np.float32, substeps: int) -> np.float32:
    """Return ``(1 / substeps) * dt``, the reciprocal rounded first."""
    return (ONE / np.float32(substeps)) * dt


def velocity_kept(damping: float | np.float32, step: np.float32) -> np.float32:
    """Return ``powf(1 - damping, step)``: nothing from a damping of 1 on, all at 0."""
    rate = np.float32(damping)
    if rate >= ONE:
        return ZERO
    if rate == ZERO:
        return ONE
    return np.float32(float(ONE - rate) ** float(step))


def _spans(places: list[SimPlace]) -> list[tuple[tuple[int, int], slice]]:
    """Return ranges of store columns, neighbours joined, and their rows among the group's particles."""
    spans: list[tuple[tuple[int, int], slice]] = []
    row = 0
    for place in places:
        size = len(place.record)
        if spans and spans[-1][0][1] == place.start:
            (start, _), rows = spans.pop()
            spans.append(((start, place.stop), slice(rows.start, row + size)))
        else:
            spans.append(((place.start, place.stop), slice(row, row + size)))
        row += size
    return spans


def _carriers(bodies: list[Body]) -> tuple[Array, Array]:
    """Return the bone of each collidable, and its offset as maps (4, 3, k)."""
    bones = np.array([body.bone for body in bodies], np.intp)
    offsets = np.array([body.offset for body in bodies], np.float32).reshape(-1, 4, 4)
    return bones, np.ascontiguousarray(offsets[:, :3].transpose(2, 1, 0))


def sim_normals(places: list[SimPlace], layout: Layout) -> Normals | None:
    """Return what makes the normals of simulated cloths, None where there are none."""
    parts = [
        NormalPart(
            place.record.triangles.astype(np.intp) + place.start,
            place.record.flips,
            place.record.triangles,
            len(place.record),
            np.arange(place.start, place.stop),
            np.arange(len(place.record)),
        )
        for place in places
    ]
    return Normals(parts, layout.width) if parts else None
