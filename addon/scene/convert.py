"""Many files -> .blend or glTF files, each from a scene of its own: the function behind the command line."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

import addon_utils
import bpy

from ..codec import FormatError
from ..codec.source import Kind, Source, may_open, open_source
from ..model.textures import TextureIndex
from .cloth.imports import ClothSettings, import_cloth
from .collision.imports import CollisionSettings, import_collision
from .files import is_wanted, nothing_found
from .imports import import_flver
from .result import FilesResult
from .settings import FlverSettings, GameFolders

GLTF = "io_scene_gltf2"  # Blender's own add-on


class Format(StrEnum):
    """What files become; the value is the extension."""

    BLEND = "blend"
    GLB = "glb"


class Part(StrEnum):
    """What is taken from a file."""

    MODEL = "model"
    COLLISION = "collision"
    CLOTH = "cloth"


class Outcome(StrEnum):
    """What became of a file."""

    DONE = "done"
    PARTLY = "partly"  # written, without what could not be imported
    FAILED = "failed"
    SKIPPED = "skipped"  # what it becomes was there
    NOTHING = "nothing"  # it was met in a folder and holds nothing that was asked for


_PARTS = {
    Kind.FLVER: Part.MODEL,
    Kind.COLLISION: Part.COLLISION,
    Kind.RAGDOLL: Part.COLLISION,
    Kind.CLOTH: Part.CLOTH,
}


@dataclass(frozen=True)
class ConvertSettings:
    """How files are converted.

    Attributes:
        format: what they become.
        parts: what is taken from them.
        member_filter: only binder members whose name matches, with * and ?; empty for all.
        scale: of all that is imported.
        textures: whether models get their textures.
        folders: of the unpacked games, where textures are that are not beside a model.
        skip_existing: leave alone what has become a file already, so that a run that was stopped goes on.
    """

    format: Format = Format.BLEND
    parts: frozenset[Part] = frozenset(Part)
    member_filter: str = ""
    scale: float = 1.0
    textures: bool = True
    folders: GameFolders = GameFolders()
    skip_existing: bool = False


@dataclass(frozen=True)
class Task:
    """A file to convert.

    Attributes:
        path: the file.
        target: what it becomes.
        named: it was named itself, not met in a folder: then it is a failure if it holds nothing.
    """

    path: Path
    target: Path
    named: bool = True


@dataclass
class Converted:
    """What became of a file.

    Attributes:
        path: the file.
        target: what it was to become.
        outcome: whether it did.
        made: what was imported, in a few words.
        failures: why it failed, or what of it.
        warnings: what the user should know.
        seconds: how long it took.
    """

    path: Path
    target: Path
    outcome: Outcome = Outcome.FAILED
    made: str = ""
    failures: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    seconds: float = 0.0


def convert(
    inputs: Iterable[str | Path],
    out: str | Path,
    settings: ConvertSettings | None = None,
    tell: Callable[[Converted], None] | None = None,
) -> list[Converted]:
    """Turn files and all files below folders into .blend or .glb files.

    Each file is imported into an empty scene of its own: the file that is open in Blender is closed without being
    saved, and memory does not grow with the number of files. A .blend or .glb appears when it is complete. A file that
    fails does not stop the others.

    Args:
        inputs: files, which are told by content, and folders. A file below a folder keeps its place below ``out``.
        out: the folder for what they become.
        settings: how; None for the defaults.
        tell: called with what became of each file, as soon as it is known.

    Returns:
        What became of each file. Nothing is raised for files that cannot be read.
    """
    settings = settings or ConvertSettings()
    results, taken, index = [], dict[Path, Path](), TextureIndex()
    for task in tasks(inputs, Path(out), settings):
        result = Converted(task.path, task.target)
        began = time.perf_counter()
        if task.target in taken:
            if taken[task.target].samefile(task.path):
                continue  # it was named twice
            result.failures.append(f"{taken[task.target]} has become {task.target} already")
        else:
            _try(task, settings, result, index)
            if result.outcome != Outcome.NOTHING:
                taken[task.target] = task.path
        result.seconds = time.perf_counter() - began
        results.append(result)
        if tell is not None:
            tell(result)
    return results


def tasks(inputs: Iterable[str | Path], out: Path, settings: ConvertSettings) -> Iterator[Task]:
    """Yield what there is to do: files as named, and those below folders that can be looked into, sorted."""
    for each in map(Path, inputs):
        if not each.is_dir():
            yield Task(each, out / _renamed(each.name, settings.format))
            continue
        for folder, folders, names in os.walk(each):
            folders.sort()
            below = out / Path(folder).relative_to(each)
            for name in sorted(names):
                if _may_open(Path(folder, name)):
                    yield Task(Path(folder, name), below / _renamed(name, settings.format), named=False)


def _may_open(path: Path) -> bool:
    try:
        return path.is_file() and may_open(path)
    except OSError:
        return True  # opening it will say why it cannot be read


def _renamed(name: str, form: Format) -> str:
    """Return a file's name with another extension; only a wrapper's is taken off, for it tells nothing."""
    return f"{name[:-4] if name.lower().endswith('.dcx') else name}.{form}"


def _try(task: Task, settings: ConvertSettings, result: Converted, index: TextureIndex) -> None:
    """Convert a file, whatever happens."""
    try:
        _convert(task, settings, result, index)
    except FormatError as error:
        result.failures.append(str(error.within(task.path.name)))
    except OSError as error:
        result.failures.append(error.strerror or str(error))
    except Exception as error:  # noqa: BLE001 - a fault in one file, ours or Blender's, must not end a night's work
        result.failures.append(f"{type(error).__name__}: {error}".strip())


def _convert(task: Task, settings: ConvertSettings, result: Converted, index: TextureIndex) -> None:
    if settings.skip_existing and task.target.exists():
        result.outcome = Outcome.SKIPPED
        return
    source = open_source(task.path)
    wanted = [member for member in source.members if is_wanted(member.name, settings.member_filter)]
    parts = {_PARTS[member.kind] for member in wanted if member.kind in _PARTS} & settings.parts
    if not parts:
        if task.named:
            faults = [f"{member.name}: {member.fault}" for member in wanted if member.fault]
            raise nothing_found(" or ".join(sorted(settings.parts)), settings.member_filter, faults[:3])
        result.outcome = Outcome.NOTHING
        return
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    imported = _import(source, parts, settings, index)
    result.made = "; ".join(each.made for each in imported if each.made)
    for each in imported:
        result.failures += [why for _name, why in each.failures if why not in result.failures]
        result.warnings += each.details[len(each.failures) :]
    if result.made:
        _write(task.target, settings.format)
        result.outcome = Outcome.PARTLY if result.failures else Outcome.DONE


def _import(source: Source, parts: set[Part], settings: ConvertSettings, index: TextureIndex) -> list[FilesResult]:
    """Import the parts of a file into the empty scene; the cloth beside a model comes with the model."""
    context, paths, only, scale = bpy.context, [source.path], settings.member_filter, settings.scale
    results: list[FilesResult] = []
    if Part.MODEL in parts:
        flver = FlverSettings(
            scale=scale,
            cloth=Part.CLOTH in parts,
            textures=settings.textures,
            folders=settings.folders,
            member_filter=only,
        )
        results.append(import_flver(context, paths, flver, index=index, opener=lambda *_: source))
    if Part.COLLISION in parts:
        collision = CollisionSettings(scale=scale, member_filter=only)
        results.append(import_collision(context, paths, collision, opener=lambda *_: source))
    if Part.CLOTH in parts and Part.MODEL not in parts:
        cloth = ClothSettings(scale=scale, member_filter=only)
        results.append(import_cloth(context, paths, cloth, opener=lambda *_: source))
    return results


def _write(target: Path, form: Format) -> None:
    """Write the scene; the file has its name when it is complete, so that a run that was stopped can go on."""
    target.parent.mkdir(parents=True, exist_ok=True)
    # absolute, for to Blender 4.5 relative means relative to $PWD, wherever the process is
    unfinished = target.with_name(f"{target.stem}.unfinished.{form}").absolute()
    try:
        if form == Format.BLEND:
            bpy.ops.wm.save_as_mainfile(filepath=str(unfinished), copy=True, compress=True)
        else:
            _write_gltf(unfinished)
        unfinished.replace(target)
    finally:
        unfinished.unlink(missing_ok=True)


def _write_gltf(path: Path) -> None:
    """Write the scene as glTF: what links the particles of cloth as lines, and no point clouds, which it has not."""
    bpy.data.batch_remove([obj for obj in bpy.data.objects if obj.type == "POINTCLOUD"])
    was_on = GLTF in bpy.context.preferences.addons
    if not was_on:
        addon_utils.enable(GLTF, default_set=False)
    try:
        bpy.ops.export_scene.gltf(filepath=str(path), export_format="GLB", use_mesh_edges=True, export_animations=False)
    finally:
        if not was_on:
            addon_utils.disable(GLTF, default_set=False)
