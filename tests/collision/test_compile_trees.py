"""The fast forms of the compile rules against the plain ones, and against numbers that are known of the games."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from addon.collision.compiler.binary import BinaryTree, Preorder
from addon.collision.compiler.cut import cut_sections, mesh_preorder
from addon.collision.compiler.insertion import insertion_order
from addon.collision.compiler.quads import pair_quads
from addon.collision.compiler.rebuild import rebuild, set_boxes
from addon.collision.compiler.refinement import put_larger_first, refine
from addon.collision.compiler.slots import PAGE, share
from addon.collision.compiler.source import is_degenerate, keep_rows
from addon.maths import single
from addon.maths.sorts import quicksort, ranks
from tests.collision.meshes import ground, meshes, soup
from tests.reference import compile_plain as plain


def nested(tree: BinaryTree, node: int | None = None):
    node = tree.root if node is None else node
    if node < tree.leaf_count:
        return int(node)
    first, second = tree.children[node - tree.leaf_count].tolist()
    return nested(tree, first), nested(tree, second)


def leaf_boxes(mesh, radius=0.015):
    points = mesh[0][mesh[1]]
    return points.min(axis=1) - np.float32(radius), points.max(axis=1) + np.float32(radius)


def as_pairs(low, high):
    return [(tuple(a), tuple(b)) for a, b in zip(low, high, strict=True)]


def silent(_done: float) -> None:
    pass


def compare(low, high):
    """Build a tree both ways, step by step."""
    boxes = as_pairs(low, high)
    first = plain.insert(boxes)
    order = insertion_order(low, high, silent)
    assert order.tolist() == plain.leaves(first)
    tree, expected = rebuild(order, low, high), plain.rebuild(first, boxes)
    assert nested(tree) == expected
    refine(tree)
    expected = plain.refine(expected, boxes)
    assert nested(tree) == expected
    put_larger_first(tree)
    expected = plain.larger_first(expected, boxes)
    assert nested(tree) == expected
    return tree, expected


@pytest.mark.parametrize(
    "mesh",
    [ground(1), ground(3), ground(9, noise=0), ground(12), soup(150, 10), soup(200, 0.0), soup(90, 1000, seed=3)],
    ids=["2", "18", "flat", "hills", "soup", "heap", "sparse"],
)
def test_trees_are_those_of_the_plain_rules(mesh):
    tree, expected = compare(*leaf_boxes(mesh))
    corners = mesh[1]
    for limit in (255, 40):
        cut = cut_sections(tree, Preorder.of(tree), lambda some, k=limit: len(np.unique(corners[some])) * 255 // k)
        sections = plain.cut(expected, lambda some, k=limit: len(np.unique(corners[some])) * 255 // k)
        order = Preorder.of(tree)
        held = [order.node[begin : begin + order.size[begin]] for begin in cut.tolist()]
        assert [part[part < tree.leaf_count].tolist() for part in held] == [plain.leaves(each) for each in sections]


@settings(max_examples=40)
@given(meshes())
def test_trees_of_any_meshes(mesh):
    mesh = mesh[0], mesh[1][:60]
    compare(*leaf_boxes(mesh, 0.0))


def test_many_leaves_with_one_box():
    low, high = leaf_boxes(soup(3))
    order = np.array([0] * 40 + [1] * 5 + [0] * 20 + [2] * 9 + [0, 1, 2] * 8)
    compare(low[order], high[order])


@pytest.mark.parametrize("seed", range(12))
def test_boxes_on_a_grid(seed):
    """Equal costs everywhere: the first counts, or the second."""
    dice = np.random.default_rng(seed)
    low = dice.integers(0, 4, (70, 3)).astype("f4")
    compare(low, low + dice.integers(1, 3, (70, 3)).astype("f4"))


def test_of_two_exchanges_alike_the_second_is_made():
    low = np.float32([[50, 50, 0], [10, 0, 0], [10, 0, 0], [0, 0, 0], [10, 10, 0]])
    boxes = as_pairs(low, low + np.float32(1))
    room = np.zeros((4, 3), "f4")
    tree = BinaryTree(5, np.array([[1, 2], [3, 4], [5, 6], [0, 7]]), 8, np.r_[low, room], np.r_[low + 1, room])
    set_boxes(tree)
    assert nested(tree) == (0, ((1, 2), (3, 4)))
    refine(tree)
    assert nested(tree) == plain.refine((0, ((1, 2), (3, 4))), boxes) == (0, ((1, 4), (3, 2)))


def test_boxes_without_extent():
    low = np.zeros((20, 3), "f4")
    low[:, 0] = np.arange(20) // 3
    compare(low, low)


@settings(max_examples=40)
@given(meshes(), st.integers(1, 3))
def test_quads_are_those_of_the_plain_rule(mesh, materials):
    rows = keep_rows(mesh[0], mesh[1][:80], np.arange(min(len(mesh[1]), 80)) // 5 % materials)
    expected = plain.pair_quads(rows.corners.tolist(), rows.vertices, rows.data.tolist())
    assert [tuple(pair) for pair in pair_quads(rows).tolist()] == expected


def test_triangles_on_both_sides_make_no_quads():
    vertices, triangles = ground(2)
    both = np.concatenate([triangles, triangles[:, ::-1]])
    rows = keep_rows(vertices, both, np.zeros(len(both), int))
    pairs = pair_quads(rows)
    expected = plain.pair_quads(rows.corners.tolist(), rows.vertices, rows.data.tolist())
    assert [tuple(pair) for pair in pairs.tolist()] == expected
    assert all(set(rows.corners[one]) != set(rows.corners[other]) for one, other in pairs)


@given(st.lists(st.integers(0, 5), max_size=60))
def test_the_quicksort(keys):
    assert quicksort(keys) == plain.quicksort(keys)


def test_what_the_quicksort_makes_of_equal_keys():
    # the payloads of section trees that seed 003 gives, in pre-order
    for count, payloads in ((4, [2, 3, 0, 1]), (6, [3, 4, 5, 0, 1, 2]), (10, [6, 5, 7, 9, 8, 1, 0, 2, 4, 3])):
        rank = list(ranks(count))
        assert [rank.index(leaf) for leaf in range(count)] == payloads


def test_the_estimate_of_reciprocal_roots():
    cells = (np.float32(1) + (np.arange(1024) + 0.5).astype("f4") / 1024).astype("f4")
    found = single.reciprocal_root_estimates(np.concatenate([cells, cells * 2])) * 8192
    assert found[:4].tolist() == [8190, 8186, 8182, 8178]
    assert found[1023:1025].tolist() == [5793, 5791]
    assert found[2047] == 4097
    digest = hashlib.sha256(found.astype("<u2").tobytes()).hexdigest()
    assert digest == "39b41ad5bd847e57a8639bff0688ea1797f6c5a77068e8700f22d2c1c490814c"


@given(st.floats(2.0**-100, 2.0**100, width=32))
def test_estimates_scale_and_are_near(square):
    (found,) = single.reciprocal_root_estimates(np.float32([square]))
    assert found.dtype == np.float32
    assert abs(float(found) * square**0.5 - 1) < 2**-11
    (larger,) = single.reciprocal_root_estimates(np.float32([square]) * np.float32(4))
    assert larger * 2 == found


def test_single_precision_throughout():
    vectors = np.float32([[3, 4, 12], [0.1, 0.2, 0.3]])
    for result in (
        single.dot(vectors, vectors), single.cross(vectors, vectors[::-1]), single.units(vectors),
        single.surfaces(vectors, vectors * np.float32(2)),
    ):  # fmt: skip
        assert result.dtype == np.float32
    assert np.abs(np.linalg.norm(single.units(vectors).astype("f8"), axis=1) - 1).max() < 2**-20


def test_degenerate_triangles():
    triangles = {
        "plain": ([0, 0, 0], [1, 0, 0], [0, 1, 0]),
        "a corner twice": ([0, 0, 0], [1, 0, 0], [1, 0, 0]),
        "on a line": ([0, 0, 0], [1, 1, 1], [2, 2, 2]),
        "just small enough": ([0, 0, 0], [3.1e-4, 0, 0], [0, 1, 0]),
        "just large enough": ([0, 0, 0], [3.2e-4, 0, 0], [0, 1, 0]),
    }
    found = is_degenerate(np.array(list(triangles.values()), "f4"))
    assert dict(zip(triangles, found.tolist(), strict=True)) == {
        "plain": False, "a corner twice": True, "on a line": True, "just small enough": True,
        "just large enough": False,
    }  # fmt: skip


def test_rows_number_positions_by_first_use():
    vertices = np.float32([[5, 0, 0], [1, 0, 0], [-0.0, 1, 0], [0.0, 1, 0], [0, 0, 2]])
    rows = keep_rows(vertices, np.array([[1, 3, 4], [4, 2, 0], [1, 1, 4]]), np.array([7, 8, 9]))
    assert rows.corners.tolist() == [[0, 1, 2], [2, 1, 3]]
    assert rows.vertices.tolist() == [[1, 0, 0], [0, 1, 0], [0, 0, 2], [5, 0, 0]]
    assert not np.signbit(rows.vertices).any()
    assert (rows.data.tolist(), rows.source.tolist(), rows.left_out.tolist()) == ([7, 8], [0, 1], [2])


def test_the_tree_above_sections():
    low, high = leaf_boxes(ground(30))
    tree = rebuild(insertion_order(low, high, silent), low, high)
    order = Preorder.of(tree)
    cut = cut_sections(tree, order, len)
    place, size, name, leaf = mesh_preorder(order, cut)
    assert len(place) == 2 * len(cut) - 1
    assert name[leaf].tolist() == list(range(len(cut)))
    assert (size[leaf] == 1).all()
    assert size[0] == len(place)
    np.testing.assert_array_equal(place[leaf], cut)


@pytest.mark.parametrize(("more", "page"), [(0, 0), (1, 1)])
def test_a_page_is_filled_to_its_last_place(more, page):
    counts = np.array([PAGE - 100, 100 + more])
    made = share(np.arange(counts.sum()), counts, np.array([0, 0]))
    assert made.pages.tolist() == [0, page]
    assert len(made.vertices) == (PAGE if not more else PAGE + 101)
    made = share(np.arange(PAGE), np.array([PAGE - 100, 100]), np.array([0, more]))
    assert made.pages.tolist() == [0, page]


def test_shared_vertices_fill_pages():
    count = PAGE // 200
    shared = np.concatenate([np.arange(200 * number, 200 * number + 200) for number in range(count + 2)])
    shared[-3:] = 0, 1, 200 * (count + 1)  # two of the first page, stored again, and one of its own
    made = share(shared, np.full(count + 2, 200), np.zeros(count + 2, int))
    assert made.pages.tolist() == [0] * count + [1, 1]
    place = np.repeat(made.pages.astype(int) * PAGE, 200) + made.index
    np.testing.assert_array_equal(made.vertices[place], shared)
    assert made.index[: 200 * count].tolist() == list(range(200 * count))
    assert (made.vertices[200 * count : PAGE] == -1).all()
