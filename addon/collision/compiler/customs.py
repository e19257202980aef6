"""Custom primitives of a mesh that is compiled: references to extern shapes, and point sets; see `codec...custom`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...codec.binary import Array
from ...codec.errors import FormatError
from ...codec.havok.collision.custom import EXTERN, UNKNOWN, leaf_boxes
from ...codec.havok.collision.decode import CUSTOM
from ...codec.havok.collision.mesh import CompressedMesh
from ...codec.havok.collision.packing import PACKED_BITS, PACKED_TOPS, join
from ...codec.havok.collision.shapes import MeshShape
from ...codec.havok.collision.simd import LEAF
from .layout import Layout
from .leaves import CustomPart, Leaves
from .slots import PAGE, SharedVertices, Slots

EXTERN_TAG, POINTS_TAG = 0x92, 0x52
EXTERN_MARK, POINTS_MARK = 4, 3  # third slots; what they mean is not known
POINTS_WORD = {
    "20160200": 0x3D4D,
    "20180100": 0x3C24,
}  # third word of most records of each game; its meaning is not known
MAX_POINTS = 255


def custom_parts(shape: MeshShape) -> list[CustomPart]:
    """Return the custom primitives of a mesh, to be compiled again; those of unknown kinds are left out.

    Their boxes are those of the simd tree, or without one those of their leaves less the convex radius.
    """
    custom = shape.custom
    known = np.flatnonzero(custom.kind != UNKNOWN)
    if not len(known):
        return []
    radius = np.float32(shape.mesh.radius) * np.array([[1], [-1]], np.float32)
    boxes = leaf_boxes(shape.mesh, custom.section, custom.primitive) + radius
    simd = shape.mesh.simd
    if simd is not None:
        node, lane = np.nonzero((simd.kind == LEAF) & np.isin(simd.value, custom.keys))
        boxes[np.searchsorted(custom.keys, simd.value[node, lane])] = simd.boxes[node, lane]
    return [
        CustomPart(
            boxes[place], int(custom.extern[place]), custom.points[place],
            int(custom.words[place, 1 if custom.kind[place] == EXTERN else 2]),
        )
        for place in known.tolist()
    ]  # fmt: skip


@dataclass(eq=False)
class CustomWords:
    """The records of custom primitives, in the order of the walk.

    Attributes:
        parts: what each is.
        section: (n,) i8.
        records: the words of each.
        offset: (n,) i8, where each record begins behind its section's vertices.
        points: (s,) i8, shared vertices that each section needs for points.
        first_point: (n,) i8, shared vertex at which the points of each begin.
    """

    parts: list[CustomPart]
    section: Array
    records: list[list[int]]
    offset: Array
    points: Array
    first_point: Array

    def behind(self, index: Array, counts: Array) -> tuple[Array, Array]:
        """Return the shared-vertex index with the records behind the vertices of their sections, and counts, (s,)."""
        flat = np.array([word for record in self.records for word in record], np.uint16)
        lengths = np.array([len(record) for record in self.records], np.int64)
        owner = np.concatenate([np.repeat(np.arange(len(counts)), counts), np.repeat(self.section, lengths)])
        joined = np.concatenate([index, flat])[np.argsort(owner, kind="stable")]
        return joined, np.bincount(owner.astype(np.int64), minlength=len(counts))


def custom_words(customs: list[CustomPart], leaves: Leaves, layout: Layout) -> CustomWords:
    """Lay out the records of the custom parts.

    Raises:
        FormatError: a set of more points than a byte counts.
    """
    place = np.flatnonzero(leaves.kind[layout.walk] == CUSTOM)
    parts = [customs[number] for number in (layout.walk[place] - (len(leaves) - len(customs))).tolist()]
    section = layout.section[place]
    lengths = np.array([part.words for part in parts], np.int64)
    needed = np.array([0 if part.extern >= 0 else (len(part.points) + 1) // 2 for part in parts], np.int64)
    bad = next((part for part in parts if part.extern < 0 and not 0 < len(part.points) <= MAX_POINTS), None)
    if bad is not None:
        raise FormatError(f"a set of {len(bad.points)} points, 1 to {MAX_POINTS} are possible")
    return CustomWords(
        parts, section, [], _offsets(section, lengths),
        np.bincount(section, needed, minlength=len(layout.counts)).astype(np.int64), _offsets(section, needed),
    )  # fmt: skip


def _offsets(section: Array, lengths: Array) -> Array:
    """Return where each of several things begins among those of its section, (n,) i8."""
    before = np.cumsum(lengths) - lengths
    _, first, owner = np.unique(section, return_index=True, return_inverse=True)
    return before - before[first][owner.reshape(-1)]


def place_points(words: CustomWords, shared: SharedVertices, sdk: str) -> None:
    """Write the records, now that it is known where points go."""
    words.first_point = words.first_point + shared.extra[words.section]
    for part, first in zip(words.parts, words.first_point.tolist(), strict=True):
        if part.extern >= 0:
            words.records.append([EXTERN_TAG, part.word, part.extern & 0xFFFF, part.extern >> 16])
        else:
            words.records.append([len(part.points) << 8 | POINTS_TAG, first % PAGE, part.word or POINTS_WORD[sdk]])


def custom_slots(words: CustomWords, slots: Slots, layout: Layout, place: Array, sdk: str) -> Array:
    """Return the four slots of each custom primitive, (n, 4) i8; ``place`` says where in the walk they are."""
    record = (slots.num_packed + slots.num_shared)[words.section] + words.offset
    node = layout.node[place]
    extern = np.array([part.extern >= 0 for part in words.parts], bool)
    mark = np.where(extern, EXTERN_MARK, node if sdk == "20160200" else POINTS_MARK)
    second = np.where(extern, record, node)
    return np.stack([record, second, mark, second], axis=1)


def store_points(mesh: CompressedMesh, words: CustomWords, index: Array) -> None:
    """Write the points of point sets, which are coded over the boxes of their leaves; ``index``: their primitives."""
    sets = [number for number, part in enumerate(words.parts) if part.extern < 0]
    if not sets:
        return
    boxes = leaf_boxes(mesh, words.section[sets], index[sets])
    for number, box in zip(sets, boxes, strict=True):
        points = words.parts[number].points
        scale = (box[1] - box[0]) / PACKED_TOPS.astype(np.float32)
        steps = np.rint((points - box[0]) / np.where(scale > 0, scale, np.float32(1)))
        codes = join(np.clip(steps, 0, PACKED_TOPS).astype(np.uint64), PACKED_BITS)
        pairs = np.append(codes, np.zeros(len(codes) % 2, np.uint64)).reshape(-1, 2)
        first = int(words.first_point[number])
        mesh.shared[first : first + len(pairs)] = pairs[:, 0] << np.uint64(32) | pairs[:, 1]
