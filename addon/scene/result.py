"""What an import did: objects, warnings and times."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any


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
    """

    name: str
    collection: Any
    armature: Any = None
    meshes: list[Any] = field(default_factory=list)
    lods: list[Any] = field(default_factory=list)
    dummies: list[Any] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    timings: Timings = field(default_factory=Timings)

    @property
    def bone_count(self) -> int:
        """Bones of the armature."""
        return len(self.armature.data.bones) if self.armature is not None else 0


@dataclass
class ImportResult:
    """What an import of one or more files did.

    Attributes:
        models: what was imported.
        failures: for each file or member that could not be imported, its name and why.
        warnings: what the user should know that belongs to no single model.
        timings: seconds by stage, all files together.
    """

    models: list[ImportedModel] = field(default_factory=list)
    failures: list[tuple[str, str]] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    timings: Timings = field(default_factory=Timings)

    @property
    def summary(self) -> str:
        """One line for the status bar."""
        parts = []
        if self.models:
            names = ", ".join(model.name for model in self.models[:3]) + (" ..." if len(self.models) > 3 else "")
            bones = sum(model.bone_count for model in self.models)
            meshes = sum(len(model.meshes) for model in self.models)
            dummies = sum(len(model.dummies) for model in self.models)
            parts.append(f"Imported {names}: {bones} bones, {meshes} meshes, {dummies} dummies")
        else:
            parts.append("Nothing imported")
        warnings = len(self.warnings) + sum(len(model.warnings) for model in self.models)
        if warnings:
            parts.append(f"{warnings} warning{'s' if warnings > 1 else ''}")
        if self.failures:
            parts.append(f"{len(self.failures)} failed")
        return "; ".join(parts)

    @property
    def details(self) -> list[str]:
        """All warnings and failures, a line each."""
        lines = [f"{name}: {why}" for name, why in self.failures]
        lines += self.warnings
        lines += [f"{model.name}: {warning}" for model in self.models for warning in model.warnings]
        return lines
