"""From a `Flver` to bytes, in the order of the games' own files."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..binary import Array, Record, Writer, encode_text, fill, text_encoding
from ..errors import FormatError
from .gx import GxForm, GxReference, write_gx_list
from .packing import GROUP_ALIGNMENT, place
from .records import (
    BUFFER,
    DUMMY,
    FACE_SET,
    LAYOUT,
    MATERIAL,
    MESH,
    NODE,
    SHORT_FACE_SET,
    SKELETON_SET,
    TEXTURE,
)

if TYPE_CHECKING:
    from .model import Flver


def write_flver(flver: Flver) -> bytes:
    """Return the bytes of a model; see `Flver.write`."""
    return _FlverWriter(flver).write()


class _FlverWriter:
    """Reserves the tables, writes what they point to, then fills them in."""

    def __init__(self, flver: Flver) -> None:
        self.flver = flver
        self.out = Writer(big_endian=flver.big_endian)
        self.encoding = text_encoding(unicode=bool(flver.header["unicode"]), big_endian=flver.big_endian)
        self.face_sets = [face_set for mesh in flver.meshes for face_set in mesh.face_sets]
        self.buffers = [buffer for mesh in flver.meshes for buffer in mesh.buffers]
        self.textures = [texture for material in flver.materials for texture in material.textures]
        self.tables: list[tuple[int, Array]] = []

    def write(self) -> bytes:
        flver = self.flver
        if len(flver.node_names) != len(flver.nodes):
            raise FormatError(f"{len(flver.node_names)} names for {len(flver.nodes)} nodes", trail="node_names")
        header = flver.header.copy()
        self._reserve(header)
        self._reserve(flver.dummies.astype(DUMMY.dtype))
        materials = self._reserve(_rows(MATERIAL, [material.record for material in flver.materials]))
        nodes = self._reserve(flver.nodes.astype(NODE.dtype))
        meshes = self._reserve(MESH.zeros(len(flver.meshes)))
        short = flver.version <= 0x20007
        face_sets = self._reserve((SHORT_FACE_SET if short else FACE_SET).zeros(len(self.face_sets)))
        buffers = self._reserve(BUFFER.zeros(len(self.buffers)))
        layouts = self._reserve(LAYOUT.zeros(len(flver.layouts)))
        textures = self._reserve(_rows(TEXTURE, [texture.record for texture in self.textures]))
        self._skeletons()
        self._layouts(layouts)
        self._meshes(meshes)
        self._materials(materials, textures)
        fill(nodes, "name_offset", [self._string(name) for name in flver.node_names])
        self._header(header)
        self._data(header, face_sets, buffers)
        for offset, table in self.tables:
            self.out.patch(offset, table)
        return self.out.getvalue()

    def _reserve(self, table: Array) -> Array:
        """Leave room for a table that is filled in once all is written."""
        self.tables.append((self.out.reserve(table.nbytes), table))
        return table

    def _string(self, text: str) -> int:
        return self.out.write(encode_text(text, self.encoding))

    def _skeletons(self) -> None:
        skeletons = self.flver.skeletons
        if skeletons is None:
            return
        head = self._reserve(SKELETON_SET.zeros(1))
        head["unk0C"] = np.void(skeletons.unk0C)
        fill(head, "base_count", [len(skeletons.base)])
        fill(head, "all_count", [len(skeletons.all)])
        fill(head, "base_offset", [self.out.array(skeletons.base)])
        fill(head, "all_offset", [self.out.array(skeletons.all)])

    def _layouts(self, table: Array) -> None:
        self.out.align(GROUP_ALIGNMENT)
        fill(table, "member_count", [len(layout.members) for layout in self.flver.layouts])
        fill(table, "members_offset", [self.out.array(layout.members) for layout in self.flver.layouts])
        for row, layout in zip(table, self.flver.layouts, strict=True):
            row["unk04"] = np.void(layout.unk04)

    def _meshes(self, table: Array) -> None:
        """Write what meshes point to: bounds, palettes, and the indices of their face sets and buffers."""
        meshes, out = self.flver.meshes, self.out
        _fill_from(table, meshes, "dynamic", "material", "node")
        for row, mesh in zip(table, meshes, strict=True):
            row["unk01"], row["unk08"] = np.void(mesh.unk01), np.void(mesh.unk08)
        out.align(GROUP_ALIGNMENT)
        fill(table, "bounds_offset", [0 if mesh.bounds is None else out.array(mesh.bounds) for mesh in meshes])
        out.align(GROUP_ALIGNMENT)
        fill(table, "palette_count", [len(mesh.palette) for mesh in meshes])
        palettes = [mesh.palette if len(mesh.palette) else mesh.uncounted_palette for mesh in meshes]
        fill(table, "palette_offset", [out.array(palette.astype("<i4")) for palette in palettes])
        self._index_lists(table, "face_set", [len(mesh.face_sets) for mesh in meshes])
        self._index_lists(table, "buffer", [len(mesh.buffers) for mesh in meshes])

    def _index_lists(self, table: Array, kind: str, counts: list[int]) -> None:
        """Write for each mesh the indices of its face sets or buffers, which are numbered mesh by mesh."""
        self.out.align(GROUP_ALIGNMENT)
        ends = np.cumsum(counts, dtype=np.int64)
        lists = [np.arange(end - count, end, dtype="<i4") for end, count in zip(ends, counts, strict=True)]
        fill(table, f"{kind}_count", counts)
        fill(table, f"{kind}s_offset", [self.out.array(values) for values in lists])

    def _materials(self, table: Array, textures: Array) -> None:
        self.out.align(GROUP_ALIGNMENT)
        form = GxForm.of(self.flver.header)
        gx_offsets = [write_gx_list(self.out, gx_list, form) for gx_list in self.flver.gx_lists]
        self.out.align(GROUP_ALIGNMENT)
        first = 0
        for i, (row, material) in enumerate(zip(table, self.flver.materials, strict=True)):
            start = self.out.tell()
            row["name_offset"], row["path_offset"] = self._string(material.name), self._string(material.path)
            row["first_texture"], row["texture_count"] = first, len(material.textures)
            for texture in material.textures:
                textures[first]["path_offset"] = self._string(texture.path)
                textures[first]["type_offset"] = self._string(texture.type)
                first += 1
            row["string_size"] = row["string_size"] or self.out.tell() - start
            row["gx_offset"] = 0 if material.gx is None else _gx_offset(material.gx, gx_offsets, f"materials[{i}].gx")
        self.out.align(GROUP_ALIGNMENT)

    def _header(self, header: Array) -> None:
        flver = self.flver
        counts = {
            "dummy_count": len(flver.dummies), "material_count": len(flver.materials), "node_count": len(flver.nodes),
            "mesh_count": len(flver.meshes), "buffer_count": len(self.buffers), "layout_count": len(flver.layouts),
            "face_set_count": len(self.face_sets), "texture_count": len(self.textures),
        }  # fmt: skip
        for field, count in counts.items():
            header[field] = count

    def _data(self, header: Array, face_sets: Array, buffers: Array) -> None:
        """Write indices and vertices where the packing has them, and their records."""
        offsets, size = place(self.flver.meshes, self.flver.packing)
        self._fill_face_sets(face_sets, offsets[: len(face_sets)])
        self._fill_buffers(buffers, offsets[len(face_sets) :])
        start = self.out.align(self.flver.packing.data_alignment)
        header["data_offset"], header["data_size"] = start, size
        self.out.reserve(size)
        arrays = [face_set.indices for face_set in self.face_sets] + [buffer.data for buffer in self.buffers]
        for array, offset in zip(arrays, offsets, strict=True):
            self.out.patch(start + offset, array)

    def _fill_face_sets(self, table: Array, offsets: list[int]) -> None:
        sets = self.face_sets
        _fill_from(table, sets, "flags", "strip", "cull_back", "unk06")
        counts = [len(each.indices) if each.index_count is None else each.index_count for each in sets]
        fill(table, "index_count", counts)
        fill(table, "offset", offsets)
        for i, each in enumerate(sets):
            bits = each.index_size or int(self.flver.header["index_size"]) or 16
            if each.indices.dtype.itemsize * 8 != bits and each.index_count is None:
                raise FormatError(f"{each.indices.dtype} indices are said to have {bits} bits", trail=f"face_sets[{i}]")
        if table.dtype != SHORT_FACE_SET.dtype:
            _fill_from(table, sets, "index_size", "unk14", "unk1C")
            fill(table, "size", [each.indices.nbytes for each in sets])

    def _fill_buffers(self, table: Array, offsets: list[int]) -> None:
        buffers, layouts = self.buffers, self.flver.layouts
        wild = next((each.layout for each in buffers if not 0 <= each.layout < len(layouts)), None)
        if wild is not None:
            raise FormatError(f"layout {wild} of {len(layouts)}", trail="buffers")
        _fill_from(table, buffers, "slot", "layout")
        fill(table, "vertex_size", [each.data.dtype.itemsize for each in buffers])
        fill(table, "vertex_count", [len(each.data) for each in buffers])
        fill(table, "size", [each.data.nbytes for each in buffers])
        fill(table, "offset", offsets)
        for row, buffer in zip(table, buffers, strict=True):
            row["unk10"] = np.void(buffer.unk10)


def _fill_from(table: Array, parts: Sequence[Any], *fields: str) -> None:
    """Set columns of a table from the attributes of the same names."""
    for field in fields:
        fill(table, field, [getattr(part, field) for part in parts])


def _gx_offset(reference: GxReference, offsets: list[list[int]], trail: str) -> int:
    """Return where the item stands that a material's overrides begin with."""
    gx_list, item = reference.gx_list, reference.item
    if not 0 <= gx_list < len(offsets) or not 0 <= item < len(offsets[gx_list]):
        raise FormatError(f"item {item} of GX list {gx_list} is not in the model", trail=trail)
    return offsets[gx_list][item]


def _rows(record: Record, rows: list[Array]) -> Array:
    """Return a table of 0-d records."""
    return np.array([row[()] for row in rows], record.dtype) if rows else record.zeros(0)
