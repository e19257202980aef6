"""Imports are all or nothing, leave the user where they were, and report."""

from __future__ import annotations

import numpy as np
import pytest

from addon.codec import Dcx
from tests.scene import collision_files, tiny
from tests.scene.shown import load


def everything(bpy):
    return sorted(
        (prop.identifier, block.name)
        for prop in bpy.data.bl_rna.properties
        if prop.type == "COLLECTION"
        for block in getattr(bpy.data, prop.identifier)
    )


def test_a_broken_file_leaves_nothing_and_does_not_stop_the_others(scene_api, tmp_path):
    import bpy

    good = tiny.write(tmp_path / "good.partsbnd", tiny.model())
    flver = tiny.model()
    flver.meshes[1].face_sets[0].indices = np.array([0, 1, 900], "<u2")
    bad = tiny.write(tmp_path / "bad.partsbnd", tiny.model(), flver, names=("a.flver", "b.flver"))
    before = everything(bpy)
    alone = scene_api.import_flver(bpy.context, [bad, tmp_path / "absent.flver"])
    assert everything(bpy) == before
    (first, second) = alone.failures
    assert first[0] == "bad.partsbnd"
    assert "b.flver" in first[1]
    assert "meshes[1].face_sets[0].indices" in first[1]
    assert second == ("absent.flver", "No such file or directory")
    mixed = scene_api.import_flver(bpy.context, [bad, good])
    assert [model.name for model in mixed.models] == ["tiny"]
    assert len(mixed.failures) == 1
    assert mixed.summary == "Imported tiny: 4 bones, 2 meshes, 2 dummies; 1 warning; 1 failed"


@pytest.mark.parametrize("stage", ["materials.build", "dummies.build", "MeshBuilder.build", "armatures.bone_lengths"])
def test_a_fault_in_any_stage_leaves_nothing(scene_api, tmp_path, monkeypatch, stage):
    import bpy

    import addon.scene.flver as scene_flver

    owner, name = stage.split(".")

    def fail(*_args, **_kwargs):
        raise RuntimeError("by design")

    monkeypatch.setattr(getattr(scene_flver, owner), name, fail)
    before = everything(bpy)
    with pytest.raises(RuntimeError, match="by design"):
        scene_api.import_flver(bpy.context, [tiny.write(tmp_path / "a.partsbnd", tiny.model())])
    assert everything(bpy) == before


@pytest.mark.parametrize("broken", [False, True])
def test_mode_selection_and_active_object_stay(scene_api, tmp_path, monkeypatch, broken):
    import bpy

    import addon.scene.flver as scene_flver

    bpy.ops.mesh.primitive_cube_add()
    cube = bpy.context.object
    other = bpy.data.objects.new("other", None)
    bpy.context.scene.collection.objects.link(other)
    bpy.ops.object.mode_set(mode="EDIT")
    if broken:
        monkeypatch.setattr(scene_flver.dummies, "build", lambda *_args: 1 / 0)
    try:
        scene_api.import_flver(bpy.context, [tiny.write(tmp_path / "a.partsbnd", tiny.model())])
    except ZeroDivisionError:
        assert broken
    assert (bpy.context.object, bpy.context.object.mode) == (cube, "EDIT")
    assert bpy.context.selected_objects == [cube]


def test_a_hidden_active_collection_takes_the_model(scene_api, tiny_file):
    import bpy

    child = bpy.data.collections.new("away")
    bpy.context.scene.collection.children.link(child)
    layer = bpy.context.view_layer.layer_collection.children["away"]
    child.hide_viewport = True
    bpy.context.view_layer.active_layer_collection = layer
    assert bpy.context.collection == child
    imported = load(scene_api, tiny_file, lods=scene_api.Lods.ALL)
    assert imported.bone_count == 4
    assert [each.name for each in child.children] == ["tiny"]
    assert not imported.lods[0].visible_get()


# the operator


def test_operator_imports_several_files_in_one_step(blender, scene, tmp_path):
    first = tiny.write(tmp_path / "a.partsbnd", tiny.model(), names=("a.flver",))
    second = tmp_path / "b.flver.dcx"
    second.write_bytes(Dcx.new(tiny.model().write()).write())
    blender.ops.ed.undo_push(message="before")
    files = [{"name": first.name}, {"name": second.name}]
    blender.ops.ed.undo_push(message="and again: the first is the state before all")
    answer = blender.ops.import_scene.ossuary_flver("EXEC_DEFAULT", True, directory=str(tmp_path), files=files)  # noqa: FBT003
    assert answer == {"FINISHED"}
    assert {"a", "b"} <= {each.name for each in blender.data.armatures}
    assert blender.context.window_manager.ossuary_report.splitlines()[0].startswith("Imported a, b: 8 bones, 4 meshes")
    blender.ops.ed.undo()
    assert not blender.data.objects


def test_operator_says_why_nothing_was_imported(blender, scene, tmp_path):
    path = tmp_path / "a.flver"
    path.write_bytes(b"FLVER\0L\0\x15\0\0\0" + bytes(200))
    with pytest.raises(RuntimeError, match="FLVER0 of version 0x15"):
        blender.ops.import_scene.ossuary_flver(filepath=str(path))
    assert not blender.data.objects


def test_dropped_files_are_looked_into(blender, scene, tmp_path):
    tiny.write(tmp_path / "a.partsbnd.dcx", tiny.model())
    (tmp_path / "b.dcx").write_bytes(Dcx.new(b"nothing of ours").write())
    drop = blender.ops.wm.drop_import_file
    assert drop(directory=str(tmp_path), files=[{"name": "a.partsbnd.dcx"}, {"name": "b.dcx"}]) == {"FINISHED"}
    assert len(blender.data.armatures) == 1
    drop(directory=str(tmp_path), files=[{"name": "b.dcx"}])
    assert len(blender.data.armatures) == 1
    direct = blender.ops.import_scene.ossuary_drop
    with pytest.raises(RuntimeError, match=r"Nothing in b\.dcx can be imported"):
        direct(directory=str(tmp_path), files=[{"name": "b.dcx"}])


def test_a_dropped_file_that_cannot_be_opened_says_why(blender, scene, tmp_path):
    wrapped = bytearray(Dcx.new(b"x").write())
    wrapped[0x28:0x2C] = b"ZSTD"
    (tmp_path / "a.dcx").write_bytes(wrapped)
    with pytest.raises(RuntimeError, match=r"a\.dcx can be imported;\na\.dcx: .*ZSTD"):
        blender.ops.import_scene.ossuary_drop(directory=str(tmp_path), files=[{"name": "a.dcx"}])
    assert "ZSTD" in blender.context.window_manager.ossuary_report.splitlines()[1]


def test_all_that_is_dropped_is_one_step(blender, scene, tmp_path):
    tiny.write(tmp_path / "a.partsbnd.dcx", tiny.model())
    (tmp_path / "h000100.hkx").write_bytes(collision_files.hkx(collision_files.body(collision_files.ground())))
    for _ in range(2):
        blender.ops.ed.undo_push(message="before")
    (tmp_path / "c.dcx").write_bytes(Dcx.new(b"nothing of ours").write())
    files = [{"name": name} for name in ("h000100.hkx", "a.partsbnd.dcx", "c.dcx")]
    drop = blender.ops.import_scene.ossuary_drop
    assert drop("EXEC_DEFAULT", True, directory=str(tmp_path), files=files) == {"FINISHED"}  # noqa: FBT003
    assert len(blender.data.armatures) == 1
    assert any("collision_set" in obj for obj in blender.data.objects)
    lines = blender.context.window_manager.ossuary_report.splitlines()
    assert lines[0].startswith("Imported tiny: 4 bones, 2 meshes, 2 dummies")
    assert lines[0].endswith("; Imported 1 h body of 32 triangles")
    assert lines[1:] == ["c.dcx: holds nothing that can be imported", lines[2]]  # the last one is the model's own
    blender.ops.ed.undo()
    assert not blender.data.objects


def test_a_failure_names_its_file_once(scene_api, tmp_path):
    import bpy

    wrapped = bytearray(Dcx.new(b"x").write())
    wrapped[0x28:0x2C] = b"ZSTD"
    (tmp_path / "a.dcx").write_bytes(wrapped)
    (line,) = scene_api.import_flver(bpy.context, [tmp_path / "a.dcx"]).details
    assert line.startswith("a.dcx: ")
    assert line.count("a.dcx") == 1
    assert line.endswith("(offset 0x28)")


def test_progress_rises_over_all_files(scene_api, tmp_path):
    import bpy

    paths = [tiny.write(tmp_path / f"{name}.partsbnd.dcx", tiny.model()) for name in "abc"]
    shares = []
    scene_api.import_flver(bpy.context, paths, progress=shares.append)
    assert shares == sorted(shares)
    assert {1 / 3, 2 / 3, 1.0} <= set(shares)


def test_a_fault_beside_the_model_is_told(scene_api, tmp_path):
    import bpy

    from addon.codec import Binder
    from addon.codec.binder import Entry

    wrapped = bytearray(Dcx.new(b"x").write())
    wrapped[0x28:0x2C] = b"ZSTD"
    binder = Binder.new()
    binder.entries = [Entry("a.flver", tiny.model().write(), 1), Entry("b.flver.dcx", bytes(wrapped), 2)]
    (tmp_path / "x.partsbnd").write_bytes(binder.write())
    result = scene_api.import_flver(bpy.context, [tmp_path / "x.partsbnd"])
    assert len(result.models) == 1
    assert len(result.warnings) == 1
    assert "ZSTD" in result.warnings[0]


def test_a_file_is_decoded_anew_when_its_other_half_changes(scene_api, tmp_path):
    import bpy

    from addon.codec import SplitBinder
    from addon.codec.binder import Entry

    cache = scene_api.DecodedCache()
    for names in (("a", "b", "c", "d"), ("e", "f", "g", "h")):
        split = SplitBinder.new()
        split.entries = [Entry("a.flver", tiny.model(names).write(), 1)]
        header, data = split.write()
        if not (tmp_path / "x.flverbhd").exists():
            (tmp_path / "x.flverbhd").write_bytes(header)
        (tmp_path / "x.flverbdt").write_bytes(data)
        (model,) = scene_api.import_flver(bpy.context, [tmp_path / "x.flverbhd"], cache=cache).models
        assert tuple(bone.name for bone in model.armature.data.bones) == names
