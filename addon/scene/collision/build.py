"""Collision bodies -> mesh objects with what the file says of each face."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import bpy
import numpy as np

from ...codec.binary import Array
from ...codec.havok.collision import NO_MATERIAL, Body
from ...codec.havok.collision.shapes import MeshShape
from ...codec.source import Member
from ...collision import Surface
from ...maths import axes
from .. import geometry
from ..properties import set_properties
from ..texts import shown_name, stored_text
from .keys import ACTIVE, AREA, PART, PREFIX, SET
from .sets import Place

INT32 = 1 << 31


@dataclass(frozen=True)
class Origin:
    """Where a body is from.

    Attributes:
        file: absolute path.
        member: in that file.
        body: as stored.
        compendium: absolute path of the file that the user chose for its types; empty without one.
    """

    file: str
    member: Member
    body: Body
    compendium: str = ""


def build(surface: Surface, origin: Origin, title: str, place: Place) -> Any:
    """Make the object of a body; it is linked to nothing yet.

    Collision is wound outwards in the games' space; the swap of axes mirrors it, so corners are reversed.
    """
    mesh = bpy.data.meshes.new(shown_name(title))
    found = surface.mesh
    vertices = axes.swap_vectors(found.vertices)
    triangles = np.ascontiguousarray(found.triangles[:, [0, 2, 1]])
    geometry.fill(mesh, vertices, triangles)
    for name, values in (
        ("key", found.keys), ("section", found.section), ("primitive", found.primitive), ("half", found.half),
        ("row", found.row), ("material", found.materials), ("data", found.primitive_data), ("kind", surface.kind),
    ):  # fmt: skip
        add_attribute(mesh, name, "INT", values.view(np.int32) if values.dtype == np.uint32 else values)
    add_attribute(mesh, "interior", "BOOLEAN", found.interior)
    add_attribute(mesh, "known", "BOOLEAN", np.ones(len(found), bool))
    geometry.connect(mesh)
    mesh.shade_flat()
    obj = bpy.data.objects.new(shown_name(title), mesh)
    set_properties(obj, _properties(surface, origin, place))
    return obj


def add_attribute(mesh: Any, name: str, kind: str, values: Array) -> None:
    """Give a mesh a face attribute of ours; ``kind`` is "INT" or "BOOLEAN"."""
    attribute = mesh.attributes.new(PREFIX + name, kind, "FACE")
    if len(values):
        attribute.data.foreach_set("value", np.ascontiguousarray(values, bool if kind == "BOOLEAN" else np.int32))


def _properties(surface: Surface, origin: Origin, place: Place) -> dict[str, Any]:
    body = origin.body
    values: dict[str, Any] = {
        SET: place.set.value,
        AREA: place.area,
        PART: place.part,
        PREFIX + "model": place.model,
        PREFIX + "sdk": body.sdk,
        PREFIX + "file": stored_text(origin.file),
        PREFIX + "member": stored_text(origin.member.path),
        PREFIX + "member_id": origin.member.id,
        PREFIX + "game": str(origin.member.game),
        PREFIX + "name": stored_text(body.name),
        PREFIX + "system": body.system,
        PREFIX + "index": body.index,
        PREFIX + "position": body.position.tolist(),
        PREFIX + "orientation": body.orientation.tolist(),
        PREFIX + "fields": {name: _number(value) for name, value in body.fields.items()},
        PREFIX + "triangles": len(surface.mesh),
        ACTIVE: most_used(surface.mesh.materials),
    }
    if origin.compendium:
        values[PREFIX + "compendium"] = stored_text(origin.compendium)
    if body.shape is not None:
        values[PREFIX + "shape"], values[PREFIX + "key_bits"] = body.shape.name, body.shape.key_bits
        values[PREFIX + "radius"], values[PREFIX + "flags"] = body.shape.radius, body.shape.flags
        values[PREFIX + "user_data"] = _number(body.shape.user_data)
    if isinstance(body.shape, MeshShape):
        mesh = body.shape.mesh
        values[PREFIX + "sections"], values[PREFIX + "primitives"] = len(mesh.sections), len(body.shape.primitives.kind)
        values[PREFIX + "customs"] = len(body.shape.custom)
        values[PREFIX + "pages"] = int(mesh.sections["page"].max(initial=0))
    return values


def most_used(materials: Array) -> int:
    """Return the material that most faces have, as a property holds it; -1 where none has one."""
    names, counts = np.unique(materials[materials != NO_MATERIAL], return_counts=True)
    return _signed(int(names[counts.argmax()])) if len(names) else -1


def _signed(value: int) -> int:
    return value - 2 * INT32 if value >= INT32 else value


def _number(value: float) -> int | float | str:
    """Return a stored number as a property holds it: 32 bits as signed ones, larger ones as text."""
    if isinstance(value, float) or -INT32 <= value < INT32:
        return value
    return _signed(int(value)) if 0 <= value < 2 * INT32 else str(value)
