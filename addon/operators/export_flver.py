"""File > Export > FLVER Model."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy
from bpy.props import BoolProperty, EnumProperty, StringProperty

from ..scene.chosen import chosen_model
from ..scene.keys import models
from . import export

if TYPE_CHECKING:
    from ..scene import FlverExportSettings


class EXPORT_SCENE_OT_ossuary_flver(export.ExportsFile, bpy.types.Operator):
    """Write the active model back into a FLVER file or into the binder it belongs to"""

    bl_idname = "export_scene.ossuary_flver"
    bl_label = "Export FLVER"
    bl_options = {"REGISTER", "PRESET"}

    filter_glob: StringProperty(default="*.flver;*.flver.dcx;*.*bnd;*.*bnd.dcx", options={"HIDDEN"})

    meshes: EnumProperty(
        name="Meshes",
        description="Which mesh objects are in the file",
        items=(
            ("ALL", "All", "All meshes of the model, hidden ones too"),
            ("VISIBLE", "Visible", "Without those that are hidden: they will be missing in the file"),
            ("SELECTED", "Selected", "Only those that are selected: the others will be missing in the file"),
        ),
        default="ALL",
    )
    lods: EnumProperty(
        name="Levels of Detail",
        description="What becomes of levels of detail that are no objects of their own",
        items=(
            ("KEEP", "Keep", "As they are, without triangles whose vertices were removed"),
            ("REGENERATE", "Make Anew", "Made from the most detailed level. Right after large changes"),
            ("DROP", "Leave Out", "Only the most detailed level is in the file"),
        ),
        default="KEEP",
    )
    let_go_of_cloth: BoolProperty(
        name="Let Go of Cloth",
        description="Write cloth meshes even if their vertices were added or removed. Their cloth will not fit them",
        default=False,
    )

    @classmethod
    def poll(cls, context: Any) -> bool:
        """There is a model."""
        if not models(context):
            cls.poll_message_set("There is no imported model in this scene")
            return False
        return True

    def invoke(self, context: Any, _event: Any) -> set[str]:
        """Ask for a file, beginning at the one that the model came from."""
        from ..scene.provenance import Origin

        collection = chosen_model(context)
        if collection is None:
            return self.execute(context)  # which says so, before a file is chosen in vain
        source = Origin.of(collection)
        return self.choose_file(context, "" if source is None else source.file)

    def execute(self, context: Any) -> set[str]:
        """Export the active model and report in one line."""
        from ..scene import export_flver

        collection = chosen_model(context)
        if collection is None:
            self.report({"ERROR"}, "Select an object of the model to export: one that was imported by this extension")
            return {"CANCELLED"}
        return self.finish(context, export_flver(context, collection, Path(self.filepath), self.settings()))

    def settings(self) -> FlverExportSettings:
        """Return the options."""
        from ..scene import FlverExportSettings, Included, LodPolicy, Wrapper

        return FlverExportSettings(
            wrapper=Wrapper(self.wrapper),
            meshes=Included(self.meshes),
            lods=LodPolicy(self.lods),
            apply_modifiers=self.apply_modifiers,
            let_go_of_cloth=self.let_go_of_cloth,
        )

    def draw(self, _context: Any) -> None:
        """Lay the options out in panels."""
        layout = self.layout
        layout.use_property_split = True
        layout.use_property_decorate = False
        header, body = layout.panel("OSSUARY_export_file")
        header.label(text="File")
        if body:
            body.prop(self, "wrapper")
        header, body = layout.panel("OSSUARY_export_meshes")
        header.label(text="Meshes")
        if body:
            body.prop(self, "meshes")
            body.prop(self, "lods")
            body.prop(self, "apply_modifiers")
            body.prop(self, "let_go_of_cloth")


CLASSES = (EXPORT_SCENE_OT_ossuary_flver,)
