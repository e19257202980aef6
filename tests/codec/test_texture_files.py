"""TPF, DDS, MTD and MATBIN: the games' files come back bit for bit, small ones of our own field by field."""

from __future__ import annotations

import numpy as np
import pytest

from addon.codec import FormatError
from addon.codec.dds import Dds
from addon.codec.matbin import Matbin
from addon.codec.mtd import Mtd
from addon.codec.source import Kind, open_source
from addon.codec.tpf import TEXTURE, Tpf, TpfTexture
from tests.corpus import BINDERS
from tests.textures import MATERIAL, dds, make_matbin, make_mtd, make_tpf

WITH_TEXTURES = {
    "eldenring/am_m_1122.partsbnd.dcx": 3, "eldenring/bd_f_9002_l.partsbnd.dcx": 4,
    "eldenring/hd_m_1140.partsbnd.dcx": 2, "eldenring/hd_m_9000.partsbnd.dcx": 5,
    "eldenring/hd_m_9007.partsbnd.dcx": 3, "eldenring/wp_a_0213.partsbnd.dcx": 9,
    "eldenring/wp_a_9008.partsbnd.dcx": 3,
}  # fmt: skip


@pytest.mark.parametrize("binder", BINDERS)
def test_every_texture_file_comes_back(corpus, binder):
    members = open_source(corpus(binder)).of_kind(Kind.TPF)
    found = [Tpf.read(member.data(), member.name) for member in members]
    assert sum(len(tpf.textures) for tpf in found) == WITH_TEXTURES.get(binder, 0)
    for member, tpf in zip(members, found, strict=True):
        assert tpf.write() == bytes(member.data())


def test_every_picture_of_the_games_can_be_shown(corpus):
    for binder in WITH_TEXTURES:
        for member in open_source(corpus(binder)).of_kind(Kind.TPF):
            for texture in Tpf.read(member.data()).textures:
                if texture.name.endswith("_vat"):  # of half floats: moves vertices, is on no surface
                    with pytest.raises(FormatError, match="which Blender does not show"):
                        Dds.read(texture.data)
                else:
                    assert min(Dds.read(texture.data).width, Dds.read(texture.data).height) > 40


def test_every_sekiro_material_comes_back(corpus):
    members = open_source(corpus("sekiro/allmaterialbnd.mtdbnd.dcx")).members
    found = [Mtd.read(member.data(), member.name) for member in members]
    assert len(found) == 3170
    wrong = [member.name for member, mtd in zip(members, found, strict=True) if mtd.write() != bytes(member.data())]
    assert not wrong
    edited = sum(
        any(mtd.excess) or any(any(each.excess) for each in mtd.parameters) or any(s.excess for s in mtd.samplers)
        for mtd in found
    )
    assert edited == 83
    assert sum(len(mtd.samplers) for mtd in found) == 23395


def test_a_sekiro_material_says_what_it_says(corpus):
    members = open_source(corpus("sekiro/allmaterialbnd.mtdbnd.dcx")).members
    mtd = Mtd.read(next(member.data() for member in members if member.name == "c7109_Hair_Decal.mtd"))
    assert mtd.shader.endswith("character_AMSN.spx")
    assert (mtd.parameter("g_BlendMode"), mtd.parameter("g_AlphaRef"), mtd.parameter("none")) == ([2], [80, 120], [])
    assert [sampler.type.rsplit("_", 3)[1:] for sampler in mtd.samplers] == [
        ["2", "AlbedoMap", "0"], ["0", "ReflectanceMap", "0"], ["7", "NormalMap", "4"],
    ]  # fmt: skip
    assert mtd.samplers[0].path.endswith("c7109_FC_M_0200_Fur_a.tif")
    assert mtd.samplers[0].scale.tolist() == [1, 1]


def test_textures_by_name():
    tpf = Tpf.read(make_tpf({"a_a": dds(8, 4), "ä_n": b"xy"}))
    assert [(texture.name, len(texture.data)) for texture in tpf.textures] == [("a_a", len(dds(8, 4))), ("ä_n", 2)]
    tpf.textures.append(TpfTexture("last", b"z", numbers=bytes(4) + b"\4\0\0\0" + bytes(4)))
    tpf.textures[-1].record["has_numbers"] = 1
    again = Tpf.read(tpf.write())
    assert [bytes(texture.data) for texture in again.textures] == [bytes(dds(8, 4)), b"xy", b"z"]
    assert again.write() == tpf.write()
    assert again.textures[2].numbers == tpf.textures[2].numbers


def test_textures_of_a_console_are_turned_down():
    data = bytearray(make_tpf({"a": b"1"}))
    data[0x0C] = 4
    with pytest.raises(FormatError, match="console"):
        Tpf.read(bytes(data))


@pytest.mark.parametrize("count", [2, 1 << 20, 0x7FFFFFFF, -1])
def test_a_count_that_lies_is_told(count):
    data = bytearray(make_tpf({"a": b"1"}))
    data[8:12] = count.to_bytes(4, "little", signed=True)
    with pytest.raises(FormatError):
        Tpf.read(bytes(data))


def test_a_texture_outside_the_file_is_told():
    data = bytearray(make_tpf({"a": b"1"}))
    data[0x10:0x18] = np.array([len(data), 1], "<u4").tobytes()
    with pytest.raises(FormatError, match=r"textures\[0\]"):
        Tpf.read(bytes(data))
    assert TEXTURE.size == 0x14


def test_pictures_by_their_header():
    assert Dds.read(dds(17, 5)) == Dds(17, 5, "BC1")
    assert Dds.read(dds(8, 8, 98)) == Dds(8, 8, "BC7")
    for wrong, why in (
        (dds(8, 8, 71)[:-1], "needs 32 bytes"),
        (dds(8, 8, 2), "DXGI 2, which Blender does not show"),
        (dds(0, 8), "0 x 8 pixels"),
        (dds(8, 8)[:4] + bytes(200), "not a DDS"),
        (dds(8, 8, cube=True), "cube map"),
        (b"DDS ", "needs 128 bytes"),
    ):
        with pytest.raises(FormatError, match=why):
            Dds.read(wrong)


def test_a_picture_that_claims_to_be_huge_is_told():
    """Blender would take 16 GB of memory for it."""
    data = bytearray(dds(8, 8))
    data[0x0C:0x14] = np.array([1 << 14, 1 << 14], "<u4").tobytes()
    with pytest.raises(FormatError, match="16384 x 16384"):
        Dds.read(bytes(data))


@pytest.mark.parametrize(("make", "kind"), [(make_mtd, Mtd), (make_matbin, Matbin)])
def test_materials_of_our_own(make, kind):
    material = kind.read(make(MATERIAL))
    assert material.shader == MATERIAL.shader
    assert [(each.type, each.path, each.scale.tolist()) for each in material.samplers] == list(MATERIAL.samplers)
    assert {name: material.parameter(name) for name in MATERIAL.parameters} == MATERIAL.parameters
    assert material.write() == make(MATERIAL)
    material.samplers[0].path = "N:\\other\\名.tif"
    assert kind.read(material.write()).samplers[0].path == "N:\\other\\名.tif"


def test_a_matbin_colour_keeps_its_five_floats():
    matbin = Matbin.read(make_matbin(MATERIAL))
    colour = next(each for each in matbin.parameters if each.name == "colour")
    assert (len(colour.value), colour.numbers) == (20, [0.5, 0.25, 1.0])


def test_an_mtd_value_of_another_type_is_not_written():
    mtd = Mtd.read(make_mtd(MATERIAL))
    mtd.parameters[0].value = np.zeros(1, "<f4")
    with pytest.raises(FormatError, match="is a int"):
        mtd.write()
