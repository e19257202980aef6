"""Where a member is written: into a file of its own, wrapped or not, or in place of a member of a binder.

In a binder everything else stays as it is, byte for byte. Bytes are made whole, then put in place of a file at once.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from .binary import Buffer, Reader
from .binder import Binder, Entry, SplitBinder
from .dcx import Dcx, codec_name, is_dcx, read_header
from .errors import FormatError
from .source import Kind, kind_of, unwrap

WRAPPED = ".dcx"
BACKUP = ".bak"
HALVES = ("bhd", "bdt")  # how the names of a split binder's two files end


@dataclass(frozen=True)
class Place:
    r"""Which member of a binder is meant.

    Attributes:
        path: the stored path, such as ``N:\\GR\data\...\c4500.flver``, or a file's name where it was loose.
        id: the binder's number for it, -1 where it is not known.
    """

    path: str
    id: int = -1

    @property
    def name(self) -> str:
        """The last part of the path."""
        return self.path.replace("\\", "/").rsplit("/", 1)[-1]

    def find(self, entries: list[Entry]) -> list[Entry]:
        """Return the entries that are meant: by path, else by name; of several those with the number, if it has any."""
        for key in (lambda entry: entry.name.lower() == self.path.lower(), self._has_name):
            found = [entry for entry in entries if key(entry)]
            if found:
                numbered = [entry for entry in found if entry.id == self.id] or found[:1]
                return [entry for entry in found if bytes(entry.data) == bytes(numbered[0].data)]
        return []

    def _has_name(self, entry: Entry) -> bool:
        return entry.basename.lower() == self.name.lower()


Contents = list[tuple[Place, bytes]]


def is_binder(name: str) -> bool:
    """Tell from a file's name whether it is to be a binder."""
    return "bnd" in name.lower().removesuffix(WRAPPED).rsplit(".", 1)[-1]


def halves(path: Path) -> tuple[Path, Path] | None:
    """Return header and data file of a split binder by the name of either; None where the name is of something else."""
    own = path.name[-3:]
    if own.lower() not in HALVES:
        return None
    header, data = (end.upper() if own.isupper() else end for end in HALVES)
    return path.with_name(path.name[:-3] + header), path.with_name(path.name[:-3] + data)


def wrap(content: bytes, name: str, codec: str, like: Buffer | None = None) -> bytes:
    """Return a file's bytes: wrapped where its name asks for it.

    Args:
        content: of the file.
        name: of the file.
        codec: "DFLT" or "KRAK".
        like: a file whose wrapper's variant is kept where it has that codec.

    Raises:
        FormatError: the codec cannot be written.
    """
    if not name.lower().endswith(WRAPPED):
        return content
    if like is not None and is_dcx(like):
        old = Dcx(b"", read_header(Reader(like, big_endian=True)))
        if codec_name(old.header) == codec:
            return old.with_content(content).write()
    return Dcx.new(content, codec).write()


def put_into_binder(data: Buffer, file: str, contents: Contents) -> bytes:
    """Return a binder, unwrapped, with other content in place of members.

    Args:
        data: the binder's file, wrapped or not.
        file: what to call it in messages.
        contents: the members, which may be in a binder inside the binder, and may be there more than once with equal
            bytes; and what to put there, not wrapped.

    Raises:
        FormatError: no such member, or a binder or wrapper that is damaged or not supported.
    """
    inner = unwrap(data, file)
    if kind_of(inner) != Kind.BINDER:
        raise FormatError("is no binder", file)
    binder = Binder.read(inner, file)
    binder.entries = _put(binder.entries, file, contents)
    return binder.write()


def put_into_split(header: Buffer, data: Buffer, file: str, contents: Contents) -> tuple[bytes, bytes]:
    """Return both files of a split binder with other content in place of members; see `put_into_binder`."""
    binder = SplitBinder.read(unwrap(header, file), unwrap(data, file), file, file)
    binder.entries = _put(binder.entries, file, contents)
    return binder.write()


def _put(entries: list[Entry], file: str, contents: Contents) -> list[Entry]:
    """Return entries with other content in place of members of theirs or of binders among them."""
    changed, deeper = list(entries), list[tuple[Place, bytes]]()
    for place, content in contents:
        found = {id(entry) for entry in place.find(entries)}
        if not found:
            deeper.append((place, content))
        changed = [
            _with(now, content) if id(entry) in found else now for entry, now in zip(entries, changed, strict=True)
        ]
    if not deeper:
        return changed
    for i, entry in enumerate(entries):
        inside = [each for each in deeper if _may_hold(entry) and member_of(entry.data, file, each[0]) is not None]
        if inside:
            content = put_into_binder(changed[i].data, f"{file} > {entry.basename}", inside)
            changed[i] = _with(entry, content)
            deeper = [each for each in deeper if each not in inside]
    if deeper:
        raise FormatError(f"holds no {', '.join(place.name for place, _ in deeper[:5])}", file)
    return changed


def _may_hold(entry: Entry) -> bool:
    return "bnd" in entry.basename.lower()


def member_of(data: Buffer, file: str, place: Place) -> Buffer | None:
    """Return a member of a binder, unwrapped; None where the binder does not hold it.

    Raises:
        FormatError: a binder or wrapper that is damaged or not supported.
    """
    inner = unwrap(data, file)
    return member_among(Binder.read(inner, file).entries, file, place) if kind_of(inner) == Kind.BINDER else None


def member_among(entries: list[Entry], file: str, place: Place) -> Buffer | None:
    """Return a member among a binder's entries or in binders among them, unwrapped; None where there is none."""
    found = place.find(entries)
    if found:
        return unwrap(found[0].data, file)
    nested = (member_of(each.data, file, place) for each in entries if _may_hold(each))
    return next((each for each in nested if each is not None), None)


def _with(entry: Entry, content: bytes) -> Entry:
    """Return an entry with other content, wrapped as it was; as it is where it has that content."""
    if not is_dcx(entry.data):
        return replace(entry, data=content)
    if unwrap(entry.data) == content:
        return entry
    stored = Dcx.read(entry.data).with_content(content).write()
    return replace(entry, data=stored, size=None if entry.size is None else len(content))


def save(path: Path, data: bytes) -> None:
    """Put bytes in place of a file at once; the first time that a file is replaced, it is kept beside it as .bak.

    Raises:
        FormatError: the folder or the file cannot be written, in words that say why; what was there is as it was.
    """
    save_all({path: data})


def save_all(files: dict[Path, bytes]) -> None:
    """Save files that belong together: all is written beside them before the first one is replaced; see `save`."""
    staged: dict[Path, Path] = {}
    path = next(iter(files))
    try:
        for path, data in files.items():
            staged[path] = _stage(path, data)
        for path, written in staged.items():
            if path.exists():
                shutil.copymode(path, written)
                _back_up(path)
            else:
                written.chmod(0o666 & ~_umask())
        for path, written in staged.items():
            written.replace(path)
    except OSError as error:
        raise FormatError(_reason(error, path), path.name) from error
    finally:
        for written in staged.values():
            written.unlink(missing_ok=True)


def _stage(path: Path, data: bytes) -> Path:
    """Write bytes into a new file beside another."""
    with tempfile.NamedTemporaryFile(dir=path.parent, prefix=".ossuary-", suffix=".tmp", delete=False) as out:
        written = Path(out.name)
        try:
            out.write(data)
            out.flush()
            os.fsync(out.fileno())
        except OSError:
            written.unlink(missing_ok=True)
            raise
    return written


def _back_up(path: Path) -> None:
    backup = path.with_name(path.name + BACKUP)
    if not backup.exists():
        partial = backup.with_name(backup.name + ".tmp")
        try:
            shutil.copy2(path, partial)
            partial.replace(backup)
        except OSError:
            partial.unlink(missing_ok=True)
            raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _reason(error: OSError, path: Path) -> str:
    if isinstance(error, FileNotFoundError):
        return f"the folder {path.parent} does not exist"
    if isinstance(error, PermissionError):
        if path.exists() and os.access(path.parent, os.W_OK):
            return "cannot be replaced: it is open in another program, or read-only"
        return f"the folder {path.parent} cannot be written into"
    return error.strerror or str(error)


def refresh(path: Path, data: bytes, content_of: Callable[[Buffer], Buffer]) -> bool:
    """Save a file unless the one that is there has the same content; return whether it was written.

    Args:
        path: of the file.
        data: its bytes.
        content_of: what is compared, such as the unwrapped bytes; a file that it raises `FormatError` for is replaced.

    Raises:
        FormatError: see `save`.
    """
    return refresh_all({path: data}, content_of)


def refresh_all(files: dict[Path, bytes], content_of: Callable[[Buffer], Buffer]) -> bool:
    """Save files that belong together, all of them where the content of one has changed; see `refresh`."""
    changed = not all(_holds(path, data, content_of) for path, data in files.items())
    if changed:
        save_all(files)
    return changed


def _holds(path: Path, data: bytes, content_of: Callable[[Buffer], Buffer]) -> bool:
    if not path.exists():
        return False
    try:
        return content_of(path.read_bytes()) == content_of(data)
    except (FormatError, OSError):
        return False
