"""Random models come back from their bytes."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings

from addon.codec.flver import Flver
from tests.models import differences, models


@given(models())
@settings(max_examples=300, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
def test_a_model_comes_back(model):
    data = model.write()
    read = Flver.read(data)
    assert list(differences(model, read)) == []
    assert read.write() == data
