"""What can be written over the 3D views, and the Overlays panel that switches it.

Nothing is added to the views while all of it is off.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import bpy
from bpy.props import BoolProperty, PointerProperty

from .icons import icon
from .sidebar import LAST, TAB

PROPERTY = "ossuary_overlays"
SWITCHES = {"dummies": "dummies", "nodes": "names", "legend": "legend"}  # with their icons
persistent: Callable[[Any], Any] = bpy.app.handlers.persistent


def _switched(_switches: Any, _context: Any) -> None:
    View.follow()


class OssuaryOverlays(bpy.types.PropertyGroup):
    """What is written over the 3D views of all windows."""

    dummies: BoolProperty(
        name="Dummy IDs", description="Write the reference ID beside each dummy in sight", update=_switched
    )
    nodes: BoolProperty(
        name="Node Names",
        description="Write the name that the file has for its node at the head of each bone in sight",
        update=_switched,
    )
    legend: BoolProperty(
        name="Collision Legend",
        description="List what the colours of the collision in sight stand for, with the number of faces",
        update=_switched,
    )


class View:
    """What Blender calls to draw over 3D views, while an overlay is on."""

    handle: Any = None

    @classmethod
    def follow(cls) -> None:
        """Add or take away the drawing as the switches tell, and have all 3D views drawn anew."""
        switches = cls.switches()
        wanted = any(getattr(switches, name) for name in SWITCHES)
        if wanted and cls.handle is None:
            cls.handle = bpy.types.SpaceView3D.draw_handler_add(cls.draw, (), "WINDOW", "POST_PIXEL")
        elif not wanted:
            cls.remove()
        for window in bpy.context.window_manager.windows:
            for area in window.screen.areas:
                if area.type == "VIEW_3D":
                    area.tag_redraw()

    @classmethod
    def remove(cls) -> None:
        """Take the drawing away."""
        if cls.handle is not None:
            bpy.types.SpaceView3D.draw_handler_remove(cls.handle, "WINDOW")
            cls.handle = None

    @classmethod
    def switch_off(cls) -> None:
        """Switch all off, so that registering again finds switches and drawing of one mind."""
        switches = cls.switches()
        for name in SWITCHES:
            setattr(switches, name, False)

    @staticmethod
    def switches() -> Any:
        """Return the switches."""
        return getattr(bpy.context.window_manager, PROPERTY)

    @classmethod
    def draw(cls) -> None:
        """Draw into the region that Blender is drawing; not where its own overlays are off."""
        from . import drawing

        context, switches = bpy.context, cls.switches()
        if context.space_data.overlay.show_overlays:
            drawing.draw(context, dummies=switches.dummies, nodes=switches.nodes, collision=switches.legend)


@persistent
def _loaded(*_args: Any) -> None:
    """Follow the switches that a file has brought."""
    View.follow()


class VIEW3D_PT_ossuary_overlays(bpy.types.Panel):
    """What is written over the 3D views"""

    bl_label = "Overlays"
    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = TAB
    bl_options = {"DEFAULT_CLOSED"}
    bl_order = LAST - 1

    def draw_header(self, _context: Any) -> None:
        """Draw the icon."""
        self.layout.label(**icon("overlays"))

    def draw(self, context: Any) -> None:
        """Draw the panel."""
        column = self.layout.column()
        switches = View.switches()
        for name, picture in SWITCHES.items():
            column.prop(switches, name, toggle=True, **icon(picture))
        if not context.space_data.overlay.show_overlays:
            column.label(text="Overlays of this view are off", icon="INFO")


CLASSES = (OssuaryOverlays, VIEW3D_PT_ossuary_overlays)


def register(_package: str) -> None:
    """Add the switches as a property of the window manager, and hear of loaded files."""
    setattr(bpy.types.WindowManager, PROPERTY, PointerProperty(type=OssuaryOverlays, options={"SKIP_SAVE"}))
    bpy.app.handlers.load_post.append(_loaded)


def unregister() -> None:
    """Take all away, what is drawn too."""
    View.switch_off()
    bpy.app.handlers.load_post.remove(_loaded)
    delattr(bpy.types.WindowManager, PROPERTY)
