"""Point clouds that are hidden while their edit meshes are there, and shown when those are gone, however they went.

Blender keeps in a scene which of its objects are hidden. What hides a cloud is noted in the scene too, so that undo
brings back both at once: it takes up anew only what a step has changed, as deleting an object changes its scene.
"""

from __future__ import annotations

from typing import Any

import bpy

from .keys import EDIT, PREFIX, SIM, cloths, parts, sim_objects

HIDDEN = PREFIX + "hidden"  # of a scene: the clouds that are hidden for their edit meshes, and whether they were before


def edit_mesh(collection: Any, sim: int) -> Any:
    """Return the edit mesh of a simulated cloth, None without."""
    return next((obj for obj in parts(collection, EDIT) if obj[SIM] == sim), None)


def hide_points(scene: Any, collection: Any, sim: int, cloud: Any) -> None:
    """Hide the points of a simulated cloth until `show_points`, or until its edit mesh is gone."""
    note = {"cloth": collection, "sim": sim, "before": cloud.hide_get()}
    scene[HIDDEN] = [*_noted(scene), note]
    cloud.hide_set(state=True)


def show_points(scene: Any, collection: Any, sim: int) -> None:
    """Show the points of a simulated cloth again, where nothing but their edit mesh hid them."""
    notes = _noted(scene)
    own = [note for note in notes if (note["cloth"], note["sim"]) == (collection, sim)]
    if not own:
        return
    scene[HIDDEN] = [note for note in notes if note not in own]
    if len(own) == len(notes):
        del scene[HIDDEN]
    cloud = None if collection is None else sim_objects(collection)[0].get(sim)
    if cloud is not None and cloud.name in bpy.context.view_layer.objects:
        cloud.hide_set(state=bool(own[0]["before"]))


def show_left(scene: Any) -> None:
    """Show the points of a scene whose edit meshes are gone; called on every change, when hardly ever one is."""
    if HIDDEN not in scene:
        return
    found = cloths(scene)
    for note in _noted(scene):
        if note["cloth"] not in found or edit_mesh(note["cloth"], note["sim"]) is None:
            show_points(scene, note["cloth"], note["sim"])


def _noted(scene: Any) -> list[dict[str, Any]]:
    return [{name: note.get(name) for name in ("cloth", "sim", "before")} for note in scene.get(HIDDEN, ())]
