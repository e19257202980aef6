"""Meshes of the scene -> collision bodies that are in no file yet, and other hit materials for faces."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...codec import FormatError
from ...codec.binary import Array
from ...codec.havok.collision.bodies import NEW
from ...collision import SurfaceKind
from ..properties import set_properties
from ..texts import stored_text
from .build import add_attribute
from .colors import Palette, paint
from .keys import ACTIVE, AREA, OF_MAPS, PART, PREFIX, SCALE, SET, CollisionSet, Mode
from .sets import Groups
from .shades import SET_COLORS, SetColors
from .sources import CollisionSource, share

SDKS = {"sekiro": "20160200", "eldenring": "20180100"}  # by game


@dataclass(frozen=True)
class NewCollision:
    """What becomes of meshes that are turned into collision.

    Attributes:
        set: the set that they belong to; f makes extern meshes, the others compressed ones.
        game: "sekiro" or "eldenring".
        material: hit material id of all faces. Extern meshes of the games have -1.
        radius: convex radius in metres, of compressed meshes.
        area: what bodies of one new file share, such as the map's number; empty for the first object's name.
    """

    set: CollisionSet = CollisionSet.HIGH
    game: str = "eldenring"
    material: int = 0
    radius: float = 0.015
    area: str = ""


def make_collision(
    context: Any,
    objects: Iterable[Any],
    settings: NewCollision,
    beside: Any = None,
    color: Mode = Mode.MATERIAL,
    *,
    colors: SetColors = SET_COLORS,
) -> list[Any]:
    """Turn mesh objects into bodies: they move to the set's collection and get its colours; their shape stays.

    Args:
        context: Blender's.
        objects: of meshes, in object mode; those that are bodies already are left alone.
        settings: what becomes of them.
        beside: a body of a file that they are to be in as well; it tells set, game and radius then.
        color: what colours tell.
        colors: of the sets.

    Returns:
        The bodies.

    Raises:
        FormatError: ``beside`` is of no file.
    """
    chosen = [obj for obj in objects if obj.type == "MESH" and SET not in obj]
    if beside is not None and CollisionSource.of(beside) is None:
        raise FormatError(f"{beside.name} is in no file")
    groups, palette = Groups(context, 1.0), Palette(colors)
    for obj in chosen:
        set_properties(obj, _properties(obj, settings, settings.area or chosen[0].name, beside or {}))
        if beside is not None:
            share(obj, beside)
            _place_like(obj, beside)
        _move(obj, groups.collection(obj[AREA], CollisionSet(obj[SET])))
        if obj.data.users > 1:
            obj.data = obj.data.copy()
        _describe_faces(obj, settings.material)
        paint(obj, color, palette)
    return chosen


def _properties(obj: Any, settings: NewCollision, area: str, beside: Any) -> dict[str, Any]:
    name = CollisionSet(beside.get(SET, settings.set))
    return {
        SET: name.value,
        AREA: beside.get(AREA, area),
        PART: "",
        ACTIVE: settings.material,
        PREFIX + "game": beside.get(PREFIX + "game", settings.game),
        PREFIX + "sdk": beside.get(PREFIX + "sdk", SDKS[settings.game]),
        PREFIX + "radius": beside.get(PREFIX + "radius", settings.radius),
        PREFIX + "name": stored_text(name + obj.name if name in OF_MAPS and obj.name[:1].isdigit() else obj.name),
        PREFIX + "system": 0,
        PREFIX + "index": NEW,
        PREFIX + "triangles": sum(len(face.vertices) - 2 for face in obj.data.polygons),
    }


def _place_like(obj: Any, beside: Any) -> None:
    """Let an object stay where it is shown, in the space of another's file."""
    parent = beside.parent
    if parent is None or PART not in parent:
        if SCALE in beside:
            obj[SCALE] = beside[SCALE]
        return
    obj[PART] = beside.get(PART, "")
    world = obj.matrix_world.copy()
    obj.parent = parent
    obj.matrix_parent_inverse = parent.matrix_world.inverted()
    obj.matrix_basis = world


def _move(obj: Any, collection: Any) -> None:
    for each in obj.users_collection:
        each.objects.unlink(obj)
    collection.objects.link(obj)


def _describe_faces(obj: Any, material: int) -> None:
    mesh, count = obj.data, len(obj.data.polygons)
    for name in ("section", "primitive", "row", "data"):
        _set(mesh, name, np.full(count, -1))
    for name in ("key", "half"):
        _set(mesh, name, np.zeros(count))
    _set(mesh, "kind", np.full(count, int(SurfaceKind.EXTERN_MESH if obj[SET] == "f" else SurfaceKind.MESH)))
    _set(mesh, "material", np.full(count, material))
    _set(mesh, "interior", np.zeros(count, bool), "BOOLEAN")
    _set(mesh, "known", np.ones(count, bool), "BOOLEAN")


def _set(mesh: Any, name: str, values: Array, kind: str = "INT") -> None:
    old = mesh.attributes.get(PREFIX + name)
    if old is not None:
        mesh.attributes.remove(old)
    add_attribute(mesh, name, kind, values)


def assign_material(
    obj: Any, material: int, *, selected: bool, color: Mode = Mode.MATERIAL, colors: SetColors = SET_COLORS
) -> int:
    """Give faces of a body another hit material, which becomes the one that new faces take.

    Args:
        obj: the body, not in edit mode.
        material: hit material id as a signed number.
        selected: only the faces that are selected.
        color: what colours tell.
        colors: of the sets.

    Returns:
        How many faces have it now that had another.
    """
    mesh = obj.data
    chosen = np.ones(len(mesh.polygons), bool)
    if selected:
        mesh.polygons.foreach_get("select", chosen)
    obj[ACTIVE] = material
    known, stored = (mesh.attributes.get(PREFIX + name) for name in ("known", "material"))
    values, marks = np.zeros(len(chosen), np.int32), np.zeros(len(chosen), bool)
    stored.data.foreach_get("value", values)
    known.data.foreach_get("value", marks)
    changed = chosen & ~(marks & (values == material))
    values[changed], marks[changed] = material, True
    stored.data.foreach_set("value", values)
    known.data.foreach_set("value", marks)
    paint(obj, color, Palette(colors))
    return int(changed.sum())
