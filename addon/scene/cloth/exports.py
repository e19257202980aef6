"""Cloth in the scene -> files: the function that scripts call and the operator is a skin over."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ...cloth.edits import new_faults, try_out
from ...codec import FormatError, Tagfile, read_cloth
from ...codec.havok.cloth import ClothFile
from ...codec.havok.cloth.comparing import differences
from ...codec.havok.cloth.storing import store_cloth
from ..problems import Problems
from ..provenance import Origin
from ..settings import ClothExportSettings
from ..writing import ExportResult, catching, write_output
from .edits import EditedCloth, about, edited_cloth, source_tagfile
from .keys import PREFIX, TYPES

ENDING = ".hkx"
INSIST = "Tried for two seconds, the cloth does not hold. The export option Write Even If Faulty writes it all the same"


def export_cloth(
    context: Any,  # noqa: ARG001 - all exports are called alike
    collection: Any,
    target: str | Path,
    settings: ClothExportSettings | None = None,
) -> ExportResult:
    """Write a cloth into a file: a loose tagfile, wrapped or not, or the member of a binder.

    A binder that exists is written into; one that does not is made as a copy of the one that the cloth came from. What
    nobody edited is written byte for byte. Edited cloth is checked and tried first. All is made in memory and read back
    before a file is touched; a file with the same content is left alone. The scene does not change.

    Args:
        context: Blender's.
        collection: of the cloth.
        target: the file; its name decides the form.
        settings: how to export; None for the defaults.

    Returns:
        What was written, and everything in the way or to know. Nothing is raised for what cannot be written.
    """
    settings = settings or ClothExportSettings()
    result = ExportResult(Path(target))
    problems = Problems(result.errors, result.warnings)
    with catching(problems, result.target.name):
        with result.timings.stage("gather"):
            edited = edited_cloth(collection)
            result.errors += edited.errors
            result.warnings += edited.notes
        if not edited.gathered.untouched and not result.errors:
            with result.timings.stage("check"):
                _examine(edited, problems, insist=settings.insist)
        if result.errors:
            return result
        with result.timings.stage("encode"):
            data = _encode(collection, edited.file)
        with result.timings.stage("write"):
            source = Origin.of(collection, PREFIX)
            result.written = write_output(
                result.target, data, source, ENDING, wrapper=settings.wrapper, problems=problems
            )
        result.data = data
    return result


def _examine(edited: EditedCloth, problems: Problems, *, insist: bool) -> None:
    """Check that the parts of a cloth fit together and that it stays in one piece; report what does not."""
    report = problems.warn if insist else problems.error
    for fault in new_faults(edited.stored.file, edited.file):
        report(*about(fault.text, edited.stored.file, edited.gathered))
    trial = try_out(edited.file)
    if trial.fault:
        text, *names = about(trial.fault, edited.stored.file, edited.gathered)
        report(f"{INSIST}: {text}", *names)


def _encode(collection: Any, file: ClothFile) -> bytes:
    """Return the bytes of the tagfile that a cloth came from, with its records in it, read back."""
    tag = source_tagfile(collection)
    store_cloth(tag, file)
    data, types = tag.write(), collection.get(TYPES)
    again = Tagfile.read(data, None if types is None else bytes(types), "the cloth as written")
    if again.write() != data or next(differences(file, read_cloth(again)), None) is not None:
        raise FormatError("the cloth does not read back as it was written")
    return data
