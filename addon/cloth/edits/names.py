"""What users call the values and constraint sets of cloth, in changes, notes and refusals as in the panels.

Panels say so themselves, for they are there before numpy is; a test holds the two together.
"""

from __future__ import annotations

import re

from ...codec.havok import cloth as records

_WORDS = {"mask": "collides with", "max_distance": "range", "max_normal": "range above", "min_normal": "range below"}


def words(name: str) -> str:
    """Return what users call a value of `SimValues`, in small letters."""
    return _WORDS.get(name, name.replace("_", " "))


def title(constraint: records.Constraint) -> str:
    """Return what users call constraint sets of a class; files give sets of several classes one name."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", type(constraint).__name__)


def stiffness_words(constraint: records.Constraint) -> tuple[str, ...]:
    """Return what users call the columns of a set's stiffness."""
    return ("bend stiffness", "stretch stiffness") if isinstance(constraint, records.BendLinks) else ("stiffness",)
