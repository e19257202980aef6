"""Checks of the files that bodies in the scene were imported from."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ...codec import FormatError, Tagfile, read_collision
from ...codec.havok.collision.shapes import MeshShape
from ...codec.source import Source, open_source
from ...collision import check
from .keys import PREFIX


def recheck(objects: Iterable[Any]) -> tuple[int, list[str]]:
    """Read the files of bodies again and check their compressed meshes.

    Returns:
        How many meshes were checked, and what was found, a line each.
    """
    sources: dict[tuple[str, str], Source] = {}
    wanted: dict[tuple[str, str, str], list[Any]] = {}
    for obj in objects:
        wanted.setdefault((_text(obj, "file"), _text(obj, "compendium"), _text(obj, "member")), []).append(obj)
    checked, lines = 0, list[str]()
    for (file, types, path), bodies in wanted.items():
        try:
            if (file, types) not in sources:
                sources[file, types] = open_source(Path(file), Path(types) if types else None)
            found, more = _check_member(sources[file, types], path, bodies)
            checked, lines = checked + found, lines + more
        except FormatError as error:
            lines.append(str(error))
        except OSError as error:
            lines.append(f"{file}: {error.strerror or error}")
    return checked, lines


def _check_member(source: Source, path: str, objects: list[Any]) -> tuple[int, list[str]]:
    member = next((each for each in source.members if each.path == path), None)
    if member is None:
        return 0, [f"{source.path.name} no longer holds {path}"]
    bodies = read_collision(Tagfile.read(member.data(), member.compendium, member.file))
    places = {(body.system, body.index): body for body in bodies}
    checked, lines = 0, []
    for obj in objects:
        body = places.get((obj[PREFIX + "system"], obj[PREFIX + "index"]))
        if body is not None and isinstance(body.shape, MeshShape):
            checked += 1
            lines += [f"{obj.name}: {finding.rule}: {finding}" for finding in check(body.shape.mesh)]
    return checked, lines


def _text(obj: Any, name: str) -> str:
    value = obj.get(PREFIX + name, "")
    return value.decode("utf-8", "surrogatepass") if isinstance(value, bytes) else str(value)
