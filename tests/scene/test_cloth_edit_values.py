"""Values of cloth edited in Blender: what is written, what is not, what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from addon.codec.havok.cloth.comparing import differences
from tests.panels import drawn
from tests.scene.cloth_exports import SAMPLE, cloud, copied, every_cloth, export, exported, link, load, members, stored
from tests.scene.playing import evaluated, play, same, session
from tests.scene.test_cloth_import import cloth, values

HAT, SKIRT, MAN, BIRD = "HD_M_1140_c.hkx", "BD_M_2210_c.hkx", "c7190_c.hkx", "c4500_c.hkx"


@pytest.fixture
def bring(scene_api, corpus, tmp_path):
    """Return a function that imports a cloth; it returns the path, what was made, and the records of the file."""

    def brought(name: str):
        path = copied(corpus, name, tmp_path)
        return path, load(scene_api, path), stored(bytes(members(path)[0].data()))

    return brought


def unlike(old, new) -> set[str]:
    """Return where two files differ, with numbers left out of the trails."""
    return set(differences(old, new))


@every_cloth
def test_settings(scene_api, bring, tmp_path, name):
    _, made, old = bring(name)
    obj = cloud(made)
    obj["cloth_gravity"] = [1.0, 2.0, -7.5]
    obj["cloth_damping"] = 0.25
    new = exported(scene_api, made.collection, tmp_path / "a.hkx", insist=True)
    sim = new[0].sims[0]
    assert sim.gravity.tolist() == [1.0, -7.5, 2.0]
    assert sim.damping == np.float32(0.25)
    assert unlike(old, new) == {"datas[0].sims[0].gravity", "datas[0].sims[0].damping"}


def test_substeps_and_landscape(scene_api, bring, tmp_path):
    _, made, old = bring(SKIRT)
    obj = cloud(made)
    obj["cloth_substeps"] = 3
    new = exported(scene_api, made.collection, tmp_path / "a.hkx")
    (trail,) = unlike(old, new)
    assert trail.endswith("configs[0].substeps")
    obj["cloth_substeps"] = 0
    result = export(scene_api, made.collection, tmp_path / "b.hkx")
    assert "substeps cannot be 0" in str(result.errors[0])
    assert result.errors[0].objects == (obj.name,)
    assert not (tmp_path / "b.hkx").exists()


@every_cloth
def test_particles(scene_api, bring, tmp_path, name):
    _, made, old = bring(name)
    obj, record = cloud(made), old[0].sims[0]
    free = np.flatnonzero(record.inverse_mass > 0)[:3]
    obj.data.attributes["radius"].data[int(free[0])].value = 0.0625
    obj.data.attributes["friction"].data[int(free[1])].value = 0.75
    new = exported(scene_api, made.collection, tmp_path / "a.hkx", insist=True)
    sim = new[0].sims[0]
    assert np.flatnonzero(sim.radius != record.radius).tolist() == [free[0]]
    assert sim.radius[free[0]] == np.float32(0.0625)
    assert np.flatnonzero(sim.friction != record.friction).tolist() == [free[1]]
    assert unlike(old, new) - {"datas[0].sims[0].max_radius"} == {
        "datas[0].sims[0].radius", "datas[0].sims[0].friction",
    }  # fmt: skip


def test_mass(scene_api, bring, tmp_path):
    _, made, old = bring(SKIRT)
    obj, record = cloud(made), old[0].sims[0]
    row = int(np.flatnonzero(record.inverse_mass > 0)[0])
    obj.data.attributes["mass"].data[row].value = 0.5
    new = exported(scene_api, made.collection, tmp_path / "a.hkx")
    sim = new[0].sims[0]
    assert sim.mass[row] == np.float32(0.5)
    assert sim.inverse_mass[row] == np.float32(2)
    assert sim.total_mass != record.total_mass
    again = load(scene_api, _into_binder(scene_api, made, tmp_path))
    assert values(cloud(again).data, "mass")[row] == np.float32(0.5)
    for one in made.links:
        if one["cloth_sim"] == 0:
            other = link(again, one["cloth_set"])
            for title in ("stiffness", "bend_stiffness", "stretch_stiffness"):
                if title in one.data.attributes:
                    np.testing.assert_allclose(values(other.data, title), values(one.data, title), atol=1e-5)


def _into_binder(scene_api, made, folder):
    target = folder / "again.partsbnd.dcx"
    assert export(scene_api, made.collection, target).written
    return target


def test_mask_and_range(scene_api, bring, tmp_path):
    _, made, old = bring(SKIRT)
    obj, record = cloud(made), old[0].sims[0]
    kind = next(one for one in record.constraints if type(one).__name__ == "LocalRange")
    row = int(kind.particle[0])
    mask = int(record.masks[row]) & ~1
    obj.data.attributes["collision_mask"].data[row].value = int(np.uint32(mask).view(np.int32))
    obj.data.attributes["local_range"].data[row].value = 0.125
    new = exported(scene_api, made.collection, tmp_path / "a.hkx")
    sim = new[0].sims[0]
    assert np.flatnonzero(sim.masks != record.masks).tolist() == [row]
    assert sim.masks[row] == mask
    place = [type(one).__name__ for one in record.constraints].index("LocalRange")
    assert sim.constraints[place].max_distance[0] == np.float32(0.125)
    assert unlike(old, new) == {
        "datas[0].sims[0].masks", f"datas[0].sims[0].constraints[{place}].max_distance",
    }  # fmt: skip


@every_cloth
def test_pinning_a_particle_or_saying_why_not(scene_api, bring, tmp_path, name):
    _, made, old = bring(name)
    obj, record = cloud(made), old[0].sims[0]
    row = int(np.flatnonzero(record.inverse_mass > 0)[0])
    obj.data.attributes["pinned"].data[row].value = True
    result = export(scene_api, made.collection, tmp_path / "a.hkx", insist=True)
    if result.errors:
        assert result.errors[0].objects == (obj.name,)
        assert str(row) in str(result.errors[0])
        return
    sim = stored(result.data)[0].sims[0]
    assert sorted(sim.fixed.tolist()) == sorted([*record.fixed.tolist(), row])
    assert sim.inverse_mass[row] == sim.mass[row] == 0


@pytest.mark.parametrize("name", [HAT, SKIRT, MAN, BIRD])
def test_stiffness_of_every_kind_of_set(scene_api, bring, tmp_path, name):
    _, made, old = bring(name)
    seen = set()
    for obj in made.links:
        kind, sim, index = obj["cloth_set"], obj["cloth_sim"], obj["cloth_set_index"]
        if kind in seen or not len(obj.data.edges):
            continue
        seen.add(kind)
        titles = [t for t in ("stiffness", "bend_stiffness", "stretch_stiffness") if t in obj.data.attributes]
        assert titles
        before = {title: values(obj.data, title) for title in titles}
        for title in titles:
            obj.data.attributes[title].data[0].value = 0.375
        new = exported(scene_api, made.collection, tmp_path / "a.hkx", insist=True)
        trails = unlike(old, new)
        assert all(f".constraints[{index}]." in trail and "stiffness" in trail for trail in trails)
        assert len(trails) == len(titles)
        for title in titles:
            obj.data.attributes[title].data.foreach_set("value", before[title])
        assert not export(scene_api, made.collection, tmp_path / "b.hkx").errors
        assert (tmp_path / "b.hkx").read_bytes() == members(copied_again(tmp_path))[0].data()
        assert sim >= 0
    assert seen


def copied_again(folder):
    return next(each for each in folder.iterdir() if "bnd" in each.name and each.suffix == ".dcx")


def test_stiffness_of_ranges_and_volumes(scene_api, bring, tmp_path):
    _, made, old = bring(HAT)
    obj, record = cloud(made), old[0].sims[0]
    kinds = [type(one).__name__ for one in record.constraints]
    at, volume = kinds.index("LocalRange"), kinds.index("Volume")
    obj[f"cloth_range_stiffness_{at}"] = 0.5
    row = int(record.constraints[volume].apply_particle[0])
    obj.data.attributes[f"volume_stiffness_{volume}"].data[row].value = 0.25
    new = exported(scene_api, made.collection, tmp_path / "a.hkx")
    assert new[0].sims[0].constraints[at].stiffness == np.float32(0.5)
    assert new[0].sims[0].constraints[volume].apply_stiffness[0] == np.float32(0.25)
    assert unlike(old, new) == {
        f"datas[0].sims[0].constraints[{at}].stiffness", f"datas[0].sims[0].constraints[{volume}].apply_stiffness",
    }  # fmt: skip


def test_links_that_were_deleted_are_refused_until_reverted(scene_api, blender, bring, tmp_path):
    import bmesh

    _, made, _ = bring(HAT)
    obj = link(made, "StandardLinks")
    shape = bmesh.new()
    shape.from_mesh(obj.data)
    shape.edges.ensure_lookup_table()
    bmesh.ops.delete(shape, geom=[shape.edges[0]], context="EDGES")
    shape.to_mesh(obj.data)
    shape.free()
    result = export(scene_api, made.collection, tmp_path / "a.hkx")
    assert result.errors[0].objects == (obj.name,)
    assert "other links" in result.errors[0].text
    blender.context.view_layer.objects.active = made.points[0]
    assert blender.ops.scene.ossuary_cloth_revert(what="SIM") == {"FINISHED"}
    result = export(scene_api, made.collection, tmp_path / "a.hkx")
    assert not result.errors
    assert result.data == bytes(members(copied_again(tmp_path))[0].data())


def test_edges_in_another_order_are_the_same_links(scene_api, bring, tmp_path):
    import bmesh

    path, made, _ = bring(HAT)
    obj = link(made, "StandardLinks")
    shape = bmesh.new()
    shape.from_mesh(obj.data)
    for place, edge in enumerate(shape.edges):
        edge.index = -place
    shape.edges.sort()
    shape.to_mesh(obj.data)
    shape.free()
    result = export(scene_api, made.collection, path)
    assert (result.details, result.written) == ([], False)


def test_fields_of_the_panel_read_and_write(scene_api, blender, bring, tmp_path):
    _, made, old = bring(HAT)
    fields, one = cloud(made).ossuary_cloth, link(made, "StandardLinks")
    assert list(fields.gravity) == old[0].sims[0].gravity[[0, 2, 1]].tolist()
    assert fields.damping == old[0].sims[0].damping
    assert fields.substeps == 1
    assert not export(scene_api, made.collection, tmp_path / "same.hkx").errors
    fields.damping, fields.substeps, fields.gravity = 0.5, 2, (0, 0, -3)
    one.ossuary_cloth.stiffness = 0.25
    assert one.ossuary_cloth.stiffness == 0.25
    new = exported(scene_api, made.collection, tmp_path / "a.hkx")
    assert new[0].sims[0].damping == np.float32(0.5)
    assert new[0].sims[0].gravity.tolist() == [0, -3, 0]
    standard = new[0].sims[0].constraints[one["cloth_set_index"]]
    pair = new[0].sims[0].inverse_mass[standard.a] + new[0].sims[0].inverse_mass[standard.b]
    np.testing.assert_allclose(standard.stiffness * pair, 0.25, rtol=1e-6)


def test_set_on_selected_links_in_edit_mode(scene_api, blender, bring, tmp_path):
    import bmesh

    _, made, old = bring(HAT)
    obj = link(made, "StandardLinks")
    obj.hide_set(state=False)
    for each in blender.context.view_layer.objects:
        each.select_set(state=each == obj)
    blender.context.view_layer.objects.active = obj
    blender.ops.object.mode_set(mode="EDIT")
    shape = bmesh.from_edit_mesh(obj.data)
    shape.edges.ensure_lookup_table()
    for edge in shape.edges:
        edge.select = edge.index in {3, 4}
    assert blender.ops.mesh.ossuary_cloth_stiffness(value=0.5) == {"FINISHED"}
    new = exported(scene_api, made.collection, tmp_path / "a.hkx")  # what is being edited counts
    place = obj["cloth_set_index"]
    before, after = (file[0].sims[0].constraints[place].stiffness for file in (old, new))
    assert np.flatnonzero(before != after).tolist() == [3, 4]
    blender.ops.object.mode_set(mode="OBJECT")
    np.testing.assert_array_equal(exported(scene_api, made.collection, tmp_path / "b.hkx")[0].sims[0].constraints[
        place].stiffness, after)  # fmt: skip


# playing


def test_playing_plays_what_is_edited(scene_api, scene, player, bring):
    _, made, _ = bring(HAT)
    play(scene, *range(1, 21))
    before, first = [evaluated(obj) for obj in made.meshes], session(player)
    cloud(made)["cloth_gravity"] = [0.0, 0.0, 9.0]
    play(scene, 21)
    assert session(player) is not first
    assert list(session(player).frames) == [21]
    play(scene, *range(1, 21))
    assert session(player).setup.layout.sims[0].record.gravity.tolist() == [0, 9, 0]
    assert not same([evaluated(obj) for obj in made.meshes], before)
    again = session(player)
    play(scene, 21, 22)
    assert session(player) is again


def test_an_edit_that_cannot_be_is_said_while_the_rest_plays(scene_api, scene, player, bring, tmp_path):
    from addon.ui.cloth import REFUSED, VIEW3D_PT_ossuary_cloth
    from addon.ui.cloth_edit import VIEW3D_PT_ossuary_cloth_changes

    _, made, _ = bring(HAT)
    play(scene, 1, 2)
    first, panels = session(player), (VIEW3D_PT_ossuary_cloth, VIEW3D_PT_ossuary_cloth_changes)
    cloud(made)["cloth_substeps"] = 1000
    play(scene, 3)
    (said,) = player.refused(made.collection)
    assert "substeps cannot be 1000" in said
    assert (session(player), player.problem(made.collection)) == (first, "")
    assert [each.type for each in made.meshes[0].modifiers] == ["ARMATURE", "NODES"]
    for panel in panels:
        text = " ".join(drawn(panel))
        assert said in text
        assert REFUSED in text
    cloud(made)["cloth_gravity"] = [0.0, 0.0, 9.0]
    play(scene, 4)
    assert session(player).setup.layout.sims[0].record.gravity.tolist() == [0, 9, 0]
    assert player.refused(made.collection) == [said]
    assert not export(scene_api, made.collection, tmp_path / "a.hkx").written
    cloud(made)["cloth_substeps"] = 1
    assert not player.refused(made.collection)
    assert not any(REFUSED in " ".join(drawn(panel)) for panel in panels)
    play(scene, 5)
    assert not player.problem(made.collection)


def test_a_collidable_that_cannot_be_plays_as_in_the_file(scene_api, scene, player, bring, tmp_path):
    _, made, old = bring(SKIRT)
    made.collidables[0].scale = 1, 2, 3
    assert export(scene_api, made.collection, tmp_path / "a.hkx").errors
    play(scene, 1, 2)
    assert len(player.refused(made.collection)) == 1
    assert not unlike(old, session(player).file)


def test_bakes_warn_of_what_is_refused(scene_api, scene, blender, player, bring, tmp_path):
    from addon.scene.cloth.bake import bake

    _, made, _ = bring(HAT)
    scene.frame_end = 3
    cloud(made)["cloth_substeps"] = 1000
    result = bake(blender.context, player, tmp_path / "cache")
    assert result.files
    assert [each for each in result.warnings if "refused: " in each and "substeps" in each]


# checks before writing


def test_a_cloth_that_explodes_is_written_only_if_insisted(scene_api, blender, bring, tmp_path):
    from addon.operators import problems

    _, made, _ = bring(SKIRT)
    obj = cloud(made)
    obj["cloth_gravity"] = [0.0, 0.0, 1e7]
    obj.data.attributes["local_range"].data.foreach_set("value", np.full(len(obj.data.points), -1, np.float32))
    out = tmp_path / "a.hkx"
    with pytest.raises(RuntimeError, match="Write Even If Faulty"):
        blender.ops.export_scene.ossuary_cloth(filepath=str(out))
    assert not out.exists()
    (found,) = problems.kept(blender.context)[1]
    assert "runs away" in found[0]
    assert found[1] == [obj.name]  # of the other cloths there is nothing to say
    assert "BD_Skirt" not in found[0].removeprefix(f"{obj.name}: ")
    assert blender.ops.object.ossuary_select(names=f'["{found[1][0]}"]') == {"FINISHED"}
    assert blender.context.view_layer.objects.active == obj
    assert blender.ops.export_scene.ossuary_cloth(filepath=str(out), insist=True) == {"FINISHED"}
    assert stored(out.read_bytes())[0].sims[0].gravity[1] == np.float32(1e7)
    assert "runs away" in problems.kept(blender.context)[1][0][0]


def test_what_no_longer_fits_together_is_written_only_if_insisted(scene_api, bring, tmp_path, monkeypatch):
    from addon.cloth.edits import Fault
    from addon.scene.cloth import exports

    path, made, _ = bring(HAT)
    monkeypatch.setattr(exports, "new_faults", lambda *_: [Fault(0, "rest length", "", "HD_hat: a link is too long.")])
    assert export(scene_api, made.collection, path).details == []  # what nobody edited is not examined
    cloud(made)["cloth_damping"] = 0.5
    result = export(scene_api, made.collection, tmp_path / "a.hkx")
    (problem,) = result.errors
    assert (problem.text, problem.objects) == ("a link is too long.", (cloud(made).name,))
    result = export(scene_api, made.collection, tmp_path / "b.hkx", insist=True)
    assert result.written
    assert [each.text for each in result.warnings] == ["a link is too long."]


def test_properties_that_are_no_numbers_are_refused(scene_api, bring, tmp_path):
    _, made, _ = bring(HAT)
    obj = cloud(made)
    for key, value in (("cloth_damping", "much"), ("cloth_gravity", [1.0]), ("cloth_substeps", [1, 2])):
        before = obj[key] if isinstance(obj[key], (int, float)) else list(obj[key])
        obj[key] = value
        result = export(scene_api, made.collection, tmp_path / "a.hkx")
        assert result.errors[0].objects == (obj.name,)
        assert "that is none" in result.errors[0].text
        obj[key] = before
    assert not export(scene_api, made.collection, tmp_path / "a.hkx").errors


def test_two_cloths_in_a_scene_do_not_meet(scene_api, blender, bring, corpus, tmp_path):
    path, made, old = bring(HAT)
    other = load(scene_api, copied(corpus, SAMPLE, tmp_path))
    twin = cloth(scene_api, path)
    cloud(made)["cloth_damping"] = 0.5
    cloud(other)["cloth_damping"] = 0.25
    assert exported(scene_api, made.collection, tmp_path / "a.hkx")[0].sims[0].damping == np.float32(0.5)
    assert exported(scene_api, other.collection, tmp_path / "b.hkx")[0].sims[0].damping == np.float32(0.25)
    assert not unlike(old, exported(scene_api, twin.collection, tmp_path / "c.hkx"))


def test_points_that_are_gone_or_copied(scene_api, blender, bring, tmp_path):
    path, made, _ = bring(HAT)
    obj = cloud(made)
    twin = obj.copy()
    obj.users_collection[0].objects.link(twin)
    twin["cloth_damping"] = 0.5
    result = export(scene_api, made.collection, path)
    assert (result.errors, result.written) == ([], False)
    assert result.warnings[0].objects == (twin.name,)
    blender.data.objects.remove(twin)
    blender.data.objects.remove(obj)
    result = export(scene_api, made.collection, path)
    assert (result.errors, result.written) == ([], False)
    assert "HD_hat: its points are gone" in str(result.warnings[0])
    link(made, "StandardLinks").ossuary_cloth.stiffness = 0.25
    blender.data.objects.remove(link(made, "StretchLinks"))
    assert not export(scene_api, made.collection, path).written
    blender.context.view_layer.objects.active = made.armature
    assert blender.ops.scene.ossuary_cloth_revert(what="ALL") == {"FINISHED"}
    anew = [each for each in made.collection.all_objects if each.get("cloth_sim") == 0]
    assert len([each for each in anew if each["cloth_kind"] == "points"]) == 1
    assert len([each for each in anew if each["cloth_kind"] == "links"]) == 3
    result = export(scene_api, made.collection, path)
    assert (result.details, result.written) == ([], False)


def test_a_problem_of_one_cloth_leaves_the_edits_of_others(scene_api, bring):
    from addon.scene.cloth.edits import edited_cloth

    _, made, _ = bring(HAT)
    cloud(made, 0)["cloth_gravity"] = "down"
    cloud(made, 1)["cloth_damping"] = 0.5
    edited = edited_cloth(made.collection)
    assert len(edited.errors) == 1
    assert [(each.sim, each.what) for each in edited.changes] == [(1, "damping")]


def test_attributes_that_were_converted_are_said_until_reverted(scene_api, blender, bring):
    path, made, _ = bring(HAT)
    obj, bound = cloud(made), link(made, "StandardLinks")
    for data, name in ((obj.data, "friction"), (obj.data, "rest"), (bound.data, "stiffness")):
        data.attributes.remove(data.attributes[name])
        data.attributes.new(name, "INT", "POINT")
        (error,) = export(scene_api, made.collection, path).errors
        assert f"an attribute {name} of another type" in error.text
        blender.context.view_layer.objects.active = obj
        if name == "friction":
            with pytest.raises(RuntimeError, match="convert it back"):
                blender.ops.object.ossuary_cloth_edit()
            assert not [each for each in blender.data.meshes if each.name.endswith("Edit")]
        assert blender.ops.scene.ossuary_cloth_revert(what="SIM") == {"FINISHED"}
        result = export(scene_api, made.collection, path)
        assert (result.details, result.written) == ([], False)


def test_points_moved_as_an_object_are_told_of(scene_api, bring):
    path, made, _ = bring(HAT)
    cloud(made).location.z += 0.5
    result = export(scene_api, made.collection, path)
    assert (result.errors, result.written) == ([], False)
    assert "moves no particle" in result.warnings[0].text
    assert result.warnings[0].objects == (cloud(made).name,)


def test_what_cannot_be_is_said_with_one_name(scene_api, bring, tmp_path):
    _, made, _ = bring(SKIRT)
    obj = cloud(made)
    obj.name = "My skirt"
    obj.data.attributes["pinned"].data[0].value = False
    (problem,) = export(scene_api, made.collection, tmp_path / "a.hkx").errors
    assert str(problem) == "My skirt: particle 0 cannot be freed, having no links."
