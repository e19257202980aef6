"""Typed records -> datablocks and back. What scripts call; operators are a skin over it.

The names are those of `api`, which is loaded when the first of them is asked for: numpy and all codecs with it, which
Blender's start need not wait for.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .api import *  # noqa: F403 - the names are api's, which says them


def __getattr__(name: str) -> Any:
    """Return a public name, from `api`; ``from . import module`` asks for modules here before it imports them."""
    if find_spec(f".{name}", __name__) is None:
        api = import_module(".api", __name__)
        if name == "__all__" or name in api.__all__:
            return getattr(api, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
