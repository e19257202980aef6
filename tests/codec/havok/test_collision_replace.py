"""Bodies written back into the file they came from, and into new files that take their types from a compendium."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from addon.codec import Dcx, FormatError, Tagfile, read_collision
from addon.codec.havok.classes import type_table
from addon.codec.havok.collision import Body
from addon.codec.havok.collision.replacing import replace_collision
from addon.codec.havok.collision.writing import CLASSES, write_collision
from addon.codec.havok.layout import Layouts
from addon.codec.source import Kind, open_source
from addon.collision.compiler import CompileSettings, compile_extern, compile_mesh
from tests.collision.build import build, grid
from tests.collision.meshes import ground
from tests.collision.parts import ball, box, group

SDKS = ("20160200", "20180100")
ID = b"ossuary!"


def shape(sdk: str, side: int = 4, **settings):
    vertices, triangles = ground(side)
    materials = 20 + np.arange(len(triangles)) // 10
    return compile_mesh(vertices, triangles, materials, CompileSettings(sdk=sdk, **settings)).shape


def file(sdk: str, *shapes) -> Tagfile:
    bodies = [Body.new(f"h{number:06}", each) for number, each in enumerate(shapes)]
    return Tagfile.read(write_collision(sdk, bodies).write(), file="made.hkx")


def compendium(sdk: str, names=CLASSES) -> Tagfile:
    return Tagfile("", Layouts(type_table(sdk, ["hkRootLevelContainer", *names])), ids=(ID,), file="made.compendium")


@pytest.mark.parametrize(
    "name",
    ["h_collision.hkx.dcx", "tool_made_collision.hkx", "c4500.chrbnd.dcx", "c0000.chrbnd.dcx", "c7190.chrbnd.dcx"],
)
def test_untouched_files_of_the_games(corpus, name):
    path = corpus(f"{'sekiro' if name.startswith('c7') else 'eldenring'}/{name}")
    members = [each for each in open_source(path).members if each.kind in (Kind.COLLISION, Kind.RAGDOLL)]
    assert members
    for member in members:
        tag = Tagfile.read(member.data(), member.compendium)
        bodies = read_collision(tag)
        assert bodies
        replace_collision(tag, bodies)
        assert tag.write() == bytes(member.data())


@pytest.mark.parametrize("sdk", SDKS)
def test_untouched_files_of_our_own(sdk):
    shapes = [shape(sdk), compile_extern(*ground(5), sdk).shape, box(), None, shape(sdk, rows=False, flat_quads=True)]
    shapes.append(compile_mesh(np.zeros((0, 3)), np.zeros((0, 3)), np.zeros(0), CompileSettings(sdk=sdk)).shape)
    if sdk == SDKS[1]:
        shapes += [group((np.eye(4), box())), build(grid(9), page=1)]
    tag = file(sdk, *shapes)
    before = tag.write()
    replace_collision(tag, read_collision(tag))
    assert tag.write() == before


@pytest.mark.parametrize("sdk", SDKS)
def test_edited_meshes(sdk):
    tag = file(sdk, shape(sdk), shape(sdk, 6), box())
    bodies = read_collision(tag)
    bodies[0].shape = shape(sdk, 9)
    bodies[1].name, bodies[1].position = "another", np.float32([1, 2, 3])
    replace_collision(tag, bodies)
    found = read_collision(Tagfile.read(tag.write()))
    assert [body.name for body in found] == ["h000000", "another", "h000002"]
    assert [len(body.triangles) for body in found[:2]] == [162, 72]
    assert found[1].position.tolist() == [1, 2, 3]
    np.testing.assert_array_equal(found[0].materials, bodies[0].shape.decoded.materials)
    bodies[0].shape = shape(sdk, 4)
    bodies[1].name, bodies[1].position = "h000001", np.zeros(3, "f4")
    replace_collision(tag, bodies)
    assert tag.write() == file(sdk, shape(sdk), shape(sdk, 6), box()).write()


def test_bodies_come_and_go():
    tag = file("20180100", shape("20180100"), box(), shape("20180100", 6))
    first, _, third = read_collision(tag)
    fresh = Body.new("fresh", shape("20180100", 2))
    replace_collision(tag, [third, fresh, first])
    tag = Tagfile.read(tag.write())
    found = read_collision(tag)
    assert [(body.name, len(body.triangles)) for body in found] == [("h000002", 72), ("fresh", 8), ("h000000", 32)]
    assert found[1].fields["motionId"] == 0x7FFFFFFF
    assert not list(tag.find("hknpConvexPolytopeShape"))
    replace_collision(tag, [])
    assert read_collision(Tagfile.read(tag.write())) == []


def test_other_kinds_of_shape():
    tag = file("20180100", shape("20180100"), shape("20180100"))
    bodies = read_collision(tag)
    bodies[0].shape, bodies[1].shape = compile_extern(*ground(2), "20180100").shape, shape("20180100", rows=False)
    replace_collision(tag, bodies)
    tag = Tagfile.read(tag.write())
    assert [body.shape.name for body in read_collision(tag)] == ["hknpExternMeshShape", "hknpCompressedMeshShape"]
    assert not list(tag.find("fsnpCustomMeshParameter"))


def test_two_bodies_of_one_shape():
    same = shape("20180100")
    tag = file("20180100", same, same)
    assert len(list(tag.find("hknpCompressedMeshShape"))) == 1
    bodies = read_collision(tag)
    bodies[1].shape = shape("20180100", 7)
    replace_collision(tag, bodies)
    assert [len(body.triangles) for body in read_collision(Tagfile.read(tag.write()))] == [32, 98]


def test_names_are_not_shared():
    tag = file("20180100", shape("20180100"), box())
    records = next(tag.find("hknpPhysicsSystemData")).many("bodyCinfos")
    records.values["name"][1] = records.values["name"][0]
    bodies = read_collision(tag)
    bodies[1].name = "second"
    replace_collision(tag, bodies)
    assert [body.name for body in read_collision(Tagfile.read(tag.write()))] == ["h000000", "second"]


def test_what_cannot_be(corpus):
    tag = file("20180100", shape("20180100"))
    (body,) = read_collision(tag)
    for bodies in ([body, body], [replace(body, index=5)]):
        with pytest.raises(FormatError, match="of 1"):
            replace_collision(tag, bodies)
    with pytest.raises(FormatError, match="of system 3"):
        replace_collision(tag, [replace(body, system=3)])
    (ragdoll,) = (
        member for member in open_source(corpus("eldenring/c0000.chrbnd.dcx")).members if member.kind is Kind.RAGDOLL
    )
    tag = Tagfile.read(ragdoll.data(), ragdoll.compendium)
    with pytest.raises(FormatError, match="constraints"):
        replace_collision(tag, read_collision(tag)[:-1])


@pytest.mark.parametrize(("sdk", "size"), [("20160200", 808), ("20180100", 824)])
def test_files_without_a_body_are_as_large_as_the_games(sdk, size):
    data = write_collision(sdk, [], compendium(sdk)).write()
    assert len(data) == size
    assert read_collision(Tagfile.read(data, compendium(sdk))) == []


@pytest.mark.parametrize("sdk", SDKS)
def test_new_files_against_a_compendium(sdk):
    bodies = [Body.new("h000100", shape(sdk)), Body.new("h000200", ball("capsule", (0, 0, 0), (0, 1, 0), 0.2))]
    types = compendium(sdk)
    data = write_collision(sdk, bodies, types).write()
    with pytest.raises(FormatError, match=ID.hex()):
        Tagfile.read(data)
    tag = Tagfile.read(data, types)
    assert tag.sdk == sdk
    assert [body.name for body in read_collision(tag)] == ["h000100", "h000200"]
    assert tag.write() == data


def test_missing_classes_are_named(corpus):
    bodies = [
        Body.new("a", shape("20180100")),
        Body.new("b", box()),
        Body.new("c", compile_extern(*ground(1), "20180100").shape),
    ]
    with pytest.raises(FormatError) as caught:
        write_collision("20180100", bodies, compendium("20180100", ["hknpPhysicsSceneData", "hknpPhysicsSystemData"]))
    missing = str(caught.value)
    for name in (
        "fsnpCustomMeshParameter", "fsnpCustomParamCompressedMeshShape", "hkGeometry", "hknpConvexPolytopeShape",
        "hknpDefaultExternMeshShapeGeometry", "hknpExternMeshShape", "hknpExternMeshShapeData",
    ):  # fmt: skip
        assert name in missing
    assert "made.compendium" in missing
    path = corpus("eldenring/h_collision.compendium.dcx")
    types = Tagfile.read(Dcx.read(path.read_bytes()).content)
    with pytest.raises(FormatError, match="hknpExternMeshShape"):
        write_collision("20180100", bodies[2:], types)
    assert write_collision("20180100", bodies[:1], types).write()
    with pytest.raises(FormatError, match="compendium with an id"):
        write_collision("20180100", [], file("20180100", box()))
