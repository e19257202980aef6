"""Delta literals: each is added to what the distance of the match before it points at.

The literals behind a match have its distance, so that match and literals are one region: output = residue + output
``distance`` bytes in front, with a residue of 0 under the match. Regions in a row whose sources all lie in front of
the first of them make a group, which numpy adds in one go; what depends on itself is done piece by piece.
"""

from __future__ import annotations

import numpy as np

from ..binary import Array

REGION_MOST = 256  # bytes of the longest region in a group
GROUP_COST, GROUP_BYTE_COST = 1500, 5  # nanoseconds, roughly, as all costs here
REGION_COST, LITERAL_COST, LITERALS_MOST_COST = 600, 100, 700
SHORT_RUN = 6
LOW_BITS = tuple(int.from_bytes(b"\x7f" * size, "little") for size in range(256))


def repeat(out: bytearray, place: int, end: int, distance: int) -> None:
    """Copy a match that is longer than its distance, and so repeats bytes of its own."""
    piece = out[place - distance : place]
    out[place:end] = (piece * ((end - place) // distance + 1))[: end - place]


def add_up(out: bytearray, edges: Array, ends: Array, distances: Array) -> None:
    """Finish a chunk whose residues are in place and whose matches are zeros.

    Args:
        out: the output, complete up to ``edges[0]``.
        edges: (n + 2,) int64, where the chunk starts, where each match starts, and where the chunk ends.
        ends: (n,) int64, the byte behind each match.
        distances: (n,) int64.
    """
    starts, stops = edges[:-1], edges[1:]
    distances = np.concatenate([[8], distances])
    ends = np.concatenate([edges[:1], ends])
    sizes = stops - starts
    grouped, heads = _groups(starts, sizes, stops - ends, stops - distances)
    members = sizes[grouped]
    base = members.cumsum() - members
    sources = np.arange(members.sum()) + ((starts - distances)[grouped] - base).repeat(members)
    first = np.full(len(starts), -1)
    first[grouped] = base
    units = np.flatnonzero(heads | ~grouped)
    columns = (starts[units], ends[units], np.append(starts[units[1:]], edges[-1]), distances[units], first[units])
    view = np.frombuffer(out, np.uint8)
    for place, end, stop, distance, source in zip(*(column.tolist() for column in columns), strict=True):
        if source >= 0:
            target = view[place:stop]
            np.add(target, view.take(sources[source : source + stop - place]), out=target)
            continue
        if end - place <= distance:
            out[place:end] = out[place - distance : end - distance]
        else:
            repeat(out, place, end, distance)
        if stop - end > SHORT_RUN:
            _add(out, end, stop, distance)
        else:
            for index in range(end, stop):
                out[index] = out[index] + out[index - distance] & 255


def _groups(starts: Array, sizes: Array, literals: Array, needs: Array) -> tuple[Array, Array]:
    """Find groups of regions.

    Args:
        starts: (n,) int64, first byte of each region.
        sizes: (n,) int64, its bytes.
        literals: (n,) int64, how many of them are literals.
        needs: (n,) int64, the byte behind its source.

    Returns:
        (n,) bool each: whether a region is in a group that pays, and whether it is the first of one.
    """
    needs = np.where(sizes > REGION_MOST, starts + sizes, needs)
    heads = []
    front = -1
    for index, place, need in zip(range(len(starts)), starts.tolist(), needs.tolist(), strict=True):
        if need > front:
            heads.append(index)
            front = place if need <= place else -1
    gain = REGION_COST + np.minimum(LITERAL_COST * literals, LITERALS_MOST_COST) - GROUP_BYTE_COST * sizes
    counts = np.diff(heads, append=len(starts))
    pays = (counts > 1) & (np.add.reduceat(gain, heads) > GROUP_COST)
    is_head = np.zeros(len(starts), bool)
    is_head[np.array(heads)[pays]] = True
    return pays.repeat(counts), is_head


def _add(out: bytearray, place: int, stop: int, distance: int) -> None:
    """Add to each byte the one ``distance`` in front, which may be one of these bytes.

    The bytes are the digits of one large number. Their top bits are added apart, so that nothing carries over.
    """
    size = stop - place
    low = LOW_BITS[size] if size < len(LOW_BITS) else int.from_bytes(b"\x7f" * size, "little")
    total = int.from_bytes(out[place:stop], "little")
    other = int.from_bytes(out[place - distance : min(place, stop - distance)], "little")
    total = (total & low) + (other & low) ^ (total ^ other) & ~low
    while distance < size:  # sums over 2, 4, 8, ... steps back
        other = (total & (1 << 8 * (size - distance)) - 1) << 8 * distance
        total = (total & low) + (other & low) ^ (total ^ other) & ~low
        distance *= 2
    out[place:stop] = total.to_bytes(size, "little")
