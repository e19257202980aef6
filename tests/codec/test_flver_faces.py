"""Face sets: lists and strips in all index sizes, and their flags."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from addon.codec import FormatError
from addon.codec.flver import FaceSet, FaceSetFlags, is_degenerate
from tests.models import small_model

BIG = 1 << 20


def strip(*indices: int, kind: str = "<u2", vertices: int = 100) -> list[list[int]]:
    return FaceSet(np.array(indices, kind), strip=1).triangles(vertices).tolist()


@pytest.mark.parametrize("kind", ["u1", "<u2", ">u2", "<u4", ">u4"])
def test_lists(kind):
    triangles = FaceSet(np.array([0, 1, 2, 2, 1, 200], kind)).triangles(201)
    assert triangles.dtype == np.int32
    assert triangles.tolist() == [[0, 1, 2], [2, 1, 200]]


def test_lists_keep_triangles_that_repeat_a_vertex():
    triangles = FaceSet(np.array([0, 1, 2, 2, 1, 2, 3, 3, 1, 1, 3, 3], "<u2")).triangles(4)
    assert is_degenerate(triangles).tolist() == [False, True, True, True]


@pytest.mark.parametrize("count", [1, 2, 4, 5])
def test_a_list_that_is_not_of_threes_is_refused(count):
    with pytest.raises(FormatError, match="do not make triangles"):
        FaceSet(np.zeros(count, "<u2")).triangles(1)


@pytest.mark.parametrize("is_strip", [0, 1])
@pytest.mark.parametrize("kind", ["u1", "<u2", "<u4", ">u4"])
def test_an_index_past_the_vertices_is_refused(is_strip, kind):
    with pytest.raises(FormatError, match="index 5 of 5 vertices"):
        FaceSet(np.array([0, 1, 5], kind), strip=is_strip).triangles(5)


def test_the_largest_index_is_not_taken_for_minus_one():
    with pytest.raises(FormatError, match="4294967295"):
        FaceSet(np.array([0, 1, 0xFFFFFFFF], "<u4")).triangles(5)


def test_every_second_triangle_of_a_strip_is_turned():
    assert strip(0, 1, 2, 3, 4) == [[0, 1, 2], [1, 3, 2], [2, 3, 4]]


@pytest.mark.parametrize(("kind", "restart"), [("<u2", 0xFFFF), (">u2", 0xFFFF), ("<u4", 0xFFFFFFFF)])
def test_a_restart_begins_anew(kind, restart):
    assert strip(0, 1, 2, 3, restart, 4, 5, 6, 7, kind=kind) == [[0, 1, 2], [1, 3, 2], [4, 5, 6], [5, 7, 6]]
    assert strip(0, 1, 2, restart, 4, 5, 6, 7, kind=kind) == [[0, 1, 2], [4, 5, 6], [5, 7, 6]]
    assert strip(restart, restart, 4, 5, 6, restart, kind=kind) == [[4, 5, 6]]
    assert strip(0, 1, restart, 2, 3, restart, kind=kind) == []


def test_strips_drop_triangles_that_repeat_a_vertex():
    """They join strips without a restart; the turn goes on counting through them."""
    assert strip(0, 1, 2, 2, 3, 3, 4, 5) == [[0, 1, 2], [3, 5, 4]]
    assert strip(0, 1, 2, 2, 2, 3, 4) == [[0, 1, 2], [2, 3, 4]]


def test_many_vertices_leave_no_restart_in_16_bits():
    assert strip(0, 1, 0xFFFF, 2, vertices=0x10000) == [[0, 1, 0xFFFF], [1, 2, 0xFFFF]]
    assert strip(0, 1, 0xFFFF, 2, vertices=0xFFFF) == []


def test_bytes_have_no_restart():
    assert strip(0, 1, 255, kind="u1", vertices=256) == [[0, 1, 255]]


@pytest.mark.parametrize("count", range(3))
def test_short_strips_are_empty(count):
    assert strip(*range(count)) == []


def reference(indices: list[int], restart: int) -> list[list[int]]:
    """Walk a strip one index at a time."""
    found, start = [], 0
    for i, index in enumerate(indices):
        if index == restart:
            start = i + 1
        elif i - start >= 2:
            a, b, c = indices[i - 2 : i + 1]
            if len({a, b, c}) == 3:
                found.append([a, b, c] if (i - start) % 2 == 0 else [a, c, b])
    return found


@given(st.lists(st.sampled_from([0, 1, 2, 3, 4, 5, 0xFFFF]), max_size=40))
def test_any_strip(indices):
    assert strip(*indices) == reference(indices, 0xFFFF)


def test_edge_compression_is_named():
    face_set = FaceSet(np.zeros(9, "u1"), int(FaceSetFlags.EDGE_COMPRESSED))
    with pytest.raises(FormatError, match="edge-compressed"):
        face_set.triangles(9)


@pytest.mark.parametrize(
    ("flags", "lod", "blur"),
    [(0, 0, False), (0x01000000, 1, False), (0x02000000, 2, False), (0x04000000, 3, False), (0x80000000, 0, True),
     (0x81000000, 1, True), (0x82000000, 2, True), (0x00000001, 0, False)],
)  # fmt: skip
def test_levels_and_motion_blur(flags, lod, blur):
    face_set = FaceSet(np.zeros(0, "<u2"), flags)
    assert (face_set.lod, face_set.motion_blur) == (lod, blur)


def test_a_fault_says_which_set():
    flver = small_model()
    flver.meshes[1].face_sets[2].indices[0] = 99
    with pytest.raises(FormatError, match="index 99 of 4") as caught:
        flver.triangles(1, 2)
    assert caught.value.trail == "meshes[1].face_sets[2].indices"


def test_face_counts():
    """Of all sets and of those that are drawn; what strips repeat does not count, what lists repeat does."""
    flver = small_model()
    flver.meshes = flver.meshes[:1]
    listed, strips, blur = (
        FaceSet(np.array(indices, "<u2")) for indices in ([0, 1, 2, 0, 0, 1], [0, 1, 2, 2, 3], [0, 1, 2])
    )
    strips.strip, blur.flags = 1, int(FaceSetFlags.MOTION_BLUR)
    flver.meshes[0].face_sets = [listed, strips, blur]
    assert flver.count_faces() == (3, 4)
