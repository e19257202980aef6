"""Models whose records refer to the same bytes so often that reading them all would take for ever."""

from __future__ import annotations

import numpy as np
import pytest

from addon.codec import FormatError
from addon.codec.flver import FaceSet, Flver, Material, Mesh, VertexBuffer
from addon.codec.flver.reading import MEMBERS_MAX
from addon.codec.flver.records import BUFFER, DUMMY, FACE_SET, HEADER, LAYOUT, MATERIAL, MESH, NODE, TEXTURE
from addon.model import node_matrices
from tests.models import small_model

MANY = 500


def tables(data: bytearray) -> dict[str, np.ndarray]:
    """Return the tables of a file as arrays that change it."""
    header = np.frombuffer(data, HEADER.dtype, 1)[0]
    offset, found = HEADER.size, {}
    for name, record in (
        ("dummy", DUMMY), ("material", MATERIAL), ("node", NODE), ("mesh", MESH), ("face_set", FACE_SET),
        ("buffer", BUFFER), ("layout", LAYOUT), ("texture", TEXTURE),
    ):  # fmt: skip
        found[name] = np.frombuffer(data, record.dtype, int(header[f"{name}_count"]), offset)
        offset += found[name].nbytes
    return found


def big_model() -> bytearray:
    """Return a model with many records of each kind, of which none is large."""
    flver = small_model()
    mesh = flver.meshes[0]
    flver.meshes = [
        Mesh([FaceSet(mesh.face_sets[0].indices)], [VertexBuffer(0, mesh.buffers[0].data)]) for _ in range(MANY)
    ]  # fmt: skip
    flver.nodes = np.repeat(flver.nodes[:1], MANY)
    flver.node_names = ["node name"] * MANY
    flver.layouts = flver.layouts[:1] * MANY
    texture = flver.materials[0].textures[0]
    flver.materials = [Material("m", "p", [texture], flver.materials[0].gx) for _ in range(MANY)]
    return bytearray(flver.write())


@pytest.fixture
def data() -> bytearray:
    return big_model()


def refused(data: bytearray, what: str) -> None:
    with pytest.raises(FormatError, match=what):
        Flver.read(data)


def test_the_model_itself_is_read(data):
    assert Flver.read(data).write() == data


@pytest.mark.parametrize("kind", ["face_set", "buffer"])
def test_meshes_that_share_a_list(data, kind):
    meshes = tables(data)["mesh"]
    meshes[f"{kind}_count"], meshes[f"{kind}s_offset"] = MANY, meshes[f"{kind}s_offset"][0]
    refused(data, "another mesh")


def test_face_sets_that_share_their_indices(data):
    sets = tables(data)["face_set"]
    sets["index_count"], sets["offset"] = len(data) // 8, 0
    np.frombuffer(data, HEADER.dtype, 1)["data_offset"] = 0
    refused(data, "over and over")


def test_buffers_that_share_their_vertices(data):
    buffers = tables(data)["buffer"]
    buffers["vertex_count"], buffers["offset"] = len(data) // buffers["vertex_size"][0], 0
    np.frombuffer(data, HEADER.dtype, 1)["data_offset"] = 0
    refused(data, "over and over")


def test_nodes_that_share_a_long_name(data):
    data += b"x" * len(data) + b"\0\0\0"
    tables(data)["node"]["name_offset"] = len(data) // 2
    refused(data, "over and over")


def test_layouts_that_share_their_members(data):
    layouts = tables(data)["layout"]
    layouts["member_count"], layouts["members_offset"] = MEMBERS_MAX, 0
    refused(data, "over and over")


def test_a_layout_of_more_members_than_any(data):
    tables(data)["layout"]["member_count"] = MEMBERS_MAX + 1
    refused(data, "members")


def test_materials_that_share_all_textures(data):
    materials = tables(data)["material"]
    materials["texture_count"], materials["first_texture"] = MANY, 0
    refused(data, "textures")


def test_materials_that_enter_everywhere(data):
    """Each offset would begin a list of its own that runs through half the file."""
    start = len(data)
    data += (b"GX00\0\0\0\0\x0c\0\0\0" * 4000) + b"\xff\xff\xff\x7f\0\0\0\0\x0c\0\0\0"
    for i, row in enumerate(tables(data)["material"]):
        row["gx_offset"] = start + i * 4
    data[start : start + MANY * 4] = np.full(MANY, 0x10, "<i4").tobytes()
    with pytest.raises(FormatError):
        Flver.read(data)


def test_meshes_that_share_a_palette(data):
    meshes = tables(data)["mesh"]
    meshes["palette_count"], meshes["palette_offset"] = len(data) // 4, 0
    refused(data, "over and over")


def test_members_that_lie_on_each_other_are_read_once():
    flver = small_model()
    flver.layouts[0].members["offset"] = 0
    flver.layouts[0].members["index"] = np.arange(len(flver.layouts[0].members))
    read = Flver.read(flver.write())
    assert read.write() == flver.write()
    assert len(read.vertices(0).skipped) == len(flver.layouts[0].members) - 1


def test_a_cycle_of_parents():
    flver = small_model()
    flver.nodes["parent"] = 1, 0, -1
    refused(bytearray(flver.write()), "cycle")
    flver.nodes["parent"] = 0, 0, -1
    refused(bytearray(flver.write()), "cycle")
    flver.nodes["parent"] = 3, 0, -1
    refused(bytearray(flver.write()), "parent 3 of 3 nodes")
    flver.nodes["parent"] = -2, 0, -1
    refused(bytearray(flver.write()), "parent -2 of 3 nodes")


def test_a_deep_chain_of_nodes():
    flver = small_model()
    flver.nodes = np.repeat(flver.nodes[:1], 3000)
    flver.nodes["parent"] = np.arange(-1, 2999)
    flver.node_names = [""] * 3000
    flver.nodes["translation"] = 0, 1, 0
    assert node_matrices(Flver.read(flver.write()).nodes)[-1, 1, 3] == 3000
