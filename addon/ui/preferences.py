"""The add-on's preferences: the games' folders, what the import dialog begins with, the colours of collision."""

from __future__ import annotations

from typing import Any

import bpy
from bpy.props import BoolProperty, FloatVectorProperty, StringProperty

from ..operators.collision import recolor
from ..operators.preferences import COLOR, folder
from ..scene.collision.keys import CollisionSet
from ..scene.collision.shades import SET_COLORS, rgb_of

FOLDERS = (("sekiro_folder", "sekiro"), ("elden_ring_folder", "eldenring"))  # with the values of Game
LABELS = {
    CollisionSet.HIGH: "h", CollisionSet.LOW: "l", CollisionSet.FALL: "f", CollisionSet.RAGDOLL: "Ragdoll",
    CollisionSet.OTHER: "Other",
}  # fmt: skip


def _recolor(_preferences: Any, context: Any) -> None:
    recolor(context)


def _folder(title: str) -> Any:
    return StringProperty(
        name=title,
        description=f"Folder of the unpacked {title}, to find textures and materials in that are not beside a model",
        subtype="DIR_PATH",
    )


def _color(name: CollisionSet) -> Any:
    return FloatVectorProperty(
        name=LABELS[name],
        description="Colour of the bodies of this set; hit materials are shades of it",
        subtype="COLOR",
        default=rgb_of(SET_COLORS[name]),
        min=0.0,
        max=1.0,
        update=_recolor,
    )


class OssuaryPreferences(bpy.types.AddonPreferences):
    """What the user sets once for all"""

    bl_idname = ""  # the extension's root package, told on registering

    sekiro_folder: _folder("Sekiro")
    elden_ring_folder: _folder("Elden Ring")

    textures: BoolProperty(name="Textures", description="Import textures with models", default=True)
    cloth: BoolProperty(name="Cloth", description="Import the cloth beside models", default=True)
    dummies: BoolProperty(name="Dummies", description="Import attachment points with models", default=True)

    color_h: _color(CollisionSet.HIGH)
    color_l: _color(CollisionSet.LOW)
    color_f: _color(CollisionSet.FALL)
    color_ragdoll: _color(CollisionSet.RAGDOLL)
    color_other: _color(CollisionSet.OTHER)

    def draw(self, _context: Any) -> None:
        """Draw the preferences."""
        layout = self.layout
        layout.use_property_split = True
        layout.use_property_decorate = False
        layout.label(text="Folders of the Unpacked Games")
        for name, game in FOLDERS:
            layout.prop(self, name)
            icon, text = self.told(name, game)
            row = layout.row()
            row.alignment = "RIGHT"
            row.label(text=text, icon=icon)
        layout.label(text="Import Models with")
        column = layout.column(align=True)
        for name in ("textures", "cloth", "dummies"):
            column.prop(self, name)
        layout.label(text="Colours of Collision")
        column = layout.column(align=True)
        for each in CollisionSet:
            column.prop(self, COLOR + each.value)

    def told(self, name: str, game: str) -> tuple[str, str]:
        """Return the icon and the sentence on what is in a folder."""
        from ..codec.source import Game
        from ..model.textures import check

        path = folder(getattr(self, name))
        if path is None:
            return "INFO", "Not set: only what lies beside a model is found"
        good, text = check(path, Game(game))
        return "CHECKMARK" if good else "ERROR", text


def register(package: str) -> None:
    """Register the preferences under the name that Blender knows the extension by."""
    OssuaryPreferences.bl_idname = package
    bpy.utils.register_class(OssuaryPreferences)


def unregister() -> None:
    """Take them away."""
    bpy.utils.unregister_class(OssuaryPreferences)
