"""The cloth that a collection stands for: its file with what the user set in Blender."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ...cloth.edits import Change, changes, with_collidables, with_rest, with_values
from ...cloth.edits.edited import Edited, sim_title
from ...codec import Tagfile, read_cloth
from ...codec.havok.cloth import ClothFile
from ..problems import Problem, Problems
from .gather import GatheredCloth, StoredCloth, fingerprint, gather
from .keys import DATA, TYPES, edited_objects


@dataclass(eq=False)
class EditedCloth:
    """A cloth as it is in Blender.

    Attributes:
        stored: the file as it was imported.
        file: with the edits; what errors are about is as it was imported.
        gathered: what differs.
        errors: what cannot be.
        notes: what was done besides, and what the user should know.
    """

    stored: StoredCloth
    file: ClothFile
    gathered: GatheredCloth
    errors: list[Problem]
    notes: list[Problem]

    @cached_property
    def changes(self) -> list[Change]:
        """What differs from the file that was imported, in words."""
        return changes(self.stored.file, self.file)


def source_tagfile(collection: Any) -> Tagfile:
    """Return the tagfile that a cloth was imported from.

    Raises:
        FormatError: it cannot be read.
    """
    types = collection.get(TYPES)
    return Tagfile.read(bytes(collection[DATA]), None if types is None else bytes(types), collection.name)


def stored_cloth(collection: Any) -> ClothFile:
    """Return the cloth file of a collection as it was imported.

    Raises:
        FormatError: it holds none that can be read.
    """
    return read_cloth(source_tagfile(collection))


def edited_cloth(collection: Any, stored: StoredCloth | None = None) -> EditedCloth:
    """Return a cloth with what the user set of it; see `gather`.

    Args:
        collection: of the cloth. Nothing in it changes.
        stored: its file, where it was read already.

    Raises:
        FormatError: its file cannot be read.
    """
    stored = stored or StoredCloth.of(stored_cloth(collection))
    problems = Problems()
    gathered = gather(collection, stored, problems)
    file = stored.file
    for edited in _steps(file, gathered):
        file = edited.file
        for report, texts in ((problems.error, edited.refusals), (problems.warn, edited.notes)):
            for text in texts:
                report(*about(text, stored.file, gathered))
    return EditedCloth(stored, file, gathered, problems.errors, problems.warnings)


def about(text: str, file: ClothFile, gathered: GatheredCloth) -> list[str]:
    """Return a sentence without the name in the file that it begins with, and the objects of that name.

    Where no object shows what it is about it stays as it is.
    """
    shown = [(sim_title(file, sim), name) for sim, name in sorted(gathered.objects.items())]
    placed = zip(gathered.collidables or (), gathered.carriers, strict=False)
    shown += [(one.record.name, name) for one, name in placed]
    for title, _ in sorted(shown, key=lambda pair: -len(pair[0])):
        for mark in (": ", ", "):
            if text.startswith(title + mark):
                return [text.removeprefix(title + mark), *(name for other, name in shown if other == title)]
    return [text]


def _steps(file: ClothFile, gathered: GatheredCloth) -> Iterator[Edited]:
    """Yield one edit after another."""
    if gathered.values:
        edited = with_values(file, gathered.values)
        file = edited.file
        yield edited
    if gathered.rest:
        edited = with_rest(file, gathered.rest)
        file = edited.file
        yield edited
    if gathered.collidables is not None:
        yield with_collidables(file, gathered.collidables)


class EditedCloths:
    """Keeps the edited cloths of the open file, so that what did not change since is not worked out again."""

    def __init__(self) -> None:
        self._stored: dict[int, StoredCloth] = {}
        self._edited: dict[int, tuple[bytes, EditedCloth]] = {}

    def __repr__(self) -> str:
        return f"<EditedCloths: {len(self._edited)}>"

    def of(self, collection: Any) -> EditedCloth:
        """Return the edited cloth of a collection; one of whose objects is being edited comes as it was before that.

        Raises:
            FormatError: its file cannot be read.
        """
        uid = collection.session_uid
        known = self._edited.get(uid)
        if known is not None and edited_objects(collection):
            return known[1]
        key = fingerprint(collection)
        if known is None or known[0] != key:
            if uid not in self._stored:
                self._stored[uid] = StoredCloth.of(stored_cloth(collection))
            known = self._edited[uid] = key, edited_cloth(collection, self._stored[uid])
        return known[1]

    def clear(self) -> None:
        """Forget all: another file has other cloths."""
        self._stored.clear()
        self._edited.clear()
