"""The parts of a model that are shown and hidden together."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .keys import PREFIX, is_level, own_objects

MESHES, LEVELS, DUMMIES = "MESHES", "LEVELS", "DUMMIES"


def model_parts(collection: Any) -> dict[str, list[Any]]:
    """Return the objects of a model that are `MESHES`, `LEVELS` (further levels of detail) and `DUMMIES`."""
    parts: dict[str, list[Any]] = {MESHES: [], LEVELS: [], DUMMIES: []}
    for obj in own_objects(collection):
        if obj.type == "EMPTY" and PREFIX + "reference_id" in obj:
            parts[DUMMIES].append(obj)
        elif obj.type == "MESH":
            parts[LEVELS if is_level(obj) else MESHES].append(obj)
    return parts


def are_shown(objects: Iterable[Any], context: Any) -> bool:
    """Tell whether any of some objects is visible."""
    return any(obj.visible_get(view_layer=context.view_layer) for obj in objects)


def show(objects: Iterable[Any], context: Any, *, shown: bool) -> None:
    """Show or hide objects by their eyes; to show them, their collections' eyes are opened too."""
    present = [obj for obj in objects if obj.name in context.view_layer.objects]
    for obj in present:
        obj.hide_set(state=not shown, view_layer=context.view_layer)
    if shown:
        owners = {collection for obj in present for collection in obj.users_collection}
        waiting = [context.view_layer.layer_collection]
        while waiting:
            entry = waiting.pop()
            if entry.collection in owners:
                entry.hide_viewport = False
            waiting += entry.children
