"""Open anything: what a file holds, by its content."""

from __future__ import annotations

import shutil

import numpy as np
import pytest

from addon.codec import Binder, Dcx, FormatError, SplitBinder
from addon.codec.binder import Entry
from addon.codec.havok.collision.writing import write_collision
from addon.codec.source import Game, Kind, open_source
from tests.codec.havok.tagfile_sample import EMPTY_ROOT, compendium

FLVER, TPF = b"FLVER\0L\0" + bytes(120), b"TPF\0" + bytes(12)


def binder(*entries: tuple[str, bytes]) -> bytes:
    made = Binder.new()
    made.entries = [Entry(name, data, number) for number, (name, data) in enumerate(entries)]
    return made.write()


def test_a_loose_file_is_its_own_member(tmp_path):
    for name, data in (("a.flver", FLVER), ("b.flver.dcx", Dcx.new(FLVER).write()), ("c.bin", FLVER)):
        (tmp_path / name).write_bytes(data)
        (member,) = open_source(tmp_path / name).members
        assert (member.name, member.kind, member.id, member.game) == (name, Kind.FLVER, -1, Game.UNKNOWN)
        assert bytes(member.data()) == FLVER


def test_members_of_a_binder_wrapped_or_not_and_of_binders_in_it(tmp_path):
    inner = Dcx.new(binder(("N:\\NTC\\x\\deep.tpf", TPF))).write()
    outer = binder(
        ("N:\\NTC\\x\\a.flver", FLVER), ("N:\\GR\\b.tpf.dcx", Dcx.new(TPF).write()), ("c.partsbnd.dcx", inner)
    )
    path = tmp_path / "x.chrbnd"
    for data in (outer, Dcx.new(outer).write()):
        path.write_bytes(data)
        members = open_source(path).members
        assert [(each.name, each.kind, each.game) for each in members] == [
            ("a.flver", Kind.FLVER, Game.SEKIRO),
            ("b.tpf.dcx", Kind.TPF, Game.ELDEN_RING),
            ("deep.tpf", Kind.TPF, Game.SEKIRO),
        ]
        assert members[2].file == "x.chrbnd > c.partsbnd.dcx > deep.tpf"


def test_what_is_not_wrapped_is_told_by_its_content_alone(tmp_path):
    path = tmp_path / "x.bin"
    path.write_bytes(binder(("a.bin", binder(("deep.bin", TPF))), ("b.bin", Dcx.new(binder(("c.bin", TPF))).write())))
    members = open_source(path).members
    assert [(each.name, each.kind) for each in members] == [("deep.bin", Kind.TPF), ("b.bin", Kind.BINDER)]


def test_a_tagfile_is_told_by_any_of_its_variants(tmp_path):
    tag = write_collision("20180100", [])
    variants = tag.root.many("namedVariants")
    scene = variants.at(0).one("variant")
    tag.root["namedVariants"] = np.zeros(2, variants.layout.dtype)
    names = ("hkMemoryResourceContainer", "hknpPhysicsSceneData")
    for variant, name in zip(tag.root.many("namedVariants"), names, strict=True):
        variant["variant"], variant["className"] = scene, name
    (tmp_path / "x.bin").write_bytes(tag.write())
    assert open_source(tmp_path / "x.bin").members[0].kind == Kind.COLLISION


def test_a_chosen_compendium_comes_before_those_in_the_source_and_those_before_files_beside_it(tmp_path):
    inside, beside, chosen = (compendium() + mark for mark in (b"1", b"2", b"3"))
    path = tmp_path / "x.hkxbnd"
    for name, data in (("a.compendium", beside), ("chosen.bin", chosen)):
        (tmp_path / name).write_bytes(data)
    path.write_bytes(binder(("a.hkx", EMPTY_ROOT)))
    assert open_source(path).members[0].compendium == beside
    path.write_bytes(binder(("a.hkx", EMPTY_ROOT), ("b.bin", inside)))
    assert open_source(path).members[0].compendium == inside
    assert open_source(path, tmp_path / "chosen.bin").members[0].compendium == chosen


def test_a_member_is_decoded_when_asked_for_and_once(tmp_path, monkeypatch):
    read = []
    real = Dcx.read
    monkeypatch.setattr(Dcx, "read", lambda data, file="", *rest: read.append(file) or real(data, file, *rest))
    path = tmp_path / "x.hkxbnd"
    path.write_bytes(binder(("a.hkx.dcx", Dcx.new(TPF).write()), ("b.hkx.dcx", Dcx.new(TPF).write())))
    first, _second = open_source(path).members
    assert read == []
    assert (first.kind, bytes(first.data()), bytes(first.data())) == (Kind.TPF, TPF, TPF)
    assert read == ["x.hkxbnd > a.hkx.dcx"]


def test_a_member_that_cannot_be_unwrapped_says_why(tmp_path):
    wrapped = bytearray(Dcx.new(TPF).write())
    wrapped[0x28:0x2C] = b"ZSTD"
    path = tmp_path / "x.partsbnd"
    path.write_bytes(binder(("a.tpf.dcx", bytes(wrapped)), ("b.tpf", TPF)))
    first, second = open_source(path).members
    assert (first.kind, second.kind) == (Kind.UNREADABLE, Kind.TPF)
    assert "ZSTD" in first.fault
    assert second.fault == ""


@pytest.mark.parametrize("chosen", ["H_1.HkxBHD", "h_1.hkxbdt"])
def test_split_binders_open_from_either_half_whatever_the_case(tmp_path, chosen):
    split = SplitBinder.new()
    split.entries = [Entry("a.hkx.dcx", Dcx.new(TPF).write(), 1), Entry("b.tpf", TPF, 2)]
    header, data = split.write()
    (tmp_path / "H_1.HkxBHD").write_bytes(header)
    (tmp_path / "h_1.hkxbdt").write_bytes(data)
    members = open_source(tmp_path / chosen).members
    assert [(each.name, each.kind, each.id) for each in members] == [("a.hkx.dcx", Kind.TPF, 1), ("b.tpf", Kind.TPF, 2)]


def test_a_missing_half_is_named(tmp_path):
    header, data = SplitBinder.new().write()
    (tmp_path / "x.tpfbhd").write_bytes(header)
    with pytest.raises(FormatError, match=r"x\.tpfbdt is not beside it"):
        open_source(tmp_path / "x.tpfbhd")
    (tmp_path / "x.tpfbhd").unlink()
    (tmp_path / "x.tpfbdt").write_bytes(data)
    with pytest.raises(FormatError, match=r"x\.tpfbhd is not beside it"):
        open_source(tmp_path / "x.tpfbdt")


def test_corpus_split_binder(corpus, tmp_path):
    for half in ("bhd", "bdt"):
        shutil.copy(corpus(f"ds3/h30_00_00_00_000000.hkx{half}"), tmp_path / f"H30.hkx{half.upper()}")
    (member,) = open_source(tmp_path / "H30.hkxBDT").members
    assert (member.name, member.kind) == ("h30_00_00_00_000000.hkx.dcx", Kind.PACKFILE)


def test_a_packfile_says_what_it_is(corpus):
    members = {each.name: each for each in open_source(corpus("eldenring/hd_m_9007.partsbnd.dcx")).members}
    cloth = members["HD_M_1600_c.hkx"]
    assert cloth.kind == Kind.PACKFILE
    assert cloth.fault.startswith("a Havok packfile (hk_2014")
    assert members["HD_M_1600.flver"].fault == ""


def test_opening_tells_how_far_it_is(corpus):
    shares = []
    open_source(corpus("eldenring/hd_m_1140.partsbnd.dcx"), progress=shares.append)
    assert len(shares) > 5
    assert shares == sorted(shares)
    assert 0 <= shares[0] < shares[-1] <= 1


def test_a_large_binder_is_listed_whole(corpus):
    members = open_source(corpus("sekiro/allmaterialbnd.mtdbnd.dcx")).members
    assert len(members) == 3170
    assert {each.kind for each in members} == {Kind.OTHER}
    assert len({each.id for each in members}) == 3170
