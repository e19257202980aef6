"""The one exception that leaves a codec."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(eq=False)
class FormatError(Exception):
    """Data that is not what its format asks for, or that the format cannot hold.

    Attributes:
        what: what is wrong, in words a modder can act on.
        file: name of the file or binder member, empty where the caller gave none.
        offset: byte offset in that file, None where no single place is at fault.
        trail: the path of records to the fault, such as ``meshes[3].face_sets[0].indices``.
    """

    what: str
    file: str = ""
    offset: int | None = None
    trail: str = ""

    def __str__(self) -> str:
        place = [part for part in (self.file, self.trail) if part]
        if self.offset is not None:
            place.append(f"offset {self.offset:#x}")
        return f"{self.what} ({', '.join(place)})" if place else self.what

    def __reduce__(self) -> tuple[type, tuple[str, str, int | None, str]]:
        """Pickle by fields, so that the error crosses process borders whole."""
        return FormatError, (self.what, self.file, self.offset, self.trail)

    def within(self, file: str) -> FormatError:
        """Return the same error for where the file (that `inside` named) is told already."""
        inner = f"{self.file} > ".removeprefix(f"{file} > ").removesuffix(" > ")
        return FormatError(self.what, inner, self.offset, self.trail)

    def inside(self, file: str, trail: str = "") -> FormatError:
        """Return the same error as seen from the file (and record) that holds this one."""
        inner = " > ".join(part for part in (file, self.file) if part)
        return FormatError(self.what, inner, self.offset, ".".join(part for part in (trail, self.trail) if part))
