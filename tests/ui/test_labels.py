"""Where labels stand in a view, and which of them."""

from __future__ import annotations

import numpy as np

from addon.ui.labels import arrange, project

SIZE = (200, 100)


def perspective() -> np.ndarray:
    """Return the matrix of a view from the origin along -Z, 90 degrees wide and high, from 1 to 100."""
    near, far = 1.0, 100.0
    matrix = np.zeros((4, 4))
    matrix[0, 0] = matrix[1, 1] = 1.0
    matrix[2, 2], matrix[2, 3] = -(far + near) / (far - near), -2 * far * near / (far - near)
    matrix[3, 2] = -1.0
    return matrix


def test_points_stand_where_a_camera_sees_them():
    points = np.array([(0, 0, -2), (2, 0, -2), (0, -2, -2), (1, 1, -2)], float)
    places, depth, shown = project(points, perspective(), SIZE)
    np.testing.assert_allclose(places, [(100, 50), (200, 50), (100, 0), (150, 75)])
    assert shown.all()
    assert len(set(depth.tolist())) == 1


def test_what_is_behind_beside_or_beyond_is_not_shown():
    points = np.array([(0, 0, 2), (0, 0, 0), (0, 0, -0.5), (3, 0, -2), (0, 0, -200), (np.nan, 0, -2), (0, 0, -50)])
    assert project(points, perspective(), SIZE)[2].tolist() == [False] * 6 + [True]


def test_nearer_points_have_less_depth():
    depth = project(np.array([(0, 0, -2), (0, 0, -3), (0, 0, -90)], float), perspective(), SIZE)[1]
    assert (np.diff(depth) > 0).all()


def arranged(points, width=20.0, most=10, scale=1.0):
    points = np.array(points, float).reshape(-1, 3)
    return arrange(points, np.full(len(points), width), perspective(), SIZE, most=most, scale=scale)


def test_the_nearest_of_a_place_is_written_and_counts_the_others():
    layout = arranged([(0.01, 0.01, -9), (1, 1, -2), (0.001, 0.001, -3), (0.01, 0.01, -5)])
    assert layout.rows.tolist() == [1, 2]
    assert layout.more.tolist() == [0, 2]
    assert layout.left_out == 0
    np.testing.assert_allclose(layout.places[:, 0], (150, 100), atol=0.1)
    assert (np.abs(layout.places[:, 1] - (75, 50)) <= 7).all()


def test_labels_do_not_overlap():
    rng = np.random.default_rng(5)
    points = np.column_stack((rng.uniform(-5, 5, (400, 2)), np.full(400, -5.0)))
    widths = rng.uniform(5, 60, 400)
    layout = arrange(points, widths, perspective(), SIZE, most=400)
    assert len(layout.rows) + layout.more.sum() == 400
    assert len(layout.rows) > 10
    x, y = layout.places.T
    ends = x + widths[layout.rows]
    for one in range(len(x)):
        beside = (np.abs(y - y[one]) < 14) & (x < ends[one]) & (ends > x[one])
        assert np.flatnonzero(beside).tolist() == [one]


def test_wide_labels_need_more_room():
    points = [(0, 0, -2), (0.5, 0, -2)]  # 25 pixels apart
    assert arranged(points, width=10).more.tolist() == [0, 0]
    assert arranged(points, width=40).more.tolist() == [1]
    assert arranged(points, width=10, scale=4).more.tolist() == [1]


def test_no_more_than_asked_and_the_nearest_of_all():
    grid = np.stack(np.meshgrid(np.linspace(-0.95, 0.75, 5), np.linspace(-0.9, 0.9, 4)), -1).reshape(-1, 2)
    distance = np.linspace(90, 2, 20)
    layout = arranged(np.column_stack((grid * distance[:, None], -distance)), width=10, most=8)
    assert layout.rows.tolist() == list(range(19, 11, -1))
    assert layout.left_out == 12


def test_nothing_to_write():
    layout = arranged([])
    assert len(layout.rows) == len(layout.places) == len(layout.more) == layout.left_out == 0
