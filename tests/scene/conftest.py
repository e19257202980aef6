"""What tests of the scene can ask for: the functions under test, and a model imported by them."""

from __future__ import annotations

import pytest

from addon.codec.flver import Flver
from tests.sample import make_sample
from tests.scene import tiny
from tests.scene.shown import load
from tests.scene.written import source


@pytest.fixture
def scene_api(scene):
    """Return `addon.scene`, with an empty scene in Blender."""
    import addon.scene

    return addon.scene


@pytest.fixture
def tiny_file(tmp_path):
    return tiny.write(tmp_path / "tiny.partsbnd.dcx", tiny.model())


@pytest.fixture
def imported(scene_api, tiny_file):
    return load(scene_api, tiny_file)


@pytest.fixture
def player(scene):
    from addon.operators.cloth_playback import UsesPlayer

    scene.render.fps = 60
    return UsesPlayer.player_now()


@pytest.fixture
def before(imported):
    """Return the imported model as it was read."""
    return Flver.read(source(imported.collection))


@pytest.fixture
def sample(scene_api, tmp_path):
    return load(scene_api, tiny.write(tmp_path / "sample.partsbnd.dcx", make_sample()))
