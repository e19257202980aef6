"""The rules of valid cloth files: real files keep all of them, and each is missed where it is broken."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from addon.cloth.edits import check_identities, new_faults
from addon.cloth.edits.edited import sims_of, with_data, with_operators, with_sim
from addon.codec.havok import cloth as records
from tests.cloth.editing import SOURCES, F, source
from tests.cloth.synthetic import sheet

HAT, SKIRT, HAIR, WINGS, FUR = (
    "HD_M_1140_c.hkx", "BD_M_2210_c.hkx", "HD_M_1630_c.hkx", "c4500_c.hkx", "c7190_c.hkx",
)  # fmt: skip


@pytest.mark.parametrize("name", SOURCES)
def test_real_files_keep_all_rules(corpus, name):
    assert check_identities(source(corpus, name).cloth) == []


def test_a_sheet_made_here_keeps_all_rules():
    kinds = ("StandardLinks", "CompressibleLinks", "BendLinks", "StretchLinks", "LocalRange", "Transition", "Volume")
    assert check_identities(sheet(kinds=kinds)) == []


def column(values, row, value):
    made = values.copy()
    made[row] = value
    return made


def particles(**edits):
    """Return a break of the first cloth: by member, a row and what it becomes from what it is."""

    def broken(file):
        sim = file.datas[0].sims[0]
        done = {
            name: change(getattr(sim, name)) for name, change in edits.items()
        }  # fmt: skip
        return with_data(file, 0, with_sim(file.datas[0], 0, replace(sim, **done)))

    return broken


def sets(kind, **edits):
    """Return a break of the first cloth's sets of a class."""

    def broken(file):
        sim = file.datas[0].sims[0]
        assert any(type(one) is kind for one in sim.constraints)
        made = tuple(
            replace(one, **{name: change(getattr(one, name)) for name, change in edits.items()})
            if type(one) is kind
            else one
            for one in sim.constraints
        )
        return with_data(file, 0, with_sim(file.datas[0], 0, replace(sim, constraints=made)))

    return broken


def operators(kind, number=0, **edits):
    """Return a break of a cloth data's first operator of a class."""

    def broken(file):
        data = file.datas[number]
        index = next(index for index, one in enumerate(data.operators) if type(one) is kind)
        own = data.operators[index]
        done = {name: change(getattr(own, name)) for name, change in edits.items()}
        return with_data(file, number, with_operators(data, {index: replace(own, **done)}))

    return broken


def collidable(change):
    """Return a break of the first cloth's first collidable."""

    def broken(file):
        sim = file.datas[0].sims[0]
        made = (change(sim.collidables[0]), *sim.collidables[1:])
        return with_data(file, 0, with_sim(file.datas[0], 0, replace(sim, collidables=made)))

    return broken


def blends(change):
    return lambda all_of: tuple(change(one) for one in all_of)


def add(row, value):
    return lambda own: column(own, row, own[row] + F(value))


def put(row, value):
    return lambda own: column(own, row, value)


def local_frame(collidable_):
    shape = collidable_.shape
    big = {"radius": shape.radius} if isinstance(shape, records.Capsule) else {}
    return replace(collidable_, shape=replace(shape, **{**big, **longer(shape)}))


def longer(shape):
    name = "end" if isinstance(shape, records.Capsule) else "big"
    return {name: getattr(shape, name) + F(0.01)}


BREAKS = {
    "inverse mass": (HAT, particles(inverse_mass=add(16, 0.001)), {"inverse mass"}),
    "a pinned particle's inverse mass": (HAT, particles(inverse_mass=put(2, F(1))), {"inverse mass"}),
    "negative mass": (HAT, particles(mass=put(16, F(-1))), {"mass", "inverse mass", "pinned", "total mass"}),
    "mass": (HAT, particles(mass=add(16, 1)), {"inverse mass", "total mass"}),
    "total mass": (HAT, particles(total_mass=lambda own: np.nextafter(own, F(99))), {"total mass"}),
    "largest radius": (HAT, particles(radius=add(3, 1)), {"largest radius"}),
    "negative radius": (HAT, particles(radius=put(3, F(-1))), {"radius"}),
    "friction": (HAT, particles(friction=put(3, F(np.nan))), {"friction"}),
    "gravity": (HAT, particles(gravity=put(1, F(np.inf))), {"settings"}),
    "damping": (HAT, particles(damping=lambda _: F(-1)), {"settings"}),
    "pins": (HAT, particles(fixed=lambda own: own[1:]), {"pinned", "carried"}),
    "order of pins": (HAT, particles(fixed=lambda own: own[::-1]), {"pinned"}),
    "rest pose": (HAT, particles(poses=add((0, 16), 1e-4)), {
        "rest length", "weights", "curvature", "rest vector", "reference", "bind",
    }),
    "rest pose, no number": (HAT, particles(poses=put((0, 16), F(np.nan))), {"rest pose"}),
    "carried vertex": (HAT, operators(records.MoveParticles, vertices=add(0, 1)), {"vertex"}),
    "carried particle": (HAT, operators(records.MoveParticles, particles=lambda own: own[[1, *range(1, 16)]],
                                        vertices=lambda own: own[[1, *range(1, 16)]]), {"carried"}),
    "rest length": (HAT, sets(records.StandardLinks, rest=add(7, 1e-5)), {"rest length"}),
    "stiffness": (HAT, sets(records.StandardLinks, stiffness=add(7, 1e-4)), {"stiffness"}),
    "a link to itself": (HAT, sets(records.StandardLinks, b=lambda own: column(own, 7, 1)), {"rest length"}),
    "a number of a link": (HAT, sets(records.StandardLinks, rest=put(7, F(np.nan))), {"number"}),
    "pinned link": (HAT, sets(records.StandardLinks, a=put(0, 2), b=put(0, 3)), {"free end", "rest length"}),
    "holding end": (HAT, sets(records.StretchLinks, a=put(0, 0)), {"pinned end"}),
    "held end": (HAT, sets(records.StretchLinks, b=put(0, 2)), {"free end"}),
    "held twice": (HAT, sets(records.StretchLinks, b=lambda own: column(own, 0, own[1])), {"one link"}),
    "stretched at rest": (HAT, sets(records.StretchLinks, rest=add(0, -1e-5)), {"rest length"}),
    "bend weights": (HAT, sets(records.BendStiffness, weights=add((0, 4), 1e-6)), {"weights"}),
    "bend curvature": (HAT, sets(records.BendStiffness, curvature=add(4, 1e-3)), {"curvature"}),
    "bend limit": (HAT, sets(records.BendStiffness, max_height_squared=lambda own: own * F(1.001)), {"height limit"}),
    "bend clamp": (HAT, sets(records.BendStiffness, clamp=lambda _: False), {"settings"}),
    "bend without a rest pose": (HAT, sets(records.BendStiffness, use_rest=lambda _: False, clamp=lambda _: False),
                                 {"curvature"}),
    "bend stiffness": (HAT, sets(records.BendStiffness, stiffness=put(4, F(0.01))), {"stiffness"}),
    "volume weight": (HAT, sets(records.Volume, frame_weight=add(0, 1e-4)), {"weights", "rest vector"}),
    "volume vector": (HAT, sets(records.Volume, apply_vector=add(0, 1e-5)), {"rest vector"}),
    "a pinned particle of a volume": (HAT, sets(records.Volume, apply_particle=put(0, 2)), {"free end"}),
    "ranged pin": (HAT, sets(records.LocalRange, particle=put(0, 2)), {"free end"}),
    "two ranges": (HAT, sets(records.LocalRange, particle=lambda own: column(own, 0, own[1])), {"one range"}),
    "negative range": (HAT, sets(records.LocalRange, max_distance=put(0, F(-1))), {"range"}),
    "range stiffness": (HAT, sets(records.LocalRange, stiffness=lambda _: F(2)), {"stiffness"}),
    "transition": (HAT, sets(records.Transition, particle=lambda own: column(own, 0, own[1])), {"every particle"}),
    "triangle bind": (HAT, operators(records.MeshMeshDeform, binds=add((3, 0, 3), 1e-2)), {"bind", "drawn mesh"}),
    "compressible": (SKIRT, sets(records.CompressibleLinks, rest=add(2, -1e-5)), {"rest length"}),
    "compression": (SKIRT, sets(records.CompressibleLinks, compression=add(2, 1)), {"rest length"}),
    "bend link": (HAIR, sets(records.BendLinks, stretch_max=add(2, 1e-5)), {"rest length"}),
    "bend link stiffness": (HAIR, sets(records.BendLinks, bend_stiffness=put(2, F(99))), {"stiffness"}),
    "packed reference": (SKIRT, operators(records.Skin, blends=blends(
        lambda own: replace(own, positions=add(0, 1e-4)(own.positions)))), {"reference"}),
    "unpacked reference": (FUR, operators(records.Skin, blends=blends(
        lambda own: replace(own, positions=add((0, 0, 0), 1e-5)(own.positions)))), {"reference"}),
    "drawn mesh": (HAIR, operators(records.MeshMeshDeform, blends=blends(
        lambda own: replace(own, positions=add((0, 0, 0), 10)(own.positions)))), {"drawn mesh"}),
    "driven bone": (WINGS, operators(records.SimpleMeshBoneDeform, 3, local=add((0, 0, 3), 1e-2)), {"bone"}),
    "place": (SKIRT, collidable(lambda own: replace(own, transform=add((0, 3), 1e-4)(own.transform))), {"place"}),
    "shape": (SKIRT, collidable(local_frame), {"shape"}),
}  # fmt: skip


@pytest.mark.parametrize("name", BREAKS)
def test_a_broken_rule_is_missed(corpus, name):
    sample, broken, rules = BREAKS[name]
    file = source(corpus, sample).cloth
    faults = check_identities(broken(file))
    found = {fault.rule for fault in faults}
    assert rules <= found, faults
    assert {fault.sim for fault in faults} <= {0, 3}
    titles = [data.name for data in file.datas]
    assert all(fault.text.startswith(tuple(titles)) for fault in faults)
    assert new_faults(file, broken(file)) == faults
    assert new_faults(broken(file), broken(file)) == []


def test_only_what_is_broken_is_missed(corpus):
    file = source(corpus, HAT).cloth
    for name in ("total mass", "largest radius", "bend curvature", "bend limit"):
        _, broken, rules = BREAKS[name]
        assert {fault.rule for fault in check_identities(broken(file))} == rules
    (fault,) = check_identities(BREAKS["rest length"][1](file))
    assert (fault.sim, fault.rule, fault.place) == (0, "rest length", "StandardLink Constraint")
    assert fault.text == (
        "HD_hat, StandardLink Constraint: row 7: the rest length is not the distance in the rest pose."
    )


def test_buffers_that_belong_to_nothing_are_a_fault():
    file = sheet()
    data = file.datas[0]
    buffers = (data.buffers[0], replace(data.buffers[1], vertex_count=3), *data.buffers[2:])
    (fault,) = check_identities(with_data(file, 0, replace(data, buffers=buffers)))
    assert fault.rule == "buffers"
    assert sims_of(file)
