"""Which drawn mesh a display buffer is (seed "Havok cloth data", display buffers).

A buffer is the mesh whose default node has its name, with its vertex count and, in its first face set, its triangle
count. Buffers of one name take such meshes in the order of their sub types. Where no mesh has the triangles, name and
vertex count do: models whose face sets were emptied exist.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from .setup import DisplayBuffer


@dataclass(frozen=True)
class MeshKey:
    """What a mesh is known by: its default node's name, its vertex count, the triangles of its first face set.

    ``title`` is what a warning calls it; empty for its number.
    """

    name: str
    vertices: int
    triangles: int
    title: str = field(default="", compare=False)


@dataclass(frozen=True)
class Binding:
    """The mesh of each display buffer, -1 where none fits, and warnings that name buffer and meshes."""

    meshes: tuple[int, ...]
    warnings: tuple[str, ...]


def bind_displays(displays: Sequence[DisplayBuffer], meshes: Sequence[MeshKey]) -> Binding:
    """Find the mesh of each display buffer; two cloth datas may share one.

    Args:
        displays: of one setup.
        meshes: of the model, in its order.
    """
    found: dict[int, int] = {}
    warnings = []
    groups: dict[tuple[int, MeshKey], list[int]] = {}
    for place, display in enumerate(displays):
        record = display.record
        key = MeshKey(record.name, record.vertex_count, record.triangle_count)
        groups.setdefault((display.place.data, key), []).append(place)
    for (_, key), places in groups.items():
        fitting = [index for index, mesh in enumerate(meshes) if mesh == key]
        if not fitting:
            fitting = [
                index for index, mesh in enumerate(meshes) if (mesh.name, mesh.vertices) == (key.name, key.vertices)
            ]
        ordered = sorted(places, key=lambda place: displays[place].record.sub_type)
        if len(fitting) != len(ordered):
            what = f"Cloth buffer {key.name} of {key.vertices} vertices fits {_say(fitting, meshes)}"
            warnings.append(f"{what}; the first is used." if len(fitting) > len(ordered) else f"{what}.")
        found.update(zip(ordered, fitting, strict=False))
    return Binding(tuple(found.get(place, -1) for place in range(len(displays))), tuple(warnings))


def _say(fitting: list[int], meshes: Sequence[MeshKey]) -> str:
    return "meshes " + ", ".join(meshes[mesh].title or str(mesh) for mesh in fitting) if fitting else "no mesh"
