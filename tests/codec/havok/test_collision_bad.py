"""Collision that contradicts itself or is damaged: `FormatError` with the trail, and soon."""

from __future__ import annotations

import random
import time
from zlib import crc32

import numpy as np
import pytest

from addon.codec import Binder, Dcx, FormatError, Tagfile, read_collision
from addon.codec.havok.collision.shapes import MeshShape
from addon.codec.havok.collision.writing import write_collision
from addon.collision import check, surface
from tests.codec.havok.tagfile_corpus import Find, Sample, samples
from tests.codec.havok.test_tagfile_damage import DAMAGE, SECONDS, VARIANTS
from tests.collision.build import body, build, grid
from tests.collision.parts import ball, box, extern, group

SOURCES = ("eldenring/h_collision.hkx.dcx", "eldenring/tool_made_collision.hkx", "eldenring/c4500.chrbnd.dcx")


def made(sdk: str = "20180100", side: int = 12) -> Tagfile:
    source = grid(side)
    source.points = [np.random.default_rng(1).random((20, 3), "f4") + 4]
    return write_collision(sdk, [body(build(source, flagged=sdk == "20180100"))])


def parts(tag: Tagfile) -> dict:
    (shape,) = tag.find("hknpCompressedMeshShape")
    tree = shape.one("data").one("meshTree")
    return {"shape": shape, "tree": tree, "sections": tree.many("sections"), "primitives": tree.many("primitives")}


def fails(tag: Tagfile, what: str, trail: str) -> None:
    with pytest.raises(FormatError, match=what) as caught:
        read_collision(tag)
    assert trail in caught.value.trail


def test_slots_past_the_section():
    tag = made()
    parts(tag)["primitives"].values["indices"][3] = (1, 2, 250, 251)
    fails(tag, "vertex 251 of a section with", "primitives[3]")


def test_shared_vertices_past_the_array():
    tag = made()
    parts(tag)["sections"].values["page"][:] = 9
    fails(tag, "shared vertex 58[0-9]{4} of", "sections[")


@pytest.mark.parametrize(
    ("member", "what"),
    [
        ("firstPrimitiveIndex", "the run of primitives ends at"),
        ("firstPackedVertexIndex", "the run of packed vertices ends at"),
        ("firstSharedVertexIndex", "the run of shared vertices ends"),
    ],
)
def test_runs_past_their_arrays(member: str, what: str):
    tag = made()
    parts(tag)["sections"].values[member][-1] = 0xFFFFFF00
    fails(tag, what, "sections")


def test_words_of_2016_past_their_arrays():
    tag = made("20160200")
    parts(tag)["sections"].values["primitives"]["data"][0] = 0xFFFFFF7F
    fails(tag, "the run of primitives ends at", "sections[0]")


def test_a_point_set_past_the_shared_vertices():
    tag = made()
    index = parts(tag)["tree"]["sharedVerticesIndex"]
    (place,) = np.flatnonzero(index == (20 << 8 | 0x52))
    index[place + 1] = 65000
    fails(tag, "20 points from shared vertex 65000 of", "primitives[")


def test_a_custom_primitive_whose_record_is_no_record():
    tag = made()
    table = parts(tag)["primitives"].values["indices"]
    table[4] = (0, 7, 7, 7)
    fails(tag, "the record of a custom primitive", "primitives[4]")


def test_a_custom_primitive_in_a_tree_that_is_none():
    tag = made()
    for each in tag.find("hkcdCompressedAabbCodecs::Aabb4BytesCodec"):
        each.values["data"] = 1
    fails(tag, "a loop, or outside of the tree", "sections.nodes[")


def test_an_extern_reference_to_nothing():
    tag = made()
    index = parts(tag)["tree"]["sharedVerticesIndex"]
    (place,) = np.flatnonzero(index == (20 << 8 | 0x52))
    index[place] = 0x92
    (each,) = read_collision(tag)
    with pytest.raises(FormatError, match=r"extern shape [0-9]+ of 0"):
        surface(each)


def test_more_interior_bits_than_words():
    tag = made()
    bits = parts(tag)["shape"].one("triangleIsInterior").one("storage")
    bits["numBits"] = 1 << 30
    fails(tag, "1073741824 bits in", "triangleIsInterior")


def test_a_class_that_lacks_a_member():
    tag = made()
    kind = tag.types.find("hkcdStaticMeshTree::Section")
    members = tag.layouts[kind].members
    assert members.pop("page")
    fails(tag, "class hkcdStaticMeshTree::Section of SDK 20180100 has no member 'page'", "sections.page")


def test_faces_and_triangles_past_their_vertices():
    tag = write_collision("20180100", [body(box())])
    (shape,) = tag.find("hknpConvexPolytopeShape")
    shape.numbers("indices", "u1")[3] = 8
    fails(tag, "vertex 8 of 8", "indices")
    tag = write_collision("20180100", [body(extern())])
    (geometry,) = tag.find("hkGeometry")
    geometry.many("triangles").values["b"][2] = -2
    fails(tag, "a triangle of vertices", "triangles[2]")


def test_a_wrong_or_missing_compendium(corpus: Find):
    one = samples(corpus, SOURCES[0])[0]
    with pytest.raises(FormatError, match="7a6d34ca6688be51, which is missing"):
        Tagfile.read(one.data, None, "h.hkx")
    strange = Tagfile("", made().layouts, ids=(b"12345678",)).write()
    with pytest.raises(FormatError, match="the one given holds 3132333435363738"):
        Tagfile.read(one.data, strange, "h.hkx")


def test_packfiles_say_that_they_are_packfiles(corpus: Find):
    binder = Binder.read(Dcx.read(corpus("eldenring/hd_m_9007.partsbnd.dcx").read_bytes()).content)
    (data,) = (entry.data for entry in binder.entries if entry.name.endswith(".hkx"))
    with pytest.raises(FormatError, match="a Havok packfile \\(hk_2014"):
        Tagfile.read(data)


# damage


def everything(tag: Tagfile) -> None:
    """Read, draw and check every body."""
    for each in read_collision(tag):
        surface(each)
        if isinstance(each.shape, MeshShape):
            check(each.shape.mesh)


def try_variants(one: Sample, variants: int) -> int:
    dice = random.Random(crc32(one.name.encode()))
    refused, strangers = 0, []
    for number in range(variants):
        data = bytearray(one.data)
        dice.choice(DAMAGE)(data, dice)
        start = time.perf_counter()
        try:
            everything(Tagfile.read(bytes(data), one.compendium, one.name))
        except FormatError as error:
            refused += 1
            strangers += [str(error)] * (one.name not in error.file)
        assert time.perf_counter() - start < SECONDS, f"{one.name}, variant {number}"
    assert not strangers
    return refused


@pytest.mark.parametrize("source", SOURCES)
def test_damaged_files_of_the_corpus(corpus: Find, source: str):
    for one in samples(corpus, source):
        if b"hknpPhysicsSceneData" in one.data:
            assert try_variants(one, VARIANTS)


@pytest.mark.parametrize("sdk", ["20160200", "20180100"])
def test_damaged_files_of_ours(sdk: str):
    shapes = [build(grid(5), flagged=sdk == "20180100"), box(), extern(old=sdk == "20160200")]
    shapes.append(ball("sphere", (0, 0, 0), (0, 0, 0), 1.0))
    if sdk == "20180100":
        shapes.append(group((np.eye(4), shapes[1]), (np.eye(4), shapes[0])))
    shapes.append(parts_of(made(sdk, 6)))
    data = write_collision(sdk, [body(shape) for shape in shapes]).write()
    assert try_variants(Sample(f"ours of {sdk}", data, None), VARIANTS) > VARIANTS // 4


def parts_of(tag: Tagfile) -> MeshShape:
    return read_collision(tag)[0].shape
