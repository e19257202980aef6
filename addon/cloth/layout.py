"""One array for everything: where the particles and buffers of all cloths of a file stand.

The store has one column a vertex: first the particles of all simulated cloths, then their previous positions, then the
scratch and display buffers. A buffer is a range of columns; those of simulated cloths are the particles themselves.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..codec import FormatError
from ..codec.binary import Array
from ..codec.havok.cloth import BufferType, ClothData, ClothFile, Convert, SimCloth


@dataclass(frozen=True, eq=False)
class SimPlace:
    """Where a simulated cloth stands.

    Attributes:
        data: place of its cloth data in the file; ``sim`` its place there.
        record: the cloth.
        start: first column.
    """

    data: int
    sim: int
    record: SimCloth
    start: int

    @property
    def stop(self) -> int:
        """The column after the last."""
        return self.start + len(self.record)


@dataclass(frozen=True, eq=False)
class BufferPlace:
    """Where a buffer stands.

    Attributes:
        data, buffer: places in the file.
        start, count: columns.
        display: it is drawn: in the character's space.
        has_normals: it stores normals.
        triangles: (t, 3) of its own vertices; empty where the file does not tell.
        sim: the cloth whose positions it is, -1 for none.
    """

    data: int
    buffer: int
    start: int
    count: int
    display: bool
    has_normals: bool
    triangles: Array
    sim: int = -1


@dataclass(frozen=True, eq=False)
class Layout:
    """All places.

    Attributes:
        sims: in the order of the columns.
        buffers: for each cloth data by buffer index; a shadow has the place of what it shadows.
        particles: number of particles; previous positions start there.
        width: number of columns.
    """

    sims: tuple[SimPlace, ...]
    buffers: tuple[tuple[BufferPlace, ...], ...]
    particles: int
    width: int

    def sim(self, data: int, sim: int) -> int:
        """Return the place of a cloth among all."""
        return next(place for place, one in enumerate(self.sims) if (one.data, one.sim) == (data, sim))

    def displays(self) -> list[BufferPlace]:
        """Return the display buffers, in file order."""
        return [
            place
            for places in self.buffers
            for index, place in enumerate(places)
            if place.display and place.buffer == index
        ]


def lay_out(file: ClothFile) -> Layout:
    """Return where everything of a file stands.

    Raises:
        FormatError: a buffer of a simulated cloth that has none, or a shadow of nothing.
    """
    sims, end = [], 0
    for number, data in enumerate(file.datas):
        for index, record in enumerate(data.sims):
            sims.append(SimPlace(number, index, record, end))
            end += len(record)
    particles, end = end, 2 * end
    buffers = []
    for number, data in enumerate(file.datas):
        own = [(sim, place) for sim, place in enumerate(sims) if place.data == number]
        places, end = _place_buffers(data, own, number, particles, end)
        buffers.append(places)
    return Layout(tuple(sims), tuple(buffers), particles, end)


def _place_buffers(
    data: ClothData, own: list[tuple[int, SimPlace]], number: int, particles: int, end: int
) -> tuple[tuple[BufferPlace, ...], int]:
    """Return the places of a cloth data's buffers, and the column after the last; ``own`` are its cloths."""
    found: dict[int, BufferPlace] = {}
    order = {BufferType.CURRENT: 0, BufferType.PREVIOUS: 0}
    for index, buffer in enumerate(data.buffers):
        if buffer.type in order:
            kind = BufferType(buffer.type)
            sim, place = own[order[kind]] if order[kind] < len(own) else (-1, None)
            order[kind] += 1
            if place is None or len(place.record) != buffer.vertex_count:
                raise FormatError(f"no simulated cloth of {data.name} is that of buffer {index}, {buffer.name}")
            shift = particles if kind is BufferType.PREVIOUS else 0
            found[index] = BufferPlace(
                number, index, place.start + shift, buffer.vertex_count, display=False, has_normals=True,
                triangles=place.record.triangles, sim=-1 if shift else sim,
            )  # fmt: skip
        elif buffer.type != BufferType.SHADOW:
            display = buffer.type in {BufferType.DISPLAY, BufferType.STATIC_DISPLAY}
            found[index] = BufferPlace(
                number, index, end, buffer.vertex_count, display, buffer.stores_normals, buffer.triangles
            )
            end += buffer.vertex_count
    for shadow, user in _shadows(data).items():
        if user not in found:
            raise FormatError(f"buffer {shadow} of {data.name} shadows buffer {user}, which is a shadow too")
        found[shadow] = found[user]
    missing = [index for index in range(len(data.buffers)) if index not in found]
    if missing:
        raise FormatError(f"buffer {missing[0]} of {data.name} is the shadow of none")
    return tuple(found[index] for index in range(len(data.buffers))), end


def _shadows(data: ClothData) -> dict[int, int]:
    """Return what each shadow buffer stands in for: the states and the conversions say so."""
    pairs = [
        (shadow, buffer)
        for state in data.states
        for buffer, shadow in zip(state.buffers.tolist(), state.shadows.tolist(), strict=True)
    ]
    pairs += [(one.shadow, one.user) for one in data.operators if isinstance(one, Convert)]
    return {shadow: user for shadow, user in pairs if data.buffers[shadow].type == BufferType.SHADOW}
