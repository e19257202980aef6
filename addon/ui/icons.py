"""Our own icons, for themes that are dark and for those that are light."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import bpy
import bpy.utils.previews

FOLDER = Path(__file__).resolve().parents[2] / "icons"
# a row of red, green and blue as the eye weighs them
LUMINANCE = (0.2126, 0.7152, 0.0722)

# by the name of the picture: Blender's icon where pictures are not to be had
FALLBACKS = {
    "ossuary": "GHOST_ENABLED",
    "model": "ARMATURE_DATA",
    "collision": "MESH_ICOSPHERE",
    "cloth": "MOD_CLOTH",
    "dummies": "EMPTY_ARROWS",
    "names": "BONE_DATA",
    "legend": "COLOR",
    "overlays": "OVERLAY",
    "import": "IMPORT",
    "export": "EXPORT",
}


class Pictures:
    """The pictures that are loaded, from registering to unregistering."""

    loaded: Any = None


def icon(name: str) -> dict[str, Any]:
    """Return an icon as arguments of `label`, `operator` and their like, in the colour that shows on the theme."""
    if Pictures.loaded is not None:
        key = f"{'dark' if is_dark() else 'light'}/{name}"
        if key not in Pictures.loaded:
            Pictures.loaded.load(key, str(FOLDER / f"{key}.png"), "IMAGE")
        if found := Pictures.loaded[key].icon_id:
            return {"icon_value": found}
    return {"icon": FALLBACKS[name]}


def is_dark() -> bool:
    """Tell whether the theme writes light on dark."""
    text = bpy.context.preferences.themes[0].user_interface.wcol_menu_item.text
    return sum(weight * part for weight, part in zip(LUMINANCE, text, strict=True)) > 0.5


def register(_package: str) -> None:
    """Make room for the pictures; each is read when it is first asked for."""
    Pictures.loaded = bpy.utils.previews.new()


def unregister() -> None:
    """Let go of them."""
    bpy.utils.previews.remove(Pictures.loaded)
    Pictures.loaded = None
