"""Cloth onto meshes: positions in an attribute that a modifier after the armature takes, rest data untouched."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...codec.binary import Array
from ...maths import axes
from . import nodes
from .keys import MESHES, POSED, POSITION, SELECTION, SHOWN
from .pointclouds import write


@dataclass(frozen=True, eq=False)
class Output:
    """The display buffers of one mesh; there are two where two cloth datas share it.

    Attributes:
        number: of the mesh among those of the cloth.
        displays: places of the buffers in the setup.
        masks: for each buffer (n,) bool, the vertices it writes.
    """

    number: int
    displays: tuple[int, ...]
    masks: tuple[Array, ...]

    @property
    def selection(self) -> Array:
        """Which vertices any of them writes, (n,) bool."""
        return np.logical_or.reduce(self.masks)

    @property
    def whole(self) -> bool:
        """All vertices are written."""
        return bool(self.selection.all())


def bound_meshes(collection: Any) -> dict[int, Any]:
    """Return the mesh object of each display buffer; what was deleted is left out."""
    return {int(key): obj for key, obj in collection.get(MESHES, {}).items() if obj is not None}


def prepare(obj: Any, output: Output) -> None:
    """Make a mesh ready to take positions; it may be already."""
    if POSITION not in obj.data.attributes or SELECTION not in obj.data.attributes:
        write(obj.data, SELECTION, "BOOLEAN", output.selection)
        write(obj.data, POSITION, "FLOAT_VECTOR", np.zeros((len(obj.data.vertices), 3), np.float32))
    if nodes.attached(obj, nodes.MESH) is None:
        nodes.attach(obj, nodes.MESH)
        place_after_armature(obj)
    armature = armature_modifier(obj)
    if output.whole and armature is not None and SHOWN not in obj:
        obj[SHOWN] = [armature.show_viewport, armature.show_render]
        armature.show_viewport = armature.show_render = False


def in_mesh(output: Output, parts: list[Array], to_mesh: Array | None) -> Array:
    """Return the positions of a mesh, (n, 3) f4 in its object's space.

    Args:
        output: what is written.
        parts: (n, 3) f4 of each of its buffers, in the character's space.
        to_mesh: (4, 4) f8 from the armature object's space to the mesh object's; None where they are one.
    """
    found = parts[0]
    for mask, other in zip(output.masks[1:], parts[1:], strict=True):
        found = np.where(mask[:, None], other, found)
    found = axes.swap_vectors(found)
    if to_mesh is not None:
        found = (found @ to_mesh[:3, :3].T + to_mesh[:3, 3]).astype(np.float32)
    return found


def show(obj: Any, positions: Array) -> None:
    """Write positions, (n, 3) f4, into a prepared mesh."""
    write(obj.data, POSITION, "FLOAT_VECTOR", positions)


def posed(obj: Any, depsgraph: Any) -> Array | None:
    """Return where the armature has put a prepared mesh's vertices, (n, 3) f4 in its object's space."""
    attribute = obj.evaluated_get(depsgraph).data.attributes.get(POSED)
    if attribute is None or len(attribute.data) != len(obj.data.vertices):
        return None
    found = np.empty(3 * len(attribute.data), np.float32)
    attribute.data.foreach_get("vector", found)
    return found.reshape(-1, 3)


def restore(obj: Any) -> None:
    """Take away what `prepare` made."""
    modifier = nodes.attached(obj, nodes.MESH)
    if modifier is not None:
        group = modifier.node_group
        obj.modifiers.remove(modifier)
        nodes.remove_unused(group)
    for name in (POSITION, SELECTION):
        if name in obj.data.attributes:
            obj.data.attributes.remove(obj.data.attributes[name])
    if SHOWN in obj:
        armature = armature_modifier(obj)
        if armature is not None:
            armature.show_viewport, armature.show_render = (bool(each) for each in obj[SHOWN])
        del obj[SHOWN]


def armature_modifier(obj: Any) -> Any:
    """Return a mesh object's first armature modifier, None without."""
    return next((each for each in obj.modifiers if each.type == "ARMATURE"), None)


def place_after_armature(obj: Any) -> None:
    """Move an object's last modifier right behind its armature's."""
    armature = armature_modifier(obj)
    place = 0 if armature is None else list(obj.modifiers).index(armature) + 1
    obj.modifiers.move(len(obj.modifiers) - 1, place)
