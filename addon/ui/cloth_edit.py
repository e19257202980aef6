"""The panels of the sidebar that edit cloth: below the Cloth panel."""

from __future__ import annotations

from typing import Any

import bpy

from ..operators import problems
from ..operators.cloth_collidables import active_collidable
from ..operators.cloth_edit import VALUES, active_sim, owner
from ..operators.cloth_playback import SETS, UsesPlayer
from ..operators.cloth_values import PROPERTY
from ..scene.cloth.keys import (
    BONE,
    EDIT,
    KIND,
    PARAMETERS,
    PINNED,
    PREFIX,
    RANGE,
    SHAPE,
    SIM,
    SIMS,
    STIFFNESS,
    edited_objects,
    sim_objects,
)
from ..scene.texts import loaded_text
from .cloth import REFUSED, ClothPart
from .sidebar import BESIDE, columns, draw_lines

TITLES = {kind: title for kind, title, _ in SETS.values()}
SHOWN = 24  # changes that are listed


class VIEW3D_PT_ossuary_cloth_edit(ClothPart, bpy.types.Panel):
    """Edit the active cloth or collidable"""

    bl_label = "Edit"

    def draw(self, context: Any) -> None:
        """Draw what the active object is."""
        layout = self.layout
        layout.use_property_split = True
        layout.use_property_decorate = False
        sim, collidable = active_sim(context), active_collidable(context)
        if sim is not None and sim[KIND] == EDIT:
            _draw_mesh(layout)
        elif sim is not None:
            _draw_sim(layout, context, sim)
        elif collidable is not None:
            _draw_collidable(layout, context, collidable)
        else:
            layout.label(text="Select points, links or a collidable", icon="INFO")
        layout.operator("object.ossuary_cloth_collidable_add", icon="ADD")


def _draw_mesh(layout: Any) -> None:
    """Offer to set values of particles, and to end."""
    row = layout.row(align=True)
    row.operator("object.ossuary_cloth_apply", icon="CHECKMARK")
    row.operator("object.ossuary_cloth_cancel", icon="X")
    layout.label(text="Set on selected particles:")
    grid = layout.grid_flow(columns=2, even_columns=True, align=True)
    for name, title, _ in VALUES:
        if name == PINNED:
            for state, text in ((True, "Pin"), (False, "Free")):
                button = grid.operator("mesh.ossuary_cloth_set", text=text)
                button.what, button.pinned = name, state
        else:
            grid.operator("mesh.ossuary_cloth_set", text=f"{title}...").what = name


def _draw_sim(layout: Any, context: Any, obj: Any) -> None:
    """Show settings and stiffness of the simulated cloth that points or links are of."""
    collection = owner(context)
    if collection is None:
        return
    clouds, links, _ = sim_objects(collection)
    cloud = clouds.get(obj[SIM])
    layout.operator("object.ossuary_cloth_edit", icon="EDITMODE_HLT")
    if cloud is not None:
        fields = getattr(cloud, PROPERTY)
        layout.label(text=cloud.name, icon="POINTCLOUD_DATA")
        for name in ("gravity", "damping", "substeps", "iterations", "landscape"):
            layout.prop(fields, name)
        column = layout.column()
        column.active = fields.landscape
        column.prop(fields, "landscape_radius", text="Radius")
        column.prop(fields, "landscape_tolerance", text="Tolerance")
    column = layout.column(align=True)
    column.use_property_split = False  # the names of sets are long: inside their fields they have the panel's width
    column.label(text="Stiffness:")
    for (sim, _), each in sorted(links.items(), key=lambda item: item[0]):
        if sim == obj[SIM]:
            _draw_set(column, each)
    for key in cloud.keys() if cloud is not None else ():
        if key.startswith(RANGE):
            column.prop(cloud, f'["{key}"]', text=TITLES["LocalRange"])
    if obj[KIND] == "links":
        layout.operator("mesh.ossuary_cloth_stiffness", icon="RESTRICT_SELECT_OFF")
    column = layout.column(align=True)
    row = column.row(align=True)
    row.operator("scene.ossuary_cloth_feel_copy", icon="COPYDOWN")
    row.operator("scene.ossuary_cloth_feel_paste", icon="PASTEDOWN")
    row = column.row(align=True)
    row.operator("scene.ossuary_cloth_feel_save")
    row.operator("scene.ossuary_cloth_feel_load")


def _draw_set(layout: Any, obj: Any) -> None:
    """Show the stiffness of a constraint set."""
    for names in STIFFNESS.values():
        for name in names:
            if name in obj.data.attributes:
                kind = obj[PREFIX + "set"]
                title = TITLES.get(kind, kind)
                text = title if len(names) == 1 else f"{title}, {name.split('_')[0].title()}"
                row = layout.row()
                row.enabled = not obj.data.is_editmode
                row.prop(getattr(obj, PROPERTY), name, text=text)


def _draw_collidable(layout: Any, context: Any, obj: Any) -> None:
    """Show shape, bone and cloths of a collidable."""
    fields = getattr(obj, PROPERTY)
    layout.prop(fields, "name_stored")
    layout.label(text=f"{obj[SHAPE]} on {obj.parent_bone or loaded_text(obj[BONE]) or 'no bone'}", icon="PHYSICS")
    for name in PARAMETERS.get(obj[SHAPE], ()):
        layout.prop(fields, name)
    collection = owner(context)
    clouds = sim_objects(collection)[0] if collection is not None else {}
    met = {int(each) for each in obj.get(SIMS, ())}
    column = layout.column(align=True)
    column.label(text="Met by:")
    for sim, cloud in sorted(clouds.items()):
        icon = "CHECKBOX_HLT" if sim in met else "CHECKBOX_DEHLT"
        column.operator(
            "object.ossuary_cloth_collidable_meets", text=cloud.name, icon=icon, depress=sim in met
        ).sim = sim


class VIEW3D_PT_ossuary_cloth_changes(ClothPart, bpy.types.Panel):
    """What differs from the file that the cloth was imported from"""

    bl_label = "Changes"

    def draw(self, context: Any) -> None:
        """List it, with what cannot be written."""
        from ..codec import FormatError

        layout, collection = self.layout, owner(context)
        if collection is None:
            layout.label(text="Select an object of the cloth", icon="INFO")
            return
        width = columns(context)
        try:
            edited = UsesPlayer.player_now().edited.of(collection)
        except FormatError as error:
            draw_lines(layout, [str(error)], width, "ERROR")
            return
        told = [(True, each) for each in edited.errors] + [(False, each) for each in edited.notes]
        problems.draw_found(layout, [(each.text, each.objects, bad) for bad, each in told], columns(context, BESIDE))
        if edited.errors:
            draw_lines(layout, [REFUSED], width, "INFO")
        if edited_objects(collection):
            layout.label(text="Without what is in edit mode", icon="INFO")
        lines = edited.changes
        names = {sim: cloud.name for sim, cloud in sim_objects(collection)[0].items()}
        if not lines and not edited.errors:
            layout.label(text="As in the file")
        draw_lines(layout, [f"{names.get(each.sim, 'File')}: {each.text}" for each in lines[:SHOWN]], width, "DOT")
        if len(lines) > SHOWN:
            layout.label(text=f"... and {len(lines) - SHOWN} more")
        layout.label(text="Revert to the file:")
        row = layout.row(align=True)
        for what, text in (("ALL", "All"), ("SIM", "This Cloth"), ("COLLIDABLES", "Collidables")):
            row.operator("scene.ossuary_cloth_revert", text=text).what = what
        layout.operator("export_scene.ossuary_cloth", icon="EXPORT")


CLASSES = (VIEW3D_PT_ossuary_cloth_edit, VIEW3D_PT_ossuary_cloth_changes)
