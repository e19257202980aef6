"""The parts of a model: materials, meshes, skeletons, and how the file is laid out."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ..binary import Array
from .faces import FaceSet
from .gx import GxReference
from .layout import VertexBuffer
from .records import MATERIAL, SKELETON_ENTRY, TEXTURE

ORIENTED_BOUNDS_FROM = 0x2001A  # the version from which mesh bounds are oriented boxes and skeletons are stored


@dataclass(slots=True)
class Texture:
    """A texture slot of a material.

    Attributes:
        type: the sampler's name.
        path: often empty in Elden Ring, where the material's own file holds the path.
        record: 0-d array of `TEXTURE`: scale, tiling and unknown fields; offsets are set anew on writing.
    """

    type: str
    path: str = ""
    record: Array = field(default_factory=lambda: TEXTURE.zeros(1).reshape(()))


@dataclass
class Material:
    """A material: names of its shader file and textures, and its overrides.

    Attributes:
        name: may begin with ``#NN#``, the display-mask group.
        path: the .mtd or .matxml.
        textures: its slots in order.
        gx: its overrides, None without.
        record: 0-d array of `MATERIAL`: index and unknown fields; counts and offsets are set anew on writing, and so
            is `string_size` where it is 0 (some tools store a wrong one, which is kept).
    """

    name: str
    path: str
    textures: list[Texture] = field(default_factory=list)
    gx: GxReference | None = None
    record: Array = field(default_factory=lambda: MATERIAL.zeros(1).reshape(()))


@dataclass
class Mesh:
    """A mesh: vertices in one or more buffers, and face sets over them.

    Attributes:
        face_sets: levels of detail, then the same for motion blur.
        buffers: one; three for cloth.
        dynamic: 1 = skinned, vertices in bind space; 0 = each vertex in the space of one node.
        material: index of its material.
        node: the mesh's own node, -1 none.
        palette: (k,) int32: a vertex names bones by index into this; empty = vertices name nodes directly.
        bounds: 0-d array of `ORIENTED_BOUNDS` (of `BOX_BOUNDS` before version 0x2001A), None where not stored.
        uncounted_palette: (k,) int32: an old palette that some files still hold though they count none.
        unk01: stored bytes, 0.
        unk08: stored bytes, 0.
    """

    face_sets: list[FaceSet] = field(default_factory=list)
    buffers: list[VertexBuffer] = field(default_factory=list)
    dynamic: int = 1
    material: int = 0
    node: int = 0
    palette: Array = field(default_factory=lambda: np.zeros(0, np.int32))
    bounds: Array | None = None
    uncounted_palette: Array = field(default_factory=lambda: np.zeros(0, np.int32))
    unk01: bytes = bytes(3)
    unk08: bytes = bytes(8)

    @property
    def vertex_count(self) -> int:
        """Vertices of the first buffer; all buffers of a mesh have the same number."""
        return len(self.buffers[0].data) if self.buffers else 0


@dataclass
class SkeletonSet:
    """How nodes stand in the game's skeletons (from version 0x2001A on).

    Attributes:
        base: (k,) `SKELETON_ENTRY`; in the games' files entry i stands for node i.
        all: (k,) `SKELETON_ENTRY`: the nodes arranged by skeleton root.
        unk0C: stored bytes, 0.
    """

    base: Array = field(default_factory=lambda: SKELETON_ENTRY.zeros(0))
    all: Array = field(default_factory=lambda: SKELETON_ENTRY.zeros(0))
    unk0C: bytes = bytes(20)  # noqa: N815 - named by its offset


@dataclass(frozen=True)
class Packing:
    """How a file lays its indices and vertices out; the games' own way is the default.

    Attributes:
        indices_first: all index lists stand before all vertices, not mesh by mesh.
        index_alignment: of each index list.
        mesh_alignment: of the first index list of a mesh.
        buffer_alignment: of each vertex buffer.
        data_alignment: of where the data begins and of its size.
    """

    indices_first: bool = False
    index_alignment: int = 16
    mesh_alignment: int = 16
    buffer_alignment: int = 16
    data_alignment: int = 16
