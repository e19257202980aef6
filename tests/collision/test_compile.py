"""Meshes of all kinds through the compiler: sound by every rule, decoded to where they were, nothing lost silently."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from addon.codec import FormatError, Tagfile, read_collision
from addon.codec.havok.collision import Body
from addon.codec.havok.collision.custom import EXTERN, POINTS
from addon.codec.havok.collision.decode import QUAD
from addon.codec.havok.collision.shapes import ShapeInstance
from addon.codec.havok.collision.simd import CHILD, LEAF
from addon.codec.havok.collision.writing import write_collision
from addon.collision import check, surface
from addon.collision.compiler import Cancelled, CompileSettings, CustomPart, compile_mesh, custom_parts, repaint
from addon.collision.compiler.simd_tree import simd_tree
from tests.collision.meshes import ball, compiled, ground, meshes, soup
from tests.collision.parts import box

SDKS = ("20160200", "20180100")


@settings(max_examples=60)
@given(
    meshes(), st.sampled_from([0.0, 0.005, 0.015, 0.05, 1.0]), st.sampled_from(SDKS), st.integers(1, 4), st.booleans()
)
def test_any_mesh(mesh, radius, sdk, materials, flat):
    names = 20 + np.arange(len(mesh[1])) // 3 % materials
    made = compiled(mesh, names, radius=radius, sdk=sdk, flat_quads=flat)
    assert set(made.shape.mesh.materials.names) <= set(names.tolist())


@settings(max_examples=25)
@given(meshes(), st.sampled_from(SDKS), st.booleans(), st.booleans())
def test_any_mesh_through_a_file(mesh, sdk, rows, simd):
    made = compiled(mesh, radius=0.02, sdk=sdk, rows=rows, simd=simd)
    (body,) = read_collision(Tagfile.read(write_collision(sdk, [Body.new("h000100", made.shape)]).write()))
    assert list(map(str, check(body.shape.mesh))) == []
    np.testing.assert_array_equal(body.vertices, made.shape.decoded.vertices)
    np.testing.assert_array_equal(body.triangles, made.shape.decoded.triangles)
    np.testing.assert_array_equal(body.keys, made.shape.decoded.keys)
    np.testing.assert_array_equal(body.materials, made.shape.decoded.materials)
    np.testing.assert_array_equal(body.mesh.interior, made.shape.decoded.interior)
    np.testing.assert_array_equal(body.shape.mesh.simd.keys, made.shape.mesh.simd.keys)
    assert body.shape.name == made.shape.name


def test_a_single_triangle():
    made = compiled((np.float32([[0, 0, 0], [2, 0, 0], [0, 0, 3]]), np.array([[0, 1, 2]])))
    mesh = made.shape.mesh
    assert mesh.primitives.tolist() == [[0, 1, 2, 2]]
    assert (mesh.max_key, mesh.key_bits, mesh.key_count, len(mesh.tree), len(mesh.section_nodes)) == (0, 1, 1, 1, 1)
    assert mesh.rows.tolist() == [0x7FFFFFFF]
    assert not mesh.interior.any()
    np.testing.assert_array_equal(mesh.domain[:, 3], np.float32([1 - np.float32(0.015), 1 + np.float32(0.015)]))


@pytest.mark.parametrize("sdk", SDKS)
def test_meshes_without_a_triangle(sdk):
    made = compile_mesh(np.zeros((0, 3)), np.zeros((0, 3)), np.zeros(0), CompileSettings(sdk=sdk))
    mesh = made.shape.mesh
    assert (len(mesh.sections), mesh.key_bits, mesh.shape_bits, mesh.max_key, len(made.left_out)) == (0, 0, 0, 0, 0)
    assert check(mesh) == []
    (body,) = read_collision(Tagfile.read(write_collision(sdk, [Body.new("h000100", made.shape)]).write()))
    assert check(body.shape.mesh) == []
    assert len(body.triangles) == 0
    # the three meshes without a primitive say that they have a simd tree (seed 003)
    assert body.shape.mesh.has_simd is (None if sdk == SDKS[0] else True)


def test_degenerate_triangles_are_listed():
    vertices, triangles = ground(6)
    triangles = np.insert(triangles, [0, 10, 10], [[1, 1, 2], [3, 4, 3], [0, 0, 0]], axis=0)
    made = compiled((vertices, triangles))
    assert made.left_out.tolist() == [0, 11, 12]
    assert len(made.shape.decoded) == 72
    nothing = compiled((vertices, triangles[[0, 11]]))
    assert (nothing.left_out.tolist(), len(nothing.shape.decoded)) == ([0, 1], 0)


def test_seventy_thousand_vertices():
    side = 264
    vertices, triangles = ground(side, step=3.0)
    assert len(vertices) > 70_000
    made = compiled((vertices, triangles), 21 + np.arange(len(triangles)) // 1000 % 7, radius=0.0)
    mesh = made.shape.mesh
    assert mesh.sections["page"].max() == 1  # without a radius to hide steps behind all vertices are shared
    assert len(mesh.packed) == 0
    assert len(mesh.sections) > 512
    packed = compiled((vertices, triangles), radius=0.1).shape.mesh
    assert len(packed.packed) > 50_000
    assert packed.sections["page"].max() == 0


def test_where_steps_are_too_coarse_vertices_are_shared():
    vertices, triangles = ground(4)
    for error, shared in ((None, False), (1.0, False), (1e-5, True)):
        mesh = compiled((vertices, triangles), packed_error=error).shape.mesh
        assert (mesh.sections["num_packed"][0] == 0) == shared
    coarse = compiled((vertices * np.float32(100), triangles)).shape.mesh
    assert coarse.sections["num_packed"][0] == 0
    assert (coarse.sections["codec"][0, 1] == -np.inf).all()


def test_a_given_domain_keeps_codes():
    vertices, triangles = ground(30, step=2.0)
    first = compiled((vertices, triangles))
    again = first.shape.decoded
    domain = tuple(map(tuple, first.shape.mesh.domain[:, :3].tolist()))
    second = compiled((again.vertices, again.triangles[np.searchsorted(again.keys, first.keys)]), domain=domain)
    np.testing.assert_array_equal(second.shape.mesh.domain, first.shape.mesh.domain)
    shared = [set(each.shape.mesh.shared.tolist()) for each in (first, second)]
    assert len(shared[0] & shared[1]) > 0.95 * len(shared[0])
    # a domain that does not hold the mesh is not taken
    small = compiled((vertices, triangles), domain=((0, 0, 0), (1, 1, 1)))
    np.testing.assert_array_equal(small.shape.mesh.domain, first.shape.mesh.domain)


def test_closed_surfaces_have_interior_triangles():
    vertices, triangles = ball(16, 24)
    made = compiled((vertices, triangles[:, ::-1]))  # inwards: a hollow, without a convex edge
    decoded = made.shape.decoded
    assert decoded.interior.mean() > 0.5
    outwards = compiled((vertices, triangles)).shape.decoded
    assert 0 < outwards.interior.mean() < decoded.interior.mean()
    open_one = compiled(soup(50)).shape.decoded
    assert not open_one.interior.any()


def test_flat_quads_say_so():
    vertices, triangles = ground(10, noise=1.0)
    made = compiled((vertices, triangles), flat_quads=True).shape
    quads = made.primitives.slots[made.primitives.kind == QUAD].astype(int)
    flat = quads[:, 1] > quads[:, 3]
    assert made.mesh.flat_convex == 255
    assert 0 < flat.sum() < len(flat)
    level = compiled(ground(10, noise=0.0), flat_quads=True).shape
    quads = level.primitives.slots[level.primitives.kind == QUAD].astype(int)
    assert (quads[:, 1] > quads[:, 3]).all()


def test_materials():
    vertices, triangles = ground(5)
    names = np.array([30, 20, 25] * 17)[: len(triangles)]
    table = compiled((vertices, triangles), names).shape.mesh.materials
    assert table.names.tolist() == [30, 20, 25]
    table = compiled((vertices, triangles), names, names=(7, 20, 20)).shape.mesh.materials
    assert table.names.tolist() == [7, 20, 20, 30, 25]
    assert table.primitive_data[:3].tolist() == [3, 1, 4]
    np.testing.assert_array_equal(table.vertices, triangles)
    # a quad has one material
    made = compiled((vertices, triangles), np.arange(len(triangles)))
    assert not (made.shape.primitives.kind == QUAD).any()


def test_other_materials_change_their_rows_only():
    vertices, triangles = ground(5)
    shape = compiled((vertices, triangles), 20 + np.arange(50) // 25).shape
    wanted = shape.decoded.materials.copy()
    wanted[[3, 40]] = 99
    made = repaint(shape, wanted)
    np.testing.assert_array_equal(made.decoded.materials, wanted)
    assert made.mesh.materials.names.tolist() == [20, 21, 99]
    differ = np.flatnonzero(made.mesh.materials.primitive_data != shape.mesh.materials.primitive_data)
    assert sorted(differ) == sorted(shape.decoded.row[[3, 40]])
    for name in ("primitives", "packed", "shared", "rows", "interior"):
        assert getattr(made.mesh, name) is getattr(shape.mesh, name)
    assert shape.mesh.materials.names.tolist() == [20, 21]
    assert repaint(shape, shape.decoded.materials) is shape
    bare = compiled((vertices, triangles), rows=False).shape
    with pytest.raises(FormatError, match="no row"):
        repaint(bare, np.full(50, 9))


@pytest.mark.parametrize("sdk", SDKS)
@pytest.mark.parametrize("count", [1, 4, 5, 16, 17, 64, 700])
def test_simd_trees_are_numbered_as_in_each_game(sdk, count):
    tree = compiled(soup(count), sdk=sdk).shape.mesh.simd
    assert tree.leaf_flags == (sdk == SDKS[1])
    seen = []

    def walk_old(node):
        seen.append(node)
        for lane in (3, 2, 1, 0):
            if tree.kind[node, lane] == CHILD:
                walk_old(int(tree.value[node, lane]))

    if sdk == SDKS[0]:
        walk_old(1)
    else:
        stack, seen = [1], [1]
        while stack:
            node = stack.pop()
            below = tree.value[node][tree.kind[node] == CHILD].tolist()
            seen += below
            stack += below
    assert seen == list(range(1, len(tree.kind)))
    # lanes are filled from the first on, and a node has leaves or children
    used = tree.kind != 0
    assert (used[1:, 1:] <= used[1:, :-1]).all()
    assert not ((tree.kind == CHILD).any(axis=1) & (tree.kind == LEAF).any(axis=1)).any()
    assert tree.compact == (None if sdk == SDKS[0] else 1)


def test_leaves_of_a_simd_tree_with_equal_centres_keep_their_order():
    """The sort is stable, which the mesh of a map decides."""
    boxes = np.zeros((100, 2, 3), "f4")
    boxes[:, 1] = 1
    boxes[:, :, 1] += np.repeat([[3], [1]], 50, axis=0)  # the first half of the keys above the second
    tree = simd_tree(boxes, np.arange(100, dtype="u4"), flagged=True)

    def read(node):
        lanes = zip(tree.kind[node].tolist(), tree.value[node].tolist(), strict=True)
        return [key for kind, value in lanes if kind for key in (read(value) if kind == CHILD else [value])]

    assert read(1) == [*range(50, 100), *range(50)]


def test_boxes_hold_what_coarse_codes_decode_to():
    """Without a radius, small things far from the border of a large mesh move out of the boxes of their sources."""
    small, large = soup(300, 0.05), soup(300, 20_000.0, seed=1)
    vertices = np.concatenate([(small[0] - 0.5) * np.float32(0.1), large[0] - 10_000]).astype("f4")
    mesh = compiled((vertices, np.concatenate([small[1], large[1] + 900])), radius=0.0).shape.mesh
    step = (mesh.domain[1, :3] - mesh.domain[0, :3]).max() / 2**21
    assert (mesh.sections["domain"][:, 1, :3] - mesh.sections["domain"][:, 0, :3]).min() < 100 * step


def test_progress_and_cancelling():
    told = []
    compiled(ground(40), progress=lambda stage, fraction: told.append((stage, fraction)))
    fractions = [fraction for _, fraction in told]
    assert fractions == sorted(fractions)
    assert (fractions[0], fractions[-1]) == (0, 1)
    assert {"quads", "tree", "sections", "interior"} <= {stage for stage, _ in told}
    for wanted in {stage for stage, _ in told}:

        def stop(stage, _fraction, wanted=wanted):
            if stage == wanted:
                raise Cancelled

        with pytest.raises(Cancelled):
            compiled(ground(40), progress=stop)


@pytest.mark.parametrize(
    ("vertices", "triangles", "what"),
    [
        ([[0, 0, 0]] * 2, [[0, 1, 2]], "there are 2"),
        ([[0, 0, 0]] * 3, [[0, 1, -1]], "there are 3"),
        ([[0, 0, 0], [1, 0, 0], [0, np.nan, 1]], [[0, 1, 2]], "corners at"),
        ([[0, 0, 0], [1, 0, 0], [0, np.inf, 1]], [[0, 1, 2]], "corners at"),
        ([[0, 0, 0], [1, 0, 0], [0, 1e20, 1]], [[0, 1, 2]], "corners at"),
    ],
)
def test_what_is_no_mesh(vertices, triangles, what):
    with pytest.raises(FormatError, match=what):
        compile_mesh(np.array(vertices), np.array(triangles), np.zeros(len(triangles)))


def test_what_are_no_settings():
    with pytest.raises(FormatError, match="20190100"):
        CompileSettings(sdk="20190100")
    with pytest.raises(FormatError, match="radius"):
        CompileSettings(radius=float("nan"))
    with pytest.raises(FormatError, match="1 triangles with 2 materials"):
        compile_mesh(np.zeros((3, 3)), np.array([[0, 1, 2]]), np.zeros(2))


@pytest.mark.parametrize("sdk", SDKS)
@pytest.mark.parametrize("side", [1, 4, 30])
def test_shapes_and_point_sets_around_a_mesh(sdk, side):
    vertices, triangles = ground(side)
    size = np.float32([[0, 0, 0], [0.5, 0.5, 0.5]])
    points = np.random.default_rng(1).random((9, 3)).astype("f4") + np.float32([side / 2, 1, 0])
    customs = [CustomPart(size + np.float32(place), place, points[:0]) for place in range(3)]
    customs.append(CustomPart(np.stack([points.min(axis=0), points.max(axis=0)]), -1, points))
    matrices = [np.eye(4, dtype="f4") for _ in range(3)]
    for place, matrix in enumerate(matrices):
        matrix[:3, 3] = place
    externs = [ShapeInstance(matrix=matrix, shape=box((1, 1, 1))) for matrix in matrices]
    if sdk == SDKS[0]:  # which has no extern shapes
        customs, externs = customs[3:], []
    chosen = CompileSettings(sdk=sdk)
    made = compile_mesh(vertices, triangles, np.full(len(triangles), 21), chosen, customs=customs, externs=externs)
    assert list(map(str, check(made.shape.mesh))) == []
    (body,) = read_collision(Tagfile.read(write_collision(sdk, [Body.new("h1", made.shape)]).write()))
    custom = body.shape.custom
    assert sorted(custom.kind.tolist()) == [EXTERN] * len(externs) + [POINTS]
    assert sorted(custom.extern[custom.kind == EXTERN].tolist()) == list(range(len(externs)))
    (found,) = (custom.points[place] for place in np.flatnonzero(custom.kind == POINTS))
    assert np.abs(found - points).max() < 1.1 / 1023
    assert len(body.triangles) == len(triangles)
    assert len(surface(body).mesh) > len(triangles)
    kept = custom_parts(body.shape)
    for part in kept:
        assert any(np.abs(part.box - other.box).max() < 1e-5 for other in customs)
    again = compile_mesh(vertices, triangles, np.full(len(triangles), 21), chosen, customs=kept, externs=externs)
    assert list(map(str, check(again.shape.mesh))) == []
    assert sorted(again.shape.custom.extern) == sorted(custom.extern)


def test_too_many_points():
    customs = [CustomPart(np.zeros((2, 3)), -1, np.zeros((256, 3), "f4"))]
    vertices, triangles = ground(1)
    with pytest.raises(FormatError, match="256 points"):
        compile_mesh(vertices, triangles, np.zeros(2), customs=customs)
