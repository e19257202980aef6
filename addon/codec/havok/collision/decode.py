"""Compressed meshes -> triangles, all primitives at once.

A primitive is four vertex slots of its section. Equal third and fourth make a triangle ``a b c``, otherwise it is a
quad, ``a b c`` and ``a c d``; DE AD DE AD is dead; equal second and fourth mark a custom primitive (`custom`). A slot
below the section's packed count is a packed vertex, the others lead through the shared-vertex index (seed 003).
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

import numpy as np

from ....maths.runs import ranges, starts
from ...binary import Array
from . import keys
from .mesh import CompressedMesh, packed_starts
from .packing import packed_positions, shared_positions

DEAD = np.uint32(0xADDEADDE)
PAGE = 65536
SLOTS = 256
NO_MATERIAL = 0xFFFFFFFF
TRIANGLE, QUAD, CUSTOM, DEAD_PRIMITIVE = 0, 1, 2, 3


@dataclass(frozen=True, eq=False)
class Triangles:
    """Decoded triangles, in the order of their keys, in the space of the shape.

    Attributes:
        vertices: (n, 3) f4, metres; only those that triangles use.
        triangles: (m, 3) i4.
        keys: (m,) u4 shape keys, right-aligned.
        section, primitive: (m,) i4, the primitive's index in its section; -1 where there is none.
        half: (m,) i4, 1 for the second triangle of a quad.
        row: (m,) i4, the row of the source mesh in the material table, -1 where none names the key.
        primitive_data: (m,) i4, index of the row's material, -1 without a row.
        materials: (m,) u4 hit material ids, `NO_MATERIAL` where there is none.
        interior: (m,) bool.
    """

    vertices: Array
    triangles: Array
    keys: Array
    section: Array
    primitive: Array
    half: Array
    row: Array
    primitive_data: Array
    materials: Array
    interior: Array

    def __len__(self) -> int:
        return len(self.triangles)


def plain(vertices: Array, triangles: Array, materials: Array | None = None) -> Triangles:
    """Return triangles of something that is no compressed mesh; their keys are their numbers."""
    count = len(triangles)
    none = np.full(count, -1, np.int32)
    return Triangles(
        np.ascontiguousarray(vertices, np.float32).reshape(-1, 3),
        np.ascontiguousarray(triangles, np.int32).reshape(-1, 3),
        np.arange(count, dtype=np.uint32),
        none, none, np.zeros(count, np.int32), none, none,
        np.full(count, NO_MATERIAL, np.uint32) if materials is None else materials,
        np.zeros(count, bool),
    )  # fmt: skip


def joined(parts: list[Triangles]) -> Triangles:
    """Return several sets of triangles as one."""
    if len(parts) == 1:
        return parts[0]
    offsets = starts(np.array([len(part.vertices) for part in parts]))
    moved = [
        replace(part, triangles=part.triangles + np.int32(offset)) for part, offset in zip(parts, offsets, strict=True)
    ]
    columns = {
        column.name: np.concatenate([getattr(part, column.name) for part in moved]) for column in fields(Triangles)
    }
    return Triangles(**columns)


def primitive_kinds(primitives: Array) -> Array:
    """Return what each of (n, 4) u1 primitives is, (n,) u1: `TRIANGLE`, `QUAD`, `CUSTOM` or `DEAD_PRIMITIVE`."""
    kinds = np.where(primitives[:, 2] == primitives[:, 3], TRIANGLE, QUAD)
    kinds[primitives[:, 1] == primitives[:, 3]] = CUSTOM
    kinds[np.ascontiguousarray(primitives).view("<u4")[:, 0] == DEAD] = DEAD_PRIMITIVE
    return kinds.astype(np.uint8)


@dataclass(frozen=True, eq=False)
class Primitives:
    """The primitives of all sections, in the order of their keys.

    Attributes:
        slots: (n, 4) u1.
        kind: (n,) u1.
        section, index: (n,) i4 section, and index in the section.
    """

    slots: Array
    kind: Array
    section: Array
    index: Array

    @property
    def keys(self) -> Array:
        """(n,) u4, the key of each primitive's first half."""
        return keys.make(self.section, self.index, 0 * self.index)

    def drawn(self) -> Primitives:
        """Return the triangles and quads."""
        chosen = self.kind <= QUAD
        if chosen.all():
            return self
        return Primitives(self.slots[chosen], self.kind[chosen], self.section[chosen], self.index[chosen])


def list_primitives(mesh: CompressedMesh) -> Primitives:
    """Return the primitives that the sections name."""
    counts = mesh.sections["num_primitives"].astype(np.int64)
    place = ranges(mesh.sections["first_primitive"].astype(np.int64), counts)
    section = np.repeat(np.arange(len(counts), dtype=np.int32), counts)
    slots = mesh.primitives[place]
    return Primitives(slots, primitive_kinds(slots), section, ranges(np.zeros_like(counts), counts).astype(np.int32))


def decode(mesh: CompressedMesh, primitives: Primitives) -> Triangles:
    """Return the triangles of a mesh; custom and dead primitives have none.

    Raises:
        FormatError: a slot, an index or a page past the end of what it counts.
    """
    primitives = primitives.drawn()
    section, index = primitives.section, primitives.index
    ids = _vertex_ids(mesh, index, section, primitives.slots)
    exists = np.ones((len(ids), 2), bool)
    exists[:, 1] = primitives.kind == QUAD
    place = np.flatnonzero(exists)
    owner, half = place >> 1, (place & 1).astype(np.int32)
    corners = ids.take([0, 1, 2, 0, 2, 3], axis=1).reshape(-1, 3).take(place, axis=0)
    section, index = section.take(owner), index.take(owner)
    key = keys.make(section, index, half)
    row, primitive_data, materials = materials_of(mesh, key)
    vertices, triangles = _compact(mesh, corners)
    return Triangles(
        vertices, triangles, key, section, index, half, row, primitive_data, materials, interior_of(mesh, key)
    )  # fmt: skip


def _vertex_ids(mesh: CompressedMesh, index: Array, section: Array, slots: Array) -> Array:
    """Return (n, 4) i4 numbers: the packed vertices of all sections in a row, the shared ones behind them."""
    table = mesh.sections
    packed = table["num_packed"].astype(np.int32)
    slots = slots.astype(np.int32)
    owned = packed[section][:, None]
    limit = np.minimum(packed.astype(np.int64) + table["num_shared"], SLOTS).astype(np.int32)
    bad = np.flatnonzero(slots.max(axis=1, initial=0) >= limit[section])
    if len(bad):
        what = f"vertex {slots[bad[0]].max()} of a section with {int(owned[bad[0], 0])} packed vertices and "
        what += f"{table['num_shared'][section[bad[0]]]} shared ones"
        mesh.fail(what, f"sections[{section[bad[0]]}].primitives[{index[bad[0]]}]")
    ids = packed_starts(mesh).astype(np.int32)[section][:, None] + slots
    flat = np.flatnonzero((slots >= owned).ravel())
    row = flat >> 2
    owner = section[row]
    entry = (table["first_shared"].astype(np.int32) - packed)[owner] + slots.ravel()[flat]
    shared = (table["page"].astype(np.int32) * PAGE)[owner] + mesh.shared_index[entry]
    bad = np.flatnonzero(shared >= len(mesh.shared))
    if len(bad):
        what = f"shared vertex {shared[bad[0]]} of {len(mesh.shared)}"
        mesh.fail(what, f"sections[{section[row[bad[0]]]}].primitives[{index[row[bad[0]]]}]")
    ids.ravel()[flat] = np.int32(packed.sum()) + shared
    return ids


def _compact(mesh: CompressedMesh, triangles: Array) -> tuple[Array, Array]:
    """Return the vertices that triangles use, and the triangles in their numbers."""
    counts = mesh.sections["num_packed"].astype(np.int64)
    total = int(counts.sum())
    used = np.zeros(total + len(mesh.shared), bool)
    used[triangles.ravel()] = True
    own = np.flatnonzero(used[:total])
    section = np.repeat(np.arange(len(counts)), counts)[own]
    codes = mesh.packed[ranges(mesh.sections["first_packed"].astype(np.int64), counts)[own]]
    codec = mesh.sections["codec"][section]
    packed = packed_positions(codes, codec[:, 0], codec[:, 1])
    shared = shared_positions(mesh.shared[used[total:]], mesh.domain[0, :3], mesh.domain[1, :3])
    numbers = np.cumsum(used, dtype=np.int32) - np.int32(1)
    return np.concatenate([packed, shared]), numbers[triangles]


def materials_of(mesh: CompressedMesh, key: Array) -> tuple[Array, Array, Array]:
    """Return source row, primitive data and material of keys, (n,) i4, i4, u4; what a table lacks is -1, `NO_MATERIAL`.

    A row that names a triangle the mesh does not have, or a material that is not in the table, counts for nothing.
    """
    row, primitive_data = np.full(len(key), -1, np.int32), np.full(len(key), -1, np.int32)
    materials = np.full(len(key), NO_MATERIAL, np.uint32)
    if mesh.rows is None or not len(mesh.rows) or not len(key):
        return row, primitive_data, materials
    stored = keys.from_left(mesh.rows, min(mesh.shape_bits, keys.WORD))
    row_of = np.full(int(key.max()) + 1, -1, np.int32)
    known = stored < len(row_of)
    row_of[stored[known]] = np.flatnonzero(known)
    row = row_of[key]
    if mesh.materials is not None:
        described = np.flatnonzero((row >= 0) & (row < len(mesh.materials.primitive_data)))
        data = mesh.materials.primitive_data[row[described]]
        known = data < len(mesh.materials.names)
        primitive_data[described[known]] = data[known]
        materials[described[known]] = mesh.materials.names[data[known]]
    return row, primitive_data, materials


def interior_of(mesh: CompressedMesh, key: Array) -> Array:
    """Return the interior bits of keys, (n,) bool."""
    known = key < len(mesh.interior)
    found = np.zeros(len(key), bool)
    found[known] = mesh.interior[key[known]]
    return found
