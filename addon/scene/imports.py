"""Files -> models in the scene: the functions that scripts call and operators are a skin over."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from ..codec import FormatError
from ..codec.flver import Flver
from ..codec.source import Kind, Member, open_source
from ..model import PlacedModel
from . import flver as flver_scene
from .properties import PREFIX, set_properties, stored_text
from .result import ImportedModel, ImportResult, Timings
from .settings import FlverSettings
from .transaction import Transaction

Progress = Callable[[float], None]


@dataclass
class DecodedFile:
    """A file's models, ready to be built.

    Attributes:
        models: member and placed model, in stored order.
        warnings: what the user should know about the file.
    """

    models: list[tuple[Member, PlacedModel]]
    warnings: list[str]


@dataclass
class DecodedCache:
    """Keeps what the last import decoded, so that importing the same files with other settings is fast."""

    files: dict[tuple[Path, int, int, str], DecodedFile] = field(default_factory=dict)

    def clear(self) -> None:
        """Forget everything."""
        self.files.clear()


def import_flver(
    context: Any,
    paths: Iterable[str | Path],
    settings: FlverSettings | None = None,
    *,
    cache: DecodedCache | None = None,
    progress: Progress | None = None,
) -> ImportResult:
    """Import the models in files: loose FLVERs and binders, wrapped or not.

    Each file is all or nothing: one that fails leaves no datablock behind, and the others are imported. Mode,
    selection and active object stay as they are.

    Args:
        context: Blender's.
        paths: the files.
        settings: how to import; None for the defaults.
        cache: keeps the decoded files for the next call; files of earlier calls leave it.
        progress: called with the share done, 0 to 1.

    Returns:
        What was made, warned of and failed. Nothing is raised for files that cannot be read.
    """
    settings = settings or FlverSettings()
    files = [Path(path) for path in paths]
    kept = cache.files if cache is not None else {}
    seen: dict[tuple[Path, int, int, str], DecodedFile] = {}
    result = ImportResult()
    for number, path in enumerate(files):
        try:
            key = _key(path, settings)
            decoded = kept.get(key) or _decode(path, settings, result.timings)
            seen[key] = decoded
            if progress is not None:
                progress((number + 0.5) / len(files))
            with Transaction(context):
                models = [_build(path, member, model, context, settings) for member, model in decoded.models]
        except FormatError as error:
            result.failures.append((path.name, str(error)))
        except OSError as error:
            result.failures.append((path.name, error.strerror or str(error)))
        else:
            result.models += models
            result.warnings += [f"{path.name}: {warning}" for warning in decoded.warnings]
        if progress is not None:
            progress((number + 1) / len(files))
    for model in result.models:
        result.timings.add(model.timings)
    if cache is not None:
        cache.files = seen
    return result


def _key(path: Path, settings: FlverSettings) -> tuple[Path, int, int, str]:
    facts = path.stat()
    return path, facts.st_mtime_ns, facts.st_size, settings.member_filter


def _decode(path: Path, settings: FlverSettings, timings: Timings) -> DecodedFile:
    """Read, check and place every model of a file."""
    with timings.stage("open"):
        source = open_source(path)
    wanted = [member for member in source.members if _wanted(member, settings.member_filter)]
    members = [member for member in wanted if member.kind == Kind.FLVER]
    warnings = [fault for member in wanted if (fault := member.fault)]
    if not members:
        which = f" that matches {settings.member_filter!r}" if settings.member_filter else ""
        raise FormatError("; ".join([f"holds no FLVER model{which}", *warnings]))
    distinct: list[Member] = []
    for member in members:
        if any(member.name == other.name and member.data() == other.data() for other in distinct):
            warnings.append(f"holds {member.name} twice, imported once")
        else:
            distinct.append(member)
    return DecodedFile([(member, _place(member, timings)) for member in distinct], warnings)


def _place(member: Member, timings: Timings) -> PlacedModel:
    with timings.stage("read"):
        flver = Flver.read(member.data(), member.file)
    try:
        with timings.stage("place"):
            return PlacedModel.of(flver)
    except FormatError as error:
        raise error.inside(member.file) from error


def _wanted(member: Member, pattern: str) -> bool:
    return not pattern or fnmatch(member.name.lower(), pattern.lower())


def _build(path: Path, member: Member, model: PlacedModel, context: Any, settings: FlverSettings) -> ImportedModel:
    name = member.name.split(".", 1)[0] or member.name
    imported = flver_scene.build(model, name, context, settings, Timings())
    set_properties(imported.collection, {
        PREFIX + "file": stored_text(str(path.resolve())),
        PREFIX + "member": stored_text(member.path),
        PREFIX + "game": str(member.game),
    })  # fmt: skip
    return imported
