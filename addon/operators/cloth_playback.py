"""What the Cloth panel does: play, reset, play live, add collidables, bake; and how cloth plays as settings."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy
from bpy.props import (
    BoolProperty,
    EnumProperty,
    FloatProperty,
    FloatVectorProperty,
    IntProperty,
    PointerProperty,
    StringProperty,
)

from ..scene.chosen import chosen_cloth
from ..scene.cloth.calls import Calls
from ..scene.cloth.keys import PREFIX, cloths, parts
from ..scene.result import counted
from . import report

if TYPE_CHECKING:
    from ..scene import Player, PlayOptions

PROPERTY = "ossuary_cloth"
MEGABYTE = 1 << 20
SETS = {
    "standard": ("StandardLinks", "Standard Links", "Hold neighbours at their distance"),
    "stretch": ("StretchLinks", "Stretch Links", "Keep free particles near pinned ones"),
    "compressible": ("CompressibleLinks", "Compressible Links", "Hold distances between two bounds"),
    "bend": ("BendLinks", "Bend Links", "Resist bending by distances"),
    "stiffness": ("BendStiffness", "Bend Stiffness", "Resist bending by angles"),
    "ranges": ("LocalRange", "Local Range", "Keep particles near where the animation has them"),
    "volume": ("Volume", "Volume", "Keep the shape of the rest pose"),
}


def _switch(settings: Any, context: Any) -> None:
    """Put everything back where play was switched off; baked caches show what would play, and only then."""
    from ..scene.cloth.bake import show_caches

    if not settings.play:
        UsesPlayer.player_now().reset(context.scene)
    show_caches(context.scene, shown=not settings.play)


def _changed(settings: Any, context: Any) -> None:
    """Show what a changed setting does, where nothing plays that will."""
    UsesPlayer.calls.setting_changed(context, settings.id_data)


def _show(kind: str) -> Any:
    def update(settings: Any, context: Any) -> None:
        from ..scene.cloth.build import set_shown

        for collection in cloths(context.scene):
            set_shown(parts(collection, kind), shown=getattr(settings, kind))
        UsesPlayer.player_now().show_particles(context.scene)

    return update


class OssuaryClothSettings(bpy.types.PropertyGroup):
    """How the cloth of a scene plays."""

    play: BoolProperty(
        name="Play", description="Cloth moves when the frame changes. Off puts everything back", default=True,
        update=_switch,
    )  # fmt: skip
    state: EnumProperty(
        name="State",
        description="What the cloths do",
        items=(
            ("SIMULATE", "Simulate", "Move as cloth"),
            ("SKIN", "Skin", "Follow the bones by the cloth's own weights"),
            ("EMPTY", "Empty", "Do nothing"),
        ),
        update=_changed,
    )
    rate: EnumProperty(
        name="Steps a Second",
        description="How often the cloth steps, whatever the frame rate",
        items=(("30", "30", "As Sekiro does"), ("60", "60", "As Elden Ring does")),
        default="60",
        update=_changed,
    )
    substeps: IntProperty(
        name="Substeps", description="Of each step. 0 takes what the file says", min=0, max=16, update=_changed
    )
    settle: IntProperty(
        name="Settle",
        description="Steps that are done on the start frame before the cloth is shown, so that it need not fall first",
        min=0, soft_max=600, max=36000, update=_changed,
    )  # fmt: skip
    own_gravity: BoolProperty(name="Other Gravity", description="In place of what each cloth has", update=_changed)
    gravity: FloatVectorProperty(
        name="Gravity", description="For all cloths", default=(0.0, 0.0, -9.81), subtype="ACCELERATION", size=3,
        update=_changed,
    )  # fmt: skip
    gravity_scale: FloatProperty(
        name="Gravity Factor", description="Times gravity", default=1.0, soft_max=4.0, update=_changed
    )
    own_damping: BoolProperty(name="Other Damping", description="In place of what each cloth has", update=_changed)
    damping: FloatProperty(
        name="Damping", description="Share of the speed that is lost in a second", default=0.5, min=0.0, max=1.0,
        update=_changed,
    )  # fmt: skip
    wind: FloatVectorProperty(
        name="Wind", description="Velocity of the air", subtype="VELOCITY", size=3, update=_changed
    )
    roots: EnumProperty(
        name="Square Roots",
        description="How lengths are inverted",
        items=(
            ("EXACT", "Exact", "The same on every machine"),
            ("ESTIMATE", "Estimate", "By table with a Newton step where the games have one"),
            ("ESTIMATE_ONLY", "Estimate Only", "By table, without Newton steps"),
        ),
        update=_changed,
    )
    collisions: BoolProperty(
        name="Collisions", description="Cloth meets its collidables", default=True, update=_changed
    )
    memory: IntProperty(
        name="Memory", description="Megabytes of frames that are kept of each cloth", default=512, min=16, max=65536
    )
    points: BoolProperty(name="Points", description="Show the particles", update=_show("points"))
    links: BoolProperty(name="Links", description="Show what ties particles together", update=_show("links"))
    collidables: BoolProperty(
        name="Collidables", description="Show the shapes that cloth meets", update=_show("collidables")
    )


OssuaryClothSettings.__annotations__ |= {
    name: BoolProperty(name=label, description=description, default=True, update=_changed)
    for name, (_, label, description) in SETS.items()
}


def play_options(scene: Any) -> PlayOptions | None:
    """Return how a scene's cloth plays; None where it is off."""
    from ..cloth import RootChoice, Settings, StateChoice
    from ..scene import PlayOptions

    chosen = getattr(scene, PROPERTY)
    if not chosen.play:
        return None
    settings = Settings(
        state=StateChoice[chosen.state],
        gravity=_game_axes(chosen.gravity) if chosen.own_gravity else None,
        gravity_scale=chosen.gravity_scale,
        damping=chosen.damping if chosen.own_damping else None,
        substeps=chosen.substeps or None,
        wind=_game_axes(chosen.wind),
        roots=RootChoice[chosen.roots],
        collisions=chosen.collisions,
        disabled=frozenset(kind for name, (kind, _, _) in SETS.items() if not getattr(chosen, name)),
    )
    return PlayOptions(settings, int(chosen.rate), chosen.memory * MEGABYTE, chosen.settle)


def _game_axes(vector: Any) -> tuple[float, float, float]:
    x, y, z = vector
    return x, z, y


class UsesPlayer:
    """A mix-in for operators and panels: what plays, from registering to unregistering."""

    calls: Any = None  # Calls

    @classmethod
    def player_now(cls) -> Player:
        """Return the player."""
        if UsesPlayer.calls is None:
            raise RuntimeError("Ossuary is not registered")
        player: Player = UsesPlayer.calls.player
        return player

    @classmethod
    def poll(cls, context: Any) -> bool:
        """There is cloth."""
        if not cloths(context.scene):
            operator: Any = cls
            operator.poll_message_set("There is no cloth in this scene: import some first")
            return False
        return True


class SCENE_OT_ossuary_cloth_reset(UsesPlayer, bpy.types.Operator):
    """Put meshes, pose and points back as they were before playing, and forget what was simulated"""

    bl_idname = "scene.ossuary_cloth_reset"
    bl_label = "Reset Cloth"
    bl_options = {"REGISTER", "UNDO"}

    def execute(self, context: Any) -> set[str]:
        """Do it."""
        self.player_now().reset(context.scene)
        return {"FINISHED"}


class SCENE_OT_ossuary_cloth_live(UsesPlayer, bpy.types.Operator):
    """Let the cloth move while you pose bones; again to stop"""

    bl_idname = "scene.ossuary_cloth_live"
    bl_label = "Play Live"
    bl_options = {"INTERNAL"}

    def execute(self, _context: Any) -> set[str]:
        """Start or stop the timer."""
        player = self.player_now()
        if player.live:
            player.stop_live()
        else:
            player.start_live()
        return {"FINISHED"}


class SCENE_OT_ossuary_cloth_collidables(UsesPlayer, bpy.types.Operator):
    """Put the collidables of a file, such as a weapon's, on a bone: the cloth meets them too"""

    bl_idname = "scene.ossuary_cloth_collidables"
    bl_label = "Add Collidables from File..."
    bl_options = {"REGISTER", "UNDO"}

    filepath: StringProperty(subtype="FILE_PATH", options={"SKIP_SAVE", "HIDDEN"})
    filter_glob: StringProperty(default="*.hkx;*.hkx.dcx;*.*bnd;*.*bnd.dcx", options={"HIDDEN"})
    bone: StringProperty(name="Bone", description="Carries them. Empty takes the active bone", options={"SKIP_SAVE"})

    def invoke(self, context: Any, _event: Any) -> set[str]:
        """Ask for the file, beginning beside the one that the cloth came from."""
        from ..scene.provenance import Origin

        collection = chosen_cloth(context)
        if collection is None:
            return self.execute(context)  # which says so, before a file is chosen in vain
        source = Origin.of(collection, PREFIX)
        if source is not None and source.file.parent.is_dir():
            self.filepath = self.filepath or str(source.file.with_name("_")).removesuffix("_")
        self.bone = self.bone or _active_bone(context)
        context.window_manager.fileselect_add(self)
        return {"RUNNING_MODAL"}

    def execute(self, context: Any) -> set[str]:
        """Add them to the active cloth, or to the only one."""
        from ..codec import FormatError
        from ..scene.cloth.extra import add_collidables

        collection, bone = chosen_cloth(context), self.bone or _active_bone(context)
        if collection is None:
            self.report({"ERROR"}, "Which cloth meets them? Select an object of it, or the armature it is on")
            return {"CANCELLED"}
        if not bone:
            self.report({"ERROR"}, "Which bone carries them? Name it, or make it the active one")
            return {"CANCELLED"}
        try:
            made = add_collidables(context, collection, Path(self.filepath), bone)
        except (FormatError, OSError) as error:
            self.report({"ERROR"}, report.reason(error))
            return {"CANCELLED"}
        self.report({"INFO"}, f"{counted(len(made), 'collidable')} on {bone}")
        return {"FINISHED"}


class SCENE_OT_ossuary_cloth_bake(UsesPlayer, bpy.types.Operator):
    """Play all frames and write what the meshes do into PC2 caches, which they then play without the simulation"""

    bl_idname = "scene.ossuary_cloth_bake"
    bl_label = "Bake to Cache..."
    bl_options = {"REGISTER", "UNDO"}

    directory: StringProperty(subtype="DIR_PATH", options={"SKIP_SAVE", "HIDDEN"})

    def invoke(self, context: Any, _event: Any) -> set[str]:
        """Ask for the folder."""
        context.window_manager.fileselect_add(self)
        return {"RUNNING_MODAL"}

    def execute(self, context: Any) -> set[str]:
        """Bake, and switch play off: the caches show what it would."""
        from ..scene.cloth.bake import bake

        settings, manager = getattr(context.scene, PROPERTY), context.window_manager
        settings.play = True
        manager.progress_begin(0, 100)
        try:
            folder = Path(bpy.path.abspath(self.directory))
            result = bake(context, self.player_now(), folder, lambda share: manager.progress_update(int(share * 100)))
        except OSError as error:
            self.report({"ERROR"}, report.reason(error))
            return {"CANCELLED"}
        finally:
            manager.progress_end()
        settings.play = False
        summary = f"{len(result.files)} caches written"
        report.keep(context, summary, result.warnings)
        self.report({"WARNING"} if result.warnings else {"INFO"}, "; ".join([summary, *result.warnings]))
        return {"FINISHED"}


def _active_bone(context: Any) -> str:
    bone = context.active_bone or context.active_pose_bone
    return "" if bone is None else str(bone.name)


def _make_player() -> Player:
    from ..scene import Player

    return Player(play_options)


CLASSES = (
    OssuaryClothSettings,
    SCENE_OT_ossuary_cloth_reset,
    SCENE_OT_ossuary_cloth_live,
    SCENE_OT_ossuary_cloth_collidables,
    SCENE_OT_ossuary_cloth_bake,
)


def register(_package: str) -> None:
    """Add the settings as a property of scenes, and the handlers of frames."""
    setattr(bpy.types.Scene, PROPERTY, PointerProperty(type=OssuaryClothSettings))
    UsesPlayer.calls = Calls(_make_player)
    UsesPlayer.calls.register()


def unregister() -> None:
    """Take both away."""
    UsesPlayer.calls.unregister()
    UsesPlayer.calls = None
    delattr(bpy.types.Scene, PROPERTY)
