"""Where bodies came from, and the bytes of those files, which fill what the scene cannot hold when it is written back.

The bytes live in the .blend, once a file, in the collection of the first area that a body of it is in.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Self

import bpy

from ...codec.binary import Buffer
from ...codec.source import Member, Source
from .. import keys, provenance
from ..provenance import PACKED_MAX, Origin, sha256
from .keys import PREFIX

PACKED = PREFIX + "packed_"  # followed by the hash
SOURCE, TYPES = PREFIX + keys.SOURCE, PREFIX + provenance.TYPES
HASH_DIGITS = 32  # names of properties have 63 characters at most


class CollisionSource(Origin):
    """The file that a body came from."""

    @classmethod
    def of(cls, block: Any, prefix: str = PREFIX) -> Self | None:
        """Return what a body says; None for one that came from no file."""
        return super().of(block, prefix)

    def read(self, opened: dict[Path, Source]) -> tuple[bytes, bytes | None]:
        """Return the bytes of the member as it was imported, and those of its compendium.

        Args:
            opened: files that were opened already; takes this one where it must be opened.

        Raises:
            FormatError: its bytes are not in the .blend, and the file is gone or has changed.
        """
        data = _packed(self.sha256)
        types = _packed(self.types) if self.types else None
        if data is None or (self.types and types is None):
            return self.find(opened)
        return data, types


class Packer:
    """Keeps what bodies were read from, during one import."""

    def __init__(self) -> None:
        self._sizes: dict[str, int] = {}  # by area
        self._kept: dict[str, set[str]] = {}  # names of properties by area
        self._digits: dict[int, str] = {}  # by identity of bytes that live as long as the import
        for each in bpy.data.collections:
            names = [name for name in each.keys() if name.startswith(PACKED)]  # noqa: SIM118 - no mapping
            if names:
                self._kept[each.name] = set(names)
                self._sizes[each.name] = sum(len(each[name]) for name in names)

    def keep(self, obj: Any, area: Any, member: Member) -> None:
        """Keep what a body was read from.

        Args:
            obj: the body.
            area: the collection for the bytes; they are left out where it would hold too many.
            member: the file.
        """
        obj[SOURCE] = self._pack(area, member.data())
        if member.compendium is not None:
            obj[TYPES] = self._pack(area, member.compendium)

    def _pack(self, area: Any, data: Buffer) -> str:
        if id(data) in self._digits:
            return self._digits[id(data)]
        digits = self._digits[id(data)] = sha256(data)
        name, size = PACKED + digits[:HASH_DIGITS], self._sizes.get(area.name, 0)
        if not any(name in names for names in self._kept.values()) and size + len(data) <= PACKED_MAX:
            area[name] = bytes(data)
            self._sizes[area.name] = size + len(data)
            self._kept.setdefault(area.name, set()).add(name)
        return digits


def share(obj: Any, other: Any) -> None:
    """Let a body belong to the file of another one."""
    for name in (SOURCE, TYPES, PREFIX + "file", PREFIX + "member", PREFIX + "member_id", PREFIX + "system"):
        if name in other:
            obj[name] = other[name]


def _packed(digits: str) -> bytes | None:
    name = PACKED + digits[:HASH_DIGITS]
    return next((bytes(each[name]) for each in bpy.data.collections if name in each), None)
