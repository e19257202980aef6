"""Which model and which cloth is meant: that of the active object, of the active collection, or the only one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .cloth.keys import ARMATURE, KIND, cloths
from .keys import held_objects, models, own_objects


def chosen_model(context: Any) -> Any:
    """Return the collection of the active model, else of the only one; None where there is no telling which.

    The active model is the one of the active object, which is a part of cloth where the cloth is on the model's
    armature, else the one that the active collection is of.
    """
    return _chosen(context, models(context), own_objects, _carrier(context))


def _carrier(context: Any) -> Any:
    """Return the armature of the cloth that the active object is a part of; where it is of none, the object itself."""
    active = context.view_layer.objects.active
    if active is None or KIND not in active:
        return active
    cloth = cloth_of(context.scene, active)
    return active if cloth is None else cloth.get(ARMATURE)


def cloth_of(scene: Any, obj: Any) -> Any:
    """Return the collection of the cloth that an object is a part of, or that is alone on its armature; else None."""
    found = cloths(scene)
    for collection in found:
        if obj in held_objects(collection):
            return collection
    armature = obj if obj.type == "ARMATURE" else obj.find_armature()
    on_it = [each for each in found if armature is not None and each.get(ARMATURE) == armature]
    return on_it[0] if len(on_it) == 1 else None


def chosen_cloth(context: Any) -> Any:
    """Return the collection of the active cloth, else of the only one; None where there is no telling which.

    The active cloth is the one of the active object, see `cloth_of`, else the one that the active collection is of.
    """
    active = context.view_layer.objects.active
    own = None if active is None else cloth_of(context.scene, active)
    return own or _chosen(context, cloths(context.scene), lambda _: (), active)


def _chosen(context: Any, found: list[Any], objects: Callable[[Any], Sequence[Any]], active: Any) -> Any:
    """Return the active one of some collections, else the only one; None where there is no telling which.

    Args:
        context: Blender's.
        found: the collections.
        objects: what belongs to one.
        active: the object that counts first, before the active collection; None for none.
    """
    for collection in found:
        if active is not None and active in objects(collection):
            return collection
    for collection in reversed(found):  # those inside others come later
        if context.collection is not None and context.collection in (collection, *collection.children_recursive):
            return collection
    return found[0] if len(found) == 1 else None
