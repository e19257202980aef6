"""Vertex formats: what each semantic in each type holds, by bytes written out by hand."""

from __future__ import annotations

import numpy as np
import pytest

from addon.codec import FormatError
from addon.codec.flver import Layout, Semantic, VertexBuffer, Vertices, decode_vertices, encode_vertices, uv_factor
from addon.codec.flver.formats import CODINGS, TYPES, field_type
from addon.codec.flver.layout import EDGE_SLOT

P, W, B, N = Semantic.POSITION, Semantic.WEIGHTS, Semantic.BONES, Semantic.NORMAL
U, T, BT, C = Semantic.UV, Semantic.TANGENT, Semantic.BITANGENT, Semantic.COLOR
ONE, HALF, TWO = "0000803f", "0000003f", "00000040"
H = 2048.0
K = 32767.0

# semantic, type, little-endian bytes, value, node of the normal's W
CASES = [
    (P, 0x02, f"{ONE} 000000c0 {HALF}", [1, -2, 0.5], None),
    (P, 0x03, f"{ONE} 000000c0 {HALF} {ONE}", [1, -2, 0.5], None),
    (W, 0x03, f"{HALF} {HALF} 00000000 {ONE}", [0.5, 0.5, 0, 1], None),
    (W, 0x10, "7f 81 00 40", [1, -1, 0, 64 / 127], None),
    (W, 0x13, "ff 00 80 01", [1, 0, 128 / 255, 1 / 255], None),
    (W, 0x16, "ff7f 0080 0000 ffff", [1, 0, 32768 / 65535, 32767 / 65535], None),
    (W, 0x1A, "ff7f 0180 0000 0040", [1, -1, 0, 16384 / K], None),
    (B, 0x11, "00 01 80 ff", [0, 1, 128, 255], None),
    (B, 0x12, "00 01 80 ff", [0, 1, 128, 255], None),
    (B, 0x2F, "00 01 80 ff", [0, 1, 128, 255], None),
    (B, 0x17, "0100 ffff", [1, 65535], None),
    (B, 0x18, "0100 ffff 0080 0002", [1, 65535, 32768, 512], None),
    (N, 0x02, f"{ONE} 00000000 000000bf", [1, 0, -0.5], None),
    (N, 0x03, f"{ONE} 00000000 000000bf 0000e040", [1, 0, -0.5], 7),
    *((N, code, "fe 00 7f 07", [1, -1, 0], 7) for code in (0x10, 0x11, 0x13, 0x2F)),
    (N, 0x12, "c8 00 81 7f", [1, -1, 0], 200),
    (N, 0x1A, "ff7f 0180 0000 0200", [1, -1, 0], 2),
    (N, 0x18, "feff 0000 ff7f 0002", [1, -1, 0], 512),
    (N, 0x2E, "feff 0000 ff7f feff", [1, -1, 0], -2),
    (T, 0x03, f"{ONE} 00000000 000000bf 000080bf", [1, 0, -0.5, -1], None),
    *((T, code, "fe 00 7f 00", [1, -1, 0, -1], None) for code in (0x10, 0x11, 0x13, 0x2F)),
    (T, 0x14, "81 00 81 7f", [1, -1, 0, -1], None),
    (T, 0x1A, "ff7f 0180 0000 0180", [1, -1, 0, -1], None),
    *((BT, code, "fe 00 7f fe", [1, -1, 0, 1], None) for code in (0x10, 0x11, 0x13, 0x2F)),
    (C, 0x03, f"{ONE} 00000000 {HALF} {TWO}", [1, 0, 0.5, 2], None),
    (C, 0x10, "ff 00 80 01", [1, 0, 128 / 255, 1 / 255], None),
    (C, 0x13, "ff 00 80 01", [1, 0, 128 / 255, 1 / 255], None),
    (U, 0x01, f"{ONE} 000000c0", [1, -2], None),
    (U, 0x02, f"{ONE} 000000c0 {HALF}", [1, -2], None),
    (U, 0x03, f"{ONE} 000000c0 {HALF} {TWO}", [1, -2, 0.5, 2], None),
    *((U, code, "0008 00f4", [1, -1.5], None) for code in (0x10, 0x11, 0x12, 0x15, 0x2D)),
    *((U, code, "0008 00f4 0100 0080", [1, -1.5, 1 / H, -16], None) for code in (0x16, 0x1A, 0x2E)),
    (U, 0x13, "ff 00 80 01", [1, 0, 128 / 255, 1 / 255], None),
]
every_case = pytest.mark.parametrize(
    ("semantic", "code", "stored", "value", "node"), CASES, ids=[f"{case[0].name} {case[1]:02X}" for case in CASES]
)
every_coding = pytest.mark.parametrize(("semantic", "code"), sorted(CODINGS), ids=lambda number: f"{number:02X}")


def bytes_of(stored: str, kind: str, *, big_endian: bool) -> bytes:
    """Return annotated bytes in either order: each component of the type turned round on its own."""
    data = bytes.fromhex(stored)
    size = np.dtype(kind).base.itemsize
    parts = [data[i : i + size] for i in range(0, len(data), size)]
    return b"".join(part[::-1] if big_endian else part for part in parts)


def buffer(semantic: int, code: int, data: bytes, *, big_endian: bool = False) -> tuple[list, list]:
    """Return buffers and layouts of one member behind a position, which every mesh has."""
    layout = Layout.new((semantic, code, 0))
    place = Layout.new((P, 0x02, 0), stream=1)
    raw = np.frombuffer(data, layout.dtype(layout.vertex_size, big_endian=big_endian))
    positions = np.zeros(len(raw), place.dtype(12))
    return [VertexBuffer(0, raw), VertexBuffer(1, positions, 1)], [layout, place]


def value_of(vertices: Vertices, semantic: int, code: int) -> np.ndarray:
    if semantic == U and code == 0x13:
        return vertices.factors[0]
    places = {
        P: vertices.positions, W: vertices.weights, B: vertices.bones, N: vertices.normals,
        U: vertices.uvs.get(0), T: vertices.tangents.get(0), BT: vertices.bitangents.get(0), C: vertices.colors.get(0),
    }  # fmt: skip
    return places[semantic]


def test_every_coding_is_written_out():
    assert {(case[0], case[1]) for case in CASES} == set(CODINGS)


@every_case
@pytest.mark.parametrize("big_endian", [False, True])
def test_decode_and_encode(semantic, code, stored, value, node, big_endian):
    data = bytes_of(stored, field_type(semantic, code), big_endian=big_endian)
    buffers, layouts = buffer(semantic, code, data, big_endian=big_endian)
    vertices = decode_vertices(buffers, layouts, H)
    decoded = value_of(vertices, semantic, code)
    assert decoded.dtype == (np.int32 if semantic == B else np.float32)
    np.testing.assert_allclose(decoded[0], value, rtol=1e-6)
    assert (vertices.normal_nodes is None) == (node is None)
    if node is not None:
        assert vertices.normal_nodes.tolist() == [node]
    assert encode_vertices(vertices, buffers, layouts, H)[0].data.tobytes() == data


def all_values(kind: np.dtype, columns: int) -> np.ndarray:
    """Return rows that hold, in each column, every value of a type (of floats, some)."""
    if kind.kind == "f":
        values = np.array([0, -0.0, 1, -1, 1e-30, 3.4e38, np.inf, 2.5], kind)
    else:
        values = np.arange(1 << 8 * kind.itemsize).astype(f"u{kind.itemsize}").view(kind)
    return np.stack([np.roll(values, i) for i in range(columns)], axis=1)


@every_coding
def test_every_value_comes_back(semantic, code):
    layout = Layout.new((semantic, code, 0))
    field = layout.dtype(layout.vertex_size)[0]
    values = all_values(field.base, field.shape[0])
    if (semantic, code) == (N, 0x03):
        values[:, 3] = np.arange(len(values))  # a node
    data = values.tobytes()
    buffers, layouts = buffer(semantic, code, data)
    vertices = decode_vertices(buffers, layouts, H)
    assert encode_vertices(vertices, buffers, layouts, H)[0].data.tobytes() == data
    empty = [VertexBuffer.new(layouts, each.layout, len(each.data), each.slot) for each in buffers]
    again = decode_vertices(encode_vertices(vertices, empty, layouts, H), layouts, H)
    assert np.array_equal(value_of(again, semantic, code), value_of(vertices, semantic, code))


def test_values_past_a_type_stop_at_its_ends():
    buffers, layouts = buffer(U, 0x15, bytes(4))
    vertices = decode_vertices(buffers, layouts, H)
    vertices.uvs[0] = np.array([[99.0, np.nan]])
    assert encode_vertices(vertices, buffers, layouts, H)[0].data["uv0"].tolist() == [[32767, 0]]


@pytest.mark.parametrize(("semantic", "what"), [(B, "bone 256"), (N, "node 256")])
def test_indices_past_a_type_are_refused(semantic, what):
    buffers, layouts = buffer(semantic, 0x11, bytes(4))
    vertices = decode_vertices(buffers, layouts, H)
    if semantic == B:
        vertices.bones = np.array([[0, 256, 0, 0]])
    else:
        vertices.normal_nodes = np.array([256])
    with pytest.raises(FormatError, match=what) as caught:
        encode_vertices(vertices, buffers, layouts, H)
    assert caught.value.trail.startswith("buffers[0].")


def test_a_node_that_is_no_number_is_none():
    data = np.array([[0, 0, 1, np.nan], [0, 0, 1, 1e30], [0, 0, 1, 3]], "<f4").tobytes()
    buffers, layouts = buffer(N, 0x03, data)
    assert decode_vertices(buffers, layouts, H).normal_nodes.tolist() == [-1, -1, 3]


@pytest.mark.parametrize(("version", "factor"), [(0x2000D, 1024), (0x2000E, 1024), (0x2000F, 2048), (0x2001A, 2048)])
def test_uv_factor(version, factor):
    assert uv_factor(version) == factor


def test_members_are_where_the_layout_says():
    """Offsets and the vertex size are the file's own; members need not be sorted nor fill the vertex."""
    layout = Layout.new((U, 0x15, 3), (P, 0x02, 0), (U, 0x15, 0))
    layout.members["offset"] = 20, 4, 0
    raw = np.zeros(2, layout.dtype(28))
    raw["position0"], raw["uv0"], raw["uv3"] = [(1, 2, 3), (4, 5, 6)], 2048, -2048
    vertices = decode_vertices([VertexBuffer(0, raw)], [layout], H)
    assert vertices.positions.tolist() == [[1, 2, 3], [4, 5, 6]]
    assert {index: uv[0].tolist() for index, uv in vertices.uvs.items()} == {3: [-1, -1], 0: [1, 1]}


@pytest.mark.parametrize("kind", ["unknown type", "past the vertex", "not stored"])
def test_members_that_cannot_be_read_are_named(kind):
    layout = Layout.new((P, 0x02, 0), (C, 0x10, 1))
    if kind == "unknown type":
        layout.members["type"][1] = 0x77
    elif kind == "past the vertex":
        layout.members["offset"][1] = 13
    else:
        layout.members["special"][1] = -32768
    raw = np.frombuffer(bytes(range(16)), layout.dtype(16))
    vertices = decode_vertices([VertexBuffer(0, raw)], [layout], H)
    assert vertices.colors == {}
    assert vertices.skipped == ([] if kind == "not stored" else ["color1"])
    assert encode_vertices(vertices, [VertexBuffer(0, raw)], [layout], H)[0].data.tobytes() == bytes(range(16))


def test_an_unknown_semantic_is_skipped():
    layout = Layout.new((P, 0x02, 0), (C, 0x10, 1))
    layout.members["semantic"][1] = 11
    raw = np.zeros(1, layout.dtype(16))
    assert decode_vertices([VertexBuffer(0, raw)], [layout], H).skipped == ["semantic11_1"]


def test_of_two_members_alike_the_first_counts():
    layout = Layout.new((P, 0x02, 0), (P, 0x02, 0), (B, 0x11, 0), (B, 0x11, 1))
    raw = np.zeros(1, layout.dtype(layout.vertex_size))
    raw["position0"], raw["bones1"] = 1, 9
    vertices = decode_vertices([VertexBuffer(0, raw)], [layout], H)
    assert vertices.positions.tolist() == [[1, 1, 1]]
    assert vertices.bones.tolist() == [[0, 0, 0, 0]]
    assert vertices.skipped == ["position0_1", "bones1"]
    vertices.positions = np.array([[2, 2, 2]])
    data = encode_vertices(vertices, [VertexBuffer(0, raw)], [layout], H)[0].data
    assert (data["position0"].tolist(), data["position0_1"].tolist()) == ([[2, 2, 2]], [[0, 0, 0]])


def test_buffers_are_combined_and_second_positions_kept_apart():
    layouts = [
        Layout.new((P, 0x02, 0), (N, 0x13, 0)), Layout.new((C, 0x10, 1), stream=1),
        Layout.new((P, 0x02, 1), (N, 0x13, 1), (T, 0x13, 1), stream=2),
    ]  # fmt: skip
    vertices = Vertices(np.array([[1, 2, 3]], np.float32), np.array([[0, 1, 0]], np.float32), np.array([5], np.int32))
    vertices.colors = {1: np.array([[1, 0, 0, 1]])}
    vertices.second = {"position": np.array([[4, 5, 6]]), "normal": np.array([[0, 0, 1]])}
    empty = [VertexBuffer.new(layouts, i, 1, i) for i in range(3)]
    for order in ((0, 1, 2), (2, 1, 0)):
        buffers = encode_vertices(vertices, [empty[i] for i in order], layouts, H)
        read = decode_vertices(buffers, layouts, H)
        assert (read.positions.tolist(), read.second["position"].tolist()) == ([[1, 2, 3]], [[4, 5, 6]])
        assert (read.normals.tolist(), read.second["normal"].tolist()) == ([[0, 1, 0]], [[0, 0, 1]])
        assert (read.normal_nodes.tolist(), read.colors[1].tolist()) == ([5], [[1, 0, 0, 1]])


def test_buffers_of_different_lengths_are_refused():
    layouts = [Layout.new((P, 0x02, 0))]
    with pytest.raises(FormatError, match=r"different numbers.*\[1, 2\]"):
        decode_vertices([VertexBuffer.new(layouts, 0, 1), VertexBuffer.new(layouts, 0, 2)], layouts, H)


@pytest.mark.parametrize(("slot", "what"), [(0, "without positions"), (EDGE_SLOT, "edge-compressed")])
def test_vertices_without_positions_are_refused(slot, what):
    layout = Layout.new((P, 0xF0, 0))
    with pytest.raises(FormatError, match=what):
        decode_vertices([VertexBuffer(0, np.zeros(3, layout.dtype(1)), slot)], [layout], H)
    assert len(decode_vertices([VertexBuffer(0, np.zeros(0, layout.dtype(1)), slot)], [layout], H).positions) == 0


def test_sizes_of_types():
    sizes = {
        0x00: 4, 0x01: 8, 0x02: 12, 0x03: 16, 0x10: 4, 0x11: 4, 0x12: 4, 0x13: 4, 0x14: 4, 0x15: 4, 0x16: 8, 0x17: 4,
        0x18: 8, 0x1A: 8, 0x2D: 4, 0x2E: 8, 0x2F: 4, 0xF0: 1,
    }  # fmt: skip
    assert {code: np.dtype(kind).itemsize for code, (_name, kind) in TYPES.items()} == sizes


def test_a_mesh_without_vertices():
    layouts = [Layout.new((P, 0x02, 0))]
    for buffers in ([], [VertexBuffer.new(layouts, 0, 0)]):
        vertices = decode_vertices(buffers, layouts, H)
        assert vertices.positions.shape == (0, 3)
        assert [len(each.data) for each in encode_vertices(vertices, buffers, layouts, H)] == [0] * len(buffers)
