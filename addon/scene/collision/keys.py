"""The custom properties by which collision is found again, and what is told by them alone."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

PREFIX = "collision_"
# of bodies and of what holds them
SET, PART, AREA = PREFIX + "set", PREFIX + "part", PREFIX + "area"
ACTIVE = PREFIX + "active_material"  # of a body: the hit material of faces that are new
SCALE = PREFIX + "scale"  # of a body without a part: its size in the scene as it was imported
# of materials and meshes
LABEL = PREFIX + "color"  # the colour of the legend that a material is
LEGEND = PREFIX + "legend"  # the number of a mesh's faces by label


class CollisionSet(StrEnum):
    """What a body belongs to."""

    HIGH = "h"
    LOW = "l"
    FALL = "f"
    RAGDOLL = "ragdoll"
    OTHER = "other"


OF_MAPS = (CollisionSet.HIGH, CollisionSet.LOW, CollisionSet.FALL)


class Mode(StrEnum):
    """What the colours of faces tell."""

    SET = "SET"
    MATERIAL = "MATERIAL"
    SECTION = "SECTION"
    INTERIOR = "INTERIOR"
    KIND = "KIND"


def collision_objects(scene: Any) -> list[Any]:
    """Return the collision bodies of a scene."""
    return [obj for obj in scene.objects if obj.type == "MESH" and SET in obj]


def layer_collections(view_layer: Any, name: str) -> list[Any]:
    """Return the view layer's entries for the collections of a set."""
    found, waiting = [], [view_layer.layer_collection]
    while waiting:
        entry = waiting.pop()
        if entry.collection.get(SET) == name:
            found.append(entry)
        waiting += entry.children
    return found
