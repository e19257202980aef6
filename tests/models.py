"""Models for tests: a small one with a bit of everything, and random ones."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from addon.codec.flver import (
    FaceSet,
    FaceSetFlags,
    Flver,
    GxItem,
    GxList,
    GxReference,
    Layout,
    Material,
    Mesh,
    Semantic,
    SkeletonSet,
    Texture,
    VertexBuffer,
)
from addon.codec.flver.formats import CODINGS, NOT_STORED, field_type
from addon.codec.flver.parts import ORIENTED_BOUNDS_FROM
from addon.codec.flver.reading import VERSIONS
from addon.codec.flver.records import (
    BOX_BOUNDS,
    DUMMY,
    HEADER,
    MATERIAL,
    MEMBER,
    NODE,
    ORIENTED_BOUNDS,
    SKELETON_ENTRY,
    TEXTURE,
)
from addon.model import complete

# Fields that follow from the rest when a model is written.
MADE = {
    "data_offset", "data_size", "name_offset", "path_offset", "type_offset", "members_offset", "texture_count",
    "first_texture", "gx_offset", "string_size", "dummy_count", "material_count", "node_count", "mesh_count",
    "buffer_count", "face_set_count", "layout_count",
}  # fmt: skip

SKINNED = (
    (Semantic.POSITION, 0x02, 0), (Semantic.NORMAL, 0x13, 0), (Semantic.TANGENT, 0x13, 0), (Semantic.BONES, 0x11, 0),
    (Semantic.WEIGHTS, 0x13, 0), (Semantic.COLOR, 0x10, 1), (Semantic.UV, 0x15, 0),
)  # fmt: skip


def small_model(version: int = 0x2001A, *, big_endian: bool = False, unicode: int = 1, bits: int = 16) -> Flver:
    """Return a model of three nodes, one skinned and one static mesh, two dummies and two materials.

    Args:
        version: of the file.
        big_endian: byte order of the file.
        unicode: 1 = names in UTF-16, 0 = in Shift-JIS.
        bits: of an index; 8 is set in the header, others in the face sets.
    """
    flver = Flver.new(version)
    flver.header["endian"], flver.header["unicode"] = b"B" if big_endian else b"L", unicode
    if version <= 0x20007 or bits == 8:
        flver.header["index_size"] = bits
    flver.node_names = ["Root", "腕", "Mesh"]
    flver.nodes = NODE.zeros(3)
    flver.nodes["parent"], flver.nodes["scale"] = (-1, 0, -1), 1
    flver.nodes["translation"][1] = 0, 1, 0
    flver.dummies = DUMMY.zeros(2)
    flver.dummies["parent"], flver.dummies["attach"], flver.dummies["reference_id"] = (0, 1), (-1, 0), (100, 120)
    flver.dummies["forward"], flver.dummies["upward"] = (0, 0, 1), (0, 1, 0)
    flver.gx_lists = [GxList([GxItem(b"GX00", 102, b"abcd"), GxItem(b"GXMD", 123, bytes(range(8)))])]
    if version < 0x20010:
        flver.gx_lists = [GxList([GxItem(b"GX00", 102, b"abcd")], None)]
    textures = [Texture("g_Diffuse", "a.tif"), Texture("g_Bump")]
    flver.materials = [
        Material("bone", "bone.mtd", textures, GxReference(0)),
        Material("cloth", "cloth.mtd", [], GxReference(0, len(flver.gx_lists[0].items) - 1)),
    ]
    flver.layouts = [Layout.new(*SKINNED), Layout.new((Semantic.POSITION, 0x02, 0), (Semantic.NORMAL, 0x13, 0))]
    flver.meshes = [_quad(flver, 0, bits), _quad(flver, 1, bits)]
    complete(flver)
    return flver


def _quad(flver: Flver, layout: int, bits: int) -> Mesh:
    buffer = VertexBuffer.new(flver.layouts, layout, 4)
    buffer.data["position0"] = (0, 0, 0), (1, 0, 0), (0, 1, 0), (1, 1, 0)
    buffer.data["normal0"] = 127, 127, 254, layout  # W: node 1 for the static mesh
    if layout == 0:
        buffer.data["bones0"][:, 0], buffer.data["weights0"][:, 0] = (0, 0, 1, 1), 255
    flags = (0, FaceSetFlags.LOD_1, FaceSetFlags.MOTION_BLUR)
    stored = 0 if flver.header["index_size"] else bits
    faces = [FaceSet(np.array([0, 1, 2, 2, 1, 3], f"<u{bits // 8}"), int(flag), index_size=stored) for flag in flags]
    palette = np.array([0, 1] if layout == 0 else [], np.int32)
    return Mesh(faces, [buffer], int(layout == 0), layout, 2, palette)


def differences(one: Any, two: Any, trail: str = "") -> Iterator[str]:
    """Yield where two models, or parts of them, differ; what is made anew on writing does not count."""
    if isinstance(one, np.ndarray) and one.dtype.names and set(one.dtype.names) & MADE:
        kept = [name for name in one.dtype.names if name not in MADE]
        if [one[name].tobytes() for name in kept] != [two[name].tobytes() for name in kept]:
            yield trail
    elif isinstance(one, np.ndarray):
        if one.dtype != two.dtype:  # a model in memory may have the other byte order than its file
            one, two = (each.astype(each.dtype.newbyteorder("<")) for each in (one, two))
        if one.shape != two.shape or one.tobytes() != two.tobytes():
            yield trail
    elif is_dataclass(one):
        for each in fields(one):
            yield from differences(getattr(one, each.name), getattr(two, each.name), f"{trail}.{each.name}")
    elif isinstance(one, list):
        if len(one) != len(two):
            yield f"{trail}: {len(one)} and {len(two)}"
        for i, (left, right) in enumerate(zip(one, two, strict=False)):
            yield from differences(left, right, f"{trail}[{i}]")
    elif one != two:
        yield f"{trail}: {one!r} and {two!r}"


def rows(record: Any, count: int | st.SearchStrategy[int] = 1) -> st.SearchStrategy[Any]:
    """Return a strategy for tables of a record with bytes of any kind."""
    counts = st.just(count) if isinstance(count, int) else count
    return counts.flatmap(lambda n: npst.arrays(np.uint8, n * record.size)).map(lambda raw: raw.view(record.dtype))


# Without the six that Shift-JIS turns into others.
NAMES = st.text(st.characters(codec="cp932", exclude_characters="\0¢£¬‖\u2212〜"), max_size=6)
END_IDS = (b"\xff\xff\xff\x7f", b"\xff\xff\xff\xff")
GX_ITEMS = st.builds(GxItem, st.sampled_from((b"GX00", b"\1\0\0\0")), st.integers(-9, 999), st.binary(max_size=9))
GX_ENDS = st.builds(GxItem, st.sampled_from(END_IDS), st.just(100), st.just(bytes(4)))
GX_LISTS = st.builds(GxList, st.lists(GX_ITEMS, max_size=3), GX_ENDS)
SINGLE_GX = st.builds(GxList, st.lists(GX_ITEMS, min_size=1, max_size=1), st.none())
COUNTS = st.integers(0, 3)


@st.composite
def models(draw: st.DrawFn) -> Flver:
    """Draw a model whose records hold bytes of any kind, within what a file can hold."""
    version = draw(st.sampled_from(sorted(VERSIONS)))
    big_endian = draw(st.booleans())
    flver = Flver.new(version)
    made = {name: flver.header[name] for name in ("magic", "version", "index_size")}
    flver.header = draw(rows(HEADER)).reshape(())
    for name, value in made.items():
        flver.header[name] = value
    flver.header["endian"] = b"B" if big_endian else b"L"
    flver.header["unk68"] = draw(st.integers(0, 5))
    flver.nodes = draw(rows(NODE, COUNTS))
    flver.nodes["parent"] = [draw(st.integers(-1, i - 1)) for i in range(len(flver.nodes))]
    flver.node_names = [draw(NAMES) for _ in range(len(flver.nodes))]
    flver.dummies = draw(rows(DUMMY, COUNTS))
    flver.layouts = draw(st.lists(layouts(), max_size=3))
    flver.meshes = draw(st.lists(meshes(flver), max_size=3)) if flver.layouts else []
    _draw_materials(draw, flver)
    if version >= ORIENTED_BOUNDS_FROM:
        base, whole = draw(rows(SKELETON_ENTRY, COUNTS)), draw(rows(SKELETON_ENTRY, COUNTS))
        flver.skeletons = SkeletonSet(base, whole, draw(st.binary(min_size=20, max_size=20)))
    return flver


def _draw_materials(draw: st.DrawFn, flver: Flver) -> None:
    single = flver.version < 0x20010
    flver.gx_lists = draw(st.lists(SINGLE_GX if single else GX_LISTS, max_size=2))
    # Each list is named at its head, so that it can be found again; other materials enter it anywhere.
    references = [GxReference(i) for i in range(len(flver.gx_lists))]
    for i, each in enumerate(flver.gx_lists):
        references.append(GxReference(i, draw(st.integers(0, len(each.items) - single))))
    for reference in [*references, *([None] if draw(st.booleans()) else [])]:
        textures = [
            Texture(draw(NAMES), draw(NAMES), draw(rows(TEXTURE)).reshape(())) for _ in range(draw(COUNTS))
        ]  # fmt: skip
        record = draw(rows(MATERIAL)).reshape(())
        record["string_size"] = 0
        flver.materials.append(Material(draw(NAMES), draw(NAMES), textures, reference, record))


@st.composite
def layouts(draw: st.DrawFn) -> Layout:
    """Draw a layout of known members, some not stored, some of an unknown type."""
    pairs = draw(st.lists(st.sampled_from(sorted(CODINGS)), max_size=6))
    layout = Layout.new((Semantic.POSITION, 0x02, 0), *((*pair, draw(st.integers(0, 3))) for pair in pairs))
    layout.unk04 = draw(st.binary(min_size=8, max_size=8))
    for row in layout.members[1:]:
        kind = draw(st.sampled_from(("known",) * 8 + ("unknown", "not stored")))
        if kind == "unknown":
            row["type"] = 0x77
        elif kind == "not stored":
            row["special"] = NOT_STORED
    return Layout(draw(st.just(layout.members.astype(MEMBER.dtype))), layout.unk04)


def vertex_size(layout: Layout) -> int:
    """Return the bytes up to the end of the last member, as if all were stored and of their own types."""
    kinds = [field_type(int(row["semantic"]), int(row["type"])) or "u1" for row in layout.members]
    return max(int(row["offset"]) + np.dtype(kind).itemsize for row, kind in zip(layout.members, kinds, strict=True))


@st.composite
def meshes(draw: st.DrawFn, flver: Flver) -> Mesh:
    """Draw a mesh of a model that has its layouts."""
    order = ">" if flver.header["endian"].item() == b"B" else "<"
    count = draw(st.integers(0, 5))
    buffers = []
    for slot in range(draw(st.integers(0, 3))):
        number = draw(st.integers(0, len(flver.layouts) - 1))
        size = vertex_size(flver.layouts[number]) + draw(st.sampled_from((0, 0, 3)))
        raw = draw(npst.arrays(np.uint8, count * size))
        dtype = flver.layouts[number].dtype(size, big_endian=order == ">")
        buffers.append(VertexBuffer(number, raw.view(dtype), slot, draw(st.binary(min_size=8, max_size=8))))
    faces = []
    for _ in range(draw(COUNTS)):
        bits = 16 if flver.version <= 0x20007 else draw(st.sampled_from((8, 16, 32)))
        indices = draw(npst.arrays(np.dtype(f"{order}u{bits // 8}"), st.integers(0, 12), elements=st.integers(0, 5)))
        face_set = FaceSet(indices, draw(st.sampled_from((0, 0x01000000, 0x82000000))), draw(st.integers(0, 1)))
        face_set.unk06, face_set.index_size = draw(st.integers(-9, 99)), 0 if flver.version <= 0x20007 else bits
        faces.append(face_set)
    record = ORIENTED_BOUNDS if flver.version >= ORIENTED_BOUNDS_FROM else BOX_BOUNDS
    return Mesh(
        faces, buffers, draw(st.integers(0, 1)), draw(st.integers(-1, 2)), draw(st.integers(-1, 9)),
        draw(npst.arrays(np.int32, COUNTS, elements=st.integers(-1, 9))),
        draw(st.none() | rows(record).map(lambda table: table.reshape(()))),
        unk01=draw(st.binary(min_size=3, max_size=3)), unk08=draw(st.binary(min_size=8, max_size=8)),
    )  # fmt: skip
