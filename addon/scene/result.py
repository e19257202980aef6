"""What an import did: objects, warnings and times."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from typing import Any, Self


@dataclass
class Timings:
    """Seconds spent by stage, in the order in which stages began.

    Attributes:
        seconds: total seconds of each stage.
    """

    seconds: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Add the time of a block to a stage."""
        start = time.perf_counter()
        self.seconds.setdefault(name, 0.0)
        try:
            yield
        finally:
            self.seconds[name] += time.perf_counter() - start

    def add(self, other: Timings) -> None:
        """Add the times of another part of the same work."""
        for name, seconds in other.seconds.items():
            self.seconds[name] = self.seconds.get(name, 0.0) + seconds


@dataclass
class ImportedModel:
    """What one FLVER became.

    Attributes:
        name: the model's name, from its file or binder member.
        collection: the collection that holds all of it.
        armature: the armature object; None for a model without nodes.
        meshes: one object for each FLVER mesh, in the model's order.
        lods: objects of further levels of detail.
        dummies: empties, in the model's order.
        warnings: what the user should know, a sentence each.
        timings: seconds by stage.
        cloths: the cloth that lies beside the model.
    """

    name: str
    collection: Any
    armature: Any = None
    meshes: list[Any] = field(default_factory=list)
    lods: list[Any] = field(default_factory=list)
    dummies: list[Any] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    timings: Timings = field(default_factory=Timings)

    cloths: list[ImportedCloth] = field(default_factory=list)

    @property
    def bone_count(self) -> int:
        """Bones of the armature."""
        return len(self.armature.data.bones) if self.armature is not None else 0


@dataclass
class FilesResult:
    """What an import of one or more files did.

    Attributes:
        failures: for each file or member that could not be imported, its name and why.
        warnings: what the user should know.
        timings: seconds by stage, all files together.
    """

    failures: list[tuple[str, str]] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    timings: Timings = field(default_factory=Timings)

    def add(self, other: Self) -> None:
        """Add what an import of further files did."""
        for each in fields(self):
            value = getattr(self, each.name)
            if isinstance(value, list):
                value += getattr(other, each.name)
        self.timings.add(other.timings)

    @property
    def made(self) -> str:
        """What was imported, in a few words; empty where nothing was."""
        return ""

    @property
    def details(self) -> list[str]:
        """All failures and warnings, a line each."""
        return [*(f"{name}: {why}" for name, why in self.failures), *self.warnings]

    @property
    def summary(self) -> str:
        """One line for the status bar."""
        parts = [f"Imported {self.made}" if self.made else "Nothing imported"]
        warnings = len(self.details) - len(self.failures)
        if warnings:
            parts.append(counted(warnings, "warning"))
        if self.failures:
            parts.append(f"{len(self.failures)} failed")
        return "; ".join(parts)


@dataclass
class ImportResult(FilesResult):
    """What an import of models did.

    Attributes:
        models: what was imported.
    """

    models: list[ImportedModel] = field(default_factory=list)

    @property
    def made(self) -> str:
        """The models, and how much they hold."""
        if not self.models:
            return ""
        bones = sum(model.bone_count for model in self.models)
        meshes = sum(len(model.meshes) for model in self.models)
        dummies = sum(len(model.dummies) for model in self.models)
        cloths = sum(len(cloth.points) for model in self.models for cloth in model.cloths)
        names = listed([model.name for model in self.models])
        parts = [counted(bones, "bone"), counted(meshes, "mesh", "meshes"), counted(dummies, "dummy", "dummies")]
        if cloths:
            parts.append(counted(cloths, "cloth"))
        return f"{names}: {', '.join(parts)}"

    @property
    def details(self) -> list[str]:
        """All failures and warnings, a line each, those of the models too."""
        named: list[ImportedModel | ImportedCloth] = [
            *self.models,
            *(cloth for model in self.models for cloth in model.cloths),
        ]
        return [*super().details, *(f"{one.name}: {each}" for one in named for each in one.warnings)]


@dataclass
class ImportedBody:
    """What one collision body became.

    Attributes:
        object: the mesh object.
        set: "h", "l", "f", "ragdoll" or "other".
        triangles: how many it has.
    """

    object: Any
    set: str
    triangles: int


@dataclass
class CollisionResult(FilesResult):
    """What an import of collision did.

    Attributes:
        bodies: what was imported.
    """

    bodies: list[ImportedBody] = field(default_factory=list)

    @property
    def made(self) -> str:
        """The bodies by set."""
        if not self.bodies:
            return ""
        sets = list(dict.fromkeys(body.set for body in self.bodies))
        parts = [f"{sum(body.set == name for body in self.bodies)} {name}" for name in sets]
        triangles = sum(body.triangles for body in self.bodies)
        noun = "body" if len(self.bodies) == 1 else "bodies"
        return f"{' + '.join(parts)} {noun} of {counted(triangles, 'triangle')}"


def counted(count: int, noun: str, plural: str = "") -> str:
    """Return a number with its noun."""
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"


@dataclass
class ImportedCloth:
    """What one cloth file became.

    Attributes:
        name: from its file or binder member.
        collection: the collection that holds all of it.
        armature: the armature object that it follows.
        points: a point cloud for each simulated cloth.
        links: a mesh of edges for each constraint set that links particles.
        collidables: their surfaces.
        meshes: the objects that it moves.
        warnings: what the user should know, a sentence each.
    """

    name: str
    collection: Any
    armature: Any = None
    points: list[Any] = field(default_factory=list)
    links: list[Any] = field(default_factory=list)
    collidables: list[Any] = field(default_factory=list)
    meshes: list[Any] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


@dataclass
class ClothResult(FilesResult):
    """What an import of cloth did.

    Attributes:
        cloths: what was imported.
    """

    cloths: list[ImportedCloth] = field(default_factory=list)

    @property
    def made(self) -> str:
        """The files, and how much they hold."""
        if not self.cloths:
            return ""
        sims = sum(len(cloth.points) for cloth in self.cloths)
        particles = sum(len(obj.data.points) for cloth in self.cloths for obj in cloth.points)
        meshes = sum(len(cloth.meshes) for cloth in self.cloths)
        names = listed([cloth.name for cloth in self.cloths])
        held = f"{counted(sims, 'cloth')} of {counted(particles, 'particle')}"
        return f"{names}: {held} on {counted(meshes, 'mesh', 'meshes')}"

    @property
    def details(self) -> list[str]:
        """All failures and warnings, a line each, those of the cloths too."""
        return [*super().details, *(f"{cloth.name}: {each}" for cloth in self.cloths for each in cloth.warnings)]


def listed(names: list[str]) -> str:
    """Return the first few names."""
    return ", ".join(names[:3]) + (" ..." if len(names) > 3 else "")
