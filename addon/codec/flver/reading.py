"""From bytes to a `Flver`."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from ...maths.hierarchy import depths
from ..binary import Array, Buffer, Reader, encode_text, text_encoding
from .faces import FaceSet, FaceSetFlags
from .gx import GxForm, GxList, GxReference, read_gx_lists
from .layout import Layout, VertexBuffer
from .packing import GROUP_ALIGNMENT, packing_of
from .parts import ORIENTED_BOUNDS_FROM, Material, Mesh, SkeletonSet, Texture
from .records import (
    BOX_BOUNDS,
    BUFFER,
    DUMMY,
    FACE_SET,
    HEADER,
    LAYOUT,
    MATERIAL,
    MEMBER,
    MESH,
    NODE,
    ORIENTED_BOUNDS,
    SHORT_FACE_SET,
    SKELETON_ENTRY,
    SKELETON_SET,
    TEXTURE,
)

VERSIONS = frozenset((
    0x20005, 0x20007, 0x20009, 0x2000B, 0x2000C, 0x2000D, 0x2000E, 0x2000F, 0x20010, 0x20013, 0x20014, 0x20016,
    0x20017, 0x2001A, 0x2001B, 0x20021,
))  # fmt: skip
FLVER0_UP_TO = 0xFFFF
REPEATS = 4  # times that the records may refer to each byte, on average
MEMBERS_MAX = 256


def read_fields(data: Buffer, file: str) -> dict[str, Any]:
    """Read a model; return the attributes of a `Flver` by name."""
    reader = Reader(data, file, big_endian=len(data) > 6 and data[6] == ord("B"), repeats=REPEATS)
    return _FlverReader(reader, _read_header(reader)).read()


def _read_header(reader: Reader) -> Array:
    header = reader.record(HEADER, 0)
    version = int(header["version"])
    if header["magic"].item() != b"FLVER" or header["endian"].item() not in (b"L", b"B"):
        reader.fail("not a FLVER model", 0)
    if version <= FLVER0_UP_TO:
        reader.fail(f"FLVER0 of version {version:#x} (Demon's Souls) is not supported", 8)
    if version not in VERSIONS:
        reader.fail(f"FLVER version {version:#x} is not known", 8)
    return header


class _FlverReader:
    """Reads the tables, which follow each other, then what they point to."""

    def __init__(self, reader: Reader, header: Array) -> None:
        self.reader = reader
        self.header = header
        self.version = int(header["version"])
        self.encoding = text_encoding(unicode=bool(header["unicode"]), big_endian=reader.big_endian)
        self.dummies = reader.table(DUMMY, HEADER.size, int(header["dummy_count"]))
        offset = HEADER.size + self.dummies.nbytes
        tables = []
        for record, count in (
            (MATERIAL, "material_count"), (NODE, "node_count"), (MESH, "mesh_count"),
            (FACE_SET if self.version > 0x20007 else SHORT_FACE_SET, "face_set_count"),
            (BUFFER, "buffer_count"), (LAYOUT, "layout_count"), (TEXTURE, "texture_count"),
        ):  # fmt: skip
            tables.append(reader.table(record, offset, int(header[count])))
            offset += tables[-1].nbytes
        self.materials, self.nodes, self.meshes, self.face_sets, self.buffers, self.layouts, self.textures = tables
        self.tables_end = offset
        self.face_sets_left, self.buffers_left = set(range(len(self.face_sets))), set(range(len(self.buffers)))
        self.vertex_dtypes: dict[tuple[int, int], np.dtype[Any]] = {}

    def read(self) -> dict[str, Any]:
        """Read everything."""
        self._check_parents()
        self._check_textures()
        layouts = [self._layout(i) for i in range(len(self.layouts))]
        gx_lists, places = self._gx_lists()
        meshes = [self._mesh(i, layouts) for i in range(len(self.meshes))]
        self._uncounted_palettes(meshes)
        starts = [*self.face_sets["offset"].tolist(), *self.buffers["offset"].tolist()]
        return {
            "header": self.header,
            "nodes": self.nodes,
            "node_names": [
                self._string(offset, f"nodes[{i}].name") for i, offset in enumerate(self.nodes["name_offset"].tolist())
            ],
            "dummies": self.dummies,
            "materials": [self._material(i, places) for i in range(len(self.materials))],
            "gx_lists": gx_lists,
            "meshes": meshes,
            "layouts": layouts,
            "skeletons": self._skeletons() if self.version >= ORIENTED_BOUNDS_FROM else None,
            "packing": packing_of(meshes, starts, self.version),
        }

    def _check_parents(self) -> None:
        parents = self.nodes["parent"]
        wild = np.flatnonzero((parents < -1) | (parents >= len(parents)))
        if len(wild):
            self.reader.fail(f"parent {parents[wild[0]]} of {len(parents)} nodes", step=f"nodes[{wild[0]}].parent")
        lost = np.flatnonzero(depths(parents) < 0)
        if len(lost):
            self.reader.fail("the parents form a cycle", step=f"nodes[{lost[0]}].parent")

    def _check_textures(self) -> None:
        wanted = int(self.materials["texture_count"].astype(np.int64).sum())
        if wanted > len(self.textures):
            self.reader.fail(f"the materials have {wanted} textures of {len(self.textures)}", step="materials")

    def _string(self, offset: int, what: str) -> str:
        return self.reader.string(offset, self.encoding, what)

    def _skeletons(self) -> SkeletonSet:
        reader = self.reader
        with reader.at("skeletons"):
            head = reader.record(SKELETON_SET, self.tables_end)
            base = reader.table(SKELETON_ENTRY, int(head["base_offset"]), int(head["base_count"]))
            whole = reader.table(SKELETON_ENTRY, int(head["all_offset"]), int(head["all_count"]))
        return SkeletonSet(base, whole, head["unk0C"].item())

    def _layout(self, index: int) -> Layout:
        row = self.layouts[index]
        with self.reader.at(f"layouts[{index}]"):
            if row["member_count"] > MEMBERS_MAX:
                self.reader.fail(f"a vertex of {row['member_count']} members")
            members = self.reader.table(MEMBER, int(row["members_offset"]), int(row["member_count"]))
        return Layout(members, row["unk04"].item())

    def _gx_lists(self) -> tuple[list[GxList], dict[int, GxReference]]:
        offsets = [offset for offset in self.materials["gx_offset"].tolist() if offset]
        ends = self.meshes["buffers_offset"].astype(np.int64) + 4 * self.meshes["buffer_count"]
        start = int(ends.max(initial=0))
        return read_gx_lists(self.reader, offsets, GxForm.of(self.header), start + -start % GROUP_ALIGNMENT)

    def _material(self, index: int, places: dict[int, GxReference]) -> Material:
        row = self.materials[index]
        first, count = int(row["first_texture"]), int(row["texture_count"])
        with self.reader.at(f"materials[{index}]"):
            name, path = self._string(int(row["name_offset"]), "name"), self._string(int(row["path_offset"]), "path")
            if count and not 0 <= first <= first + count <= len(self.textures):
                self.reader.fail(f"textures {first} to {first + count} of {len(self.textures)}", step="textures")
            textures = [self._texture(first + i) for i in range(count)]
        record = row.reshape(()).copy()
        texts = [name, path, *(text for texture in textures for text in (texture.path, texture.type))]
        if row["string_size"] == sum(len(encode_text(text, self.encoding)) for text in texts):
            record["string_size"] = 0
        return Material(name, path, textures, places.get(int(row["gx_offset"])), record)

    def _texture(self, index: int) -> Texture:
        row = self.textures[index]
        with self.reader.at(f"textures[{index}]"):
            kind, path = self._string(int(row["type_offset"]), "type"), self._string(int(row["path_offset"]), "path")
        return Texture(kind, path, row.reshape(()).copy())

    def _mesh(self, index: int, layouts: list[Layout]) -> Mesh:
        row, reader = self.meshes[index], self.reader
        with reader.at(f"meshes[{index}]"):
            face_sets = self._take(row, "face_set", self.face_sets_left)
            buffers = self._take(row, "buffer", self.buffers_left)
            mesh = Mesh(
                [self._face_set(i) for i in face_sets],
                [self._buffer(i, layouts) for i in buffers],
                int(row["dynamic"]),
                int(row["material"]),
                int(row["node"]),
                reader.array("i4", int(row["palette_offset"]), int(row["palette_count"]), "palette").astype(np.int32),
                unk01=row["unk01"].item(),
                unk08=row["unk08"].item(),
            )
            if row["bounds_offset"]:
                record = ORIENTED_BOUNDS if self.version >= ORIENTED_BOUNDS_FROM else BOX_BOUNDS
                mesh.bounds = reader.record(record, int(row["bounds_offset"]))
        return mesh

    def _take(self, row: Array, kind: str, left: set[int]) -> list[int]:
        """Read a mesh's list of face set or vertex buffer indices; each belongs to one mesh."""
        offset = int(row[f"{kind}s_offset"])
        indices: list[int] = self.reader.array("i4", offset, int(row[f"{kind}_count"]), f"{kind}s").tolist()
        for index in indices:
            if index not in left:
                self.reader.fail(f"{kind} {index} is not in the file or belongs to another mesh", offset, f"{kind}s")
            left.remove(index)
        return indices

    def _face_set(self, index: int) -> FaceSet:
        row = self.face_sets[index]
        short = len(row.dtype.names or ()) == len(SHORT_FACE_SET.rows)
        bits = 0 if short else int(row["index_size"])
        width = {0: 2, 8: 1, 16: 2, 32: 4}.get(bits or int(self.header["index_size"]))
        with self.reader.at(f"face_sets[{index}]"):
            if width is None:
                self.reader.fail(f"indices of {bits or int(self.header['index_size'])} bits")
            count, start = int(row["index_count"]), int(self.header["data_offset"]) + int(row["offset"])
            edge = bool(int(row["flags"]) & FaceSetFlags.EDGE_COMPRESSED) and not short
            if edge:
                indices = self.reader.array("u1", start, int(row["size"]), "indices")
            else:
                indices = self.reader.array(f"u{width}", start, count, "indices")
        face_set = FaceSet(
            indices, int(row["flags"]), int(row["strip"]), int(row["cull_back"]), int(row["unk06"]), bits
        )
        if not short:
            face_set.unk14, face_set.unk1C = int(row["unk14"]), int(row["unk1C"])
        if edge:
            face_set.index_count = count
        return face_set

    def _buffer(self, index: int, layouts: list[Layout]) -> VertexBuffer:
        row = self.buffers[index]
        count, size, layout = int(row["vertex_count"]), int(row["vertex_size"]), int(row["layout"])
        with self.reader.at(f"buffers[{index}]"):
            if not 0 <= layout < len(layouts):
                self.reader.fail(f"layout {layout} of {len(layouts)}")
            if size < 1:
                self.reader.fail(f"vertices of {size} bytes")
            start = int(self.header["data_offset"]) + int(row["offset"])
            data = self.reader.array(self._vertex_dtype(layout, layouts[layout], size), start, count, "vertices")
        return VertexBuffer(layout, data, int(row["slot"]), row["unk10"].item())

    def _vertex_dtype(self, index: int, layout: Layout, size: int) -> np.dtype[Any]:
        if (index, size) not in self.vertex_dtypes:
            self.vertex_dtypes[index, size] = layout.dtype(size)
        return self.vertex_dtypes[index, size]

    def _uncounted_palettes(self, meshes: list[Mesh]) -> None:
        """Find the palettes that stand in the file though the mesh counts none: they fill the gap to what follows."""
        group_end = int(self.meshes["face_sets_offset"].min(initial=len(self.reader)))
        starts = self.meshes["palette_offset"].astype(np.int64)
        owners = {start: i for i, start in enumerate(starts.tolist())}  # empty lists stand where the next begins
        ordered = [*sorted(owners), group_end]
        for start, following in pairwise(ordered):
            mesh, end = meshes[owners[start]], min(following, group_end)
            if len(mesh.palette) or not 0 < start < end:
                continue
            values = self.reader.array("i4", start, (end - start) // 4, "palette").astype(np.int32)
            if end == group_end:  # the group behind is aligned: zeros before it are padding
                values = np.trim_zeros(values, "b")
            mesh.uncounted_palette = values
