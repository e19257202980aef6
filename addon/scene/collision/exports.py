"""Collision in the scene -> files: the functions that scripts call and the operator is a skin over.

What needs Blender is done first; what takes long (compiling, writing) can then run beside it.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ...codec import FormatError, Tagfile, read_collision
from ...codec.havok.collision import Body
from ...codec.havok.collision.bodies import NEW
from ...codec.havok.collision.replacing import replace_collision
from ...codec.havok.collision.writing import write_collision
from ...codec.source import Source, unwrap
from ...codec.target import halves, is_binder
from ...collision.compiler import Cancelled, CompileSettings, Progress
from ...collision.compiler.settings import no_progress
from ...collision.edits import Edited, edited_shape, new_extern, new_mesh
from ..gather.collision import GatheredBody, gather_body
from ..problems import Problems
from ..settings import CollisionExportSettings
from ..writing import ExportResult, Output, catching, write_outputs
from .keys import AREA, SET, CollisionSet, collision_objects
from .sources import CollisionSource

ENDING = ".hkx"


def group_of(obj: Any) -> Hashable:
    """Return what bodies that are exported together have in common: their file, or for new ones area and set."""
    source = CollisionSource.of(obj)
    return (obj[AREA], obj[SET]) if source is None else str(source.file)


def chosen_bodies(context: Any) -> list[Any]:
    """Return the bodies of the file that the active body is of, else of the only file; none if there is no telling."""
    bodies, active = collision_objects(context.scene), context.view_layer.objects.active
    groups = {group_of(obj) for obj in bodies}
    if active in bodies:
        groups = {group_of(active)}
    return [obj for obj in bodies if group_of(obj) in groups] if len(groups) == 1 else []


def export_collision(
    context: Any,
    bodies: Iterable[Any],
    target: str | Path,
    settings: CollisionExportSettings | None = None,
    progress: Progress = no_progress,
) -> ExportResult:
    """Write bodies into the file they came from, a copy of it, or a new one: loose, in a binder, in a split binder.

    Bodies whose geometry is as it was are written as they were; others are compiled. A body of the file that is not
    given is taken out. All is made in memory and read back before a file is touched. The scene does not change.

    Args:
        context: Blender's.
        bodies: of one file, see `chosen_bodies`; for a loose target only those of the active one's member count.
        target: the file; its name decides the form.
        settings: how to export; None for the defaults.
        progress: called with a stage and the share done; may raise `Cancelled`.

    Returns:
        What was written, and everything in the way or to know. Nothing is raised for what cannot be written.
    """
    return CollisionExport(context, bodies, target, settings).run(progress)


@dataclass
class _Member:
    """A file of bodies.

    Attributes:
        source: where they came from; None for new ones.
        data: of the file as it was imported.
        types: its compendium.
        bodies: what it is to hold.
    """

    source: CollisionSource | None
    data: bytes = b""
    types: bytes | None = None
    bodies: list[GatheredBody] = field(default_factory=list)


class CollisionExport:
    """An export that has read the scene; `run` needs no Blender."""

    def __init__(
        self, context: Any, bodies: Iterable[Any], target: str | Path, settings: CollisionExportSettings | None = None
    ) -> None:
        self.settings = settings or CollisionExportSettings()
        self.result = ExportResult(Path(target))
        self.problems = Problems(self.result.errors, self.result.warnings)
        self._members: list[_Member] = []
        with self.result.timings.stage("gather"):
            self._gather(context, self._wanted(context, list(bodies)))

    def run(self, progress: Progress = no_progress) -> ExportResult:
        """Compile and write; see `export_collision`."""
        try:
            return self._run(progress)
        except Cancelled:
            self.problems.error("cancelled")
            return self.result

    def _run(self, progress: Progress) -> ExportResult:
        result, timings = self.result, self.result.timings
        if result.errors:
            return result
        with catching(self.problems, result.target.name):
            with timings.stage("compile"):
                tags = [self._assembled(member, progress) for member in self._members]
            if result.errors:
                return result
            with timings.stage("encode"):
                outputs = [_output(*pair) for pair in zip(self._members, tags, strict=True)]
            progress("writing", 1.0)
            with timings.stage("write"):
                source = self._members[0].source
                result.written = write_outputs(
                    result.target, outputs, None if source is None else source.file, ENDING,
                    wrapper=self.settings.wrapper, problems=self.problems,
                )  # fmt: skip
            result.data = outputs[0].data
        return result

    def _wanted(self, context: Any, bodies: list[Any]) -> list[Any]:
        """Return those bodies that go into the target: for a loose one, those of one member."""
        if is_binder(self.result.target.name) or halves(self.result.target):
            return bodies
        active = CollisionSource.of(context.view_layer.objects.active or {})
        if active is None or len({CollisionSource.of(obj) for obj in bodies}) == 1:
            return bodies
        return [obj for obj in bodies if CollisionSource.of(obj) == active]

    def _gather(self, context: Any, objects: list[Any]) -> None:
        context.view_layer.update()
        members: dict[CollisionSource | None, _Member] = {}
        opened: dict[Path, Source] = {}
        if not objects:
            self.problems.error("there is no collision to export")
        for obj in sorted(objects, key=lambda obj: obj.name):
            source = CollisionSource.of(obj)
            try:
                if source not in members:
                    members[source] = _Member(source, *(() if source is None else source.read(opened)))
                body = gather_body(obj, context, modifiers=self.settings.apply_modifiers)
                members[source].bodies.append(body)
            except FormatError as error:
                self.problems.error(str(error), obj.name)
            if not self.settings.apply_modifiers and any(each.show_viewport for each in obj.modifiers):
                self.problems.warn("is written without its modifiers", obj.name)
        self._members = list(members.values())
        files = {source and source.file for source in members}
        if len(files) > 1:
            self.problems.error("bodies of several files are not exported at once")

    def _assembled(self, member: _Member, progress: Progress) -> Tagfile:
        """Return a member's file with its bodies, and note what cannot be stored."""
        if member.source is None:
            return self._new_file(member, progress)
        tag = Tagfile.read(member.data, member.types, member.source.place.name)
        stored = {(body.system, body.index): body for body in read_collision(tag)}
        left, made = dict(stored), []
        for each in member.bodies:
            place = each.system, each.index
            body = self._body(each, stored.get(place), tag.sdk, progress)
            if body is not None:
                made.append(body if left.pop(place, None) is not None else self._added(body, each, stored.get(place)))
        for body in left.values():
            self.problems.warn(f"body {body.name} has no object: it is taken out of {member.source.place.name}")
        if not self.problems.errors:
            replace_collision(tag, sorted(made, key=lambda body: (body.system, body.index == NEW, body.index)))
        return tag

    def _added(self, body: Body, each: GatheredBody, stored: Body | None) -> Body:
        if stored is not None:
            self.problems.warn(f"is a copy of another body's object: body {body.name} is added", each.object)
        return replace(body, index=NEW)

    def _new_file(self, member: _Member, progress: Progress) -> Tagfile:
        sdk = member.bodies[0].sdk
        for each in member.bodies:
            if each.sdk != sdk:
                self.problems.error(f"is for another game than {member.bodies[0].object}", each.object)
        bodies = [self._body(each, None, sdk, progress) for each in member.bodies]
        path = self.settings.compendium
        if path is not None:
            member.types = bytes(unwrap(path.read_bytes(), path.name))
        types = None if member.types is None else Tagfile.read(member.types, file=path.name if path else "")
        return write_collision(sdk, [] if self.problems.errors else [each for each in bodies if each], types)

    def _body(self, each: GatheredBody, stored: Body | None, sdk: str, progress: Progress) -> Body | None:
        """Return a body as it is to be stored; None where it cannot be, which is noted."""

        def report(stage: str, share: float) -> None:
            progress(f"{each.object}: {stage}", share)

        report("comparing", 0.0)
        try:
            made = _new_shape(each, sdk, report) if stored is None else edited_shape(stored, each.faces, report)
        except FormatError as error:
            self.problems.error(str(error), each.object)
            return None
        for warning in made.warnings:
            self.problems.warn(warning, each.object)
        if stored is None:
            return Body.new(each.name, made.shape, each.system)
        return replace(stored, shape=made.shape, name=each.name)


def _new_shape(each: GatheredBody, sdk: str, progress: Progress) -> Edited:
    """Compile the faces of a new body: an extern mesh for the set f, a compressed mesh for others."""
    if each.set == CollisionSet.FALL:
        return new_extern(each.faces, sdk, progress)
    return new_mesh(each.faces, CompileSettings(sdk=sdk, radius=each.radius), progress)


def _output(member: _Member, tag: Tagfile) -> Output:
    """Write a file and read it back."""
    data, name = tag.write(), "the collision as written"
    again = Tagfile.read(data, member.types, name)
    if again.write() != data:
        raise FormatError("the collision does not read back as it was written")
    read_collision(again)
    return Output.of(data, member.source)
