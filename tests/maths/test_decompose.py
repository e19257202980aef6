"""Taking maps apart into rotation and scale."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from addon.maths import affine

ANGLES = npst.arrays(np.float64, (4, 3), elements=st.floats(-7, 7))
SCALES = npst.arrays(np.float64, (4, 3), elements=st.floats(0.01, 9) | st.floats(-9, -0.01))


@given(ANGLES)
def test_angles_make_the_rotation_that_they_are_taken_from(angles):
    rotations = affine.euler_xzy(angles)
    np.testing.assert_allclose(affine.euler_xzy(affine.angles_xzy(rotations)), rotations, atol=1e-9)


def test_angles_where_two_axes_are_one():
    near = np.float32(np.pi / 2)  # not quite
    rotations = affine.euler_xzy(np.array([[0.3, 0.5, np.pi / 2], [0.3, 0.5, -np.pi / 2], [near, near, near]]))
    np.testing.assert_allclose(affine.euler_xzy(affine.angles_xzy(rotations)), rotations, atol=1e-9)


@given(ANGLES, SCALES)
def test_rotation_and_scale_come_apart_without_shear(angles, scales):
    linear = affine.euler_xzy(angles) * scales[:, None, :]
    rotations, found, shear = affine.split_scale(linear, scales)
    np.testing.assert_allclose(rotations * found[:, None, :], linear, atol=1e-9)
    np.testing.assert_allclose(np.linalg.det(rotations), 1, atol=1e-9)
    assert shear.max() < 1e-9
    odd = np.prod(np.sign(found), axis=1) != np.prod(np.sign(scales), axis=1)
    assert not odd.any()


def test_shear_is_measured():
    linear = np.array([[[1, 0.5, 0], [0, 1, 0], [0, 0, 1.0]]])
    rotations, scale, shear = affine.split_scale(linear, np.ones((1, 3)))
    np.testing.assert_allclose(np.abs(rotations * scale[:, None, :] - linear).max() / scale.max(), shear[0])
    assert 0.1 < shear[0] < 0.5


def test_inverses_of_what_has_none():
    maps = np.stack([np.eye(4), np.zeros((4, 4)), np.full((4, 4), np.nan), np.diag([2.0, 2, 2, 1])])
    np.testing.assert_array_equal(affine.inverses(maps)[:3], [np.eye(4)] * 3)
    np.testing.assert_array_equal(affine.inverses(maps)[3], np.diag([0.5, 0.5, 0.5, 1]))
