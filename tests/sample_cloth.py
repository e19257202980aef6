"""The cloth of the sample: its banner, hung from the arm by its upper edge, free to swing against the post.

A tagfile from nothing, with the parts that cloths of the games have: a skeleton, a simulated cloth with pinned
particles, links, a local range and a collidable, a reference buffer that bones skin, a display buffer that is the
banner's mesh, and the five states.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from addon.codec import Tagfile
from addon.codec.flver import Flver
from addon.codec.havok.classes import new_tagfile
from addon.codec.havok.cloth.values import pack
from addon.codec.havok.making import make
from addon.codec.havok.objects import View
from addon.maths import affine
from addon.model import node_matrices
from tests.shapes import Array

SDK = "20180100"
SKELETON = ("Reliquary", "Stand", "Arm", "Banner0", "Banner1", "Banner2", "Banner3")
BANNER = SKELETON[3:]
ROWS, COLUMNS = 29, 25
REFERENCE, PARTICLES, DISPLAY, PREVIOUS = range(4)
SKIN, MOVE, SIMULATE, SHOW, SKIN_DISPLAY, TO_PREVIOUS, TO_CURRENT = range(7)
STATES = {
    "#01#Default": (SKIN, MOVE, SIMULATE, SHOW),
    "#00#Empty": (),
    "_Skin": (SKIN_DISPLAY,),
    "_preAtoS_#01#Default": (SKIN_DISPLAY, SKIN, TO_PREVIOUS),
    "_curAtoS_#01#Default": (SKIN_DISPLAY, SKIN, TO_CURRENT),
}
MASS, RADIUS, FRICTION, STIFFNESS = 2.0, 0.004, 0.2, 0.9
LANES = 16
CLASSES = (
    "hkaAnimationContainer", "hkaSkeleton", "hclClothContainer", "hclClothData", "hclSimClothData", "hclSimClothPose",
    "hclCollidable", "hclCapsuleShape", "hclBufferDefinition", "hclScratchBufferDefinition",
    "hclTransformSetDefinition", "hclClothState", "hclStandardLinkConstraintSet", "hclStretchLinkConstraintSet",
    "hclLocalRangeConstraintSet", "hclObjectSpaceSkinPNOperator", "hclMoveParticlesOperator", "hclSimulateOperator",
    "hclCopyVerticesOperator",
)  # fmt: skip


def make_sample_cloth(flver: Flver, mesh: int) -> Tagfile:
    """Make the cloth of a mesh that is a grid of `ROWS` by `COLUMNS` vertices, skinned to `BANNER`."""
    tag = new_tagfile(SDK, CLASSES)
    data = make(tag, "hclClothData")
    data["name"] = flver.node_names[flver.meshes[mesh].node]
    data["targetPlatform"] = 2
    vertices = flver.vertices(mesh)
    grid = Grid(vertices.positions, flver.triangles(mesh, 0))
    data["simClothDatas"] = [_sim(tag, grid)]
    data["bufferDefinitions"] = _buffers(tag, data["name"], grid)
    data["transformSetDefinitions"] = [_filled(tag, "hclTransformSetDefinition", name="Reliquary", type=1,
                                               numTransforms=len(SKELETON))]  # fmt: skip
    data["operators"] = _operators(tag, flver, mesh, grid)
    data["clothStateDatas"] = [_state(tag, name, operators) for name, operators in STATES.items()]
    container = make(tag, "hclClothContainer")
    container["clothDatas"] = [data]
    animation = make(tag, "hkaAnimationContainer")
    animation["skeletons"] = [_skeleton(tag, flver)]
    variants = _rows(tag.root, "namedVariants", 2)
    variants["variant"] = animation.item, container.item
    tag.root["namedVariants"] = variants
    names = ("Merged Animation Container", "hkaAnimationContainer"), ("Cloth Container", "hclClothContainer")
    for variant, (name, kind) in zip(tag.root.many("namedVariants"), names, strict=True):
        variant["name"], variant["className"] = name, kind
    return tag


class Grid:
    """The particles of the banner: the vertices of its mesh.

    Attributes:
        points: (n, 3) f4; ``triangles`` (t, 3).
        pinned: (n,) bool the upper edge; ``inverse_mass`` (n,) f4.
    """

    def __init__(self, points: Array, triangles: Array) -> None:
        self.points = points.astype(np.float32)
        self.triangles = triangles
        self.pinned = np.arange(len(points)) < COLUMNS
        share = np.float32(MASS / np.count_nonzero(~self.pinned))
        self.mass = np.where(self.pinned, np.float32(0), share)
        self.inverse_mass = np.where(self.pinned, np.float32(0), np.float32(1) / share)

    def links(self) -> Array:
        """Return pairs of neighbours along rows, columns and both diagonals, one of them free, in shuffled order."""
        at = np.arange(ROWS * COLUMNS).reshape(ROWS, COLUMNS)
        pairs = [(at[:, 1:], at[:, :-1]), (at[1:], at[:-1]), (at[1:, 1:], at[:-1, :-1]), (at[1:, :-1], at[:-1, 1:])]
        joined = np.concatenate([np.stack((a.ravel(), b.ravel()), axis=1) for a, b in pairs])
        joined = joined[~self.pinned[joined].all(axis=1)]
        return np.random.default_rng(7).permutation(joined)

    def hangers(self) -> Array:
        """Return for each free particle the pinned one of its column, before it."""
        free = np.flatnonzero(~self.pinned)
        return np.stack((free % COLUMNS, free), axis=1)

    def distances(self, pairs: Array) -> Array:
        """Return the rest lengths of pairs."""
        return np.linalg.norm(self.points[pairs[:, 0]] - self.points[pairs[:, 1]], axis=1)


def _filled(tag: Tagfile, kind: str, **values: Any) -> View:
    view = make(tag, kind)
    for name, value in values.items():
        view[name] = value
    return view


def _rows(owner: View, name: str, count: int) -> Array:
    """Return zeroed elements for an array member."""
    return np.zeros(count, owner.tag.layouts[owner.layout.members[name].layout.target].dtype)


def _put(owner: View, name: str, count: int, **columns: Any) -> None:
    """Set an array member, column by column."""
    rows = _rows(owner, name, count)
    for column, values in columns.items():
        rows[column] = values
    owner[name] = rows


def _with_w(points: Array, w: float) -> Array:
    return np.concatenate((points, np.full((len(points), 1), w)), axis=1).astype(np.float32)


def _skeleton(tag: Tagfile, flver: Flver) -> View:
    """Make the bones from the nodes of their names, places and scales as the nodes have them."""
    index = [flver.node_names.index(name) for name in SKELETON]
    nodes = flver.nodes[index]
    skeleton = _filled(tag, "hkaSkeleton", name="Reliquary")
    skeleton["parentIndices"] = np.array([index.index(p) if p in index else -1 for p in nodes["parent"]], np.int16)
    skeleton["bones"] = _rows(skeleton, "bones", len(index))
    for bone, name in zip(skeleton.many("bones"), SKELETON, strict=True):
        bone["name"] = name
    turns = np.array([_quaternion(matrix) for matrix in affine.euler_xzy(nodes["rotation"])])
    _put(
        skeleton, "referencePose", len(index), translation=_with_w(nodes["translation"], 1), rotation=turns,
        scale=_with_w(nodes["scale"], 1),
    )  # fmt: skip
    return skeleton


def _quaternion(m: Array) -> Array:
    """Return the quaternion x, y, z, w of a rotation of less than a half turn."""
    w = np.sqrt(1 + np.trace(m[:3, :3])) / 2
    return np.array([m[2, 1] - m[1, 2], m[0, 2] - m[2, 0], m[1, 0] - m[0, 1], 4 * w * w]) / (4 * w)


def _sim(tag: Tagfile, grid: Grid) -> View:
    sim = _filled(tag, "hclSimClothData", name="MeshSim")
    sim.one("simulationInfo")["gravity"] = (0, -9.81, 0, 0)
    sim.one("simulationInfo")["globalDampingPerSecond"] = 0.95
    count = len(grid.points)
    _put(
        sim, "particleDatas", count, mass=grid.mass, invMass=grid.inverse_mass, radius=RADIUS, friction=FRICTION
    )  # fmt: skip
    sim["fixedParticles"] = np.flatnonzero(grid.pinned).astype(np.uint16)
    sim["doNormals"] = True
    sim["simOpIds"] = np.array([SIMULATE], np.uint32)
    pose = _filled(tag, "hclSimClothPose", name="DefaultClothPose", positions=_with_w(grid.points, 1))
    sim["simClothPoses"] = [pose]
    sim["staticConstraintSets"] = _constraints(tag, grid)
    sim["perInstanceCollidables"] = [_post(tag)]
    carried = sim.one("collidableTransformMap")
    carried["transformSetIndex"] = 0
    carried["transformIndices"] = np.array([SKELETON.index("Stand")], np.uint32)
    carried["offsets"] = np.eye(4, dtype=np.float32).reshape(1, 16)
    sim["staticCollisionMasks"] = (~grid.pinned).astype(np.uint32)
    sim["maxParticleRadius"] = RADIUS
    sim["totalMass"] = np.add.accumulate(grid.mass, dtype=np.float32)[-1]
    sim["triangleIndices"] = grid.triangles.astype(np.uint16).ravel()
    sim["triangleFlips"] = np.full(-(-len(grid.triangles) // 8), 255, np.uint8)
    return sim


def _constraints(tag: Tagfile, grid: Grid) -> list[View]:
    free = np.flatnonzero(~grid.pinned)
    far = np.finfo(np.float32).max
    reach = _filled(tag, "hclLocalRangeConstraintSet", name="Local Range", stiffness=1.0)
    reach["referenceMeshBufferIdx"] = REFERENCE
    _put(
        reach, "localConstraints", len(free), particleIndex=free, referenceVertex=free,
        maximumDistance=0.02 + 0.4 * (free // COLUMNS) / ROWS, maxNormalDistance=far, minNormalDistance=-far,
    )  # fmt: skip
    pairs, hangers = grid.links(), grid.hangers()
    standard = _filled(tag, "hclStandardLinkConstraintSet", name="StandardLink Constraint", constraintId=1)
    _put(
        standard, "links", len(pairs), particleA=pairs[:, 0], particleB=pairs[:, 1], restLength=grid.distances(pairs),
        stiffness=STIFFNESS / grid.inverse_mass[pairs].sum(axis=1),
    )  # fmt: skip
    stretch = _filled(tag, "hclStretchLinkConstraintSet", name="StretchLink Constraint", constraintId=2)
    _put(
        stretch, "links", len(hangers), particleA=hangers[:, 0], particleB=hangers[:, 1],
        restLength=1.05 * grid.distances(hangers), stiffness=1.0,
    )  # fmt: skip
    return [reach, standard, stretch]


def _post(tag: Tagfile) -> View:
    """Make the capsule round the post, in the stand's space."""
    shape = _filled(
        tag, "hclCapsuleShape", start=(0, 0.1, 0, 0), end=(0, 1.25, 0, 0), dir=(0, 1, 0, 0), radius=0.05,
        capLenSqrdInv=1 / np.float32(1.15) ** 2,
    )  # fmt: skip
    return _filled(
        tag, "hclCollidable", name="post", shape=shape, transform=np.eye(4, dtype=np.float32).ravel(), enabled=True,
        pinchDetectionRadius=0.01,
    )  # fmt: skip


def _buffers(tag: Tagfile, name: str, grid: Grid) -> list[View]:
    count, triangles = len(grid.points), len(grid.triangles)
    kinds = (
        ("hclScratchBufferDefinition", f"{name}_sim", 6, 0), ("hclBufferDefinition", "MeshSim SimBuffer", 1, triangles),
        ("hclBufferDefinition", name, 4, triangles), ("hclBufferDefinition", "Previous Positions", 2, triangles),
    )  # fmt: skip
    made = [
        _filled(tag, kind, name=title, type=number, numVertices=count, numTriangles=faces)
        for kind, title, number, faces in kinds
    ]
    made[REFERENCE]["storeNormals"] = True
    return made


def _operators(tag: Tagfile, flver: Flver, mesh: int, grid: Grid) -> list[View]:
    count, pinned = len(grid.points), np.flatnonzero(grid.pinned)
    move = _filled(tag, "hclMoveParticlesOperator", name="MoveFixedParticles", simClothIndex=0, refBufferIdx=REFERENCE)
    _put(move, "vertexParticlePairs", len(pinned), vertexIndex=pinned, particleIndex=pinned)
    simulate = _filled(tag, "hclSimulateOperator", name="Simulate", simClothIndex=0)
    _put(
        simulate, "simulateOpConfigs", 1, subSteps=1, numberOfSolveIterations=1, useAllInstanceCollidables=True
    )  # fmt: skip
    config = simulate.many("simulateOpConfigs").at(0)
    config["name"], config["constraintExecution"] = "Default Config", np.array([0, 1, 2, -1], np.int32)

    def copy(source: int, target: int, *, normals: bool) -> View:
        return _filled(
            tag, "hclCopyVerticesOperator", name="Copy", inputBufferIdx=source, outputBufferIdx=target,
            numberOfVertices=count, copyNormals=normals,
        )  # fmt: skip

    made = [
        _skin(tag, flver, mesh, REFERENCE), move, simulate, copy(PARTICLES, DISPLAY, normals=True),
        _skin(tag, flver, mesh, DISPLAY), copy(REFERENCE, PREVIOUS, normals=False),
        copy(REFERENCE, PARTICLES, normals=False),
    ]  # fmt: skip
    for number, operator in enumerate(made):
        operator["operatorID"] = number
    return made


def _skin(tag: Tagfile, flver: Flver, mesh: int, target: int) -> View:
    """Make a skin of all vertices by the mesh's own weights, two bones each, in blocks of 16."""
    vertices = flver.vertices(mesh)
    assert vertices.bones is not None
    assert vertices.weights is not None
    assert vertices.normals is not None
    count = len(vertices.positions)
    world = node_matrices(flver.nodes)
    bones = [flver.node_names.index(name) for name in BANNER]
    skin = _filled(tag, "hclObjectSpaceSkinPNOperator", name="Skin", outputBufferIndex=target, transformSetIndex=0)
    binds = np.linalg.inv(world[bones]).astype(np.float32)
    skin["boneFromSkinMeshTransforms"] = np.ascontiguousarray(binds.transpose(0, 2, 1)).reshape(-1, 16)
    skin["transformSubset"] = np.array([SKELETON.index(name) for name in BANNER], np.uint16)
    blocks = -(-count // LANES)
    lanes = np.minimum(np.arange(blocks * LANES), count - 1)  # lanes that are not used repeat the last vertex
    deformer = skin.one("objectSpaceDeformer")
    named = np.array([[bones.index(bone) for bone in row] for row in vertices.bones[:, :2].tolist()])
    second = np.rint(vertices.weights[:, 1] * 255).astype(np.uint8)
    _put(
        deformer, "twoBlendEntries", blocks, vertexIndices=lanes.reshape(blocks, LANES),
        boneIndices=named[lanes].reshape(blocks, -1),
        boneWeights=np.stack((255 - second, second), axis=1)[lanes].reshape(blocks, -1),
    )  # fmt: skip
    deformer["controlBytes"] = np.full(blocks, 2, np.uint8)
    deformer["endVertexIndex"] = count - 1
    local = _rows(skin, "localPNs", blocks)
    local["localPosition"]["values"] = pack(vertices.positions[lanes]).reshape(blocks, LANES, 4)
    local["localNormal"]["values"] = pack(vertices.normals[lanes]).reshape(blocks, LANES, 4)
    skin["localPNs"] = local
    return skin


def _state(tag: Tagfile, name: str, operators: tuple[int, ...]) -> View:
    state = _filled(tag, "hclClothState", name=name, operators=np.array(operators, np.uint32))
    used = np.arange(4)
    _put(state, "usedBuffers", len(used), bufferIndex=used, shadowBufferIndex=used)
    state["usedSimCloths"] = np.array([0], np.uint32) if SIMULATE in operators else np.zeros(0, np.uint32)
    return state
