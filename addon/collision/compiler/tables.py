"""Material tables: which hit material each source triangle has."""

from __future__ import annotations

import copy
from dataclasses import replace

import numpy as np

from ...codec.binary import Array
from ...codec.errors import FormatError
from ...codec.havok.collision import keys as shape_keys
from ...codec.havok.collision.decode import materials_of
from ...codec.havok.collision.mesh import MaterialTable
from ...codec.havok.collision.shapes import MeshShape
from .source import Rows

VERSION = 0x100000


def material_indices(materials: Array, names: tuple[int, ...]) -> tuple[Array, Array]:
    """Return the names of a table, (n,) u4, and each material's place in it, (m,) i8.

    Args:
        materials: (m,) hit material ids.
        names: what the table begins with; other materials follow in the order in which they are first used.
    """
    known = np.array(names, np.uint32)
    together = np.concatenate([known, materials.astype(np.uint32)])
    unique, first, inverse = np.unique(together, return_index=True, return_inverse=True)
    order = np.argsort(first)
    # a name that is given twice keeps its places; the first one counts
    fresh = order[first[order] >= len(known)]
    place = first.copy()
    place[fresh] = len(known) + np.arange(len(fresh))
    return np.concatenate([known, unique[fresh]]), place[inverse.reshape(-1)][len(known) :]


def material_table(keys: Array, width: int, rows: Rows, triangles: Array, names: Array) -> tuple[Array, MaterialTable]:
    """Return the keys by row as they are stored, and the table that describes the rows.

    Args:
        keys: (m,) u4 by row.
        width: bits of a key.
        rows: what is compiled.
        triangles: (n, 3) vertex numbers of the source, which the table keeps.
        names: (k,) u4 hit material ids.
    """
    count = np.arange(len(rows), dtype=np.uint32)
    table = MaterialTable(rows.data.astype(np.uint32), count, triangles[rows.source].astype(np.uint32), names, VERSION)
    return shape_keys.to_left(keys, width), table


def repaint(shape: MeshShape, materials: Array) -> MeshShape:
    """Return a mesh with other hit materials; only the rows of triangles whose material differs change.

    Materials that the table lacks are put at its end; those that no row uses any longer stay.

    Args:
        shape: the mesh.
        materials: (m,) u4, of its triangles in the order of their keys.

    Raises:
        FormatError: a triangle that no row of the table describes.
    """
    decoded, table = shape.decoded, shape.mesh.materials
    changed = np.flatnonzero(decoded.materials != materials)
    if not len(changed):
        return shape
    if table is None or (decoded.row[changed] < 0).any():
        raise FormatError("the material of a triangle that no row of the material table describes cannot be changed")
    names, data = material_indices(materials[changed], tuple(table.names.tolist()))
    rows = table.primitive_data.copy()
    rows[decoded.row[changed]] = data
    mesh = copy.copy(shape.mesh)
    mesh.materials = replace(table, primitive_data=rows, names=names)
    _, primitive_data, found = materials_of(mesh, decoded.keys)
    return replace(shape, mesh=mesh, decoded=replace(decoded, primitive_data=primitive_data, materials=found))
