"""Random models, and dummies of extreme ones, go through Blender and come back to the byte."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from addon.codec import FormatError
from addon.codec.flver import Flver
from addon.codec.flver.records import DUMMY, NODE
from addon.model import PlacedModel
from tests.models import models
from tests.scene.written import differences, gathered


@given(model=models())
@settings(max_examples=60, suppress_health_check=list(HealthCheck))
def test_a_model_of_any_bytes_comes_back(scene_api, tmp_path, model):
    import bpy

    data = model.write()
    try:
        PlacedModel.of(Flver.read(data))
    except FormatError:
        return
    path = tmp_path / "random.flver"
    path.write_bytes(data)
    bpy.ops.wm.read_factory_settings(use_empty=True)
    result = scene_api.import_flver(bpy.context, [path])
    assert not result.failures
    flver, problems = gathered(result.models[0].collection)
    assert not problems.errors
    assert differences(Flver.read(data), Flver.read(flver.write())) == set()
    assert flver.write() == data


@pytest.mark.parametrize("far", [2, 6, 20, 37])
def test_dummies_of_extreme_nodes_come_back(scene_api, tmp_path, far):
    """On nodes up to so many powers of ten metres away and scaled by a millionth to a million; some stand in them."""
    import bpy

    random, count = np.random.default_rng(far), 120
    flver = Flver.new()
    flver.nodes, flver.node_names = NODE.zeros(count), [f"node {number}" for number in range(count)]
    flver.nodes["parent"] = [-1, *(int(random.integers(-1, number)) for number in range(1, count))]
    sign = random.choice([-1, 1], (count, 3))
    flver.nodes["translation"] = sign * 10 ** random.uniform(-3, far, (count, 3))
    flver.nodes["rotation"] = random.uniform(-4, 4, (count, 3))
    flver.nodes["scale"] = 10 ** random.uniform(-6, 6, (count, 3))
    flver.dummies = DUMMY.zeros(count)
    flver.dummies["parent"], flver.dummies["attach"] = random.integers(-1, count, (2, count))
    flver.dummies["parent"][::2] = -1
    flver.dummies["position"] = 10 ** random.uniform(-9, 3, (count, 3))
    flver.dummies["forward"], flver.dummies["upward"] = random.normal(size=(2, count, 3))
    path = tmp_path / "far.flver"
    path.write_bytes(flver.write())
    collection = scene_api.import_flver(bpy.context, [path]).models[0].collection
    again, problems = gathered(collection)
    assert not problems.errors
    assert differences(Flver.read(path.read_bytes()), again) == set()
