"""What overlays write, and that nothing is added to the views while they are off."""

from __future__ import annotations

import numpy as np
import pytest

from tests.scene import tiny
from tests.scene.shown import load


@pytest.fixture
def model(scene, tmp_path):
    import addon.scene

    return load(
        addon.scene, tiny.write(tmp_path / "tiny.partsbnd.dcx", tiny.model(("root", "scaled", "#child", "loose")))
    )


@pytest.fixture
def view(blender):
    from addon.ui.overlays import View

    yield View
    for name in ("dummies", "nodes", "legend"):
        setattr(View.switches(), name, False)


def test_dummies_are_called_by_their_reference_id(model):
    import bpy

    from addon.scene.labels import dummy_labels

    bpy.data.objects.new("another empty", None)
    labels = dummy_labels(bpy.data.objects)
    assert labels.texts == ["100", "100"]
    expected = [obj.matrix_world.translation[:] for obj in model.dummies]
    np.testing.assert_allclose(np.sort(labels.points, axis=0), np.sort(expected, axis=0), atol=1e-6)
    assert not dummy_labels([]).points.size


def test_nodes_are_called_as_in_the_file_at_their_posed_origins(model):
    import bpy

    from addon.scene.labels import node_labels

    model.armature.location = (10, 0, 0)
    model.armature.pose.bones["root"].location = (0, 0, 3)
    bpy.context.view_layer.update()
    labels = node_labels([*model.meshes, model.armature])
    assert set(labels.texts) == {"root", "scaled", "#child", "loose"}
    pose = model.armature.pose.bones
    for text, point in zip(labels.texts, labels.points, strict=True):
        np.testing.assert_allclose(point, np.add(pose[text].head, (10, 0, 0)), atol=1e-5)


def test_nodes_that_do_not_show_are_not_called(model):
    import bpy

    from addon.scene.labels import node_labels

    armature = model.armature
    shown = {name for each in armature.data.collections if each.is_visible for name in each.bones.keys()}  # noqa: SIM118
    assert set(node_labels([armature]).texts) == shown
    first = next(iter(sorted(shown)))
    pose = armature.pose.bones[first]
    (pose if hasattr(pose, "hide") else pose.bone).hide = True
    assert set(node_labels([armature]).texts) == shown - {first}
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode="EDIT")
    armature.data.edit_bones.new("new").tail = (0, 0, 1)
    names = node_labels([armature]).texts
    bpy.ops.object.mode_set(mode="OBJECT")
    assert "new" not in names
    assert names
    for each in armature.data.collections:
        each.is_visible = False
    assert not node_labels([armature]).texts


def test_drawing_is_added_with_the_first_switch_and_goes_with_the_last(view):
    assert view.handle is None
    view.switches().dummies = True
    handle = view.handle
    assert handle is not None
    view.switches().legend = True
    assert view.handle is handle
    view.switches().dummies = False
    assert view.handle is handle
    view.switches().legend = False
    assert view.handle is None


def test_a_new_file_keeps_drawing_and_switches_of_one_mind(view):
    import bpy

    for use_ui in (True, False):
        view.switches().nodes = True
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True, load_ui=use_ui)
        assert (view.handle is not None) == view.switches().nodes


def test_undo_leaves_the_switches(view):
    import bpy

    bpy.ops.ed.undo_push(message="before")
    view.switches().dummies = True
    bpy.context.scene.cursor.location = (1, 2, 3)
    bpy.ops.ed.undo_push(message="after")
    bpy.ops.ed.undo()
    assert (view.handle is not None) == view.switches().dummies


def test_unregistering_takes_the_drawing_away(blender):
    import addon
    from addon.ui.overlays import View

    View.switches().dummies = True
    addon.unregister()
    try:
        assert View.handle is None
    finally:
        addon.register()
    assert View.handle is None
    assert not View.switches().dummies
