"""Havok cloth: typed records over the tagfile codec, of both SDKs.

Space: the games' model space, left-handed, Y up, metres. Matrices are (..., 4, 4) float32 for column vectors,
``p' = M @ [p, 1]``, as in `maths.affine`; files store them column after column.
"""

from .comparing import differences, same
from .constraints import (
    BendLinks,
    BendStiffness,
    CompressibleLinks,
    Constraint,
    Links,
    LocalRange,
    RangeShape,
    StandardLinks,
    StretchLinks,
    Transition,
    Volume,
)
from .data import (
    Buffer,
    BufferType,
    ClothData,
    ClothFile,
    ClothState,
    CollidableMap,
    SimCloth,
    Skeleton,
    TransformSet,
)
from .deformer import Blend
from .operators import (
    Convert,
    CopyVertices,
    GatherVertices,
    MeshBoneDeform,
    MeshMeshDeform,
    MoveParticles,
    Operator,
    ScaleNormal,
    SimpleMeshBoneDeform,
    Simulate,
    SimulateConfig,
    Skin,
    VertexFrames,
)
from .reading import read_cloth
from .shapes import Capsule, Collidable, ConvexGeometry, Plane, Shape, Sphere, TaperedCapsule
from .storing import store_cloth

__all__ = [
    "BendLinks",
    "BendStiffness",
    "Blend",
    "Buffer",
    "BufferType",
    "Capsule",
    "ClothData",
    "ClothFile",
    "ClothState",
    "Collidable",
    "CollidableMap",
    "CompressibleLinks",
    "Constraint",
    "Convert",
    "ConvexGeometry",
    "CopyVertices",
    "GatherVertices",
    "Links",
    "LocalRange",
    "MeshBoneDeform",
    "MeshMeshDeform",
    "MoveParticles",
    "Operator",
    "Plane",
    "RangeShape",
    "ScaleNormal",
    "Shape",
    "SimCloth",
    "SimpleMeshBoneDeform",
    "Simulate",
    "SimulateConfig",
    "Skeleton",
    "Skin",
    "Sphere",
    "StandardLinks",
    "StretchLinks",
    "TaperedCapsule",
    "TransformSet",
    "Transition",
    "VertexFrames",
    "Volume",
    "differences",
    "read_cloth",
    "same",
    "store_cloth",
]
