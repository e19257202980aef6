"""The sets of collision, and the collections and parents that keep them apart in the scene.

Maps have three sets, told by the first letter of binders and members: h, what players and the world touch, l, a coarser
copy, and f. Objects and assets have h and l, told by the end of the name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import bpy

from ...codec.source import Kind, Member
from ..texts import shown_name
from .keys import AREA, OF_MAPS, PART, SET, CollisionSet

_MAP = re.compile(r"([hlf])(\d[\d_]*?)(?:_(\d+))?", re.IGNORECASE)
_ASSET = re.compile(r"(.+)_([hlf])", re.IGNORECASE)


@dataclass(frozen=True)
class Place:
    """Where a body belongs.

    Attributes:
        set: its set.
        area: the map, or the name of the asset, whose sets belong together.
        part: what the bodies of the sets share, empty where there are no sets.
        model: the model number of a map part, empty for others.
    """

    set: CollisionSet
    area: str
    part: str = ""
    model: str = ""


def place_of(member: Member, body_name: str, chosen: CollisionSet | None = None) -> Place:
    """Tell where a body belongs, by the names of its member and itself; ``chosen`` overrides the set."""
    stem = member.name.split(".", 1)[0]
    if member.kind == Kind.RAGDOLL:
        return Place(chosen or CollisionSet.RAGDOLL, stem)
    for name in (stem, body_name):
        if found := _MAP.fullmatch(name):
            letter, area, model = found[1], found[2], found[3] or ""
            return Place(chosen or CollisionSet(letter.lower()), area, f"{area}_{model}".rstrip("_"), model or area)
    if found := _ASSET.fullmatch(stem):
        return Place(chosen or CollisionSet(found[2].lower()), found[1], found[1])
    return Place(chosen or CollisionSet.OTHER, stem)


def sets_beside(path: Path) -> dict[CollisionSet, Path]:
    """Return the files beside a map's or asset's collision that hold its other sets."""
    stem, dot, rest = path.name.partition(".")
    if found := _MAP.fullmatch(stem):
        own, names = found[1].lower(), {each: each.value + stem[1:] for each in OF_MAPS}
    elif found := _ASSET.fullmatch(stem):
        own, names = found[2].lower(), {each: f"{found[1]}_{each.value}" for each in OF_MAPS}
    else:
        return {}
    beside = {each: path.with_name(name + dot + rest) for each, name in names.items() if each.value != own}
    return {each: file for each, file in beside.items() if file.is_file()}


class Groups:
    """Collections by area and set, and one parent for each part; those of earlier imports are used again."""

    def __init__(self, context: Any, scale: float) -> None:
        self._scale = scale
        self._root = context.collection
        if self._root is None or not self._root.is_editable:
            self._root = context.scene.collection
        scene = context.scene
        tops = [each for each in scene.collection.children_recursive if AREA in each and SET not in each]
        self._areas: dict[str, Any] = {each[AREA]: each for each in tops}
        inner = [(top[AREA], child) for top in tops for child in top.children if SET in child]
        self._sets: dict[tuple[str, str], Any] = {(area, child[SET]): child for area, child in inner}
        empties = [obj for obj in scene.objects if obj.type == "EMPTY" and PART in obj]
        self._parents: dict[str, Any] = {obj[PART]: obj for obj in empties if obj.scale[0] == _rounded(scale)}

    def collection(self, area: str, name: CollisionSet) -> Any:
        """Return the collection of a set."""
        if (area, name.value) not in self._sets:
            child = bpy.data.collections.new(shown_name(f"{area} {name}"))
            child[AREA], child[SET] = area, name.value
            self.area(area).children.link(child)
            self._sets[area, name.value] = child
        return self._sets[area, name.value]

    def parent(self, place: Place) -> Any:
        """Return the empty that the sets of a part share."""
        if place.part not in self._parents:
            empty = bpy.data.objects.new(shown_name(f"part {place.part}"), None)
            empty.empty_display_size = 0.1
            empty.scale = (self._scale,) * 3
            empty[PART] = place.part
            self.area(place.area).objects.link(empty)
            self._parents[place.part] = empty
        return self._parents[place.part]

    def area(self, area: str) -> Any:
        """Return the collection that holds the sets of an area."""
        if area not in self._areas:
            top = bpy.data.collections.new(shown_name(f"Collision {area}"))
            top[AREA] = area
            self._root.children.link(top)
            self._areas[area] = top
        return self._areas[area]


def _rounded(value: float) -> float:
    """Return a number as Blender's float32 properties give it back."""
    from mathutils import Vector  # noqa: PLC0415

    return float(Vector((value, 0, 0))[0])


def reassign(objects: Iterable[Any], name: CollisionSet, context: Any) -> None:
    """Move bodies to another set."""
    groups = Groups(context, 1.0)
    for obj in objects:
        for collection in [each for each in obj.users_collection if SET in each]:
            collection.objects.unlink(obj)
        target = groups.collection(obj[AREA], name)
        if obj.name not in target.objects:
            target.objects.link(obj)
        obj[SET] = name.value
