"""Random models go through Blender and come back to the byte."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings

from addon.codec import FormatError
from addon.codec.flver import Flver
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
