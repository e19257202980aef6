"""Files -> models in the scene: the functions that scripts call and operators are a skin over."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..codec import FormatError
from ..codec.flver import Flver
from ..codec.source import Kind, Member, Opener, Source, open_source
from ..model import PlacedModel
from ..model.textures import GameFolders, Library, Looks, TextureIndex, looks
from . import flver as flver_scene
from . import provenance
from .cache import DecodedCache
from .cloth.imports import ClothSettings, DecodedCloth, build_cloth, decode_cloth
from .files import Progress, import_files, is_wanted, nothing_found
from .result import ImportedModel, ImportResult, Timings
from .settings import FlverSettings


@dataclass(frozen=True)
class DecodedModel:
    """A model, ready to be built.

    Attributes:
        member: where it was.
        placed: the model.
        looks: what its materials look like, with their textures.
    """

    member: Member
    placed: PlacedModel
    looks: Looks


@dataclass
class DecodedFile:
    """A file's models, ready to be built.

    Attributes:
        models: in stored order.
        cloth: the cloth beside them.
        warnings: what the user should know about the file.
    """

    models: list[DecodedModel]
    cloth: DecodedCloth
    warnings: list[str]


def import_flver(
    context: Any,
    paths: Iterable[str | Path],
    settings: FlverSettings | None = None,
    *,
    cache: DecodedCache | None = None,
    index: TextureIndex | None = None,
    progress: Progress | None = None,
    opener: Opener = open_source,
) -> ImportResult:
    """Import the models in files: loose FLVERs and binders, wrapped or not.

    Each file is all or nothing: one that fails leaves no datablock behind, and the others are imported. Mode,
    selection and active object stay as they are.

    Args:
        context: Blender's.
        paths: the files.
        settings: how to import; None for the defaults.
        cache: keeps the decoded files for the next call; files of earlier calls leave it.
        index: what is known of texture and material files from earlier calls; added to.
        progress: called with the share done, 0 to 1.
        opener: opens each file; for callers that have it open.

    Returns:
        What was made, warned of and failed. Nothing is raised for files that cannot be read.
    """
    result = ImportResult()
    job = _Job(context, settings or FlverSettings(), result, index or TextureIndex(), opener)
    import_files(context, paths, job, result, cache=cache, progress=progress)
    for model in result.models:
        result.timings.add(model.timings)
    return result


@dataclass
class _Job:
    context: Any
    settings: FlverSettings
    result: ImportResult
    index: TextureIndex
    opener: Opener

    def key(self, _path: Path) -> tuple[str, bool, bool, GameFolders]:
        return self.settings.member_filter, self.settings.cloth, self.settings.textures, self.settings.folders

    def decode(self, path: Path, progress: Progress) -> DecodedFile:
        with self.result.timings.stage("open"):
            source = self.opener(path, None, progress)
        return _decode(path, source, self.settings, self.result.timings, self.index)

    def build(self, path: Path, decoded: DecodedFile) -> Callable[[], None]:
        models = [_build(path, model, self.context, self.settings) for model in decoded.models]
        _build_cloths(path, decoded.cloth, models, self.context)

        def note() -> None:
            self.result.models += models
            found = [*decoded.warnings, *decoded.cloth.warnings]
            self.result.warnings += [f"{path.name}: {warning}" for warning in found]

        return note


def _decode(path: Path, source: Source, settings: FlverSettings, timings: Timings, index: TextureIndex) -> DecodedFile:
    """Read, check and place every model of a file."""
    wanted = [member for member in source.members if is_wanted(member.name, settings.member_filter)]
    members = [member for member in wanted if member.kind == Kind.FLVER]
    warnings = [member.fault for member in wanted if member.kind == Kind.UNREADABLE]
    if not members:
        raise nothing_found("FLVER model", settings.member_filter, warnings)
    distinct: list[Member] = []
    for member in members:
        if any(member.name == other.name and member.data() == other.data() for other in distinct):
            warnings.append(f"holds {member.name} twice, imported once")
        else:
            distinct.append(member)
    library = Library(path, source.members, settings.folders, index) if settings.textures else None
    models = [_decode_model(member, library, timings) for member in distinct]
    return DecodedFile(models, _cloth_beside(source.members, settings, timings), warnings)


def _cloth_beside(members: list[Member], settings: FlverSettings, timings: Timings) -> DecodedCloth:
    """Read the cloth of the file; one that cannot be read is a warning, for the model can."""
    if not settings.cloth:
        return DecodedCloth()
    found = DecodedCloth()
    try:
        found = decode_cloth(members, timings)
    except FormatError as error:
        found.warnings.append(f"the cloth is left out: {error}")
    return found


def _decode_model(member: Member, library: Library | None, timings: Timings) -> DecodedModel:
    placed = _place(member, timings)
    if library is None:
        return DecodedModel(member, placed, Looks())
    with timings.stage("find textures"):
        return DecodedModel(member, placed, looks(placed.flver, member.game, library))


def _place(member: Member, timings: Timings) -> PlacedModel:
    with timings.stage("read"):
        flver = Flver.read(member.data(), member.file)
    try:
        with timings.stage("place"):
            return PlacedModel.of(flver)
    except FormatError as error:
        raise error.inside(member.file) from error


def _build_cloths(path: Path, cloth: DecodedCloth, models: list[ImportedModel], context: Any) -> None:
    """Make the cloth of a file on the first of its models that has an armature."""
    model = next((model for model in models if model.armature is not None), None)
    if model is None:
        return
    settings = ClothSettings(points=False, links=False, collidables=False)
    for member, setup in cloth.cloths:
        with model.timings.stage("cloth"):
            model.cloths.append(build_cloth(
                path, member, setup, context, settings, armature=model.armature, parent=model.collection
            ))  # fmt: skip


def _build(path: Path, model: DecodedModel, context: Any, settings: FlverSettings) -> ImportedModel:
    name = model.member.name.split(".", 1)[0] or model.member.name
    imported = flver_scene.build(model.placed, name, context, settings, timings=Timings(), looks=model.looks.of)
    imported.warnings += model.looks.warnings
    provenance.keep(imported.collection, path, model.member)
    return imported
