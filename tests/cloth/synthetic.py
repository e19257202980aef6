"""Cloth made here: a sheet that hangs from a bone, with every part a file has, of any size."""

# ruff: noqa: FBT003 -- records are written as files have them, member by member
from __future__ import annotations

from dataclasses import replace

import numpy as np

from addon.codec.havok import cloth as records

F = np.float32


def sheet(columns=8, rows=6, *, spacing=0.05, substeps=1, adapt=False, kinds=("StandardLinks",), shape=None, seed=1):
    """Return a cloth file: a sheet of columns x rows particles in the plane z = 0, its upper row pinned.

    Args:
        columns, rows: particles.
        spacing: metres between them.
        substeps, adapt: settings of the simulation.
        kinds: constraint classes, in the order of solving; collision comes last.
        shape: of a collidable on the second bone.
        seed: of the order of the links.
    """
    count = columns * rows
    place = np.arange(count)
    x, y = place % columns, place // columns
    positions = np.stack([x * spacing, -y * spacing, np.zeros(count)], 1).astype(F)
    free = y > 0
    mass = np.where(free, F(0.1), F(0)).astype(F)
    inverse = np.divide(F(1), mass, out=np.zeros(count, F), where=free)
    cells = place[(x < columns - 1) & (y < rows - 1)]
    triangles = np.concatenate(
        [
            np.stack([cells, cells + 1, cells + columns], 1),
            np.stack([cells + 1, cells + columns + 1, cells + columns], 1),
        ]
    ).astype(np.uint16)
    random = np.random.default_rng(seed)
    sets = tuple(constraint(kind, positions, inverse, triangles, (columns, rows), random) for kind in kinds)
    bodies = () if shape is None else (body(shape),)
    sim = records.SimCloth(
        "sheet", np.array([0, -9.81, 0], F), F(0.5), mass, inverse, np.full(count, 0.01, F), np.full(count, 0.3, F),
        np.flatnonzero(~free).astype(np.uint16), triangles, np.ones(len(triangles), np.bool_), True, positions[None],
        sets, bodies, records.CollidableMap(0 if bodies else -1, np.ones(len(bodies), np.uint32), eyes(len(bodies))),
        np.where(free, len(bodies), 0).astype(np.uint32), F(0.01), np.add.accumulate(mass)[-1], False, 0, 0, False,
        False,
    )  # fmt: skip
    data = cloth_data(sim, records.SimulateConfig(np.array([*range(len(sets)), -1], np.int32), substeps, 1, adapt))
    skeleton = records.Skeleton(
        "Master", ("Root", "Body"), np.array([-1, 0], np.int16), np.zeros((2, 3), F),
        np.tile(np.array([0, 0, 0, 1], F), (2, 1)), np.ones((2, 3), F),
    )  # fmt: skip
    return records.ClothFile((data,), (), skeleton)


def eyes(count):
    return np.tile(np.eye(4, dtype=F), (count, 1, 1))


def body(shape):
    return records.Collidable("body", np.eye(4, dtype=F), shape, True, F(0.01), False, False)


def cloth_data(sim, config):
    """Return a cloth data around a simulated cloth: skin, pins, simulation, a drawn mesh that copies the particles."""
    count, empty = len(sim), np.zeros((0, 3), np.uint16)
    normals = np.tile(np.array([0, 0, 1], F), (count, 1))
    blend = records.Blend(
        np.arange(count, dtype=np.int32), np.zeros((count, 1), np.int32), None, sim.poses[0], normals, None
    )
    neighbour = np.where(np.arange(count) + 1 < count, np.arange(count) + 1, 0).astype(np.uint16)
    operators = (
        records.Skin("skin", 0, 0, np.array([0], np.uint16), eyes(1), (blend,)),
        records.MoveParticles("move", 0, 0, sim.fixed, sim.fixed),
        records.Simulate("simulate", 0, (config,)),
        records.CopyVertices("copy", 1, 3, count, 0, 0, True),
        records.VertexFrames(
            "frames", 3, None, None, None, np.arange(count, dtype=np.uint16), sim.flips, neighbour, np.ones(count, F),
            np.zeros(count, F), np.zeros(0, F), count, True, True, False,
        ),
        records.CopyVertices("before", 0, 2, count, 0, 0, False),
        records.CopyVertices("now", 0, 1, count, 0, 0, False),
        records.Skin("display", 3, 0, np.array([0], np.uint16), eyes(1), (blend,)),
    )  # fmt: skip
    buffers = (
        records.Buffer("sheet_sim", 6, 0, count, 0, empty, True),
        records.Buffer("SimBuffer", 1, 0, count, len(sim.triangles), empty, True),
        records.Buffer("Previous", 2, 0, count, len(sim.triangles), empty, False),
        records.Buffer("sheet", 4, 0, count, len(sim.triangles), empty, True),
    )
    lists = {
        "#01#Default": [0, 1, 2, 3, 4], "#00#Empty": [], "_Skin": [7], "_preAtoS_#01#Default": [0, 5],
        "_curAtoS_#01#Default": [0, 6],
    }  # fmt: skip
    none = np.zeros(0, np.uint32)
    states = tuple(records.ClothState(name, np.array(own, np.uint32), none, none, none) for name, own in lists.items())
    return records.ClothData("sheet", (sim,), buffers, (records.TransformSet("Master", 2),), operators, states, 2)


def constraint(kind, positions, inverse, triangles, size, random):
    """Return a set of one class over the sheet, links in a random order."""
    columns, rows = size
    place = np.arange(len(positions))
    x, y = place % columns, place // columns
    pairs = np.concatenate([
        np.stack([place[x < columns - 1], place[x < columns - 1] + 1], 1),
        np.stack([place[y < rows - 1], place[y < rows - 1] + columns], 1),
        np.stack([(own := place[(x < columns - 1) & (y < rows - 1)]), own + columns + 1], 1),
    ])  # fmt: skip
    pairs = random.permutation(pairs[inverse[pairs].sum(1) > 0])
    a, b = pairs.T.astype(np.uint16)
    rest = np.linalg.norm(positions[b] - positions[a], axis=1).astype(F)
    over = (F(1) / (inverse[a] + inverse[b])).astype(F)
    if kind == "StandardLinks":
        return records.StandardLinks(kind, a, b, rest, over)
    if kind == "CompressibleLinks":
        return records.CompressibleLinks(kind, a, b, rest * F(1.02), rest * F(0.9), over)
    if kind == "BendLinks":
        return records.BendLinks(kind, a, b, rest, rest, over * F(0.2), over)
    free = place[inverse > 0]
    if kind == "StretchLinks":
        pins = (free % columns).astype(np.uint16)
        reach = np.linalg.norm(positions[free] - positions[pins], axis=1).astype(F)
        return records.StretchLinks(kind, pins, free.astype(np.uint16), reach, np.ones(len(free), F))
    if kind == "LocalRange":
        return local_range(free)
    if kind == "Transition":
        return transition(place)
    if kind == "Volume":
        center = positions.mean(0)
        return records.Volume(
            kind, place.astype(np.uint16), positions - center, np.full(len(place), 1 / len(place), F),
            free.astype(np.uint16), (positions - center)[free], np.full(len(free), 0.2, F),
        )  # fmt: skip
    return bend_stiffness(positions, inverse, triangles, random)


def local_range(free, shape=0):
    size = len(free)
    return records.LocalRange(
        "LocalRange", free.astype(np.uint16), free.astype(np.uint16), np.full(size, 0.2, F), np.full(size, 0.1, F),
        np.full(size, -0.15, F), 0, F(1), shape, True,
    )  # fmt: skip


def transition(place):
    none = np.zeros(len(place), F)
    rows = place.astype(np.uint16)
    return records.Transition(
        "Transition", rows, rows, none, none, np.full(len(place), 1, F), 0, F(0.1), F(0.1), F(0.1), F(0.1)
    )


def bend_stiffness(positions, inverse, triangles, random):
    """Return a set over the pairs of triangles with a common edge, weights by the rule of the games' files."""
    edges: dict[tuple[int, int], list[int]] = {}
    for p, q, r in triangles.tolist():
        for c, d, wing in ((p, q, r), (q, r, p), (r, p, q)):
            edges.setdefault((min(c, d), max(c, d)), []).append(wing)
    rows = [(*wings, *edge) for edge, wings in edges.items() if len(wings) == 2]
    indices = random.permutation(np.array(rows))
    indices = indices[inverse[indices].sum(1) > 0].T
    a, b, c, d = (positions[row].astype(np.float64) for row in indices)
    normals = [np.cross(a - c, a - d), np.cross(b - d, b - c), np.cross(c - b, c - a), np.cross(d - a, d - b)]
    n1, n2, n3, n4 = (np.linalg.norm(normal, axis=1) for normal in normals)
    weights = np.stack([n2 / (n1 + n2), n1 / (n1 + n2), -n4 / (n3 + n4), -n3 / (n3 + n4)]).astype(F)
    stiffness = (-4 * 0.3 / inverse[indices].sum(0)).astype(F)
    zero = np.zeros(len(stiffness), F)
    return records.BendStiffness(
        "BendStiffness", indices.astype(np.uint16), weights, stiffness, zero, F(1e-6), True, True
    )


def with_sets(file, sets):
    """Return the sheet with other constraint sets."""
    data = file.datas[0]
    sim = replace(data.sims[0], constraints=tuple(sets))
    order = records.SimulateConfig(np.array([*range(len(sets)), -1], np.int32), 1, 1, False)
    return replace(file, datas=(cloth_data(sim, order),))
