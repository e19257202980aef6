"""The conversion of files through the bpy wheel, as `blender --command ossuary` does it. Run by `dev.py convert`."""

from __future__ import annotations

import addon


def main(args: list[str]) -> int:
    """Register the extension, convert, and return the exit status."""
    addon.register()
    try:
        from addon.operators.convert import run

        return run(["convert", *args], program="dev.py")
    finally:
        # Blender 4.5 as a module hangs at exit with classes registered.
        addon.unregister()
