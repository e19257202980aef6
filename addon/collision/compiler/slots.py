"""Which vertices sections store themselves and which they share, and in what order (seed 003, found on real meshes).

A vertex that several sections use is shared. So are all vertices of a section that is too large for its packed codes to
be near enough. Slots are numbered by first use along the section's tree, packed ones first; the shared array by first
use over the sections.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...codec.binary import Array
from ...codec.errors import FormatError
from ...codec.havok.collision.packing import PACKED_TOPS
from ...codec.havok.collision.simd import BIG
from ...maths.runs import ranges, starts
from ...maths.single import HALF

PAGE = 65536
MAX_PAGES = 256


@dataclass(frozen=True, eq=False)
class Slots:
    """The vertices of all sections.

    Attributes:
        of_corners: (n,) i8, the slot of each corner that was given.
        packed: (p,) i8, vertex numbers, section after section; ``num_packed`` (s,) i8 of each section.
        shared: (k,) i8, vertex numbers behind the shared-vertex index; ``num_shared`` (s,) i8 of each section.
        num_packed: see above.
        num_shared: see above.
        codec: (s, 2, 3) f4, offset and scale of the packed vertices.
    """

    of_corners: Array
    packed: Array
    num_packed: Array
    shared: Array
    num_shared: Array
    codec: Array


def number_slots(vertices: Array, corners: Array, section: Array, sections: int, error: np.float32) -> Slots:
    """Number the vertices of each section.

    Args:
        vertices: (v, 3) f4 sources.
        corners: (n,) i8 vertex numbers in the order of the sections, along each one's tree.
        section: (n,) i8, ascending.
        sections: how many there are.
        error: how far a packed vertex may be from its source along an axis.
    """
    key = section * len(vertices) + corners
    _, first, inverse = np.unique(key, return_index=True, return_inverse=True)
    order = np.argsort(first)  # by section, and by first use in it
    owner, vertex = section[first[order]], corners[first[order]]
    own = np.bincount(vertex, minlength=len(vertices))[vertex] == 1
    codec = _codecs(vertices[vertex[own]], owner[own], sections)
    coarse = (codec[:, 1] * HALF > error).any(axis=1)
    codec[coarse] = NO_CODEC
    own &= ~coarse[owner]
    num_packed = np.bincount(owner[own], minlength=sections)
    num_shared = np.bincount(owner[~own], minlength=sections)
    slot = np.empty(len(order), np.int64)
    slot[own] = ranges(np.zeros_like(num_packed), num_packed)
    slot[~own] = ranges(num_packed, num_shared)
    of_entry = np.empty(len(order), np.int64)
    of_entry[order] = slot
    return Slots(of_entry[inverse.reshape(-1)], vertex[own], num_packed, vertex[~own], num_shared, codec)


# what an empty box becomes
NO_CODEC = np.array([[BIG] * 3, [-np.inf] * 3], np.float32)


def _codecs(points: Array, owner: Array, sections: int) -> Array:
    """Return the codec of the box of each section's points, (s, 2, 3) f4."""
    codec = np.broadcast_to(NO_CODEC, (sections, 2, 3)).copy()
    counts = np.bincount(owner, minlength=sections)
    held = np.flatnonzero(counts)
    if len(held):
        begin = starts(counts)[held]
        low, high = np.minimum.reduceat(points, begin), np.maximum.reduceat(points, begin)
        codec[held, 0], codec[held, 1] = low, (high - low) / PACKED_TOPS.astype(np.float32)
    return codec


@dataclass(frozen=True, eq=False)
class SharedVertices:
    """The shared array and the index into it.

    Attributes:
        vertices: (k,) i8 vertex numbers; -1 where a page is not used to its end, and in the extra places.
        index: (n,) u2, the low 16 bits of places in the array.
        pages: (s,) u1, the rest, one for each section.
        extra: (s,) i8, where the extra places of each section begin.
    """

    vertices: Array
    index: Array
    pages: Array
    extra: Array


def share(shared: Array, num_shared: Array, extra: Array) -> SharedVertices:
    """Number shared vertices by first use over the sections.

    All of a section's are on one page of 65,536. A section whose new ones do not fit begins the next page, where
    vertices of pages before are stored again.

    Args:
        shared: (n,) i8 vertex numbers, section after section.
        num_shared: (s,) i8.
        extra: (s,) i8, places that each section needs behind its own for what is no vertex.

    Raises:
        FormatError: more pages than a byte counts.
    """
    place_of = np.full(int(shared.max(initial=-1)) + 1, -1, np.int64)
    vertices: list[Array] = []
    index, pages = np.zeros(len(shared), np.uint16), np.zeros(len(num_shared), np.uint8)
    extra_at = np.zeros(len(num_shared), np.int64)
    count, page = 0, 0
    for section, (end, length, more) in enumerate(
        zip(np.cumsum(num_shared).tolist(), num_shared.tolist(), extra.tolist(), strict=True)
    ):
        used = shared[end - length : end]
        new = used[place_of[used] < page * PAGE]
        if count + len(new) + more > (page + 1) * PAGE:
            page += 1
            vertices.append(np.full(page * PAGE - count, -1))
            count, new = page * PAGE, used
        place_of[new] = np.arange(count, count + len(new))
        extra_at[section] = count + len(new)
        count += len(new) + more
        vertices += [new, np.full(more, -1)]
        index[end - length : end] = place_of[used] - page * PAGE
        if page >= MAX_PAGES:
            raise FormatError(f"the mesh shares more than {MAX_PAGES * PAGE} vertices: divide it")
        pages[section] = page if length + more else 0
    return SharedVertices(np.concatenate([np.zeros(0, np.int64), *vertices]), index, pages, extra_at)
