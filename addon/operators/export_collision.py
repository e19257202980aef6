"""File > Export > Havok Collision."""

from __future__ import annotations

from pathlib import Path
from threading import Event, Thread
from typing import TYPE_CHECKING, Any

import bpy
from bpy.props import EnumProperty, StringProperty

from ..scene.collision.keys import SET
from . import export

if TYPE_CHECKING:
    from ..scene import CollisionExport, CollisionExportSettings, ExportResult

STEP = 0.1  # seconds between looks at an export that runs beside Blender


class EXPORT_SCENE_OT_ossuary_collision(export.ExportsFile, bpy.types.Operator):
    """Write the bodies of the active body's file back into it, into a copy of it, or new bodies into a new file"""

    bl_idname = "export_scene.ossuary_collision"
    bl_label = "Export Collision"
    bl_options = {"REGISTER", "PRESET"}

    filter_glob: StringProperty(default="*.hkx;*.hkx.dcx;*.*bhd;*.*bdt;*.*bnd;*.*bnd.dcx", options={"HIDDEN"})
    types: EnumProperty(
        name="Types",
        description="Where a new file has its types from",
        items=(
            ("OWN", "Its Own", "The file holds its types"),
            ("COMPENDIUM", "A Compendium", "The types are those of a compendium, as in the games' maps"),
        ),
        default="OWN",
    )
    compendium: StringProperty(
        name="Compendium", description="A .compendium file of the game's", subtype="FILE_PATH", default=""
    )

    @classmethod
    def poll(cls, context: Any) -> bool:
        """There are bodies."""
        if not any(SET in obj for obj in context.scene.objects):
            cls.poll_message_set("There is no collision in this scene: import some, or make it of meshes")
            return False
        return True

    def invoke(self, context: Any, _event: Any) -> set[str]:
        """Ask for a file, beginning at the one that the bodies came from."""
        from ..scene import chosen_bodies
        from ..scene.collision.sources import CollisionSource

        bodies = chosen_bodies(context)
        if not bodies:
            return self.execute(context)  # which says so, before a file is chosen in vain
        source = CollisionSource.of(bodies[0])
        return self.choose_file(context, f"{bodies[0].name}.hkx" if source is None else source.file)

    def execute(self, context: Any) -> set[str]:
        """Export; beside Blender where it was called from its menus, with Esc to cancel."""
        from ..scene import CollisionExport, chosen_bodies

        bodies = chosen_bodies(context)
        if not bodies:
            self.report({"ERROR"}, "Select a body of the file to export: there are several files")
            return {"CANCELLED"}
        work = CollisionExport(context, bodies, Path(self.filepath), self.settings())
        if not self.in_window or work.result.errors:
            return self.finish(context, work.run())
        self._begin(context, work)
        return {"RUNNING_MODAL"}

    def settings(self) -> CollisionExportSettings:
        """Return the options."""
        from ..scene import CollisionExportSettings, Wrapper

        chosen = self.types == "COMPENDIUM" and self.compendium
        return CollisionExportSettings(
            wrapper=Wrapper(self.wrapper),
            apply_modifiers=self.apply_modifiers,
            compendium=Path(bpy.path.abspath(self.compendium)) if chosen else None,
        )

    def modal(self, context: Any, event: Any) -> set[str]:
        """Show how far the export is; Esc stops it before anything is written."""
        if event.type == "ESC":
            self._stop.set()
        if event.type != "TIMER":
            return {"PASS_THROUGH"}
        context.window_manager.progress_update(int(100 * self._share))
        if context.workspace is not None:
            context.workspace.status_text_set(f"Exporting {self._stage} ({self._share:.0%}). Esc cancels")
        if self._thread.is_alive():
            return {"RUNNING_MODAL"}
        self._end(context)
        if self._stop.is_set() and self._result.errors:
            self.report({"INFO"}, "Export cancelled: nothing was written")
            return {"CANCELLED"}
        return self.finish(context, self._result)

    def cancel(self, context: Any) -> None:
        """Stop the export, for Blender ends."""
        if getattr(self, "_thread", None) is not None:
            self._stop.set()
            self._thread.join()
            self._end(context)

    def _begin(self, context: Any, work: CollisionExport) -> None:
        from ..collision.compiler import Cancelled

        manager = context.window_manager
        self._stop, self._stage, self._share = Event(), "", 0.0
        self._result: ExportResult = work.result

        def progress(stage: str, share: float) -> None:
            self._stage, self._share = stage, share
            if self._stop.is_set():
                raise Cancelled

        self._thread = Thread(target=work.run, args=(progress,))
        manager.progress_begin(0, 100)
        self._timer = manager.event_timer_add(STEP, window=context.window)
        manager.modal_handler_add(self)
        self._thread.start()

    def _end(self, context: Any) -> None:
        manager = context.window_manager
        manager.event_timer_remove(self._timer)
        manager.progress_end()
        if context.workspace is not None:
            context.workspace.status_text_set(None)

    def draw(self, _context: Any) -> None:
        """Lay the options out."""
        layout = self.layout
        layout.use_property_split = True
        layout.use_property_decorate = False
        layout.prop(self, "wrapper")
        layout.prop(self, "apply_modifiers")
        header, body = layout.panel("OSSUARY_export_new")
        header.label(text="New Files")
        if body:
            body.prop(self, "types")
            if self.types == "COMPENDIUM":
                body.prop(self, "compendium")


CLASSES = (EXPORT_SCENE_OT_ossuary_collision,)
