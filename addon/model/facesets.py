"""The face sets of a mesh that was edited: the levels that are shown, and those that follow them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np

from ..codec.binary import Array
from ..codec.flver import FaceSet, FaceSetFlags, Flver
from .lods import coarser, renumbered

SHORT = 0xFFFF  # vertices up to which 16-bit indices are used


class LodPolicy(StrEnum):
    """What becomes of the levels of detail that are not shown."""

    KEEP = "KEEP"  # as they are, without triangles whose vertices are gone
    REGENERATE = "REGENERATE"  # made anew from the nearest level
    DROP = "DROP"  # left out


@dataclass
class EditedFaces:
    """Face sets, whether their triangles are others than before, and how many triangles could not follow."""

    sets: list[FaceSet]
    changed: bool = False
    lost: int = 0


class FaceSets:
    """Makes the face sets of one mesh."""

    def __init__(self, template: Flver, mesh: int, places: Array, positions: Array) -> None:
        """Take what the vertices of the mesh have become.

        Args:
            template: the model as it was imported.
            mesh: number of the mesh in it.
            places: (old,) new number of each old vertex, -1 where it is gone.
            positions: (n, 3) of the new vertices, in model space.
        """
        self.template, self.mesh = template, mesh
        self.stored = template.meshes[mesh].face_sets
        self.places, self.positions = places, positions
        same = len(places) == len(positions)
        self.same_vertices = same and bool((places == np.arange(len(places))).all())
        self.result = EditedFaces([])

    def make(self, records: list[FaceSet], levels: dict[int, Array], policy: LodPolicy) -> EditedFaces:
        """Return the mesh's face sets.

        Args:
            records: the sets of the mesh, with flags as they are to be stored.
            levels: (t, 3) int32 triangles by level of detail, of the levels that are shown; those that repeat a vertex
                are in their places.
            policy: what becomes of the others.
        """
        self.stored = records
        shown = {lod: self._shown_sets(lod, level) for lod, level in levels.items()}
        for i, face_set in enumerate(self.stored):
            lod = face_set.lod
            if lod and policy == LodPolicy.DROP and lod not in levels:
                self.result.changed = True
                continue
            original = self._copied(i) if face_set.motion_blur else i
            made = shown.get(lod, {}).get(original) if original is not None else None
            if made is None and lod and policy == LodPolicy.REGENERATE and 0 in levels:
                made = self._list(face_set, coarser(self.positions, levels[0], lod))
            if made is None:
                made = self._following(i)
            else:
                made = replace(face_set, indices=made.indices, strip=made.strip, index_size=made.index_size)
            self._note(i, made)
            self.result.sets.append(made)
        return self.result

    def _shown_sets(self, lod: int, triangles: Array) -> dict[int, FaceSet]:
        """Return the visible sets of a level by number; several share its triangles as they did."""
        numbers = [i for i, each in enumerate(self.stored) if each.lod == lod and not each.motion_blur]
        before = [self.template.triangles(self.mesh, i) for i in numbers]
        counts = [len(each) for each in before]
        if sum(counts) != len(triangles):
            counts = [len(triangles), *[0] * (len(counts) - 1)]
        parts = np.split(triangles, np.cumsum(counts)[:-1]) if numbers else []
        return {
            i: self.stored[i]
            if self.stored[i].strip and np.array_equal(part, old)
            else self._list(self.stored[i], part)
            for i, part, old in zip(numbers, parts, before, strict=True)
        }

    def _copied(self, blur: int) -> int | None:
        """Return the visible set that a set for motion blur is a copy of."""
        wanted = self.stored[blur]
        for i, each in enumerate(self.stored):
            like = each.lod == wanted.lod and not each.motion_blur
            if like and np.array_equal(each.indices, wanted.indices):
                return i
        return None

    def _following(self, number: int) -> FaceSet:
        """Return a set that is not shown, over the new vertices."""
        stored = self.stored[number]
        if self.same_vertices or stored.flags & FaceSetFlags.EDGE_COMPRESSED:
            return stored
        triangles, lost = renumbered(self.template.triangles(self.mesh, number), self.places)
        self.result.lost += lost
        return self._list(stored, triangles)

    def _list(self, like: FaceSet, triangles: Array) -> FaceSet:
        """Return a list of triangles, in 16 bits where they fit."""
        indices, size = triangles.ravel(), like.index_size
        kind = like.indices.dtype
        if len(self.positions) > SHORT:
            kind, size = np.dtype("<u4"), 32
        elif not self.same_vertices and kind.itemsize != 2 and size:
            kind, size = np.dtype("<u2"), 16
        return replace(like, indices=indices.astype(kind), strip=0, index_size=size)

    def _note(self, number: int, made: FaceSet) -> None:
        stored = self.stored[number].indices
        if len(stored) != len(made.indices) or not np.array_equal(stored, made.indices):
            self.result.changed = True


def with_skipped(triangles: Array, places: Array, corners: Array) -> Array:
    """Return triangles with those that repeat a vertex put back into their places.

    Args:
        triangles: (t, 3) int32.
        places: (k,) int32 in the whole list.
        corners: (k, 3) int32.
    """
    result = np.empty((len(triangles) + len(places), 3), np.int32)
    kept = np.ones(len(result), bool)
    kept[places] = False
    result[kept], result[places] = triangles, corners
    return result
