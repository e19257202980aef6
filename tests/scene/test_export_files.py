"""Where models are written: loose, wrapped or in a binder; nothing lost, nothing written that has not changed."""

from __future__ import annotations

import errno
from pathlib import Path

import numpy as np
import pytest

from addon.codec import Binder, Dcx
from addon.codec.binder import COMPRESSED, Entry
from addon.codec.flver import Flver
from tests.scene import tiny
from tests.scene.shown import load
from tests.scene.written import exported, source


def others(path: Path, *, but: str) -> list:
    binder = Binder.read(Dcx.read(path.read_bytes()).content)
    return [(each.name, each.id, each.flags, bytes(each.data)) for each in binder.entries if each.basename != but]


def member(path: Path, name: str = "tiny.flver") -> Flver:
    binder = Binder.read(Dcx.read(path.read_bytes()).content)
    return Flver.read(next(each.data for each in binder.entries if each.basename == name))


@pytest.fixture
def binder_file(tmp_path):
    """Return a binder that holds more than the model."""
    path = tiny.write(tmp_path / "tiny.partsbnd.dcx", tiny.model())
    dcx = Dcx.read(path.read_bytes())
    binder = Binder.read(dcx.content)
    binder.entries.insert(0, Entry("N:\\GR\\data\\tiny.tpf", b"TPF\0something", 100))
    binder.entries.append(Entry("N:\\GR\\data\\tiny.hkx.dcx", Dcx.new(b"cloth").write(), 300, 2 | COMPRESSED, 5))
    path.write_bytes(dcx.with_content(binder.write()).write())
    return path


@pytest.fixture
def model(scene_api, binder_file):
    return load(scene_api, binder_file)


def edit(model, by: float = 1.0):
    model.dummies[0].location.x += by


# forms


def test_loose_and_wrapped(model, tmp_path):
    result = exported(model.collection, tmp_path / "Größe 大.flver")
    assert result.written
    assert result.target.read_bytes() == source(model.collection)
    for wrapper in ("DFLT", "KRAK"):
        result = exported(model.collection, tmp_path / f"{wrapper}.FLVER.DCX", wrapper=wrapper)
        dcx = Dcx.read(result.target.read_bytes())
        assert (dcx.codec, dcx.content) == (wrapper, source(model.collection))


def test_a_name_that_says_nothing_is_refused(model, tmp_path):
    result = exported(model.collection, tmp_path / "model.obj")
    assert not result.written
    assert "must end in .flver" in str(result.errors[0])
    assert not (tmp_path / "model.obj").exists()


def test_the_member_of_the_binder_it_came_from(model, binder_file):
    before = binder_file.read_bytes()
    edit(model)
    assert exported(model.collection, binder_file).written
    assert others(binder_file, but="tiny.flver") == [
        (each.name, each.id, each.flags, bytes(each.data))
        for each in Binder.read(Dcx.read(before).content).entries
        if each.basename != "tiny.flver"
    ]
    assert member(binder_file).dummies["position"][0].tolist() != tiny.model().dummies["position"][0].tolist()
    backup = binder_file.with_name(binder_file.name + ".bak")
    assert backup.read_bytes() == before
    edit(model)
    assert exported(model.collection, binder_file).written
    assert backup.read_bytes() == before  # the first state stays


def test_a_copy_of_the_binder(model, binder_file, tmp_path):
    before = binder_file.read_bytes()
    (tmp_path / "mod").mkdir()
    edit(model)
    result = exported(model.collection, tmp_path / "mod" / "renamed.partsbnd.dcx")
    assert result.written
    assert others(result.target, but="tiny.flver") == others(binder_file, but="tiny.flver")
    assert binder_file.read_bytes() == before
    assert sorted(each.name for each in (tmp_path / "mod").iterdir()) == ["renamed.partsbnd.dcx"]
    result = exported(model.collection, tmp_path / "mod" / "plain.partsbnd")
    assert Binder.read(result.target.read_bytes()).write() == result.target.read_bytes()


def test_krak_binders_by_choice(model, tmp_path):
    edit(model)
    result = exported(model.collection, tmp_path / "k.partsbnd.dcx", wrapper="KRAK")
    assert Dcx.read(result.target.read_bytes()).codec == "KRAK"
    assert member(result.target).write() == result.data


def test_models_of_one_binder_are_written_one_after_the_other(scene_api, tmp_path):
    import bpy

    names = ("a.flver", "b.flver")
    second = tiny.model()
    second.dummies["reference_id"] = 7
    path = tiny.write(tmp_path / "two.partsbnd.dcx", tiny.model(), second, names=names)
    models = scene_api.import_flver(bpy.context, [path]).models
    target = tmp_path / "mod.partsbnd.dcx"
    for model in models:
        edit(model)
        assert exported(model.collection, target).written
    for name, before in zip(names, (tiny.model(), second), strict=True):
        after = member(target, name)
        assert after.dummies["position"][0].tolist() != before.dummies["position"][0].tolist()
        assert after.dummies["reference_id"].tolist() == before.dummies["reference_id"].tolist()


def test_a_binder_inside_a_binder(scene_api, binder_file, tmp_path):
    outer = Binder.new()
    inner = Dcx.read(binder_file.read_bytes()).content
    outer.entries = [Entry("N:\\GR\\a.txt", b"a", 1), Entry("N:\\GR\\inner.partsbnd.dcx", Dcx.new(inner).write(), 2)]
    path = tmp_path / "outer.objbnd.dcx"
    path.write_bytes(Dcx.new(outer.write()).write())
    model = load(scene_api, path)
    edit(model)
    assert exported(model.collection, path).written
    after = Binder.read(Dcx.read(path.read_bytes()).content)
    assert bytes(after.entries[0].data) == b"a"
    innermost = Binder.read(Dcx.read(after.entries[1].data).content)
    assert bytes(innermost.entries[1].data) == Flver.read(innermost.entries[1].data).write()
    assert bytes(innermost.entries[0].data) == b"TPF\0something"
    assert bytes(innermost.entries[1].data) != source(model.collection)


def test_corpus_binders_are_rebuilt_around_the_model(scene_api, corpus, tmp_path):
    """Everything else byte for byte; the untouched binder comes back whole, whatever its wrapper."""
    import bpy

    for name in (
        "eldenring/am_m_1122.partsbnd.dcx",
        "eldenring/hd_m_9000.partsbnd.dcx",
        "eldenring/hd_m_1140.partsbnd.dcx",
    ):
        path = corpus(name)
        for model in scene_api.import_flver(bpy.context, [path]).models:
            result = exported(model.collection, tmp_path / path.name)
            assert result.written
            assert Dcx.read(result.target.read_bytes()).content == Dcx.read(path.read_bytes()).content


# nothing is lost


def test_an_unchanged_file_is_not_rewritten(model, binder_file, tmp_path):
    before = binder_file.stat().st_mtime_ns
    result = exported(model.collection, binder_file)
    assert not result.written
    assert not result.errors
    assert "nothing has changed" in result.summary
    assert binder_file.stat().st_mtime_ns == before
    assert [each.name for each in tmp_path.iterdir()] == [binder_file.name]


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (PermissionError(errno.EACCES, "denied"), "open in another program"),
        (OSError(errno.ENOSPC, "No space left on device"), "No space left"),
    ],
)
def test_a_target_that_cannot_be_replaced_is_as_it_was(model, binder_file, monkeypatch, tmp_path, error, said):
    before = binder_file.read_bytes()
    edit(model)

    def refuse(self, target):
        if target == binder_file:
            raise error
        return rename(self, target)

    rename = Path.replace
    monkeypatch.setattr(Path, "replace", refuse)
    result = exported(model.collection, binder_file)
    assert not result.written
    assert said in str(result.errors[0])
    assert binder_file.read_bytes() == before
    assert not [each for each in tmp_path.iterdir() if each.suffix == ".tmp"]


def test_a_folder_that_cannot_be_written_into(model, tmp_path, monkeypatch):
    import tempfile

    def refuse(**_arguments):
        raise PermissionError(errno.EACCES, "denied")

    monkeypatch.setattr(tempfile, "NamedTemporaryFile", refuse)
    result = exported(model.collection, tmp_path / "a.flver")
    assert "cannot be written into" in str(result.errors[0])
    monkeypatch.undo()
    result = exported(model.collection, tmp_path / "no such folder" / "a.flver")
    assert "does not exist" in str(result.errors[0])


def test_a_binder_that_is_gone_is_said(model, binder_file, tmp_path):
    binder_file.unlink()
    result = exported(model.collection, tmp_path / "new.partsbnd.dcx")
    assert "not on this machine" in str(result.errors[0])
    assert "tiny.flver" in str(result.errors[0])
    assert exported(model.collection, tmp_path / "new.flver").written


def test_a_binder_without_the_member_is_not_touched(model, tmp_path):
    other = tiny.write(tmp_path / "other.partsbnd.dcx", tiny.model(), names=("other.flver",))
    before = other.read_bytes()
    result = exported(model.collection, other)
    assert "holds no tiny.flver" in str(result.errors[0])
    assert other.read_bytes() == before


def test_a_binder_whose_member_has_changed_is_said(model, binder_file):
    binder = Binder.read(Dcx.read(binder_file.read_bytes()).content)
    newer = tiny.model()
    newer.dummies["reference_id"] = 9
    binder.entries[1].data = newer.write()
    binder_file.write_bytes(Dcx.new(binder.write()).write())
    result = exported(model.collection, binder_file)
    assert result.written
    assert "another tiny.flver than was imported" in str(result.warnings[0])


def test_a_large_source_is_read_from_its_file(scene_api, binder_file, tmp_path, monkeypatch):
    from addon.scene import provenance

    monkeypatch.setattr(provenance, "PACKED_MAX", 0)
    model = load(scene_api, binder_file)
    assert provenance.PACKED not in model.collection
    assert exported(model.collection, tmp_path / "a.flver").target.read_bytes() == tiny.model().write()
    tiny.write(binder_file, tiny.model(names=("other", "scaled", "child", "loose")))
    assert "has changed since" in str(exported(model.collection, tmp_path / "b.flver").errors[0])
    binder_file.unlink()
    assert "is gone" in str(exported(model.collection, tmp_path / "b.flver").errors[0])


# the scene and the operator


def everything(bpy):
    """Return all that an export could change of the scene."""

    def properties(block):
        return {key: repr(each.to_list() if hasattr(each, "to_list") else each) for key, each in block.items()}

    found = {}
    for obj in bpy.data.objects:
        found[obj.name] = (
            str(obj.matrix_basis), obj.mode, obj.select_get(), obj.hide_get(), obj.hide_viewport, properties(obj),
            [(each.name, each.show_viewport, each.show_render) for each in obj.modifiers],
            obj.parent_bone, [group.name for group in obj.vertex_groups],
        )  # fmt: skip
    for mesh in bpy.data.meshes:
        values = np.empty(3 * len(mesh.vertices), np.float32)
        mesh.vertices.foreach_get("co", values)
        found[f"mesh {mesh.name}"] = (values.tobytes(), sorted(mesh.attributes.keys()), properties(mesh), mesh.users)
    for armature in bpy.data.armatures:
        found[armature.name] = [(bone.name, str(bone.matrix_local), properties(bone)) for bone in armature.bones]
    for collection in bpy.data.collections:
        found[f"collection {collection.name}"] = (properties(collection), collection.all_objects.keys())
    found["active"] = bpy.context.view_layer.objects.active, bpy.context.mode
    found["names"] = [
        sorted(each.name for each in group) for group in (bpy.data.meshes, bpy.data.materials, bpy.data.images)
    ]
    return found


@pytest.mark.parametrize("mode", ["OBJECT", "EDIT", "POSE"])
@pytest.mark.parametrize("modifiers", [False, True])
def test_the_scene_is_the_same_before_and_after(blender, model, tmp_path, mode, modifiers):
    model.meshes[1].hide_set(state=True)
    model.meshes[0].modifiers.new("Subdivision", "SUBSURF")
    active = model.armature if mode == "POSE" else model.meshes[0]
    blender.context.view_layer.objects.active = active
    active.select_set(state=True)
    blender.ops.object.mode_set(mode=mode)
    before = everything(blender)
    result = exported(model.collection, tmp_path / "a.flver", apply_modifiers=modifiers)
    assert result.written
    assert everything(blender) == before
    assert (Flver.read(result.data).meshes[0].vertex_count > 4) == modifiers
    result = exported(model.collection, tmp_path / "a.obj")
    assert result.errors
    assert everything(blender) == before
    blender.ops.object.mode_set(mode="OBJECT")


def test_what_is_in_edit_mode_counts(blender, model, tmp_path):
    import bmesh

    blender.context.view_layer.objects.active = model.meshes[0]
    blender.ops.object.mode_set(mode="EDIT")
    shape = bmesh.from_edit_mesh(model.meshes[0].data)
    shape.verts.ensure_lookup_table()
    shape.verts[0].co.x -= 0.5
    data = exported(model.collection, tmp_path / "a.flver").data
    assert Flver.read(data).vertices(0).positions[0, 0] == -0.5
    blender.ops.object.mode_set(mode="OBJECT")
    blender.context.view_layer.objects.active = model.armature
    blender.ops.object.mode_set(mode="EDIT")
    model.armature.data.edit_bones["loose"].translate(type(model.armature.location)((0, 0, 1)))
    data = exported(model.collection, tmp_path / "a.flver").data
    np.testing.assert_allclose(Flver.read(data).nodes["translation"][3], (0, 1, 5), atol=1e-6)
    blender.ops.object.mode_set(mode="OBJECT")


def test_a_pose_is_not_written(blender, model, tmp_path):
    model.armature.pose.bones["root"].rotation_euler = (0, 0, 1)
    model.armature.pose.bones["root"].rotation_mode = "XYZ"
    blender.context.view_layer.update()
    assert exported(model.collection, tmp_path / "a.flver").data == source(model.collection)
    assert exported(model.collection, tmp_path / "a.flver", apply_modifiers=True).data == source(model.collection)


def test_which_meshes_are_written(blender, model, tmp_path):
    model.meshes[0].hide_set(state=True)
    counts = {}
    for obj in blender.context.view_layer.objects:
        obj.select_set(state=obj == model.meshes[0])
    model.meshes[0].hide_set(state=False)
    model.meshes[0].select_set(state=True)
    model.meshes[1].hide_set(state=True)
    for meshes in ("ALL", "VISIBLE", "SELECTED"):
        flver = Flver.read(exported(model.collection, tmp_path / "a.flver", meshes=meshes).data)
        counts[meshes] = [mesh.dynamic for mesh in flver.meshes]
    assert counts == {"ALL": [1, 0], "VISIBLE": [1], "SELECTED": [1]}


def test_linked_models_are_written(scene_api, blender, model, tmp_path):
    name = model.collection.name
    blender.ops.wm.save_as_mainfile(filepath=str(tmp_path / "library.blend"))
    blender.ops.wm.read_factory_settings(use_empty=True)
    with blender.data.libraries.load(str(tmp_path / "library.blend"), link=True) as (_, wanted):
        wanted.collections = [name]
    blender.context.scene.collection.children.link(blender.data.collections[name])
    (collection,) = scene_api.models(blender.context)
    assert exported(collection, tmp_path / "a.flver").data == tiny.model().write()
    assert exported(collection, tmp_path / "a.flver", apply_modifiers=True).data == tiny.model().write()


def test_a_moved_mesh_object_is_written_where_it_is_seen(model, tmp_path):
    model.meshes[0].location.z += 2
    model.armature.location.x += 5  # the whole model may stand anywhere
    vertices = Flver.read(exported(model.collection, tmp_path / "a.flver").data).vertices(0)
    np.testing.assert_allclose(vertices.positions, tiny.QUAD + np.float32([0, 3, 0]), atol=1e-6)


def test_the_operator_takes_a_path_alone(blender, scene_api, binder_file, tmp_path):
    first = load(scene_api, binder_file)
    out = tmp_path / "out.flver"
    assert blender.ops.export_scene.ossuary_flver(filepath=str(out)) == {"FINISHED"}
    assert out.read_bytes() == source(first.collection)
    second = load(scene_api, binder_file)
    with pytest.raises(RuntimeError, match="Select an object"):
        blender.ops.export_scene.ossuary_flver(filepath=str(out))
    blender.context.view_layer.objects.active = second.dummies[1]
    edit(second)
    assert blender.ops.export_scene.ossuary_flver(filepath=str(out), wrapper="KRAK") == {"FINISHED"}
    assert out.read_bytes() != source(first.collection)


def test_problems_can_be_selected(blender, model, tmp_path):
    from addon.operators import problems

    obj = model.meshes[0]
    obj.data.materials.append(blender.data.materials.new("second"))
    obj.data.polygons[1].material_index = 1
    model.dummies[1]["flver_parent_name"] = "nowhere"
    with pytest.raises(RuntimeError, match="2 materials"):
        blender.ops.export_scene.ossuary_flver(filepath=str(tmp_path / "a.flver"))
    summary, found = problems.kept(blender.context)
    assert "2 problems" in summary
    assert {names[0] for _text, names, _error in found} == {obj.name, model.dummies[1].name}
    obj.hide_set(state=True)
    blender.ops.object.ossuary_select(names=f'["{obj.name}"]')
    assert blender.context.view_layer.objects.active == obj
    assert [each.name for each in blender.context.selected_objects] == [obj.name]
    assert not (tmp_path / "a.flver").exists()


def test_things_inside_the_collection_that_are_not_the_model(scene_api, blender, model, binder_file, tmp_path):
    """Another model imported into this one's collection, and a collision body, are left alone."""
    layers = blender.context.view_layer.layer_collection.children
    blender.context.view_layer.active_layer_collection = layers[model.collection.name]
    inner = load(scene_api, binder_file)
    assert inner.collection.name in model.collection.children
    body = blender.data.objects.new("h", blender.data.meshes.new("h"))
    body["collision_set"] = "h"
    model.collection.objects.link(body)
    edit(inner)
    assert exported(model.collection, tmp_path / "a.flver").data == source(model.collection)
    blender.context.view_layer.objects.active = inner.meshes[0]
    assert scene_api.chosen_model(blender.context) == inner.collection
    blender.context.view_layer.objects.active = model.armature
    assert scene_api.chosen_model(blender.context) == model.collection
