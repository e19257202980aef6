"""Models in the scene -> files: the functions that scripts call and operators are a skin over."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from ..codec import FormatError
from ..codec.flver import Flver
from . import provenance
from .found import models
from .gather.flver import gather, own_objects
from .problems import Problems
from .settings import FlverExportSettings
from .writing import ExportResult, write_output


def chosen_model(context: Any) -> Any:
    """Return the collection of the active model, else of the only one; None where there is no telling which.

    The active model is the one of the active object, else the one that the active collection is of.
    """
    return chosen(context, models(context), own_objects)


def chosen(context: Any, found: list[Any], objects: Callable[[Any], Sequence[Any]]) -> Any:
    """Return the active one of some collections, else the only one; None where there is no telling which.

    Args:
        context: Blender's.
        found: the collections.
        objects: what belongs to one; the active object counts first, then the active collection.
    """
    active = context.view_layer.objects.active
    for collection in found:
        if active is not None and active in objects(collection):
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
            source = provenance.Origin.of(collection)
            result.written = write_output(
                result.target, data, source, ".flver", wrapper=settings.wrapper, problems=problems
            )
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
