"""Cloth files in the scene: points, links, collidables, and what they are bound to."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from addon.codec import Binder, Dcx, Tagfile, read_cloth
from addon.codec.source import Kind, open_source
from tests.panels import drawn

HAT, MAN, BIRD, SKIRT = (
    "eldenring/hd_m_1140.partsbnd.dcx", "sekiro/c7190.chrbnd.dcx", "eldenring/c4500.chrbnd.dcx",
    "eldenring/bd_f_9002_l.partsbnd.dcx",
)  # fmt: skip


def stored(path):
    member = next(member for member in open_source(path).members if member.kind == Kind.CLOTH)
    return read_cloth(Tagfile.read(member.data(), None, member.name))


def model(scene_api, path, **settings):
    import bpy

    result = scene_api.import_flver(bpy.context, [path], scene_api.FlverSettings(**settings))
    assert not result.failures
    return result.models[0]


def cloth(scene_api, path, **settings):
    import bpy

    result = scene_api.import_cloth(bpy.context, [path], scene_api.ClothSettings(**settings))
    assert not result.failures
    return result.cloths[0]


def values(data, name, kind="value"):
    attribute = data.attributes[name]
    size = 3 if kind == "vector" else 1
    dtype = {"FLOAT": "f4", "FLOAT_VECTOR": "f4", "BOOLEAN": "?", "INT": "i4"}[attribute.data_type]
    found = np.empty(size * len(attribute.data), dtype)
    attribute.data.foreach_get(kind, found)
    return found.reshape(-1, 3) if size == 3 else found


def test_points_have_what_the_particles_have(scene_api, corpus):
    made, file = cloth(scene_api, corpus(SKIRT)), stored(corpus(SKIRT))
    sims = [sim for data in file for sim in data.sims]
    assert [obj.type for obj in made.points] == ["POINTCLOUD"] * len(sims)
    for obj, sim in zip(made.points, sims, strict=True):
        np.testing.assert_array_equal(values(obj.data, "position", "vector"), sim.poses[0][:, [0, 2, 1]])
        for name, expected in (
            ("radius", sim.radius), ("mass", sim.mass), ("inverse_mass", sim.inverse_mass), ("friction", sim.friction),
        ):  # fmt: skip
            np.testing.assert_array_equal(values(obj.data, name), expected)
        np.testing.assert_array_equal(np.flatnonzero(values(obj.data, "pinned")), np.sort(sim.fixed))
        np.testing.assert_array_equal(values(obj.data, "collision_mask").view(np.uint32), sim.masks)
        reach = values(obj.data, "local_range")
        ranges = next(one for one in sim.constraints if type(one).__name__ == "LocalRange")
        np.testing.assert_array_equal(reach[ranges.particle], ranges.max_distance)
        assert (np.delete(reach, ranges.particle) == -1).all()


def test_pinned_points_are_drawn_with_a_material_of_their_own(scene_api, corpus):
    import bpy

    made = cloth(scene_api, corpus(HAT))
    cloud = made.points[0]
    graph = bpy.context.evaluated_depsgraph_get()
    drawn = [
        [slot.name for slot in each.object.data.materials if slot is not None]
        for each in graph.object_instances
        if each.is_instance and each.parent.original is cloud
    ]
    assert drawn == [["Ossuary pinned"]] * np.count_nonzero(values(cloud.data, "pinned"))
    assert len(cloud.evaluated_get(graph).data.points) == np.count_nonzero(~values(cloud.data, "pinned"))


def test_links_are_edges_by_set(scene_api, corpus):

    made, file = cloth(scene_api, corpus(HAT), links=True), stored(corpus(HAT))
    sim = file[0].sims[0]
    standard = next(one for one in sim.constraints if type(one).__name__ == "StandardLinks")
    obj = next(obj for obj in made.links if obj["cloth_set"] == "StandardLinks")
    pairs = np.empty(2 * len(obj.data.edges), np.int32)
    obj.data.edges.foreach_get("vertices", pairs)
    np.testing.assert_array_equal(pairs.reshape(-1, 2), np.stack([standard.a, standard.b], 1))
    np.testing.assert_array_equal(values(obj.data, "position", "vector"), sim.poses[0][:, [0, 2, 1]])


def test_collidables_stand_where_the_cloth_has_them_and_follow_their_bone(scene_api, corpus):
    import bpy

    made, file = model(scene_api, corpus(SKIRT)).cloths[0], stored(corpus(SKIRT))
    bpy.context.scene.ossuary_cloth.collidables = True
    references = [one for data in file for sim in data.sims for one in sim.collidables]
    assert len(made.collidables) == len({id(one) for one in references}) < len(references)
    bpy.context.view_layer.update()
    by_name = {one.name: one for one in references}
    for obj in made.collidables:
        stored_place = by_name[obj["cloth_name"]].transform[:3, 3]
        np.testing.assert_allclose(np.array(obj.matrix_world)[[0, 2, 1], 3], stored_place, atol=1e-4)
        assert len(obj.data.polygons) > 100
    obj = made.collidables[0]
    bone = made.armature.pose.bones[obj.parent_bone]
    before = np.array(obj.matrix_world)
    bone.location = (0, 0.5, 0)
    bpy.context.view_layer.update()
    assert np.linalg.norm(np.array(obj.matrix_world)[:3, 3] - before[:3, 3]) == pytest.approx(0.5, abs=1e-5)


def test_display_buffers_find_their_meshes(scene_api, corpus):
    made = model(scene_api, corpus(MAN))
    sims = made.cloths[0]
    assert not sims.warnings
    names = {obj.data["flver_mesh"]: len(obj.data.vertices) for obj in sims.meshes}
    assert sorted(names.values()) == [8, 22, 91, 347, 621, 906, 2670]
    assert sims.collection.name in {child.name for child in made.collection.children}


def test_a_mesh_that_is_missing_is_named(scene_api, corpus):
    import bpy

    made = model(scene_api, corpus(MAN), cloth=False)
    lost = next(obj for obj in made.meshes if len(obj.data.vertices) == 2670)
    bpy.data.objects.remove(lost)
    bpy.context.view_layer.objects.active = made.armature
    found = cloth(scene_api, corpus(MAN))
    assert found.armature == made.armature
    assert any("c7110_hair01" in warning and "no mesh" in warning for warning in found.warnings)
    assert len(found.meshes) == 6


def test_meshes_that_fit_alike_are_named(scene_api, corpus):
    import bpy

    made = model(scene_api, corpus(HAT), cloth=False)
    hat = next(obj for obj in made.meshes if len(obj.data.vertices) == 494)
    twin = hat.copy()
    twin.data = hat.data.copy()
    made.collection.objects.link(twin)
    bpy.context.view_layer.update()
    found = cloth(scene_api, corpus(HAT))
    (warning,) = found.warnings
    first, second = sorted((hat.name, twin.name), key=[obj.name for obj in found.armature.children_recursive].index)
    assert warning == f"Cloth buffer HD_hat of 494 vertices fits meshes {first}, {second}; the first is used."
    assert first in [obj.name for obj in found.meshes]


def test_a_bone_that_the_armature_lacks_is_named(scene_api, corpus):
    assert any("TwistRoot" in warning for warning in model(scene_api, corpus(BIRD)).cloths[0].warnings)


def test_cloth_without_a_model_comes_on_its_own_skeleton(scene_api, corpus):
    made, file = cloth(scene_api, corpus(HAT)), stored(corpus(HAT))
    assert [bone["flver_name"] for bone in made.armature.data.bones] == list(file.skeleton.bones)
    assert any("its own file" in warning for warning in made.warnings)


def test_cloth_on_meshes_that_other_cloth_moves_is_told_of(scene_api, tmp_path):
    from tests.sample import write_sample

    (file,) = write_sample(tmp_path)
    first = model(scene_api, file).cloths[0]
    assert not first.warnings
    second = cloth(scene_api, file)
    assert second.meshes == first.meshes
    assert [text for text in second.warnings if text.startswith(f"{first.collection.name} moves the same meshes")]


def test_cloth_held_twice_comes_once(scene_api, corpus):
    import bpy

    result = scene_api.import_flver(bpy.context, [corpus("eldenring/hd_m_9000.partsbnd.dcx")])
    assert len(result.models[0].cloths) == 1
    assert any("HD_M_1630_c.hkx twice" in warning for warning in result.details)


def test_a_file_of_collidables_alone_says_what_to_do(scene_api, corpus):
    import bpy

    result = scene_api.import_cloth(bpy.context, [corpus("eldenring/wp_a_0213.partsbnd.dcx")])
    assert not result.cloths
    assert "add them to a cloth" in result.failures[0][1]
    assert not bpy.data.objects
    assert not bpy.data.collections


def binder_of(corpus, name):
    """Return the binder in a file of the corpus, and its cloth file's entry."""
    binder = Binder.read(Dcx.read(corpus(name).read_bytes()).content)
    return binder, next(each for each in binder.entries if each.name.lower().endswith("_c.hkx"))


def test_cloths_of_one_name_that_differ_both_come(scene_api, corpus, tmp_path):
    binder, entry = binder_of(corpus, HAT)
    tag = Tagfile.read(entry.data)
    next(tag.find("hclSimClothData")).one("simulationInfo")["globalDampingPerSecond"] = 0.25
    other = replace(entry, data=tag.write())
    path = tmp_path / "two.partsbnd"
    binder.entries.append(other)
    path.write_bytes(binder.write())
    assert len(model(scene_api, path).cloths) == 2


def authoring(data):
    """Return a cloth file that says it holds what cloth is authored from."""
    tag = Tagfile.read(data.replace(b"hclClothContainer\0", b"hclClothSetupCont\0"))
    variants = tag.root.many("namedVariants")
    for place in range(len(variants)):
        variant = variants.at(place)
        if variant.text("className") == "hclClothSetupCont":
            variant["className"] = "hclClothSetupContainer"
    return tag.write()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (authoring, "only what cloth is authored from"),
        (lambda data: b"\x57\xe0\xe0\x57\x10\xc0\xc0\x10" + data[8:], "is a Havok packfile"),
    ],
)
def test_files_that_cannot_play_are_named(scene_api, corpus, tmp_path, change, said):
    import bpy

    binder, entry = binder_of(corpus, HAT)
    entry.data = change(bytes(entry.data))
    path = tmp_path / "odd.partsbnd"
    path.write_bytes(binder.write())
    assert said in scene_api.import_cloth(bpy.context, [path]).failures[0][1]
    result = scene_api.import_flver(bpy.context, [path])
    assert result.models
    assert any(said in line for line in result.details)


def test_what_is_not_simulated_is_said_in_report_and_panel(scene_api, scene, corpus, tmp_path):
    import bpy

    binder, entry = binder_of(corpus, HAT)
    tag = Tagfile.read(entry.data)
    sim = next(tag.find("hclSimClothData"))
    sim["landscapeCollisionEnabled"], sim.one("virtualCollisionPointsData")["numVCPoints"] = 1, 12
    entry.data = tag.write()
    path = tmp_path / "grounded.partsbnd"
    path.write_bytes(binder.write())
    panel = bpy.types.VIEW3D_PT_ossuary_cloth
    said = ("ollision with the landscape is not simulated", "irtual collision points are not simulated")
    for file, count in ((corpus(HAT), 0), (path, 1)):
        warnings = model(scene_api, file).cloths[0].warnings
        assert [sum(text in line for line in warnings) for text in said] == [count, count]
        shown = " ".join(drawn(panel))  # long lines are divided
        assert [shown.count(text) for text in said] == [count, count]


def test_the_panels_offer_all_there_is(scene_api, scene, player, corpus):
    import bpy

    from addon.operators.cloth_playback import SETS

    model(scene_api, corpus(HAT))
    for frame in (1, 2):
        scene.frame_set(frame)
    seen = drawn(bpy.types.VIEW3D_PT_ossuary_cloth)
    operators = [f"scene.ossuary_cloth_{name}" for name in ("reset", "live", "bake", "collidables")]
    assert {"play", "points", "links", "collidables", "screen.animation_play", *operators} <= {*seen}
    assert any("steps a second" in text for text in seen)
    assert any("2 frames kept, " in text for text in seen)
    settings = drawn(bpy.types.VIEW3D_PT_ossuary_cloth_settings)
    offered = {
        "state", "rate", "substeps", "settle", "own_gravity", "gravity", "gravity_scale", "own_damping", "damping",
        "wind", "roots", "memory", "collisions", *SETS,
    }  # fmt: skip
    assert offered <= {*settings}


def test_a_damaged_cloth_leaves_the_model(scene_api, corpus, tmp_path):
    import bpy

    binder, entry = binder_of(corpus, HAT)
    entry.data = entry.data[: len(entry.data) // 2]
    path = tmp_path / "damaged.partsbnd"
    path.write_bytes(binder.write())
    result = scene_api.import_flver(bpy.context, [path])
    assert result.models
    assert not result.models[0].cloths
    assert not bpy.data.pointclouds


def test_the_operator_and_the_drop_table_reach_it(scene_api, corpus):
    import bpy

    path = corpus(HAT)
    assert bpy.ops.import_scene.ossuary_cloth(filepath=str(path)) == {"FINISHED"}
    assert len(bpy.data.pointclouds) == 2
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.ops.wm.drop_import_file("INVOKE_DEFAULT", directory=str(path.parent), files=[{"name": path.name}])
    assert len(bpy.data.pointclouds) == 2  # once, with the model
    bpy.ops.wm.read_factory_settings(use_empty=True)
    assert bpy.ops.import_scene.ossuary_flver(filepath=str(path), cloth=False) == {"FINISHED"}
    assert not bpy.data.pointclouds
