"""The feel of cloth copied and kept, changes listed, edits reverted, panels drawn."""

from __future__ import annotations

import json

import numpy as np
import pytest

from tests.panels import drawn
from tests.scene.cloth_exports import SAMPLE, cloud, copied, export, exported, link, load, members
from tests.scene.playing import play
from tests.scene.test_cloth_import import values

HAT, SKIRT, MAN = "HD_M_1140_c.hkx", "BD_M_2210_c.hkx", "c7190_c.hkx"


@pytest.fixture
def bring(scene_api, corpus, tmp_path):
    def brought(name: str):
        path = copied(corpus, name, tmp_path)
        return path, load(scene_api, path)

    return brought


def activate(obj):
    import bpy

    bpy.context.view_layer.objects.active = obj


def listed(collection) -> list[str]:
    from addon.operators.cloth_playback import UsesPlayer

    return [each.text for each in UsesPlayer.player_now().edited.of(collection).changes]


def test_feel_goes_to_another_cloth_and_back(scene_api, blender, bring, tmp_path):
    _, skirt = bring(SKIRT)
    _, hat = bring(HAT)
    before = exported(scene_api, hat.collection, tmp_path / "hat.hkx")[0].sims[0]
    cloud(hat).data.attributes["radius"].data[2].value = 0.5
    cloud(skirt)["cloth_damping"] = 0.75  # what is edited is copied as it is edited
    activate(cloud(skirt))
    assert blender.ops.scene.ossuary_cloth_feel_copy() == {"FINISHED"}
    activate(cloud(hat))
    assert blender.ops.scene.ossuary_cloth_feel_paste() == {"FINISHED"}
    after = exported(scene_api, hat.collection, tmp_path / "a.hkx", insist=True)[0].sims[0]
    source = exported(scene_api, skirt.collection, tmp_path / "skirt.hkx")[0].sims[0]
    assert after.damping == source.damping != before.damping
    free = before.inverse_mass > 0
    assert set(after.mass[free].tolist()) <= set(source.mass.tolist())
    assert after.radius[2] == np.float32(0.5)  # other edits stay
    np.testing.assert_array_equal(after.fixed, before.fixed)


def test_feel_is_kept_in_files(scene_api, blender, bring, tmp_path):
    _, made = bring(HAT)
    obj = cloud(made)
    activate(obj)
    file = tmp_path / "soft"
    assert blender.ops.scene.ossuary_cloth_feel_save(filepath=str(file)) == {"FINISHED"}
    kept = file.with_suffix(".json")
    assert json.loads(kept.read_text())["damping"] == pytest.approx(obj["cloth_damping"])
    obj["cloth_damping"] = 0.0625
    link(made, "StandardLinks").ossuary_cloth.stiffness = 0.125
    assert len(listed(made.collection)) == 2
    assert blender.ops.scene.ossuary_cloth_feel_load(filepath=str(kept)) == {"FINISHED"}
    assert not listed(made.collection)
    kept.write_text("{}")
    with pytest.raises(RuntimeError, match="not the feel of a cloth"):
        blender.ops.scene.ossuary_cloth_feel_load(filepath=str(kept))
    with pytest.raises(RuntimeError, match="No such file"):
        blender.ops.scene.ossuary_cloth_feel_load(filepath=str(tmp_path / "absent.json"))


def test_nothing_copied_is_said(blender, bring):
    _, made = bring(HAT)
    blender.context.window_manager.ossuary_cloth_feel = ""
    activate(cloud(made))
    with pytest.raises(RuntimeError, match="Copy the feel of a cloth first"):
        blender.ops.scene.ossuary_cloth_feel_paste()


def test_changes_are_listed_in_words(scene_api, blender, bring):
    _, made = bring(SKIRT)
    assert listed(made.collection) == []
    obj = cloud(made)
    obj["cloth_damping"] = 0.5
    free = int(np.flatnonzero(values(obj.data, "inverse_mass") > 0)[0])
    obj.data.attributes["radius"].data[free].value = 0.25
    obj.data.attributes["rest"].data[free].vector.z += 0.01
    obj.data.update_tag()
    made.collidables[0].location.x += 0.1
    text = "\n".join(listed(made.collection))
    for word in ("damping", "1 particle: radius", "1 particle moved", "collidable BD_M_2210_Collidable_L_Calf: moved"):
        assert word in text


def test_all_is_reverted(scene_api, blender, bring, tmp_path):
    path, made = bring(SKIRT)
    name = made.collection.name
    for obj in made.points:
        obj["cloth_gravity"], obj["cloth_substeps"] = [1, 2, 3], 2
        for title in ("radius", "mass", "friction", "local_range"):
            obj.data.attributes[title].data.foreach_set("value", np.full(len(obj.data.points), 0.5, np.float32))
        obj.data.attributes["rest"].data[0].vector.z += 0.25
    for obj in made.links:
        for title in ("stiffness", "bend_stiffness", "stretch_stiffness"):
            if title in obj.data.attributes:
                setattr(obj.ossuary_cloth, title, 0.5)
    blender.data.objects.remove(made.collidables[0])
    activate(cloud(made))
    assert blender.ops.scene.ossuary_cloth_revert(what="SIM") == {"FINISHED"}
    assert listed(made.collection)  # the others
    assert blender.ops.scene.ossuary_cloth_revert(what="ALL") == {"FINISHED"}
    result = export(scene_api, blender.data.collections[name], path)
    assert (result.details, result.written) == ([], False)


def test_reverting_while_playing_and_after_unregistering(scene_api, scene, player, blender, bring, tmp_path):
    import addon

    path, made = bring(SAMPLE)
    play(scene, 1, 2)
    cloud(made)["cloth_damping"] = 0.5
    play(scene, 3)
    activate(cloud(made))
    assert blender.ops.scene.ossuary_cloth_revert(what="ALL") == {"FINISHED"}
    play(scene, 4)
    assert not player.problems
    addon.unregister()
    try:
        for name in ("ossuary_cloth",):
            assert not hasattr(blender.types.Object, name)
        assert not hasattr(blender.types.WindowManager, "ossuary_cloth_feel")
        cloud(made)["cloth_damping"] = 0.25
        assert exported(scene_api, made.collection, tmp_path / "a.hkx")[0].sims[0].damping == np.float32(0.25)
    finally:
        addon.register()
    assert bytes(members(path)[0].data()) != (tmp_path / "a.hkx").read_bytes()


def test_panels_show_what_is_active(scene_api, blender, bring):
    from addon.ui import cloth_edit

    _, made = bring(SKIRT)
    edit, changes = cloth_edit.VIEW3D_PT_ossuary_cloth_edit, cloth_edit.VIEW3D_PT_ossuary_cloth_changes
    activate(made.armature)
    assert any("Select points" in text for text in drawn(edit))
    assert "As in the file" in drawn(changes)
    activate(cloud(made))
    seen = drawn(edit)
    assert {"gravity", "damping", "object.ossuary_cloth_edit"} <= set(seen)
    assert seen.index("Stiffness:") < seen.index("stiffness")
    cloud(made)["cloth_damping"] = 0.5
    assert any("damping" in text for text in drawn(changes))
    cloud(made)["cloth_substeps"] = 0
    assert "cannot be 0" in " ".join(drawn(changes))
    activate(made.collidables[0])
    seen = drawn(edit)
    assert "name_stored" in seen
    assert seen.index("Met by:") < seen.index("object.ossuary_cloth_collidable_meets")
    activate(cloud(made))
    blender.ops.object.ossuary_cloth_edit()
    assert "object.ossuary_cloth_apply" in drawn(edit)
    assert "Without what is in edit mode" in drawn(changes)
    blender.ops.object.ossuary_cloth_cancel()
    assert "Without what is in edit mode" not in drawn(changes)
