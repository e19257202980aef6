"""The stored trees of a compressed mesh: domains, section trees, the mesh tree."""

from __future__ import annotations

import numpy as np

from ...codec.binary import Array
from ...codec.havok.collision.decode import QUAD, Primitives
from ...codec.havok.collision.mesh import CompressedMesh
from ...codec.havok.collision.packing import SHARED_STEPS
from .cut import mesh_preorder
from .layout import Layout
from .nibbles import store_nodes
from .rebuild import set_boxes
from .vertices import with_w


def store_trees(mesh: CompressedMesh, layout: Layout, primitives: Primitives, points: Array) -> None:
    """Store the trees and the domains of the sections.

    Boxes are those of the source vertices and the convex radius. Where codes are coarser than the radius, they are made
    to hold the decoded vertices too.

    Args:
        mesh: gets the trees; has all else that decoding needs.
        layout: the tree.
        primitives: all primitives of the mesh.
        points: (n, 4, 3) f4, their decoded corners.
    """
    tree, domain, radius = layout.tree, mesh.domain[:, :3], np.float32(mesh.radius)
    drawn = primitives.kind <= QUAD
    leaf, points = layout.walk[layout.stored][drawn], points[drawn]
    tree.low[leaf] = np.maximum(np.minimum(tree.low[leaf], points.min(axis=1)), domain[0])
    tree.high[leaf] = np.minimum(np.maximum(tree.high[leaf], points.max(axis=1)), domain[1])
    set_boxes(tree)
    boxes = np.stack([tree.low, tree.high], axis=1)
    domains = _snapped(boxes[layout.order.node[layout.sections]], domain)
    mesh.sections["domain"] = with_w(domains, radius)
    names = np.zeros(len(layout.nodes), np.int64)
    names[layout.roots[layout.section] + layout.node] = layout.payload
    mesh.section_starts = layout.roots
    mesh.section_nodes = store_nodes(layout.sizes, names, boxes[layout.nodes], domains, layout.roots[:-1])
    place, sizes, names, leaf = mesh_preorder(layout.order, layout.sections)
    above = boxes[layout.order.node[place]]
    above[leaf] = domains
    mesh.tree = store_nodes(sizes, names, above, domain[None], np.array([0]))
    mesh.sections["leaf_index"] = leaf


def _snapped(boxes: Array, domain: Array) -> Array:
    """Return boxes, (n, 2, 3) f4, whose sides lie on those of the mesh's where they are within a step of shared codes.

    The mesh's own box may be given, and vertices that were decoded lie up to half a step beside their sources.
    """
    step = (domain[1] - domain[0]) * SHARED_STEPS
    return np.where(np.abs(boxes - domain) <= step, domain, boxes)
