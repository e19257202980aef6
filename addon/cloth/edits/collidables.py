"""Collidables as a user sees them: a shape on a bone that some cloths meet; and a file with others.

A file stores each collidable once, where several cloths meet it, and each cloth lists which it meets, on which bone
and where there, with a bit of each particle's mask for each. The games compose a bone's matrix with the offset every
step, so the transform stored in the collidable itself is only that of the reference pose.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...codec.binary import Array
from ...codec.havok.cloth import (
    ClothData,
    ClothFile,
    Collidable,
    CollidableMap,
    MeshBoneDeform,
    Shape,
    SimCloth,
    SimpleMeshBoneDeform,
    Skeleton,
    same,
)
from ..bones import driven_bones
from ..results import reference_pose
from ..vectors import IDENTITY
from .edited import Edited, sim_places, sims_of
from .shapes import alike, capsule, remade, sphere, tapered_capsule

__all__ = [
    "PlacedCollidable",
    "capsule",
    "new_collidable",
    "placed_collidables",
    "sphere",
    "tapered_capsule",
    "with_collidables",
]

MOST = 31
"""Collidables of a cloth: a mask has a bit for each, and the highest is the landscape's."""
RIGID = 1e-4
"""How far the axes of an offset may be from a right angle and unit length: rounding, not scale."""
PINCH_RADIUS = np.float32(0.01)  # of every collidable of the games


@dataclass(frozen=True, eq=False)
class PlacedCollidable:
    """A collidable on a bone.

    Attributes:
        record: name, shape and settings; its transform follows from bone and offset.
        bone: name in the file's skeleton; "" where nothing carries it: then the offset is where it stands.
        offset: (4, 4) f4 rigid, the collidable's space to the bone's.
        sims: the cloths that meet it, numbered over the whole file; none for a collidable of a file without cloth.
        source: its place among the collidables of the file that it is from; None for a new one.
    """

    record: Collidable
    bone: str
    offset: Array
    sims: frozenset[int]
    source: int | None = None


def new_collidable(name: str, shape: Shape) -> Collidable:
    """Return a collidable with the settings that all those of the games have."""
    return Collidable(
        name, IDENTITY, shape, enabled=True, pinch_radius=PINCH_RADIUS, pinch_enabled=False, virtual_points=False
    )


def placed_collidables(file: ClothFile) -> tuple[PlacedCollidable, ...]:
    """Return the collidables of a file, each with all cloths that meet it: one for each record, bone and offset."""
    return _survey(file)[0]


def with_collidables(file: ClothFile, wanted: Sequence[PlacedCollidable]) -> Edited:
    """Return a file with these collidables.

    Those with a source take its place and its particles; a second one of the same source comes last, with the same
    particles. One that a cloth did not meet before comes last too and meets every free particle, as in all files of the
    games. Sources that are not wanted are taken out. What is refused stays as it is in the file.

    Args:
        file: the file.
        wanted: as `placed_collidables` gave them, changed.
    """
    return _Placer(file).place(wanted)


class _Placer:
    """One edit of a file's collidables."""

    def __init__(self, file: ClothFile) -> None:
        self.file = file
        self.old, self.listed = _survey(file)
        self.sims = [(file.datas[number], file.datas[number].sims[place]) for number, place in sim_places(file)]
        self.bones = file.skeleton.bones if file.skeleton is not None else ()
        self.pose = None if file.skeleton is None else reference_pose(file.skeleton).astype(np.float64)
        self.notes: list[str] = []
        self.refusals: list[str] = []

    def place(self, wanted: Sequence[PlacedCollidable]) -> Edited:
        """Do it."""
        kept = self._kept(wanted)
        made = {id(placed): self._record(placed) for placed in kept}
        sims = []
        for number, (data, sim) in enumerate(self.sims):
            own = [placed for placed in kept if number in placed.sims]
            if fault := _fault(data, sim, own):
                self.refusals.append(fault)
                sims.append(sim)
            else:
                sims.append(self._sim(number, sim, own, made))
                self._note_driven(data, own)
        loose = tuple(made[id(placed)] for placed in kept if not placed.sims)
        return Edited(self._file(sims, loose), self.notes, self.refusals)

    def _kept(self, wanted: Sequence[PlacedCollidable]) -> list[PlacedCollidable]:
        """Return what is placed: in place of what is refused, what the file has."""
        reasons = [self._reason(placed) for placed in wanted]
        fine = {placed.source for placed, reason in zip(wanted, reasons, strict=True) if not reason}
        kept = []
        for placed, reason in zip(wanted, reasons, strict=True):
            if not reason:
                place = np.array(placed.offset, np.float32)
                place[3] = IDENTITY[3]
                kept.append(replace(placed, offset=place))
                continue
            self.refusals.append(f"{placed.record.name}: {reason}.")
            if placed.source is not None and placed.source not in fine and placed.source in range(len(self.old)):
                kept.append(self.old[placed.source])
                fine.add(placed.source)
        return kept

    def _reason(self, placed: PlacedCollidable) -> str:
        """Return why one cannot be placed, "" where it can."""
        if placed.source is not None and placed.source not in range(len(self.old)):
            return f"it names collidable {placed.source} of {len(self.old)} as its source"
        source = None if placed.source is None else self.old[placed.source]
        if wrong := sorted(placed.sims - set(range(len(self.sims)))):
            return f"there is no cloth {wrong[0]}, the file has {len(self.sims)}"
        if self.sims and not placed.sims and (source is None or source.sims):
            return "no cloth would meet it: choose one that does, or delete it"
        if placed.bone and (placed.bone not in self.bones or not placed.sims):
            return f"the cloth's skeleton has no bone {placed.bone}"
        if source is not None and same(placed.offset, source.offset):
            return ""
        return _place_fault(placed.offset)

    def _record(self, placed: PlacedCollidable) -> Collidable:
        """Return the record of one: the file's own where nothing differs."""
        record, offset = placed.record, np.asarray(placed.offset, np.float32)
        if placed.source is None:
            return replace(record, transform=self._transform(placed.bone, offset))
        old = self.old[placed.source]
        transform = self._transform(placed.bone, offset)
        for part in ((slice(3), slice(3)), (slice(3), 3)):
            if placed.bone == old.bone and same(offset[part], old.offset[part]):
                transform[part] = old.record.transform[part]
        record = replace(record, transform=transform, shape=remade(old.record.shape, record.shape))
        return old.record if alike(record, old.record) else record

    def _transform(self, bone: str, offset: Array) -> Array:
        """Return where a collidable is in the reference pose."""
        if not bone or self.pose is None:
            return offset.copy()
        carried: Array = self.pose[self.bones.index(bone)] @ offset.astype(np.float64)
        return carried.astype(np.float32)

    def _sim(self, number: int, sim: SimCloth, own: list[PlacedCollidable], made: dict[int, Collidable]) -> SimCloth:
        """Return a cloth with these collidables, those it had in their stored order."""
        stored = {source: place for place, source in enumerate(self.listed[number])}
        order: list[tuple[int, PlacedCollidable, int]] = []
        used: set[int] = set()
        for placed in own:
            place = stored.get(placed.source, -1) if placed.source is not None else -1
            first = place >= 0 and place not in used
            used.add(place)
            order.append((place if first else len(sim.collidables), placed, place))
        order.sort(key=lambda row: row[0])
        records = tuple(made[id(placed)] for _, placed, _ in order)
        changed = CollidableMap(
            self._set_of(sim, own),
            np.array([self._bone(sim, placed, place) for _, placed, place in order if placed.bone], np.uint32),
            np.array([placed.offset for _, placed, _ in order if placed.bone], np.float32).reshape(-1, 4, 4),
        )
        masks = _masks(sim, [place for _, _, place in order])
        return _replaced(sim, collidables=records, collidable_map=changed, masks=masks)

    def _bone(self, sim: SimCloth, placed: PlacedCollidable, place: int) -> int:
        """Return the bone of one in a cloth; where it had it already, that, as bones may share a name."""
        own = sim.collidable_map
        if place >= 0 and own.transform_set >= 0 and self.bones[int(own.bones[place])] == placed.bone:
            return int(own.bones[place])
        return self.bones.index(placed.bone)

    def _set_of(self, sim: SimCloth, own: list[PlacedCollidable]) -> int:
        if not own or not own[0].bone:
            return -1
        return max(sim.collidable_map.transform_set, 0)

    def _note_driven(self, data: ClothData, own: list[PlacedCollidable]) -> None:
        """Say which collidables come to hang from a bone that their cloth moves itself."""
        driven = {self.bones[bone] for bone in _driven(data)}
        for placed in own:
            before = "" if placed.source is None else self.old[placed.source].bone
            if placed.bone in driven and placed.bone != before:
                name, bone = placed.record.name, placed.bone
                self.notes.append(
                    f"{name}: {data.name} moves the bone {bone} itself; {name} follows the animation, not the cloth."
                )

    def _file(self, sims: list[SimCloth], loose: tuple[Collidable, ...]) -> ClothFile:
        """Return the file with these cloths; what did not change is the same record."""
        waiting = iter(sims)
        datas = []
        for data in self.file.datas:
            own = tuple(next(waiting) for _ in data.sims)
            datas.append(data if _all_same(own, data.sims) else replace(data, sims=own))
        loose = self.file.collidables if _all_same(loose, self.file.collidables) else loose
        if _all_same(datas, self.file.datas) and loose is self.file.collidables:
            return self.file
        return replace(self.file, datas=tuple(datas), collidables=loose)


def _place_fault(offset: Array) -> str:
    """Return what is wrong with a place, "" where it is rigid."""
    matrix = np.asarray(offset)
    if matrix.shape != (4, 4) or not np.isfinite(matrix).all() or np.abs(matrix[3] - IDENTITY[3]).max() > RIGID:
        return "its place is no matrix of finite numbers"
    axes = matrix[:3, :3].astype(np.float64)
    if np.abs(axes.T @ axes - np.eye(3)).max() > RIGID or np.linalg.det(axes) < 0:
        return "its place has a scale, a shear or a mirror, which its shape cannot follow"
    return ""


def _fault(data: ClothData, sim: SimCloth, own: list[PlacedCollidable]) -> str:
    """Return why a cloth cannot have these collidables, "" where it can."""
    if len(own) > max(MOST, len(sim.collidables)):
        return f"{data.name}: {len(own)} collidables, a cloth has at most {MOST}."
    if len({bool(placed.bone) for placed in own}) > 1:
        return f"{data.name}: collidables with and without a bone cannot be in one cloth."
    if own and own[0].bone and not data.transform_sets:
        return f"{data.name}: no bone moves this cloth, so no collidable can hang from one."
    return ""


def _masks(sim: SimCloth, places: list[int]) -> Array:
    """Return the masks for collidables that stood at ``places`` before, -1 for those that are new to the cloth.

    Bits that belonged to no collidable, such as the landscape's, stay.
    """
    old = sim.masks if len(sim.masks) else np.zeros(len(sim) if places else 0, np.uint32)
    taken = max(len(places), len(sim.collidables))
    masks = old & ~np.uint32((1 << min(taken, MOST)) - 1)
    everywhere = (sim.inverse_mass > 0).astype(np.uint32)
    for bit, place in enumerate(places):
        held = everywhere if place < 0 else (old >> np.uint32(min(place, MOST - 1))) & np.uint32(1)
        masks |= held << np.uint32(min(bit, MOST - 1))
    return masks


def _replaced(sim: SimCloth, **values: object) -> SimCloth:
    """Return the cloth with values, itself where they are its own."""
    fresh = {name: value for name, value in values.items() if not alike(value, getattr(sim, name))}
    if "collidables" not in fresh and not _all_same(values["collidables"], sim.collidables):  # type: ignore[arg-type]
        fresh["collidables"] = values["collidables"]
    return replace(sim, **fresh) if fresh else sim  # type: ignore[arg-type]


def _all_same(a: Iterable[object], b: Iterable[object]) -> bool:
    first, second = list(a), list(b)
    return len(first) == len(second) and all(x is y for x, y in zip(first, second, strict=True))


def _survey(file: ClothFile) -> tuple[tuple[PlacedCollidable, ...], list[list[int]]]:
    """Return the collidables of a file, and for each cloth which of them it lists."""
    found: dict[tuple[object, ...], PlacedCollidable] = {}
    listed = []
    for number, sim in enumerate(sims_of(file)):
        own: list[tuple[object, ...]] = []
        for record, (bone, offset) in zip(sim.collidables, _places(sim, file.skeleton), strict=True):
            place = id(record), bone, offset.tobytes()
            key = *place, sum(one[:3] == place for one in own)  # a cloth that lists the same twice has it twice
            known = found.get(key) or PlacedCollidable(record, bone, offset, frozenset(), len(found))
            found[key] = replace(known, sims=known.sims | {number})
            own.append(key)
        listed.append([found[key].source or 0 for key in own])
    for record in file.collidables:
        found[id(record), len(found)] = PlacedCollidable(record, "", record.transform, frozenset(), len(found))
    return tuple(found.values()), listed


def _places(sim: SimCloth, skeleton: Skeleton | None) -> Iterator[tuple[str, Array]]:
    """Yield bone and offset of each collidable of a cloth."""
    own = sim.collidable_map
    for index, record in enumerate(sim.collidables):
        if own.transform_set < 0 or skeleton is None:
            yield "", record.transform
        else:
            yield skeleton.bones[int(own.bones[index])], own.offsets[index]


def _driven(data: ClothData) -> list[int]:
    """Return the bones that a cloth data moves."""
    kinds = SimpleMeshBoneDeform | MeshBoneDeform
    return [bone for one in data.operators if isinstance(one, kinds) for bone in driven_bones(one).tolist()]
