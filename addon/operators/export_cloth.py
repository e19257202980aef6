"""File > Export > Havok Cloth."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import bpy
from bpy.props import BoolProperty, StringProperty

from ..scene.chosen import chosen_cloth
from ..scene.cloth.keys import PREFIX, cloths
from . import export


class EXPORT_SCENE_OT_ossuary_cloth(export.WritesFile, bpy.types.Operator):
    """Write the active cloth with its edits back into a tagfile or into the binder it belongs to"""

    bl_idname = "export_scene.ossuary_cloth"
    bl_label = "Export Cloth"
    bl_options = {"REGISTER", "PRESET"}

    filter_glob: StringProperty(default="*.hkx;*.hkx.dcx;*.*bnd;*.*bnd.dcx", options={"HIDDEN"})
    insist: BoolProperty(
        name="Write Even If Faulty",
        description="Write edited cloth even if its parts no longer fit together, or if it flies apart when it is "
        "tried for two seconds. Such a cloth may look wrong in the game or crash it",
        default=False,
        options={"SKIP_SAVE"},
    )

    @classmethod
    def poll(cls, context: Any) -> bool:
        """There is cloth."""
        if not cloths(context.scene):
            cls.poll_message_set("There is no imported cloth in this scene")
            return False
        return True

    def invoke(self, context: Any, _event: Any) -> set[str]:
        """Ask for a file, beginning at the one that the cloth came from."""
        from ..scene.provenance import Origin

        collection = chosen_cloth(context)
        if collection is None:
            return self.execute(context)  # which says so, before a file is chosen in vain
        source = Origin.of(collection, PREFIX)
        return self.choose_file(context, "" if source is None else source.file)

    def execute(self, context: Any) -> set[str]:
        """Export the active cloth and report in one line."""
        from ..scene import ClothExportSettings, Wrapper, export_cloth

        collection = chosen_cloth(context)
        if collection is None:
            self.report({"ERROR"}, "Select an object of the cloth to export, or the armature it is on")
            return {"CANCELLED"}
        settings = ClothExportSettings(Wrapper(self.wrapper), self.insist)
        return self.finish(context, export_cloth(context, collection, Path(self.filepath), settings))

    def draw(self, _context: Any) -> None:
        """Lay the options out."""
        layout = self.layout
        layout.use_property_split = True
        layout.use_property_decorate = False
        layout.prop(self, "wrapper")
        layout.prop(self, "insist")


CLASSES = (EXPORT_SCENE_OT_ossuary_cloth,)
