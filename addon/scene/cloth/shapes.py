"""Shapes of collidables as properties of their objects, and the meshes that show them.

Points are in the object's space and Blender's axes, as the user sees them, lengths in metres.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...cloth import edits as makers
from ...cloth.surfaces import surface
from ...codec import FormatError
from ...codec.binary import Array
from ...codec.havok import cloth as records
from ...maths import axes
from ..geometry import connect, fill
from .keys import DRAWN, PARAMETERS, PREFIX, SHAPE

POINTS, RADII = ("center", "start", "end", "small", "big"), ("radius", "small_radius", "big_radius")
_MAKERS: dict[str, Callable[..., records.Shape]] = {
    "Sphere": makers.sphere,
    "Capsule": makers.capsule,
    "TaperedCapsule": makers.tapered_capsule,
}


def describe(obj: Any, shape: records.Shape) -> None:
    """Give an object the properties that state a shape, and no others."""
    for name in (*POINTS, *RADII):
        if PREFIX + name in obj:
            del obj[PREFIX + name]
    obj[SHAPE] = type(shape).__name__
    for name in PARAMETERS.get(obj[SHAPE], ()):
        value = getattr(shape, name)
        obj[PREFIX + name] = axes.swap_vectors(value).tolist() if name in POINTS else float(value)


def numbers(obj: Any) -> list[float]:
    """Return what an object's properties state, in the order of `PARAMETERS`; nothing for kinds without any."""
    found: list[float] = []
    for name in PARAMETERS.get(obj[SHAPE], ()):
        value = obj[PREFIX + name]
        found += [float(one) for one in value] if name in POINTS else [float(value)]
    return found


def shape_of(kind: str, stated: list[float], stored: records.Shape | None) -> records.Shape:
    """Return the shape that numbers state.

    Args:
        kind: class of the record.
        stated: as `numbers` returns them.
        stored: the shape in the file, None for a new one; it comes back where the numbers are its own.

    Raises:
        FormatError: a radius that is not positive, or numbers that state no shape.
    """
    if stored is not None and type(stored).__name__ == kind and stated == _numbers_of(stored):
        return stored
    if kind not in _MAKERS or len(stated) != len([n for name in PARAMETERS[kind] for n in range(_size(name))]):
        raise FormatError(f"is of no shape that can be made: {kind}")
    values, place = [], 0
    for name in PARAMETERS[kind]:
        part = stated[place : place + _size(name)]
        values.append(axes.swap_vectors(np.array(part, np.float32)) if name in POINTS else part[0])
        place += len(part)
    try:
        return _MAKERS[kind](*values)
    except ValueError as error:
        raise FormatError(str(error)) from error


def _numbers_of(shape: records.Shape) -> list[float]:
    found: list[float] = []
    for name in PARAMETERS.get(type(shape).__name__, ()):
        value = getattr(shape, name)
        found += axes.swap_vectors(value).tolist() if name in POINTS else [float(value)]
    return found


def _size(name: str) -> int:
    return 3 if name in POINTS else 1


def draw(obj: Any, shape: records.Shape) -> None:
    """Make an object's mesh show a shape, which its properties state."""
    if obj.data.users > 1:  # a copy of the object may be of another shape
        obj.data = obj.data.copy()
    mesh = obj.data
    mesh.clear_geometry()
    corners, triangles = surface(shape)
    fill(mesh, axes.swap_vectors(corners), np.ascontiguousarray(triangles[:, ::-1]))
    connect(mesh)
    obj[DRAWN] = numbers(obj)


def redraw(obj: Any) -> None:
    """Show what the properties of a collidable state; where they state no shape, what was shown stays."""
    if obj[SHAPE] not in PARAMETERS:
        return
    try:
        shape = shape_of(obj[SHAPE], numbers(obj), None)
    except FormatError:
        return
    draw(obj, shape)


def vertices(mesh: Any) -> Array:
    """Return the vertices of a mesh, (n, 3) f4 in the games' axes."""
    found = np.empty(3 * len(mesh.vertices), np.float32)
    mesh.vertices.foreach_get("co", found)
    return axes.swap_vectors(found.reshape(-1, 3))
