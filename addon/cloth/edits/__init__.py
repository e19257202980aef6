"""Edits of cloth: functions from records to records, without a tagfile and without Blender.

::

    values = values_of(file, sim)                              what a user sets of a simulated cloth, as arrays
    edited = with_values(file, {sim: replace(values, ...)})    the file with what follows, notes and refusals
    edited = with_rest(file, {sim: positions})                 the rest pose moved
    edited = with_collidables(file, placed)                    collidables moved, resized, added, taken out
    check_identities(edited.file)                              what no longer fits together
    try_out(edited.file)                                       whether it stays in one piece
    changes(file, edited.file)                                 what differs, in words
    store_cloth(tagfile, edited.file)                          into the tagfile it was read from

Simulated cloths are numbered over the whole file, cloth data after cloth data, as `Setup.layout.sims` has them.
"""

from .changes import Change, changes
from .collidables import PlacedCollidable, new_collidable, placed_collidables, with_collidables
from .edited import Edited
from .feel import Feel, feel_of, with_feel
from .identities import Fault, check_identities, new_faults
from .rest import with_rest
from .setting import with_values
from .shapes import capsule, sphere, tapered_capsule
from .trial import Trial, try_out
from .values import SimValues, values_of

__all__ = [
    "Change",
    "Edited",
    "Fault",
    "Feel",
    "PlacedCollidable",
    "SimValues",
    "Trial",
    "capsule",
    "changes",
    "check_identities",
    "feel_of",
    "new_collidable",
    "new_faults",
    "placed_collidables",
    "sphere",
    "tapered_capsule",
    "try_out",
    "values_of",
    "with_collidables",
    "with_feel",
    "with_rest",
    "with_values",
]
