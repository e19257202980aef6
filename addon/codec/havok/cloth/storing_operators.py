"""Deformers -> their objects in a tagfile, in place: the reverse of `operators` and `deformer`.

What carries which vertex, and by what weights, stays: only binds and local data change, as the rest pose moves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...binary import Array
from ..objects import View
from .deformer import FACTORS, LANES, Blend
from .operators import MeshBoneDeform, MeshMeshDeform, Operator, SimpleMeshBoneDeform, Skin, local_member
from .values import pack, stored_matrices

CHANNELS = (("localPosition", "positions"), ("localNormal", "normals"), ("localTangent", "tangents"))


def _store_binds(view: View, name: str, old: Array | None, new: Array | None) -> None:
    """Write the matrices that differ."""
    if old is None or new is None or old.shape != new.shape:
        if old is not new:
            view.fail("the number of matrices cannot change", name)
        return
    rows = _rows(old, new)
    if len(rows):
        view.numbers(name, "<f4", (16,))[rows] = stored_matrices(new[rows])


def _rows(old: Array, new: Array) -> Array:
    """Return which rows of two arrays of one shape and kind differ to the bit, (k,)."""
    a, b = (np.ascontiguousarray(own).view(np.uint8).reshape(len(own), -1) for own in (old, new))
    return np.flatnonzero((a != b).any(1))


def _store_skin(view: View, old: Skin, new: Skin) -> None:
    deformer = "objectSpaceDeformer" if old.binds is not None else "boneSpaceDeformer"
    _store_binds(view, "boneFromSkinMeshTransforms", old.binds, new.binds)
    _store_blends(view, deformer, old.blends, new.blends)


def _store_mesh_mesh(view: View, old: MeshMeshDeform, new: MeshMeshDeform) -> None:
    deformer = "objectSpaceDeformer" if old.binds is not None else "boneSpaceDeformer"
    _store_binds(view, "triangleFromMeshTransforms", old.binds, new.binds)
    _store_blends(view, deformer, old.blends, new.blends)


def _store_simple_mesh_bone(view: View, old: SimpleMeshBoneDeform, new: SimpleMeshBoneDeform) -> None:
    _store_binds(view, "localBoneTransforms", old.local, new.local)


def _store_mesh_bone(view: View, old: MeshBoneDeform, new: MeshBoneDeform) -> None:
    rows = _rows(old.local, new.local)
    view.many("triangleBonePairs").numbers("localBoneTransform", "<f4", (16,))[rows] = stored_matrices(new.local[rows])


DEFORMERS: dict[type[Operator], Callable[[View, Any, Any], None]] = {
    Skin: _store_skin,
    MeshMeshDeform: _store_mesh_mesh,
    SimpleMeshBoneDeform: _store_simple_mesh_bone,
    MeshBoneDeform: _store_mesh_bone,
}
"""What writes a deformer into its object: the object, what it holds, what it shall hold."""


def _store_blends(view: View, deformer: str, old: Iterable[Blend], new: Iterable[Blend]) -> None:
    """Write the local data that differ into every lane that holds their vertex."""
    entries, local = view.one(deformer), local_member(view)
    blocks = view.many(local)
    if not len(blocks):
        blocks = view.many(local.replace("local", "localUnpacked", 1))
    control = entries.numbers("controlBytes", "u1")
    for before, after in zip(old, new, strict=True):
        influences = after.sources.shape[1]
        own = np.flatnonzero(control == 4 - influences)
        count = LANES if deformer == "objectSpaceDeformer" else LANES // influences
        vertices = entries.many(f"{FACTORS[influences]}BlendEntries").numbers("vertexIndices", "<u2", (count,))
        for member, attribute in CHANNELS:
            left, right = getattr(before, attribute), getattr(after, attribute)
            if left is None or right is None or left.shape != right.shape:
                if left is not right:
                    view.fail("what a deformer carries cannot change", local)
                continue
            rows = _rows(left, right)
            if len(rows):
                _store_lanes(blocks, member, own, _Lanes(vertices, after.vertices[rows], right[rows]))


@dataclass(frozen=True, eq=False)
class _Lanes:
    """New local data.

    Attributes:
        vertices: (blocks, count) vertex of each lane.
        changed: (k,) vertices with new data.
        values: (k, 3), or (k, influences, 3 or 4) in bone space.
    """

    vertices: Array
    changed: Array
    values: Array

    def places(self) -> tuple[Array, Array, Array]:
        """Return block, lane and row of the values of every lane that changes."""
        order = np.argsort(self.changed)
        at = np.minimum(np.searchsorted(self.changed, self.vertices, sorter=order), len(order) - 1)
        rows = order[at]
        block, lane = np.nonzero(self.changed[rows] == self.vertices)
        return block, lane, rows[block, lane]


def _store_lanes(blocks: View, member: str, own: Array, lanes: _Lanes) -> None:
    """Write local data into blocks ``own``, packed where the class packs them."""
    block, lane, row = lanes.places()
    values = lanes.values[row]
    if values.ndim == 3:  # bone space: a slot for each influence, side by side
        influences = values.shape[1]
        lane = lane[:, None] * influences + np.arange(influences)
        block = np.broadcast_to(block[:, None], lane.shape)
    held = blocks[member]
    if isinstance(held, View):
        held.values["values"][own[block], lane] = pack(values)
    else:
        blocks.values[member][own[block], lane, : values.shape[-1]] = values
