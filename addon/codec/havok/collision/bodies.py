"""Collision bodies of a tagfile: map collision, collision of objects and assets, ragdolls."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ...binary import Array
from ...errors import FormatError
from ..layout import Kind
from ..objects import View
from ..tagfile import Tagfile
from .decode import Triangles
from .shapes import Shape, ShapeReader

NEW = -1


@dataclass(eq=False)
class Body:
    """A body: a shape at a place.

    Attributes:
        name: as stored.
        system: which of the file's physics systems it is in.
        index: in its system; `NEW` where it is in no file yet.
        ragdoll: whether the system is that of a ragdoll.
        shape: None where the file stores none.
        position: (3,) f4, metres.
        orientation: (4,) f4, a unit quaternion x y z w; space of the shape -> space of the file.
        fields: the numbers that the body's record holds, by the names of the class.
        mesh: the triangles that the shape stores, in its own space; see `addon.collision.surface` for the whole surface
            of every kind of shape, in the space of the file.
        sdk: of the file.
    """

    name: str
    system: int
    index: int
    ragdoll: bool
    shape: Shape | None
    position: Array
    orientation: Array
    mesh: Triangles
    fields: dict[str, int | float] = field(default_factory=dict)
    sdk: str = ""

    @classmethod
    def new(cls, name: str, shape: Shape | None, system: int = 0) -> Body:
        """Return a body that is in no file yet, at the origin; what it does not say is as the games have it."""
        mesh = _NOTHING.triangles if shape is None else shape.triangles
        turn = np.array([0, 0, 0, 1], np.float32)
        return cls(name, system, NEW, ragdoll=False, shape=shape, position=turn[:3] * 0, orientation=turn, mesh=mesh)

    @property
    def vertices(self) -> Array:
        """(n, 3) f4, metres, in the space of the shape."""
        return self.mesh.vertices

    @property
    def triangles(self) -> Array:
        """(m, 3) i4 vertex numbers."""
        return self.mesh.triangles

    @property
    def keys(self) -> Array:
        """(m,) u4 shape keys."""
        return self.mesh.keys

    @property
    def materials(self) -> Array:
        """(m,) u4 hit material ids, `NO_MATERIAL` where there is none."""
        return self.mesh.materials


def read_collision(tag: Tagfile) -> list[Body]:
    """Return the bodies of a tagfile; none where it holds no physics system, or one without bodies.

    Raises:
        FormatError: a class that lacks what is needed, or data that contradict one another.
    """
    reader = ShapeReader(tag)
    bodies: list[Body] = []
    systems = (view for view in tag.find("hknpPhysicsSystemData") if not view.values.ndim)
    try:
        for number, system in enumerate(systems):
            bodies += _read_system(reader, number, system)
    except FormatError as error:
        raise error if error.file else error.inside(tag.file) from error
    return bodies


def _read_system(reader: ShapeReader, number: int, system: View) -> list[Body]:
    records = system.many("bodyCinfos")
    positions = records.numbers("position", "<f4", (4,))[:, :3]
    turns = unit(records.numbers("orientation", "<f4", (4,)))
    names, shapes = records.links("name").texts(), records.links("shape")
    ragdoll = system.is_a("hknpRagdollData")
    bodies = []
    for index, name in enumerate(names):
        found = shapes[index]
        shape = reader.read(found) if isinstance(found, View) else None
        mesh = _NOTHING.triangles if shape is None else shape.triangles
        body = Body(name or "", number, index, ragdoll, shape, positions[index], turns[index], mesh, sdk=reader.tag.sdk)
        body.fields = _numbers(records.at(index))
        bodies.append(body)
    return bodies


_NOTHING = Shape(name="", type=0, flags=0, key_bits=0, radius=0.0, user_data=0)


def unit(turns: Array) -> Array:
    """Return unit quaternions; one of zeros, or of what is no number, turns nothing."""
    wide = turns.astype(np.float64)
    length = np.sqrt((wide * wide).sum(axis=1, keepdims=True))
    good = np.isfinite(length) & (length > 0)
    return np.where(good, wide / np.where(good, length, 1), (0.0, 0.0, 0.0, 1.0)).astype(np.float32)


def _numbers(record: View) -> dict[str, int | float]:
    """Return the plain numbers of a record by name."""
    members = record.layout.members.items()
    names = [name for name, member in members if member.layout.kind is Kind.NUMBER and not member.layout.shape]
    return {name: record.values[name].item() for name in names}
