"""Steps of frames in whole numbers, and the frames that are kept."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from addon.cloth.frames import Clock, FrameCache, Place, Snapshot


@pytest.mark.parametrize(
    ("fps", "base", "rate", "expected"),
    [
        (60, 1.0, 60, [0, 1, 2, 3, 4]),
        (24, 1.0, 60, [0, 2, 5, 7, 10]),
        (60, 1.0, 30, [0, 0, 1, 1, 2]),
        (30, 1.001, 60, [0, 2, 4, 6, 8]),
        (120, 1.0, 60, [0, 0, 1, 1, 2]),
    ],
)
def test_steps_are_whole_and_do_not_drift(fps, base, rate, expected):
    clock = Clock.of(10, rate, fps, base)
    assert [clock.steps(frame) for frame in range(10, 15)] == expected
    hour = 3600 * fps
    assert clock.steps(10 + hour) == hour * rate * Fraction(base).limit_denominator(10000) // fps


def test_places_between_end_at_the_other_exactly():
    generator = np.random.default_rng(1)
    first, second = (
        Place(generator.random((3, 4, 4), np.float32), generator.random((4, 4), np.float32)) for _ in range(2)
    )
    assert first.towards(second, 1.0) is second
    half = first.towards(second, 0.5)
    np.testing.assert_allclose(half.bones, (first.bones + second.bones) / 2, rtol=1e-6)
    np.testing.assert_allclose(half.root, (first.root + second.root) / 2, rtol=1e-6)


class Sized:
    nbytes = 900


def snapshot():
    return Snapshot(Sized(), Place(np.zeros(9, np.float32), np.zeros(16, np.float32)))


def test_the_farthest_frames_go_first_when_memory_is_short():
    cache = FrameCache()
    for frame in range(5):
        cache.put(frame, snapshot(), 3500)
    assert list(cache) == [2, 3, 4]
    assert cache.nbytes == 3000
    cache.put(1, snapshot(), 3500)
    assert list(cache) == [1, 2, 3]


def test_the_newest_frame_stays_however_little_memory_there_is():
    cache = FrameCache()
    cache.put(1, snapshot(), 0)
    cache.put(2, snapshot(), 0)
    assert list(cache) == [2]
    cache.put(2, snapshot(), 0)
    assert cache.nbytes == 1000


def test_the_last_frame_before_is_looked_for_in_a_gap():
    cache = FrameCache()
    for frame in (1, 4, 9):
        cache.put(frame, snapshot(), 10**6)
    assert cache.before(9, 12) == 4
    assert cache.before(8, 3) is None
    assert cache.before(1, 12) is None
    cache.clear()
    assert cache.before(9, 12) is None
    assert cache.nbytes == 0
