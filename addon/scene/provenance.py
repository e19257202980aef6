"""Where things came from, and the bytes that fill what the scene cannot hold when they are written back.

The bytes live in the .blend, so that an export needs no file that another machine does not have.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from ..codec import FormatError
from ..codec.binary import Buffer
from ..codec.source import Member, Source, open_source
from ..codec.target import BACKUP, Place
from .keys import HASH, PREFIX, SOURCE
from .properties import set_properties
from .texts import loaded_text, stored_text

PACKED_MAX = 64 << 20  # bytes; above, each undo step would cost too much
FILE, MEMBER, MEMBER_ID, TYPES = "file", "member", "member_id", "types_sha256"
PACKED = PREFIX + "source"


@dataclass(frozen=True)
class Origin:
    """The file that something came from.

    Attributes:
        file: the file that was imported.
        place: which member of it, where it is a binder.
        sha256: of the member's bytes, as hexadecimal digits.
        types: the same of the compendium that it needs, empty where it needs none.
    """

    file: Path
    place: Place
    sha256: str
    types: str = ""

    @classmethod
    def of(cls, block: Any, prefix: str = PREFIX) -> Self | None:
        """Return what the properties of a datablock say; None for one that came from no file."""
        if block.get(prefix + SOURCE) is None:
            return None
        return cls(
            Path(loaded_text(block[prefix + FILE])),
            Place(loaded_text(block[prefix + MEMBER]), int(block[prefix + MEMBER_ID])),
            block[prefix + SOURCE],
            block.get(prefix + TYPES, ""),
        )

    @classmethod
    def properties(cls, path: Path, member: Member, prefix: str = PREFIX) -> dict[str, Any]:
        """Return the properties by which `of` finds a member of a file again."""
        values = {
            prefix + FILE: stored_text(str(path.resolve())),
            prefix + MEMBER: stored_text(member.path),
            prefix + MEMBER_ID: member.id,
            prefix + SOURCE: sha256(member.data()),
        }
        if member.compendium is not None:
            values[prefix + TYPES] = sha256(member.compendium)
        return values

    def find(self, opened: dict[Path, Source]) -> tuple[bytes, bytes | None]:
        """Return the bytes of member and compendium from the file, or from what the first export has kept of it.

        Args:
            opened: files that were opened already; takes those that must be opened.

        Raises:
            FormatError: the file is gone or has changed.
        """
        for path in (self.file, self.file.with_name(self.file.name + BACKUP)):
            if path not in opened and path.exists():
                opened[path] = open_source(path)
            for member in opened[path].members if path in opened else ():
                if member.path.removesuffix(BACKUP) == self.place.path and sha256(member.data()) == self.sha256:
                    return bytes(member.data()), member.compendium
        what = "has changed since" if self.file.exists() else "is gone"
        raise FormatError(f"{self.file}, which it was imported from, {what}, and its bytes are not in the .blend")


def keep(collection: Any, path: Path, member: Member) -> None:
    """Keep a model's source in its collection: the bytes where they are not too many, path and hash in any case."""
    data = member.data()
    values = Origin.properties(path, member) | {PREFIX + "game": str(member.game)}
    if len(data) <= PACKED_MAX:
        values[PACKED] = bytes(data)
    set_properties(collection, values)
    for block in {slot.material for obj in collection.all_objects for slot in obj.material_slots if slot.material}:
        block[HASH] = values[HASH]


def source_bytes(collection: Any) -> bytes:
    """Return the bytes that a model was imported from.

    Raises:
        FormatError: they are not in the .blend, and the file is gone or has changed.
    """
    source = Origin.of(collection)
    if source is None:
        raise FormatError("was not imported by this extension, so that there is no model to write it into")
    packed = collection.get(PACKED)
    return source.find({})[0] if packed is None else bytes(packed)


def sha256(data: Buffer) -> str:
    """Return the hash of bytes as hexadecimal digits."""
    return hashlib.sha256(data).hexdigest()
