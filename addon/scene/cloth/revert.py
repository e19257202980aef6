"""Cloth as its file has it again: all of it, one simulated cloth, or the collidables."""

from __future__ import annotations

from typing import Any

import bpy

from ...cloth.edits import PlacedCollidable
from ...codec import FormatError
from ...maths import axes
from ..texts import stored_text
from . import shapes
from .build import ClothBuilder
from .gather import StoredCloth, collidable_objects
from .keys import ARMATURE, NAME, SIMS, SOURCE, sim_objects
from .links import fill_links, read_stiffness
from .placing import place_at
from .pointclouds import write
from .values import REST, count_points, put_to_rest


def revert_sim(context: Any, collection: Any, stored: StoredCloth, sim: int) -> None:
    """Give a simulated cloth back what its file has: settings, particles, rest pose, stiffness; what was deleted.

    Raises:
        FormatError: its points are not those of the file, or there is no armature for what was deleted.
    """
    clouds, links, _ = sim_objects(collection)
    record, values, cloud = stored.sims[sim], stored.values[sim], clouds.get(sim)
    rest = axes.swap_vectors(record.poses[0])
    if cloud is not None:
        if count_points(cloud) != len(record):
            raise FormatError(f"{cloud.name} has {count_points(cloud)} points, its cloth {len(record)}: undo that")
        write(cloud.data, REST, "FLOAT_VECTOR", rest)
    own = {index: obj for (place, index), obj in links.items() if place == sim}
    for index, obj in own.items():
        share = values.stiffness[index]
        try:
            if share is not None:
                read_stiffness(obj, record.constraints[index], share)
        except FormatError:  # links were added or deleted
            obj.data.clear_geometry()
            fill_links(obj.data, rest, record.constraints[index])
    ClothBuilder(collection, armature_of(collection), stored.file, context).simulated(sim, cloud, own)
    put_to_rest(collection)


def armature_of(collection: Any) -> Any:
    """Return the armature of a cloth.

    Raises:
        FormatError: it is gone.
    """
    armature = collection.get(ARMATURE)
    if armature is None:
        raise FormatError(f"{collection.name}: its armature is gone, and nothing carries its parts")
    return armature


def revert_collidables(context: Any, collection: Any, stored: StoredCloth) -> None:
    """Give a cloth the collidables of its file: deleted ones come back, new ones and copies go.

    Raises:
        FormatError: there is no armature to hang them on.
    """
    armature, known = armature_of(collection), set[int]()
    for obj in collidable_objects(collection):
        source = int(obj.get(SOURCE, -1))
        if source in known or not 0 <= source < len(stored.placed):
            mesh = obj.data
            bpy.data.objects.remove(obj)
            if mesh.users == 0:
                bpy.data.meshes.remove(mesh)
            continue
        known.add(source)
        _restore(obj, armature, stored.placed[source])
    builder = ClothBuilder(collection, armature, stored.file, context)
    for source, placed in enumerate(stored.placed):
        if source not in known:
            builder.collidable(placed)


def _restore(obj: Any, armature: Any, placed: PlacedCollidable) -> None:
    obj[NAME], obj[SIMS] = stored_text(placed.record.name), sorted(placed.sims)
    shapes.describe(obj, placed.record.shape)
    shapes.draw(obj, placed.record.shape)
    place_at(obj, armature, placed)


def revert_all(context: Any, collection: Any, stored: StoredCloth) -> None:
    """Give a cloth back everything that its file has.

    Raises:
        FormatError: points that are not those of the file, or no armature.
    """
    for sim in range(len(stored.sims)):
        revert_sim(context, collection, stored, sim)
    revert_collidables(context, collection, stored)
