"""Compressed meshes: real ones against the plain decoder, made ones of both SDKs read back."""

from __future__ import annotations

import numpy as np
import pytest

from addon.codec import Tagfile, read_collision
from addon.codec.havok.collision import NO_MATERIAL, custom, keys, packing
from addon.codec.havok.collision.decode import primitive_kinds
from addon.codec.havok.collision.shapes import MeshShape, RoundShape, ShapeInstance
from addon.codec.havok.collision.simd import LEAF
from addon.codec.havok.collision.writing import write_collision
from tests.codec.havok.tagfile_corpus import Find, sample, samples
from tests.collision.build import body, build, grid
from tests.reference import collision_plain

SDKS = ("20160200", "20180100")
MESHES = {
    "eldenring/h_collision.hkx.dcx": 1, "eldenring/tool_made_collision.hkx": 1, "eldenring/c4500.chrbnd.dcx": 1,
}  # fmt: skip


def written(sdk: str, shape, **parts) -> Tagfile:
    return Tagfile.read(write_collision(sdk, [body(shape, **parts)]).write(), file="made")


def meshes(tag: Tagfile) -> list:
    return [each for each in read_collision(tag) if isinstance(each.shape, MeshShape)]


def compare(tag: Tagfile) -> None:
    """Hold every compressed mesh of a file against the plain decoder, to the last bit."""
    found = {id(each.shape): each for each in meshes(tag)}.values()
    for each, view in zip(found, collision_plain.shapes(tag), strict=True):
        triangles, customs = collision_plain.triangles(view)
        assert each.keys.tolist() == [key for key, _ in triangles]
        np.testing.assert_array_equal(
            each.vertices[each.triangles], np.array([corners for _, corners in triangles], "f4")
        )
        named = collision_plain.materials(view)
        assert each.materials.tolist() == [named.get(key, NO_MATERIAL) for key, _ in triangles]
        assert each.shape.custom.keys.tolist() == customs
        bits = view["triangleIsInterior"].bits()
        assert each.mesh.interior.tolist() == [bool(bits[key]) for key, _ in triangles]


@pytest.mark.parametrize("source", MESHES)
def test_meshes_of_the_corpus_are_those_of_the_plain_decoder(corpus: Find, source: str):
    count = 0
    for one in samples(corpus, source):
        tag = one.read()
        if tag.ids is None:
            compare(tag)
            count += len(meshes(tag))
    assert count == MESHES[source]


@pytest.mark.parametrize("sdk", SDKS)
@pytest.mark.parametrize("page", [0, 1, 3])
def test_made_meshes_are_those_of_the_plain_decoder(sdk: str, page: int):
    tag = written(sdk, build(grid(24), flagged=sdk == SDKS[1], page=page))
    compare(tag)
    (each,) = meshes(tag)
    assert each.shape.mesh.sections["page"].max() == page
    assert len(each.triangles) == 24 * 24 * 2


def test_a_page_decides_which_vertex_is_meant():
    shape = build(grid(24), page=1)
    assert sorted(set(shape.mesh.sections["page"].tolist())) == [0, 1]
    source = grid(24)
    rows = np.r_[source.quads[:, [0, 1, 2, 0, 2, 3]].reshape(-1, 3), source.triangles]
    placed = shape.decoded.vertices[shape.decoded.triangles]
    wanted = source.vertices[rows[shape.decoded.row]]
    assert np.abs(placed - wanted).max() < 0.01


@pytest.mark.parametrize("sdk", SDKS)
def test_a_written_mesh_holds_everything(sdk: str):
    made = build(grid(24), flagged=sdk == SDKS[1])
    (each,) = meshes(written(sdk, made, name="h000100", position=(1, 2, 3), materialId=7))
    assert (each.name, each.position.tolist(), each.fields["materialId"], each.sdk) == ("h000100", [1, 2, 3], 7, sdk)
    mesh, source = each.shape.mesh, made.mesh
    for name in ("sections", "primitives", "packed", "shared", "shared_index", "runs", "domain", "interior", "rows"):
        np.testing.assert_array_equal(getattr(mesh, name), getattr(source, name), name)
    for name in ("key_bits", "max_key", "key_count", "flat_convex", "shape_bits", "radius"):
        assert getattr(mesh, name) == getattr(source, name), name
    for tree in ("tree", "section_nodes"):
        for name in ("nibbles", "inner", "value"):
            np.testing.assert_array_equal(getattr(getattr(mesh, tree), name), getattr(getattr(source, tree), name))
    for name in ("primitive_data", "triangle_data", "vertices", "names"):
        np.testing.assert_array_equal(getattr(mesh.materials, name), getattr(source.materials, name))
    for name in ("boxes", "kind", "value"):
        np.testing.assert_array_equal(getattr(mesh.simd, name), getattr(source.simd, name))
    assert sorted(mesh.simd.keys) == sorted(each.shape.primitives.keys)


def test_simd_nodes_have_both_sizes():
    for sdk, size, leaf in (("20160200", 112, lambda key: key << 1 | 1), ("20180100", 128, lambda key: key)):
        tag = written(sdk, build(grid(3), flagged=sdk == SDKS[1]))
        (nodes,) = (view for view in tag.find("hkcdSimdTree::Node") if view.values.ndim)
        assert nodes.layout.size == size
        simd = meshes(tag)[0].shape.mesh.simd
        row, lane = np.argwhere(simd.kind == LEAF)[0]
        assert nodes["data"][row, lane] == leaf(int(simd.value[row, lane]))


# custom primitives


def test_point_sets_are_decoded_over_their_leaf():
    source = grid(12)
    cylinder = [(x, 0.2 * np.cos(turn), 0.2 * np.sin(turn)) for x in (1, 2) for turn in np.linspace(0, 6, 17)]
    source.points = [np.array(cylinder, "f4") + 4, np.array([(3, 1, 3), (4, 1, 3), (4, 2, 3.5)], "f4")]
    for sdk in SDKS:
        (each,) = meshes(written(sdk, build(source, flagged=sdk == SDKS[1])))
        found = each.shape.custom
        assert found.kind.tolist() == [custom.POINTS] * 2
        assert sorted(map(len, found.points)) == [3, 34]
        for points in source.points:
            (same,) = (each for each in found.points if len(each) == len(points))
            np.testing.assert_allclose(same, points, atol=1.1 / 1023)
        flagged = np.flatnonzero(each.shape.mesh.sections["flags"])
        assert flagged.tolist() == sorted(set(found.section.tolist()))


def test_extern_references_name_a_shape_with_its_transform():
    ball = RoundShape(
        name="hknpSphereShape", type=2, flags=1, key_bits=0, radius=0.5, user_data=0, kind="sphere", thickness=0.5,
        vertices=np.zeros((4, 3), "f4"), planes=np.zeros((0, 4), "f4"), faces=np.zeros((0, 2), "i4"),
        indices=np.zeros(0, "u1"), a=np.zeros(3, "f4"), b=np.zeros(3, "f4"),
    )  # fmt: skip
    turn = np.array([[0, -1, 0, 5], [1, 0, 0, 6], [0, 0, 1, 7], [0, 0, 0, 1]], "f4")
    source = grid(12)
    source.externs = [(ShapeInstance(matrix=turn, shape=ball), np.array([[4, 5, 6], [6, 7, 8]]))]
    (each,) = meshes(written("20180100", build(source)))
    assert each.shape.custom.kind.tolist() == [custom.EXTERN]
    assert each.shape.custom.extern.tolist() == [0]
    np.testing.assert_array_equal(each.shape.externs[0].matrix, turn)
    assert (each.shape.externs[0].shape.kind, each.shape.externs[0].shape.thickness) == ("sphere", 0.5)


def test_dead_primitives_have_no_triangle_but_a_leaf():
    source = grid(6)
    source.dead = 3
    (each,) = meshes(written("20180100", build(source)))
    assert len(each.triangles) == 72
    assert (each.shape.primitives.kind == 3).sum() == 3


# numbers


def test_primitive_kinds():
    rows = [(1, 2, 3, 3), (1, 2, 3, 4), (1, 2, 3, 2), (5, 5, 4, 5), (0xDE, 0xAD, 0xDE, 0xAD), (0xDE, 0xAD, 1, 0xAD)]
    assert primitive_kinds(np.array(rows, "u1")).tolist() == [0, 1, 2, 2, 3, 2]


def test_codes_by_hand():
    code = np.array([1023 << 22 | 2047 << 11 | 5], "u4")
    found = packing.packed_positions(code, np.float32([1, 2, 3]), np.float32([0.5, 1, 2]))
    assert found.tolist() == [[3.5, 2049, 2049]]
    code = np.array([4194303 << 42 | 0 << 21 | 2097151], "u8")
    low, high = np.float32([-1, -2, -3]), np.float32([1, 2, 3])
    np.testing.assert_allclose(packing.shared_positions(code, low, high), [[1, -2, 3]], atol=1e-6)


def test_codes_come_back():
    dice = np.random.default_rng(1)
    codes = dice.integers(0, 1 << 32, 1000, np.uint32)
    offset, scale = np.float32([3, -7, 100]), np.float32([0.01, 0.002, 0.05])
    np.testing.assert_array_equal(
        packing.packed_codes(packing.packed_positions(codes, offset, scale), offset, scale), codes
    )
    low, high = np.float32([-120, 60, -100]), np.float32([120, 70, 128])
    codes = dice.integers(0, 1 << 63, 1000, np.uint64) * np.uint64(2)
    found = packing.shared_codes(packing.shared_positions(codes, low, high), low, high)
    parts = [packing.split(each, packing.SHARED_BITS).astype(np.int64) for each in (found, codes)]
    assert abs(parts[0] - parts[1]).max() <= 2  # float32 has fewer digits than 22 bits far from 0


def test_shared_codes_of_the_corpus_come_back(corpus: Find):
    tag = samples(corpus, "eldenring/h_collision.hkx.dcx")[0].read()
    mesh = meshes(tag)[0].shape.mesh
    low, high = mesh.domain[0, :3], mesh.domain[1, :3]
    np.testing.assert_array_equal(
        packing.shared_codes(packing.shared_positions(mesh.shared, low, high), low, high), mesh.shared
    )


def test_simd_leaves_of_the_corpus_are_the_boxes_of_decoded_vertices(corpus: Find):
    (each,) = meshes(samples(corpus, "eldenring/h_collision.hkx.dcx")[0].read())
    simd, decoded = each.shape.mesh.simd, each.mesh
    for row, lane in np.argwhere(simd.kind == LEAF):
        same = decoded.keys >> 1 == simd.value[row, lane] >> 1
        points = decoded.vertices[decoded.triangles[same]].reshape(-1, 3)
        np.testing.assert_array_equal(simd.boxes[row, lane], [points.min(axis=0), points.max(axis=0)])


def test_keys_in_both_alignments():
    made = keys.make(np.array([3]), np.array([126]), np.array([1]))
    assert made.tolist() == [0x3FD]
    assert [part.tolist() for part in keys.parts(made)] == [[3], [126], [1]]
    assert keys.width_for(0x3FD) == 10
    assert keys.width_for(0x3FF) == 11
    assert keys.to_left(made, 10).tolist() == [0xFF7FFFFF]
    assert keys.from_left(keys.to_left(made, 10), 10).tolist() == [0x3FD]
    assert keys.to_left(np.array([7], "u4"), 32).tolist() == [7]


def test_ragdolls_of_both_games(corpus: Find):
    for source, name, count in (
        ("eldenring/c4500.chrbnd.dcx", "c4500.HKX", 102),
        ("sekiro/c7190.chrbnd.dcx", "c7190.hkx", 20),
    ):
        bodies = read_collision(sample(corpus, source, name).read())
        assert len(bodies) == count
        assert all(each.ragdoll for each in bodies)
        capsules = [each.shape for each in bodies if isinstance(each.shape, RoundShape)]
        assert len(capsules) >= count - 1
        # the whole radius stands beside the first end; the polytope with the convex radius is as thick
        for shape in capsules:
            assert shape.thickness == pytest.approx(shape.radius / 0.99, rel=1e-3)
