"""What differs between the versions of FLVER2, in models of our own; and the models that are not read."""

from __future__ import annotations

import numpy as np
import pytest

from addon.codec import FormatError
from addon.codec.flver import Flver, GxItem, GxList, GxReference, Mesh
from addon.codec.flver.packing import TOOL_PACKING
from addon.codec.flver.reading import VERSIONS
from addon.codec.flver.records import BOX_BOUNDS, FACE_SET, HEADER, ORIENTED_BOUNDS, SHORT_FACE_SET
from addon.model import findings, node_matrices, place_mesh
from tests.models import differences, small_model

OLDEST, SINGLE_GX, BOXED, NEWEST = 0x20005, 0x2000D, 0x20014, 0x20021


def back(flver: Flver) -> Flver:
    """Return a model read from its bytes, which must be the same."""
    data = flver.write()
    read = Flver.read(data, "back.flver")
    assert list(differences(flver, read)) == []
    assert read.write() == data
    return read


def header_of(data: bytes) -> np.ndarray:
    return np.frombuffer(data, HEADER.dtype, 1)[0]


@pytest.mark.parametrize("version", sorted(VERSIONS), ids=hex)
@pytest.mark.parametrize("unicode", [0, 1])
@pytest.mark.parametrize("big_endian", [False, True])
def test_every_version_comes_back(version, unicode, big_endian):
    flver = small_model(version, big_endian=big_endian, unicode=unicode)
    data = flver.write()
    read = Flver.read(data)
    assert read.write() == data
    assert read.node_names == ["Root", "腕", "Mesh"]
    assert (read.version, read.big_endian) == (version, big_endian)
    for i in range(2):
        assert read.vertices(i).positions.tolist() == flver.vertices(i).positions.tolist()
        assert read.triangles(i, 0).tolist() == [[0, 1, 2], [2, 1, 3]]
    matrices = node_matrices(read.nodes)
    assert findings(read, [place_mesh(read, m, read.vertices(i), matrices)[0] for i, m in enumerate(read.meshes)]) == []


@pytest.mark.parametrize("version", sorted(VERSIONS), ids=hex)
def test_data_is_aligned_as_the_version_has_it(version):
    step = 32 if version <= 0x2000E else 16
    data = small_model(version).write()
    head = header_of(data)
    assert head["data_offset"] % (32 if version <= 0x20010 else 16) == 0
    assert head["data_offset"] + head["data_size"] == len(data)
    read = Flver.read(data)
    for mesh in read.meshes:
        for array in [each.indices for each in mesh.face_sets] + [each.data for each in mesh.buffers]:
            start = array.__array_interface__["data"][0] - np.frombuffer(data, "u1").__array_interface__["data"][0]
            assert (start - int(head["data_offset"])) % step == 0


def test_short_face_sets():
    """Up to version 0x20007 a face set has 16 bytes, and the header says the size of an index."""
    old, new = (small_model(version, bits=16) for version in (0x20007, 0x20009))
    tables = HEADER.size + 2 * (0x40 + 0x20 + 0x30 + 0x20 + 0x10 + 0x20) + 3 * 0x80
    assert old.layouts[0].members.tobytes() in old.write()[tables + 6 * SHORT_FACE_SET.size :][:200]
    assert new.layouts[0].members.tobytes() in new.write()[tables + 6 * FACE_SET.size :][:200]
    assert [each.index_size for each in back(old).meshes[0].face_sets] == [0, 0, 0]


@pytest.mark.parametrize("version", [OLDEST, SINGLE_GX, NEWEST], ids=hex)
@pytest.mark.parametrize("bits", [8, 16, 32])
def test_index_sizes(version, bits):
    """Eight bits are told by the header alone, other sizes by the face set or, where that says 0, by the header."""
    if version == OLDEST or bits == 8:
        flver = small_model(version, bits=bits)
        assert flver.header["index_size"] == bits
    else:
        flver = small_model(version, bits=bits)
        assert flver.header["index_size"] == 0
    read = back(flver)
    assert read.meshes[0].face_sets[0].indices.dtype.itemsize * 8 == bits
    assert read.triangles(0, 0).tolist() == [[0, 1, 2], [2, 1, 3]]


def test_an_unknown_index_size_is_refused():
    flver = small_model()
    data = flver.write()
    flver.meshes[0].face_sets[0].index_size = 24
    with pytest.raises(FormatError, match="uint16 indices are said to have 24 bits"):
        flver.write()
    first = data.index((16).to_bytes(16, "little")[:4] + bytes(4), 0x300)
    with pytest.raises(FormatError, match="indices of 24 bits"):
        Flver.read(data[:first] + b"\x18" + data[first + 1 :])


def test_a_single_gx_item_without_an_end():
    flver = small_model(SINGLE_GX)
    assert flver.gx_lists[0].end is None
    flver.gx_lists.append(GxList([GxItem(b"GX05", 1, b"")], None))
    flver.materials[1].gx = GxReference(1)
    assert [material.gx for material in back(flver).materials] == [GxReference(0), GxReference(1)]


@pytest.mark.parametrize(
    ("big_endian", "version"), [(False, NEWEST), (True, NEWEST), (True, 0x20010), (False, 0x20010)]
)
def test_an_end_whose_length_leaves_out_its_head(big_endian, version):
    """It is so where the header's number at 0x68 is 5; before 0x20014 that number has four bytes."""
    flver = small_model(version, big_endian=big_endian)
    flver.header["unk68"] = 0
    field = "special" if big_endian and version < 0x20014 else "unk68"
    flver.header[field] = 5
    flver.gx_lists[0].end.data = bytes(20)
    data = flver.write()
    assert (20).to_bytes(4, "big" if big_endian else "little") + bytes(20) in data
    assert back(flver).gx_lists[0].end.data == bytes(20)


def test_gx_lists_are_shared_and_entered_in_the_middle():
    flver = small_model()
    flver.materials[0].gx, flver.materials[1].gx = GxReference(0, 1), GxReference(0, 1)
    read = back(flver)  # no material enters at the head, which is kept all the same
    assert [item.id for item in read.gx_lists[0].items] == [b"GX00", b"GXMD"]
    flver.materials[1].gx = GxReference(0, 2)
    assert back(flver).materials[1].gx == GxReference(0, 2)  # at the end: no overrides
    flver.materials[1].gx = None
    assert back(flver).materials[1].gx is None
    flver.gx_lists.insert(0, GxList([GxItem(b"GX07", 7, b"nobody")]))
    flver.materials[0].gx = GxReference(1, 0)
    assert len(back(flver).gx_lists) == 2


@pytest.mark.parametrize("reference", [GxReference(1), GxReference(-1), GxReference(0, 3), GxReference(0, -1)], ids=str)
def test_a_gx_reference_to_nothing_is_refused(reference):
    flver = small_model()
    flver.materials[1].gx = reference
    with pytest.raises(FormatError) as caught:
        flver.write()
    assert caught.value.trail == "materials[1].gx"


def test_bounds_of_meshes():
    assert small_model(BOXED).meshes[0].bounds.dtype == BOX_BOUNDS.dtype
    assert small_model().meshes[0].bounds.dtype == ORIENTED_BOUNDS.dtype
    for version in (BOXED, NEWEST):
        flver = small_model(version)
        flver.meshes[0].bounds = None
        assert back(flver).meshes[0].bounds is None


def test_skeletons_begin_with_version_1a():
    assert back(small_model(0x20017)).skeletons is None
    skeletons = back(small_model()).skeletons
    assert skeletons.base["node"].tolist() == [0, 1, 2]


@pytest.mark.parametrize("after", [[0], [0, 0], [7]], ids=str)
@pytest.mark.parametrize("count", [1, 2, 5])
def test_palettes_without_a_count(count, after):
    """Bytes that a mesh no longer counts stand where its palette was; zeros at the end are the group's padding."""
    flver = small_model()
    flver.meshes += [Mesh(node=i) for i in after]
    values = np.arange(9, 9 + count, dtype=np.int32)
    flver.meshes[0].palette = np.zeros(0, np.int32)
    flver.meshes[0].uncounted_palette = values
    read = back(flver)
    assert read.meshes[0].uncounted_palette.tolist() == values.tolist()
    assert len(read.meshes[0].palette) == 0


@pytest.mark.parametrize("field", ["material", "node"])
@pytest.mark.parametrize("value", [-1, 99])
def test_indices_of_meshes_past_the_end_are_kept(field, value):
    flver = small_model()
    setattr(flver.meshes[0], field, value)
    assert getattr(back(flver).meshes[0], field) == value


def test_links_past_the_end_are_kept():
    flver = small_model()
    for field in ("first_child", "next_sibling", "previous_sibling"):
        flver.nodes[field] = 99
    flver.skeletons.all["node"] = -7
    flver.dummies["parent"], flver.dummies["attach"] = 99, -2
    back(flver)


def test_the_packing_of_tools_is_kept():
    flver = small_model()
    flver.packing = TOOL_PACKING
    data = flver.write()
    assert data != small_model().write()
    assert back(flver).packing == TOOL_PACKING


def test_a_wrong_string_size_is_kept():
    flver = small_model()
    flver.materials[0].record["string_size"] = 7
    read = Flver.read(flver.write())
    assert read.materials[0].record["string_size"] == 7
    assert read.write() == flver.write()


def test_an_empty_model():
    flver = Flver.new()
    read = back(flver)
    assert (len(read.nodes), len(read.meshes), len(read.dummies)) == (0, 0, 0)
    assert findings(read, []) == []


def test_speedtree_is_named():
    flver = small_model()
    flver.header["special"] = -32768
    read = back(flver)
    assert read.is_speedtree
    assert any("SpeedTree" in finding for finding in findings(read, []))
    old = small_model(0x20010)
    old.header["special"] = -32768
    assert not back(old).is_speedtree  # there it is the upper half of another number


@pytest.mark.parametrize(
    ("changes", "what"),
    [
        ({"version": 0x15}, "FLVER0 of version 0x15"),
        ({"version": 0x20099}, "version 0x20099 is not known"),
        ({"magic": b"FLVES"}, "not a FLVER"),
        ({"endian": b"X"}, "not a FLVER"),
        ({"node_count": 2**31 - 1}, "node"),
        ({"mesh_count": -1}, "mesh"),
        ({"data_offset": 2**31}, "indices"),
    ],
    ids=str,
)
def test_what_is_not_read_is_named(changes, what):
    data = bytearray(small_model().write())
    header = np.frombuffer(data, HEADER.dtype, 1)
    for field, value in changes.items():
        header[field] = value
    with pytest.raises(FormatError, match=what) as caught:
        Flver.read(data, "some.flver")
    assert caught.value.file == "some.flver"


def test_a_layout_that_is_not_there_is_refused():
    flver = small_model()
    flver.meshes[0].buffers[0].layout = 2
    with pytest.raises(FormatError, match="layout 2 of 2"):
        flver.write()


@pytest.mark.parametrize(("part", "field", "value"), [("face_sets", "unk06", 1 << 15), ("buffers", "slot", 1 << 31)])
def test_numbers_that_do_not_fit_are_refused(part, field, value):
    flver = small_model()
    setattr(getattr(flver.meshes[0], part)[0], field, value)
    with pytest.raises(FormatError, match=f"does not fit the field {field}"):
        flver.write()


def test_a_name_for_each_node():
    flver = small_model()
    flver.node_names.pop()
    with pytest.raises(FormatError, match="2 names for 3 nodes"):
        flver.write()
