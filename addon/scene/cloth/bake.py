"""Cloth into PC2 caches, so that scenes render without the simulation."""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np

from ...codec.binary import Array
from .keys import ARMATURE, CACHE, cloths
from .outputs import Output, armature_modifier, place_after_armature
from .player import Player

HEADER = struct.Struct("<12siiffi")  # magic, version, points, first frame, frames between samples, samples
MAGIC = b"POINTCACHE2\0"


@dataclass
class Baked:
    """What a bake did.

    Attributes:
        files: one for each mesh.
        warnings: what is not in them.
    """

    files: list[Path] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


@dataclass
class _Mesh:
    obj: Any
    output: Output
    samples: list[Array] = field(default_factory=list)


def bake(context: Any, player: Player, folder: Path, progress: Callable[[float], None] | None = None) -> Baked:
    """Play the scene's frames, write what each mesh does into a PC2 file, and let the meshes play that.

    Args:
        context: Blender's.
        player: with play switched on.
        folder: takes the files; it is made.
        progress: called with the share done, 0 to 1.

    Raises:
        OSError: a file cannot be written.
    """
    scene = context.scene
    first, last, shown = scene.frame_start, scene.frame_end, scene.frame_current
    remove_caches(scene)
    meshes: dict[int, _Mesh] = {}
    for frame in range(first, last + 1):
        scene.frame_set(frame)
        for collection in cloths(scene):
            session = player.sessions.get(collection.session_uid)
            if session is None or player.problem(collection):
                continue
            for obj, output in session.meshes(collection):
                mesh = meshes.setdefault(obj.session_uid, _Mesh(obj, output))
                mesh.samples.append(session.positions(obj, output, collection[ARMATURE]))
        if progress is not None:
            progress((frame - first + 1) / (last - first + 1))
    result = Baked()
    for collection in cloths(scene):
        session = player.sessions.get(collection.session_uid)
        if session is None:
            continue
        if session.setup.driven:
            result.warnings.append(f"{collection.name}: the {len(session.setup.driven)} bones it drives are not cached")
        result.warnings += [f"as the file has it, for the edit is refused: {text}" for text in session.refused]
    player.reset(scene)
    scene.frame_set(shown)
    folder.mkdir(parents=True, exist_ok=True)
    names: set[str] = set()
    for mesh in meshes.values():
        path = folder / f"{_file_name(mesh.obj.name, names)}.pc2"
        write_pc2(path, np.stack(mesh.samples), first)
        _attach(mesh, path, first)
        result.files.append(path)
    return result


def _file_name(name: str, taken: set[str]) -> str:
    """Return a name that every file system takes, and that none of the ``taken`` is, big and small letters alike."""
    plain = "".join(c if c.isalnum() or c in " -_" else "_" for c in name)
    found = next(each for n in count(1) if (each := plain if n == 1 else f"{plain} {n}").casefold() not in taken)
    taken.add(found.casefold())
    return found


def write_pc2(path: Path, samples: Array, first: int) -> None:
    """Write positions, (frames, n, 3) f4, whose first row is that of frame ``first``."""
    header = HEADER.pack(MAGIC, 1, samples.shape[1], first, 1.0, len(samples))
    path.write_bytes(header + np.ascontiguousarray(samples, "<f4").tobytes())


def remove_caches(scene: Any) -> None:
    """Take the modifiers of earlier bakes away."""
    for obj in scene.objects:
        for modifier in [each for each in obj.modifiers if each.name == CACHE]:
            obj.modifiers.remove(modifier)
        if CACHE in obj.vertex_groups:
            obj.vertex_groups.remove(obj.vertex_groups[CACHE])


def show_caches(scene: Any, *, shown: bool) -> None:
    """Let the modifiers of bakes show what they hold, or not: they would hide what is simulated."""
    for obj in scene.objects:
        for modifier in [each for each in obj.modifiers if each.name == CACHE]:
            modifier.show_viewport = modifier.show_render = shown


def _attach(mesh: _Mesh, path: Path, first: int) -> None:
    modifier = mesh.obj.modifiers.new(CACHE, "MESH_CACHE")
    modifier.cache_format, modifier.filepath = "PC2", str(path)
    modifier.interpolation = "NONE"
    modifier.frame_start = first
    if not mesh.output.whole:
        group = mesh.obj.vertex_groups.new(name=CACHE)
        group.add(np.flatnonzero(mesh.output.selection).tolist(), 1.0, "REPLACE")
        modifier.vertex_group = group.name
    if armature_modifier(mesh.obj) is not None:
        place_after_armature(mesh.obj)
