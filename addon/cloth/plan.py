"""From a cloth's list of operators to stages: what is needed, in what order, and what can run together."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..codec.binary import Array
from ..codec.havok import cloth as records
from .bones import driven_bones
from .layout import BufferPlace, Layout
from .schedule import merge
from .simulation import TIED, Bodies, Simulation, sim_normals
from .stages import BoneStage, CopyStage, FrameStage, Job, MeshStage, MoveStage, SimulateStage, SkinStage, Stage, copied

KINDS: dict[type, str] = {
    records.Skin: "skin",
    records.MeshMeshDeform: "mesh",
    records.MoveParticles: "move",
    records.Simulate: "simulate",
    records.CopyVertices: "copy",
    records.GatherVertices: "copy",
    records.SimpleMeshBoneDeform: "bones",
    records.MeshBoneDeform: "bones",
    records.VertexFrames: "frames",
}
"""The stage of each operator; conversions do nothing here: display buffers are float throughout."""

SIMPLE: dict[str, Any] = {
    "skin": SkinStage, "mesh": MeshStage, "move": MoveStage, "copy": CopyStage, "bones": BoneStage,
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class Plan:
    """What a step runs.

    Attributes:
        fill: puts posed vertices into display buffers that something reads before it writes them; None for none.
        particles_read: particles depend on those vertices.
        full: all stages after it.
        particles: those that particles and bones depend on.
        simulations: the stages' simulations, which prepare before anything runs.
    """

    fill: Stage | None
    particles_read: bool
    full: tuple[Stage, ...]
    particles: tuple[Stage, ...]
    simulations: tuple[Simulation, ...]


@dataclass(frozen=True, eq=False)
class Planner:
    """What plans are made from.

    Attributes:
        file: the cloth.
        layout: where everything stands.
        bodies: the collidables.
        bone_count: columns of the animation's bones in `Work.bones`.
        driven: for each cloth data and operator, where its first bone stands among the driven.
        triangles: by cloth data and buffer, the drawn meshes'.
        configs: the setting of each simulated cloth.
    """

    file: records.ClothFile
    layout: Layout
    bodies: Bodies
    bone_count: int
    driven: Mapping[tuple[int, int], int]
    triangles: Mapping[tuple[int, int], Array]
    configs: Sequence[records.SimulateConfig]

    def plan(self, lists: Sequence[Sequence[int]], *, fill: bool) -> Plan:
        """Return the stages of operator lists, one a cloth data.

        Args:
            lists: operator indices of each cloth data.
            fill: skin what operators read of display buffers before they write it.
        """
        jobs = [self._jobs(data, operators) for data, operators in enumerate(lists)]
        fills = [job for data, operators in enumerate(lists) if fill for job in self._fill(data, operators)]
        needed = [
            [job for job, use in zip(own, self._needed(data, operators), strict=True) if use]
            for data, (own, operators) in enumerate(zip(jobs, lists, strict=True))
        ]
        shown = self._copied_normals(jobs)
        stages: dict[tuple[Hashable, ...], Stage] = {}
        full = self._stages(jobs, shown, stages)
        particles = self._stages(needed, shown, stages)
        simulations = tuple(stage.simulation for stage in full if isinstance(stage, SimulateStage))
        fill_stage = SkinStage(fills, self.layout) if fills else None
        return Plan(fill_stage, self._particles_read(fills), tuple(full), tuple(particles), simulations)

    def _jobs(self, data: int, operators: Sequence[int]) -> list[Job]:
        """Return the jobs of a list; bones that an earlier operator of it drove are read as driven."""
        current: dict[int, int] = {}
        jobs = []
        for index in operators:
            operator = self.file.datas[data].operators[index]
            if type(operator) not in KINDS:
                continue
            bones: Any = None
            if isinstance(operator, records.Skin):
                bones = np.array([current.get(bone, bone) for bone in operator.bones.tolist()], np.intp)
            elif isinstance(operator, records.SimpleMeshBoneDeform | records.MeshBoneDeform):
                bones = self.driven[data, index]
                for place, bone in enumerate(driven_bones(operator).tolist()):
                    current[bone] = self.bone_count + bones + place
            jobs.append(Job(data, operator, bones))
        return jobs

    def _fill(self, data: int, operators: Sequence[int]) -> list[Job]:
        """Return skins for the vertices of display buffers that hold the posed mesh when something reads them.

        Those are the vertices that no operator writes before the first one that reads the mesh.
        """
        own = self.file.datas[data]
        listed = [own.operators[index] for index in operators]
        state = next((state for state in own.states if state.name == "_Skin"), None)
        jobs = []
        for skin in [own.operators[index] for index in (state.operators.tolist() if state else [])]:
            if isinstance(skin, records.Skin):
                place = self.layout.buffers[data][skin.output]
                before = listed[: self._first_reader(data, listed, place)]
                posed = ~self.written(data, before, place)
                if place.display and posed.any() and self.written(data, listed, place).any():
                    jobs.append(Job(data, skin, skin.bones.astype(np.intp), posed))
        return jobs

    def _first_reader(self, data: int, listed: Sequence[records.Operator], place: BufferPlace) -> int:
        """Return where in a list a buffer is read first, the list's length where it is not."""
        for row, operator in enumerate(listed):
            frames = isinstance(operator, records.VertexFrames) and self.layout.buffers[data][operator.buffer] is place
            if frames or place.start in self._reads(data, operator):
                return row
        return len(listed)

    def _particles_read(self, jobs: Sequence[Job]) -> bool:
        """Tell whether particles depend on what jobs put into display buffers."""
        filled = {self._target(job) for job in jobs}
        movers = (records.Simulate, records.MoveParticles)
        return any(
            filled & self._reads(data, operator)
            for data, own in enumerate(self.file.datas)
            for operator in own.operators
            if isinstance(operator, movers)
        )

    def written(self, data: int, operators: Sequence[records.Operator], place: BufferPlace) -> Array:
        """Return which vertices of a buffer operators write, (n,) bool."""
        found = np.zeros(place.count, np.bool_)
        for operator in operators:
            target = getattr(operator, "output", None)
            if target is None or self.layout.buffers[data][target] is not place:
                continue
            if isinstance(operator, records.Skin | records.MeshMeshDeform):
                for blend in operator.blends:
                    found[blend.vertices] = True
            elif isinstance(operator, records.CopyVertices | records.GatherVertices):
                found[copied(operator)[1]] = True
        return found

    def _needed(self, data: int, operators: Sequence[int]) -> list[bool]:
        """Return for each job of a list whether particles or bones depend on it.

        All up to the last of those that move particles or bones; what follows only where it leaves something in a
        buffer that they read in the next step, before it is written again.
        """
        own = [self.file.datas[data].operators[index] for index in operators]
        own = [operator for operator in own if type(operator) in KINDS]
        movers = [row for row, operator in enumerate(own) if KINDS[type(operator)] in {"simulate", "move", "bones"}]
        last = max(movers, default=-1) + 1
        read = {place for operator in own[:last] for place in self._reads(data, operator)}
        left = [place for operator in own[last:] for place in self._outputs(data, operator) if place.start in read]
        kept = any(not self.written(data, own[:last], place).all() for place in left)
        return [kept or row < last for row in range(len(own))]

    def _outputs(self, data: int, operator: records.Operator) -> list[BufferPlace]:
        """Return the buffers whose positions an operator writes."""
        target = getattr(operator, "output", None)
        return [] if target is None else [self.layout.buffers[data][target]]

    def _reads(self, data: int, operator: records.Operator) -> set[int]:
        """Return the first columns of the buffers an operator reads."""
        places = self.layout.buffers[data]
        if isinstance(operator, records.MoveParticles):
            return {places[operator.buffer].start}
        if isinstance(operator, records.Simulate):
            tied = [one for one in self.file.datas[data].sims[operator.sim].constraints if isinstance(one, TIED)]
            return {places[one.buffer].start for one in tied if isinstance(one, TIED)}
        source = getattr(operator, "input", None)
        return set() if source is None else {places[source].start}

    def _copied_normals(self, jobs: list[list[Job]]) -> frozenset[int]:
        """Return the simulated cloths whose normals are copied to a mesh."""
        found: set[int] = set()
        for job in (job for own in jobs for job in own):
            if KINDS[type(job.operator)] == "copy" and job.operator.normals:
                found.add(self.layout.buffers[job.data][job.operator.input].sim)
        return frozenset(found - {-1})

    def _stages(
        self, jobs: list[list[Job]], shown: frozenset[int], made: dict[tuple[Hashable, ...], Stage]
    ) -> list[Stage]:
        """Return the stages of jobs, one list a cloth data; ``made`` holds those that another plan has already."""
        bundles = [self._bundles(own) for own in jobs]
        done = [0] * len(bundles)
        stages = []
        for key, taking in merge([[self._key(bundle[0]) for bundle in own] for own in bundles]):
            together = [job for row in taking for job in bundles[row][done[row]]]
            for row in taking:
                done[row] += 1
            stages.append(self._stage(key, together, shown, made))
        return stages

    def _bundles(self, jobs: list[Job]) -> list[list[Job]]:
        """Return a cloth's jobs, neighbours together that are of one kind and do not read one another."""
        bundles: list[list[Job]] = []
        for job in jobs:
            last = bundles[-1] if bundles else []
            kind = KINDS[type(job.operator)]
            if last and KINDS[type(last[0].operator)] == kind and kind in {"skin", "mesh", "frames"}:
                touched = self._reads(job.data, job.operator) | ({self._target(job)} if kind == "frames" else set())
                if not touched & {self._target(one) for one in last}:
                    last.append(job)
                    continue
            bundles.append([job])
        return bundles

    def _target(self, job: Job) -> int:
        buffer = job.operator.buffer if isinstance(job.operator, records.VertexFrames) else job.operator.output
        return self.layout.buffers[job.data][buffer].start

    def _key(self, job: Job) -> Hashable:
        if isinstance(job.operator, records.Simulate):
            config = job.operator.configs[0]
            return "simulate", config.substeps, config.iterations
        return KINDS[type(job.operator)]

    def _stage(
        self, key: Hashable, jobs: list[Job], shown: frozenset[int], made: dict[tuple[Hashable, ...], Stage]
    ) -> Stage:
        if isinstance(key, tuple):
            sims = [self.layout.sim(job.data, job.operator.sim) for job in jobs]
            if (key, *sims) not in made:
                config = jobs[0].operator.configs[0]
                simulation = Simulation(sims, config, self.layout, self.bodies, self.configs)
                copied_from = [self.layout.sims[sim] for sim in sims if sim in shown]
                made[key, *sims] = SimulateStage(simulation, sim_normals(copied_from, self.layout))
            return made[key, *sims]
        if key == "frames":
            return FrameStage(jobs, self.layout, dict(self.triangles))
        stage: Stage = SIMPLE[str(key)](jobs, self.layout)
        return stage
