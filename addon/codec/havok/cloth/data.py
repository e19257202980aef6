"""What a cloth file holds: the frozen records around constraints, operators and shapes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from ...binary import Array
from .constraints import Constraint
from .operators import Operator
from .shapes import Collidable


class BufferType(IntEnum):
    """What a buffer is."""

    CURRENT = 1
    PREVIOUS = 2
    POSE = 3
    DISPLAY = 4
    STATIC_DISPLAY = 5
    SCRATCH = 6
    SHADOW = 7


@dataclass(frozen=True, eq=False)
class Buffer:
    """The definition of a buffer of vertices.

    Attributes:
        name: of a display buffer, the name of the drawn mesh's default node.
        type: a `BufferType`; other values occur in no file.
        sub_type: orders display buffers of one name.
        vertex_count, triangle_count: sizes.
        triangles: (t, 3) u2 where a scratch or shadow buffer states them; empty otherwise.
        stores_normals: the buffer has normals.
        shadowed: of a shadow, whether it stands in for positions, normals, tangents, bitangents; empty otherwise.
    """

    name: str
    type: int
    sub_type: int
    vertex_count: int
    triangle_count: int
    triangles: Array
    stores_normals: bool
    shadowed: tuple[bool, ...] = ()


@dataclass(frozen=True, eq=False)
class TransformSet:
    """The definition of a transform set: transform i is bone i of the file's skeleton."""

    name: str
    count: int


@dataclass(frozen=True, eq=False)
class ClothState:
    """A list of operators.

    Attributes:
        name: "#01#Default" simulates, "#00#Empty" does nothing, "_Skin" only skins; "_preAtoS_" and "_curAtoS_" before
            a state's name fill its previous and current positions.
        operators: (n,) u4 in the order of execution.
        buffers: (b,) u4 used buffers.
        shadows: (b,) u4 what stands in for each.
        sims: (s,) u4 used simulated cloths.
    """

    name: str
    operators: Array
    buffers: Array
    shadows: Array
    sims: Array


@dataclass(frozen=True, eq=False)
class CollidableMap:
    """Which bone carries each collidable.

    Attributes:
        transform_set: index, -1 where there are no collidables.
        bones: (k,) u4.
        offsets: (k, 4, 4) f4 collidable space to bone space.
    """

    transform_set: int
    bones: Array
    offsets: Array


@dataclass(frozen=True, eq=False)
class SimCloth:
    """A simulated cloth of n particles.

    Attributes:
        name: as stored.
        gravity: (3,) f4 m/s2.
        damping: fraction of the velocity lost in a second; from 1 on all of it.
        mass, inverse_mass, radius, friction: (n,) f4; both masses of a fixed particle are 0.
        fixed: (f,) u2 particles that follow the animation.
        triangles: (t, 3) u2.
        flips: (t,) bool triangles whose normal is turned.
        makes_normals: the simulation makes normals of its particles.
        poses: (p, n, 3) f4 positions; the first is the rest pose.
        constraints: the sets.
        collidables: shared objects where cloths share them.
        collidable_map: their bones.
        masks: (n,) u4, bit k set where the particle meets collidable k; the highest bit is the landscape's.
        max_radius, total_mass: as stored.
        landscape: collides with the world's geometry.
        landscape_count: number of particles that do.
        virtual_point_count: points between particles that collide too.
        transfers_motion, detects_pinching: off in all game files.
        landscape_radius, landscape_tolerance: metres, how the world's triangles are gathered round a particle.
    """

    name: str
    gravity: Array
    damping: np.float32
    mass: Array
    inverse_mass: Array
    radius: Array
    friction: Array
    fixed: Array
    triangles: Array
    flips: Array
    makes_normals: bool
    poses: Array
    constraints: tuple[Constraint, ...]
    collidables: tuple[Collidable, ...]
    collidable_map: CollidableMap
    masks: Array
    max_radius: np.float32
    total_mass: np.float32
    landscape: bool
    landscape_count: int
    virtual_point_count: int
    transfers_motion: bool
    detects_pinching: bool
    landscape_radius: np.float32 = np.float32(0.05)
    landscape_tolerance: np.float32 = np.float32(0.2)

    def __len__(self) -> int:
        return len(self.mass)


@dataclass(frozen=True, eq=False)
class ClothData:
    """A cloth: simulated cloths, and what brings the animation to them and their motion to meshes and bones.

    Attributes:
        name: as stored; a display mask stands in front, such as ``#40#``.
        sims, buffers, transform_sets, operators, states: by the indices they name one another with.
        platform: 2 in all game files.
    """

    name: str
    sims: tuple[SimCloth, ...]
    buffers: tuple[Buffer, ...]
    transform_sets: tuple[TransformSet, ...]
    operators: tuple[Operator, ...]
    states: tuple[ClothState, ...]
    platform: int


@dataclass(frozen=True, eq=False)
class Skeleton:
    """The bones a cloth file knows; it is not the character's own, so bones are matched by name.

    Attributes:
        name: as stored.
        bones: names.
        parents: (b,) i2, -1 for roots.
        translation, scale: (b, 3) f4, local to the parent.
        rotation: (b, 4) f4 quaternions x, y, z, w.
    """

    name: str
    bones: tuple[str, ...]
    parents: Array
    translation: Array
    rotation: Array
    scale: Array


@dataclass(frozen=True, eq=False)
class ClothFile:
    """What a tagfile with cloth holds; as a sequence it is its cloth datas.

    Attributes:
        datas: the cloths.
        collidables: those that belong to no cloth: a loose ``_collidable.hkx``.
        skeleton: None where the file has none.
        authoring_only: the file has only what cloth is authored from (``hclClothSetupContainer``), nothing to run.
    """

    datas: tuple[ClothData, ...]
    collidables: tuple[Collidable, ...]
    skeleton: Skeleton | None
    authoring_only: bool = False

    def __len__(self) -> int:
        return len(self.datas)

    def __getitem__(self, index: int) -> ClothData:
        return self.datas[index]

    def __iter__(self) -> Iterator[ClothData]:
        return iter(self.datas)
