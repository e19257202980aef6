"""A model small enough to know every number of: scaled nodes, skinned and static meshes, dummies, two levels."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from addon.codec import Binder, Dcx
from addon.codec.binder import Entry
from addon.codec.flver import FaceSet, Flver, Layout, Material, Mesh, Semantic, Texture, VertexBuffer
from addon.codec.flver.records import DUMMY, NODE

SKINNED = Layout.new(
    (Semantic.POSITION, 0x02, 0),
    (Semantic.NORMAL, 0x13, 0),
    (Semantic.TANGENT, 0x13, 0),
    (Semantic.BONES, 0x11, 0),
    (Semantic.WEIGHTS, 0x13, 0),
    (Semantic.COLOR, 0x10, 0),
    (Semantic.UV, 0x16, 0),
)
STATIC = Layout.new((Semantic.POSITION, 0x02, 0), (Semantic.NORMAL, 0x13, 0))
QUAD = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]], np.float32)
# wound against the normal (0, 0, -1) in stored space, as the games have it
QUAD_TRIANGLES = [0, 1, 2, 0, 2, 3]


def model(names: tuple[str, ...] = ("root", "scaled", "child", "loose")) -> Flver:
    """Return a model of four nodes (the second scaled by 2 under the first), two meshes and two dummies."""
    flver = Flver.new()
    flver.node_names = list(names)
    flver.nodes = NODE.zeros(4)
    flver.nodes["parent"] = (-1, 0, 1, -1)
    flver.nodes["first_child"] = (1, 2, -1, -1)
    flver.nodes["next_sibling"] = flver.nodes["previous_sibling"] = -1
    flver.nodes["scale"] = ((1, 1, 1), (2, 2, 2), (1, 1, 1), (1, 1, 1))
    flver.nodes["translation"] = ((0, 1, 0), (1, 0, 0), (0.5, 0, 0), (0, 0, 5))
    flver.nodes["rotation"][0] = (0, 0, np.pi / 2)
    flver.nodes["flags"][3] = 1
    flver.nodes["bounds_min"], flver.nodes["bounds_max"] = np.finfo("f4").max, np.finfo("f4").min
    flver.layouts = [SKINNED, STATIC]
    flver.materials = [Material("#01#Böne", "N:\\x\\bone.matxml", [Texture("Albedo", "bone.tif")])]
    flver.meshes = [_skinned(), _static()]
    flver.dummies = DUMMY.zeros(2)
    flver.dummies["reference_id"], flver.dummies["parent"], flver.dummies["attach"] = (100, 100), (2, 3), (0, -1)
    flver.dummies["position"] = ((0, 0, 1), (0, 0, 0))
    flver.dummies["forward"], flver.dummies["upward"] = ((0, 0, -1), (0, 1, 0)), ((0, 1, 0), (0, 1, 0))
    flver.dummies["color"] = 255
    world = np.array([[0, 1, 0], [1, 4, 0]], np.float32)  # of the two meshes' vertices
    flver.header["bounds_min"], flver.header["bounds_max"] = world[0] - (2, 0, 0), world[1]
    return flver


def _skinned() -> Mesh:
    data = np.zeros(4, SKINNED.dtype(SKINNED.vertex_size))
    data["position0"] = QUAD + np.float32([0, 1, 0])
    data["normal0"] = (127, 127, 0, 0)
    data["tangent0"] = (127, 254, 127, 254)
    data["bones0"] = (0, 1, 0, 0)
    data["weights0"] = (200, 53, 0, 0)  # sums to 253 of 255, as real files do
    data["color0"] = (255, 128, 0, 64)
    data["uv0"] = np.array([[0, 0, 0, 0], [2048, 0, 1, 2], [2048, 2048, 3, 4], [0, 1024, 5, 6]])
    lists = [[*QUAD_TRIANGLES, 1, 1, 2], QUAD_TRIANGLES[:3]]
    sets = [FaceSet(np.array(each, "<u2"), flags) for flags in (0, 0x80000000) for each in lists]
    sets[1].flags |= 0x01000000
    sets[3].flags |= 0x01000000
    return Mesh(sets, [VertexBuffer(0, data)], dynamic=1)


def _static() -> Mesh:
    data = np.zeros(4, STATIC.dtype(STATIC.vertex_size))
    data["position0"] = QUAD
    data["normal0"] = (127, 127, 0, 1)
    return Mesh([FaceSet(np.array(QUAD_TRIANGLES, "<u2"))], [VertexBuffer(1, data)], dynamic=0, node=2)


def write(path: Path, *flvers: Flver, names: tuple[str, ...] = ("tiny.flver",)) -> Path:
    """Write models into a wrapped binder."""
    binder = Binder.new()
    for flver, name in zip(flvers, names, strict=True):
        binder.entries.append(Entry(f"N:\\GR\\data\\{name}", flver.write(), 200 + len(binder.entries)))
    path.write_bytes(Dcx.new(binder.write()).write())
    return path
