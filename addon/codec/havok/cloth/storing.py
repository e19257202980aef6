"""Cloth records -> the tagfile they were read from: the reverse of `reading`, only what differs.

Members that no record holds stay as they are, and so does the whole file where nothing differs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..objects import View
from ..tagfile import Tagfile
from .comparing import differences, same
from .data import ClothData, ClothFile, SimCloth
from .operators import MoveParticles, Operator, Simulate
from .reading import CONTAINER, read_cloth
from .storing_constraints import put, put_columns, store_constraint
from .storing_operators import DEFORMERS
from .storing_reads import store_reads
from .storing_shapes import store_collidables


def store_cloth(tag: Tagfile, file: ClothFile) -> None:
    """Write cloth records into the objects they were read from.

    Afterwards ``read_cloth(tag)`` gives the same records to the bit. Records read from ``tag`` are views of its bytes:
    they change with it.

    Args:
        tag: the tagfile whose `reading.read_cloth` gave the records, before edits. Where this function raises, it is
            partly written and must not be used any more.
        file: the edited records. The number of particles, vertices, sets, operators and cloths must be that of the
            tagfile; fixed particles, links, local ranges and moved particles may be more or fewer.

    Raises:
        FormatError: records that this tagfile cannot hold.
    """
    old = read_cloth(tag)
    if next(differences(old, file), None) is None:
        return
    datas: list[View] = []
    for container in tag.find(CONTAINER):
        if not container.values.ndim:
            datas += container.links("clothDatas").views()
    before, after = old.datas, file.datas
    _same_number(tag.root, "clothDatas", before, after)
    for left, right in zip(before, after, strict=True):
        _same_number(tag.root, "simClothDatas", left.sims, right.sims)
        _same_number(tag.root, "operators", left.operators, right.operators)
    store_collidables(tag, old, file)
    for view, left, right in zip(datas, before, after, strict=True):
        if left is not right:
            _store_data(view, left, right)
    missed = next(differences(file, read_cloth(tag)), None)
    if missed is not None:
        tag.root.fail("this part of a cloth cannot be changed in a file", missed)


def _same_number(view: View, name: str, old: Any, new: Any) -> None:
    if len(old) != len(new):
        view.fail(f"{len(new)} in place of {len(old)}: what else the file holds depends on the number", name)


def _store_data(view: View, old: ClothData, new: ClothData) -> None:
    parts: tuple[tuple[str, Any, Any, Callable[[View, Any, Any], None]], ...] = (
        ("simClothDatas", old.sims, new.sims, _store_sim),
        ("operators", old.operators, new.operators, _store_operator),
    )
    for name, before, after, store in parts:
        _same_number(view, name, before, after)
        for inner, left, right in zip(view.links(name).views(), before, after, strict=True):
            if next(differences(left, right), None) is not None:
                store(inner, left, right)
    store_reads(view, old, new)


def _store_sim(view: View, old: SimCloth, new: SimCloth) -> None:
    _same_number(view, "particleDatas", old.mass, new.mass)
    info, world = view.one("simulationInfo"), view.one("landscapeCollisionData")
    if not same(old.gravity, new.gravity):
        info.values["gravity"][:3] = new.gravity
    put(info, "globalDampingPerSecond", old.damping, new.damping)
    columns = [
        ("mass", old.mass, new.mass),
        ("invMass", old.inverse_mass, new.inverse_mass),
        ("radius", old.radius, new.radius),
        ("friction", old.friction, new.friction),
    ]
    put_columns(view, "particleDatas", columns)
    for name, attribute in SIM_MEMBERS.items():
        put(view, name, getattr(old, attribute), getattr(new, attribute))
    put(world, "landscapeRadius", old.landscape_radius, new.landscape_radius)
    put(world, "collisionTolerance", old.landscape_tolerance, new.landscape_tolerance)
    _same_number(view, "simClothPoses", old.poses, new.poses)
    for pose, left, right in zip(view.links("simClothPoses").views(), old.poses, new.poses, strict=True):
        if not same(left, right):
            pose.numbers("positions", "<f4", (4,))[:, :3] = right
    _same_number(view, "staticConstraintSets", old.constraints, new.constraints)
    sets = view.links("staticConstraintSets").views()
    for inner, before, after in zip(sets, old.constraints, new.constraints, strict=True):
        if before is not after:
            store_constraint(inner, before, after)


SIM_MEMBERS = {
    "fixedParticles": "fixed",
    "staticCollisionMasks": "masks",
    "maxParticleRadius": "max_radius",
    "totalMass": "total_mass",
    "landscapeCollisionEnabled": "landscape",
    "numLandscapeCollidableParticles": "landscape_count",
}


def _store_operator(view: View, old: Operator, new: Operator) -> None:
    writer = OPERATORS.get(type(new))
    if writer is None or type(old) is not type(new):
        view.fail(f"an operator of class {type(new).__name__} cannot be changed here")
    writer(view, old, new)


def _store_simulate(view: View, old: Simulate, new: Simulate) -> None:
    _same_number(view, "simulateOpConfigs", old.configs, new.configs)
    for config, before, after in zip(view.many("simulateOpConfigs"), old.configs, new.configs, strict=True):
        put(config, "constraintExecution", before.execution, after.execution)
        put(config, "subSteps", before.substeps, after.substeps)
        put(config, "numberOfSolveIterations", before.iterations, after.iterations)
        put(config, "adaptConstraintStiffness", before.adapt, after.adapt)


def _store_move(view: View, old: MoveParticles, new: MoveParticles) -> None:
    columns = [
        ("vertexIndex", old.vertices, new.vertices),
        ("particleIndex", old.particles, new.particles),
    ]
    put_columns(view, "vertexParticlePairs", columns)
    put(view, "refBufferIdx", old.buffer, new.buffer)


OPERATORS: dict[type[Operator], Callable[[View, Any, Any], None]] = {
    Simulate: _store_simulate,
    MoveParticles: _store_move,
    **DEFORMERS,
}
