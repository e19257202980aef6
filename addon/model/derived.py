"""What follows from the rest of a model: links, flags, checksums, face counts. For models that are made or changed.

The rules are those that the games' own files keep to, found on real files where the seed "FLVER nodes and skinning"
does not have them.
"""

from __future__ import annotations

import zlib

import numpy as np

from ..codec.binary import Array
from ..codec.flver import Flver, SkeletonSet
from ..codec.flver.records import SKELETON_ENTRY
from .bounds import INVERTED, set_bounds

UNUSED, NAMED_BY_DUMMY, NAMED_BY_MESH, CARRIES = 1, 2, 4, 8
CRC_FROM = 0x20016  # Sekiro; 0 is stored before


def complete(flver: Flver) -> None:
    """Set everything that follows from nodes, vertices, face sets and dummies, in place.

    Raises:
        FormatError: vertices or face sets that cannot be read.
    """
    set_bounds(flver)
    flver.nodes["flags"] = node_flags(flver)
    link(flver.nodes, (flver.nodes["flags"] & UNUSED) == 0)
    if flver.skeletons is not None:
        flver.skeletons = skeleton_set(flver.nodes)
    if flver.version >= CRC_FROM:
        flver.dummies["name_crc"] = name_crcs(flver.dummies["parent"], flver.node_names)
    flver.header["true_face_count"], flver.header["total_face_count"] = flver.count_faces()


def link(table: Array, linked_roots: Array) -> None:
    """Set the child and sibling links that follow from the parents, in place; siblings stand in index order.

    Args:
        table: (n,) `NODE` or `SKELETON_ENTRY`.
        linked_roots: (n,) bool: the roots that are siblings of each other. Unused roots are not linked in the games'
            files.
    """
    parents = table["parent"].astype(np.int64)
    for field in ("first_child", "next_sibling", "previous_sibling"):
        table[field] = -1
    tied = np.flatnonzero((parents >= 0) | linked_roots)
    order = tied[np.argsort(parents[tied], kind="stable")]
    follows = parents[order[1:]] == parents[order[:-1]]
    table["next_sibling"][order[:-1][follows]] = order[1:][follows]
    table["previous_sibling"][order[1:][follows]] = order[:-1][follows]
    children = order[parents[order] >= 0]
    owners, first = np.unique(parents[children], return_index=True)
    table["first_child"][owners] = children[first]


def node_flags(flver: Flver) -> Array:
    """Return the flags of nodes, (n,) int32, from who names them and from their bounds.

    Bit 1 marks nodes without children that nothing names, bit 2 those that dummies name, bit 4 those of meshes, bit 8
    those that carry vertices, with their ancestors. Real files have bit 4 on some more nodes.
    """
    nodes = flver.nodes
    count = len(nodes)
    carries = nodes["bounds_min"][:, 0] != INVERTED
    for _ in range(count):
        parents = nodes["parent"][carries & (nodes["parent"] >= 0)]
        if carries[parents].all():
            break
        carries[parents] = True
    flags = np.where(carries, CARRIES, 0).astype(np.int32)
    dummies = np.concatenate((flver.dummies["parent"], flver.dummies["attach"]))
    meshes = np.array([mesh.node for mesh in flver.meshes], np.int32)
    for named, bit in ((dummies, NAMED_BY_DUMMY), (meshes, NAMED_BY_MESH)):
        flags[np.unique(named[(named >= 0) & (named < count)])] |= bit
    childless = ~np.isin(np.arange(count), nodes["parent"])
    flags[(flags == 0) & childless] = UNUSED
    return flags


def skeleton_set(nodes: Array) -> SkeletonSet:
    """Return skeletons for nodes that are linked: one entry a node in both lists, the second in depth-first order."""
    base = SKELETON_ENTRY.zeros(len(nodes))
    for field in ("parent", "first_child", "next_sibling", "previous_sibling"):
        base[field] = nodes[field]
    base["node"] = np.arange(len(nodes))
    order = _depth_first(nodes["parent"])
    place = np.empty(len(nodes), np.int64)
    place[order] = np.arange(len(nodes))
    whole = SKELETON_ENTRY.zeros(len(nodes))
    whole["node"] = order
    parents = nodes["parent"][order]
    whole["parent"] = np.where(parents >= 0, place[parents], -1)
    link(whole, np.ones(len(nodes), bool))
    return SkeletonSet(base, whole)


def _depth_first(parents: Array) -> Array:
    """Return the indices of a tree's nodes, each followed by its descendants."""
    children: dict[int, list[int]] = {}
    for node, parent in enumerate(parents.tolist()):
        children.setdefault(max(parent, -1), []).append(node)
    order: list[int] = []
    waiting = children.get(-1, [])[::-1]
    while waiting:
        order.append(waiting.pop())
        waiting += children.get(order[-1], [])[::-1]
    return np.array(order, np.int64)


def name_crcs(parents: Array, node_names: list[str]) -> Array:
    """Return what a dummy stores of its parent node: the CRC-32 of its name, (d,) int32; 0 without a parent."""
    crcs = [zlib.crc32(name.encode("cp932", "replace")) for name in node_names]
    values = [crcs[parent] if 0 <= parent < len(crcs) else 0 for parent in parents.tolist()]
    return np.array(values, np.uint32).view(np.int32)
