"""The custom properties by which cloth is found again: after load, undo and renaming."""

from __future__ import annotations

from typing import Any

import bpy

PREFIX = "cloth_"
# of the collection of a cloth file
DATA = PREFIX + "data"  # the tagfile
ARMATURE = PREFIX + "armature"  # the object it follows
MESHES = PREFIX + "meshes"  # the object of each display buffer, by its number
EXTRA = PREFIX + "extra"  # collidables added at run time
POSE = PREFIX + "pose"  # what the user had set of the bones that cloth drives, while it does
# of objects
KIND = PREFIX + "kind"  # "points", "links" or "collidables"
SIM = PREFIX + "sim"  # of points and links: the simulated cloth, by its number
# of meshes whose armature modifier is off while they play: what it was. They stay the model's own: what has keys with
# the prefix is no part of one
SHOWN = "ossuary_armature_shown"
# attributes of meshes while they play
POSITION = PREFIX + "position"
SELECTION = PREFIX + "selection"
POSED = PREFIX + "posed"


def cloths(scene: Any) -> list[Any]:
    """Return the collections of a scene that hold cloth files.

    Called on every frame and redraw, so files without cloth pay for a look at all collections only: to follow a
    scene's tree of them is ten times as slow.
    """
    if not any(DATA in each for each in bpy.data.collections):
        return []
    return [each for each in scene.collection.children_recursive if DATA in each]


def parts(collection: Any, kind: str) -> list[Any]:
    """Return a cloth's objects of a kind."""
    return [obj for obj in collection.all_objects if obj.get(KIND) == kind]
