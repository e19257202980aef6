"""The Collision panel of the sidebar."""

from __future__ import annotations

from typing import Any

import bpy

from ..operators.collision import PROPERTY
from ..scene.collision.keys import ACTIVE, LABEL, PREFIX, SET, CollisionSet, collision_objects, layer_collections
from ..scene.result import counted
from .icons import icon
from .sidebar import TAB

SHOWN = 12  # lines of the legend


class VIEW3D_PT_ossuary_collision(bpy.types.Panel):
    """Sets, colours and checks of imported collision"""

    bl_label = "Collision"
    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = TAB

    def draw_header(self, _context: Any) -> None:
        """Draw the icon."""
        self.layout.label(**icon("collision"))

    def draw(self, context: Any) -> None:
        """Draw the panel."""
        layout = self.layout
        bodies = collision_objects(context.scene)
        if not bodies:
            layout.operator("import_scene.ossuary_collision", **icon("import"))
            layout.operator("object.ossuary_make_collision", icon="MESH_ICOSPHERE")
            return
        self._draw_sets(layout, context, bodies)
        view = getattr(context.scene, PROPERTY)
        layout.prop(view, "color")
        row = layout.row(align=True)
        row.prop(view, "wire", toggle=True)
        row.prop(view, "in_front", toggle=True)
        self._draw_legend(layout, context, bodies)
        self._draw_face(layout, context)
        layout.operator("object.ossuary_collision_check", icon="CHECKMARK")
        column = layout.column(align=True)
        column.operator("object.ossuary_make_collision", icon="MESH_ICOSPHERE")
        body = context.object
        if body is not None and SET in body:
            assign = column.operator("mesh.ossuary_collision_material", icon="MATERIAL")
            assign.material = int(body.get(ACTIVE, 0))
        column.operator("export_scene.ossuary_collision", **icon("export"))

    def _draw_sets(self, layout: Any, context: Any, bodies: list[Any]) -> None:

        column = layout.column(align=True)
        for name in CollisionSet:
            found = [obj for obj in bodies if obj[SET] == name.value]
            if found:
                entries = layer_collections(context.view_layer, name.value)
                hidden = bool(entries) and all(entry.hide_viewport for entry in entries)
                triangles = sum(obj.get(PREFIX + "triangles", 0) for obj in found)
                row = column.row()
                bodies_of = counted(len(found), "body", "bodies")
                row.label(text=f"{name.value}: {bodies_of}, {counted(triangles, 'triangle')}")
                icon = "HIDE_ON" if hidden else "HIDE_OFF"
                row.operator("object.ossuary_collision_set", text="", icon=icon, emboss=False).name = name.value
        row = column.row(align=True)
        row.operator("object.ossuary_collision_part", text="Part", icon="HIDE_OFF")
        row.operator_menu_enum("object.ossuary_collision_assign", "set", text="Assign to")

    def _draw_legend(self, layout: Any, context: Any, bodies: list[Any]) -> None:
        from ..scene.collision.colors import legend

        lines = legend(obj for obj in bodies if obj.visible_get(view_layer=context.view_layer))
        blocks = {block[LABEL]: block for block in bpy.data.materials if LABEL in block}
        column = layout.column(align=True)
        for label, count in lines[:SHOWN]:
            row = column.split(factor=0.15)
            if label in blocks:
                row.prop(blocks[label], "diffuse_color", text="")
            row.label(text=f"{label}: {count:,}")
        if len(lines) > SHOWN:
            column.label(text=f"... and {len(lines) - SHOWN} more")

    def _draw_face(self, layout: Any, context: Any) -> None:
        from ..scene.collision.faces import active_face

        face = active_face(context.object)
        if face is None:
            return
        box = layout.box().column(align=True)
        box.label(text=f"Active face: {face.kind}, key {face.key:#x}")
        if face.section >= 0:
            box.label(text=f"Section {face.section}, primitive {face.primitive}, half {face.half}")
        material = "none" if face.material is None else face.material
        row = "no source row" if face.row < 0 else f"source row {face.row}"
        box.label(text=f"Material {material}, {row}{', interior' if face.interior else ''}")
        layout.operator_menu_enum("mesh.ossuary_collision_like", "what")


CLASSES = (VIEW3D_PT_ossuary_collision,)
