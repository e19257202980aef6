"""Collidables that a file adds to cloth at run time, such as those of a stowed weapon."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ...cloth import ExtraCollidable, build_setup
from ...codec import FormatError, Tagfile, read_cloth
from ...codec.source import Kind, open_source
from . import rig
from .build import ClothBuilder
from .edits import stored_cloth
from .keys import ARMATURE, EXTRA
from .session import extras


def add_collidables(context: Any, collection: Any, path: Path, bone: str) -> list[Any]:
    """Put the collidables of a file on a bone; every free particle of the cloth meets them.

    Args:
        context: Blender's.
        collection: of the cloth.
        path: a loose ``_collidable.hkx`` or a binder with one.
        bone: name in the armature, of a bone that the cloth's skeleton has.

    Returns:
        The objects that show them.

    Raises:
        FormatError: no collidables in the file, or no such bone in the cloth.
        OSError: the file cannot be read.
    """
    armature = collection[ARMATURE]
    found = armature.data.bones.get(bone)
    if found is None:
        raise FormatError(f"{armature.name} has no bone {bone!r}")
    stored = rig.stored_name(found)
    members = [member for member in open_source(path).members if member.kind == Kind.CLOTH]
    loose = [(member, records) for member in members if (records := _records(member))]
    if not loose:
        raise FormatError("holds no loose collidables", path.name)
    file = stored_cloth(collection)
    new = [ExtraCollidable(record, stored) for _, records in loose for record in records]
    build_setup(file, extra=[*extras(collection), *new])  # refuses a bone the cloth does not know
    entries = dict(collection.get(EXTRA, {}))
    for member, _ in loose:
        entries[str(len(entries))] = {"data": bytes(member.data()), "bone": stored}
    collection[EXTRA] = {key: dict(entry) for key, entry in entries.items()}
    builder = ClothBuilder(collection, armature, file, context)
    return [builder.added(one) for one in new]


def _records(member: Any) -> tuple[Any, ...]:
    return read_cloth(Tagfile.read(member.data(), member.compendium, member.file)).collidables
