"""The custom properties by which models are found again, and what is told by them alone."""

from __future__ import annotations

from typing import Any

import bpy

PREFIX = "flver_"
SOURCE = "source_sha256"
HASH = PREFIX + SOURCE  # of the collection of a model: of the bytes it was read from
COLLECTIONS = ("skeleton", "dummy owners", "mesh owners", "unused")  # of an armature's bones

_FOREIGN = ("collision_", "cloth_")  # properties of what other importers make


def models(context: Any) -> list[Any]:
    """Return the collections of the scene that are imported models.

    Called on every redraw: see `cloth.keys.cloths` on why all collections are looked at first.
    """
    if not any(HASH in each for each in bpy.data.collections):
        return []
    return [each for each in context.scene.collection.children_recursive if HASH in each]


def own_objects(collection: Any) -> list[Any]:
    """Return the objects of a model: those of its collection, without other models and other kinds of things in it."""
    objects = [obj for obj in collection.objects if not _is_foreign(obj)]
    for child in collection.children:
        if HASH not in child and not _is_foreign(child):
            objects += [obj for obj in own_objects(child) if obj not in objects]
    return objects


def held_objects(collection: Any) -> list[Any]:
    """Return all objects of a collection and of those inside it, each once.

    Not Blender's `all_objects`: after an undo that keeps what it has of an outer collection, which lacks the objects
    that came back to an inner one (found on 5.0).
    """
    found = dict.fromkeys(obj for each in (collection, *collection.children_recursive) for obj in each.objects)
    return list(found)


def is_level(obj: Any) -> bool:
    """Tell whether an object is a further level of detail of a mesh that has an object of its own."""
    return PREFIX + "mesh" in obj.data and PREFIX + "vertex_count" not in obj.data


def _is_foreign(block: Any) -> bool:
    return any(key.startswith(_FOREIGN) for key in block.keys())  # noqa: SIM118 - Blender's blocks have no iterator
