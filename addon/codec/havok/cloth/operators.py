"""Operators: what a cloth does each step, in the order its state lists."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from ...binary import Array
from ..objects import View
from .deformer import Blend, read_blends
from .values import bits, flag, matrices, number


class ScaleNormal(IntEnum):
    """How long the normal of a triangle's frame is."""

    UNIT = 0
    AREA = 1
    INVERSE_AREA = 2


@dataclass(frozen=True, eq=False)
class Operator:
    """An operator; ``name`` as stored."""

    name: str


@dataclass(frozen=True, eq=False)
class SimulateConfig:
    """How a simulation is solved.

    Attributes:
        execution: (n,) i4 constraint sets in the order of solving, -1 for collision; empty for all sets in their order
            and collision at the end.
        substeps, iterations: how often a step is divided, and the order repeated.
        adapt: feeds only the flag that keeps velocities (seed "Havok cloth data").
    """

    execution: Array
    substeps: int
    iterations: int
    adapt: bool


@dataclass(frozen=True, eq=False)
class Simulate(Operator):
    """Step the particles of simulated cloth ``sim``; the first of the ``configs`` is used."""

    sim: int
    configs: tuple[SimulateConfig, ...]


@dataclass(frozen=True, eq=False)
class MoveParticles(Operator):
    """Put particles of ``sim`` on vertices of ``buffer``; ``vertices`` and ``particles`` (n,) u2."""

    sim: int
    buffer: int
    vertices: Array
    particles: Array


@dataclass(frozen=True, eq=False)
class Skin(Operator):
    """Carry vertices of buffer ``output`` by bones.

    Attributes:
        output: buffer index.
        transform_set: index.
        bones: (b,) u2 of the transform set; the blends' sources are places in this list.
        binds: (b, 4, 4) f4 mesh space to bone space, by place in ``bones``; None in bone space.
        blends: the vertices, by number of influences.
    """

    output: int
    transform_set: int
    bones: Array
    binds: Array | None
    blends: tuple[Blend, ...]


@dataclass(frozen=True, eq=False)
class MeshMeshDeform(Operator):
    """Carry vertices of buffer ``output`` by triangles of buffer ``input``.

    Attributes:
        input, output: buffer indices.
        triangles: (t,) u2 of the input's mesh; the blends' sources are places in this list. None stands for all.
        scale: length of the frames' normals; values outside `ScaleNormal` occur in no file.
        binds: (t, 4, 4) f4 mesh space to the triangle's frame; None in bone space.
        blends: the vertices.
    """

    input: int
    output: int
    triangles: Array | None
    scale: int
    binds: Array | None
    blends: tuple[Blend, ...]


@dataclass(frozen=True, eq=False)
class SimpleMeshBoneDeform(Operator):
    """Move bones with triangles of buffer ``input``, one each.

    Attributes:
        input: buffer index.
        transform_set: index.
        bones, triangles: (n,) i4.
        local: (n, 4, 4) f4, the bone in its triangle's frame.
    """

    input: int
    transform_set: int
    bones: Array
    triangles: Array
    local: Array


@dataclass(frozen=True, eq=False)
class MeshBoneDeform(Operator):
    """Move bones with several triangles each.

    Attributes:
        input: buffer index.
        transform_set: index.
        starts: (b + 1,) i4; bone b is carried by the rows ``starts[b]`` up to ``starts[b + 1]``.
        triangles: (n,) i4.
        weights: (n,) f4.
        local: (n, 4, 4) f4.
    """

    input: int
    transform_set: int
    starts: Array
    triangles: Array
    weights: Array
    local: Array


@dataclass(frozen=True, eq=False)
class CopyVertices(Operator):
    """Copy ``count`` vertices from ``start_in`` of ``input`` to ``start_out`` of ``output``."""

    input: int
    output: int
    count: int
    start_in: int
    start_out: int
    normals: bool


@dataclass(frozen=True, eq=False)
class GatherVertices(Operator):
    """Copy vertices ``source`` of ``input`` to vertices ``target`` of ``output``, (n,) i4 each.

    Of a map that gathers all, entries that are negative copy nothing and are left out here.
    """

    input: int
    output: int
    source: Array
    target: Array
    normals: bool


@dataclass(frozen=True, eq=False)
class Convert(Operator):
    """Bring a display buffer into its shadow (``to_shadow``) or back."""

    user: int
    shadow: int
    to_shadow: bool


@dataclass(frozen=True, eq=False)
class VertexFrames(Operator):
    """Make normals and tangents of buffer ``buffer`` from its triangles.

    Attributes:
        buffer: index.
        vertices: (n,) u2 whose frames are made, one row each below; None for all vertices of the buffer.
        corners: (t, 3) u2 places in ``involved``; None for the triangles of the drawn mesh, which the file lacks.
            Found on real files: a triangle occurs once for each of its corners that is selected.
        involved: (m,) u2 vertices the corners name; None with ``corners``.
        normal_ids: (n or m,) u2; vertices of one id share a normal. Empty where no normals are made.
        flips: bool for each triangle, those that wind the other way; up to 7 more where the mesh has the triangles.
        references: (n,) u2 buffer vertex whose direction the tangent starts from.
        cos, sin: (n,) f4 of the angle from there.
        bitangent_flip: (n,) f4, empty where no bitangents are made.
        id_count: number of normal ids.
        normals, tangents, bitangents: what is made.
    """

    buffer: int
    vertices: Array | None
    corners: Array | None
    involved: Array | None
    normal_ids: Array
    flips: Array
    references: Array
    cos: Array
    sin: Array
    bitangent_flip: Array
    id_count: int
    normals: bool
    tangents: bool
    bitangents: bool


def read_operator(view: View) -> Operator:
    """Read an operator.

    Raises:
        FormatError: a class the games do not use.
    """
    reader = next((found for base, found in READERS.items() if view.is_a(base)), None)
    if reader is None:
        view.fail(f"operators of class {view.layout.name} are not supported: no game file has one")
    return reader(view, view.text("name") or "")


def local_member(view: View) -> str:
    """Return the name of the member that holds an operator's local data: by its class it is localPs to localPNTBs."""
    name = view.layout.name.removesuffix("Operator")
    channels = next((end for end in ("PNTB", "PNT", "PN", "P") if name.endswith(end)), "")
    return f"local{channels}s"


def _simulate(view: View, name: str) -> Simulate:
    configs = tuple(
        SimulateConfig(
            config.numbers("constraintExecution", "<i4"),
            number(config, "subSteps", "u1"),
            number(config, "numberOfSolveIterations", "u1"),
            flag(config, "adaptConstraintStiffness"),
        )
        for config in view.many("simulateOpConfigs")
    )
    return Simulate(name, number(view, "simClothIndex", "<u4"), configs)


def _move(view: View, name: str) -> MoveParticles:
    pairs = view.many("vertexParticlePairs")
    return MoveParticles(
        name,
        number(view, "simClothIndex", "<u4"),
        number(view, "refBufferIdx", "<u4"),
        pairs.numbers("vertexIndex", "<u2"),
        pairs.numbers("particleIndex", "<u2"),
    )


def _skin(view: View, name: str) -> Skin:
    bone_space = "boneSpaceDeformer" in view
    binds = None if bone_space else matrices(view.numbers("boneFromSkinMeshTransforms", "<f4", (16,)))
    deformer = "boneSpaceDeformer" if bone_space else "objectSpaceDeformer"
    return Skin(
        name,
        number(view, "outputBufferIndex", "<u4"),
        number(view, "transformSetIndex", "<u4"),
        view.numbers("transformSubset", "<u2"),
        binds,
        read_blends(view, deformer, local_member(view)),
    )


def _mesh_mesh(view: View, name: str) -> MeshMeshDeform:
    bone_space = "boneSpaceDeformer" in view
    binds = None if bone_space else matrices(view.numbers("triangleFromMeshTransforms", "<f4", (16,)))
    deformer = "boneSpaceDeformer" if bone_space else "objectSpaceDeformer"
    subset = view.numbers("inputTrianglesSubset", "<u2")
    return MeshMeshDeform(
        name,
        number(view, "inputBufferIdx", "<u4"),
        number(view, "outputBufferIdx", "<u4"),
        subset if len(subset) else None,
        number(view, "scaleNormalBehaviour", "<u4"),
        binds,
        read_blends(view, deformer, local_member(view)),
    )


def _simple_mesh_bone(view: View, name: str) -> SimpleMeshBoneDeform:
    """Read it; stored are the byte offset of the bone's matrix and of the triangle's first index (real files)."""
    pairs = view.many("triangleBonePairs")
    bones, triangles = pairs.numbers("boneOffset", "<u2"), pairs.numbers("triangleOffset", "<u2")
    local = matrices(view.numbers("localBoneTransforms", "<f4", (16,)))
    if (bones % 64).any() or (triangles % 6).any() or len(local) != len(pairs):
        pairs.fail("offsets that are no whole matrices or triangles, or not one matrix a pair")
    bones, triangles = bones.astype(np.int32) // 64, triangles.astype(np.int32) // 6
    indices = number(view, "inputBufferIdx", "<u4"), number(view, "outputTransformSetIdx", "<u4")
    return SimpleMeshBoneDeform(name, *indices, bones, triangles, local)


def _mesh_bone(view: View, name: str) -> MeshBoneDeform:
    pairs = view.many("triangleBonePairs")
    return MeshBoneDeform(
        name,
        number(view, "inputBufferIdx", "<u4"),
        number(view, "outputTransformSetIdx", "<u4"),
        view.numbers("triangleBoneStartForBone", "<u2").astype(np.int32),
        pairs.numbers("triangleIndex", "<u2").astype(np.int32),
        pairs.numbers("weight", "<f4"),
        matrices(pairs.numbers("localBoneTransform", "<f4", (16,))),
    )


def _copy(view: View, name: str) -> CopyVertices:
    members = ("inputBufferIdx", "outputBufferIdx", "numberOfVertices", "startVertexIn", "startVertexOut")
    source, target, count, start_in, start_out = (number(view, member, "<u4") for member in members)
    return CopyVertices(name, source, target, count, start_in, start_out, flag(view, "copyNormals"))


def _gather_all(view: View, name: str) -> GatherVertices:
    source = view.numbers("vertexInputFromVertexOutput", "<i2").astype(np.int32)
    target = np.flatnonzero(source >= 0).astype(np.int32)
    indices = number(view, "inputBufferIdx", "<u4"), number(view, "outputBufferIdx", "<u4")
    return GatherVertices(name, *indices, source[target], target, flag(view, "gatherNormals"))


def _gather_some(view: View, name: str) -> GatherVertices:
    pairs = view.many("vertexPairs")
    source, target = (pairs.numbers(f"index{side}", "<u2").astype(np.int32) for side in ("Input", "Output"))
    indices = number(view, "inputBufferIdx", "<u4"), number(view, "outputBufferIdx", "<u4")
    return GatherVertices(name, *indices, source, target, flag(view, "gatherNormals"))


def _convert(view: View, name: str) -> Convert:
    indices = number(view, "userBufferIndex", "<u4"), number(view, "shadowBufferIndex", "<u4")
    return Convert(name, *indices, view.is_a("hclInputConvertOperator"))


def _frames(view: View, name: str) -> VertexFrames:
    some = view.is_a("hclUpdateSomeVertexFramesOperator")
    corners = view.many("involvedTriangles").numbers("indices", "<u2", (3,)) if some else None
    stored = view.numbers("triangleFlips", "u1")
    return VertexFrames(
        name,
        number(view, "bufferIdx", "<u4"),
        None if not some else _selected(view),
        corners,
        view.numbers("involvedVertices", "<u2") if some else None,
        view.numbers("involvedVertexToNormalID" if some else "vertToNormalID", "<u2"),
        bits(view, "triangleFlips", 8 * len(stored) if corners is None else len(corners)),
        view.numbers("referenceVertices", "<u2"),
        view.numbers("tangentEdgeCosAngle", "<f4"),
        view.numbers("tangentEdgeSinAngle", "<f4"),
        view.numbers("biTangentFlip", "<f4"),
        number(view, "numUniqueNormalIDs", "<u4"),
        flag(view, "updateNormals"),
        flag(view, "updateTangents"),
        flag(view, "updateBiTangents"),
    )


def _selected(view: View) -> Array:
    """Return the buffer vertices whose frames are made: places in the involved vertices."""
    involved, places = view.numbers("involvedVertices", "<u2"), view.numbers("selectionVertexToInvolvedVertex", "<u2")
    if len(places) and int(places.max()) >= len(involved):
        view.fail(f"vertex {int(places.max())} of {len(involved)}", "selectionVertexToInvolvedVertex")
    return involved[places]


READERS: dict[str, Callable[[View, str], Operator]] = {
    "hclSimulateOperator": _simulate,
    "hclMoveParticlesOperator": _move,
    "hclObjectSpaceSkinOperator": _skin,
    "hclBoneSpaceSkinOperator": _skin,
    "hclObjectSpaceMeshMeshDeformOperator": _mesh_mesh,
    "hclBoneSpaceMeshMeshDeformOperator": _mesh_mesh,
    "hclSimpleMeshBoneDeformOperator": _simple_mesh_bone,
    "hclMeshBoneDeformOperator": _mesh_bone,
    "hclCopyVerticesOperator": _copy,
    "hclGatherAllVerticesOperator": _gather_all,
    "hclGatherSomeVerticesOperator": _gather_some,
    "hclInputConvertOperator": _convert,
    "hclOutputConvertOperator": _convert,
    "hclUpdateAllVertexFramesOperator": _frames,
    "hclUpdateSomeVertexFramesOperator": _frames,
}
