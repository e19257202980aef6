"""What the user sets once for all: handed down by operators, so that scripts are free to say something else."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..model.textures import GameFolders
from .collision.shades import SET_COLORS, SetColors


@dataclass(frozen=True)
class Preferences:
    """The add-on's preferences.

    Attributes:
        folders: the unpacked games.
        colors: of the sets of collision.
        textures: whether the dialog of the model import begins with textures on.
        cloth: the same for cloth.
        dummies: the same for dummies.
    """

    folders: GameFolders = GameFolders()
    colors: SetColors = field(default_factory=lambda: SET_COLORS)
    textures: bool = True
    cloth: bool = True
    dummies: bool = True
