"""What all imports share: files one after another, each decoded whole, then built whole or not at all."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from fnmatch import fnmatch
from pathlib import Path
from typing import Any, Protocol

from ..codec import FormatError
from .cache import DecodedCache
from .result import FilesResult
from .transaction import Transaction

Progress = Callable[[float], None]


class Job(Protocol):
    """What an import does with one file."""

    def key(self, path: Path) -> Hashable:
        """Return what a decoded file depends on beside the file itself."""

    def decode(self, path: Path, progress: Progress) -> Any:
        """Read and check a file, without Blender.

        Args:
            path: the file.
            progress: to be called with the share done, 0 to 1.

        Raises:
            FormatError: the file cannot be imported.
            OSError: the file cannot be read.
        """

    def build(self, path: Path, decoded: Any) -> Callable[[], None]:
        """Make the datablocks of a file and return what notes them in the result once they are there to stay."""


def import_files(
    context: Any,
    paths: Iterable[str | Path],
    job: Job,
    result: FilesResult,
    *,
    cache: DecodedCache | None = None,
    progress: Progress | None = None,
) -> None:
    """Import files; one that fails leaves no datablock behind and is noted in the result, the others are imported.

    Args:
        context: Blender's.
        paths: the files.
        job: what to do with each.
        result: takes failures.
        cache: keeps the decoded files for the next call; files of earlier calls leave it.
        progress: called with the share done, 0 to 1.
    """
    files = [Path(path) for path in paths]
    kept = cache.files if cache is not None else {}
    seen: dict[Hashable, Any] = {}
    for number, path in enumerate(files):

        def decoding(share: float, number: int = number) -> None:
            if progress is not None:
                progress((number + 0.5 * share) / len(files))

        try:
            key = (path, stamp(path), _stamps_beside(path), job.key(path))
            decoded = kept[key] if key in kept else job.decode(path, decoding)
            seen[key] = decoded
            decoding(1.0)
            with Transaction(context):
                note = job.build(path, decoded)
        except FormatError as error:
            result.failures.append((path.name, str(error.within(path.name))))
        except OSError as error:
            result.failures.append((path.name, error.strerror or str(error)))
        else:
            note()
        if progress is not None:
            progress((number + 1) / len(files))
    if cache is not None:
        cache.files = seen


def stamp(path: Path) -> tuple[int, int]:
    """Return what changes when a file is written: its time and size."""
    facts = path.stat()
    return facts.st_mtime_ns, facts.st_size


def _stamps_beside(path: Path) -> tuple[tuple[str, int, int], ...]:
    """Return the stamps of what may be read with a file: the other half of a split binder, and compendiums."""
    stem = path.name.split(".", 1)[0].lower()
    names = {each: each.name.lower() for each in path.parent.iterdir()}
    beside = [each for each, name in names.items() if name.split(".", 1)[0] == stem or ".compendium" in name]
    return tuple((each.name, *stamp(each)) for each in sorted(beside) if each.is_file())


def is_wanted(name: str, pattern: str) -> bool:
    """Tell whether a member's name matches a filter with * and ?; an empty one matches all."""
    return not pattern or fnmatch(name.lower(), pattern.lower())


def nothing_found(what: str, pattern: str, faults: list[str]) -> FormatError:
    """Return the error of a file that holds nothing to import."""
    which = f" that matches {pattern!r}" if pattern else ""
    return FormatError("; ".join([f"holds no {what}{which}", *faults]))
