"""Face sets: index lists and strips, and the triangles they stand for."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntFlag

import numpy as np

from ..binary import Array
from ..errors import FormatError


class FaceSetFlags(IntFlag):
    """Bits of a face set's flags."""

    LOD_1 = 0x01000000
    LOD_2 = 0x02000000
    LOD_EX = 0x04000000
    EDGE_COMPRESSED = 0x40000000
    MOTION_BLUR = 0x80000000


@dataclass(slots=True)
class FaceSet:
    """One list of triangles over the vertices of a mesh.

    Attributes:
        indices: (k,) uint8, uint16 or uint32 in the file's byte order; the stored bytes where edge compressed.
        flags: see `FaceSetFlags`.
        strip: 1 = triangle strip, 0 = list.
        cull_back: 1 = back faces are not drawn.
        unk06: varies.
        index_size: the stored bits of an index, 0 where the header says it.
        index_count: the stored number of indices, where it is not the length of `indices` (edge compressed).
    """

    indices: Array
    flags: int = 0
    strip: int = 0
    cull_back: int = 1
    unk06: int = 0
    index_size: int = 16
    index_count: int | None = None
    unk14: int = 0
    unk1C: int = 0  # noqa: N815 - named by its offset

    @property
    def lod(self) -> int:
        """Level of detail: 0 near, 1, 2, 3 (LodEx)."""
        for level, flag in ((1, FaceSetFlags.LOD_1), (2, FaceSetFlags.LOD_2), (3, FaceSetFlags.LOD_EX)):
            if self.flags & flag:
                return level
        return 0

    @property
    def motion_blur(self) -> bool:
        """Whether the set is drawn into the motion vectors, not seen."""
        return bool(self.flags & FaceSetFlags.MOTION_BLUR)

    def triangles(self, vertex_count: int) -> Array:
        """Return the triangles, (m, 3) int32, those that repeat a vertex included for lists.

        Args:
            vertex_count: vertices of the mesh; above 0xFFFF, 16-bit strips have no restart value.

        Raises:
            FormatError: an index past the vertices, a list that is not of threes, or an edge-compressed set.
        """
        if self.flags & FaceSetFlags.EDGE_COMPRESSED:
            raise FormatError("edge-compressed faces (PlayStation 3) are not supported", trail="indices")
        if self.strip:
            restart = _restart(self.indices.dtype.itemsize, vertex_count)
            return _strip_triangles(self.indices, restart, vertex_count)
        if len(self.indices) % 3:
            raise FormatError(f"{len(self.indices)} indices do not make triangles", trail="indices")
        _check(self.indices, vertex_count)
        return self.indices.reshape(-1, 3).astype(np.int32)


def is_degenerate(triangles: Array) -> Array:
    """Return (m,) bool: which of (m, 3) triangles repeat a vertex."""
    a, b, c = triangles.T
    return np.asarray((a == b) | (b == c) | (c == a))


def _restart(index_bytes: int, vertex_count: int) -> int:
    """Return the index value that starts a new strip, -1 where there is none."""
    if index_bytes == 4:
        return 0xFFFFFFFF
    return 0xFFFF if index_bytes == 2 and vertex_count <= 0xFFFF else -1


def _check(indices: Array, vertex_count: int) -> None:
    if len(indices) and indices.max() >= vertex_count:
        raise FormatError(f"index {indices.max()} of {vertex_count} vertices", trail="indices")


def _strip_triangles(indices: Array, restart: int, vertex_count: int) -> Array:
    """Return the triangles of a strip: every second one is turned round, anew from each restart."""
    if len(indices) < 3:
        return np.zeros((0, 3), np.int32)
    is_restart = indices == restart if restart >= 0 else np.zeros(len(indices), bool)
    _check(indices[~is_restart], vertex_count)
    places = np.arange(len(indices), dtype=np.int32)
    odd = (places - np.maximum.accumulate(np.where(is_restart, places + 1, 0)))[:-2] & 1
    a, b, c = indices[:-2], indices[1:-1], indices[2:]
    whole = ~(is_restart[:-2] | is_restart[1:-1] | is_restart[2:] | (a == b) | (b == c) | (c == a))
    first = np.flatnonzero(whole)
    turned = odd[first]
    return np.stack((indices[first], indices[first + 1 + turned], indices[first + 2 - turned]), axis=1).astype(np.int32)
