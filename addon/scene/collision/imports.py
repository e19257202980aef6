"""Files -> collision in the scene: the function that scripts call and the operator is a skin over."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ...codec import FormatError, Tagfile, read_collision
from ...codec.havok.collision import Body
from ...codec.source import Kind, Member, Opener, open_source
from ...collision import Surface, surface
from ..cache import DecodedCache
from ..files import Progress, import_files, is_wanted, nothing_found, stamp
from ..result import CollisionResult, ImportedBody, Timings
from .build import Origin, build
from .colors import Palette, paint
from .keys import SCALE, CollisionSet, Mode
from .sets import Groups, Place, place_of, sets_beside
from .shades import SET_COLORS, SetColors
from .sources import Packer

KINDS = (Kind.COLLISION, Kind.RAGDOLL)


@dataclass(frozen=True)
class CollisionSettings:
    """How collision is imported.

    Attributes:
        member_filter: only binder members whose name matches, with * and ?; empty for all.
        scale: of the bodies in the scene; the data keep their size.
        compendium: file with the types of files that have none; None to look inside and beside them.
        set: the set that all bodies go to; None to tell it by their names.
        also: other sets of a map to import where they lie beside the one chosen.
        color: what the colours tell.
        colors: of the sets.
    """

    member_filter: str = ""
    scale: float = 1.0
    compendium: Path | None = None
    set: CollisionSet | None = None
    also: frozenset[CollisionSet] = frozenset()
    color: Mode = Mode.MATERIAL
    colors: SetColors = field(default_factory=lambda: SET_COLORS)


@dataclass
class DecodedCollision:
    """A file's bodies, ready to be built.

    Attributes:
        bodies: member, body and surface, in stored order.
        counts: bodies by member name.
        warnings: what the user should know about the file.
    """

    bodies: list[tuple[Member, Body, Surface]] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)


def import_collision(
    context: Any,
    paths: Iterable[str | Path],
    settings: CollisionSettings | None = None,
    *,
    cache: DecodedCache | None = None,
    progress: Progress | None = None,
    opener: Opener = open_source,
) -> CollisionResult:
    """Import the collision bodies in files: loose tagfiles, binders and split binders, wrapped or not.

    Each file is all or nothing: one that fails leaves no datablock behind, and the others are imported. Mode,
    selection and active object stay as they are.

    Args:
        context: Blender's.
        paths: the files.
        settings: how to import; None for the defaults.
        cache: keeps the decoded files for the next call; files of earlier calls leave it.
        progress: called with the share done, 0 to 1.
        opener: opens each file; for callers that have it open.

    Returns:
        What was made, warned of and failed. Nothing is raised for files that cannot be read.
    """
    settings = settings or CollisionSettings()
    result = CollisionResult()
    files = files_of(paths, settings)
    import_files(context, files, _Job(context, settings, result, opener), result, cache=cache, progress=progress)
    result.warnings += _placeholder_warnings(result, files)
    return result


def files_of(paths: Iterable[str | Path], settings: CollisionSettings) -> list[Path]:
    """Return the files that an import reads: those chosen and the other sets beside them, each once."""
    return _distinct([each for path in paths for each in _with_others(Path(path), settings)])


def _with_others(path: Path, settings: CollisionSettings) -> list[Path]:
    beside = sets_beside(path) if settings.also else {}
    return [path, *(beside[each] for each in sorted(settings.also) if each in beside)]


def _distinct(files: list[Path]) -> list[Path]:
    """Return files once each, a split binder of which both halves were chosen by its header."""
    headers = {path for path in files if path.suffix.lower().endswith("bhd")}
    halves = {path for path in files if path.suffix.lower().endswith("bdt")}
    doubled = {path for path in halves if path.with_suffix(path.suffix[:-2] + _other_case(path)) in headers}
    return [path for path in dict.fromkeys(files) if path not in doubled]


def _other_case(path: Path) -> str:
    return "HD" if path.suffix.isupper() else "hd"


@dataclass
class _Job:
    context: Any
    settings: CollisionSettings
    result: CollisionResult
    opener: Opener

    def key(self, _path: Path) -> tuple[str, Path | None, tuple[int, int] | None]:
        chosen = self.settings.compendium
        return self.settings.member_filter, chosen, None if chosen is None else stamp(chosen)

    def decode(self, path: Path, progress: Progress) -> DecodedCollision:
        return decode(path, self.settings, self.result.timings, progress, self.opener)

    def build(self, path: Path, decoded: DecodedCollision) -> Callable[[], None]:
        with self.result.timings.stage("build"):
            bodies = _build(path, decoded, self.context, self.settings)

        def note() -> None:
            self.result.bodies += bodies
            self.result.warnings += [f"{path.name}: {warning}" for warning in decoded.warnings]

        return note


def decode(
    path: Path, settings: CollisionSettings, timings: Timings, progress: Progress, opener: Opener = open_source
) -> DecodedCollision:
    """Read and check every body of a file.

    Args:
        path: the file.
        settings: how to import.
        timings: takes the time of each stage.
        progress: called with the share done, 0 to 1.
        opener: opens the file.

    Raises:
        FormatError: nothing to import, or one member that cannot be read.
        OSError: the file cannot be read.
    """
    with timings.stage("open"):
        source = opener(path, settings.compendium, lambda share: progress(0.5 * share))
    wanted = [member for member in source.members if is_wanted(member.name, settings.member_filter)]
    members = [member for member in wanted if member.kind in KINDS]
    faults = [member.fault for member in wanted if member.kind == Kind.UNREADABLE]
    if not members:
        packfiles = [member for member in wanted if member.kind == Kind.PACKFILE]
        faults += [f"{member.name} is {member.fault}" for member in packfiles[:3]]
        raise nothing_found("collision", settings.member_filter, faults)
    decoded = DecodedCollision(warnings=faults)
    for number, member in enumerate(members):
        progress(0.5 + 0.5 * number / len(members))
        with timings.stage("read"):
            bodies = read_collision(Tagfile.read(member.data(), member.compendium, member.file))
        with timings.stage("surfaces"):
            _add(decoded, member, bodies)
    return decoded


def _add(decoded: DecodedCollision, member: Member, bodies: list[Body]) -> None:
    decoded.counts[member.path] = len(bodies)
    if not bodies:
        decoded.warnings.append(f"{member.name} holds no body")
    for body in bodies:
        try:
            found = surface(body)
        except FormatError as error:
            raise error if error.file else error.inside(member.file) from error
        decoded.bodies.append((member, body, found))
        named = f"{member.name}, body {body.name!r}"
        decoded.warnings += [f"{named}: {warning}" for warning in dict.fromkeys(found.warnings)]


def _build(path: Path, decoded: DecodedCollision, context: Any, settings: CollisionSettings) -> list[ImportedBody]:
    groups, palette, packer = Groups(context, settings.scale), Palette(settings.colors), Packer()
    file = str(path.resolve())
    types = "" if settings.compendium is None else str(settings.compendium.resolve())
    chosen = None if settings.set is None else CollisionSet(settings.set)
    made = []
    for member, body, found in decoded.bodies:
        place = place_of(member, body.name, chosen)
        stem = member.name.split(".", 1)[0] or member.name
        title = stem if decoded.counts[member.path] == 1 else f"{stem} {body.name or body.index}"
        obj = build(found, Origin(file, member, body, types), title, place)
        groups.collection(place.area, place.set).objects.link(obj)
        _attach(obj, place, groups, settings.scale)
        paint(obj, Mode(settings.color), palette)
        packer.keep(obj, groups.area(place.area), member)
        made.append(ImportedBody(obj, place.set.value, len(found.mesh)))
    return made


def _attach(obj: Any, place: Place, groups: Groups, scale: float) -> None:
    if place.part:
        obj.parent = groups.parent(place)
    else:
        obj.scale = (scale,) * 3
        obj[SCALE] = scale


def _placeholder_warnings(result: CollisionResult, files: list[Path]) -> list[str]:
    """Say where a map's collision is when h and l hold one triangle a body, as in m30 to m35."""
    plain = [body for body in result.bodies if body.set in {CollisionSet.HIGH, CollisionSet.LOW}]
    if not plain or len(plain) != len(result.bodies) or any(body.triangles > 1 for body in plain):
        return []
    beside = [sets_beside(path)[CollisionSet.FALL].name for path in files if CollisionSet.FALL in sets_beside(path)]
    where = f", {', '.join(beside)}" if beside else ""
    return [f"only placeholders of one triangle: the collision of such maps is in their f set{where}"]
