"""Custom primitives of compressed meshes: references to extern shapes, and point sets.

Equal second and fourth slots mark one. Its first slot leads into the shared-vertex index, to a record of words (seed
003):

================= ============ =================================================================================
first word & 0xFF words        meaning
================= ============ =================================================================================
0x92              h w lo hi    extern shape ``lo | hi << 16`` of the shape's list
0x52              h slot word  a set of ``h >> 8`` points, stored from ``sharedVertices[slot]`` on
================= ============ =================================================================================

Points are 11/11/10 codes over the box of the primitive's own leaf in its section's tree, two to a shared vertex, the
even one in the high half.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ....maths.runs import ranges, starts
from ...binary import Array
from ...errors import FormatError
from . import keys
from .decode import CUSTOM, PAGE, Primitives
from .mesh import CompressedMesh
from .packing import PACKED_TOPS, packed_positions
from .trees import walk

EXTERN, POINTS, UNKNOWN = 0, 1, 2
TAGS = {0x92: EXTERN, 0x52: POINTS}
RECORD_WORDS = 4


@dataclass(frozen=True, eq=False)
class CustomPrimitives:
    """The custom primitives of a mesh, in the order of their keys.

    Attributes:
        kind: (n,) u1, `EXTERN`, `POINTS` or `UNKNOWN`.
        section, primitive: (n,) i4.
        keys: (n,) u4.
        words: (n, 4) u2, the record; zeros where it is shorter.
        extern: (n,) i8, which of the shape's extern shapes; -1 for others.
        points: for each the positions, (k, 3) f4 in the space of the shape; empty for others.
    """

    kind: Array
    section: Array
    primitive: Array
    keys: Array
    words: Array
    extern: Array
    points: list[Array]

    def __len__(self) -> int:
        return len(self.kind)


def read_custom(mesh: CompressedMesh, primitives: Primitives) -> CustomPrimitives:
    """Return the custom primitives of a mesh.

    Raises:
        FormatError: a record or point outside of its array, or a point set without a leaf.
    """
    chosen = np.flatnonzero(primitives.kind == CUSTOM)
    section, index = primitives.section[chosen], primitives.index[chosen]
    words = _records(mesh, section, index, primitives.slots[chosen, 0])
    tag = words[:, 0] & 0xFF
    kind = np.full(len(chosen), UNKNOWN, np.uint8)
    for value, name in TAGS.items():
        kind[tag == value] = name
    extern = words[:, 2].astype(np.int64) | words[:, 3].astype(np.int64) << 16
    points = [np.zeros((0, 3), np.float32) for _ in range(len(chosen))]
    sets = np.flatnonzero(kind == POINTS)
    if len(sets):
        for place, each in zip(sets.tolist(), _points(mesh, section[sets], index[sets], words[sets]), strict=True):
            points[place] = each
    key = keys.make(section, index, 0 * index)
    return CustomPrimitives(kind, section, index, key, words, np.where(kind == EXTERN, extern, -1), points)


def _records(mesh: CompressedMesh, section: Array, index: Array, slot: Array) -> Array:
    """Return the words of the records, (n, 4) u2; those past the end of the index are zeros."""
    table = mesh.sections
    entry = slot.astype(np.int64) - table["num_packed"][section]
    bad = np.flatnonzero((entry < 0) | (entry >= table["num_shared"][section]))
    if len(bad):
        trail = f"sections[{section[bad[0]]}].primitives[{index[bad[0]]}]"
        mesh.fail(f"the record of a custom primitive at {entry[bad[0]]} of the section's shared vertices", trail)
    padded = np.concatenate([mesh.shared_index, np.zeros(RECORD_WORDS, np.uint16)])
    return padded[(entry + table["first_shared"][section])[:, None] + np.arange(RECORD_WORDS)]


def _points(mesh: CompressedMesh, section: Array, index: Array, words: Array) -> list[Array]:
    boxes = leaf_boxes(mesh, section, index)
    scale = (boxes[:, 1] - boxes[:, 0]) / PACKED_TOPS.astype(np.float32)
    counts = (words[:, 0] >> 8).astype(np.int64)
    first = mesh.sections["page"][section].astype(np.int64) * PAGE + words[:, 1]
    bad = np.flatnonzero(first + (counts + 1) // 2 > len(mesh.shared))
    if len(bad):
        what = f"{counts[bad[0]]} points from shared vertex {first[bad[0]]} of {len(mesh.shared)} on"
        mesh.fail(what, f"sections[{section[bad[0]]}].primitives[{index[bad[0]]}]")
    place = ranges(2 * first, counts)
    shift = np.where(place & 1, 0, 32).astype(np.uint64)
    codes = (mesh.shared[place >> 1] >> shift).astype(np.uint32)
    owner = np.repeat(np.arange(len(counts)), counts)
    return np.split(packed_positions(codes, boxes[owner, 0], scale[owner]), starts(counts)[1:])


def leaf_boxes(mesh: CompressedMesh, section: Array, index: Array) -> Array:
    """Return the boxes of primitives' leaves in their section trees, (n, 2, 3) f4.

    Raises:
        FormatError: a tree that is none, or no leaf names a primitive.
    """
    which, place = np.unique(section, return_inverse=True)
    begin, end = mesh.section_starts[which], mesh.section_starts[which + 1]
    try:
        walked = walk(mesh.section_nodes, begin, end, mesh.sections["domain"][which][:, :, :3], "sections.nodes")
    except FormatError as error:
        raise FormatError(error.what, mesh.file, None, f"{mesh.trail}.{error.trail}") from error
    counts = end - begin
    nodes = ranges(begin, counts)
    owner = np.repeat(np.arange(len(which)), counts)
    leaf = ~mesh.section_nodes.inner[nodes] & (mesh.section_nodes.value[nodes] < 256)
    table = np.full((len(which), 256), -1, np.int64)
    table[owner[leaf], mesh.section_nodes.value[nodes][leaf]] = nodes[leaf]
    found = table[place, index]
    bad = np.flatnonzero(found < 0)
    if len(bad):
        mesh.fail("no leaf names the primitive", f"sections[{section[bad[0]]}].primitives[{index[bad[0]]}]")
    return walked.boxes[found]
