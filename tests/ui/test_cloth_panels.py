"""The panels of cloth: in which order they show things, and with how much room."""

from __future__ import annotations

import pytest

from tests.panels import drawn, recorded
from tests.sample import write_sample
from tests.scene.test_cloth_import import model


@pytest.fixture
def made(scene, tmp_path):
    """Return an imported model with cloth, the points of its cloth active."""
    import bpy

    import addon.scene

    found = model(addon.scene, write_sample(tmp_path)[0])
    bpy.context.view_layer.objects.active = found.cloths[0].points[0]
    return found


def test_settings_of_one_thing_stand_together(made):
    from addon.ui.cloth import VIEW3D_PT_ossuary_cloth_settings

    seen = drawn(VIEW3D_PT_ossuary_cloth_settings)
    first = seen.index("own_gravity")
    assert seen[first : first + 5] == ["own_gravity", "gravity", "gravity_scale", "own_damping", "damping"]


def test_names_of_constraint_sets_have_the_width_of_the_panel(made):
    from addon.ui.cloth_edit import VIEW3D_PT_ossuary_cloth_edit

    panel = recorded(VIEW3D_PT_ossuary_cloth_edit)
    assert "gravity" in panel.split
    own = panel.seen[panel.seen.index("Stiffness:") :]
    assert "stiffness" in own
    assert not set(own) & set(panel.split)


@pytest.mark.parametrize("kind", ["points", "links", "collidables"])
def test_the_model_is_that_of_the_cloth_whose_part_is_active(made, tmp_path, kind):
    import bpy

    import addon.scene
    from addon.ui.model import VIEW3D_PT_ossuary_model

    other = model(addon.scene, write_sample(tmp_path)[0])
    layer = bpy.context.view_layer
    layer.active_layer_collection = layer.layer_collection
    for one, name in ((made, "sample"), (other, "other")):
        one.collection["flver_name"] = name
        layer.objects.active = getattr(one.cloths[0], kind)[0]
        assert any(text.startswith(f"{name}, ") for text in drawn(VIEW3D_PT_ossuary_model))
