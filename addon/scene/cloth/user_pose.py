"""What users had set of the bones that cloth drives, kept while it does.

It is kept on the armature, whose pose it is: undo brings back both at once, and where a cloth is deleted its note is
still there, about no cloth.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .keys import ARMATURE, POSE
from .rig import CHANNELS, Channels

Note = dict[str, Any]


def is_kept(collection: Any, armature: Any) -> bool:
    """Tell whether a cloth drives bones of an armature, so that what the user set of them is kept."""
    return any(note.get("cloth") == collection for note in armature.get(POSE, ()))


def save_pose(collection: Any, armature: Any, names: Sequence[str]) -> None:
    """Keep what the user has set of bones, if nothing is kept for this cloth yet.

    Of a bone that another cloth drives already that is what was kept for the other.
    """
    if is_kept(collection, armature):
        return
    notes, bones = _notes(armature), armature.pose.bones
    known = {name: values for note in notes for name, values in note["bones"].items()}
    own = {
        name: known.get(name) or [value for channel in CHANNELS for value in getattr(bones[name], channel)]
        for name in names
    }
    armature[POSE] = [*notes, {"cloth": collection, "bones": own}]


def restore_pose(collection: Any, armature: Any) -> None:
    """Give bones back what the user had set; it is kept on."""
    _restore(armature, [note for note in _notes(armature) if note["cloth"] == collection])


def give_back(collection: Any, armature: Any) -> None:
    """Give bones back what the user had set, and keep it no longer."""
    _give_back(armature, [collection])


def give_back_strays(armature: Any, found: Sequence[Any]) -> None:
    """Give bones back that no cloth drives any more: it was deleted, or the armature is a copy of one that it drove.

    Args:
        armature: the object.
        found: the cloths that there are.
    """
    own = [each for each in found if each.get(ARMATURE) == armature]
    _give_back(armature, [note["cloth"] for note in _notes(armature) if note["cloth"] not in own])


def _give_back(armature: Any, cloths: Sequence[Any]) -> None:
    notes = _notes(armature)
    over = [note for note in notes if note["cloth"] in cloths]
    if not over:
        return
    _restore(armature, over)
    armature[POSE] = [note for note in notes if note not in over]
    if len(over) == len(notes):
        del armature[POSE]
    armature.update_tag(refresh={"OBJECT", "DATA", "TIME"})


def _restore(armature: Any, notes: Sequence[Note]) -> None:
    rows = {bone.name: row for row, bone in enumerate(armature.pose.bones)}
    with Channels(armature) as channels:
        for note in notes:
            for name, values in note["bones"].items():
                if name in rows:
                    channels.set_all(rows[name], np.array(values, np.float32))


def _notes(armature: Any) -> list[Note]:
    """Return the notes of an armature: the cloth, None where it is gone, and the values of its bones."""
    return [
        {"cloth": note.get("cloth"), "bones": {name: list(values) for name, values in note["bones"].items()}}
        for note in armature.get(POSE, ())
    ]
