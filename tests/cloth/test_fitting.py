"""Round shapes from the corners of meshes: spheres, capsules, tapered capsules, and what is none."""

from __future__ import annotations

import numpy as np
import pytest

from addon.cloth.edits import capsule, sphere, tapered_capsule
from addon.cloth.fitting import fitted_shape
from addon.cloth.surfaces import surface
from addon.codec.havok.cloth import Capsule, Sphere, TaperedCapsule


def lathe(first: float, last: float, length: float) -> np.ndarray:
    """Return the corners of a cylinder or cone along z, as Blender makes them."""
    turn = np.linspace(0, 2 * np.pi, 32, endpoint=False)
    circle = np.stack([np.cos(turn), np.sin(turn)], 1)
    ends = [(first, -length / 2), (last, length / 2)]
    return np.concatenate([np.column_stack([radius * circle, np.full(32, z)]) for radius, z in ends])


def box(*half: float) -> np.ndarray:
    return np.array(np.meshgrid(*([-each, each] for each in half))).reshape(3, -1).T.astype(float)


def test_spheres_and_what_is_as_wide_as_long():
    found = fitted_shape(surface(sphere((1, 2, 3), 0.5))[0])
    assert isinstance(found, Sphere)
    np.testing.assert_allclose(found.center, (1, 2, 3), atol=1e-6)
    assert found.radius == pytest.approx(0.5, rel=1e-6)
    for points in (box(1, 1, 1), lathe(1, 1, 2)):
        assert isinstance(fitted_shape(points), Sphere)
        assert fitted_shape(points).radius == pytest.approx(1)


def test_capsules_come_back_as_they_were():
    made = capsule((0, 1, 0), (0, 1, 3), 0.25)
    found = fitted_shape(surface(made)[0])
    assert isinstance(found, Capsule)
    ends = sorted([found.start.tolist(), found.end.tolist()], key=lambda end: end[2])
    np.testing.assert_allclose(ends, [(0, 1, 0), (0, 1, 3)], atol=1e-5)
    assert found.radius == pytest.approx(0.25, rel=1e-5)


@pytest.mark.parametrize(("small", "big", "length"), [(0.1, 0.3, 1.0), (0.2, 0.25, 2.0)])
def test_tapered_capsules_come_back_as_they_were(small, big, length):
    found = fitted_shape(surface(tapered_capsule((0, 0, 0), (0, length, 0), small, big))[0])
    if big - small < 0.1:  # hardly a cone
        assert isinstance(found, Capsule)
        return
    assert isinstance(found, TaperedCapsule)
    assert found.small_radius == pytest.approx(small, rel=0.01)
    assert found.big_radius == pytest.approx(big, rel=0.01)
    np.testing.assert_allclose(found.big, (0, length, 0), atol=2e-3)


def test_cylinders_boxes_and_stretched_spheres_are_capsules_as_long_as_they():
    for points, radius in ((lathe(0.1, 0.1, 1), 0.1), (box(0.2, 0.125, 0.5), 0.1625)):
        found = fitted_shape(points)
        assert isinstance(found, Capsule)
        assert found.radius == pytest.approx(radius, rel=1e-6)
        assert abs(found.end[2]) + found.radius == pytest.approx(0.5, rel=1e-6)
    found = fitted_shape(surface(sphere((0, 0, 0), 1))[0] * np.float32([1, 1, 3]))
    assert isinstance(found, Capsule)
    assert abs(found.end[2]) + found.radius == pytest.approx(3, rel=1e-3)


@pytest.mark.parametrize("points", [lathe(1, 0, 2), lathe(0.2, 0.1, 1), lathe(0, 0.5, 2)])
def test_cones_are_tapered_capsules_inside_of_them(points):
    found = fitted_shape(points)
    assert isinstance(found, TaperedCapsule)
    wide = np.hypot(*points[:, :2].T)
    assert found.big_radius < wide.max()
    assert np.sign(found.big[2]) == np.sign(points[wide.argmax(), 2])
    inside = surface(found)[0]
    assert inside[:, 2].min() > points[:, 2].min() - 0.05
    assert inside[:, 2].max() < points[:, 2].max() + 0.05


@pytest.mark.parametrize(
    ("points", "said"),
    [(np.zeros((4, 3)), "no size"), (np.zeros((0, 3)), "no corners"), (box(1, 1, 0.01), "is flat"),
     (np.full((4, 3), np.nan), "no corners"), (lathe(1, 1, 0.1), "is flat")],
)  # fmt: skip
def test_what_is_no_round_thing_is_refused(points, said):
    with pytest.raises(ValueError, match=said):
        fitted_shape(points)
