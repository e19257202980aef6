"""Collidables -> the objects of a tagfile: in place where an object is there, a new one where there is none.

What a file stores besides stays, such as user data and priorities. The lists that go with a cloth's collidables follow:
their bones and offsets, and the settings of pinch detection, one a collidable.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from ...binary import Array
from ..classes import learn_classes
from ..making import make, records
from ..objects import View
from ..tagfile import Tagfile
from .comparing import differences, same
from .data import ClothFile, CollidableMap, SimCloth
from .reading import CONTAINER
from .shapes import Capsule, Collidable, Plane, Shape, Sphere, TaperedCapsule
from .values import stored_matrices

COLLIDABLE = "hclCollidable"
CLASSES: dict[type[Shape], str] = {
    Sphere: "hclSphereShape",
    Capsule: "hclCapsuleShape",
    TaperedCapsule: "hclTaperedCapsuleShape",
    Plane: "hclPlaneShape",
}
POINTS = {
    "start": "start", "end": "end", "direction": "dir", "small": "small", "big": "big", "apex": "coneApex",
    "axis": "coneAxis", "equation": "planeEquation",
}  # fmt: skip
REALS = {
    "radius": "radius", "inverse_length_squared": "capLenSqrdInv", "small_radius": "smallRadius",
    "big_radius": "bigRadius", "length": "l", "apex_distance": "d", "sin": "sinTheta", "cos": "cosTheta",
    "tan": "tanTheta", "tan_squared": "tanThetaSqr",
}  # fmt: skip
SPREAD = {"length": ("lVec", 1), "apex_distance": ("dVec", 1), "tan": ("tanThetaVecNeg", -1)}
"""Numbers stored a second time, in all four lanes of a vector; one of them negated."""
SETTINGS = {
    "enabled": "enabled", "pinch_enabled": "pinchDetectionEnabled", "pinch_radius": "pinchDetectionRadius",
    "virtual_points": "virtualCollisionPointCollisionEnabled",
}  # fmt: skip


def store_collidables(tag: Tagfile, old: ClothFile, new: ClothFile) -> None:
    """Let a file hold other collidables.

    Objects are told apart by what they hold: one that is wanted as it is stays, one that changed keeps its object if
    its name or its place in a list tells which it was.

    Args:
        tag: the file.
        old: what `reading.read_cloth` makes of it.
        new: what it shall hold, with as many cloths.

    Raises:
        FormatError: a class that the types at hand lack, a shape that is only read.
    """
    containers = [view for view in tag.find(CONTAINER) if not view.values.ndim]
    datas = [view for container in containers for view in container.links("clothDatas").views()]
    sims = [view for data in datas for view in data.links("simClothDatas").views()]
    before, after = ([sim for data in file.datas for sim in data.sims] for file in (old, new))
    changed = [_differ(_own(a), _own(b)) for a, b in zip(before, after, strict=True)]
    if not any(changed) and not _differ(old.collidables, new.collidables):
        return
    loose = [view for container in containers for view in container.links("collidables").views()]
    objects = _Objects(tag)
    for owner, sim in zip(sims, before, strict=True):
        objects.know(owner.links("perInstanceCollidables").views(), sim.collidables)
    objects.know(loose, old.collidables)
    objects.assign([*((sim.collidables, was.collidables) for was, sim in zip(before, after, strict=True)),
                    (new.collidables, old.collidables)])  # fmt: skip
    for owner, was, sim, differs in zip(sims, before, after, changed, strict=True):
        if differs:
            _store_list(owner, was, sim, objects)
    if _differ(old.collidables, new.collidables):
        if len(containers) != 1:
            tag.root.fail(f"the file has {len(containers)} lists of collidables", "collidables")
        _store_links(containers[0], "collidables", [objects.of(one) for one in new.collidables])


def _own(sim: SimCloth) -> tuple[tuple[Collidable, ...], CollidableMap]:
    return sim.collidables, sim.collidable_map


def _differ(old: object, new: object) -> bool:
    return next(differences(old, new), None) is not None


class _Objects:
    """Which object holds which collidable."""

    def __init__(self, tag: Tagfile) -> None:
        self.tag = tag
        self.held: dict[int, tuple[View, Collidable]] = {}
        self.shapes: list[int] = []  # the shape of each, some of which may be shared
        self.made: dict[int, View] = {}

    def know(self, views: Iterable[View], collidables: Iterable[Collidable]) -> None:
        """Take in objects and what was read of them."""
        for view, record in zip(views, collidables, strict=True):
            if view.item not in self.held:
                self.held[view.item] = view, record
                self.shapes.append(view.one("shape").item)

    def of(self, record: Collidable) -> View:
        """Return the object of a collidable."""
        return self.made[id(record)]

    def assign(self, lists: Iterable[tuple[tuple[Collidable, ...], tuple[Collidable, ...]]]) -> None:
        """Give every collidable an object, and let that hold it.

        Args:
            lists: what each list shall hold, and what it holds.
        """
        wanted: dict[int, tuple[Collidable, Collidable | None]] = {}
        for after, before in lists:
            for place, record in enumerate(after):
                there = before[place] if len(before) == len(after) else None
                wanted.setdefault(id(record), (record, there))
        free = dict(self.held)
        left = []
        for record, there in wanted.values():
            item = next((item for item, (_, known) in free.items() if not _differ(known, record)), 0)
            if item:
                self.made[id(record)] = free.pop(item)[0]
            else:
                left.append((record, there))
        learn_classes(self.tag, _classes(record for record, _ in left))
        for record, there in left:
            item = next((item for item, (_, known) in free.items() if known.name == record.name), 0)
            item = item or next((item for item, (_, known) in free.items() if known is there), 0)
            view, known = free.pop(item) if item else (make(self.tag, COLLIDABLE), None)
            self.made[id(record)] = view
            self._store(view, known, record)

    def _store(self, view: View, old: Collidable | None, new: Collidable) -> None:
        """Let an object hold a collidable."""
        if old is None or old.name != new.name:
            view["name"] = None  # the text may be another's too
            view["name"] = new.name
        if old is None or not same(old.transform, new.transform):
            stored = stored_matrices(new.transform)
            # the fourth lanes of the axes hold rubbish in the games' files, which stays
            view.values["transform"].reshape(4, 4)[:, :3] = stored.reshape(4, 4)[:, :3]
            view.values["transform"][15] = 1
        for attribute, member in SETTINGS.items():
            if old is None or not same(getattr(old, attribute), getattr(new, attribute)):
                view[member] = getattr(new, attribute)
        if old is None or _differ(old.shape, new.shape):
            self._store_shape(view, None if old is None else old.shape, new.shape)

    def _store_shape(self, view: View, old: Shape | None, new: Shape) -> None:
        """Let a collidable's object lead to a shape: the object that is there, if it is of that class and its own."""
        if type(new) not in CLASSES:
            view.fail(f"shapes of class {type(new).__name__} are only read, not written", "shape")
        if old is None or type(old) is not type(new) or self.shapes.count(view.one("shape").item) > 1:
            old = None
            view["shape"] = make(self.tag, CLASSES[type(new)])
        shape = view.one("shape")
        if isinstance(new, Sphere):
            shape.one("sphere").values["pos"] = np.append(new.center, new.radius)
            return
        for attribute, value in vars(new).items():
            if old is not None and same(getattr(old, attribute), value):
                continue
            if attribute in POINTS:
                shape.values[POINTS[attribute]][: len(value)] = value
            else:
                shape[REALS[attribute]] = value
            if attribute in SPREAD:
                member, sign = SPREAD[attribute]
                shape.values[member] = sign * value


def _classes(collidables: Iterable[Collidable]) -> list[str]:
    """Return the classes that collidables need."""
    shapes = {CLASSES[type(one.shape)] for one in collidables if type(one.shape) in CLASSES}
    return [COLLIDABLE, *sorted(shapes)]


def _store_list(sim: View, old: SimCloth, new: SimCloth, objects: _Objects) -> None:
    """Write the collidables of a cloth, and what goes with each."""
    before = sim.links("perInstanceCollidables").views()
    after = [objects.of(record) for record in new.collidables]
    _store_pinching(sim, before, after)
    _store_links(sim, "perInstanceCollidables", after)
    own, carried = new.collidable_map, sim.one("collidableTransformMap")
    if own.transform_set != old.collidable_map.transform_set:
        carried["transformSetIndex"] = own.transform_set
    if not same(old.collidable_map.bones, own.bones):
        carried["transformIndices"] = own.bones
    if not same(old.collidable_map.offsets, own.offsets):
        carried["offsets"] = _offsets(carried, old.collidable_map.offsets, own.offsets)


def _offsets(carried: View, old: Array, new: Array) -> Array:
    """Return offsets as stored, (k, 16) f4; what did not change keeps its fourth lanes."""
    kept = carried.numbers("offsets", "<f4", (16,))
    stored = stored_matrices(new)
    for place, offset in enumerate(new):
        source = next((row for row, other in enumerate(old) if same(other, offset)), -1)
        if source >= 0:
            stored[place] = kept[source]
    return stored


def _store_links(owner: View, name: str, objects: list[View]) -> None:
    """Let an array of pointers lead to objects."""
    if [view.item for view in owner.links(name).views()] != [view.item for view in objects]:
        owner[name] = objects


def _store_pinching(sim: View, before: list[View], after: list[View]) -> None:
    """Let the settings of pinch detection follow, where a cloth has one for each collidable."""
    name = "collidablePinchingDatas"
    if len(sim.many(name)) != len(before) or [view.item for view in before] == [view.item for view in after]:
        return
    kept = records(sim, name, len(before))
    places = {view.item: place for place, view in enumerate(before)}
    rows = records(sim, name, len(after))
    for place, view in enumerate(after):
        if view.item in places:
            rows[place] = kept[places[view.item]]
        else:
            for member in ("pinchDetectionEnabled", "pinchDetectionPriority", "pinchDetectionRadius"):
                rows[member][place] = view.values[member]
    sim[name] = rows
