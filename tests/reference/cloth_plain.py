"""Cloth stepped plainly: one particle, one link, one vertex after another, as the games' loops read.

Written from the same rules as `addon.cloth` but apart from it: lists of `np.float32`, no arrays, no batches, one cloth
data at a time. What both compute must be equal to the last bit. Only what the corpus needs is here: one root, no
transitions, no wind.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from addon.codec.havok import cloth as records

from .cloth_plain_maths import (
    ONE,
    ZERO,
    F,
    Roots,
    add,
    advance,
    columns,
    compose,
    cross,
    direction_by,
    dot,
    drive,
    frame_of,
    mul,
    point_by,
    scalars,
    sub,
)  # fmt: skip
from .cloth_plain_solve import constraint_rows, solve

MOVERS = {"Simulate", "MoveParticles", "SimpleMeshBoneDeform"}


@dataclass
class Buffer:
    points: list
    normals: list
    tangents: list
    has_normals: bool
    triangles: list


@dataclass
class Sim:
    record: records.SimCloth
    now: Buffer
    before: Buffer
    last: np.float32 = ZERO
    places: list = field(default_factory=list)
    linear: list = field(default_factory=list)
    angular: list = field(default_factory=list)
    eigenvectors: dict = field(default_factory=dict)
    rows: dict = field(default_factory=dict)


class Cloth:
    """One cloth data."""

    def __init__(self, data, triangles=None, roots=None):
        self.data, self.roots = data, roots or Roots()
        self.triangles = triangles or {}
        self.shown = True
        self.buffers: dict[int, Buffer] = {}
        self.sims = [self._sim(record) for record in data.sims]
        kinds = {1: 0, 2: 0}
        for index, buffer in enumerate(data.buffers):
            if buffer.type in kinds:
                sim = self.sims[kinds[buffer.type]]
                self.buffers[index] = sim.now if buffer.type == 1 else sim.before
                kinds[buffer.type] += 1
            elif buffer.type != 7:
                self.buffers[index] = self._buffer(buffer.vertex_count, buffer.triangles, buffer.stores_normals)
        self.driven: dict[int, list] = {}
        self.skins = {
            id(operator): (
                [columns(bind) for bind in operator.binds] if operator.binds is not None else None,
                [self._vertices(blend) for blend in operator.blends],
            )
            for operator in data.operators
            if isinstance(operator, records.Skin | records.MeshMeshDeform)
        }

    def _buffer(self, count, triangles, has_normals=True):  # noqa: FBT002
        zeros = [[ZERO, ZERO, ZERO] for _ in range(count)]
        return Buffer(zeros, list(zeros), list(zeros), has_normals, np.asarray(triangles).tolist())

    def _sim(self, record):
        now = self._buffer(len(record), record.triangles)
        before = self._buffer(len(record), record.triangles)
        now.points, before.points = scalars(record.poses[0]), scalars(record.poses[0])
        sim = Sim(record, now, before)
        for body in record.collidables:
            sim.places.append(columns(body.transform))
            sim.linear.append([ZERO] * 3)
            sim.angular.append([ZERO] * 3)
        sim.rows["mass"], sim.rows["inverse"] = list(record.mass), list(record.inverse_mass)
        sim.rows["radius"], sim.rows["friction"] = list(record.radius), list(record.friction)
        sim.rows["masks"] = record.masks.tolist()
        for index, one in enumerate(record.constraints):
            sim.rows[index] = constraint_rows(one)
        return sim

    def _vertices(self, blend):
        weights = None if blend.weights is None else scalars(blend.weights)
        channels = [
            None if rows is None else scalars(rows) for rows in (blend.positions, blend.normals, blend.tangents)
        ]
        return blend.vertices.tolist(), blend.sources.tolist(), weights, *channels

    # -- a step --

    def operators(self, name):
        state = next((one for one in self.data.states if one.name == name), None)
        return [] if state is None else [self.data.operators[index] for index in state.operators.tolist()]

    def reset(self, bones):
        main = self.main_state()
        for prefix in ("_preAtoS_", "_curAtoS_"):
            self.run(self.operators(prefix + main), bones, ONE)
        for sim in self.sims:
            for index, goal in enumerate(self._goals(sim, bones)):
                sim.places[index] = goal

    def main_state(self):
        for state in self.data.states:
            if any(isinstance(self.data.operators[index], records.Simulate) for index in state.operators.tolist()):
                return state.name
        raise ValueError(self.data.name)

    def step(self, bones, dt, *, shown=True):
        """Step by dt seconds; ``bones`` are the animation's, as columns. Meshes can be left out: nothing reads them."""
        self.shown = shown
        operators = self.operators(self.main_state())
        if not shown:
            movers = [row for row, operator in enumerate(operators) if type(operator).__name__ in MOVERS]
            operators = operators[: movers[-1] + 1]
        for operator in operators:
            if isinstance(operator, records.Simulate):
                self._prepare(self.sims[operator.sim], (ONE / F(operator.configs[0].substeps)) * dt)
        if shown:
            # the mesh as the game hands it over, posed
            self.run(self.operators("_Skin"), bones, dt)
        self.run(operators, bones, dt)

    def run(self, operators, bones, dt):
        bones = list(bones)
        for operator in operators:
            name = type(operator).__name__
            if name == "Skin":
                self._skin(operator, bones)
            elif name == "MeshMeshDeform":
                self._mesh_mesh(operator)
            elif name == "MoveParticles":
                self._move(operator)
            elif name == "Simulate":
                self._simulate(self.sims[operator.sim], operator.configs[0], bones, dt)
            elif name in {"CopyVertices", "GatherVertices"}:
                self._copy(operator)
            elif name == "SimpleMeshBoneDeform":
                self._bones(operator, bones)
            elif name == "VertexFrames":
                self._frames(operator)

    def _prepare(self, sim, step):
        if step == sim.last:
            return
        if sim.last != ZERO:
            ratio = ONE - step / sim.last
            for row, (p, q) in enumerate(zip(sim.now.points, sim.before.points, strict=True)):
                sim.before.points[row] = add(q, mul(sub(p, q), ratio))
        sim.last = step

    def _skin(self, operator, bones):
        binds, blends = self.skins[id(operator)]
        maps = [bones[bone] for bone in operator.bones.tolist()]
        if binds is not None:
            maps = [compose(bone, bind) for bone, bind in zip(maps, binds, strict=True)]
        self._carry(self.buffers[operator.output], maps, blends, binds is not None)

    def _mesh_mesh(self, operator):
        binds, blends = self.skins[id(operator)]
        source = self.buffers[operator.input]
        chosen = range(len(source.triangles)) if operator.triangles is None else operator.triangles.tolist()
        corners = [[source.points[corner] for corner in source.triangles[triangle]] for triangle in chosen]
        maps = [frame_of(*points, operator.scale, self.roots) for points in corners]
        if binds is not None:
            maps = [compose(frame, bind) for frame, bind in zip(maps, binds, strict=True)]
        self._carry(self.buffers[operator.output], maps, blends, binds is not None)

    def _carry(self, target, maps, blends, object_space):
        for vertices, sources, weights, *channels in blends:
            for row, vertex in enumerate(vertices):
                own = [maps[source] for source in sources[row]]
                if object_space:
                    m = own[0]
                    if weights is not None:
                        m = [mul(column, weights[row][0]) for column in m]
                        for influence, weight in zip(own[1:], weights[row][1:], strict=True):
                            m = [add(c, mul(d, weight)) for c, d in zip(m, influence, strict=True)]
                    values = [point_by, direction_by, direction_by]
                    made = [None if ch is None else by(m, ch[row]) for by, ch in zip(values, channels, strict=True)]
                else:
                    made = [None if ch is None else bone_space(own, ch[row]) for ch in channels]
                for store, value in zip((target.points, target.normals, target.tangents), made, strict=True):
                    if value is not None:
                        store[vertex] = value

    def _move(self, operator):
        sim, source = self.sims[operator.sim], self.buffers[operator.buffer]
        for vertex, particle in zip(operator.vertices.tolist(), operator.particles.tolist(), strict=True):
            goal = list(source.points[vertex])
            sim.before.points[particle] = sim.now.points[particle] if len(sim.record.fixed) else goal
            sim.now.points[particle] = goal

    def _copy(self, operator):
        source, target = self.buffers[operator.input], self.buffers[operator.output]
        if isinstance(operator, records.CopyVertices):
            pairs = [(operator.start_in + row, operator.start_out + row) for row in range(operator.count)]
        else:
            pairs = list(zip(operator.source.tolist(), operator.target.tolist(), strict=True))
        for one, other in pairs:
            target.points[other] = list(source.points[one])
            if operator.normals and source.has_normals:
                target.normals[other] = list(source.normals[one])

    def _bones(self, operator, bones):
        source, root = self.buffers[operator.input], self.roots.rough
        rows = zip(operator.bones.tolist(), operator.triangles.tolist(), operator.local, strict=True)
        for bone, triangle, local in rows:
            a, b, n, c = frame_of(*(source.points[corner] for corner in source.triangles[triangle]), 1, self.roots)
            made = []
            for column in (0, 2, 3):
                la, lb, ln, lc = (F(local[lane][column]) for lane in range(4))
                made.append(add(add(add(mul(b, lb), mul(a, la)), mul(n, ln)), mul(c, lc)))
            first, third, origin = made
            second = cross(third, first)
            axes = [cross(second, third), second, third]
            bones[bone] = self.driven[bone] = [*(mul(axis, root(dot(axis, axis))) for axis in axes), origin]

    def _frames(self, operator):
        buffer = self.buffers[operator.buffer]
        corners = self.triangles.get(operator.buffer) if operator.corners is None else operator.corners.tolist()
        selected = list(range(len(buffer.points))) if operator.vertices is None else operator.vertices.tolist()
        involved = list(range(len(buffer.points))) if operator.involved is None else operator.involved.tolist()
        if operator.normals and corners is not None:
            ids = operator.normal_ids.tolist()
            sums = [[ZERO] * 3 for _ in range(operator.id_count)]
            for triangle, flip in zip(corners, operator.flips.tolist(), strict=False):
                v0, v1, v2 = (buffer.points[involved[corner]] for corner in triangle)
                normal = mul(cross(sub(v1, v0), sub(v2, v0)), F(1 - 4 * flip))
                for corner in triangle:
                    sums[ids[corner]] = add(sums[ids[corner]], normal)
            sums = [mul(total, self.roots.rough(dot(total, total))) for total in sums]
            place = {vertex: row for row, vertex in enumerate(involved)}
            for vertex in selected:
                buffer.normals[vertex] = sums[ids[place[vertex]]]
        if operator.tangents:
            rows = zip(selected, operator.references.tolist(), operator.cos, operator.sin, strict=True)
            for vertex, reference, cos, sin in rows:
                normal = buffer.normals[vertex]
                edge = sub(buffer.points[reference], buffer.points[vertex])
                start = sub(edge, mul(normal, dot(normal, edge)))
                start = mul(start, self.roots.rough(dot(start, start)))
                buffer.tangents[vertex] = add(mul(start, cos), mul(cross(normal, start), sin))

    # -- the particles --

    def _goals(self, sim, bones):
        own = sim.record.collidable_map
        if own.transform_set < 0:
            return list(sim.places)
        rows = zip(own.bones.tolist(), own.offsets, strict=True)
        return [compose(bones[bone], columns(offset)) for bone, offset in rows]

    def _simulate(self, sim, config, bones, dt):
        record, now, before = sim.record, sim.now.points, sim.before.points
        share = ONE / F(config.substeps)
        step = share * dt
        for index, goal in enumerate(self._goals(sim, bones)):
            sim.linear[index], sim.angular[index] = drive(sim.places[index], goal, dt, self.roots)
        fixed = record.fixed.tolist()
        ends = {particle: (now[particle], before[particle]) for particle in fixed}
        damping = kept(record.damping, step)
        for substep in range(config.substeps):
            for index in range(len(sim.places)):
                sim.places[index] = advance(sim.places[index], sim.linear[index], sim.angular[index], step, self.roots)
            ahead = F(substep + 1) * share
            for particle, (goal, origin) in ends.items():
                now[particle] = add(mul(goal, ahead), mul(origin, ONE - ahead))
                before[particle] = list(now[particle])
            self._integrate(sim, damping, step)
            for _ in range(config.iterations):
                order = config.execution.tolist() or [*range(len(record.constraints)), -1]
                for index in order:
                    solve(self, sim, index, step)
        if record.makes_normals and self.shown:
            self._sim_normals(sim)

    def _integrate(self, sim, damping, step):
        (gx, gy, gz), square = sim.record.gravity, step * step
        now, before = sim.now.points, sim.before.points
        for row, (mass, inverse) in enumerate(zip(sim.rows["mass"], sim.rows["inverse"], strict=True)):
            x, y, z = now[row]
            qx, qy, qz = before[row]
            before[row] = now[row]
            now[row] = [
                ((mass * gx + ZERO) * inverse) * square + ((x - qx) * damping + x),
                ((mass * gy + ZERO) * inverse) * square + ((y - qy) * damping + y),
                ((mass * gz + ZERO) * inverse) * square + ((z - qz) * damping + z),
            ]

    def _sim_normals(self, sim):
        points = sim.now.points
        sums = [[ZERO] * 3 for _ in points]
        for (i0, i1, i2), flip in zip(sim.record.triangles.tolist(), sim.record.flips.tolist(), strict=True):
            second, first = sub(points[i2], points[i0]), sub(points[i1], points[i0])
            normal = mul(cross(first, second), F(1 - 4 * flip))
            for corner in (i0, i1, i2):
                sums[corner] = add(sums[corner], normal)
        sim.now.normals[:] = [mul(total, self.roots.rough(dot(total, total))) for total in sums]


def bone_space(maps, value):
    total = [ZERO] * 3
    for ((ax, ay, az), (bx, by, bz), (cx, cy, cz), origin), (x, y, z, *w) in zip(maps, value, strict=True):
        part = [(bx * y + ax * x) + cx * z, (by * y + ay * x) + cy * z, (bz * y + az * x) + cz * z]
        if w:
            part = add(part, mul(origin, w[0]))
        total = add(total, part)
    return total


def kept(damping, step):
    if damping >= ONE:
        return ZERO
    return ONE if damping == ZERO else F(float(ONE - damping) ** float(step))
