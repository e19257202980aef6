"""Extern meshes of both class versions, files without bodies, convex shapes and compounds: written and read back."""

from __future__ import annotations

import numpy as np
import pytest

from addon.codec import FormatError, Tagfile, read_collision
from addon.codec.havok.collision.shapes import ConvexShape, ExternShape, GroupShape, RoundShape
from addon.codec.havok.collision.trees import Nodes, walk
from addon.codec.havok.collision.writing import write_collision
from tests.collision.build import body
from tests.collision.parts import ball, box, extern, group

SDKS = ("20160200", "20180100")
EYE = np.eye(4)


def read_back(sdk: str, *shapes):
    return read_collision(Tagfile.read(write_collision(sdk, [body(shape) for shape in shapes]).write(), file="made"))


@pytest.mark.parametrize("sdk", SDKS)
def test_extern_meshes(sdk: str):
    made = extern(old=sdk == SDKS[0])
    (each,) = read_back(sdk, made)
    assert isinstance(each.shape, ExternShape)
    np.testing.assert_array_equal(each.vertices, made.vertices)
    np.testing.assert_array_equal(each.triangles, made.indices)
    assert set(each.materials.tolist()) == {0xFFFFFFFF}
    assert each.shape.key_bits == {SDKS[0]: 5, SDKS[1]: 6}[sdk]
    if sdk == SDKS[0]:
        tree = each.shape.tree
        walked = walk(tree, np.array([0]), np.array([len(tree)]), each.shape.domain[None, :, :3])
        assert sorted(tree.value[~tree.inner]) == list(range(18))
        assert (walked.boxes == each.shape.domain[:, :3]).all()
        assert not len(each.shape.simd.keys)
    else:
        assert each.shape.tree is None
        assert sorted(each.shape.simd.keys) == list(range(18))


def test_the_versions_of_the_extern_class_differ():
    found = {}
    for sdk in SDKS:
        tag = write_collision(sdk, [body(extern(old=sdk == SDKS[0]))])
        (view,) = tag.find("hknpExternMeshShape")
        around = view.one("geometry")
        found[sdk] = (
            view.layout.version,
            "useTriangleMaterialAsShapeTag" in around,
            "aabbTree" in view.one("boundingVolumeData"),
        )
    assert found == {"20160200": (2, False, True), "20180100": (3, True, False)}


@pytest.mark.parametrize("sdk", SDKS)
def test_files_without_a_body(sdk: str):
    tag = Tagfile.read(write_collision(sdk, []).write())
    assert read_collision(tag) == []
    assert tag.write() == write_collision(sdk, []).write()


def test_a_body_without_a_shape():
    (each,) = read_back("20180100", None)
    assert each.shape is None
    assert each.vertices.shape == (0, 3)


@pytest.mark.parametrize("sdk", SDKS)
def test_convex_shapes(sdk: str):
    shapes = [box((1, 2, 3)), box((4, 0, 4)), ball("sphere", (1, 2, 3), (1, 2, 3), 0.5)]
    shapes += [ball("capsule", (0, 0, 0), (0, 2, 0), 0.25), ball("cylinder", (0, 0, 0), (3, 0, 0), 0.75)]
    found = read_back(sdk, *shapes)
    for each, made in zip(found, shapes, strict=True):
        assert type(each.shape) is type(made)
        np.testing.assert_array_equal(each.shape.vertices, made.vertices)
        np.testing.assert_array_equal(each.shape.faces, made.faces)
        if isinstance(made, RoundShape):
            assert (each.shape.kind, each.shape.thickness) == (made.kind, made.thickness)
            np.testing.assert_array_equal(each.shape.b, made.b)
    assert len(found[0].triangles) == 12


def test_boxes_compounds_and_scaled_shapes():
    move = np.eye(4)
    move[:3, 3] = 10, 20, 30
    turn = np.array([[0, -2, 0, 1], [2, 0, 0, 0], [0, 0, 2, 0], [0, 0, 0, 1]])
    shared = box(name="hknpBoxShape")
    scaled = group((np.diag([1, 2, 3, 1]), shared), name="hknpScaledConvexShapeBase")
    (each,) = read_back("20180100", group((move, shared), (turn, scaled)))
    assert isinstance(each.shape, GroupShape)
    first, second = each.shape.instances
    np.testing.assert_array_equal(first.matrix, move)
    np.testing.assert_allclose(second.matrix, turn, atol=1e-6)
    assert isinstance(first.shape, ConvexShape)
    assert second.shape.instances[0].shape is first.shape
    np.testing.assert_array_equal(second.shape.instances[0].matrix, np.diag([1, 2, 3, 1]))


def test_a_compound_that_contains_itself():
    tag = write_collision("20180100", [body(group((EYE, box())))])
    (view,) = tag.find("hknpCompoundShape")
    view.one("instances").many("elements").values["shape"][...] = view.item
    with pytest.raises(FormatError, match="contains itself") as caught:
        read_collision(tag)
    assert "bodyCinfos.shape[0].instances.elements.shape[0]" in caught.value.trail


@pytest.mark.parametrize(
    ("inner", "value"),
    [([True, False, False], [0, 0, 1]), ([True, False, False], [2, 0, 1]), ([False, False, False], [0, 1, 2])],
    ids=["loop", "outside", "lost nodes"],
)
def test_trees_that_are_none(inner, value):
    nodes = Nodes(np.zeros((3, 3), "u1"), np.array(inner), np.array(value))
    with pytest.raises(FormatError):
        walk(nodes, np.array([0]), np.array([3]), np.zeros((1, 2, 3), "f4"))


def test_boxes_of_a_tree_by_hand():
    nodes = Nodes(
        np.array([[0x00] * 3, [0xF0, 0x0F, 0x00], [0x10] * 3], "u1"),
        np.array([True, False, False]),
        np.array([1, 0, 1]),
    )
    domain = np.float32([[[0, 0, 0], [226, 226, 226]]])
    found = walk(nodes, np.array([0]), np.array([3]), domain).boxes
    np.testing.assert_array_equal(found[1], [[225, 0, 0], [226, 1, 226]])
    np.testing.assert_array_equal(found[2], [[1, 1, 1], [226, 226, 226]])


def test_2016_has_no_compounds():
    with pytest.raises(FormatError, match="have no class hknpCompoundShape"):
        write_collision("20160200", [body(group((EYE, box())))])
