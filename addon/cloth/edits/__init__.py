"""Edits of cloth: functions from records to records, without a tagfile and without Blender.

::

    values = values_of(file, sim)                              what a user sets of a simulated cloth, as arrays
    edited = with_values(file, {sim: replace(values, ...)})    the file with what follows, notes and refusals
    check_identities(edited.file)                              what no longer fits together
    try_out(edited.file)                                       whether it stays in one piece
    changes(file, edited.file)                                 what differs, in words
    store_cloth(tagfile, edited.file)                          into the tagfile it was read from

Simulated cloths are numbered over the whole file, cloth data after cloth data, as `Setup.layout.sims` has them.
"""

from .changes import Change, changes
from .edited import Edited
from .feel import Feel, feel_of, with_feel
from .identities import Fault, check_identities, new_faults
from .setting import with_values
from .trial import Trial, try_out
from .values import SimValues, values_of

__all__ = [
    "Change",
    "Edited",
    "Fault",
    "Feel",
    "SimValues",
    "Trial",
    "changes",
    "check_identities",
    "feel_of",
    "new_faults",
    "try_out",
    "values_of",
    "with_feel",
    "with_values",
]
