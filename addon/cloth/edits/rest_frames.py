"""What hangs from triangles of a simulated cloth, after its rest pose moved: it stays where it was.

The drawn mesh is not moved with the particles, as its vertices are the model's, and bones keep their reference pose. So
the way from a triangle's frame to what it carries changes.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ...codec.binary import Array
from ...codec.havok import cloth as records
from ...codec.havok.cloth.values import pack, unpack
from .formulas import triangle_frames
from .rest_sets import FLAT, Move

CLOSE = 1e-4
"""How far a bind may be from the inverse of its frame, by the frame's scale, to be that."""


def frames(pose: Array, corners: Array, scale: int) -> Array:
    """Return the frames of triangles, (t, 4, 4) f8.

    Args:
        pose: (n, 3) positions.
        corners: (t, 3) particles.
        scale: `ScaleNormal`, how long the third column is.
    """
    return triangle_frames(pose.astype(np.float64)[corners], scale)


def moved_triangles(operator: Any, triangles: Array, move: Move) -> tuple[Array, Array]:
    """Return which of an operator's triangles move, (k,) places in its list, and their corners, (k, 3)."""
    corners = triangles if operator.triangles is None else triangles[operator.triangles]
    rows = np.flatnonzero(move.moved[corners].any(1))
    return rows, corners[rows]


def flat_triangles(corners: Array, pose: Array) -> Array:
    """Return which triangles have no area, (t,) bool: nothing can hang from them."""
    p = pose.astype(np.float64)[corners]
    edges = p[:, [1, 2, 0]] - p
    area = np.linalg.norm(np.cross(edges[:, 0], edges[:, 1]), axis=1)
    flat: Array = area <= FLAT * np.linalg.norm(edges, axis=2).max(1)
    return flat


def rehung(operator: Any, triangles: Array, move: Move, pose: Array | None) -> Any:
    """Return an operator that carries from the moved triangles what it carried, to the same places.

    Args:
        operator: a mesh-mesh or bone deformer.
        triangles: (t, 3) of its input.
        move: of the input's particles.
        pose: (b, 4, 4) f8 the reference pose, for bone deformers.
    """
    rows, corners = moved_triangles(operator, triangles, move)
    if not len(rows):
        return operator
    scale = operator.scale if isinstance(operator, records.MeshMeshDeform) else records.ScaleNormal.AREA
    old, new = (frames(one, corners, scale) for one in (move.old, move.new))
    back = np.linalg.inv(new)
    if isinstance(operator, records.MeshMeshDeform):
        if operator.binds is None:
            return _in_bone_space(operator, rows, back @ old)
        binds = operator.binds.copy()
        binds[rows] = _undoing(old, back, binds[rows].astype(np.float64))
        return replace(operator, binds=binds)
    local = operator.local.copy()
    there = old @ local[rows].astype(np.float64)
    if isinstance(operator, records.SimpleMeshBoneDeform) and pose is not None:
        bones = pose[operator.bones[rows]]
        reach = 1 + np.abs(bones).max((1, 2), keepdims=True)
        exact = (np.abs(there - bones) <= CLOSE * reach)[:, :3].all((1, 2))
        there[exact] = bones[exact]
    local[rows] = back @ there
    return replace(operator, local=local)


def _undoing(old: Array, back: Array, binds: Array) -> Array:
    """Return the binds for new frames: their inverse, where the old ones were that."""
    there = old @ binds
    reach = 1 + np.abs(old).max((1, 2), keepdims=True) * np.abs(binds).max((1, 2), keepdims=True)
    exact = (np.abs(there - np.eye(4)) <= CLOSE * reach).all((1, 2))
    there[exact] = np.eye(4)
    made: Array = back @ there
    return made


def _in_bone_space(operator: records.MeshMeshDeform, rows: Array, turn: Array) -> records.MeshMeshDeform:
    """Return a deformer whose local data stand in the triangles' own frames; ``turn`` (k, 4, 4) leads to the new ones.

    Each influence's share of a vertex stays where it is, its weight with it.
    """
    turns = np.broadcast_to(np.eye(4), (int(rows.max()) + 1, 4, 4)).copy()
    turns[rows] = turn
    touched = np.zeros(len(turns), np.bool_)
    touched[rows] = True
    blends = []
    for blend in operator.blends:
        inside = blend.sources < len(touched)
        hit = touched[np.where(inside, blend.sources, 0)] & inside
        which, slot = np.nonzero(hit)
        if not len(which):
            blends.append(blend)
            continue
        own = turns[blend.sources[which, slot]]
        changed = {"positions": _turned(blend.positions, own, which, slot)}
        for name in ("normals", "tangents"):
            values = getattr(blend, name)
            if values is not None:
                values = values.copy()
                there = np.einsum("nij,nj->ni", own[:, :3, :3], values[which, slot].astype(np.float64))
                values[which, slot] = unpack(pack(there))
                changed[name] = values
        blends.append(replace(blend, **changed))
    return replace(operator, blends=tuple(blends))


def _turned(positions: Array, own: Array, which: Array, slot: Array) -> Array:
    made = positions.copy()
    there = np.einsum("nij,nj->ni", own, positions[which, slot].astype(np.float64))
    made[which, slot, :3] = there[:, :3]
    return made
