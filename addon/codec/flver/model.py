"""A FLVER2 model: nodes, dummies, materials and meshes."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ..binary import Array, Buffer
from ..errors import FormatError
from .faces import is_degenerate
from .formats import uv_factor
from .gx import GxList
from .layout import Layout, Vertices, decode_vertices
from .packing import own_packing
from .parts import ORIENTED_BOUNDS_FROM, Material, Mesh, Packing, SkeletonSet
from .reading import read_fields
from .records import DUMMY, HEADER, NODE
from .writing import write_flver

SPEEDTREE = -32768  # the header's `special` where bounds are those of a placed instance


@dataclass
class Flver:
    """A FLVER2 model in stored space: left-handed, Y up, metres, radians.

    Attributes:
        header: 0-d array of `HEADER`: version, bounds, face counts, unknown fields; counts of records and offsets are
            set anew on writing.
        nodes: (n,) `NODE`.
        node_names: n names.
        dummies: (d,) `DUMMY`.
        materials: the materials.
        gx_lists: the lists that materials refer to.
        meshes: the meshes.
        layouts: the layouts that vertex buffers refer to.
        skeletons: from version 0x2001A on, else None.
        packing: how indices and vertices are laid out.
    """

    header: Array
    nodes: Array = field(default_factory=lambda: NODE.zeros(0))
    node_names: list[str] = field(default_factory=list)
    dummies: Array = field(default_factory=lambda: DUMMY.zeros(0))
    materials: list[Material] = field(default_factory=list)
    gx_lists: list[GxList] = field(default_factory=list)
    meshes: list[Mesh] = field(default_factory=list)
    layouts: list[Layout] = field(default_factory=list)
    skeletons: SkeletonSet | None = None
    packing: Packing = field(default_factory=Packing)

    @classmethod
    def new(cls, version: int = 0x2001A) -> Flver:
        """Make an empty little-endian model with the fields that Sekiro and Elden Ring have.

        Its bounds are inverted: nothing yet is inside them.
        """
        header = HEADER.zeros(1).reshape(())
        header["magic"], header["endian"], header["version"] = b"FLVER", b"L", version
        header["unicode"], header["unk5D"], header["unk68"] = 1, 2, 4
        header["bounds_min"], header["bounds_max"] = np.finfo("f4").max, np.finfo("f4").min
        skeletons = SkeletonSet() if version >= ORIENTED_BOUNDS_FROM else None
        return cls(header, skeletons=skeletons, packing=own_packing(version))

    @classmethod
    def read(cls, data: Buffer, file: str = "") -> Flver:
        """Read a model; vertices and indices are read-only views of ``data``, records are copies.

        Raises:
            FormatError: not a FLVER2 of a known version, a record outside the file, or nodes whose parents form a
                cycle. Links, bones and skeleton entries that are out of range occur in real files and are kept.
        """
        return cls(**read_fields(data, file))

    def write(self) -> bytes:
        """Return the file's bytes, made from the model alone.

        Raises:
            FormatError: something that the format cannot hold.
        """
        return write_flver(self)

    @property
    def version(self) -> int:
        """The stored version, 0x2001A in Sekiro and Elden Ring."""
        return int(self.header["version"])

    @property
    def big_endian(self) -> bool:
        """Whether the file's numbers are big-endian (consoles of before 2013)."""
        return bool(self.header["endian"].item() == b"B")

    @property
    def is_speedtree(self) -> bool:
        """Whether this is a SpeedTree model, whose bounds are those of a placed instance."""
        return self.version >= 0x20014 and int(self.header["special"]) == SPEEDTREE

    def vertices(self, mesh: int) -> Vertices:
        """Decode the vertices of a mesh.

        Raises:
            FormatError: buffers that do not fit together.
        """
        try:
            return decode_vertices(self.meshes[mesh].buffers, self.layouts, uv_factor(self.version))
        except FormatError as error:
            raise error.inside("", f"meshes[{mesh}]") from error

    def triangles(self, mesh: int, face_set: int) -> Array:
        """Return the triangles of a face set, (m, 3) int32; see `FaceSet.triangles`."""
        try:
            return self.meshes[mesh].face_sets[face_set].triangles(self.meshes[mesh].vertex_count)
        except FormatError as error:
            raise error.inside("", f"meshes[{mesh}].face_sets[{face_set}]") from error

    def count_faces(self) -> tuple[int, int]:
        """Return the header's two face counts as the games' own files have them.

        Returns:
            Triangles of the sets that are not for motion blur, without those that repeat a vertex in strips; and
            triangles of all sets.
        """
        true = total = 0
        for i, mesh in enumerate(self.meshes):
            for j, face_set in enumerate(mesh.face_sets):
                triangles = self.triangles(i, j)
                total += len(triangles)
                if not face_set.motion_blur:
                    true += len(triangles) - (int(is_degenerate(triangles).sum()) if face_set.strip else 0)
        return true, total
