"""What Blender calls on each frame, change, load and undo: handed on to the player, where there is cloth to play.

The player is made then. Without cloth a call costs a look at the scene's collections, and numpy and the codecs are not
loaded.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import bpy

from .hiding import show_left
from .keys import cloths
from .settings_shown import SettingsShown

if TYPE_CHECKING:
    from .player import Player

persistent: Callable[[Any], Any] = bpy.app.handlers.persistent


class Calls:
    """The handlers, and the player behind them."""

    def __init__(self, make: Callable[[], Player]) -> None:
        """Make them; ``make`` makes the player."""
        self._make = make
        self._player: Player | None = None
        self._settings: SettingsShown | None = None

    def __repr__(self) -> str:
        return f"<Calls for {self._player}>"

    @property
    def player(self) -> Player:
        """What plays; made at the first call."""
        if self._player is None:
            self._player = self._make()
        return self._player

    def register(self) -> None:
        """Ask Blender to call."""
        for handlers, function in self._handlers():
            handlers.append(function)

    def unregister(self) -> None:
        """Ask no more."""
        for handlers, function in self._handlers():
            if function in handlers:
                handlers.remove(function)
        self._forget_all()

    def setting_changed(self, context: Any, scene: Any) -> None:
        """When a user has changed how a scene's cloth plays."""
        if not cloths(scene):
            return
        if self._settings is None:
            self._settings = SettingsShown(self.player)
        self._settings.changed(context, scene)

    def _forget_all(self) -> None:
        if self._settings is not None:
            self._settings.stop()
        if self._player is not None:
            self._player.forget_all()

    def _handlers(self) -> list[tuple[Any, Any]]:
        handlers = bpy.app.handlers
        return [
            (handlers.frame_change_pre, self.before_frame),
            (handlers.frame_change_post, self.after_frame),
            (handlers.depsgraph_update_post, self.after_change),
            (handlers.load_post, self.after_load),
            (handlers.undo_post, self.after_undo),
            (handlers.redo_post, self.after_undo),
        ]

    @persistent
    def before_frame(self, scene: Any, *_: Any) -> None:
        """Before a frame is evaluated."""
        if cloths(scene):
            self.player.before_frame(scene)

    @persistent
    def after_frame(self, scene: Any, depsgraph: Any = None) -> None:
        """When a frame is evaluated; once more where cloth that played was deleted."""
        if cloths(scene) or (self._player is not None and self._player.seen):
            self.player.after_frame(scene, depsgraph)

    @persistent
    def after_change(self, scene: Any, *_: Any) -> None:
        """When something was changed, such as deleted."""
        show_left(scene)

    @persistent
    def after_load(self, *_: Any) -> None:
        """Another file has other cloths."""
        self._forget_all()

    @persistent
    def after_undo(self, scene: Any, *_: Any) -> None:
        """Cloths may be gone, and none is where it was."""
        show_left(scene)
        if self._player is not None:
            self._player.look_again()
