"""Checks: nothing to say about the games' meshes and ours, and a named finding for each broken rule."""

from __future__ import annotations

import numpy as np
import pytest

from addon.codec import read_collision
from addon.codec.havok.collision.shapes import MeshShape
from addon.codec.havok.collision.simd import CHILD, EMPTY, LEAF
from addon.collision import check
from addon.maths.sorts import quicksort, ranks
from tests.codec.havok.tagfile_corpus import Find, samples
from tests.collision.build import build, grid, shape_of


def rules(shape) -> set[str]:
    return {finding.rule for finding in check(shape.mesh)}


def rebuilt(shape) -> MeshShape:
    return shape_of(shape.mesh, shape.externs)


@pytest.mark.parametrize("source", ["eldenring/c4500.chrbnd.dcx", "eldenring/h_collision.hkx.dcx"])
def test_meshes_of_the_games_keep_all_rules(corpus: Find, source: str):
    checked = 0
    for one in samples(corpus, source):
        for each in read_collision(one.read()):
            if isinstance(each.shape, MeshShape):
                assert check(each.shape.mesh) == []
                checked += 1
    assert checked == 1


def test_the_file_of_a_tool_lacks_its_trees(corpus: Find):
    (each,) = read_collision(samples(corpus, "eldenring/tool_made_collision.hkx")[0].read())
    found = {finding.rule: str(finding) for finding in check(each.shape.mesh)}
    assert set(found) == {"section trees", "data runs", "domains", "simd tree"}
    assert found["section trees"] == "the tree of a section is missing (1, first sections[0])"
    assert "hasSimdTree says otherwise" in found["simd tree"]


@pytest.mark.parametrize("flagged", [False, True])
def test_meshes_of_ours_keep_all_rules(flagged):
    source = grid(24)
    source.points = [np.random.default_rng(3).random((12, 3), "f4") + 9]
    source.dead = 2
    for shape in (build(source, flagged=flagged), build(source, simd=False), build(grid(9), page=1)):
        assert check(shape.mesh) == []


def test_the_sort_of_equal_keys():
    assert quicksort([3, 1, 2]) == [1, 2, 0]
    payloads = {4: [2, 3, 0, 1], 6: [3, 4, 5, 0, 1, 2], 8: [5, 4, 7, 6, 1, 0, 3, 2], 10: [6, 5, 7, 9, 8, 1, 0, 2, 4, 3]}
    for count, wanted in payloads.items():
        assert [ranks(count).index(rank) for rank in range(count)] == wanted


# one broken rule after another


def broken(change) -> set[str]:
    shape = build(grid(16))
    change(shape.mesh)
    return rules(rebuilt(shape))


def test_runs():
    def gap(mesh):
        mesh.packed = np.append(mesh.packed, np.uint32(0))

    assert broken(gap) == {"runs"}


def test_flags():
    def flag(mesh):
        mesh.sections["flags"][0] = 1

    assert broken(flag) == {"section flags"}


def test_data_runs():
    def value(mesh):
        mesh.runs["value"][0] = 104

    def count(mesh):
        mesh.runs["count"][0] -= 1

    def twice(mesh):
        mesh.sections["first_run"][1] = 0

    assert [broken(each) for each in (value, count, twice)] == [{"data runs"}] * 3


def test_leaves_that_name_a_primitive_twice():
    def double(mesh):
        leaf = np.flatnonzero(~mesh.section_nodes.inner)
        mesh.section_nodes.value[leaf[0]] = mesh.section_nodes.value[leaf[1]]

    assert broken(double) == {"section trees"}


def test_payloads_out_of_the_sorts_order():
    def swap(mesh):
        first, end = mesh.section_starts[:2]
        leaf = first + np.flatnonzero(~mesh.section_nodes.inner[first:end])
        mesh.section_nodes.value[leaf] = np.arange(len(leaf))

    assert "payload order" in broken(swap)


def test_boxes_that_hold_too_little():
    def shrink(mesh):
        leaf = np.flatnonzero(~mesh.section_nodes.inner)[5]
        mesh.section_nodes.nibbles[leaf] = 0xFF

    assert broken(shrink) == {"leaf boxes"}


def test_point_sets_that_name_another_node():
    source = grid(8)
    source.points = [np.random.default_rng(3).random((12, 3), "f4") + 3]
    shape = build(source)
    place = np.flatnonzero(shape.primitives.kind == 2)[0]
    node = shape.mesh.primitives[place, 1]
    shape.mesh.primitives[place, [1, 3]] = node - 1
    assert rules(rebuilt(shape)) == {"point sets"}


def test_the_mesh_tree():
    def elsewhere(mesh):
        mesh.sections["leaf_index"][0] += 1

    def small(mesh):
        mesh.tree.nibbles[0] = 0x77

    assert broken(elsewhere) == {"mesh tree"}
    assert broken(small) == {"mesh tree"}


def test_domains():
    def small(mesh):
        mesh.sections["domain"][0, 1, 1] -= 0.01

    def outside(mesh):
        mesh.domain[1, 0] = mesh.sections["domain"][:, 1, 0].max() - 5

    assert "domains" in broken(small)
    assert "domains" in broken(outside)


def test_keys():
    def width(mesh):
        mesh.shape_bits += 1

    def largest(mesh):
        mesh.max_key -= 1

    def count(mesh):
        mesh.key_count -= 1

    assert "keys" in broken(width)
    assert {"keys", "interior"} == broken(largest)
    assert broken(count) == {"keys"}


def test_rows():
    def twice(mesh):
        mesh.rows = np.append(mesh.rows[1:], mesh.rows[1])

    def stranger(mesh):
        mesh.rows[0] = 0xFFFFFFFF

    assert broken(twice) == {"rows"}
    assert broken(stranger) == {"rows"}


def test_interior_bits_of_no_triangle():
    def stray(mesh):
        mesh.interior[:256] = True

    assert broken(stray) == {"interior"}


def test_simd_trees():
    def box(mesh):
        node, lane = np.argwhere(mesh.simd.kind == CHILD)[0]
        mesh.simd.boxes[node, lane, 0] -= 1

    def leaf(mesh):
        node, lane = np.argwhere(mesh.simd.kind == LEAF)[0]
        mesh.simd.boxes[node, lane, 1] -= 1

    def lost(mesh):
        node, lane = np.argwhere(mesh.simd.kind == LEAF)[0]
        mesh.simd.kind[node, lane] = EMPTY

    def number(mesh):
        node, lane = np.argwhere(mesh.simd.kind == CHILD)[-1]
        mesh.simd.value[node, lane] = node

    def unset(mesh):
        mesh.has_simd = False

    assert broken(box) == {"simd boxes"}
    assert broken(leaf) == {"simd boxes"}
    assert broken(lost) == {"simd leaves"}
    assert "simd tree" in broken(number)
    assert broken(unset) == {"simd tree"}
