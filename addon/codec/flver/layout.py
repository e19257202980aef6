"""Buffer layouts, vertex buffers, and the vertices that the buffers of a mesh make together."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..binary import Array
from ..errors import FormatError
from .formats import CODINGS, FACTORS_NOT_UV, NOT_STORED, Coding, Semantic, field_type
from .records import MEMBER

EDGE_SLOT = 0x60000000  # added to the slot of a buffer whose vertices are edge compressed


@dataclass
class Layout:
    """What a vertex of a buffer holds.

    Attributes:
        members: (k,) `MEMBER`, in the order of the file.
        unk04: stored bytes, 0.
    """

    members: Array
    unk04: bytes = bytes(8)

    @classmethod
    def new(cls, *members: tuple[Semantic, int, int], stream: int = 0) -> Layout:
        """Make a layout of members ``(semantic, type code, index)`` that follow each other without gaps."""
        table = MEMBER.zeros(len(members))
        offset = 0
        for row, (semantic, code, index) in zip(table, members, strict=True):
            row["stream"], row["offset"], row["type"], row["semantic"], row["index"] = (
                stream, offset, code, semantic, index)  # fmt: skip
            offset += np.dtype(field_type(semantic, code)).itemsize
        return cls(table)

    @property
    def vertex_size(self) -> int:
        """Bytes of the members that are stored and understood."""
        fields = dict(self.dtype(1 << 16).fields or {})
        return max((place[1] + place[0].itemsize for place in fields.values()), default=0)

    def dtype(self, vertex_size: int, *, big_endian: bool = False) -> np.dtype[Any]:
        """Return the vertex as a structured dtype with a field for each member, named by `member_names`.

        Members of unknown types, members that are not stored, and members that would reach past the vertex (files of
        other versions have such layouts) or into a member before them get no field; their bytes stay in the vertex.
        """
        names: list[str] = []
        formats: list[np.dtype[Any]] = []
        offsets: list[int] = []
        for name, member in zip(self.member_names(), self.members, strict=True):
            kind, offset = field_type(int(member["semantic"]), int(member["type"])), int(member["offset"])
            if kind is None or member["special"] == NOT_STORED:
                continue
            form = np.dtype(kind).newbyteorder(">" if big_endian else "<")
            end = offset + form.itemsize
            taken = any(offset < at + other.itemsize and at < end for at, other in zip(offsets, formats, strict=True))
            if offset >= 0 and end <= vertex_size and not taken:
                names.append(name)
                formats.append(form)
                offsets.append(offset)
        return np.dtype({"names": names, "formats": formats, "offsets": offsets, "itemsize": vertex_size})

    def member_names(self) -> list[str]:
        """Return a name for each member: semantic and index, such as ``uv1``; repeats get a running suffix."""
        names: dict[str, None] = {}
        for semantic, index in zip(self.members["semantic"].tolist(), self.members["index"].tolist(), strict=True):
            known = semantic in Semantic.__members__.values()
            name = f"{Semantic(semantic).name.lower() if known else f'semantic{semantic}_'}{index}"
            names[name if name not in names else f"{name}_{len(names)}"] = None
        return list(names)


@dataclass(slots=True)
class VertexBuffer:
    """A vertex buffer of a mesh.

    Attributes:
        layout: index of its layout in the model.
        data: (n,) structured array of the layout's dtype, in the file's byte order.
        slot: 0, 1, 2: which of the mesh's buffers it is; 0x60000000 is added where it is edge compressed.
        unk10: stored bytes, 0.
    """

    layout: int
    data: Array
    slot: int = 0
    unk10: bytes = bytes(8)

    @classmethod
    def new(cls, layouts: list[Layout], layout: int, count: int, slot: int = 0) -> VertexBuffer:
        """Make a little-endian buffer of ``count`` vertices of zero bytes, to be filled by `encode_vertices`."""
        return cls(layout, np.zeros(count, layouts[layout].dtype(layouts[layout].vertex_size)), slot)


@dataclass
class Vertices:
    """The decoded vertices of a mesh, all buffers together, in stored space (left-handed, Y up, metres).

    Attributes:
        positions: (n, 3) float32. In bind space where the mesh is dynamic, else in the space of each vertex's node.
        normals: (n, 3) float32 as stored, not made unit length; None where the layout has none.
        normal_nodes: (n,) int32, the "normal W" that names the node of a static vertex; None where not stored.
        bones: (n, 2 or 4) int32 palette or node indices; None where not stored.
        weights: (n, 4) float32 as stored: sums from 252/255 to 1 are usual; None where not stored.
        tangents: by member index, (n, 4) float32: direction of +dP/dV with V as stored (down), and the sign of
            the UV determinant.
        bitangents: by member index, (n, 4) float32; all bytes zero, which decodes to -1, means there is none.
        colors: by member index, (n, 4) float32 red, green, blue, alpha.
        uvs: by member index, (n, 2) or (n, 4) float32, one or two pairs, V pointing down.
        factors: by member index, (n, 4) float32: wind and blend bytes that stand under the UV semantic.
        second: "position" and "normal": the second ones of cloth meshes, (n, 3) float32.
        skipped: names of members that no coding reads, or that repeat one before them.
    """

    positions: Array
    normals: Array | None = None
    normal_nodes: Array | None = None
    bones: Array | None = None
    weights: Array | None = None
    tangents: dict[int, Array] = field(default_factory=dict)
    bitangents: dict[int, Array] = field(default_factory=dict)
    colors: dict[int, Array] = field(default_factory=dict)
    uvs: dict[int, Array] = field(default_factory=dict)
    factors: dict[int, Array] = field(default_factory=dict)
    second: dict[str, Array] = field(default_factory=dict)
    skipped: list[str] = field(default_factory=list)

    def take(self, indices: Array) -> Vertices:
        """Return some of the vertices, in the order of (k,) indices."""
        part = replace(self)
        for name, value in vars(self).items():
            if isinstance(value, np.ndarray):
                setattr(part, name, value[indices])
            elif isinstance(value, dict):
                setattr(part, name, {key: array[indices] for key, array in value.items()})
        return part


@dataclass(frozen=True)
class StoredMember:
    """A member of one of a mesh's buffers, with what is needed to read or write it.

    Attributes:
        buffer: index of the buffer in the mesh.
        name: the field in the buffer's data.
        semantic: what it holds.
        code: its type.
        index: the n-th of its semantic.
        coding: how values are stored, None where no coding is known or another member has the same place.
    """

    buffer: int
    name: str
    semantic: int
    code: int
    index: int
    coding: Coding | None

    @property
    def place(self) -> tuple[str, int | str | None]:
        """Which attribute of `Vertices` holds it, and under which key, None where it is the attribute itself."""
        semantic = Semantic(self.semantic)
        if semantic in (Semantic.POSITION, Semantic.NORMAL) and self.index > 0:
            return "second", semantic.name.lower()
        if semantic is Semantic.UV and self.code == FACTORS_NOT_UV:
            return "factors", self.index
        return ATTRIBUTES[semantic], self.index if semantic in BY_INDEX else None


NORMALS = ("normals", None)
BY_INDEX = (Semantic.UV, Semantic.TANGENT, Semantic.BITANGENT, Semantic.COLOR)
ATTRIBUTES = {
    Semantic.POSITION: "positions", Semantic.NORMAL: "normals", Semantic.WEIGHTS: "weights", Semantic.BONES: "bones",
    Semantic.UV: "uvs", Semantic.TANGENT: "tangents", Semantic.BITANGENT: "bitangents", Semantic.COLOR: "colors",
}  # fmt: skip


def stored_members(buffers: list[VertexBuffer], layouts: list[Layout]) -> list[StoredMember]:
    """Return the members that the buffers of a mesh hold, buffer by buffer in the order of their layouts."""
    members: list[StoredMember] = []
    places: set[tuple[str, int | str | None]] = set()
    for i, buffer in enumerate(buffers):
        layout = layouts[buffer.layout]
        fields = buffer.data.dtype.names or ()
        for name, row in zip(layout.member_names(), layout.members, strict=True):
            if name not in fields and row["special"] == NOT_STORED:
                continue
            semantic, code = int(row["semantic"]), int(row["type"])
            coding = CODINGS.get((semantic, code)) if name in fields else None
            member = StoredMember(i, name, semantic, code, int(row["index"]), coding)
            if coding is not None and member.place in places:
                member = replace(member, coding=None)
            elif coding is not None:
                places.add(member.place)
            members.append(member)
    return members


def decode_vertices(buffers: list[VertexBuffer], layouts: list[Layout], uv_factor: float) -> Vertices:
    """Decode the vertices of a mesh from its buffers, combined by vertex number.

    Raises:
        FormatError: buffers of different lengths, or no positions.
    """
    counts = {len(buffer.data) for buffer in buffers}
    if len(counts) > 1:
        raise FormatError(f"the vertex buffers hold different numbers of vertices: {sorted(counts)}", trail="buffers")
    result = Vertices(np.zeros((0, 3), np.float32))
    for member in stored_members(buffers, layouts):
        if member.coding is None:
            result.skipped.append(member.name)
            continue
        raw = buffers[member.buffer].data[member.name]
        _store(result, member, member.coding.decode(raw, uv_factor))
        if member.place == NORMALS:
            result.normal_nodes = member.coding.decode_node(raw)
    if len(result.positions) == 0 and counts not in (set(), {0}):
        compressed = any(buffer.slot & EDGE_SLOT for buffer in buffers)
        what = "edge-compressed vertices (PlayStation 3) are" if compressed else "a layout without positions is"
        raise FormatError(f"{what} not supported", trail="buffers")
    return result


def encode_vertices(
    vertices: Vertices, buffers: list[VertexBuffer], layouts: list[Layout], uv_factor: float
) -> list[VertexBuffer]:
    """Return buffers of the same layouts that hold other values, the mirror of `decode_vertices`.

    Members that ``vertices`` has no values for, and bytes without meaning, stay as ``buffers`` have them; make
    buffers from nothing with `VertexBuffer.new`.

    Raises:
        FormatError: a node index that its member cannot hold.
    """
    # A structured array's own copy would leave out the bytes between its fields.
    copies = [np.frombuffer(bytearray(buffer.data.tobytes()), buffer.data.dtype) for buffer in buffers]
    result = [replace(buffer, data=data) for buffer, data in zip(buffers, copies, strict=True)]
    for member in stored_members(buffers, layouts):
        values = None if member.coding is None else _stored(vertices, member)
        if values is None or member.coding is None:
            continue
        raw = result[member.buffer].data[member.name]
        try:
            member.coding.encode(values, raw, uv_factor)
            if member.place == NORMALS and vertices.normal_nodes is not None:
                member.coding.encode_node(vertices.normal_nodes, raw)
        except FormatError as error:
            raise error.inside("", f"buffers[{member.buffer}].{member.name}") from error
    return result


def _store(vertices: Vertices, member: StoredMember, values: Array) -> None:
    """Put a decoded member into its place."""
    name, key = member.place
    if key is None:
        setattr(vertices, name, values.astype(np.int32) if name == "bones" else values)
    else:
        getattr(vertices, name)[key] = values


def _stored(vertices: Vertices, member: StoredMember) -> Array | None:
    """Return what stands in the place of a member."""
    name, key = member.place
    held = getattr(vertices, name)
    return held if key is None else held.get(key)
