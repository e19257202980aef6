"""The add-on's preferences as operators hand them down."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy

from ..scene.collision.keys import CollisionSet
from ..scene.collision.shades import shade_of

if TYPE_CHECKING:
    from ..scene.preferences import Preferences

DEFAULTS = ("textures", "cloth", "dummies")
COLOR = "color_"  # and the name of a set: the property with its colour


class Root:
    """Where Blender keeps the preferences: under the name of the extension's root package, told on registering."""

    package = ""


def preferences(context: Any) -> Preferences:
    """Return what the user has set; what is set without it where the add-on runs from a checkout."""
    from ..scene.preferences import Preferences
    from ..scene.settings import GameFolders

    addon = context.preferences.addons.get(Root.package)
    stored = None if addon is None else addon.preferences
    if stored is None:
        return Preferences()
    return Preferences(
        folders=GameFolders(folder(stored.sekiro_folder), folder(stored.elden_ring_folder)),
        colors={name: shade_of(getattr(stored, COLOR + name.value)) for name in CollisionSet},
        **{name: getattr(stored, name) for name in DEFAULTS},
    )


def folder(text: str) -> Path | None:
    """Return the folder that a text of the preferences means; None for none."""
    text = text.strip().strip('"')  # in which Windows copies paths
    return Path(bpy.path.abspath(text)) if text else None


def register(package: str) -> None:
    """Note where the preferences are."""
    Root.package = package


def unregister() -> None:
    """Forget it."""
    Root.package = ""
