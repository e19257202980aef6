"""Members -> files: loose, wrapped or not, in binders, in split binders: what exports share once bytes are made."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from ..codec import Binder, FormatError, SplitBinder
from ..codec.binary import Buffer
from ..codec.binder import Entry
from ..codec.source import Kind, kind_of, unwrap
from ..codec.target import (
    BACKUP,
    Contents,
    Place,
    halves,
    is_binder,
    member_among,
    put_into_binder,
    put_into_split,
    refresh,
    refresh_all,
    save,
    wrap,
)
from .problems import Problem, Problems
from .provenance import Origin, sha256
from .result import Timings, counted
from .settings import Wrapper


@dataclass
class ExportResult:
    """What an export did.

    Attributes:
        target: the file.
        written: whether it was written; not where there are errors, and not where it had this content already.
        data: the bytes of what was exported, of the first member where there are several; empty where there are errors.
        errors: what stood in the way.
        warnings: what was written otherwise than it is shown, or not at all.
        timings: seconds by stage.
    """

    target: Path
    written: bool = False
    data: bytes = b""
    errors: list[Problem] = field(default_factory=list)
    warnings: list[Problem] = field(default_factory=list)
    timings: Timings = field(default_factory=Timings)

    @property
    def summary(self) -> str:
        """One line for the status bar."""
        if self.errors:
            parts = [f"Nothing exported: {counted(len(self.errors), 'problem')}"]
        elif self.written:
            parts = [f"Exported {self.target.name}"]
        else:
            parts = [f"{self.target.name} is as it was: nothing has changed"]
        if self.warnings:
            parts.append(counted(len(self.warnings), "warning"))
        return "; ".join(parts)

    @property
    def details(self) -> list[str]:
        """All problems and warnings, a line each."""
        return [str(problem) for problem in (*self.errors, *self.warnings)]


@contextmanager
def catching(problems: Problems, file: str) -> Iterator[None]:
    """Turn what cannot be written into errors; ``file`` is the name of what is being written."""
    try:
        yield
    except FormatError as error:
        problems.error(str(error))
    except OSError as error:
        problems.error(f"{file}: {error.strerror or error}")


@dataclass(frozen=True)
class Output:
    """A member as it is to be written.

    Attributes:
        data: its bytes, not wrapped.
        place: which member of a binder it is; None for what came from no file.
        sha256: of the bytes that were imported.
    """

    data: bytes
    place: Place | None = None
    sha256: str = ""

    @classmethod
    def of(cls, data: bytes, source: Origin | None) -> Self:
        """Return bytes as those of what came from a file, or from none."""
        return cls(data) if source is None else cls(data, source.place, source.sha256)


def write_output(
    target: Path, data: bytes, source: Origin | None, ending: str, *, wrapper: Wrapper, problems: Problems
) -> bool:
    """Write one member; see `write_outputs`."""
    file = None if source is None else source.file
    return write_outputs(target, [Output.of(data, source)], file, ending, wrapper=wrapper, problems=problems)


def write_outputs(
    target: Path, outputs: list[Output], source: Path | None, ending: str, *, wrapper: Wrapper, problems: Problems
) -> bool:
    """Write members into a file and return whether it has changed.

    A binder that exists is written into; one that does not is made as a copy of the one that the members came from.

    Args:
        target: the file; its name decides the form.
        outputs: the members; one for a loose file.
        source: the file that they came from.
        ending: of the names of loose files.
        wrapper: the compression of wrapped files.
        problems: takes warnings.

    Raises:
        FormatError: a name that says nothing, no binder to write into, a member that it does not hold.
    """
    name, pair = target.name, halves(target)
    if pair is None and not is_binder(name):
        if not name.lower().endswith((ending, ending + ".dcx")):
            raise FormatError(f"the name must end in {ending} or {ending}.dcx, or as a binder's in .partsbnd.dcx", name)
        if len(outputs) != 1:
            raise FormatError(f"{len(outputs)} members do not go into one {ending}: choose a binder", name)
        return refresh(target, wrap(outputs[0].data, name, wrapper), unwrap)
    if source is None or any(each.place is None for each in outputs):
        raise FormatError(
            f"there is no source that says which member of a binder this is. Choose a name that ends in {ending}", name
        )
    contents = [(each.place, each.data) for each in outputs if each.place is not None]
    base = _base(target, source, contents[0][0].name, ending)
    if pair is not None:
        return _write_pair(pair, base, outputs, source, problems)
    old = base.read_bytes()
    _warn_of_changes(base, outputs, source, problems, _entries(old, base.name))
    content = put_into_binder(old, base.name, contents)
    _check(contents, _entries(content, name), name)
    if base == target and unwrap(old, name) == content:
        return False
    save(target, wrap(content, name, wrapper, old))
    return True


def _entries(data: Buffer, file: str) -> list[Entry]:
    """Return a binder's entries; none for what is no binder."""
    inner = unwrap(data, file)
    return Binder.read(inner, file).entries if kind_of(inner) == Kind.BINDER else []


def _check(contents: Contents, entries: list[Entry], name: str) -> None:
    """Check that what is to be written reads back."""
    for place, data in contents:
        if member_among(entries, name, place) != data:
            raise FormatError("the binder does not read back as it was written", name)


def _write_pair(pair: tuple[Path, Path], base: Path, outputs: list[Output], source: Path, problems: Problems) -> bool:
    """Write into a split binder, both files at once."""
    found = halves(base)
    if found is None:
        raise FormatError(f"{base.name} is no split binder", pair[0].name)
    for path in found:
        if not path.exists():
            raise FormatError(f"half of a split binder: {path.name} is not beside it", base.name)
    header, data = (path.read_bytes() for path in found)
    entries = SplitBinder.read(header, data, *(path.name for path in found)).entries
    _warn_of_changes(base, outputs, source, problems, entries)
    contents = [(each.place, each.data) for each in outputs if each.place is not None]
    files = put_into_split(header, data, base.name, contents)
    _check(contents, SplitBinder.read(*files).entries, pair[0].name)
    return refresh_all(dict(zip(pair[::-1], files[::-1], strict=True)), lambda content: content)


def _base(target: Path, source: Path, member: str, ending: str) -> Path:
    """Return the binder to write into: the target where it exists, else the one that the members came from."""
    if target.exists():
        return target
    advice = f"Choose a binder that exists and holds {member}, or export a {ending}"
    if not source.exists():
        raise FormatError(f"{source}, which this came from, is not on this machine. {advice}", target.name)
    if (halves(source) is None) != (halves(target) is None):
        raise FormatError(f"this came from {source.name}, which is another kind of binder. {advice}", target.name)
    if halves(source) is None and not is_binder(source.name):
        raise FormatError(f"this came from {source.name}, which is no binder. {advice}", target.name)
    return source


def _warn_of_changes(base: Path, outputs: list[Output], source: Path, problems: Problems, entries: list[Entry]) -> None:
    """Tell where a binder holds something else than what was imported, and no export has put it there."""
    if base != source or base.with_name(base.name + BACKUP).exists():
        return
    for each in outputs:
        held = None if each.place is None else member_among(entries, base.name, each.place)
        if each.place is not None and held is not None and sha256(held) != each.sha256:
            problems.warn(f"{base.name} holds another {each.place.name} than was imported: it is replaced")
