"""The Model panel of the sidebar."""

from __future__ import annotations

from typing import Any

import bpy

from ..scene.chosen import chosen_model
from ..scene.keys import COLLECTIONS, PREFIX, models
from ..scene.result import counted
from ..scene.shown import DUMMIES, LEVELS, MESHES, are_shown, model_parts
from ..scene.texts import loaded_text
from .icons import icon
from .sidebar import TAB

GAMES = {"sekiro": "Sekiro", "eldenring": "Elden Ring"}
# by the name of a bone collection: what is written beside its eye
BONES = dict(zip(COLLECTIONS, ("Skeleton", "Dummies' Nodes", "Meshes' Nodes", "Unused Nodes"), strict=True))


class VIEW3D_PT_ossuary_model(bpy.types.Panel):
    """The active model: what it holds, what of it is shown, what has changed"""

    bl_label = "Model"
    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = TAB

    @classmethod
    def poll(cls, context: Any) -> bool:
        """There is a model."""
        return bool(models(context))

    def draw_header(self, _context: Any) -> None:
        """Draw the icon."""
        self.layout.label(**icon("model"))

    def draw(self, context: Any) -> None:
        """Draw the panel."""
        layout = self.layout
        collection = chosen_model(context)
        if collection is None:
            layout.label(text="Select a part of a model: there are several")
            return
        parts = model_parts(collection)
        armature = next((obj for obj in collection.all_objects if obj.type == "ARMATURE"), None)
        _draw_facts(layout, collection, parts, armature)
        _draw_eyes(layout, context, parts, armature)
        row = layout.row(align=True)
        row.operator("view3d.ossuary_frame_model", icon="ZOOM_SELECTED")
        row.operator("object.ossuary_model_changes", text="Changes", icon="VIEWZOOM")
        layout.operator("export_scene.ossuary_flver", **icon("export"))


def _draw_facts(layout: Any, collection: Any, parts: dict[str, list[Any]], armature: Any) -> None:
    """Say what the model is, where it came from and what it holds."""
    from ..scene.provenance import Origin

    box = layout.box().column(align=True)
    game = GAMES.get(collection.get(PREFIX + "game", ""), "")
    version = f"FLVER {collection.get(PREFIX + 'version', 0):X}"
    box.label(text=", ".join(filter(None, (loaded_text(collection.get(PREFIX + "name", "")), game, version))))
    source = Origin.of(collection)
    if source is not None:
        box.label(text=f"from {source.file.name}")
    triangles = sum(len(obj.data.polygons) for obj in parts[MESHES])
    box.label(text=f"{counted(len(parts[MESHES]), 'mesh', 'meshes')} of {counted(triangles, 'triangle')}")
    bones = 0 if armature is None else len(armature.data.bones)
    box.label(text=f"{counted(bones, 'node')}, {counted(len(parts[DUMMIES]), 'dummy', 'dummies')}")


def _draw_eyes(layout: Any, context: Any, parts: dict[str, list[Any]], armature: Any) -> None:
    """Draw the switches of what is shown."""
    grid = layout.grid_flow(columns=2, even_columns=True, align=True, row_major=True)
    for part, title in ((MESHES, "Meshes"), (DUMMIES, "Dummies"), (LEVELS, "Levels of Detail")):
        if parts[part]:
            shown = are_shown(parts[part], context)
            entry = grid.operator(
                "object.ossuary_model_show", text=title, icon="HIDE_OFF" if shown else "HIDE_ON", depress=shown
            )
            entry.part = part
    for collection in () if armature is None else armature.data.collections:
        if collection.name in BONES and len(collection.bones):
            eye = "HIDE_OFF" if collection.is_visible else "HIDE_ON"
            grid.prop(collection, "is_visible", text=BONES[collection.name], toggle=True, icon=eye)


CLASSES = (VIEW3D_PT_ossuary_model,)
