"""Skins and mesh-mesh deformers: vertices carried by bones or triangles, many operators at once.

Sources are affine maps, (12, s) f4 with row 3 c + r component r of column c; blends gather them by column.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from ..codec.binary import Array
from ..codec.havok.cloth import Blend, ScaleNormal
from .links import flat_index
from .settings import Roots
from .space import Spaces, Turn
from .vectors import columns, compose, cross, dot

THIRD = np.float32(0.333333343)
Carry = Callable[[list[Array], Array, bool], Array]
FEW_RUNS = 8
"""One-bone vertices of so few bones are carried bone by bone, without a matrix for each."""


@dataclass(frozen=True, eq=False)
class BlendPart:
    """A blend and where its sources and vertices are: ``sources`` and ``vertices`` as in `Blend`, but global."""

    blend: Blend
    sources: Array
    vertices: Array
    object_space: bool


@dataclass(frozen=True, eq=False)
class _Group:
    """Vertices of one number of influences, one space and the same channels."""

    sources: Array
    weights: Array | None
    positions: Array
    normals: Array | None
    tangents: Array | None
    vertices: Array
    runs: list[tuple[int, slice]] = field(default_factory=list)


class Blends:
    """The blends of several operators that run together."""

    def __init__(self, parts: Sequence[BlendPart], width: int) -> None:
        """Sort the vertices; of those that several parts write the last one stays.

        Args:
            parts: in the order of their operators.
            width: columns of the store.
        """
        groups: dict[tuple[bool, int, bool, bool], list[BlendPart]] = {}
        for part, kept in zip(parts, _last(parts), strict=True):
            blend = part.blend
            if kept.any():
                key = (part.object_space, blend.sources.shape[1], blend.normals is None, blend.tangents is None)
                cut = BlendPart(blend.take(kept), part.sources[kept], part.vertices[kept], part.object_space)
                groups.setdefault(key, []).append(cut)
        self.objects = [_group(rows, width, object_space=True) for key, rows in groups.items() if key[0]]
        self.locals = [_group(rows, width, object_space=False) for key, rows in groups.items() if not key[0]]

    def write(self, sources: Array, flat: Array, normals: Array, tangents: Array | None) -> None:
        """Carry the vertices.

        Args:
            sources: (12, s) maps.
            flat: flat store of positions, written.
            normals: flat store of normals, written.
            tangents: flat store; None where none are wanted.
        """
        for group in self.objects:
            _write(_in_object_space, group, sources, (flat, normals, tangents))
        for group in self.locals:
            _write(_in_bone_space, group, sources, (flat, normals, tangents))


def _last(parts: Sequence[BlendPart]) -> list[Array]:
    """Return which vertices of each part no later part writes."""
    kept: list[Array] = []
    written = np.zeros(0, np.intp)
    for part in reversed(parts):
        kept.append(~np.isin(part.vertices, written))
        written = np.concatenate([written, part.vertices])
    return kept[::-1]


def _group(parts: list[BlendPart], width: int, *, object_space: bool) -> _Group:
    sources = np.concatenate([part.sources for part in parts]).astype(np.intp).T
    vertices = np.concatenate([part.vertices for part in parts]).astype(np.intp)
    order = np.lexsort((vertices, sources[0])) if len(sources) == 1 else np.arange(len(vertices))

    def joined(name: str) -> Array | None:
        values = [getattr(part.blend, name) for part in parts]
        if values[0] is None:
            return None
        table = np.concatenate(values)[order]
        # components first, then influences
        return np.ascontiguousarray(np.moveaxis(table, -1, 0) if object_space else table.transpose(2, 1, 0))

    weights = [part.blend.weights for part in parts]
    full = [table for table in weights if table is not None]
    positions = joined("positions")
    group = _Group(
        np.ascontiguousarray(sources[:, order]),
        np.ascontiguousarray(np.concatenate(full)[order].T) if full else None,
        positions if positions is not None else np.zeros((3, 0), np.float32),
        joined("normals"),
        joined("tangents"),
        flat_index(vertices[order], width),
    )
    if len(sources) == 1:
        group.runs.extend(_runs(group.sources[0]))
    return group


def _runs(sources: Array) -> list[tuple[int, slice]]:
    """Return source and slice of each run in sorted sources, nothing where there are too many."""
    starts = np.flatnonzero(np.diff(sources, prepend=-1))
    if len(starts) > FEW_RUNS:
        return []
    ends = [*starts[1:].tolist(), len(sources)]
    return [(int(sources[start]), slice(start, end)) for start, end in zip(starts.tolist(), ends, strict=True)]


def _write(carry: Carry, group: _Group, sources: Array, stores: tuple[Array, Array, Array | None]) -> None:
    results: list[list[Array]] = [[], [], []]
    wanted = [group.positions, group.normals, group.tangents if stores[2] is not None else None]
    pieces = group.runs or [(-1, slice(None))]
    for source, rows in pieces:
        maps = _maps(group, sources, source)
        own = [None if values is None else values[..., rows] for values in wanted]
        for place, values in enumerate(own):
            if values is not None:
                results[place].append(carry(maps, values, place == 0))
    for store, made in zip(stores, results, strict=True):
        if made and store is not None:
            store[group.vertices] = (made[0] if len(made) == 1 else np.concatenate(made, 1)).reshape(-1)


def _maps(group: _Group, sources: Array, source: int) -> list[Array]:
    """Return the maps of each influence, weighted sum of all in object space: (4, 3, n), or (4, 3, 1) for a run."""
    if source >= 0:
        return [sources[:, source].reshape(4, 3, 1)]
    if group.weights is None:
        return [sources.take(row, 1).reshape(4, 3, -1) for row in group.sources]
    total = sources.take(group.sources[0], 1)
    total *= group.weights[0]
    for row, weight in zip(group.sources[1:], group.weights[1:], strict=True):
        part = sources.take(row, 1)
        part *= weight
        total += part
    return [total.reshape(4, 3, -1)]


def _in_object_space(maps: list[Array], values: Array, point: bool) -> Array:  # noqa: FBT001
    """``((c0 x + c3) + c1 y) + c2 z``, for directions without c3."""
    (c0, c1, c2, c3) = maps[0]
    result: Array = c0 * values[0]
    if point:
        result += c3
    result += c1 * values[1]
    result += c2 * values[2]
    return result


def _in_bone_space(maps: list[Array], values: Array, point: bool) -> Array:  # noqa: FBT001
    """Sum over the influences of ``((c1 y + c0 x) + c2 z) + c3 w``, w the stored weight; directions without c3."""
    total = None
    for influence, (c0, c1, c2, c3) in enumerate(maps):
        own = values[:, influence]
        part = c1 * own[1] + c0 * own[0]
        part += c2 * own[2]
        if point:
            part += c3 * own[3]
        total = part if total is None else total + part
    return total if total is not None else values[:3, 0]


def triangle_frames(points: tuple[Array, Array, Array]) -> Array:
    """Return the frames (4, 3, t) of triangles: two corners and their cross product, seen from the centre."""
    p0, p1, p2 = points
    center = ((p0 + p1) + p2) * THIRD
    a, b = p0 - center, p1 - center
    return np.stack((a, b, cross(a, b), center))


class TriangleSources:
    """The frames of triangles of other buffers, as sources of blends."""

    def __init__(self, corners: Array, scale: Array, width: int) -> None:
        """Prepare.

        Args:
            corners: (t, 3) columns of the store.
            scale: (t,) `ScaleNormal` of each.
            width: columns of the store.
        """
        self.corners = [flat_index(corners[:, corner].astype(np.intp), width) for corner in range(3)]
        self.unit = np.flatnonzero(scale == ScaleNormal.UNIT)
        self.inverse = np.flatnonzero(scale == ScaleNormal.INVERSE_AREA)

    def frames(self, flat: Array, roots: Roots) -> Array:
        """Return the frames, (4, 3, t)."""
        p0, p1, p2 = (flat.take(places).reshape(3, -1) for places in self.corners)
        frames = triangle_frames((p0, p1, p2))
        for rows, invert in ((self.unit, roots.rough), (self.inverse, roots.reciprocal)):
            if len(rows):
                normal = frames[2][:, rows]
                square = dot(normal, normal)
                factor = np.empty_like(square)
                invert(square, factor)
                frames[2][:, rows] = normal * factor
        return frames


class BoundMaps:
    """Maps that come out of others and constant binds: ``outer[i] o bind``, some of them into another space."""

    def __init__(self, outer: Array, binds: Array, *, bound: Array, turns: Array) -> None:
        """Prepare.

        Args:
            outer: (s,) which map each source takes.
            binds: (s, 4, 4).
            bound: (s,) bool, the others take the map as it is.
            turns: (s,) `space.Turn` of what is carried.
        """
        self.outer = outer.astype(np.intp)
        self.binds = columns(binds[bound])
        self.bound = np.flatnonzero(bound)
        self.all_bound = len(self.bound) == len(outer)
        self.turns = [(turn, np.flatnonzero(turns == turn)) for turn in Turn if (turns == turn).any()]

    def maps(self, outer: Array, spaces: Spaces) -> Array:
        """Return the maps, (12, s), of outer maps (12, n)."""
        maps = outer.take(self.outer, 1).reshape(4, 3, -1)
        if self.all_bound:
            maps = compose(maps, self.binds)
        elif len(self.bound):
            maps[:, :, self.bound] = compose(maps[:, :, self.bound], self.binds)
        for turn, rows in self.turns:
            matrix = spaces.of(turn)
            if matrix is not None:
                maps[:, :, rows] = compose(matrix, maps[:, :, rows])
        return maps.reshape(12, -1)
