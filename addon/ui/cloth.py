"""The Cloth panel of the sidebar."""

from __future__ import annotations

from typing import Any

import bpy

from ..operators.cloth_playback import PROPERTY, SETS, UsesPlayer
from ..scene.cloth.keys import PREFIX, cloths, parts
from ..scene.result import counted
from .icons import icon
from .sidebar import BESIDE, TAB, columns, draw_lines

SHOWN = 8  # cloth files that are listed
SHOWN_REFUSED = 3  # edits of each that are; the Changes panel has all
REFUSED = "Refused: the cloth plays with what its file has there, and is exported once you undo, mend or revert it"


class VIEW3D_PT_ossuary_cloth(UsesPlayer, bpy.types.Panel):
    """Play imported cloth"""

    bl_label = "Cloth"
    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = TAB

    @classmethod
    def poll(cls, context: Any) -> bool:
        """Shown always, to import."""
        return context.scene is not None

    def draw_header(self, _context: Any) -> None:
        """Draw the icon."""
        self.layout.label(**icon("cloth"))

    def draw(self, context: Any) -> None:
        """Draw the panel."""
        layout = self.layout
        found = cloths(context.scene)
        if not found:
            layout.operator("import_scene.ossuary_cloth", text="Import Cloth", icon="IMPORT")
            return
        settings, player = getattr(context.scene, PROPERTY), UsesPlayer.player_now()
        row = layout.row(align=True)
        row.prop(settings, "play", toggle=True, icon="MOD_CLOTH")
        playing = context.screen is not None and context.screen.is_animation_playing
        row.operator("screen.animation_play", text="", icon="PAUSE" if playing else "PLAY")
        row.operator("scene.ossuary_cloth_reset", text="Reset", icon="LOOP_BACK")
        row = layout.row()
        row.active = settings.play
        row.operator("scene.ossuary_cloth_live", depress=player.live, icon="REC")
        for collection in found[:SHOWN]:
            _draw_cloth(layout, player, collection, columns(context, BESIDE))
        if len(found) > SHOWN:
            layout.label(text=f"... and {len(found) - SHOWN} more")
        row = layout.row(align=True)
        for name in ("points", "links", "collidables"):
            row.prop(settings, name, toggle=True)
        layout.operator("scene.ossuary_cloth_collidables", icon="PHYSICS")
        layout.operator("scene.ossuary_cloth_bake", icon="FILE_CACHE")


def _draw_cloth(layout: Any, player: Any, collection: Any, width: int) -> None:
    """Say what a cloth holds, how fast it steps and what it lacks."""
    box = layout.box().column(align=True)
    clouds = parts(collection, "points")
    particles = sum(len(obj.data.points) for obj in clouds)
    box.label(text=collection.name)
    box.label(text=f"{counted(len(clouds), 'cloth')}, {counted(particles, 'particle')}")
    session = player.sessions.get(collection.session_uid)
    if session is not None and session.speed:
        box.label(text=f"{session.speed:.0f} steps a second")
        box.label(text=f"{counted(len(session.frames), 'frame')} kept, {session.frames.nbytes / 1e6:.0f} MB")
    if any(obj.get(PREFIX + "landscape") for obj in clouds):
        draw_lines(box, ["Collision with the landscape is not simulated"], width, "INFO")
    if any(obj.get(PREFIX + "virtual_points") for obj in clouds):
        draw_lines(box, ["Virtual collision points are not simulated"], width, "INFO")
    problem = player.problem(collection)
    if problem:
        draw_lines(box, [problem], width, "ERROR")
    elif refused := player.refused(collection):
        draw_lines(box, refused[:SHOWN_REFUSED], width, "ERROR")
        draw_lines(box, [REFUSED], width, "INFO")


class ClothPart:
    """What the panels below the Cloth panel share."""

    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = TAB
    bl_parent_id = "VIEW3D_PT_ossuary_cloth"
    bl_options = {"DEFAULT_CLOSED"}

    @classmethod
    def poll(cls, context: Any) -> bool:
        """There is cloth."""
        return bool(cloths(context.scene))


class VIEW3D_PT_ossuary_cloth_settings(ClothPart, bpy.types.Panel):
    """How cloth plays"""

    bl_label = "Simulation"

    def draw(self, context: Any) -> None:
        """Draw the panel."""
        layout = self.layout
        layout.use_property_split = True
        layout.use_property_decorate = False
        settings = getattr(context.scene, PROPERTY)
        for name in ("state", "rate", "substeps", "settle"):
            layout.prop(settings, name)
        _draw_own(layout, settings, "gravity")
        layout.prop(settings, "gravity_scale")
        _draw_own(layout, settings, "damping")
        for name in ("wind", "roots", "memory"):
            layout.prop(settings, name)
        column = layout.column(heading="Constraints", align=True)
        column.prop(settings, "collisions")
        for name in SETS:
            column.prop(settings, name)


def _draw_own(layout: Any, settings: Any, name: str) -> None:
    """Draw a value that stands in place of what each cloth has, where it is switched on."""
    layout.prop(settings, f"own_{name}")
    column = layout.column()
    column.active = getattr(settings, f"own_{name}")
    column.prop(settings, name)


CLASSES = (VIEW3D_PT_ossuary_cloth, VIEW3D_PT_ossuary_cloth_settings)
