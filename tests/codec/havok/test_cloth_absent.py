"""Cloth classes that no file at hand has, in tagfiles made here after the class tables of SDK 20180100."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from addon.codec import FormatError
from addon.codec.havok import Tagfile, cloth
from addon.codec.havok.cloth.operators import read_operator
from addon.codec.havok.cloth.shapes import read_collidable
from addon.codec.havok.items import OBJECT, null_item
from addon.codec.havok.layout import Layouts
from addon.codec.havok.types import Member, Type
from tests.codec.havok.tagfile_sample import ARRAY_OF, INDEX, RECORD, SDK, U8, make_types

MATRIX = 16 << 8 | 0x28  # sixteen in place
# name: parent, size, members as (name, offset, type); "[x]" is an array of x, "*x" a pointer
CLASSES = {
    "u8": ("", 1, None),
    "Matrix": ("", 64, None),
    "hkSphere": ("", 16, [("pos", 0, "Vector")]),
    "hkAabb": ("", 32, [("min", 0, "Vector"), ("max", 16, "Vector")]),
    "hclShape": ("Base", 32, [("type", 24, "int")]),
    "hclSphereShape": ("hclShape", 48, [("sphere", 32, "hkSphere")]),
    "hclPlaneShape": ("hclShape", 48, [("planeEquation", 32, "Vector")]),
    "hclConvexGeometryShape": (
        "hclShape", 288,
        [
            ("tetrahedraGrid", 0x20, "[u16]"), ("gridCells", 0x30, "[u8]"), ("tetrahedraEquations", 0x40, "[Matrix]"),
            ("localFromWorld", 0x50, "Matrix"), ("worldFromLocal", 0x90, "Matrix"), ("objAabb", 0xD0, "hkAabb"),
            ("geomCentroid", 0xF0, "Vector"), ("invCellSize", 0x100, "Vector"), ("gridRes", 0x110, "u16"),
        ],
    ),
    "hclCollidable": (
        "Base", 160,
        [
            ("transform", 0x20, "Matrix"), ("shape", 0x88, "*hclShape"), ("name", 0x90, "String"),
            ("pinchDetectionRadius", 0x98, "float"), ("pinchDetectionEnabled", 0x9D, "bool"),
            ("virtualCollisionPointCollisionEnabled", 0x9E, "bool"), ("enabled", 0x9F, "bool"),
        ],
    ),
    "hclOperator": ("Base", 72, [("name", 0x18, "String")]),
    "Pair": ("", 4, [("indexInput", 0, "u16"), ("indexOutput", 2, "u16")]),
    "hclGatherSomeVerticesOperator": (
        "hclOperator", 104,
        [
            ("vertexPairs", 0x48, "[Pair]"), ("inputBufferIdx", 0x58, "u32"), ("outputBufferIdx", 0x5C, "u32"),
            ("gatherNormals", 0x60, "bool"),
        ],
    ),
    "TriangleBonePair": (
        "", 80, [("localBoneTransform", 0, "Matrix"), ("weight", 0x40, "float"), ("triangleIndex", 0x44, "u16")],
    ),
    "hclMeshBoneDeformOperator": (
        "hclOperator", 112,
        [
            ("inputBufferIdx", 0x48, "u32"), ("outputTransformSetIdx", 0x4C, "u32"),
            ("triangleBonePairs", 0x50, "[TriangleBonePair]"), ("triangleBoneStartForBone", 0x60, "[u16]"),
        ],
    ),
    "hclBlendSomeVerticesOperator": ("hclOperator", 144, []),
}  # fmt: skip


def table():
    """Return the sample's type table with the classes above, and where each is."""
    made = make_types()
    types, where = list(made.types), dict(INDEX)

    def put(key, kind):
        where[key] = len(types)
        types.append(kind)

    def find(key):
        if key not in where and key[0] == "[":
            put(key, Type("hkArray", (), 0, ARRAY_OF, find(key[1:-1]), None, 16, 8, None, None))
        elif key not in where:
            put(key, Type("T*", (), 0, 6, find(key[1:]), None, 8, 8, None, None))
        return where[key]

    for name, (parent, size, members) in CLASSES.items():
        if name == "Matrix":
            put(name, Type(name, (), 0, MATRIX, where["float"], None, size, 16, None, None))
        elif members is None:
            put(name, Type(name, (), 0, U8, None, None, size, 1, None, None))
        else:
            own = tuple(Member(key, 0x20, offset, find(kind)) for key, offset, kind in members)
            put(
                name,
                Type(name, (), where.get(parent, 0), RECORD, None, None, size, 16 if size % 16 == 0 else 4, None, own),
            )
    return replace(made, types=tuple(types)), where


@pytest.fixture
def file():
    types, where = table()
    tag = Tagfile(SDK, Layouts(types), [null_item()])
    return tag, lambda name: tag.item(tag.add(where[name], OBJECT, 1))


def collidable(make, shape):
    view = make("hclCollidable")
    view["shape"], view["name"], view["enabled"] = shape, "body", 1
    view["transform"] = np.concatenate([np.eye(4)[:3].reshape(-1), [1, 2, 3, 9]])
    return read_collidable(view)


def test_sphere_and_plane(file):
    _, make = file
    sphere = make("hclSphereShape")
    sphere.one("sphere")["pos"] = [1, 2, 3, 0.5]
    found = collidable(make, sphere)
    assert isinstance(found.shape, cloth.Sphere)
    assert (found.shape.center.tolist(), found.shape.radius) == ([1, 2, 3], 0.5)
    assert found.transform[:, 3].tolist() == [1, 2, 3, 1]
    plane = make("hclPlaneShape")
    plane["planeEquation"] = [0, 1, 0, -2]
    assert collidable(make, plane).shape.equation.tolist() == [0, 1, 0, -2]


def test_convex_geometry(file):
    _, make = file
    shape = make("hclConvexGeometryShape")
    planes = np.arange(32, dtype="f4").reshape(2, 16)
    shape["tetrahedraEquations"], shape["gridCells"] = planes, np.array([1, 0], "u1")
    shape["tetrahedraGrid"], shape["gridRes"] = np.array([0, 2], "u2"), 1
    shape.one("objAabb")["max"], shape["geomCentroid"] = [1, 1, 1, 0], [0.5, 0.5, 0.5, 0]
    found = collidable(make, shape).shape
    assert found.equations.tolist() == planes.reshape(2, 4, 4).tolist()
    assert found.bounds.tolist() == [[0, 0, 0], [1, 1, 1]]
    assert (found.cells.tolist(), found.grid.tolist(), found.resolution) == ([1, 0], [0, 2], 1)


def test_gather_some(file):
    tag, make = file
    view = make("hclGatherSomeVerticesOperator")
    pairs = np.zeros(2, tag.layouts[table()[1]["Pair"]].dtype)
    pairs["indexInput"], pairs["indexOutput"] = [5, 6], [1, 0]
    view["vertexPairs"], view["outputBufferIdx"], view["gatherNormals"] = pairs, 2, 1
    found = read_operator(view)
    assert isinstance(found, cloth.GatherVertices)
    assert (found.source.tolist(), found.target.tolist(), found.output, found.normals) == ([5, 6], [1, 0], 2, True)


def test_mesh_bone_deform(file):
    tag, make = file
    view = make("hclMeshBoneDeformOperator")
    pairs = np.zeros(3, tag.layouts[table()[1]["TriangleBonePair"]].dtype)
    pairs["weight"], pairs["triangleIndex"] = [1, 0.25, 0.75], [4, 5, 6]
    pairs["localBoneTransform"][:, 12:15] = [1, 2, 3]
    view["triangleBonePairs"], view["triangleBoneStartForBone"] = pairs, np.array([0, 1, 1, 3], "u2")
    found = read_operator(view)
    assert isinstance(found, cloth.MeshBoneDeform)
    assert (found.starts.tolist(), found.triangles.tolist()) == ([0, 1, 1, 3], [4, 5, 6])
    assert found.local[0, :3, 3].tolist() == [1, 2, 3]


def test_what_no_game_has_is_refused(file):
    _, make = file
    with pytest.raises(FormatError, match="operators of class hclBlendSomeVerticesOperator"):
        read_operator(make("hclBlendSomeVerticesOperator"))
