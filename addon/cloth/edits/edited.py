"""What an edit returns."""

from __future__ import annotations

from dataclasses import dataclass

from ...codec.havok.cloth import ClothFile


@dataclass(frozen=True, eq=False)
class Edited:
    """A cloth file after an edit.

    Attributes:
        file: the file; what was refused is in it as it was before.
        notes: what else followed from the edit, one sentence each.
        refusals: what was not done and why, one sentence each.
    """

    file: ClothFile
    notes: list[str]
    refusals: list[str]
