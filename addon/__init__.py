"""Ossuary: FLVER models, Havok collision and Havok cloth of Sekiro and Elden Ring in Blender.

Importing this package, or anything from `collision`, `cloth` and `model` inward, needs no Blender: what uses bpy is
imported inside `register`.

Registering is a part of every start of Blender, so it loads neither numpy nor what needs it: modules of `operators` and
`ui` import the names of datablocks' properties and the like (`scene.keys`, `scene.cloth.keys`, `scene.collision.keys`,
...) at their top, and what does the work inside the functions that call it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib import import_module
from types import ModuleType

# In the order of registration. Each has CLASSES of Blender's, register(package: str) and unregister() for what else
# there is, or both; package is the extension's root package, under which Blender keeps its preferences and its folder.
_MODULES: tuple[str, ...] = (
    ".operators.report",
    ".operators.preferences",
    ".operators.copy_report",
    ".operators.import_flver",
    ".operators.problems",
    ".operators.export_flver",
    ".operators.import_collision",
    ".operators.import_cloth",
    ".operators.collision",
    ".operators.make_collision",
    ".operators.export_collision",
    ".operators.cloth_playback",
    ".operators.cloth_values",
    ".operators.cloth_edit",
    ".operators.cloth_collidables",
    ".operators.cloth_feel",
    ".operators.export_cloth",
    ".operators.model",
    ".operators.drop",
    ".operators.convert",
    ".ui.preferences",
    ".ui.icons",
    ".ui.menus",
    ".ui.sidebar",
    ".ui.model",
    ".ui.collision",
    ".ui.cloth",
    ".ui.cloth_edit",
    ".ui.overlays",
)

# What takes back what is registered now: only Blender's session knows it, and a reload of this module must not guess.
_undo: list[Callable[[], None]] = []


def register(package: str | None = None) -> None:
    """Register every module in order; all of them or, when one raises, none.

    Args:
        package: name of the extension's root package; None when run from a checkout.
    """
    unregister()
    try:
        for name in _MODULES:
            _add(import_module(name, __package__), package or __package__)
    except BaseException:
        unregister()
        raise


def unregister() -> None:
    """Unregister, last first, what `register` registered; nothing if there is nothing."""
    while _undo:
        _undo.pop()()


def _add(module: ModuleType, package: str) -> None:
    """Register a module's classes, then what else it has."""
    if classes := getattr(module, "CLASSES", ()):
        from bpy.utils import register_class, unregister_class  # noqa: PLC0415 - the package needs no Blender

        for cls in classes:
            register_class(cls)
            _undo.append(partial(unregister_class, cls))
    if hasattr(module, "register"):
        module.register(package)
        _undo.append(module.unregister)
