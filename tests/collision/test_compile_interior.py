"""Interior bits against the plain rule, on closed and broken surfaces with flat and bent quads."""

from __future__ import annotations

import numpy as np
import pytest

from addon.collision.corners import corner_points
from addon.maths.single import reciprocal_root_estimates
from tests.collision.meshes import ball, compiled, ground
from tests.reference import compile_plain as plain


def polygons_of(shape):
    """Return the polygons of a mesh as the plain rule takes them."""
    mesh, primitives = shape.mesh, shape.primitives
    points = corner_points(primitives, shape.decoded)
    found = []
    for place, slots in enumerate(primitives.slots.tolist()):
        section = int(primitives.section[place])
        row = mesh.sections[section]
        own, first = int(row["num_packed"]), int(row["first_shared"])
        names = [(section, s) if s < own else int(mesh.shared_index[first + s - own]) for s in slots]
        spots = [tuple(point) for point in points[place]]
        key = section << 8 | int(primitives.index[place]) << 1
        halves = [(spots[0], spots[1], spots[2]), (spots[0], spots[2], spots[3])]
        if slots[2] == slots[3]:
            found.append((key, names[:3], spots[:3], halves[:1]))
        elif (mesh.flat_convex & slots[1]) > slots[3]:
            found.append((key, names, spots, halves))
        else:
            found.append((key, names[:3], spots[:3], halves[:1]))
            found.append((key | 1, [names[0], names[2], names[3]], halves[1], halves[1:]))
    return found


def lumpy(seed: int, tilt: float):
    """Return a closed surface with dents and dense and sparse parts, some triangles of it gone."""
    dice = np.random.default_rng(seed)
    vertices, triangles = ball(10, 14)
    vertices = vertices * (1 + tilt * dice.random((len(vertices), 1)).astype("f4")) * np.float32([1, 0.4, 3])
    return vertices.astype("f4"), triangles[dice.random(len(triangles)) > 0.02]


@pytest.mark.parametrize("flat", [False, True])
@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("name", ["hills", "level", "ball", "lumpy", "dented", "double"])
def test_bits_are_those_of_the_plain_rule(name, turned, flat):
    vertices, triangles = {
        "hills": lambda: ground(12, noise=1.0),
        "level": lambda: ground(10, noise=0.0),
        "ball": lambda: ball(12, 16),
        "lumpy": lambda: lumpy(1, 0.05),
        "dented": lambda: lumpy(2, 0.8),
        "double": lambda: (ball()[0], np.concatenate([ball()[1], ball()[1]])),
    }[name]()
    if turned:
        triangles = triangles[:, ::-1]
    shape = compiled((vertices, triangles), flat_quads=flat, radius=0.05).shape
    expected = plain.interior(polygons_of(shape), lambda square: reciprocal_root_estimates(np.float32([square]))[0])
    assert np.flatnonzero(shape.mesh.interior).tolist() == expected
    assert expected or name == "level"
