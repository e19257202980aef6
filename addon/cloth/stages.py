"""What a step runs, one stage after another; each takes operators of several cloths."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from ..codec.binary import Array
from ..codec.havok import cloth as records
from .bones import BonePart, Bones, driven_bones
from .deformers import BlendPart, Blends, BoundMaps, TriangleSources
from .layout import BufferPlace, Layout
from .links import flat_index
from .normals import NormalPart, Normals, TangentPart, Tangents
from .simulation import Simulation
from .space import Turn
from .state import Work
from .vectors import IDENTITY, transform_directions, transform_points


class Stage(Protocol):
    """A part of a step."""

    def run(self, work: Work) -> None:
        """Do it."""


@dataclass(frozen=True, eq=False)
class Job:
    """One operator in a stage.

    Attributes:
        data: place of its cloth data.
        operator: the operator.
        bones: for skins, the column of `Work.bones` of each bone of the operator; for bone deformers, where its first
            bone stands among the driven.
        kept: for skins, (n,) bool by buffer vertex which are written; None for all.
    """

    data: int
    operator: Any
    bones: Any = None
    kept: Array | None = None


class SkinStage:
    """Skins."""

    def __init__(self, jobs: Sequence[Job], layout: Layout) -> None:
        """Join the operators."""
        parts, outer, binds, bound, turns = [], [], [], [], []
        first = 0
        for job in jobs:
            operator: records.Skin = job.operator
            place = layout.buffers[job.data][operator.output]
            parts += blend_parts(operator, place, first, job.kept)
            count = len(operator.bones)
            first += count
            outer.append(job.bones)
            bound.append(np.full(count, operator.binds is not None))
            binds.append(np.tile(IDENTITY, (count, 1, 1)) if operator.binds is None else operator.binds)
            turns.append(np.full(count, Turn.between(source_display=False, target_display=place.display)))
        self.maps = BoundMaps(
            np.concatenate(outer), np.concatenate(binds), bound=np.concatenate(bound), turns=np.concatenate(turns)
        )
        self.blends = Blends(parts, layout.width)

    def run(self, work: Work) -> None:
        """Carry the vertices."""
        sources = self.maps.maps(work.bones, work.spaces)
        self.blends.write(sources, work.flat, work.normals, work.tangents)


class MeshStage:
    """Mesh-mesh deformers."""

    def __init__(self, jobs: Sequence[Job], layout: Layout) -> None:
        """Join the operators."""
        parts, corners, scale, binds, bound, turns = [], [], [], [], [], []
        first = 0
        for job in jobs:
            operator: records.MeshMeshDeform = job.operator
            source, target = (layout.buffers[job.data][index] for index in (operator.input, operator.output))
            triangles = source.triangles if operator.triangles is None else source.triangles[operator.triangles]
            count = len(triangles)
            parts += blend_parts(operator, target, first, None)
            first += count
            corners.append(triangles.astype(np.intp) + source.start)
            scale.append(np.full(count, operator.scale))
            bound.append(np.full(count, operator.binds is not None))
            binds.append(np.tile(IDENTITY, (count, 1, 1)) if operator.binds is None else operator.binds)
            turn = Turn.between(source_display=source.display, target_display=target.display)
            turns.append(np.full(count, turn))
        self.frames = TriangleSources(np.concatenate(corners), np.concatenate(scale), layout.width)
        self.maps = BoundMaps(
            np.arange(first), np.concatenate(binds), bound=np.concatenate(bound), turns=np.concatenate(turns)
        )
        self.blends = Blends(parts, layout.width)

    def run(self, work: Work) -> None:
        """Carry the vertices."""
        frames = self.frames.frames(work.flat, work.roots).reshape(12, -1)
        sources = self.maps.maps(frames, work.spaces)
        self.blends.write(sources, work.flat, work.normals, work.tangents)


def blend_parts(operator: Any, place: BufferPlace, first: int, kept: Array | None) -> list[BlendPart]:
    """Return an operator's blends with global sources, from ``first`` on, and columns."""
    parts = []
    for blend in operator.blends:
        chosen = blend if kept is None else blend.take(kept[blend.vertices])
        if len(chosen.vertices):
            sources, vertices = chosen.sources.astype(np.intp) + first, chosen.vertices.astype(np.intp) + place.start
            parts.append(BlendPart(chosen, sources, vertices, operator.binds is not None))
    return parts


class MoveStage:
    """Fixed particles go to their vertices; where a cloth has none, all that are named lose their velocity."""

    def __init__(self, jobs: Sequence[Job], layout: Layout) -> None:
        """Join the operators, by whether the vertices are in the display's space and the cloth has fixed particles."""
        groups: dict[tuple[bool, bool], list[tuple[Array, Array]]] = {}
        for job in jobs:
            operator: records.MoveParticles = job.operator
            place = layout.buffers[job.data][operator.buffer]
            sim = layout.sims[layout.sim(job.data, operator.sim)]
            pair = operator.particles.astype(np.intp) + sim.start, operator.vertices.astype(np.intp) + place.start
            groups.setdefault((place.display, len(sim.record.fixed) > 0), []).append(pair)
        self.groups = []
        for (display, has_fixed), pairs in groups.items():
            particles, vertices = (np.concatenate(rows) for rows in zip(*pairs, strict=True))
            index = flat_index(particles, layout.width)
            turn = Turn.TO_WORLD if display else Turn.NONE
            self.groups.append((turn, has_fixed, flat_index(vertices, layout.width), index, index + layout.particles))

    def run(self, work: Work) -> None:
        """Move the particles."""
        flat = work.flat
        for turn, has_fixed, vertices, particles, previous in self.groups:
            goal = flat.take(vertices)
            matrix = work.spaces.of(turn)
            if matrix is not None:
                goal = transform_points(matrix, goal.reshape(3, -1)).reshape(-1)
            flat[previous] = flat[particles] if has_fixed else goal
            flat[particles] = goal


class CopyStage:
    """Copies and gathers."""

    def __init__(self, jobs: Sequence[Job], layout: Layout) -> None:
        """Join the operators by what happens on the way."""
        groups: dict[tuple[Turn, bool], list[tuple[Array, Array]]] = {}
        for job in jobs:
            operator = job.operator
            source, target = (layout.buffers[job.data][index] for index in (operator.input, operator.output))
            turn = Turn.between(source_display=source.display, target_display=target.display)
            from_rows, to_rows = copied(operator)
            pair = from_rows + source.start, to_rows + target.start
            groups.setdefault((turn, operator.normals and source.has_normals), []).append(pair)
        self.groups = []
        for (turn, normals), pairs in groups.items():
            rows = [flat_index(np.concatenate(side), layout.width) for side in zip(*pairs, strict=True)]
            self.groups.append((turn, normals, rows[0], rows[1]))

    def run(self, work: Work) -> None:
        """Copy the vertices."""
        for turn, normals, source, target in self.groups:
            matrix = work.spaces.of(turn)
            points = work.flat.take(source)
            if matrix is not None:
                points = transform_points(matrix, points.reshape(3, -1)).reshape(-1)
            work.flat[target] = points
            if normals:
                turned = work.normals.take(source)
                if matrix is not None:
                    turned = transform_directions(matrix, turned.reshape(3, -1)).reshape(-1)
                work.normals[target] = turned


def copied(operator: records.CopyVertices | records.GatherVertices) -> tuple[Array, Array]:
    """Return the vertices an operator reads and those it writes."""
    if isinstance(operator, records.GatherVertices):
        return operator.source.astype(np.intp), operator.target.astype(np.intp)
    rows = np.arange(operator.count)
    return rows + operator.start_in, rows + operator.start_out


class BoneStage:
    """Bone deformers."""

    def __init__(self, jobs: Sequence[Job], layout: Layout) -> None:
        """Join the operators."""
        parts = []
        for job in jobs:
            place = layout.buffers[job.data][job.operator.input]
            parts.append(BonePart(job.operator, place.triangles.astype(np.intp) + place.start, job.bones))
        self.bones = Bones(parts, layout.width)
        self.columns = np.concatenate([
            job.bones + np.arange(len(driven_bones(job.operator))) for job in jobs
        ])  # fmt: skip

    def run(self, work: Work) -> None:
        """Write the bones, for the caller and for later operators of this step."""
        driven = work.state.driven
        self.bones.make(work.flat, driven, work.roots.rough)
        first = work.bones.shape[1] - driven.shape[1]
        work.bones[:, first + self.columns] = driven[:, self.columns]


class FrameStage:
    """Vertex frames."""

    def __init__(self, jobs: Sequence[Job], layout: Layout, triangles: dict[tuple[int, int], Array]) -> None:
        """Join the operators.

        Args:
            jobs: the operators.
            layout: where everything stands.
            triangles: by cloth data and buffer, the drawn mesh's; where they are missing, normals stay as they are.
        """
        normals, tangents = [], []
        for job in jobs:
            operator: records.VertexFrames = job.operator
            place = layout.buffers[job.data][operator.buffer]
            corners = triangles.get((job.data, place.buffer)) if operator.corners is None else operator.corners
            selected = np.arange(place.count) if operator.vertices is None else operator.vertices.astype(np.intp)
            if operator.normals and corners is not None and len(corners):
                normals.append(_normal_part(operator, place, corners, selected))
            if operator.tangents:
                references = operator.references.astype(np.intp) + place.start
                tangents.append(TangentPart(selected + place.start, references, operator.cos, operator.sin))
        self.normals = Normals(normals, layout.width) if normals else None
        self.tangents = Tangents(tangents, layout.width) if tangents else None

    def run(self, work: Work) -> None:
        """Make normals, and tangents where they are wanted."""
        if self.normals is not None:
            self.normals.make(work.flat, work.normals, work.roots.rough)
        if self.tangents is not None and work.tangents is not None:
            self.tangents.make(work.flat, work.normals, work.tangents, work.roots.rough)


def _normal_part(operator: records.VertexFrames, place: BufferPlace, corners: Array, selected: Array) -> NormalPart:
    ids = operator.normal_ids.astype(np.intp)
    if operator.involved is None:
        columns, vertex_ids = corners.astype(np.intp), ids
    else:
        involved = operator.involved.astype(np.intp)
        columns = involved[corners]
        row = np.zeros(place.count, np.intp)
        row[involved] = np.arange(len(involved))
        vertex_ids = ids[row[selected]]
    flips = np.zeros(len(corners), np.bool_)
    flips[: len(operator.flips)] = operator.flips[: len(corners)]
    return NormalPart(
        columns + place.start,
        flips,
        ids[corners.astype(np.intp)],
        operator.id_count,
        selected + place.start,
        vertex_ids,
    )


@dataclass(frozen=True, eq=False)
class SimulateStage:
    """The particles' step.

    Attributes:
        simulation: the cloths.
        shown: makes the normals of those whose normals are copied to a mesh; wind needs those of all.
    """

    simulation: Simulation
    shown: Normals | None

    def run(self, work: Work) -> None:
        """Step the particles, and make their normals where something reads them."""
        self.simulation.run(work)
        normals = self.simulation.normals if any(work.settings.wind) else self.shown
        if normals is not None and (work.settings.display or any(work.settings.wind)):
            normals.make(work.flat, work.normals, work.roots.rough)
