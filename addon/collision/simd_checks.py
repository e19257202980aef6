"""What simd trees of the games keep to, by seed 003."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from ..codec.binary import Array
from ..codec.havok.collision.decode import CUSTOM, DEAD_PRIMITIVE, QUAD, Primitives
from ..codec.havok.collision.mesh import CompressedMesh
from ..codec.havok.collision.simd import CHILD, EMPTY, LEAF, SimdTree
from .corners import Corners, outside_by

UNITS = 16  # in the last place, of the largest magnitude among coordinate, box and domain
Test = Callable[[CompressedMesh, Primitives, Corners], Iterator[tuple[str, int, str]]]


def tree(mesh: CompressedMesh, _primitives: Primitives, _corners: Corners) -> Iterator[tuple[str, int, str]]:
    """Node 0 is empty, every node from 2 on is the child of one lane of a node before it."""
    simd = _tree(mesh)
    if len(simd.kind) < 2 or (simd.kind[0] != EMPTY).any():
        yield "the simd tree does not begin with an empty node and a root", 1, ""
        return
    node, lane = np.nonzero(simd.kind == CHILD)
    child = simd.value[node, lane].astype(np.int64)
    bad = np.flatnonzero((child <= node) | (child >= len(simd.kind)))
    if len(bad):
        yield "a child of the simd tree is not behind its node", len(bad), f"simdTree.nodes[{node[bad[0]]}]"
        return
    times = np.bincount(child, minlength=len(simd.kind))
    bad = np.flatnonzero(times[2:] != 1) + 2
    if len(bad) and (simd.kind[1] != EMPTY).any():
        yield "a node of the simd tree is not the child of one lane", len(bad), f"simdTree.nodes[{bad[0]}]"
    if mesh.has_simd is not None and mesh.has_simd != bool(len(simd.keys)) and len(mesh.primitives):
        what = "has leaves" if len(simd.keys) else "is empty"
        yield f"the simd tree {what}, hasSimdTree says otherwise", 1, ""


def boxes(mesh: CompressedMesh, primitives: Primitives, corners: Corners) -> Iterator[tuple[str, int, str]]:
    """A child's box is the union of its lanes' boxes, a leaf's holds its primitive."""
    simd = _tree(mesh)
    node, lane = np.nonzero((simd.kind == CHILD) & (simd.value < len(simd.kind)))
    child = simd.boxes[simd.value[node, lane]]
    union = np.stack([child[:, :, 0].min(axis=1), child[:, :, 1].max(axis=1)], axis=1)
    bad = np.flatnonzero((union != simd.boxes[node, lane]).any(axis=(1, 2)))
    if len(bad):
        yield "a box of the simd tree is not the union of those below it", len(bad), f"simdTree.nodes[{node[bad[0]]}]"
    node, lane = np.nonzero(simd.kind == LEAF)
    place = _place_of(primitives, simd.value[node, lane])
    drawn = (place >= 0) & (primitives.kind[place] <= QUAD)
    place, node, lane = place[drawn], node[drawn], lane[drawn]
    domains = mesh.sections["domain"][primitives.section[place]][:, :, :3]
    by = outside_by(corners.of_primitives[place], simd.boxes[node, lane], domains)
    bad = np.flatnonzero(by > UNITS)
    if len(bad):
        yield "a primitive reaches out of its box in the simd tree", len(bad), f"simdTree.nodes[{node[bad[0]]}]"


def leaves(mesh: CompressedMesh, primitives: Primitives, _corners: Corners) -> Iterator[tuple[str, int, str]]:
    """The leaves name each primitive that is not dead once, by the key of its first half; or there are none."""
    named = _tree(mesh).keys
    if not len(named):
        return
    place = _place_of(primitives, named)
    wrong = int((place < 0).sum() + (primitives.kind[place[place >= 0]] == DEAD_PRIMITIVE).sum())
    if wrong:
        yield "leaves of the simd tree name what is no primitive", wrong, ""
    times = np.bincount(place[place >= 0], minlength=len(primitives.kind))
    bad = np.flatnonzero((times != 1) & (primitives.kind <= CUSTOM))
    if len(bad):
        first = f"sections[{primitives.section[bad[0]]}].primitives[{primitives.index[bad[0]]}]"
        yield "a primitive is not named by one leaf of the simd tree", len(bad), first


RULES: dict[str, Test] = {"simd tree": tree, "simd boxes": boxes, "simd leaves": leaves}


def _tree(mesh: CompressedMesh) -> SimdTree:
    if mesh.simd is None:
        raise ValueError("the mesh has no simd tree")
    return mesh.simd


def _place_of(primitives: Primitives, named: Array) -> Array:
    """Return which primitive has a key as its first half's, (n,) i8, -1 for none."""
    known = primitives.keys
    place = np.searchsorted(known, named)
    found = (place < len(known)) & (known[np.minimum(place, max(len(known) - 1, 0))] == named) if len(known) else False
    return np.where(found, place, -1)
