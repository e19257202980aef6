"""Where a model came from, and the bytes that fill what the scene cannot hold when it is written back.

The bytes live in the .blend, so that an export needs no file that another machine does not have.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..codec import FormatError
from ..codec.binary import Buffer
from ..codec.source import Kind, Member, open_source
from .properties import PREFIX, loaded_text, set_properties, stored_text

PACKED_MAX = 64 << 20  # bytes; above, each undo step would cost too much
PACKED, FILE, MEMBER, MEMBER_ID, HASH = (
    PREFIX + name for name in ("source", "file", "member", "member_id", "source_sha256")
)


@dataclass(frozen=True)
class Provenance:
    """Where a model came from.

    Attributes:
        file: the file that was imported.
        member: the stored path of the model in it, or the file's own where it was loose.
        member_id: the binder's number for it, -1 where there is none.
        sha256: of the model's bytes, as hexadecimal digits.
    """

    file: Path
    member: str
    member_id: int
    sha256: str

    @classmethod
    def of(cls, collection: Any) -> Provenance | None:
        """Return what a model's collection says; None for one that was not imported."""
        if collection.get(HASH) is None:
            return None
        return cls(
            Path(loaded_text(collection[FILE])),
            loaded_text(collection[MEMBER]),
            int(collection[MEMBER_ID]),
            collection[HASH],
        )


def keep(collection: Any, path: Path, member: Member) -> None:
    """Keep a model's source in its collection: the bytes where they are not too many, path and hash in any case."""
    data = member.data()
    values: dict[str, Any] = {
        FILE: stored_text(str(path.resolve())),
        MEMBER: stored_text(member.path),
        MEMBER_ID: member.id,
        PREFIX + "game": str(member.game),
        HASH: sha256(data),
    }
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
    source = Provenance.of(collection)
    if source is None:
        raise FormatError("was not imported by this extension, so that there is no model to write it into")
    packed = collection.get(PACKED)
    if packed is not None:
        return bytes(packed)
    where = f"{source.file}, which it was imported from,"
    if not source.file.exists():
        raise FormatError(f"{where} is gone, and it was too large to be kept in the .blend")
    for member in open_source(source.file).of_kind(Kind.FLVER):
        if sha256(member.data()) == source.sha256:
            return bytes(member.data())
    raise FormatError(f"{where} has changed since, and it was too large to be kept in the .blend")


def sha256(data: Buffer) -> str:
    """Return the hash of bytes as hexadecimal digits."""
    return hashlib.sha256(data).hexdigest()
