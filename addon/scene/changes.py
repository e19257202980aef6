"""What of an imported model was changed since, in words: an export compared with what was imported, and not written."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from ..codec import FormatError
from ..codec.binary import Array
from ..codec.flver import Flver, Material, Mesh
from . import provenance
from .gather.flver import gather
from .problems import Problems
from .result import counted
from .settings import FlverExportSettings

NAMED = 5  # things that are named; of the others the number is told
# fields that follow from other parts of the model, or are set anew on writing
_FOLLOWS = {"name_offset", "bounds_min", "bounds_max", "first_child", "next_sibling", "previous_sibling"}


@dataclass
class ModelChanges:
    """What an export would write.

    Attributes:
        changes: a line for each kind of thing that differs from what was imported.
        problems: what stands in the way of an export, or is written otherwise than it is shown.
    """

    changes: list[str] = field(default_factory=list)
    problems: Problems = field(default_factory=Problems)

    @property
    def summary(self) -> str:
        """One line for the status bar."""
        if self.problems.errors:
            return f"Cannot be exported: {counted(len(self.problems.errors), 'problem')}"
        return f"Changed: {'; '.join(self.changes)}" if self.changes else "Nothing has changed since the import"

    @property
    def details(self) -> list[str]:
        """All that was found, a line each."""
        return [*self.changes, *(str(each) for each in (*self.problems.errors, *self.problems.warnings))]


def model_changes(context: Any, collection: Any, settings: FlverExportSettings | None = None) -> ModelChanges:
    """Compare a model with what was imported. Nothing is written, and the scene does not change.

    Args:
        context: Blender's.
        collection: of the model.
        settings: of the export; None for the defaults.
    """
    found = ModelChanges()
    try:
        before = Flver.read(provenance.source_bytes(collection), collection.name)
        after = gather(collection, before, context, settings or FlverExportSettings(), found.problems)
        if after is not None:
            found.changes = differences(before, after)
    except (FormatError, OSError) as error:
        found.problems.error(str(error))
    return found


def differences(before: Flver, after: Flver) -> list[str]:
    """Return a line for each kind of thing that differs between two models; none for those that are written alike."""
    old, new = _parts(before), _parts(after)
    lines = [
        *_compared(("node", "nodes"), old.nodes, new.nodes, after.node_names),
        *_compared(("dummy", "dummies"), old.dummies, new.dummies, list(map(str, after.dummies["reference_id"]))),
        *_compared(("material", "materials"), old.materials, new.materials, [each.name for each in after.materials]),
        *_meshes(before.meshes, after.meshes),
    ]
    if not lines and before.write() != after.write():
        lines.append("other parts of the file")
    return lines


@dataclass(frozen=True)
class _Parts:
    """Parts of a model as they are compared."""

    nodes: list[Any]
    dummies: list[Any]
    materials: list[Any]


def _parts(flver: Flver) -> _Parts:
    nodes = list(zip(_rows(flver.nodes), flver.node_names, strict=True))
    return _Parts(nodes, _rows(flver.dummies), [_material(each) for each in flver.materials])


def _compared(nouns: tuple[str, str], before: Sequence[Any], after: Sequence[Any], names: Sequence[str]) -> list[str]:
    """Compare numbered things one by one, where there are as many as there were."""
    more = len(after) - len(before)
    if more:
        return [f"{counted(abs(more), *nouns)} {'more' if more > 0 else 'fewer'}"]
    found = [row for row, (old, new) in enumerate(zip(before, after, strict=True)) if old != new]
    return [f"{counted(len(found), *nouns)} ({_listed([names[row] for row in found])})"] if found else []


def _listed(names: list[str]) -> str:
    rest = len(names) - NAMED
    return ", ".join(names[:NAMED]) + (f" and {rest} more" if rest > 0 else "")


def _rows(records: Array) -> list[bytes]:
    """Return the bytes of records without what follows from others."""
    own = records.copy()
    for title in _FOLLOWS & set(own.dtype.names or ()):
        own[title] = 0
    return [row.tobytes() for row in own]


def _material(material: Material) -> tuple[Any, ...]:
    textures = [(each.type, each.path, each.record["scale"].tobytes()) for each in material.textures]
    return material.name, material.path, textures, material.gx


def _meshes(before: list[Mesh], after: list[Mesh]) -> Iterator[str]:
    if len(before) != len(after):
        yield from _compared(("mesh", "meshes"), before, after, ())
        return
    found = [
        (kind, row) for row, pair in enumerate(zip(before, after, strict=True)) for kind in _differing_parts(*pair)
    ]
    for kind, rows in groupby(sorted(found), lambda each: each[0]):
        numbers = [str(row) for _, row in rows]
        yield f"{kind} of {'mesh' if len(numbers) == 1 else 'meshes'} {_listed(numbers)}"


def _differing_parts(before: Mesh, after: Mesh) -> Iterator[str]:
    if before.vertex_count != after.vertex_count:
        yield "number of vertices"
    elif _bytes(each.data for each in before.buffers) != _bytes(each.data for each in after.buffers):
        yield "vertices"
    if [each.flags for each in before.face_sets] != [each.flags for each in after.face_sets] or (
        _bytes(each.indices for each in before.face_sets) != _bytes(each.indices for each in after.face_sets)
    ):
        yield "faces"
    if (before.material, before.node) != (after.material, after.node):
        yield "material or node"


def _bytes(arrays: Iterator[Array]) -> list[bytes]:
    return [each.tobytes() for each in arrays]
