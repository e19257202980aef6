"""The sample that the project ships: a reliquary with a skull, made from nothing by the project's own writers.

It holds what models of the games hold: scaled nodes under a scaled parent, static meshes placed by the normal's W and
by the mesh's node, skinned meshes over bone chains, cloth in three vertex buffers, levels of detail with motion blur
copies, dummies, materials that share a list of overrides, and textures.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

import numpy as np

from addon.codec import Binder, Dcx
from addon.codec.binder import Entry
from addon.codec.flver import (
    FaceSet,
    FaceSetFlags,
    Flver,
    GxItem,
    GxList,
    GxReference,
    Layout,
    Material,
    Mesh,
    Semantic,
    Texture,
    VertexBuffer,
    Vertices,
    encode_vertices,
    uv_factor,
)
from addon.codec.flver.records import DUMMY, NODE
from addon.maths import affine
from addon.model import complete, node_matrices
from tests.sample_cloth import make_sample_cloth
from tests.sample_textures import make_sample_textures
from tests.shapes import Array, Surface, banner, femur, lathe, skull, tube

NAME = "ossuary_sample"
FEMURS = 10
CHAIN = 4
IRON, BONE, CLOTH, ROPE = range(4)
POSITION, NORMAL, TANGENT, BITANGENT = Semantic.POSITION, Semantic.NORMAL, Semantic.TANGENT, Semantic.BITANGENT
BONES, WEIGHTS, COLOR, UV = Semantic.BONES, Semantic.WEIGHTS, Semantic.COLOR, Semantic.UV
LAYOUTS = (
    (0, (POSITION, 0x02, 0), (NORMAL, 0x13, 0), (TANGENT, 0x13, 0), (COLOR, 0x10, 1), (UV, 0x15, 0)),
    (0, (POSITION, 0x02, 0), (NORMAL, 0x02, 0), (TANGENT, 0x13, 0), (COLOR, 0x10, 1), (UV, 0x16, 0)),
    (0, (POSITION, 0x02, 0), (NORMAL, 0x13, 0), (TANGENT, 0x13, 0), (BITANGENT, 0x13, 0), (BONES, 0x11, 0),
     (WEIGHTS, 0x13, 0), (COLOR, 0x10, 1), (UV, 0x15, 0)),
    (0, (POSITION, 0x02, 0), (NORMAL, 0x13, 0), (TANGENT, 0x13, 0)),
    (1, (BITANGENT, 0x13, 0), (BONES, 0x11, 0), (WEIGHTS, 0x13, 0), (COLOR, 0x10, 1), (UV, 0x15, 0)),
    (2, (POSITION, 0x02, 1), (NORMAL, 0x13, 1), (TANGENT, 0x13, 1)),
)  # fmt: skip
BY_NORMAL_W, BY_MESH_NODE, SKINNED, CLOTH_BUFFERS = (0,), (1,), (2,), (3, 4, 5)


def write_sample(out: Path) -> list[Path]:
    """Write the sample to a folder and return its files."""
    binder = Binder.new()
    path = f"N:\\OSSUARY\\data\\parts\\{NAME}\\{NAME}.flver"
    flver = make_sample()
    textures = make_sample_textures([material.name.removeprefix("#02#") for material in flver.materials])
    binder.entries.append(Entry(path.replace(".flver", ".tpf"), textures, id=100))
    binder.entries.append(Entry(path, flver.write(), id=200))
    cloth = make_sample_cloth(flver, len(flver.meshes) - 1).write()
    binder.entries.append(Entry(path.replace(".flver", "_c.hkx"), cloth, id=700))
    file = out / f"{NAME}.partsbnd.dcx"
    file.write_bytes(Dcx.new(binder.write()).write())
    return [file]


def make_sample() -> Flver:
    """Make the model."""
    flver = Flver.new()
    flver.layouts = [Layout.new(*members, stream=stream) for stream, *members in LAYOUTS]
    skeleton = _skeleton()
    flver.nodes, flver.node_names = skeleton.table(), list(skeleton.names)
    _add_materials(flver)
    _add_static_meshes(flver, skeleton)
    _add_skinned_meshes(flver, skeleton)
    _add_dummies(flver, skeleton)
    complete(flver)
    return flver


@dataclass
class Skeleton:
    """Nodes by name, while they are made."""

    names: dict[str, int] = field(default_factory=dict)
    rows: list[tuple[Sequence[float], Sequence[float], Sequence[float], int]] = field(default_factory=list)

    def add(
        self, name: str, parent: str = "", at: Sequence[float] = (0, 0, 0), turn: Sequence[float] = (0, 0, 0),
        scale: Sequence[float] = (1, 1, 1),
    ) -> None:  # fmt: skip
        """Add a node: place in its parent's space, Euler angles in radians, scale."""
        self.names[name] = len(self.rows)
        self.rows.append((at, turn, scale, self.names[parent] if parent else -1))

    def table(self) -> Array:
        """Return the (n,) `NODE` records."""
        table = NODE.zeros(len(self.rows))
        for row, values in zip(table, self.rows, strict=True):
            row["translation"], row["rotation"], row["scale"], row["parent"] = values
        return table


def _skeleton() -> Skeleton:
    nodes = Skeleton()
    nodes.add("Reliquary", scale=(1.25, 1.25, 1.25))
    nodes.add("Stand", "Reliquary", scale=(0.8, 0.8, 0.8))
    nodes.add("Skull", "Stand", (0, 1.505, -0.01), (-0.06, 0.22, 0.03), (1.6, 1.6, 1.55))
    for i in range(FEMURS):
        angle = 2 * np.pi * i / FEMURS
        at = (0.17 * np.cos(angle), 0.29, 0.17 * np.sin(angle))
        nodes.add(f"Femur{i}", "Stand", at, (0.3 * np.sin(3 * i), -angle, 1.12), (0.95 + 0.05 * (i % 3), 0.9, 0.9))
    nodes.add("Arm", "Stand", (0, 1.18, 0))
    nodes.add("Chain0", "Arm", (-0.42, -0.02, 0), (0, 0, -np.pi / 2))
    for i in range(1, CHAIN):
        nodes.add(f"Chain{i}", f"Chain{i - 1}", (0.09, 0, 0))
    nodes.add("Lantern", f"Chain{CHAIN - 1}", (0.09, 0, 0), (0, 0, np.pi / 2), (0.8, 0.8, 0.8))
    nodes.add("Banner0", "Arm", (0.3, -0.02, -0.03), (0, 0, -np.pi / 2))
    for i in range(1, CHAIN):
        nodes.add(f"Banner{i}", f"Banner{i - 1}", (0.17, 0, 0))
    nodes.add("Dmy_Relic", "Stand", (0, 1.2, 0), (0, 0.4, 0), (0.5, 0.5, 0.5))
    for name in ("reliquary_skull", "reliquary_iron", "reliquary_bones", "reliquary_chain", "reliquary_banner"):
        nodes.add(name)
    nodes.add("old_hook", at=(0, 2, 0))  # names nothing, carries nothing
    return nodes


def _add_materials(flver: Flver) -> None:
    tint = GxItem(b"GXMD", 123, struct.pack("<3i", 1, 237, 1))
    gloss = GxItem(b"GX00", 102, struct.pack("<4f", 0.25, 0.5, 1.0, 2.0))
    flver.gx_lists.append(GxList([tint, gloss]))
    references = {IRON: GxReference(0), BONE: GxReference(0, 1), CLOTH: GxReference(0), ROPE: None}
    for index, name in ((IRON, "iron"), (BONE, "bone"), (CLOTH, "#02#cloth"), (ROPE, "rope")):
        base = name.removeprefix("#02#")
        kinds = {"Albedo": "a", "Metallic": "m", "Normal": "n"}
        textures = [Texture(f"C[{base}]__{kind}Map", f"{NAME}\\{base}_{end}.tif") for kind, end in kinds.items()]
        for texture in textures:
            texture.record["scale"], texture.record["tiling"] = (1, 1), (1, 1)
        material = Material(name, f"N:\\OSSUARY\\data\\Material\\{base}.matxml", textures, references[index])
        material.record["index"] = index
        flver.materials.append(material)


def _add_static_meshes(flver: Flver, skeleton: Skeleton) -> None:
    stand, arm, lantern = (skeleton.names[name] for name in ("Stand", "Arm", "Lantern"))
    iron = _iron_parts()
    nodes = [stand, stand, arm, arm]
    _add_mesh(flver, iron, IRON, skeleton.names["reliquary_iron"], BY_NORMAL_W, (0.23, 0.22, 0.21), nodes=nodes)
    head = skeleton.names["Skull"]
    _add_mesh(flver, [skull()], BONE, skeleton.names["reliquary_skull"], BY_NORMAL_W, (0.86, 0.8, 0.66), nodes=[head])
    owners = [skeleton.names[f"Femur{i}"] for i in range(FEMURS)]
    bones = [femur(0.52) for _ in owners]
    _add_mesh(flver, bones, BONE, skeleton.names["reliquary_bones"], BY_NORMAL_W, (0.8, 0.74, 0.6), nodes=owners)
    _add_mesh(flver, [_lantern()], IRON, lantern, BY_MESH_NODE, (0.9, 0.62, 0.25))


def _iron_parts() -> list[Surface]:
    """Return the base and the post in the stand's space, the cross bar and its ring in the arm's."""
    base = lathe([(0, 0.075), (0.06, 0.075), (0.15, 0.06), (0.26, 0.035), (0.27, 0.0), (0, 0.0)], 40)
    post = lathe([
        (0.0, 1.335), (0.125, 1.335), (0.13, 1.31), (0.06, 1.29), (0.03, 1.24), (0.045, 1.2), (0.022, 1.16),
        (0.02, 0.7), (0.038, 0.66), (0.02, 0.62), (0.028, 0.2), (0.06, 0.07), (0.0, 0.06),
    ], 24)  # fmt: skip
    along = np.linspace(-1, 1, 33)
    path = np.stack((0.6 * along, 0.03 * np.cos(np.pi * along), np.zeros(33)), axis=1)
    knob = 0.014 + 0.016 * np.exp(-(((np.abs(along) - 0.93) / 0.04) ** 2))
    bar = tube(path, knob * np.sqrt(np.clip(1 - along**20, 0, 1)))
    turn = np.linspace(0, 2 * np.pi, 33)
    circle = np.stack((0.055 * np.cos(turn), 0.055 * np.sin(turn), np.zeros(33)), axis=1)
    return [base, post, bar, tube(circle, np.full(33, 0.012))]


def _lantern() -> Surface:
    """Return a lamp that hangs from the origin."""
    return lathe([
        (0.0, 0.0), (0.012, -0.01), (0.02, -0.03), (0.075, -0.065), (0.085, -0.075), (0.06, -0.08), (0.07, -0.14),
        (0.06, -0.2), (0.08, -0.205), (0.07, -0.23), (0.02, -0.25), (0.0, -0.28),
    ], 20)  # fmt: skip


def _add_skinned_meshes(flver: Flver, skeleton: Skeleton) -> None:
    matrices = node_matrices(flver.nodes)
    chain = [skeleton.names[f"Chain{i}"] for i in range(CHAIN)]
    origins = matrices[chain, :3, 3]
    end = affine.transform_points(matrices[skeleton.names["Lantern"]], np.zeros((1, 3)))
    stops = np.concatenate((origins, end))
    path = np.concatenate([np.linspace(a, b, 8, endpoint=False) for a, b in pairwise(stops)] + [end])
    links = 0.010 + 0.006 * np.abs(np.sin(np.arange(len(path)) * np.pi / 4))
    node = skeleton.names["reliquary_chain"]
    _add_mesh(flver, [tube(path, links, 8)], ROPE, node, SKINNED, (0.45, 0.36, 0.24), chain=(chain, origins))
    hangers = [skeleton.names[f"Banner{i}"] for i in range(CHAIN)]
    cloth = banner(0.42, 0.66)
    cloth.points += matrices[hangers[0], :3, 3]
    node = skeleton.names["reliquary_banner"]
    held = (hangers, matrices[hangers, :3, 3])
    _add_mesh(flver, [cloth], CLOTH, node, CLOTH_BUFFERS, (0.48, 0.1, 0.09), chain=held)


def _add_mesh(
    flver: Flver, surfaces: list[Surface], material: int, node: int, layouts: tuple[int, ...],
    color: tuple[float, float, float], *, nodes: list[int] | None = None, chain: tuple[list[int], Array] | None = None,
) -> None:  # fmt: skip
    """Add a mesh of surfaces: static and named by ``nodes`` or the mesh's ``node``, or skinned to a ``chain``."""
    counts = [len(surface.positions) for surface in surfaces]
    vertices = Vertices(np.concatenate([surface.positions for surface in surfaces]))
    vertices.normals = np.concatenate([surface.normals for surface in surfaces])
    vertices.tangents = {0: np.concatenate([surface.tangents for surface in surfaces])}
    vertices.uvs = {0: np.concatenate([surface.uvs for surface in surfaces])}
    shade = 0.75 + 0.25 * vertices.normals[:, 1:2]
    vertices.colors = {1: np.concatenate((shade * color, np.ones((sum(counts), 1))), axis=1)}
    vertices.normal_nodes = np.repeat(nodes, counts) if nodes else None
    if chain is not None:
        vertices.bones, vertices.weights = _skin(vertices.positions, *chain)
    if layouts == BY_MESH_NODE:
        vertices.uvs[0] = np.concatenate((vertices.uvs[0], vertices.uvs[0] * 4), axis=1)
    if layouts == CLOTH_BUFFERS:
        vertices.second = {"position": vertices.positions, "normal": vertices.normals}
        vertices.tangents[1] = vertices.tangents[0]
    buffers = [VertexBuffer.new(flver.layouts, layout, sum(counts), slot) for slot, layout in enumerate(layouts)]
    buffers = encode_vertices(vertices, buffers, flver.layouts, uv_factor(flver.version))
    face_sets = _face_sets(surfaces, counts)
    flver.meshes.append(Mesh(face_sets, buffers, int(chain is not None), material, node))


def _face_sets(surfaces: list[Surface], counts: list[int]) -> list[FaceSet]:
    """Return two levels of detail, and both again for motion blur."""
    starts = np.cumsum(counts) - counts
    sets = []
    for blur in (0, FaceSetFlags.MOTION_BLUR):
        for step, level in ((1, 0), (3, FaceSetFlags.LOD_1)):
            parts = [surface.triangles(step) + start for surface, start in zip(surfaces, starts, strict=True)]
            sets.append(FaceSet(np.concatenate(parts).astype("<u2").ravel(), int(blur | level), cull_back=1))
    return sets


def _skin(positions: Array, chain: list[int], origins: Array) -> tuple[Array, Array]:
    """Share vertices out to a chain of nodes that hangs straight down: to the two between whose origins they are."""
    heights = origins[:, 1]
    place = np.interp(-positions[:, 1], -heights, np.arange(len(chain)))
    upper = np.minimum(place.astype(int), len(chain) - 2)
    share = place - upper
    bones = np.zeros((len(positions), 4), np.int32)
    bones[:, 0], bones[:, 1] = np.array(chain)[upper], np.array(chain)[upper + 1]
    weights = np.zeros((len(positions), 4), np.float32)
    weights[:, 1] = np.rint(share * 255) / 255
    weights[:, 0] = 1 - weights[:, 1]
    return bones, weights


def _add_dummies(flver: Flver, skeleton: Skeleton) -> None:
    rows = (  # reference ID, parent, attach, position, forward, upward
        (100, "Dmy_Relic", "Skull", (0, 0.5, -0.2), (0, 0, -1), (0, 1, 0)),
        (101, "Dmy_Relic", "Skull", (0, 0.9, 0), (0, 0.2, -1), (0, 1, 0)),
        (120, "Lantern", "Lantern", (0, -0.14, 0), (0, -1, 0), (0, -1, 0.001)),
        (120, "Arm", "", (0.55, 0, 0), (1, 0, 0), (0, 1, 0)),
        (200, f"Banner{CHAIN - 1}", f"Banner{CHAIN - 1}", (0.15, 0, 0), (0, 0, -1), (0, 1, 0)),
    )
    flver.dummies = DUMMY.zeros(len(rows))
    for row, (reference, parent, attach, position, forward, upward) in zip(flver.dummies, rows, strict=True):
        row["reference_id"], row["parent"] = reference, skeleton.names[parent]
        row["attach"] = skeleton.names.get(attach, -1)
        row["unk2E"], row["use_upward"], row["color"] = bool(attach), 1, 255
        row["position"], row["forward"], row["upward"] = position, forward, upward
