"""Affine maps, frames and trees, held against plain loops in float64."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from addon.maths import affine, axes
from addon.maths.hierarchy import depths

ANGLES = np.array([[0.3, -1.2, 2.5], [0, 0, 0], [math.pi / 2, 0, 0], [-2, 1, 0.1]])


def turn(axis: int, angle: float) -> list[list[float]]:
    c, s = math.cos(angle), math.sin(angle)
    return [
        [[1, 0, 0], [0, c, -s], [0, s, c]], [[c, 0, s], [0, 1, 0], [-s, 0, c]], [[c, -s, 0], [s, c, 0], [0, 0, 1]],
    ][axis]  # fmt: skip


def times(a: list[list[float]], b: list[list[float]]) -> list[list[float]]:
    return [[sum(a[i][k] * b[k][j] for k in range(len(b))) for j in range(len(b[0]))] for i in range(len(a))]


def apply(matrix: list[list[float]], vector: list[float]) -> list[float]:
    return [sum(m * v for m, v in zip(row, vector, strict=True)) for row in matrix]


def random_tree(count: int, seed: int) -> tuple[np.ndarray, ...]:
    random = np.random.default_rng(seed)
    parents = np.array([random.integers(-1, i) if i else -1 for i in range(count)])
    return (
        parents,
        random.normal(size=(count, 3)),
        random.uniform(-3, 3, (count, 3)),
        random.uniform(0.2, 3, (count, 3)),
    )


def walk(node: int, point: list[float], parents, translation, rotation, scale) -> list[float]:
    """Carry a point from a node's space to the model's: scale, turn about x, z, y, shift, then the parent."""
    while node >= 0:
        point = [p * s for p, s in zip(point, scale[node], strict=True)]
        for axis in (0, 2, 1):
            point = apply(turn(axis, rotation[node][axis]), point)
        point = [p + t for p, t in zip(point, translation[node], strict=True)]
        node = parents[node]
    return point


@pytest.mark.parametrize("axis", range(3))
def test_rotation(axis):
    for angle in (0.0, 0.7, -2.1):
        assert np.allclose(affine.rotation(axis, np.array([angle]))[0], turn(axis, angle), atol=1e-15)


def test_orders_of_euler_angles():
    for angles in ANGLES:
        x, y, z = (turn(axis, angle) for axis, angle in enumerate(angles))
        assert np.allclose(affine.euler_xzy(angles[None])[0], times(y, times(z, x)))
        assert np.allclose(affine.euler_zxy(angles[None])[0], times(y, times(x, z)))


@pytest.mark.parametrize("seed", range(5))
def test_world_matrices_carry_points_as_a_walk_does(seed):
    parents, translation, rotation, scale = random_tree(40, seed)
    local = affine.compose(translation, affine.euler_xzy(rotation), scale)
    world = affine.world_matrices(local, parents)
    for node in range(40):
        for point in ([0.0, 0.0, 0.0], [1.0, -2.0, 0.5]):
            expected = walk(node, point, parents.tolist(), translation, rotation, scale)
            found = affine.transform_points(world[node], np.array([point]))[0]
            assert np.allclose(found, expected, rtol=1e-9, atol=1e-9)


def test_scale_is_inherited_by_places_and_by_scale():
    local = affine.compose(
        np.array([[0, 0, 0], [1, 0, 0.0]]), np.tile(np.eye(3), (2, 1, 1)), np.array([[2, 1, 1], [3, 1, 1.0]])
    )
    world = affine.world_matrices(local, np.array([-1, 0]))
    assert affine.transform_points(world[1], np.array([[1, 0, 0.0]])).tolist() == [[8, 0, 0]]


def test_parents_may_stand_behind_their_children():
    parents = np.array([2, 0, -1])
    local = affine.compose(np.eye(3), np.tile(np.eye(3), (3, 1, 1)), np.ones((3, 3)))
    assert affine.world_matrices(local, parents)[:, :3, 3].tolist() == [[1, 0, 1], [1, 1, 1], [0, 0, 1]]


def test_no_nodes():
    assert affine.world_matrices(np.zeros((0, 4, 4)), np.zeros(0, np.int16)).shape == (0, 4, 4)


@pytest.mark.parametrize("seed", range(3))
def test_normals_stay_square_to_what_they_stand_on(seed):
    random = np.random.default_rng(seed)
    matrices = np.tile(np.eye(4), (20, 1, 1))
    matrices[:, :3, :3] = random.normal(size=(20, 3, 3))
    tangents, other = random.normal(size=(2, 20, 3))
    normals = np.cross(tangents, other)
    turned = (affine.normal_matrices(matrices) @ normals[..., None])[..., 0]
    for along in (tangents, other):
        assert np.allclose((turned * affine.transform_vectors(matrices, along)).sum(axis=1), 0, atol=1e-9)
    assert np.allclose(affine.normal_matrices(matrices), np.linalg.inv(matrices[:, :3, :3]).transpose(0, 2, 1))


def test_flat_maps_have_no_normals():
    matrices = np.diag([1, 0, 1, 1.0])[None]
    assert not affine.normal_matrices(matrices).any()


def test_normalized():
    vectors = np.array([[3, 0, 4], [0, 0, 0], [1e-15, 0, 0]], np.float32)
    assert np.allclose(affine.normalized(vectors), [[0.6, 0, 0.8], [0, 0, 0], [1, 0, 0]])
    assert affine.normalized(vectors).dtype == np.float32


NEARLY = (1e-6, 1.0, 0.0)


@pytest.mark.parametrize(
    ("forward", "upward"),
    [((0, 0, 1), (0, 1, 0)), ((0, 0, 9), (0, 0.1, 0)), ((0, 1, 0), (0, 1, 0)), ((0, 1, 0), (0, -2, 0)),
     ((0, 1, 0), NEARLY), ((1, 1, 1), (1, 1, 1)), ((0, 0, 0), (0, 1, 0)), ((0, 0, 0), (0, 0, 0)),
     ((1, 0, 0), (0, 0, 0)), ((0, 0, 0), (0, 0, 1)), ((1, 2, 3), (-3, 0.5, 0.2)), ((0.7, 0, 0.7), (0.7, 0, 0.71))],
    ids=str,
)  # fmt: skip
def test_frames_are_orthonormal_along_forward(forward, upward):
    frame = affine.frames(np.array([forward], np.float32), np.array([upward], np.float32))[0]
    assert np.allclose(frame.T @ frame, np.eye(3), atol=1e-12)
    assert np.linalg.det(frame) == pytest.approx(1)
    length = np.linalg.norm(forward)
    assert np.allclose(frame[:, 2], np.array(forward) / length if length else (0, 0, 1))
    if np.linalg.norm(np.cross(forward, upward)) > 0.01:
        assert frame[:, 1] @ upward > 0


@given(st.lists(st.tuples(*[st.floats(-10, 10, width=32)] * 6), min_size=1, max_size=20))
def test_any_frames(rows):
    values = np.array(rows)
    frames = affine.frames(values[:, :3], values[:, 3:])
    assert np.allclose(frames @ frames.transpose(0, 2, 1), np.eye(3), atol=1e-6)


def test_a_frame_does_not_follow_an_upward_that_is_nearly_forward():
    """Rounding would tell where it turns; an upward that is askew by more does tell."""
    upward = np.array([(0, 1e-6, 1), (0, 1e-3, 1)])
    frames = affine.frames(np.tile((0.0, 0.0, 1.0), (2, 1)), upward)
    assert np.allclose(frames[:, :, 1], [(1, 0, 0), (0, 1, 0)])


def test_depths():
    assert depths(np.array([-1, 0, 1, 1, -1, 4, 2])).tolist() == [0, 1, 2, 2, 0, 1, 3]
    assert depths(np.array([2, 0, -1])).tolist() == [1, 2, 0]
    assert depths(np.zeros(0, np.int16)).tolist() == []


@pytest.mark.parametrize("parents", [[0], [1, 0], [1, 2, 0, -1, 2, 4], [-1, 1]])
def test_depths_of_cycles_and_what_hangs_on_them(parents):
    found = depths(np.array(parents)).tolist()
    for node, depth in enumerate(found):
        seen, at = 0, node
        while at >= 0 and seen <= len(parents):
            seen, at = seen + 1, parents[at]
        assert depth == (-1 if at >= 0 else seen - 1)


@given(st.lists(st.integers(-1, 30), max_size=31))
def test_depths_of_any_parents(parents):
    parents = [min(parent, len(parents) - 1) for parent in parents]
    found = depths(np.array(parents, np.int16))
    for node, parent in enumerate(parents):
        expected = 0 if parent < 0 else found[parent] + 1 if found[parent] >= 0 else -1
        assert found[node] == expected


def test_the_swap_of_axes():
    points = np.array([[1, 2, 3]], np.float32)
    assert axes.swap_vectors(points).tolist() == [[1, 3, 2]]
    assert axes.swap_vectors(points).dtype == np.float32
    matrices = np.random.default_rng(1).normal(size=(5, 4, 4))
    matrices[:, 3] = 0, 0, 0, 1
    swapped = axes.swap_matrices(matrices)
    assert np.allclose(
        axes.swap_vectors(affine.transform_points(matrices, np.tile(points, (5, 1)))),
        affine.transform_points(swapped, np.tile(axes.swap_vectors(points), (5, 1))),
    )
    assert np.array_equal(axes.swap_matrices(swapped), matrices)
    for result in (axes.swap_vectors(points), swapped):
        assert result.flags.c_contiguous
