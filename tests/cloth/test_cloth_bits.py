"""The batched step against the plain one, to the last bit, on every cloth of the corpus under a moving skeleton.

200 steps of everything take about two minutes; ``OSSUARY_CLOTH_STEPS`` asks for another number.
"""

from __future__ import annotations

import os

import numpy as np
import pytest

from addon.cloth import RootChoice, Settings, build_setup, new_state, reset, step
from tests.cloth.corpus import CLOTHS, drawn_triangles, load, swinging
from tests.reference import cloth_plain
from tests.reference.cloth_plain_maths import ESTIMATED

pytestmark = pytest.mark.bits

STEPS = int(os.environ.get("OSSUARY_CLOTH_STEPS") or 200)
SHOWN = {0, STEPS // 2, STEPS - 1}
RATE = np.float32(1 / 60)


def differences(setup, state, plain, *, shown):
    """Return what is not equal to the last bit, by name."""
    found = []
    for place in setup.layout.sims:
        own = plain[place.data].sims[place.sim]
        before = setup.layout.particles
        found += compare(f"{place.record.name} now", state.store[:, place.start : place.stop], own.now.points)
        columns = state.store[:, before + place.start : before + place.stop]
        found += compare(f"{place.record.name} before", columns, own.before.points)
    for column, body in enumerate(setup.bodies.all):
        place = setup.layout.sims[body.sim]
        index = [other for other, one in enumerate(setup.bodies.all) if one.sim == body.sim].index(column)
        matrix = plain[place.data].sims[place.sim].places[index]
        found += compare(f"collidable {column}", state.places[:, :, column].T, matrix)
    made = {index: matrix for own in plain for index, matrix in own.driven.items()}
    for name, got in zip(setup.driven, state.driven.T, strict=True):
        if made:
            found += compare(f"bone {name}", got.reshape(4, 3).T, made[setup.bones.index(name)])
    for display in setup.displays if shown else ():
        place = display.place
        own = plain[place.data].buffers[place.buffer]
        rows = np.flatnonzero(display.written)
        for what, table in (("points", state.store), ("normals", state.normals), ("tangents", state.tangents)):
            expected = np.array(getattr(own, what), np.float32)[rows]
            found += compare(f"{display.record.name} {what}", table[:, place.start + rows], expected)
    return found


def compare(name, got, expected):
    """Compare (3, n) with n lists of three; zeros may differ in sign."""
    got, expected = got.T + np.float32(0), np.asarray(expected, np.float32) + np.float32(0)
    return [] if got.tobytes() == expected.tobytes() else [f"{name}: {np.abs(got - expected).max()}"]


def run(sample, steps, shown_at, roots, choice):
    triangles = drawn_triangles(sample)
    setup = build_setup(sample.cloth, triangles=triangles)
    plain = []
    for number, data in enumerate(sample.cloth):
        own = {buffer: mesh.tolist() for (of, buffer), mesh in triangles.items() if of == number}
        plain.append(cloth_plain.Cloth(data, own, roots))
    settings = Settings(roots=choice, tangents=True)
    state, pose = new_state(setup), swinging(sample.cloth, 0)
    reset(setup, state, pose, settings=settings)
    for one in plain:
        one.reset([cloth_plain.columns(matrix) for matrix in pose.bones])
    start = state.store[:, : setup.layout.particles].copy()
    assert not differences(setup, state, plain, shown=True)
    for count in range(steps):
        pose = swinging(sample.cloth, (count + 1) / 60)
        step(setup, state, pose, RATE, settings)
        bones = [cloth_plain.columns(matrix) for matrix in pose.bones]
        for one in plain:
            one.step(bones, RATE, shown=count in shown_at)
        assert not differences(setup, state, plain, shown=count in shown_at), count
    assert np.isfinite(state.store).all()
    assert np.abs(state.store[:, : setup.layout.particles] - start).max() > 1e-3


@pytest.mark.parametrize("name", sorted(CLOTHS))
def test_batches_give_the_bits_of_the_plain_step(corpus, name):
    run(load(corpus, name), STEPS, SHOWN, None, RootChoice.EXACT)


@pytest.mark.parametrize("name", ["HD_M_1140_c.hkx", "BD_M_2210_c.hkx", "c4500_c.hkx"])
def test_batches_give_the_bits_with_estimated_roots(corpus, name):
    run(load(corpus, name), 4, {3}, ESTIMATED, RootChoice.ESTIMATE)
