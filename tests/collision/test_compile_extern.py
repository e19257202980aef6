"""Extern meshes of both class versions: what they hold, their trees, their keys, the bodies around them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from addon.codec import FormatError, Tagfile, read_collision
from addon.codec.havok.collision import NO_MATERIAL, Body
from addon.codec.havok.collision.simd import CHILD, LEAF
from addon.codec.havok.collision.trees import walk
from addon.codec.havok.collision.writing import write_collision
from addon.collision.compiler import Cancelled, compile_extern
from tests.collision.meshes import ground, meshes, soup

OLD, NEW = SDKS = ("20160200", "20180100")


def read_back(shape, sdk: str) -> Body:
    (body,) = read_collision(Tagfile.read(write_collision(sdk, [Body.new("f000100", shape)]).write()))
    return body


@settings(max_examples=40)
@given(meshes(), st.sampled_from(SDKS))
def test_any_mesh(mesh, sdk):
    vertices, triangles = mesh
    made = compile_extern(vertices, triangles, sdk)
    repeated = (triangles == triangles[:, [1, 2, 0]]).any(axis=1)
    np.testing.assert_array_equal(made.left_out, np.flatnonzero(repeated))
    np.testing.assert_array_equal(made.kept, np.flatnonzero(~repeated))
    body = read_back(made.shape, sdk)
    np.testing.assert_array_equal(body.vertices, vertices)
    np.testing.assert_array_equal(body.triangles, triangles[~repeated])
    assert (body.materials == NO_MATERIAL).all()
    assert_trees_hold(body, sdk)


def assert_trees_hold(body: Body, sdk: str) -> None:
    shape, count = body.shape, len(body.triangles)
    points = body.vertices[body.triangles]
    assert shape.key_bits == (count.bit_length() + (sdk == NEW) if count else 0)
    if sdk == NEW:
        assert shape.tree is None
        assert sorted(shape.simd.keys.tolist()) == list(range(count))
        node, lane = np.nonzero(shape.simd.kind == LEAF)
        boxes = shape.simd.boxes[node, lane]
        owner = shape.simd.value[node, lane]
        np.testing.assert_array_equal(boxes, np.stack([points.min(axis=1), points.max(axis=1)], axis=1)[owner])
        node, lane = np.nonzero(shape.simd.kind == CHILD)
        below = shape.simd.boxes[shape.simd.value[node, lane]]
        union = np.stack([below[:, :, 0].min(axis=1), below[:, :, 1].max(axis=1)], axis=1)
        np.testing.assert_array_equal(shape.simd.boxes[node, lane], union)
        return
    assert (len(shape.simd.kind), len(shape.simd.keys)) == (2, 0)
    assert len(shape.tree) == max(2 * count - 1, 0)
    if count:
        np.testing.assert_array_equal(shape.domain[0, :3], body.vertices.min(axis=0))
        np.testing.assert_array_equal(shape.domain[1, :3], body.vertices.max(axis=0))
        walked = walk(shape.tree, np.array([0]), np.array([len(shape.tree)]), shape.domain[None, :, :3])
        leaf = np.flatnonzero(~shape.tree.inner)
        owner = shape.tree.value[leaf]
        assert sorted(owner.tolist()) == list(range(count))
        slack = 8 * np.spacing(np.abs(shape.domain[:, :3]).max())
        assert (points[owner].min(axis=1) >= walked.boxes[leaf, 0] - slack).all()
        assert (points[owner].max(axis=1) <= walked.boxes[leaf, 1] + slack).all()


@pytest.mark.parametrize("sdk", SDKS)
def test_new_bodies(sdk):
    body = read_back(compile_extern(*ground(3), sdk).shape, sdk)
    fields = body.fields
    assert (fields["motionType"], fields["mass"], fields["motionPropertiesId"]) == (0, -1, 0xFFFF)
    assert fields["attachedBody"] == -1
    assert body.position.tolist() == [0, 0, 0]
    assert body.orientation.tolist() == [0, 0, 0, 1]
    assert (body.shape.type, body.shape.flags) == (10, 4)


@pytest.mark.parametrize(("count", "in_order"), [(4, True), (5, True), (17, True), (32, True), (33, False)])
def test_small_simd_trees_keep_the_order_of_keys(count, in_order):
    simd = compile_extern(*soup(count), NEW).shape.simd

    def read(node: int) -> list[int]:
        """Return the keys of a node and those below it, lane after lane."""
        lanes = zip(simd.kind[node].tolist(), simd.value[node].tolist(), strict=True)
        parts = [read(value) if kind == CHILD else [value] for kind, value in lanes if kind]
        return [key for part in parts for key in part]

    assert sorted(read(1)) == list(range(count))
    assert (read(1) == list(range(count))) == in_order


def test_files_without_a_triangle():
    for sdk in SDKS:
        body = read_back(compile_extern(np.zeros((0, 3)), np.zeros((0, 3)), sdk).shape, sdk)
        assert (len(body.triangles), body.shape.key_bits) == (0, 0)


def test_materials_are_kept_where_there_are_some():
    vertices, triangles = ground(1)
    made = compile_extern(vertices, triangles, NEW, materials=np.array([3, 4]))
    assert read_back(made.shape, NEW).materials.tolist() == [3, 4]


def test_bad_meshes_and_cancelling():
    with pytest.raises(FormatError, match="not there"):
        compile_extern(np.zeros((2, 3)), np.array([[0, 1, 2]]), NEW)
    with pytest.raises(FormatError, match="not there"):
        compile_extern(np.full((3, 3), np.nan), np.array([[0, 1, 2]]), OLD)

    def stop(_stage, _fraction):
        raise Cancelled

    with pytest.raises(Cancelled):
        compile_extern(*soup(2000), OLD, progress=stop)
