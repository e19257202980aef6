"""Models in the scene -> files: the functions that scripts call and operators are a skin over."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..codec import FormatError
from ..codec.binary import Buffer
from ..codec.flver import Flver
from ..codec.source import unwrap
from ..codec.target import BACKUP, Place, is_binder, member_of, put_into_binder, refresh, wrap
from . import provenance
from .gather.flver import gather, own_objects
from .problems import Problem, Problems
from .provenance import Provenance
from .result import Timings
from .settings import FlverExportSettings


@dataclass
class ExportResult:
    """What an export did.

    Attributes:
        target: the file.
        written: whether it was written; not where there are errors, and not where it had this content already.
        data: the model's bytes, empty where there are errors.
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
            parts = [f"Nothing exported: {len(self.errors)} problem{'s' if len(self.errors) > 1 else ''}"]
        elif self.written:
            parts = [f"Exported {self.target.name}"]
        else:
            parts = [f"{self.target.name} is as it was: nothing has changed"]
        if self.warnings:
            parts.append(f"{len(self.warnings)} warning{'s' if len(self.warnings) > 1 else ''}")
        return "; ".join(parts)

    @property
    def details(self) -> list[str]:
        """All problems and warnings, a line each."""
        return [str(problem) for problem in (*self.errors, *self.warnings)]


def models(context: Any) -> list[Any]:
    """Return the collections of the scene that are imported models."""
    return [each for each in context.scene.collection.children_recursive if provenance.HASH in each]


def chosen_model(context: Any) -> Any:
    """Return the collection of the active model, else of the only one; None where there is no telling which.

    The active model is the one of the active object, else the one that the active collection is of.
    """
    found = models(context)
    active = context.view_layer.objects.active
    for collection in found:
        if active is not None and active in own_objects(collection):
            return collection
    for collection in reversed(found):  # those inside others come later
        if context.collection is not None and context.collection in (collection, *collection.children_recursive):
            return collection
    return found[0] if len(found) == 1 else None


def export_flver(
    context: Any, collection: Any, target: str | Path, settings: FlverExportSettings | None = None
) -> ExportResult:
    """Write a model into a file: a loose FLVER, wrapped or not, or the member of a binder.

    A binder that exists is written into; one that does not is made as a copy of the one that the model came from. All
    is made in memory and read back before a file is touched; a file with the same content is left alone. The scene
    does not change.

    Args:
        context: Blender's.
        collection: of the model.
        target: the file; its name decides the form.
        settings: how to export; None for the defaults.

    Returns:
        What was written, and everything in the way or to know. Nothing is raised for what cannot be written.
    """
    settings = settings or FlverExportSettings()
    result = ExportResult(Path(target))
    problems = Problems(result.errors, result.warnings)
    try:
        with result.timings.stage("source"):
            template = Flver.read(provenance.source_bytes(collection), collection.name)
        with result.timings.stage("gather"):
            flver = gather(collection, template, context, settings, problems)
        if flver is None:
            return result
        with result.timings.stage("encode"):
            data = flver.write()
            _check(data)
        with result.timings.stage("write"):
            result.written = _write(result.target, data, collection, settings, problems)
        result.data = data
    except FormatError as error:
        problems.error(str(error))
    except OSError as error:
        problems.error(f"{result.target.name}: {error.strerror or error}")
    return result


def _check(data: bytes) -> None:
    """Read a model back before anything is done with it."""
    if Flver.read(data, "the model as written").write() != data:
        raise FormatError("the model does not read back as it was written")


def _write(target: Path, data: bytes, collection: Any, settings: FlverExportSettings, problems: Problems) -> bool:
    """Write a model's bytes into the target; return whether the file has changed."""
    name = target.name
    if not is_binder(name):
        if not name.lower().endswith((".flver", ".flver.dcx")):
            raise FormatError("the name must end in .flver or .flver.dcx, or as a binder's in .partsbnd.dcx", name)
        return refresh(target, wrap(data, name, settings.wrapper), unwrap)
    source = Provenance.of(collection)
    if source is None:
        raise FormatError("the model has no source that says which member of a binder it is", name)
    place = Place(source.member, source.member_id)
    base = _base(target, source)
    old = base.read_bytes()
    _warn_of_change(old, base, source, problems)
    file = wrap(put_into_binder(old, base.name, place, data), name, settings.wrapper, old)
    if member_of(file, name, place) != data:
        raise FormatError("the binder does not read back as it was written", name)
    return refresh(target, file, unwrap)


def _base(target: Path, source: Provenance) -> Path:
    """Return the binder to write into: the target where it exists, else the one that the model came from."""
    if target.exists():
        return target
    if not source.file.exists():
        raise FormatError(
            f"{source.file}, which the model came from, is not on this machine. Choose a binder that exists and holds "
            f"{Place(source.member).name}, or export a .flver",
            target.name,
        )
    if not is_binder(source.file.name):
        raise FormatError(
            f"the model came from {source.file.name}, which is no binder. Choose a binder that exists and holds a "
            "member of its name, or export a .flver",
            target.name,
        )
    return source.file


def _warn_of_change(old: Buffer, base: Path, source: Provenance, problems: Problems) -> None:
    """Tell where the binder holds another model than the one that was imported, and no export has put it there."""
    place = Place(source.member, source.member_id)
    member = member_of(old, base.name, place)
    exported = base.with_name(base.name + BACKUP).exists()
    if base == source.file and not exported and member is not None and provenance.sha256(member) != source.sha256:
        problems.warn(f"{base.name} holds another {place.name} than was imported: it is replaced")
