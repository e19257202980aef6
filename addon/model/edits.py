"""A mesh that is shown, and maybe was edited -> vertices and triangles as they are stored.

What is shown always wins. The stored values that a mesh was imported with come back, to the bit, where what is shown
is still what was made of them; the rest is made of what is seen.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from ..codec.binary import Array
from ..codec.flver import Vertices
from ..maths import affine
from .corners import SAME, agreed, split
from .tangents import tangents

SIGNED = 0.75  # share of vertices that agree where tangents have a sign; the games' cloth meshes store none


@dataclass
class ShownMesh:
    """What Blender shows of a mesh, in the games' axes and model space.

    Attributes:
        positions: (n, 3) float32.
        corners: (3 t,) int32: the vertices of the triangles.
        normals: (3 t, 3) float32 of unit length by corner.
        same_normals: (3 t,) bool: Blender holds for the corner exactly what it was given by the import.
        uvs: by UV index and first component (0 or 2), (3 t, 2) float32 by corner, V pointing down.
        colors: by index, (3 t, 4) float32 by corner; those that Blender holds by vertex are in `StoredMesh`.
    """

    positions: Array
    corners: Array
    normals: Array
    same_normals: Array
    uvs: dict[tuple[int, int], Array] = field(default_factory=dict)
    colors: dict[int, Array] = field(default_factory=dict)


@dataclass
class StoredMesh:
    """The values that a mesh was imported with, for each vertex that is shown.

    Attributes:
        vertices: as stored; only the positions matter for a mesh that was not imported, and they are NaN.
        placed: (n, 3) float32: where each was shown.
    """

    vertices: Vertices
    placed: Array

    def take(self, indices: Array) -> StoredMesh:
        """Return some of the vertices."""
        return StoredMesh(self.vertices.take(indices), self.placed[indices])


@dataclass
class Space:
    """The space that vertices are stored in.

    Attributes:
        matrices: (n, 4, 4) from the space of each vertex to model space.
        same: (n,) bool: the space is where it was when the mesh was imported.
    """

    matrices: Array
    same: Array

    def take(self, indices: Array) -> Space:
        """Return the spaces of some vertices."""
        return Space(self.matrices[indices], self.same[indices])


@dataclass
class EditedMesh:
    """Vertices and triangles as they are to be stored.

    Attributes:
        vertices: all values but weights and bones, which the caller has put into those it handed over.
        triangles: (t, 3) int32.
        sources: (m,) int64: the shown vertex that each is made of.
        moved: whether any position changed, or the vertices are others.
    """

    vertices: Vertices
    triangles: Array
    sources: Array
    moved: bool


def edited(shown: ShownMesh, stored: StoredMesh, space: Space | None, steps: dict[str, float]) -> EditedMesh:
    """Return a mesh as it is to be stored.

    Args:
        shown: what is shown.
        stored: what was imported.
        space: of a static mesh's vertices; None for a dynamic one, whose vertices are in model space.
        steps: by name ("normals", "uvs0", ...) the steps in which the layout stores a value, 0 for real numbers.
    """
    count = len(shown.positions)
    moved = (_bits(shown.positions) != _bits(stored.placed)).any(axis=1)
    near = _touched(shown.corners, moved)
    positions = _positions(shown, stored, moved, space)
    normals, old_normals = _normals(shown, stored, near, space, steps.get("normals", 0.0))
    names = sorted(shown.uvs)
    uvs, same_uvs = _uvs(shown, stored, names, steps)
    colors = [_on_steps(each, steps.get(f"colors{index}", 0.0)) for index, each in shown.colors.items()]
    parts = split(shown.corners, np.concatenate([normals, *uvs, *colors], axis=1), count)
    vertices = replace(stored.vertices, positions=positions).take(parts.sources)
    used = parts.corners >= 0
    corner = parts.corners[used]
    if vertices.normals is not None:
        vertices.normals[used] = normals[corner]
    for (index, first), values in zip(names, uvs, strict=True):
        if index in vertices.uvs and vertices.uvs[index].shape[1] >= first + 2:
            vertices.uvs[index][used, first : first + 2] = values[corner]
    for index, values in zip(shown.colors, colors, strict=True):
        vertices.colors[index] = _at(values, corner, used)
    triangles = parts.indices.reshape(-1, 3)
    before = stored.take(parts.sources)
    spaces = None if space is None else space.take(parts.sources)
    if moved.any() or len(parts.sources) != count or not (same_uvs & old_normals).all() or _elsewhere(space):
        _tangents(vertices, before, shown.positions[parts.sources], triangles, spaces)
        _second(vertices, before.vertices)
    return EditedMesh(vertices, triangles, parts.sources, bool(moved.any()) or len(parts.sources) != count)


def _at(values: Array, corner: Array, used: Array) -> Array:
    """Return values by vertex; white where no corner uses one."""
    result = np.ones((len(used), values.shape[1]), np.float32)
    result[used] = values[corner]
    return result


def _bits(values: Array) -> Array:
    return np.ascontiguousarray(values, np.float32).view(np.uint32).reshape(values.shape)


def _touched(corners: Array, marked: Array) -> Array:
    """Return (n,) bool: vertices of triangles that have a marked vertex."""
    triangles = corners.reshape(-1, 3)
    result = marked.copy()
    result[triangles[marked[triangles].any(axis=1)].ravel()] = True
    return result


def _positions(shown: ShownMesh, stored: StoredMesh, moved: Array, space: Space | None) -> Array:
    positions = stored.vertices.positions.copy()
    anew = moved if space is None else moved | ~space.same
    if anew.any():
        seen = shown.positions[anew]
        positions[anew] = (
            seen if space is None else affine.transform_points(affine.inverses(space.matrices[anew]), seen)
        )
    return positions


def _normals(
    shown: ShownMesh, stored: StoredMesh, near: Array, space: Space | None, steps: float
) -> tuple[Array, Array]:
    """Return (c, 3) float32 normals to be stored, by corner, and which are the stored ones."""
    seen = shown.normals.astype(np.float64)
    if space is not None:
        linear = space.matrices[shown.corners, :3, :3]
        seen = affine.normalized((seen[:, None, :] @ linear)[:, 0])
    if stored.vertices.normals is None:
        return np.zeros((len(seen), 3), np.float32), np.ones(len(seen), bool)
    old = stored.vertices.normals[shown.corners]
    like = np.einsum("ij,ij->i", affine.normalized(old.astype(np.float64)), seen) > SAME
    same = shown.same_normals & ~near[shown.corners]
    if space is not None:
        same &= space.same[shown.corners]
    kept = like | same
    new = agreed(shown.corners, seen, ~kept, len(near))
    return np.where(kept[:, None], old, _on_steps(new, steps)).astype(np.float32), kept


def _uvs(
    shown: ShownMesh, stored: StoredMesh, names: list[tuple[int, int]], steps: dict[str, float]
) -> tuple[list[Array], Array]:
    """Return for each pair the (c, 2) float32 values to be stored, by corner; and which corners have all of theirs."""
    result, same = [], np.ones(len(shown.corners), bool)
    for index, first in names:
        seen = shown.uvs[index, first]
        held = stored.vertices.uvs.get(index)
        if held is None or held.shape[1] < first + 2:
            result.append(_on_steps(seen, steps.get(f"uvs{index}", 0.0)).astype(np.float32))
            continue
        old = held[shown.corners, first : first + 2]
        kept = (_bits(up(up(old))) == _bits(up(up(seen)))).all(axis=1)
        result.append(np.where(kept[:, None], old, _on_steps(seen, steps.get(f"uvs{index}", 0.0))).astype(np.float32))
        if (index, first) == names[0]:
            same &= kept
    return result, same


def up(uv: Array) -> Array:
    """Return (n, 2) UVs with V turned round: as Blender shows stored ones, and back."""
    result = np.array(uv, np.float32)
    result[:, 1] = np.float32(1.0) - result[:, 1]
    return result


def _on_steps(values: Array, steps: float) -> Array:
    return np.rint(np.nan_to_num(values.astype(np.float64)) * steps) / steps if steps else values


def _elsewhere(space: Space | None) -> bool:
    return space is not None and not bool(space.same.all())


def _tangents(after: Vertices, before: StoredMesh, positions: Array, triangles: Array, space: Space | None) -> None:
    """Make tangents anew where an edit has turned them, in place.

    Args:
        after: the vertices as they are to be stored.
        before: the same as they were imported.
        positions: (m, 3), where they are shown.
        triangles: (t, 3).
        space: of the vertices of a static mesh.
    """
    if not after.tangents or not after.uvs or after.normals is None:
        return
    old = _frames(before.vertices, before.placed, triangles, space)
    new = _frames(after, positions, triangles, space)
    anew = ~((np.einsum("ij,ij->i", new[:, :3], old[:, :3]) >= SAME) & (new[:, 3] == old[:, 3]))
    if space is not None:
        anew |= ~space.same
        new[:, :3] = affine.normalized((affine.inverses(space.matrices)[:, :3, :3] @ new[:, :3, None])[..., 0])
    anew &= new[:, 3] != 0
    first = before.vertices.tangents[min(before.vertices.tangents)]
    for index, values in after.tangents.items():
        copied = (_bits(before.vertices.tangents[index]) == _bits(first)).all(axis=1)
        chosen = anew & copied
        signed = (np.sign(values[:, 3]) == old[:, 3])[old[:, 3] != 0]
        values[chosen, :3] = new[chosen, :3]
        if not len(signed) or np.mean(signed) > SIGNED:
            values[chosen, 3] = new[chosen, 3]
        missing = np.isnan(values).any(axis=1)
        values[missing, :3] = affine.frames(after.normals[missing], np.tile((0.0, 0.0, 1.0), (missing.sum(), 1)))[
            ..., 0
        ]
        values[missing, 3] = 1.0


def _frames(vertices: Vertices, positions: Array, triangles: Array, space: Space | None) -> Array:
    """Return the tangents that the rule gives, in model space, by the first UVs."""
    normals = np.zeros((len(positions), 3)) if vertices.normals is None else vertices.normals.astype(np.float64)
    if space is not None:
        normals = (affine.normal_matrices(space.matrices) @ normals[..., None])[..., 0]
    return tangents(positions, affine.normalized(normals), vertices.uvs[min(vertices.uvs)][:, :2], triangles)


def _second(vertices: Vertices, before: Vertices) -> None:
    """Let the second positions and normals of cloth meshes, which are copies, follow the first, in place."""
    for name, first, old in (
        ("position", vertices.positions, before.positions),
        ("normal", vertices.normals, before.normals),
    ):
        copies = vertices.second.get(name)
        if copies is not None and first is not None and old is not None:
            same = (_bits(copies) == _bits(old)).all(axis=1)
            copies[same] = first[same]
