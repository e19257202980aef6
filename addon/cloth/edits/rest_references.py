"""The reference meshes of cloth, after rest poses moved: what pins, ranges and resets follow moves along.

A particle's reference is a vertex of a buffer that a skin, or another cloth's deformer, writes in the same list of
operators before the cloth reads it. In the reference pose it lies on the particle's rest position, so its local data
move by what the particle moved, and its normal turns as the normal of the particle's triangles does.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...codec.binary import Array
from ...codec.havok import cloth as records
from ...codec.havok.cloth.values import pack, unpack
from ..layout import Layout
from .rest_sets import Move

NOBODY, COPIED = -1, -2
APART = 1e-6
"""Metres between two moves of one vertex that are the same."""
Reading = tuple[int, Array, Array]
"""A simulated cloth over the whole file, vertices of a buffer, and the particles that follow them."""


@dataclass(frozen=True, eq=False)
class References:
    """Which vertices particles of some cloths follow, one row for each and for each operator that writes it.

    Attributes:
        operator: (k,) place of the operator that writes the vertex, `NOBODY` where none does.
        buffer: (k,) the buffer it is in.
        vertex: (k,) in that buffer.
        sim: (k,) number of the cloth over the whole file.
        particle: (k,).
    """

    operator: Array
    buffer: Array
    vertex: Array
    sim: Array
    particle: Array

    def take(self, rows: Array) -> References:
        """Return some rows."""
        return References(*(getattr(self, name)[rows] for name in vars(self)))


def references(layout: Layout, data: records.ClothData, number: int) -> References:
    """Return what the particles of a cloth data follow, in any of its states.

    Left out are resets of a cloth from a drawn mesh that it is not copied to: that mesh stays the model's.
    """
    places = layout.buffers[number]
    shown = _copied_to(layout, data, number)
    rows: list[tuple[Array, ...]] = []
    for state in data.states:
        writers = {place.buffer: np.full(place.count, NOBODY) for place in places}
        for index in state.operators.tolist():
            operator = data.operators[index]
            for buffer, (sim, vertices, particles) in _readings(layout, data, number, operator):
                place = places[buffer]
                reset = isinstance(operator, records.CopyVertices | records.GatherVertices)
                if reset and place.display and (sim, place.buffer) not in shown:
                    continue
                own = writers[place.buffer][vertices]
                kept = own != COPIED
                count = np.count_nonzero(kept)
                rows.append((
                    own[kept], np.full(count, place.buffer), vertices[kept], np.full(count, sim), particles[kept],
                ))  # fmt: skip
            _write(writers, layout, number, operator, index)
    joined = [np.concatenate(column) for column in zip(*rows, strict=True)] if rows else [np.zeros(0, np.intp)] * 5
    return References(*(column.astype(np.intp) for column in np.unique(np.stack(joined), axis=1)))


def _copied_to(layout: Layout, data: records.ClothData, number: int) -> set[tuple[int, int]]:
    """Return which cloths are copied to which drawn meshes: those show the particles themselves."""
    places = layout.buffers[number]
    return {
        (sim_of(layout, places[operator.input].start), places[operator.output].buffer)
        for operator in data.operators
        if isinstance(operator, records.CopyVertices | records.GatherVertices) and places[operator.output].display
    }


def shown_by(layout: Layout, data: records.ClothData, number: int, sim: int) -> list[str]:
    """Return the names of the drawn meshes that a cloth's particles are copied to."""
    shown = _copied_to(layout, data, number)
    return [data.buffers[buffer].name for one, buffer in sorted(shown) if one == sim]


def sim_of(layout: Layout, start: int) -> int:
    """Return the number of the cloth whose current or previous positions start at a column, -1 for none."""
    column = start - layout.particles if start >= layout.particles else start
    found = [number for number, place in enumerate(layout.sims) if place.start == column]
    return found[0] if found and start < 2 * layout.particles else -1


def _readings(
    layout: Layout, data: records.ClothData, number: int, operator: records.Operator
) -> Iterator[tuple[int, Reading]]:
    """Yield the buffers that an operator reads for particles."""
    if isinstance(operator, records.MoveParticles):
        sim = layout.sim(number, operator.sim)
        yield operator.buffer, (sim, operator.vertices.astype(np.intp), operator.particles.astype(np.intp))
    elif isinstance(operator, records.Simulate):
        sim = layout.sim(number, operator.sim)
        for one in data.sims[operator.sim].constraints:
            if isinstance(one, records.LocalRange | records.Transition):
                yield one.buffer, (sim, one.vertex.astype(np.intp), one.particle.astype(np.intp))
    elif isinstance(operator, records.CopyVertices | records.GatherVertices):
        sim = sim_of(layout, layout.buffers[number][operator.output].start)
        if sim >= 0:
            source, target = copied_vertices(operator)
            yield operator.input, (sim, source, target)


def copied_vertices(operator: records.CopyVertices | records.GatherVertices) -> tuple[Array, Array]:
    """Return which vertices an operator copies, and to where."""
    if isinstance(operator, records.CopyVertices):
        rows = np.arange(operator.count)
        return rows + operator.start_in, rows + operator.start_out
    return operator.source.astype(np.intp), operator.target.astype(np.intp)


def _write(writers: dict[int, Array], layout: Layout, number: int, operator: records.Operator, index: int) -> None:
    """Note which vertices an operator writes."""
    places = layout.buffers[number]
    if isinstance(operator, records.Skin | records.MeshMeshDeform):
        for blend in operator.blends:
            writers[places[operator.output].buffer][blend.vertices] = index
    elif isinstance(operator, records.CopyVertices | records.GatherVertices):
        writers[places[operator.output].buffer][copied_vertices(operator)[1]] = COPIED


@dataclass(frozen=True, eq=False)
class Shift:
    """How the vertices of a buffer that an operator writes move.

    Attributes:
        moved: (count,) bool.
        step: (count, 3) f8.
        old, new: (count, 3) f4 where they lie on particles, before and after.
        turned: (count,) bool.
        turn: (count, 3, 3) f8 of their normals.
    """

    moved: Array
    step: Array
    old: Array
    new: Array
    turned: Array
    turn: Array

    @classmethod
    def of(cls, rows: References, moves: dict[int, Move], turns: dict[int, tuple[Array, Array]], count: int) -> Shift:
        """Gather the rows of one operator."""
        step, old, new = np.zeros((count, 3)), *np.zeros((2, count, 3), np.float32)
        moved, turned = np.zeros((2, count), np.bool_)
        turn = np.broadcast_to(np.eye(3), (count, 3, 3)).copy()
        for sim in np.unique(rows.sim).tolist():
            if sim not in moves:
                continue
            own = rows.sim == sim
            vertices, particles, move = rows.vertex[own], rows.particle[own], moves[sim]
            old[vertices], new[vertices] = move.old[particles], move.new[particles]
            step[vertices] = new[vertices].astype(np.float64) - old[vertices]
            moved[vertices] = move.moved[particles]
            turned[vertices], turn[vertices] = turns[sim][0][particles], turns[sim][1][particles]
        return cls(moved, step, old, new, turned, turn)


def torn(rows: References, moves: dict[int, Move]) -> Array:
    """Return the rows of vertices that particles follow which move apart, (k,) bool."""
    step = np.zeros((len(rows.sim), 3))
    for sim, move in moves.items():
        own = rows.sim == sim
        step[own] = (move.new.astype(np.float64) - move.old)[rows.particle[own]]
    _, group = np.unique(np.stack([rows.operator, rows.buffer, rows.vertex]), axis=1, return_inverse=True)
    group = group.reshape(-1)
    low, high = (np.full((group.max(initial=-1) + 1, 3), value) for value in (np.inf, -np.inf))
    np.minimum.at(low, group, step)
    np.maximum.at(high, group, step)
    wide: Array = (high - low > APART).any(1)[group]
    return wide


def shifted(operator: Any, shift: Shift, sources: Array) -> Any:
    """Return a skin or mesh-mesh deformer that carries its vertices to where they moved.

    Args:
        operator: the operator.
        shift: how its output buffer moves.
        sources: (s, 4, 4) f8 what carries its local data, at rest: bones or triangles, with their binds.
    """
    blends = []
    for blend in operator.blends:
        moved, turned = shift.moved[blend.vertices], shift.turned[blend.vertices]
        if not (moved | turned).any():
            blends.append(blend)
            continue
        carry = _in_object_space if operator.binds is not None else _in_bone_space
        blends.append(replace(blend, **carry(blend, shift, np.flatnonzero(moved), np.flatnonzero(turned), sources)))
    if all(made is blend for made, blend in zip(blends, operator.blends, strict=True)):
        return operator
    return replace(operator, blends=tuple(blends))


def _in_object_space(
    blend: records.Blend, shift: Shift, moved: Array, turned: Array, sources: Array
) -> dict[str, Array]:
    """Return changed local data in the mesh's space, packed.

    They are the rest position itself, or, where binds are of another pose of the rig, what bones carry there.
    """
    positions, vertices = blend.positions.copy(), blend.vertices[moved]
    on_particle = np.abs(positions[moved] - shift.old[vertices]).max(1)
    exact = on_particle <= 2.0**-14 * np.abs(shift.old[vertices]).max(1)
    there = shift.new[vertices].astype(np.float64)
    own = sources[blend.sources[moved[~exact]]]
    if blend.weights is None:
        carried = own[:, 0]
    else:
        carried = np.einsum("nk,nkij->nij", blend.weights[moved[~exact]].astype(np.float64), own)
    back = _inverses(carried)
    there[~exact] = positions[moved[~exact]] + np.einsum("nij,nj->ni", back, shift.step[vertices[~exact]])
    positions[moved] = unpack(pack(there))
    changed = {"positions": positions}
    for name in ("normals", "tangents"):
        values = getattr(blend, name)
        if values is not None and len(turned):
            values = values.copy()
            turn = shift.turn[blend.vertices[turned]]
            values[turned] = unpack(pack(np.einsum("nij,nj->ni", turn, values[turned].astype(np.float64))))
            changed[name] = values
    return changed


def _in_bone_space(blend: records.Blend, shift: Shift, moved: Array, turned: Array, sources: Array) -> dict[str, Array]:
    """Return changed local data in each source's space, with the influence's weight in them."""
    positions = blend.positions.copy()
    back = _inverses(sources[blend.sources[moved]])
    step = np.einsum("nkij,nj->nki", back, shift.step[blend.vertices[moved]])
    weight = positions[moved][..., 3:].astype(np.float64)
    positions[moved, :, :3] = positions[moved][..., :3].astype(np.float64) + step * weight
    changed = {"positions": positions}
    for name in ("normals", "tangents"):
        values = getattr(blend, name)
        if values is not None and len(turned):
            values = values.copy()
            own = sources[blend.sources[turned]]
            turn = np.einsum(
                "nkij,njl,nklm->nkim", _inverses(own), shift.turn[blend.vertices[turned]], own[..., :3, :3]
            )
            values[turned] = unpack(pack(np.einsum("nkij,nkj->nki", turn, values[turned].astype(np.float64))))
            changed[name] = values
    return changed


def _inverses(matrices: Array) -> Array:
    """Return the inverses of the turns in maps, (..., 3, 3); of one that has none the nearest thing to it."""
    made: Array = np.linalg.pinv(np.nan_to_num(matrices[..., :3, :3]))
    return made
