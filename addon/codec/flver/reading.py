"""From bytes to a `Flver`."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...maths.hierarchy import depths
from ..binary import Array, Buffer, Reader, encode_text, text_encoding
from .faces import FaceSet, FaceSetFlags
from .gx import GxForm, GxList, GxReference, read_gx_lists
from .layout import Layout, VertexBuffer
from .packing import PACKINGS, place
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
EDGE_SLOT = 0x60000000


def read_fields(data: Buffer, file: str) -> dict[str, Any]:
    """Read a model; return the attributes of a `Flver` by name."""
    reader = Reader(data, file, big_endian=len(data) > 6 and data[6] == ord("B"))
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

    def read(self) -> dict[str, Any]:
        """Read everything."""
        self._check_parents()
        layouts = [self._layout(i) for i in range(len(self.layouts))]
        gx_lists, places = self._gx_lists()
        meshes = [self._mesh(i, layouts) for i in range(len(self.meshes))]
        self._uncounted_palettes(meshes)
        starts = [int(row["offset"]) for row in (*self.face_sets, *self.buffers)]
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
            "packing": next((way for way in PACKINGS if place(meshes, way)[0] == starts), PACKINGS[0]),
        }

    def _check_parents(self) -> None:
        parents = self.nodes["parent"]
        wild = np.flatnonzero((parents < -1) | (parents >= len(parents)))
        if len(wild):
            self.reader.fail(f"parent {parents[wild[0]]} of {len(parents)} nodes", step=f"nodes[{wild[0]}].parent")
        lost = np.flatnonzero(depths(parents) < 0)
        if len(lost):
            self.reader.fail("the parents form a cycle", step=f"nodes[{lost[0]}].parent")

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
            members = self.reader.table(MEMBER, int(row["members_offset"]), int(row["member_count"]))
        return Layout(members, row["unk04"].item())

    def _gx_lists(self) -> tuple[list[GxList], dict[int, GxReference]]:
        offsets = [offset for offset in self.materials["gx_offset"].tolist() if offset]
        return read_gx_lists(self.reader, offsets, GxForm.of(self.header))

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
            face_sets = self._indices(row, "face_sets_offset", "face_set_count", len(self.face_sets))
            buffers = self._indices(row, "buffers_offset", "buffer_count", len(self.buffers))
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

    def _indices(self, row: Array, offset: str, count: str, limit: int) -> list[int]:
        """Read a mesh's list of face set or vertex buffer indices."""
        values = self.reader.array("i4", int(row[offset]), int(row[count]), count)
        if len(values) and not 0 <= values.min() <= values.max() < limit:
            self.reader.fail(f"index {values.max()} of {limit}", int(row[offset]), count.removesuffix("_count"))
        indices: list[int] = values.tolist()
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
            edge = bool(int(row["flags"]) & FaceSetFlags.EDGE_COMPRESSED)
            if edge and not short:
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
            self.reader.check(start, count * size if count >= 0 else count, f"{count} vertices")
            kind = layouts[layout].dtype(size, big_endian=self.reader.big_endian)
            data = np.frombuffer(self.reader.data, kind, count, start)
        return VertexBuffer(layout, data, int(row["slot"]), row["unk10"].item())

    def _uncounted_palettes(self, meshes: list[Mesh]) -> None:
        """Find the palettes that stand in the file though the mesh counts none: they fill the gap to what follows."""
        group_end = int(self.meshes["face_sets_offset"].min(initial=len(self.reader)))
        starts = self.meshes["palette_offset"].astype(np.int64)
        owners = {start: i for i, start in enumerate(starts.tolist())}  # empty lists stand where the next begins
        for start, owner in owners.items():
            mesh, end = meshes[owner], int(starts[starts > start].min(initial=group_end))
            if len(mesh.palette) or not 0 < start < end:
                continue
            values = self.reader.array("i4", start, (end - start) // 4, "palette").astype(np.int32)
            if end == group_end:  # the group behind is aligned: zeros before it are padding
                values = np.trim_zeros(values, "b")
            mesh.uncounted_palette = values
