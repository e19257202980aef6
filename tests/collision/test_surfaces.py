"""Surfaces of all kinds of shapes, and the hulls and solids they are made of."""

from __future__ import annotations

import numpy as np
import pytest

from addon.codec import Tagfile, read_collision
from addon.codec.havok.collision.shapes import ShapeInstance, UnknownShape
from addon.codec.havok.collision.writing import write_collision
from addon.collision import SurfaceKind, surface
from addon.maths import quaternions, solids
from addon.maths.hulls import hull
from tests.collision.build import body, build, grid
from tests.collision.parts import COMMON, ball, box, extern, group


def volume(vertices, triangles) -> float:
    """Return the volume inside of triangles that are wound outwards."""
    a, b, c = (vertices[triangles[:, corner]].astype(float) for corner in range(3))
    return float((a * np.cross(b, c)).sum() / 6)


def of(shape, **place):
    (each,) = read_collision(Tagfile.read(write_collision("20180100", [body(shape, **place)]).write()))
    return surface(each)


# hulls


def test_a_hull_holds_all_its_points():
    dice = np.random.default_rng(2)
    for count in (4, 8, 36, 255):
        points = dice.normal(size=(count, 3)).astype("f4")
        found = hull(points)
        a, b, c = (points[found[:, corner]].astype(float) for corner in range(3))
        normals = np.cross(b - a, c - a)
        heights = points.astype(float) @ normals.T - (normals * a).sum(axis=1)
        assert heights.max() < 1e-6
        edges = np.concatenate([found[:, [0, 1]], found[:, [1, 2]], found[:, [2, 0]]])
        assert len(np.unique(edges, axis=0)) == len(edges)
        assert {tuple(edge) for edge in edges.tolist()} == {tuple(edge[::-1]) for edge in edges.tolist()}


def test_a_hull_of_a_lattice_has_no_needless_points():
    lattice = np.stack(np.meshgrid(*[[0, 1, 2]] * 3), axis=-1).reshape(-1, 3).astype("f4")
    found = hull(lattice)
    assert volume(lattice, found) == pytest.approx(8)
    assert len(found) == 12


def test_hulls_of_what_is_flat_a_line_or_a_point():
    square = np.array([(0, 5, 0), (4, 5, 0), (4, 5, 4), (0, 5, 4), (2, 5, 2), (2, 5, 0)], "f4")
    found = hull(square)
    assert len(found) == 2
    a, b, c = (square[found[:, corner]] for corner in range(3))
    assert np.linalg.norm(np.cross(b - a, c - a), axis=1).sum() / 2 == pytest.approx(16)
    for points in (square[:2], square[[0, 5, 1]], square[[0, 0, 0, 0]], square[:0], np.full((4, 3), np.nan, "f4")):
        assert hull(points).shape == (0, 3)


def test_a_thin_box_far_away_has_its_hull():
    thin = box((8, 0.001, 6), (300, 20, -310)).vertices
    found = hull(thin)
    assert set(found.ravel().tolist()) == set(range(8)) or len(found) == 2
    a, b, c = (thin[found[:, corner]].astype(float) for corner in range(3))
    area = np.linalg.norm(np.cross(b - a, c - a), axis=1).sum() / 2
    assert 47.9 < area < 96.2


def test_solids_have_their_volume_and_stand_where_they_should():
    for build_solid, exact in ((solids.capsule, np.pi * 3 + 4 / 3 * np.pi), (solids.cylinder, np.pi * 3)):
        vertices, triangles = build_solid(np.float32([1, 2, 3]), np.float32([1, 2, 6]), 1.0)
        assert 0.95 * exact < volume(vertices, triangles) < exact
        assert (np.unique(triangles) == np.arange(len(vertices))).all()
    vertices, triangles = solids.capsule(np.float32([5, 5, 5]), np.float32([5, 5, 5]), 2.0)
    np.testing.assert_allclose(np.linalg.norm(vertices - 5, axis=1), 2, rtol=1e-5)
    assert volume(vertices, triangles) > 0.95 * 4 / 3 * np.pi * 8


# shapes


def test_kinds_are_told_apart():
    source = grid(10)
    source.points = [box((1, 1, 1), (4, 3, 4)).vertices]
    move = np.eye(4)
    move[:3, 3] = 4, 5, 6
    source.externs = [(ShapeInstance(matrix=move, shape=box()), np.array([[3, 4, 5], [5, 6, 7]]))]
    made = build(source)
    found = of(made)
    counts = {kind.name: int((found.kind == kind).sum()) for kind in SurfaceKind}
    assert counts == {"MESH": 200, "EXTERN_MESH": 0, "CONVEX": 0, "EXTERN_SHAPE": 12, "POINTS": 12}
    custom = found.kind > SurfaceKind.MESH
    assert set(found.mesh.keys[custom].tolist()) == set(made.custom.keys.tolist())
    vertices = found.mesh.vertices[np.unique(found.mesh.triangles[found.kind == SurfaceKind.EXTERN_SHAPE])]
    np.testing.assert_allclose([vertices.min(axis=0), vertices.max(axis=0)], [(3, 4, 5), (5, 6, 7)], atol=1e-6)
    assert set(of(extern()).kind.tolist()) == {SurfaceKind.EXTERN_MESH}


@pytest.mark.parametrize("faces", [True, False])
def test_polytopes_with_faces_and_without(faces):
    found = of(box((1, 2, 3), faces=faces))
    assert volume(found.mesh.vertices, found.mesh.triangles) == pytest.approx(6)
    assert set(found.kind.tolist()) == {SurfaceKind.CONVEX}


def test_flat_shapes_are_surfaces():
    flat = of(box((4, 0, 4), faces=False))
    assert len(flat.mesh) == 2
    assert len(of(box((4, 0, 4))).mesh) == 12


def test_round_shapes():
    for kind, exact in (("sphere", 4 / 3 * np.pi), ("capsule", np.pi * 2 + 4 / 3 * np.pi), ("cylinder", np.pi * 2)):
        end = (0, 2, 0) if kind != "sphere" else (0, 0, 0)
        found = of(ball(kind, (0, 0, 0), end, 1.0))
        assert 0.95 * exact < volume(found.mesh.vertices, found.mesh.triangles) < exact


def test_compounds_place_their_shapes_and_reflections_keep_the_winding():
    mirror = np.diag([-1.0, 2.0, 1.0, 1.0])
    mirror[:3, 3] = 10, 0, 0
    (each,) = read_collision(Tagfile.read(write_collision("20180100", [body(group((np.eye(4), box())))]).write()))
    each.shape.instances[0].matrix = mirror
    found = surface(each)
    assert volume(found.mesh.vertices, found.mesh.triangles) == pytest.approx(16)
    assert found.mesh.vertices[:, 0].min() == 9


def test_the_pose_of_a_body():
    turn = np.float32([0, np.sin(np.pi / 4), 0, np.cos(np.pi / 4)])  # a quarter about y: z goes to x
    found = of(box((1, 2, 6)), position=(100, 0, 0), orientation=turn)
    np.testing.assert_allclose(np.ptp(found.mesh.vertices, axis=0), (6, 2, 1), atol=1e-5)
    assert found.mesh.vertices[:, 0].mean() == pytest.approx(100)
    np.testing.assert_allclose(quaternions.matrices(turn) @ [0, 0, 1], [1, 0, 0], atol=1e-7)


def test_an_orientation_that_is_none_turns_nothing():
    for turn in ((0, 0, 0, 0), (np.nan, 0, 0, 1)):
        (each,) = read_collision(Tagfile.read(write_collision("20180100", [body(box(), orientation=turn)]).write()))
        assert each.orientation.tolist() == [0, 0, 0, 1]


def test_an_untouched_pose_changes_no_bit():
    made = build(grid(4))
    np.testing.assert_array_equal(of(made).mesh.vertices, made.decoded.vertices)


def test_shapes_of_unknown_classes_are_named():
    made = body(UnknownShape(name="hknpDummyShape", type=21, **COMMON))
    found = surface(made)
    assert found.warnings == ["shapes of the class hknpDummyShape are not shown"]
    assert not len(found.mesh)
