"""The file Blender demands beside the manifest: hands over to `addon`, under whatever name Blender gave the package."""

from . import addon


def register() -> None:
    """Register the extension."""
    addon.register(__package__)


def unregister() -> None:
    """Take back all that `register` added."""
    addon.unregister()
