"""The custom properties by which cloth is found again: after load, undo and renaming."""

from __future__ import annotations

from typing import Any

import bpy

from ..keys import held_objects

PREFIX = "cloth_"
# of the collection of a cloth file
DATA = PREFIX + "data"  # the tagfile
TYPES = PREFIX + "types"  # the compendium that it needs, if any
ARMATURE = PREFIX + "armature"  # the object it follows
MESHES = PREFIX + "meshes"  # the object of each display buffer, by its number
EXTRA = PREFIX + "extra"  # collidables added at run time
# of objects
KIND = PREFIX + "kind"  # "points", "links", "collidables" or "edit"
SIM = PREFIX + "sim"  # of points and links: the simulated cloth, by its number
NAME = PREFIX + "name"  # as stored
SET = PREFIX + "set_index"  # of links: which constraint set of the cloth they are
GRAVITY = PREFIX + "gravity"  # of point clouds, in Blender's axes
RANGE = PREFIX + "range_stiffness_"  # property of a local range; the set's number follows
# of collidables
SHAPE = PREFIX + "shape"  # the class of its record
BONE = PREFIX + "bone"  # the stored name of the bone that carries it
SIMS = PREFIX + "sims"  # the simulated cloths that meet it
SOURCE = PREFIX + "collidable"  # its number in the file; new ones have none
HELD = PREFIX + "held"  # its place at its parent, as Blender had it once built
DRAWN = PREFIX + "drawn"  # the parameters of the shape that its mesh is drawn from
RUNTIME = PREFIX + "runtime"  # it was added from a file that the game adds: it is none of the cloth's own
# of what stays the model's own while it plays: what has keys with the prefix is no part of one
SHOWN = "ossuary_armature_shown"  # of meshes whose armature modifier is off: what it was
POSE = "ossuary_user_pose"  # of armatures: what the user had set of the bones that cloth drives
# attributes of points, and of the mesh to edit them
PINNED = "pinned"
UNLINKED = "unlinked"  # of the mesh alone: particles that are pinned and cannot be freed, for no link would hold them
VOLUME = "volume_stiffness_"  # of particles that a volume pulls, -1 for others; the set's number follows
# attributes of the edges of links by the columns of a set's stiffness
STIFFNESS = {1: ("stiffness",), 2: ("bend_stiffness", "stretch_stiffness")}
# attributes of meshes while they play
POSITION = PREFIX + "position"
SELECTION = PREFIX + "selection"
POSED = PREFIX + "posed"
# of modifiers that play a bake, and of the vertex groups that bound them
CACHE = PREFIX + "cache"

EDIT = "edit"  # the kind of a mesh to edit particles
SHAPED = ("MESH", "SURFACE", "META", "CURVE", "FONT")  # types of objects that collidables can be made of
# by class of the record: what states the shape, in the order of its maker
PARAMETERS: dict[str, tuple[str, ...]] = {
    "Sphere": ("center", "radius"),
    "Capsule": ("start", "end", "radius"),
    "TaperedCapsule": ("small", "big", "small_radius", "big_radius"),
}


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
    return [obj for obj in held_objects(collection) if obj.get(KIND) == kind]


def sim_objects(collection: Any) -> tuple[dict[int, Any], dict[tuple[int, int], Any], list[Any]]:
    """Return a cloth's point clouds by simulated cloth, its links by cloth and set, and copies of either.

    A copy is an object that says it is one that another is already: the one with the shortest name counts.
    """
    clouds: dict[int, Any] = {}
    links: dict[tuple[int, int], Any] = {}
    copies = []
    for obj in sorted(held_objects(collection), key=lambda obj: (len(obj.name), obj.name)):
        if obj.get(KIND) == "points":
            if clouds.setdefault(obj[SIM], obj) is not obj:
                copies.append(obj)
        elif obj.get(KIND) == "links" and SET in obj and links.setdefault((obj[SIM], obj[SET]), obj) is not obj:
            copies.append(obj)
    return clouds, links, copies


def edited_objects(collection: Any) -> list[Any]:
    """Return the meshes of a cloth's own that are in edit mode."""
    return [obj for obj in held_objects(collection) if KIND in obj and obj.type == "MESH" and obj.data.is_editmode]
