"""The frozen part of a simulation: a cloth file made ready to step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from ..codec import FormatError
from ..codec.binary import Array
from ..codec.havok import cloth as records
from .bones import driven_bones
from .layout import BufferPlace, Layout, lay_out
from .plan import Plan, Planner
from .settings import StateChoice
from .simulation import Bodies, Body
from .vectors import IDENTITY

LAST_BIT = 30


@dataclass(frozen=True, eq=False)
class ExtraCollidable:
    """A collidable the cloth file does not list, such as a stowed weapon's: every free particle meets it.

    Attributes:
        record: of a loose ``_collidable.hkx``; its own transform places it relative to the bone.
        bone: name of the bone that carries it; where the cloth's skeleton lacks it, the setup asks for it too.
        offset: (4, 4) f4 between the bone and the collidable's transform.
    """

    record: records.Collidable
    bone: str
    offset: Array = field(default_factory=lambda: IDENTITY)


@dataclass(frozen=True, eq=False)
class DisplayBuffer:
    """A drawn mesh.

    Attributes:
        place: where it stands.
        record: its definition: name, sub type and counts bind it to a mesh.
        written: (n,) bool vertices that the simulated state writes; the others pass through.
    """

    place: BufferPlace
    record: records.Buffer
    written: Array


@dataclass(frozen=True, eq=False)
class Setup:
    """A cloth file ready to step. It never changes, but its stages hold scratch: one step at a time.

    Attributes:
        file: what it was made from.
        layout: where everything stands.
        bones: names whose matrices a `Pose` gives, in that order: those of the file's skeleton, then those that only
            added collidables hang from.
        read: (b,) bool bones that some cloth reads; the others' matrices do not matter.
        driven: names of the bones that cloth drives, in the order of `State.driven`.
        driven_columns: (d,) their places in ``bones``.
        displays: the drawn meshes.
        bodies: the collidables.
        plans: by `StateChoice`; "before" and "now" fill previous and current positions.
        states: the simulated state of each cloth data.
        notes: what the simulation leaves out, one sentence each.
    """

    file: records.ClothFile
    layout: Layout
    bones: tuple[str, ...]
    read: Array
    driven: tuple[str, ...]
    driven_columns: Array
    displays: tuple[DisplayBuffer, ...]
    bodies: Bodies
    plans: Mapping[str, Plan]
    states: tuple[str, ...]
    notes: tuple[str, ...]


def build_setup(
    file: records.ClothFile,
    *,
    triangles: Mapping[tuple[int, int], Array] | None = None,
    extra: Sequence[ExtraCollidable] = (),
    states: Mapping[str, str] | None = None,
) -> Setup:
    """Make a cloth file ready.

    Args:
        file: with at least one cloth data.
        triangles: by cloth data and buffer index, (t, 3) vertex indices of the drawn meshes' first face sets; without
            them a mesh keeps the normals that skins and copies bring.
        extra: collidables added at run time.
        states: names of states to run in place of the first simulated one, by the names of the cloth datas.

    Raises:
        FormatError: buffers that belong to nothing, operators on triangles that are not known, unknown states.
    """
    layout = lay_out(file)
    bones = file.skeleton.bones if file.skeleton is not None else ()
    bones = tuple(dict.fromkeys((*bones, *(one.bone for one in extra)))) if extra else bones
    bodies = Bodies(tuple(_bodies(layout, bones, extra)))
    driven, driven_columns = _driven(file)
    chosen = [_chosen(data, (states or {}).get(data.name)) for data in file.datas]
    configs = [_config(file.datas[place.data], place.sim) for place in layout.sims]
    planner = Planner(file, layout, bodies, len(bones), driven, dict(triangles or {}), configs)
    _check_triangles(file, layout)
    lists = {name: [_operators(data, state) for data, state in rows] for name, rows in _lists(file, chosen).items()}
    plans = {name: planner.plan(rows, fill=name == StateChoice.SIMULATE) for name, rows in lists.items()}
    return Setup(
        file,
        layout,
        bones,
        _read_bones(file, bones, bodies),
        tuple(bones[bone] for bone in driven_columns.tolist()),
        driven_columns,
        tuple(_display(planner, place, lists[StateChoice.SIMULATE]) for place in layout.displays()),
        bodies,
        plans,
        tuple(chosen),
        tuple(_notes(file)),
    )


def _chosen(data: records.ClothData, wanted: str | None) -> str:
    """Return the name of the state that simulates: the one wanted, else the first that does."""
    for state in data.states:
        simulates = any(isinstance(data.operators[index], records.Simulate) for index in state.operators.tolist())
        if state.name == wanted or (wanted is None and simulates):
            return state.name
    raise FormatError(f"{data.name} has no state {wanted}" if wanted else f"no state of {data.name} simulates")


def _lists(file: records.ClothFile, chosen: Sequence[str]) -> dict[str, list[tuple[records.ClothData, str]]]:
    """Return which state each cloth data runs, by plan; an unknown name does nothing."""
    prefixes = {StateChoice.SIMULATE: "", "before": "_preAtoS_", "now": "_curAtoS_"}
    names = {
        key: [(data, prefix + own) for data, own in zip(file.datas, chosen, strict=True)]
        for key, prefix in prefixes.items()
    }
    return {**names, StateChoice.SKIN: [(data, "_Skin") for data in file], StateChoice.EMPTY: [(d, "") for d in file]}


def _operators(data: records.ClothData, state: str) -> list[int]:
    return next((one.operators.tolist() for one in data.states if one.name == state and state), [])


def _config(data: records.ClothData, sim: int) -> records.SimulateConfig:
    for operator in data.operators:
        if isinstance(operator, records.Simulate) and operator.sim == sim:
            return operator.configs[0]
    return records.SimulateConfig(np.zeros(0, np.int32), 1, 1, adapt=False)


def _bodies(layout: Layout, bones: Sequence[str], extra: Sequence[ExtraCollidable]) -> list[Body]:
    found = []
    for number, place in enumerate(layout.sims):
        own = place.record.collidable_map
        for index, record in enumerate(place.record.collidables):
            bone = int(own.bones[index]) if own.transform_set >= 0 else -1
            offset = own.offsets[index] if own.transform_set >= 0 else IDENTITY
            found.append(Body(record, number, bone, offset, min(index, LAST_BIT)))
        for one in extra:
            offset = (one.offset.astype(np.float64) @ one.record.transform).astype(np.float32)
            found.append(Body(one.record, number, bones.index(one.bone), offset, None))
    return found


def _driven(file: records.ClothFile) -> tuple[dict[tuple[int, int], int], Array]:
    """Return where each bone deformer's bones start among all driven ones, and which bones all are."""
    starts: dict[tuple[int, int], int] = {}
    found: list[int] = []
    for number, data in enumerate(file.datas):
        for index, operator in enumerate(data.operators):
            if isinstance(operator, records.SimpleMeshBoneDeform | records.MeshBoneDeform):
                starts[number, index] = len(found)
                found += driven_bones(operator).tolist()
    return starts, np.array(found, np.intp)


def _read_bones(file: records.ClothFile, bones: Sequence[str], bodies: Bodies) -> Array:
    read = np.zeros(len(bones), np.bool_)
    for data in file:
        for operator in data.operators:
            if isinstance(operator, records.Skin):
                read[operator.bones] = True
    read[[body.bone for body in bodies.all if body.bone >= 0]] = True
    return read


def _display(planner: Planner, place: BufferPlace, lists: Sequence[Sequence[int]]) -> DisplayBuffer:
    data = planner.file.datas[place.data]
    operators = [data.operators[index] for index in lists[place.data]]
    return DisplayBuffer(place, data.buffers[place.buffer], planner.written(place.data, operators, place))


def _check_triangles(file: records.ClothFile, layout: Layout) -> None:
    """Check that the triangles that operators name are known: a drawn mesh's are not in the file."""
    kinds = records.MeshMeshDeform | records.SimpleMeshBoneDeform | records.MeshBoneDeform
    for number, data in enumerate(file.datas):
        for operator in data.operators:
            if isinstance(operator, kinds):
                place = layout.buffers[number][operator.input]
                if len(place.triangles) != data.buffers[operator.input].triangle_count:
                    raise FormatError(f"{data.name}: {operator.name} reads triangles the file does not hold")


def _notes(file: records.ClothFile) -> list[str]:
    notes = []
    for data in file:
        for sim in data.sims:
            if sim.landscape:
                notes.append(f"{data.name}: collision with the landscape is not simulated.")
            if sim.virtual_point_count:
                notes.append(f"{data.name}: {sim.virtual_point_count} virtual collision points are not simulated.")
    return notes
