"""A cloth's collection -> what its user set, the mirror of `addon.scene.cloth.build`.

Playing moves points and poses bones, and neither is an edit: rest poses are in an attribute of their own, and
collidables are read where they hang on their bones.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...cloth.edits import PlacedCollidable, SimValues, placed_collidables, values_of
from ...cloth.edits.edited import sim_title, sims_of
from ...codec import FormatError
from ...codec.binary import Array
from ...codec.havok import cloth as records
from ..keys import held_objects
from ..problems import Problems
from . import rig
from .keys import (
    ARMATURE,
    BONE,
    DRAWN,
    EDIT,
    GRAVITY,
    HELD,
    KIND,
    NAME,
    PREFIX,
    RANGE,
    RUNTIME,
    SHAPE,
    SIM,
    SIMS,
    SOURCE,
    STIFFNESS,
    VOLUME,
    parts,
    sim_objects,
)
from .links import read_stiffness
from .placing import STILL, at_parent, read_placed
from .pointclouds import read
from .shapes import POINTS, RADII
from .values import PARTICLES, REST, SETTINGS, count_points, read_rest, read_values


@dataclass(frozen=True, eq=False)
class StoredCloth:
    """A cloth file as it was imported.

    Attributes:
        file: its records.
        sims: its simulated cloths, ``values`` what users can set of each.
        placed: its collidables.
    """

    file: records.ClothFile
    sims: tuple[records.SimCloth, ...]
    values: tuple[SimValues, ...]
    placed: tuple[PlacedCollidable, ...]

    @classmethod
    def of(cls, file: records.ClothFile) -> StoredCloth:
        """Take a file apart."""
        sims = tuple(sims_of(file))
        return cls(file, sims, tuple(values_of(file, sim) for sim in range(len(sims))), placed_collidables(file))


def known_points(collection: Any, stored: StoredCloth, sim: int) -> Any:
    """Return the point cloud of a simulated cloth.

    Raises:
        FormatError: it is gone, or has other points than the cloth particles.
    """
    cloud = sim_objects(collection)[0].get(sim)
    if cloud is None or count_points(cloud) != len(stored.sims[sim]):
        title = sim_title(stored.file, sim)
        raise FormatError(f"the points of {title} are not those of its cloth: undo what was added or deleted")
    return cloud


@dataclass(eq=False)
class GatheredCloth:
    """What differs in Blender from the file.

    Attributes:
        values: by simulated cloth.
        rest: (n, 3) f4 in the games' axes, by the same.
        collidables: all of them; None where they are those of the file.
        objects: names of the objects that show a cloth, for messages; by the same.
        carriers: names of the objects of ``collidables``.
    """

    values: dict[int, SimValues] = field(default_factory=dict)
    rest: dict[int, Array] = field(default_factory=dict)
    collidables: list[PlacedCollidable] | None = None
    objects: dict[int, str] = field(default_factory=dict)
    carriers: list[str] = field(default_factory=list)

    @property
    def untouched(self) -> bool:
        """Nothing differs."""
        return not self.values and not self.rest and self.collidables is None


def gather(collection: Any, stored: StoredCloth, problems: Problems) -> GatheredCloth:
    """Return what of a cloth differs from its file, to the bit.

    Args:
        collection: of the cloth. Nothing in it changes.
        stored: the file.
        problems: takes what cannot be, and what the user should know.
    """
    result = GatheredCloth()
    clouds, links, copies = sim_objects(collection)
    if copies:
        problems.warn(
            "shows what another object of the cloth shows already, and is not read", *(o.name for o in copies)
        )
    for obj in parts(collection, EDIT):
        problems.warn("is not applied, so that the cloth is as it was before: Apply gives it what you edited", obj.name)
    for sim in range(len(stored.sims)):
        cloud = clouds.get(sim)
        if cloud is None:
            problems.warn(
                f"{sim_title(stored.file, sim)}: its points are gone, so that it is written as it was imported. Revert "
                "makes them anew"
            )
        else:
            own = {index: obj for (place, index), obj in links.items() if place == sim}
            result.objects[sim] = cloud.name
            _gather_sim(result, sim, cloud, own, stored=stored, problems=problems)
    _gather_collidables(result, collection, stored, problems)
    return result


def _gather_sim(
    result: GatheredCloth, sim: int, cloud: Any, links: dict[int, Any], *, stored: StoredCloth, problems: Problems
) -> None:
    """Add what differs of one simulated cloth; nothing where a part of it cannot be."""
    record, values = stored.sims[sim], stored.values[sim]
    if count_points(cloud) != len(record):
        problems.error(
            f"has {count_points(cloud)} points, its cloth {len(record)}: what belongs to a particle is told by "
            "its number, in the mesh that the cloth moves too",
            cloud.name,
        )
        return
    if cloud.parent is not None and np.abs(at_parent(cloud) - np.eye(4)).max() > STILL:
        problems.warn("was moved as an object, which moves no particle: Edit Cloth does", cloud.name)
    known = len(problems.errors)
    shares = {}
    for index, share in enumerate(values.stiffness):
        obj = links.get(index)
        if obj is not None and share is not None:
            shares[index] = _try(problems, obj, read_stiffness, obj, record.constraints[index], share)
    found = _try(problems, cloud, read_values, cloud, shares, record, values)
    rest = _try(problems, cloud, read_rest, cloud)
    if len(problems.errors) > known:
        return
    if not same_values(found, values):
        result.values[sim] = found
    if rest is not None and rest.tobytes() != record.poses[0].tobytes():
        result.rest[sim] = rest


def same_values(one: SimValues, other: SimValues) -> bool:
    """Tell whether values are the same to the bit."""
    for name, value in vars(one).items():
        pairs = [(value, getattr(other, name))]
        if name == "stiffness":
            pairs = list(zip(*pairs[0], strict=True))
        if any((a is None) != (b is None) or np.asarray(a).tobytes() != np.asarray(b).tobytes() for a, b in pairs):
            return False
    return True


def _gather_collidables(result: GatheredCloth, collection: Any, stored: StoredCloth, problems: Problems) -> None:
    armature = collection.get(ARMATURE)
    if armature is None:
        problems.warn(f"{collection.name}: its armature is gone, so that its collidables are written as imported")
        return
    found: list[PlacedCollidable] = []
    skeleton = rig.skeleton_of(stored.file)
    for obj in collidable_objects(collection):
        placed = _try(problems, obj, read_placed, obj, armature, stored.placed, skeleton)
        if placed is None:  # the file's own stands in, but not once more for a copy
            number = int(obj.get(SOURCE, -1))
            known = not 0 <= number < len(stored.placed) or any(one.source == number for one in found)
            placed = None if known else stored.placed[number]
        if placed is not None:
            found.append(placed)
            result.carriers.append(obj.name)
    sources = {placed.source for placed in found}
    complete = len(found) == len(stored.placed) and sources == set(range(len(stored.placed)))
    if not complete or not all(_same_placed(placed, stored.placed) for placed in found):
        result.collidables = found


def _same_placed(placed: PlacedCollidable, stored: tuple[PlacedCollidable, ...]) -> bool:
    if placed.source is None:
        return False
    old = stored[placed.source]
    return (
        (placed.record.name, placed.bone, placed.sims) == (old.record.name, old.bone, old.sims)
        and placed.record.shape is old.record.shape
        and placed.offset.tobytes() == old.offset.tobytes()
    )


def collidable_objects(collection: Any) -> list[Any]:
    """Return the objects of a cloth's own collidables, in the file's order, new ones and copies last."""
    found = [obj for obj in held_objects(collection) if obj.get(KIND) == "collidables" and RUNTIME not in obj]
    return sorted(found, key=lambda obj: (obj.get(SOURCE, 1 << 30), len(obj.name), obj.name))


def _try(problems: Problems, obj: Any, function: Any, *arguments: Any) -> Any:
    """Call a function and return what it does; None, with an error about the object, where it raises one."""
    try:
        return function(*arguments)
    except FormatError as error:
        problems.error(str(error), obj.name)
        return None


def fingerprint(collection: Any) -> bytes:
    """Return what changes whenever `gather` would return something else; cheap enough for every frame."""
    found: list[bytes] = []
    for obj in held_objects(collection):
        kind = obj.get(KIND)
        if kind == "points":
            found += [obj.name.encode(), _properties(obj, (SIM, GRAVITY, *_SETTINGS)), *_attributes(obj.data)]
            found += [str(obj.parent is None).encode(), at_parent(obj).tobytes()]
        elif kind == EDIT:
            found.append(obj.name.encode())
        elif kind == "links":
            found += [obj.name.encode(), *_edges(obj.data)]
        elif kind == "collidables" and RUNTIME not in obj:
            parent = "" if obj.parent is None else obj.parent.name
            found.append(repr((obj.name, parent, obj.parent_type, obj.parent_bone)).encode())
            found += [np.array(each).tobytes() for each in (obj.matrix_parent_inverse, obj.matrix_basis)]
            found += [_properties(obj, _OF_COLLIDABLES), _vertices(obj.data)]
    return b"\0".join(found)


_SETTINGS = tuple(PREFIX + name for name in SETTINGS)
_OF_SHAPES = tuple(PREFIX + name for name in (*POINTS, *RADII))
_OF_COLLIDABLES = (NAME, SHAPE, BONE, SOURCE, SIMS, HELD, DRAWN, *_OF_SHAPES)


def _properties(obj: Any, names: tuple[str, ...]) -> bytes:
    chosen = [(name, obj.get(name)) for name in names]
    chosen += [(name, obj[name]) for name in obj.keys() if name.startswith(RANGE)]  # noqa: SIM118 - no mapping
    return repr([(name, list(value) if hasattr(value, "__len__") else value) for name, value in chosen]).encode()


def _attributes(data: Any) -> Iterator[bytes]:
    columns = [(name, kind) for name, kind, _ in PARTICLES] + [(REST, "FLOAT_VECTOR")]
    columns += [(each.name, "FLOAT") for each in data.attributes if each.name.startswith(VOLUME)]
    for name, kind in columns:
        values = read(data, name, kind)
        yield b"" if values is None else values.tobytes()


def _edges(mesh: Any) -> Iterator[bytes]:
    for name in (name for names in STIFFNESS.values() for name in names):
        values = read(mesh, name, "FLOAT", "EDGE")
        yield str(len(mesh.edges)).encode() if values is None else values.tobytes()


def _vertices(mesh: Any) -> bytes:
    found = np.empty(3 * len(mesh.vertices), np.float32)
    mesh.vertices.foreach_get("co", found)
    return found.tobytes()
