"""Index ranges: what one part of a cloth stores into another (seed "Havok cloth data", what the cloth data uses).

All of them hold in every game file, so a cloth that breaks one is refused; the simulation then never looks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ...binary import Array
from ..objects import View
from .constraints import LocalRange, Transition
from .data import ClothData, SimCloth, Skeleton
from .deformer import Blend
from .operators import (
    Convert,
    CopyVertices,
    GatherVertices,
    MeshBoneDeform,
    MeshMeshDeform,
    MoveParticles,
    Operator,
    SimpleMeshBoneDeform,
    Simulate,
    Skin,
    VertexFrames,
)

Rule = tuple[str, Array | int, int]
"""What is named, the indices, and the number of things there are."""


def check_cloth(data: ClothData, skeleton: Skeleton | None, view: View) -> None:
    """Check every index of a cloth.

    Raises:
        FormatError: one is out of range, or a count contradicts another.
    """
    for place, sim in enumerate(data.sims):
        _apply(_sim_rules(data, sim), view, f"simClothDatas[{place}]")
    for place, operator in enumerate(data.operators):
        _apply(_operator_rules(data, operator), view, f"operators[{place}]")
    for place, state in enumerate(data.states):
        rules: list[Rule] = [
            ("operator", state.operators, len(data.operators)),
            ("buffer", state.buffers, len(data.buffers)),
            ("buffer", state.shadows, len(data.buffers)),
            ("simulated cloth", state.sims, len(data.sims)),
        ]
        _apply(iter(rules), view, f"clothStateDatas[{place}]")
    for place, transform_set in enumerate(data.transform_sets):
        if skeleton is None or transform_set.count != len(skeleton.bones):
            bones = "no skeleton" if skeleton is None else f"a skeleton of {len(skeleton.bones)} bones"
            view.fail(f"{transform_set.count} transforms for {bones}", f"transformSetDefinitions[{place}]")


def _apply(rules: Iterator[Rule], view: View, step: str) -> None:
    for what, values, count in rules:
        indices = np.atleast_1d(np.asarray(values, np.int64))
        wrong = indices[(indices < 0) | (indices >= count)]
        if len(wrong):
            view.fail(f"{what} {wrong[0]}, there are {count}", step)


def _sim_rules(data: ClothData, sim: SimCloth) -> Iterator[Rule]:
    yield "fixed particle", sim.fixed, len(sim)
    yield "triangle corner", sim.triangles, len(sim)
    if len(sim.masks):
        yield "missing collision masks", len(sim.masks) - len(sim), 1
    if sim.collidable_map.transform_set >= 0:
        yield "transform set", sim.collidable_map.transform_set, len(data.transform_sets)
        bones = data.transform_sets[sim.collidable_map.transform_set].count
        yield "bone of a collidable", sim.collidable_map.bones, bones
    for constraint in sim.constraints:
        yield f"{constraint.name}: particle", constraint.particles, len(sim)
        if isinstance(constraint, LocalRange | Transition):
            yield f"{constraint.name}: reference buffer", constraint.buffer, len(data.buffers)
            yield f"{constraint.name}: vertex", constraint.vertex, data.buffers[constraint.buffer].vertex_count


def _operator_rules(data: ClothData, operator: Operator) -> Iterator[Rule]:
    for kind, rules in RULES.items():
        if isinstance(operator, kind):
            yield from rules(data, operator)


def _simulate_rules(data: ClothData, operator: Simulate) -> Iterator[Rule]:
    yield "simulated cloth", operator.sim, len(data.sims)
    yield "first setting", 0, len(operator.configs)
    for config in operator.configs:
        # -1 is collision
        yield "executed constraint set", config.execution + 1, len(data.sims[operator.sim].constraints) + 1


def _move_rules(data: ClothData, operator: MoveParticles) -> Iterator[Rule]:
    yield "simulated cloth", operator.sim, len(data.sims)
    yield "particle", operator.particles, len(data.sims[operator.sim])
    yield from _vertices(data, operator.buffer, operator.vertices)


def _copy_rules(data: ClothData, operator: CopyVertices) -> Iterator[Rule]:
    for buffer, start in ((operator.input, operator.start_in), (operator.output, operator.start_out)):
        yield "buffer", buffer, len(data.buffers)
        yield "end of the copied vertices", start + operator.count, data.buffers[buffer].vertex_count + 1


def _gather_rules(data: ClothData, operator: GatherVertices) -> Iterator[Rule]:
    yield from _vertices(data, operator.input, operator.source)
    yield from _vertices(data, operator.output, operator.target)


def _convert_rules(data: ClothData, operator: Convert) -> Iterator[Rule]:
    yield "buffer", np.array([operator.user, operator.shadow]), len(data.buffers)


def _vertices(data: ClothData, buffer: int, vertices: Array) -> Iterator[Rule]:
    yield "buffer", buffer, len(data.buffers)
    yield "vertex", vertices, data.buffers[buffer].vertex_count


def _deform_rules(data: ClothData, operator: Skin | MeshMeshDeform) -> Iterator[Rule]:
    yield "output buffer", operator.output, len(data.buffers)
    if isinstance(operator, Skin):
        yield "transform set", operator.transform_set, len(data.transform_sets)
        yield "bone", operator.bones, data.transform_sets[operator.transform_set].count
        sources = len(operator.bones)
    else:
        yield "input buffer", operator.input, len(data.buffers)
        sources = data.buffers[operator.input].triangle_count
        if operator.triangles is not None:
            yield "triangle", operator.triangles, sources
            sources = len(operator.triangles)
    if operator.binds is not None:
        yield "number of bind matrices", len(operator.binds) - sources, 1
    for blend in operator.blends:
        yield from _blend_rules(blend, sources, data.buffers[operator.output].vertex_count)


def _blend_rules(blend: Blend, sources: int, vertices: int) -> Iterator[Rule]:
    yield "bone or triangle of a vertex", blend.sources, sources
    yield "vertex", blend.vertices, vertices


def _bone_rules(data: ClothData, operator: SimpleMeshBoneDeform | MeshBoneDeform) -> Iterator[Rule]:
    yield "input buffer", operator.input, len(data.buffers)
    yield "transform set", operator.transform_set, len(data.transform_sets)
    yield "triangle", operator.triangles, data.buffers[operator.input].triangle_count
    bones = data.transform_sets[operator.transform_set].count
    if isinstance(operator, SimpleMeshBoneDeform):
        yield "bone", operator.bones, bones
    else:
        yield "last bone", len(operator.starts) - 1, bones + 1
        yield "first row of a bone", operator.starts, len(operator.triangles) + 1
        yield "step back between bones", np.flatnonzero(np.diff(operator.starts) < 0), 0


def _frame_rules(data: ClothData, operator: VertexFrames) -> Iterator[Rule]:
    yield "buffer", operator.buffer, len(data.buffers)
    size = data.buffers[operator.buffer].vertex_count
    vertices = np.arange(size) if operator.vertices is None else operator.vertices
    yield "vertex", vertices, size
    involved = vertices if operator.involved is None else operator.involved
    yield "vertex", involved, size
    if operator.corners is not None:
        yield "triangle corner", operator.corners, len(involved)
    if operator.normals:
        yield "normal id", operator.normal_ids, operator.id_count
        yield "missing normal ids", len(operator.normal_ids) - len(involved), 1
    if operator.tangents:
        yield "reference vertex", operator.references, size
        yield "missing tangents", np.array([len(operator.cos), len(operator.sin)]) - len(vertices), 1
        yield "missing reference vertices", len(operator.references) - len(vertices), 1


RULES: dict[type[Operator], Callable[[ClothData, Any], Iterator[Rule]]] = {
    Simulate: _simulate_rules,
    MoveParticles: _move_rules,
    Skin: _deform_rules,
    MeshMeshDeform: _deform_rules,
    SimpleMeshBoneDeform: _bone_rules,
    MeshBoneDeform: _bone_rules,
    CopyVertices: _copy_rules,
    GatherVertices: _gather_rules,
    Convert: _convert_rules,
    VertexFrames: _frame_rules,
}
