"""What registered code leaves in a Blender session: everything that can be listed."""

from __future__ import annotations

import bpy
import bpy.utils.previews


def footprint() -> set[str]:
    """Return a name for each class, property, handler, menu entry, keymap item and icon collection there is."""
    types = {name: kind for name in dir(bpy.types) if isinstance(kind := getattr(bpy.types, name), type)}
    found = {f"type {name} {kind.__module__}" for name, kind in types.items()}
    for name, kind in types.items():
        if hasattr(kind, "bl_rna"):
            found |= {f"property {name}.{each.identifier}" for each in kind.bl_rna.properties}
        draw = getattr(kind, "draw", None)
        found |= {f"menu {name} {i} {each}" for i, each in enumerate(getattr(draw, "_draw_funcs", [])[1:])}
    for name in dir(bpy.app.handlers):
        handlers = getattr(bpy.app.handlers, name)
        if isinstance(handlers, list):
            found |= {f"handler {name} {i} {each}" for i, each in enumerate(handlers)}
    keymaps = getattr(bpy.context.window_manager.keyconfigs.addon, "keymaps", ())
    found |= {f"key {keymap.name} {item.idname} {item.type}" for keymap in keymaps for item in keymap.keymap_items}
    return found | {f"previews {number}" for number in range(len(bpy.utils.previews._uuid_open))}
