"""What follows from the rest of a model that is made."""

from __future__ import annotations

import zlib

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from addon.codec.flver import Flver
from addon.codec.flver.records import NODE
from addon.maths import affine
from addon.model import complete, node_matrices, place_mesh
from addon.model.bounds import INVERTED, box, mesh_bounds, node_bounds
from addon.model.derived import link, name_crcs, node_flags, skeleton_set
from tests.models import small_model


def children(table: np.ndarray, node: int) -> list[int]:
    found, child = [], int(table["first_child"][node])
    while child >= 0:
        found.append(child)
        child = int(table["next_sibling"][child])
    return found


@given(st.lists(st.integers(-1, 12), max_size=13), st.lists(st.booleans(), min_size=13, max_size=13))
def test_links(parents, linked):
    nodes = NODE.zeros(len(parents))
    nodes["parent"] = [min(parent, i - 1) for i, parent in enumerate(parents)]
    linked = np.array(linked[: len(parents)], bool)
    link(nodes, linked)
    for i in range(len(nodes)):
        assert children(nodes, i) == np.flatnonzero(nodes["parent"] == i).tolist()
        following = int(nodes["next_sibling"][i])
        assert following < 0 or nodes["previous_sibling"][following] == i
    roots = np.flatnonzero((nodes["parent"] < 0) & linked)
    assert nodes["next_sibling"][roots].tolist() == [*roots[1:].tolist(), *([-1] if len(roots) else [])]
    alone = (nodes["parent"] < 0) & ~linked
    assert (nodes["next_sibling"][alone] == -1).all()
    assert (nodes["previous_sibling"][alone] == -1).all()


@given(st.lists(st.integers(-1, 12), max_size=13))
def test_skeletons(parents):
    nodes = NODE.zeros(len(parents))
    nodes["parent"] = [min(parent, i - 1) for i, parent in enumerate(parents)]
    link(nodes, np.ones(len(nodes), bool))
    skeletons = skeleton_set(nodes)
    assert skeletons.base["node"].tolist() == list(range(len(nodes)))
    assert (skeletons.base["parent"] == nodes["parent"]).all()
    whole = skeletons.all
    assert sorted(whole["node"].tolist()) == list(range(len(nodes)))
    for i, entry in enumerate(whole):
        parent = int(entry["parent"])
        assert (whole["node"][parent] if parent >= 0 else -1) == nodes["parent"][entry["node"]]
        assert parent < i  # depth first
        assert [int(whole["node"][child]) for child in children(whole, i)] == children(nodes, int(entry["node"]))


def test_flags():
    flver = small_model()
    flver.nodes = np.concatenate((flver.nodes, NODE.zeros(3)))
    flver.node_names += ["unused", "parent of a bone", "bone"]
    flver.nodes["scale"], flver.nodes["parent"][3:] = 1, (-1, -1, 4)
    flver.dummies["parent"], flver.dummies["attach"] = (1, 1), (-1, 0)
    flver.nodes["bounds_min"], flver.nodes["bounds_max"] = INVERTED, -INVERTED
    flver.nodes["bounds_min"][5] = flver.nodes["bounds_max"][5] = 0
    assert node_flags(flver).tolist() == [2, 2, 4, 1, 8, 8]


def test_checksums():
    names = ["dummy_throw_sfx", "dymmy", "宝死体SFX"]
    expected = [zlib.crc32(name.encode("cp932")) for name in names]
    assert np.array(expected[:2], np.uint32).view(np.int32).tolist() == [-1941369491, 86134151]
    found = name_crcs(np.array([0, 1, 2, -1, 3], np.int16), names)
    assert found.view(np.uint32).tolist() == [*expected, 0, 0]


def test_boxes():
    points = np.array([[0, 1, -2], [3, -1, 5]], np.float32)
    assert [side.tolist() for side in box(points)] == [[0, -1, -2], [3, 1, 5]]
    assert [side.tolist() for side in box(points[:0])] == [[INVERTED] * 3, [-INVERTED] * 3]
    assert mesh_bounds(points[:0], 0x2001A) is None
    old, new = mesh_bounds(points, 0x20014), mesh_bounds(points, 0x2001A)
    assert (old["min"].tolist(), old["max"].tolist()) == ([0, -1, -2], [3, 1, 5])
    turned = (points - new["center"]) @ affine.euler_zxy(new["rotation"])
    assert np.allclose(np.abs(turned).max(axis=0), new["half_extents"])


def test_node_boxes():
    """The static mesh's vertices are in its node's space as they are, the skinned one's are brought there."""
    flver = small_model()
    flver.nodes["scale"][1] = 2, 2, 2
    vertices = [flver.vertices(i) for i in range(2)]
    low, high = node_bounds(flver, vertices, node_matrices(flver.nodes))
    assert (low[0].tolist(), high[0].tolist()) == ([0, 0, 0], [1, 0, 0])
    assert (low[1].tolist(), high[1].tolist()) == ([0, 0, 0], [1, 1, 0])
    assert low[2, 0] == INVERTED
    flver.nodes["scale"][1] = 0
    assert np.isfinite(node_bounds(flver, vertices, node_matrices(flver.nodes))[0]).all()


def test_a_completed_model_stays_as_it_is():
    flver = small_model()
    data = flver.write()
    complete(flver)
    assert flver.write() == data
    read = Flver.read(data)
    matrices = node_matrices(read.nodes)
    placed = np.concatenate([place_mesh(read, m, read.vertices(i), matrices)[0] for i, m in enumerate(read.meshes)])
    assert (read.header["bounds_min"] == placed.min(axis=0)).all()
    assert (read.header["bounds_max"] == placed.max(axis=0)).all()
    assert (int(read.header["true_face_count"]), int(read.header["total_face_count"])) == (8, 12)


def test_older_models_have_no_checksums():
    assert not small_model(0x20014).dummies["name_crc"].any()
    assert small_model(0x20016).dummies["name_crc"].all()


def test_an_empty_model_is_completed():
    flver = Flver.new()
    complete(flver)
    assert Flver.read(flver.write()).write() == flver.write()
