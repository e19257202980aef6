"""Models in the scene -> files: the functions that scripts call and operators are a skin over."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..codec import FormatError
from ..codec.flver import Flver
from . import provenance
from .gather.flver import gather
from .problems import Problems
from .settings import FlverExportSettings
from .writing import ExportResult, catching, write_output


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
    with catching(problems, result.target.name):
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
            source = provenance.Origin.of(collection)
            result.written = write_output(
                result.target, data, source, ".flver", wrapper=settings.wrapper, problems=problems
            )
        result.data = data
    return result


def _check(data: bytes) -> None:
    """Read a model back before anything is done with it."""
    if Flver.read(data, "the model as written").write() != data:
        raise FormatError("the model does not read back as it was written")
