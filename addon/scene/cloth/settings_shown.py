"""Changed settings, shown at once while nothing plays: on the start frame all of them, elsewhere the state.

On a frame that was reached by steps the others have nothing to show yet: they act on the steps to come. What takes long
comes once the user pauses, so that values can be dragged, and what takes very long with the next change of frames.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bpy

if TYPE_CHECKING:
    from .player import Player

QUICK, PATIENT = 0.1, 2.5  # seconds: what takes less is shown at once; what takes less when the user pauses
PAUSE = 0.3  # seconds without another change


class SettingsShown:
    """Shows changed settings of the scene that is worked on, by a player."""

    def __init__(self, player: Player) -> None:
        self.player = player
        self.timer = self._late  # Blender knows timers by identity, and each look-up of a method makes another

    def __repr__(self) -> str:
        return f"<SettingsShown by {self.player}>"

    def changed(self, context: Any, scene: Any) -> None:
        """Show what a scene's cloth does with the settings as they are now, if need be later."""
        self.stop()
        if not self._idle(context) or context.scene != scene:
            return
        seconds = self.player.seconds_again(scene)
        if seconds <= QUICK:
            self.player.show_again(context)
        elif seconds <= PATIENT:
            bpy.app.timers.register(self.timer, first_interval=PAUSE)

    def stop(self) -> None:
        """Show nothing later."""
        if bpy.app.timers.is_registered(self.timer):
            bpy.app.timers.unregister(self.timer)

    def _late(self) -> None:
        context = bpy.context
        if context.scene is not None and self._idle(context):
            self.player.show_again(context)

    def _idle(self, context: Any) -> bool:
        """Tell whether nothing else shows frames: no animation, Play Live or rendering."""
        playing = any(window.screen.is_animation_playing for window in context.window_manager.windows)
        return not (playing or self.player.live or bpy.app.is_job_running("RENDER"))
