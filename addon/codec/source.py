"""Open anything: a file of any supported kind -> the members in it that can be read.

What a file or member is, is told by its content, not by its name.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from pathlib import Path

from .binary import Buffer
from .binder import COMPRESSED, Binder, Entry, SplitBinder
from .dcx import Dcx, Progress, is_dcx
from .errors import FormatError
from .havok import peek
from .havok.tagfile import PACKFILE, packfile_fault


class Kind(StrEnum):
    """What a member holds."""

    FLVER = "flver"
    TPF = "tpf"
    CLM2 = "clm2"
    COLLISION = "collision"
    RAGDOLL = "ragdoll"
    CLOTH = "cloth"
    ANIMATION = "animation"
    COMPENDIUM = "compendium"
    PACKFILE = "packfile"
    BINDER = "binder"
    SPLIT_HEADER = "split binder header"
    SPLIT_DATA = "split binder data"
    OTHER = "other"
    UNREADABLE = "unreadable"  # damaged, or wrapped by a codec that is not supported


class Game(StrEnum):
    """Which game a member is from, where its stored path tells."""

    SEKIRO = "sekiro"
    ELDEN_RING = "eldenring"
    UNKNOWN = ""


_PROJECTS = {"ntc": Game.SEKIRO, "gr": Game.ELDEN_RING}  # the folder below N:\ in stored paths


@dataclass
class Member:
    """One file inside a source, or the source itself where it is a loose file.

    Attributes:
        name: the last part of its path.
        path: the path as stored in the binder, or as given for a loose file.
        id: the binder's number for it, -1 where there is none.
        file: what to call it in messages.
        stored: its bytes as stored, perhaps wrapped.
        library: where to look for the compendium it may need.
    """

    name: str
    path: str
    id: int
    file: str
    stored: Buffer = field(repr=False)
    library: Compendiums | None = field(default=None, repr=False)
    _content: Buffer | None = field(default=None, init=False, repr=False)

    def data(self, progress: Progress | None = None) -> Buffer:
        """Return the member's bytes, unwrapped at the first call.

        Args:
            progress: called with the share that is done, 0 to 1, while the member is unwrapped.

        Raises:
            FormatError: the wrapper is damaged or not supported.
        """
        if self._content is None:
            self._content = unwrap(self.stored, self.file, progress)
        return self._content

    @property
    def kind(self) -> Kind:
        """What the member holds."""
        return self._told[0]

    @property
    def fault(self) -> str:
        """Why the member cannot be read; empty where it can."""
        return self._told[1]

    @cached_property
    def _told(self) -> tuple[Kind, str]:
        try:
            return kind_of(self.data(), self.file), packfile_fault(self.data())
        except FormatError as error:
            return Kind.UNREADABLE, str(error)

    @cached_property
    def compendium(self) -> bytes | None:
        """The compendium that holds the types of a tagfile without its own, None where none is needed or found.

        It is looked for in the source, then among the files beside it.
        """
        wanted = None if self.fault else peek.wanted_compendium(self.data())
        return self.library.find(wanted) if wanted is not None and self.library is not None else None

    @property
    def game(self) -> Game:
        """Which game the stored path is from."""
        parts = self.path.lower().replace("\\", "/").split("/")
        return _PROJECTS.get(parts[1], Game.UNKNOWN) if parts[0] == "n:" and len(parts) > 1 else Game.UNKNOWN


@dataclass
class Compendiums:
    """The compendiums that the members of a source may use.

    Attributes:
        members: those of the source.
        path: the source; files beside it whose name tells that they are compendiums are looked at too.
        chosen: a file to look at first.
    """

    members: list[Member]
    path: Path
    chosen: Path | None = None

    def find(self, wanted: bytes) -> bytes | None:
        """Return the compendium that answers to an id, None where there is none."""
        return next((data for ids, data in self._all if wanted in ids), None)

    @cached_property
    def _all(self) -> list[tuple[tuple[bytes, ...], bytes]]:
        chosen = [] if self.chosen is None else [self.chosen]
        beside = sorted(path for path in self.path.parent.iterdir() if ".compendium" in path.name.lower())
        found = [bytes(member.data()) for member in self.members if member.kind == Kind.COMPENDIUM]
        found[:0] = [bytes(unwrap(path.read_bytes(), path.name)) for path in chosen]
        found += [data for path in beside if (data := _readable(path)) is not None]
        return [(peek.answered_ids(data), data) for data in found]


def _readable(path: Path) -> bytes | None:
    """Return an unwrapped file that nobody named; None where it cannot be read."""
    try:
        return bytes(unwrap(path.read_bytes(), path.name))
    except (FormatError, OSError):
        return None


@dataclass
class Source:
    """A file that was opened.

    Attributes:
        path: where it is.
        members: what it holds, binders inside it opened too, in stored order.
    """

    path: Path
    members: list[Member]

    def of_kind(self, kind: Kind) -> list[Member]:
        """Return the members of a kind."""
        return [member for member in self.members if member.kind == kind]


# how imports open a file: with its path, the chosen compendium and a function to report progress to, as `open_source`
Opener = Callable[[Path, Path | None, Progress | None], Source]


def open_source(path: str | Path, compendium: str | Path | None = None, progress: Progress | None = None) -> Source:
    """Open a file: loose, wrapped, a binder, or either half of a split binder.

    Args:
        path: the file.
        compendium: a compendium to prefer to those in the source and beside it.
        progress: called with the share that is done, 0 to 1, while the file itself is unwrapped.

    Raises:
        FormatError: a wrapper or binder that is damaged or not supported, or half a split binder whose other half is
            not beside it.
        OSError: the file cannot be read.
    """
    path = Path(path)
    member = Member(path.name, str(path), -1, path.name, path.read_bytes())
    member.data(progress)
    half = _marked(member.stored)
    members = _split_members(member, path, half) if half in _HALVES else _expand(member)
    library = Compendiums(members, path, None if compendium is None else Path(compendium))
    for each in members:
        each.library = library
    return Source(path, members)


def may_open(path: Path) -> bool:
    """Tell by the first bytes of a file whether `open_source` can look into it.

    Only then is it worth reading whole, which a folder of a game has gigabytes of. The data half of a split binder is
    left to its header.

    Raises:
        OSError: the file cannot be read.
    """
    with path.open("rb") as file:
        head = file.read(16)
    return is_dcx(head) or head[4:8] == b"TAG0" or _marked(head) not in {Kind.OTHER, Kind.SPLIT_DATA}


def unwrap(data: Buffer, file: str = "", progress: Progress | None = None) -> Buffer:
    """Return the content of a DCX, or the data itself where it is none."""
    return Dcx.read(data, file, progress).content if is_dcx(data) else data


def kind_of(data: Buffer, file: str = "") -> Kind:
    """Tell what unwrapped bytes are, by how they begin; what a tagfile is, by what its root holds.

    Raises:
        FormatError: a tagfile that is too damaged to tell.
    """
    if bytes(data[4:8]) != b"TAG0":
        return _marked(data)
    held = peek.root_classes(data, file)
    return next((kind for name, kind in _CONTENTS if name in held), Kind.OTHER)


def _marked(data: Buffer) -> Kind:
    """Tell what bytes are by how they begin; `Kind.OTHER` where that does not tell."""
    head = bytes(data[:16])
    for start, magic, kind in _MAGICS:
        if head[start : start + len(magic)] == magic:
            return kind
    return Kind.OTHER


_MAGICS: tuple[tuple[int, bytes, Kind], ...] = (
    (0, b"FLVER\0", Kind.FLVER),
    (0, b"BND4", Kind.BINDER),
    (0, b"BHF4", Kind.SPLIT_HEADER),
    (0, b"BDF4", Kind.SPLIT_DATA),
    (0, b"TPF\0", Kind.TPF),
    (0, b"CLM2", Kind.CLM2),
    (4, b"TCM0", Kind.COMPENDIUM),
    (0, PACKFILE, Kind.PACKFILE),
)

# what a tagfile is by the classes its root holds; the first that fits counts
_CONTENTS = (
    ("hclClothContainer", Kind.CLOTH),
    ("hclClothSetupContainer", Kind.CLOTH),  # what cloth is authored from, nothing to run
    ("hknpRagdollData", Kind.RAGDOLL),
    ("hknpPhysicsSceneData", Kind.COLLISION),
    ("hkaAnimationContainer", Kind.ANIMATION),
)


def _expand(member: Member) -> list[Member]:
    """Return the members of a binder, those of binders inside it too; anything else as it is."""
    if is_dcx(member.stored) or _marked(member.stored) == Kind.BINDER:
        data = member.data()
        if _marked(data) == Kind.BINDER:
            return _expand_entries(Binder.read(data, member.file).entries, member.file)
    return [member]


# how each half of a split binder is told from the other in its name
_HALVES = {Kind.SPLIT_HEADER: ("bhd", "bdt"), Kind.SPLIT_DATA: ("bdt", "bhd")}


def _split_members(member: Member, path: Path, kind: Kind) -> list[Member]:
    """Return the members of a split binder from one of its halves."""
    other = _other_half(path, *_HALVES[kind])
    halves = (member.data(), other.read_bytes())
    header, data = halves if kind == Kind.SPLIT_HEADER else halves[::-1]
    names = (path.name, other.name) if kind == Kind.SPLIT_HEADER else (other.name, path.name)
    return _expand_entries(SplitBinder.read(header, data, *names).entries, names[0])


def _other_half(path: Path, own: str, wanted: str) -> Path:
    """Find the other half beside a file, whatever its case."""
    stem, found, rest = path.name.lower().rpartition(own)
    name = stem + wanted + rest
    if found:
        for sibling in path.parent.iterdir():
            if sibling.name.lower() == name:
                return sibling
    raise FormatError(f"half of a split binder: {name or 'the other half'} is not beside it", path.name)


def _expand_entries(entries: list[Entry], binder: str) -> list[Member]:
    return [member for entry in entries for member in _expand_entry(entry, binder)]


def _expand_entry(entry: Entry, binder: str) -> list[Member]:
    """Return an entry's members; a wrapped one is unwrapped for that only where its name says that it is a binder."""
    member = Member(entry.basename, entry.name, entry.id, f"{binder} > {entry.basename}", entry.data)
    wrapped = bool(entry.flags & COMPRESSED) or is_dcx(entry.data)
    if wrapped and "bnd" not in entry.basename.lower():
        return [member]
    return _expand(member)
