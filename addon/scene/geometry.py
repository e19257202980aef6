"""Meshes of triangles, filled through attributes."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..codec.binary import Array


def fill(mesh: Any, positions: Array, triangles: Array) -> None:
    """Fill an empty mesh.

    Args:
        mesh: without vertices.
        positions: (n, 3) f4 in Blender's axes.
        triangles: (m, 3) integers.
    """
    mesh.vertices.add(len(positions))
    mesh.loops.add(triangles.size)
    mesh.polygons.add(len(triangles))
    if len(positions):
        mesh.attributes["position"].data.foreach_set("vector", positions.ravel())
    if len(triangles):
        corners = mesh.attributes.get(".corner_vert") or mesh.attributes.new(".corner_vert", "INT", "CORNER")
        corners.data.foreach_set("value", np.ascontiguousarray(triangles, np.int32).ravel())
        mesh.polygons.foreach_set("loop_start", np.arange(0, triangles.size, 3, dtype=np.int32))


def connect(mesh: Any) -> None:
    """Make the edges of a filled mesh.

    Blender 5.0 leaves the new edges' selection in an attribute of a wrong type, and crashes when edges are selected.
    """
    mesh.update(calc_edges=True)
    selected = mesh.attributes.get(".select_edge")
    if selected is not None and selected.data_type != "BOOLEAN":
        mesh.attributes.remove(selected)
