"""The rest pose moved: every number of a cloth file that follows from it is made anew.

Links, bending and volumes follow the particles. Reference meshes move along, so that pins, ranges and resets start
from the new pose. The drawn mesh is the model's and stays where it is, and so do bones that cloth drives: what ties
them to triangles changes. A drawn mesh that is a copy of the particles shows the new pose.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ...codec.binary import Array
from ...codec.havok import cloth as records
from ..layout import lay_out
from ..results import reference_pose
from .edited import Edited, sim_title, with_data, with_operators, with_sim
from .names import title
from .rest_frames import flat_triangles, frames, moved_triangles, rehung
from .rest_references import (
    NOBODY,
    References,
    Shift,
    references,
    shifted,
    shown_by,
    sim_of,
    torn,
)
from .rest_sets import Move, flat_bends, rested
from .rest_turns import turns

HANGING = records.MeshMeshDeform | records.SimpleMeshBoneDeform | records.MeshBoneDeform
"""Operators that carry something from triangles."""


def with_rest(file: records.ClothFile, rest: Mapping[int, Array]) -> Edited:
    """Return a file in which simulated cloths rest elsewhere.

    Args:
        file: the file.
        rest: by the number of the cloth over the whole file, (n, 3) f4 positions of its particles.

    Returns:
        The file; a cloth that cannot rest there is refused as a whole and stays as it is.
    """
    return _Rest(file).edit(rest)


class _Rest:
    """One edit."""

    def __init__(self, file: records.ClothFile) -> None:
        self.file = file
        self.layout = lay_out(file)
        self.pose = None if file.skeleton is None else reference_pose(file.skeleton).astype(np.float64)
        self.moves: dict[int, Move] = {}
        self.followed: dict[int, References] = {}
        self.notes: list[str] = []
        self.refusals: list[str] = []

    def edit(self, rest: Mapping[int, Array]) -> Edited:
        """Do it."""
        for sim, positions in sorted(rest.items()):
            self._take(sim, positions)
        for sim in list(self.moves):
            if reason := self._fault(sim):
                self._refuse(sim, reason)
        while wrong := dict(self._astray()):
            for sim, reason in wrong.items():
                self._refuse(sim, reason)
        file = self.file
        for number in sorted({self.layout.sims[sim].data for sim in self.moves}):
            file = with_data(file, number, self._data(number))
        return Edited(file, self.notes, self.refusals)

    def _take(self, sim: int, positions: Array) -> None:
        """Note how one cloth moves."""
        if not 0 <= sim < len(self.layout.sims):
            self.refusals.append(f"There is no cloth {sim}, the file has {len(self.layout.sims)}.")
            return
        old = self.layout.sims[sim].record.poses[0]
        new = np.asarray(positions, np.float32)
        if new.shape != old.shape:
            self._refuse(sim, f"{len(new)} positions for {len(old)} particles")
        elif not np.isfinite(new).all():
            self._refuse(sim, "a position is no finite number")
        elif (old != new).any():
            self.moves[sim] = Move.of(old, new)

    def _refuse(self, sim: int, reason: str) -> None:
        self.moves.pop(sim, None)
        self.refusals.append(f"{sim_title(self.file, sim)}: the rest pose stays, {reason}.")

    def _fault(self, sim: int) -> str:
        """Return why a cloth cannot rest there, "" where it can."""
        place, move = self.layout.sims[sim], self.moves[sim]
        for one in place.record.constraints:
            flat = flat_bends(one, move)
            if len(flat):
                return f"particles {', '.join(map(str, flat[0]))} of {title(one)} would have a triangle without area"
        for operator, triangles in self._hanging(place.data, sim):
            _, corners = moved_triangles(operator, triangles, move)
            flat = corners[flat_triangles(corners, move.new)]
            if len(flat):
                return f"{operator.name} hangs from particles {', '.join(map(str, flat[0]))}, which would lie in a line"
        return ""

    def _hanging(self, number: int, sim: int) -> Iterator[tuple[Any, Array]]:
        """Yield the operators that hang from a cloth's triangles, with the triangles."""
        for operator in self.file.datas[number].operators:
            if isinstance(operator, HANGING):
                place = self.layout.buffers[number][operator.input]
                if sim_of(self.layout, place.start) == sim:
                    yield operator, place.triangles

    def _astray(self) -> Iterator[tuple[int, str]]:
        """Yield cloths whose reference mesh cannot move along, and why."""
        for number in {self.layout.sims[sim].data for sim in self.moves}:
            data = self.file.datas[number]
            rows = self.followed.setdefault(number, references(self.layout, data, number))
            apart = torn(rows, self.moves)
            for sim, move in self.moves.items():
                own = (rows.sim == sim) & move.moved[np.where(rows.sim == sim, rows.particle, 0)]
                if self.layout.sims[sim].data != number or not own.any():
                    continue
                lost = np.unique(rows.particle[own & (rows.operator == NOBODY)])
                if len(lost):
                    yield sim, f"particle {lost[0]} follows the drawn mesh itself, which does not move"
                elif (own & apart).any():
                    particles = np.unique(rows.particle[own & apart])
                    yield sim, f"particle {particles[0]} follows a vertex that another particle follows elsewhere"
                elif fault := self._hung_on(number, rows.take(own)):
                    yield sim, fault

    def _hung_on(self, number: int, rows: References) -> str:
        """Return why triangles that are of no cloth are in the way of a reference mesh, "" where none are."""
        for index, operator in enumerate(self.file.datas[number].operators):
            if isinstance(operator, HANGING):
                place = self.layout.buffers[number][operator.input]
                if sim_of(self.layout, place.start) >= 0:
                    continue
                if np.isin(rows.vertex[rows.buffer == place.buffer], place.triangles).any():
                    return f"{operator.name} hangs from its reference mesh"
                if (rows.operator == index).any():
                    return f"{operator.name} carries its reference mesh by triangles that are of no cloth"
        return ""

    def _data(self, number: int) -> records.ClothData:
        """Return a cloth data with what follows from the moves of its cloths."""
        data = self.file.datas[number]
        own = {sim: move for sim, move in self.moves.items() if self.layout.sims[sim].data == number}
        operators: dict[int, Any] = {}
        for index, operator in enumerate(data.operators):
            if isinstance(operator, HANGING):
                place = self.layout.buffers[number][operator.input]
                move = own.get(sim_of(self.layout, place.start))
                if move is not None:
                    operators[index] = rehung(operator, place.triangles, move, self.pose)
        rows = self.followed[number]
        turned = {sim: turns(self.layout.sims[sim].record, move) for sim, move in own.items()}
        for index in np.unique(rows.operator[rows.operator >= 0]).tolist():
            operator = operators.get(index, data.operators[index])
            place = self.layout.buffers[number][operator.output]
            shift = Shift.of(rows.take(rows.operator == index), own, turned, place.count)
            operators[index] = shifted(operator, shift, self._sources(number, operator))
        changed = with_operators(data, operators)
        for sim, move in own.items():
            place_of = self.layout.sims[sim]
            record = place_of.record
            poses = record.poses.copy()
            poses[0] = move.new
            sets = tuple(rested(one, move) for one in record.constraints)
            changed = with_sim(changed, place_of.sim, replace(record, poses=poses, constraints=sets))
            self.notes.extend(
                f"{sim_title(self.file, sim)}: the drawn mesh {name} shows the particles themselves, so its cloth no "
                "longer rests on the model's vertices."
                for name in shown_by(self.layout, data, number, sim)
            )
        return changed

    def _sources(self, number: int, operator: Any) -> Array:
        """Return what carries an operator's local data at rest, (s, 4, 4) f8."""
        if isinstance(operator, records.Skin):
            carriers = np.zeros((0, 4, 4)) if self.pose is None else self.pose[operator.bones]
        else:
            place = self.layout.buffers[number][operator.input]
            sim = sim_of(self.layout, place.start)
            pose = self.moves[sim].new if sim in self.moves else self.layout.sims[sim].record.poses[0]
            triangles = place.triangles if operator.triangles is None else place.triangles[operator.triangles]
            carriers = frames(pose, triangles, operator.scale)
        return carriers if operator.binds is None else carriers @ operator.binds
