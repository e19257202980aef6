"""What the Model panel shows, hides and tells of a model."""

from __future__ import annotations

import numpy as np
import pytest

from tests.sample import make_sample
from tests.scene import tiny
from tests.scene.shown import load


@pytest.fixture
def changes():
    import bpy

    from addon.scene.changes import model_changes

    def tell(model):
        found = model_changes(bpy.context, model.collection)
        assert not found.problems.errors
        return found.changes

    return tell


@pytest.fixture
def levels(scene_api, tmp_path):
    path = tiny.write(tmp_path / "sample.partsbnd.dcx", make_sample())
    return load(scene_api, path, lods=scene_api.Lods.ALL)


def test_parts_are_told_apart(levels):
    from addon.scene.shown import DUMMIES, LEVELS, MESHES, model_parts

    parts = model_parts(levels.collection)
    assert set(parts[MESHES]) == set(levels.meshes)
    assert set(parts[LEVELS]) == set(levels.lods)
    assert set(parts[DUMMIES]) == set(levels.dummies)


def test_parts_are_shown_and_hidden(levels):
    import bpy

    def shown(objects):
        return [obj.visible_get() for obj in objects]

    bpy.context.view_layer.objects.active = levels.armature
    assert all(shown(levels.dummies))
    bpy.ops.object.ossuary_model_show(part="DUMMIES")
    assert not any(shown(levels.dummies))
    assert all(shown(levels.meshes))
    bpy.ops.object.ossuary_model_show(part="DUMMIES")
    assert all(shown(levels.dummies))
    assert not any(shown(levels.lods))
    bpy.ops.object.ossuary_model_show(part="LEVELS")
    assert all(shown(levels.lods))


def test_what_is_in_a_hidden_collection_is_shown(levels):
    import bpy

    owner = levels.dummies[0].users_collection[0]
    entries = [bpy.context.view_layer.layer_collection]
    while entries:
        entry = entries.pop()
        entry.hide_viewport = entry.collection == owner
        entries += entry.children
    assert not levels.dummies[0].visible_get()
    bpy.ops.object.ossuary_model_show(part="DUMMIES")
    assert all(obj.visible_get() for obj in levels.dummies)


def test_one_of_several_models_must_be_chosen(scene_api, tmp_path, levels):
    import bpy

    load(scene_api, tiny.write(tmp_path / "a.partsbnd", tiny.model()))
    bpy.context.view_layer.objects.active = None
    bpy.context.view_layer.active_layer_collection = bpy.context.view_layer.layer_collection
    for operator in (bpy.ops.object.ossuary_model_changes, bpy.ops.export_scene.ossuary_flver):
        with pytest.raises(RuntimeError, match="Select"):
            operator()


def test_nothing_has_changed_after_an_import(imported, sample, levels, changes):
    assert [changes(model) for model in (imported, sample, levels)] == [[], [], []]


def test_changes_are_told_by_kind(sample, changes):
    sample.dummies[0].location.x += 1
    reference = sample.dummies[0]["flver_reference_id"]
    assert changes(sample) == [f"1 dummy ({reference})"]
    mesh = sample.meshes[2].data
    points = np.empty(len(mesh.vertices) * 3, np.float32)
    mesh.attributes["position"].data.foreach_get("vector", points)
    mesh.attributes["position"].data.foreach_set("vector", points + np.float32(0.01))
    assert changes(sample) == [f"1 dummy ({reference})", "vertices of mesh 2"]
    sample.meshes[0].data.materials[0].name = "other"
    assert any(line.startswith("1 material (other") for line in changes(sample))


def test_a_changed_node_is_told_by_its_name(imported, changes):
    import bpy

    bpy.context.view_layer.objects.active = imported.armature
    bpy.ops.object.mode_set(mode="EDIT")
    bone = imported.armature.data.edit_bones["loose"]
    bone.head.z += 1
    bone.tail.z += 1
    bpy.ops.object.mode_set(mode="OBJECT")
    assert "1 node (loose)" in changes(imported)


def test_more_and_fewer_are_told(imported, changes):
    import bpy

    bpy.data.objects.remove(imported.dummies.pop())
    assert changes(imported) == ["1 dummy fewer"]
    bpy.data.objects.remove(imported.meshes.pop())
    assert "1 mesh fewer" in changes(imported)


def test_what_stands_in_the_way_is_told(imported):
    import bpy

    from addon.operators import report

    bpy.data.objects.remove(imported.armature)
    bpy.ops.object.ossuary_model_changes()
    summary, *lines = report.kept(bpy.context)
    assert "Cannot be exported" in summary
    assert any("armature is gone" in line for line in lines)
