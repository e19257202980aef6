"""The add-on's preferences: defaults, folders, colours, and how they reach imports."""

from __future__ import annotations

import pytest

from addon.codec.source import Game
from tests.scene.collision_files import area


@pytest.fixture
def stored(scene):
    """Return the preferences as Blender keeps them for an add-on that is switched on."""
    import bpy

    entry = bpy.context.preferences.addons.new()
    entry.module = "addon"
    yield entry.preferences
    bpy.context.preferences.addons.remove(entry)


def read():
    import bpy

    from addon.operators.preferences import preferences

    return preferences(bpy.context)


def test_without_an_add_on_they_are_the_defaults(scene):
    from addon.scene import Preferences

    assert read() == Preferences()


def test_what_the_user_sets_arrives(stored, tmp_path):
    from addon.scene import GameFolders
    from addon.scene.collision.keys import CollisionSet
    from addon.scene.collision.shades import SET_COLORS

    assert read().folders == GameFolders()
    for name, shade in SET_COLORS.items():
        assert read().colors[name] == pytest.approx(shade, abs=1e-6)
    stored.sekiro_folder = f' "{tmp_path}" '
    stored.elden_ring_folder = str(tmp_path / "other")
    stored.color_f = (1, 0, 0)
    stored.cloth = False
    assert read().folders == GameFolders(tmp_path, tmp_path / "other")
    assert read().colors[CollisionSet.FALL] == (0.0, 1.0, 0.5)
    assert (read().textures, read().cloth, read().dummies) == (True, False, True)
    with pytest.raises(AttributeError):
        read().textures = False


def test_a_folder_is_told_about(stored, tmp_path):
    assert stored.told("sekiro_folder", Game.SEKIRO)[0] == "INFO"
    stored.sekiro_folder = str(tmp_path)
    icon, text = stored.told("sekiro_folder", Game.SEKIRO)
    assert icon == "ERROR"
    assert "chr, parts, mtd/allmaterialbnd.mtdbnd.dcx" in text
    for name in ("chr", "parts", "mtd"):
        (tmp_path / name).mkdir()
    (tmp_path / "mtd" / "AllMaterialBnd.mtdbnd.dcx").touch()
    (tmp_path / "chr" / "c1000.chrbnd.dcx").touch()
    assert stored.told("sekiro_folder", Game.SEKIRO) == (
        "CHECKMARK", "Found Sekiro's materials, parts and characters (1)",
    )  # fmt: skip


def test_a_colour_recolours_what_is_there_and_colours_what_comes(stored, tmp_path):
    import bpy

    path = next(iter(area(tmp_path).values()))
    bpy.ops.import_scene.ossuary_collision(filepath=str(path), color="SET")
    material = next(each for each in bpy.data.materials if each.name.startswith("Collision h"))
    faces = [obj.data.polygons[0].material_index for obj in bpy.data.objects if obj.type == "MESH"]
    stored.color_h = (0.0, 0.5, 0.0)
    assert tuple(material.diffuse_color) == pytest.approx((0.0, 0.5, 0.0, 1.0), abs=1e-3)
    assert faces == [obj.data.polygons[0].material_index for obj in bpy.data.objects if obj.type == "MESH"]
    bpy.ops.import_scene.ossuary_collision(filepath=str(path), color="SET")
    assert tuple(material.diffuse_color) == pytest.approx((0.0, 0.5, 0.0, 1.0), abs=1e-3)
    assert len([each for each in bpy.data.materials if each.name.startswith("Collision h")]) == 1


def test_the_operator_hands_the_folders_down(stored, tmp_path, monkeypatch, tiny_file):
    import bpy

    from addon.operators import import_flver
    from addon.scene import GameFolders, api

    seen = []
    real = api.import_flver
    monkeypatch.setattr(
        api, "import_flver", lambda *args, **options: seen.append((args[2], options)) or real(*args, **options)
    )
    stored.elden_ring_folder = str(tmp_path)
    bpy.ops.import_scene.ossuary_flver(filepath=str(tiny_file), textures=False)
    bpy.ops.import_scene.ossuary_flver(filepath=str(tiny_file))
    (plain, _), (textured, options) = seen
    assert textured.folders == GameFolders(elden_ring=tmp_path)
    assert (plain.textures, textured.textures) == (False, True)
    assert options["index"] is import_flver.IMPORT_SCENE_OT_ossuary_flver.index
