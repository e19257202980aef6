"""Textures of imported models: images, nodes, what is missing or damaged, and that exports do not change."""

from __future__ import annotations

import math

import numpy as np
import pytest

from addon.codec import Binder, Dcx
from addon.codec.binder import Entry
from addon.codec.flver import Material, Texture
from addon.codec.mtd import Mtd, Sampler
from tests.scene import tiny
from tests.scene.shown import load
from tests.textures import MaterialSample, make_matbin, make_mtd, make_tpf, picture

ALBEDO, METAL, NORMAL, GLOW = (
    f"C_AMSN_snp_Texture2D_{name}" for name in ("2_AlbedoMap_0", "0_MetallicMap_0", "7_NormalMap_4", "9_EmissiveMap")
)
SKY = picture(np.full((4, 4, 4), (100, 150, 200, 255)))
BENT = picture(np.full((4, 4, 4), (159, 127, 64, 255)))  # towards +U, gloss of a quarter


def flags() -> bytes:
    """Return a picture whose upper row is red, the rest blue and see-through."""
    pixels = np.full((4, 4, 4), (0, 0, 255, 0), np.uint8)
    pixels[0] = (255, 0, 0, 255)
    return picture(pixels)


def model(*names: str, textures: tuple[tuple[str, str], ...] = ((ALBEDO, "sky_a.tif"), (NORMAL, "bent_n.tif"))):
    flver = tiny.model()
    flver.materials = [
        Material(name, f"N:\\NTC\\x\\{name}.mtd", [Texture(kind, path) for kind, path in textures])
        for name in names or ("one", "two")
    ]
    for material in flver.materials:
        for texture in material.textures:
            texture.record["scale"] = 1
    flver.meshes[1].material = len(flver.materials) - 1
    return flver


def write(path, flver, textures: dict[str, bytes]):
    binder = Binder.new()
    binder.entries.append(Entry("N:\\NTC\\data\\tiny.flver", flver.write(), 200))
    binder.entries.append(Entry("N:\\NTC\\data\\tiny.tpf", make_tpf(textures), 100))
    path.write_bytes(Dcx.new(binder.write()).write())
    return path


def told(imported) -> list[str]:
    """Return what an import warns of, but for what is odd about the model itself."""
    return [warning for warning in imported.warnings if "repeat a vertex" not in warning]


def materials(imported) -> list:
    return [obj.material_slots[0].material for obj in imported.meshes]


def texture_nodes(material) -> dict[str, object]:
    return {node.label: node for node in material.node_tree.nodes if node.type == "TEX_IMAGE"}


def surface(material):
    return next(node for node in material.node_tree.nodes if node.type == "BSDF_PRINCIPLED")


def source_of(socket):
    return socket.links[0].from_node


@pytest.fixture
def textured(scene_api, tmp_path):
    textures = {"Sky_a": SKY, "bent_n": BENT}
    return load(scene_api, write(tmp_path / "tiny.partsbnd.dcx", model(), textures))


def test_materials_get_their_pictures(textured):
    import bpy

    assert not told(textured)
    images = sorted((image.name, image.colorspace_settings.name) for image in bpy.data.images)
    assert images == [("Sky_a", "sRGB"), ("bent_n", "Non-Color")]
    first, second = materials(textured)
    assert first != second
    for material in (first, second):
        nodes = texture_nodes(material)
        assert {label: node.image.name for label, node in nodes.items()} == {"Albedo": "Sky_a", "Normal": "bent_n"}
        assert material.node_tree.nodes.active == nodes["Albedo"]
        assert source_of(surface(material).inputs["Base Color"]) == nodes["Albedo"]
        assert source_of(surface(material).inputs["Normal"]).type == "NORMAL_MAP"
        assert not surface(material).inputs["Alpha"].links
    assert len(bpy.data.node_groups) == 1


def test_pictures_are_packed_and_survive_the_file(textured, tmp_path):
    import bpy

    image = bpy.data.images["Sky_a"]
    assert bytes(image.packed_file.data) == SKY
    assert image.alpha_mode == "CHANNEL_PACKED"
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "saved.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "saved.blend"))
    image = bpy.data.images["Sky_a"]
    assert tuple(image.size) == (4, 4)
    assert np.allclose(image.pixels[:4], (100 / 255, 150 / 255, 200 / 255, 1), atol=1e-3)
    assert [path.name for path in tmp_path.iterdir() if path.suffix == ".dds"] == []


def test_the_upper_row_is_at_the_upper_edge(scene_api, tmp_path):
    import bpy

    path = write(tmp_path / "a.partsbnd.dcx", model(textures=((ALBEDO, "f.tif"),)), {"f": flags()})
    load(scene_api, path)
    pixels = np.array(bpy.data.images["f"].pixels[:]).reshape(4, 4, 4)
    assert (pixels[3, :, :3] == (1, 0, 0)).all()  # Blender counts rows from below, as it counts v
    assert (pixels[:3, :, :3] == (0, 0, 1)).all(), "alpha must not darken colours"


def test_a_second_import_takes_the_same_pictures(scene_api, textured, tmp_path):
    import bpy

    load(scene_api, tmp_path / "tiny.partsbnd.dcx")
    assert sorted(image.name for image in bpy.data.images) == ["Sky_a", "bent_n"]
    other = write(tmp_path / "other.partsbnd.dcx", model(), {"Sky_a": flags(), "bent_n": BENT})
    load(scene_api, other)
    assert sorted(image.name for image in bpy.data.images) == ["Sky_a", "Sky_a.001", "bent_n"]


def test_textures_can_be_left_out(scene_api, tmp_path):
    import bpy

    path = write(tmp_path / "a.partsbnd.dcx", model(), {"Sky_a": SKY})
    plain = load(scene_api, path, textures=False)
    assert not told(plain)
    assert not bpy.data.images
    assert not bpy.data.node_groups


def test_solid_view_keeps_its_colours(scene_api, textured, tmp_path):
    plain = load(scene_api, tmp_path / "tiny.partsbnd.dcx", textures=False)
    for with_pictures, without in zip(materials(textured), materials(plain), strict=True):
        assert tuple(with_pictures.diffuse_color) == tuple(without.diffuse_color)
        assert with_pictures.use_backface_culling == without.use_backface_culling
        assert {key: value for key, value in with_pictures.items() if key != "flver_material"}.keys() == {
            key: value for key, value in without.items() if key != "flver_material"
        }.keys()


def test_what_is_missing_or_damaged_is_told_and_the_rest_shown(scene_api, tmp_path):
    textures = ((ALBEDO, "sky_a.tif"), (NORMAL, "cut_n.tif"), (METAL, "none_m.tif"))
    path = write(tmp_path / "a.partsbnd.dcx", model(textures=textures), {"sky_a": SKY, "cut_n": BENT[:-1]})
    imported = load(scene_api, path)
    assert set(texture_nodes(materials(imported)[0])) == {"Albedo"}
    damaged, missing = told(imported)
    assert "a picture of 4 x 4 pixels in RGBA8 needs 64 bytes" in damaged
    assert missing.startswith("2 textures (cut_n, none_m) not found")


def test_a_damaged_texture_file_is_a_warning(scene_api, tmp_path):
    binder = Binder.new()
    binder.entries.append(Entry("N:\\NTC\\data\\tiny.flver", model().write(), 200))
    binder.entries.append(Entry("N:\\NTC\\data\\tiny.tpf", make_tpf({"sky_a": SKY})[:40], 100))
    path = tmp_path / "a.partsbnd.dcx"
    path.write_bytes(Dcx.new(binder.write()).write())
    imported = load(scene_api, path)
    assert len(imported.meshes) == 2
    assert "tiny.tpf" in told(imported)[0]


def test_nodes_that_fail_do_not_cost_the_model(scene_api, tmp_path, monkeypatch):
    from addon.scene import shading

    monkeypatch.setattr(shading, "GROUP_NAME", 1)  # which Blender takes for no name
    path = write(tmp_path / "a.partsbnd.dcx", model(), {"sky_a": SKY, "bent_n": BENT})
    imported = load(scene_api, path)
    assert len(imported.meshes) == 2
    assert ["without textures" in warning for warning in told(imported)] == [True, True]


@pytest.mark.parametrize(
    ("parameters", "method", "cut"),
    [
        ({"g_BlendMode": [0], "g_AlphaRef": [0, 0]}, "DITHERED", None),
        ({"g_BlendMode": [0], "g_AlphaRef": [102, 0]}, "DITHERED", 0.4),
        ({"g_BlendMode": [2], "g_AlphaRef": [80, 0]}, "BLENDED", None),
    ],
)
def test_alpha_does_what_the_material_says(scene_api, tmp_path, parameters, method, cut):
    samplers = ((ALBEDO, "N:\\x\\sky_a.tif", [1, 1]),)
    binder = Binder.new()
    binder.entries.append(Entry("one.mtd", make_mtd(MaterialSample(samplers=samplers, parameters=parameters))))
    (tmp_path / "allmaterialbnd.mtdbnd.dcx").write_bytes(Dcx.new(binder.write()).write())
    path = write(tmp_path / "a.partsbnd.dcx", model("one", textures=((ALBEDO, ""),)), {"sky_a": SKY})
    (material, _) = materials(load(scene_api, path))
    assert material.surface_render_method == method
    links = surface(material).inputs["Alpha"].links
    kinds = [link.from_node.type for link in links]
    assert kinds == (["MATH"] if cut else ["TEX_IMAGE"] if method == "BLENDED" else [])
    if cut:
        assert math.isclose(links[0].from_node.inputs[1].default_value, cut, abs_tol=1e-6)


def test_a_material_that_tiles_goes_by_its_uv_map(scene_api, tmp_path):
    mtd = Mtd("", "", [], [Sampler(ALBEDO, "sky_a.tif", uv_set=2, scale=np.array([4, 2], "<f4"))])
    binder = Binder.new()
    binder.entries.append(Entry("one.mtd", mtd.write()))
    (tmp_path / "allmaterialbnd.mtdbnd.dcx").write_bytes(Dcx.new(binder.write()).write())
    path = write(tmp_path / "a.partsbnd.dcx", model("one", textures=((ALBEDO, ""),)), {"sky_a": SKY})
    imported = load(scene_api, path)
    mapping = source_of(texture_nodes(materials(imported)[0])["Albedo"].inputs["Vector"])
    assert source_of(mapping.inputs["Vector"]).uv_map == imported.meshes[0].data.uv_layers[1].name
    scale, move = mapping.inputs["Scale"].default_value, mapping.inputs["Location"].default_value
    for v in (0.0, 0.25, 1.0):  # as the game counts it, from above
        assert math.isclose((1 - v) * scale[1] + move[1], 1 - 2 * v)


def test_elden_rings_material_comes_from_the_folder_of_the_settings(scene_api, tmp_path):
    game = tmp_path / "Game"
    (game / "material").mkdir(parents=True)
    binder = Binder.new()
    sample = MaterialSample(
        samplers=((ALBEDO, "N:\\GR\\data\\sky_a.tif", [0, 0]), (GLOW, "N:\\x\\glow_em.tif", [0, 0]))
    )
    binder.entries.append(Entry("N:\\GR\\x\\one.matbin", make_matbin(sample)))
    (game / "material" / "allmaterial.matbinbnd.dcx").write_bytes(Dcx.new(binder.write()).write())
    flver = model("one", textures=((ALBEDO, ""), (GLOW, "")))
    flver.materials[0].path = "N:\\GR\\data\\Material\\matxml\\One.matxml"
    source = Binder.new()
    source.entries.append(Entry("N:\\GR\\data\\tiny.flver", flver.write(), 200))
    source.entries.append(Entry("N:\\GR\\data\\tiny.tpf", make_tpf({"sky_a": SKY, "glow_em": SKY}), 100))
    path = tmp_path / "a.partsbnd.dcx"
    path.write_bytes(Dcx.new(source.write()).write())
    imported = load(scene_api, path, folders=scene_api.GameFolders(elden_ring=game))
    assert not told(imported)
    material = materials(imported)[0]
    assert set(texture_nodes(material)) == {"Albedo", "Emissive"}
    assert source_of(surface(material).inputs["Emission Color"]).label == "Emissive"


def test_the_normal_group_bends_as_the_games_do(scene_api, scene, tmp_path):
    """Rendered: green is turned over, blue is made from the two, and gloss in blue becomes roughness."""
    import bpy

    bent = picture(np.full((4, 4, 4), (204, 77, 64, 255)))
    path = write(tmp_path / "a.partsbnd.dcx", model(textures=((ALBEDO, "sky_a.tif"), (NORMAL, "n.tif"))), {
        "sky_a": SKY, "n": bent,
    })  # fmt: skip
    material = materials(load(scene_api, path))[0]
    tree = material.node_tree
    group = next(node for node in tree.nodes if node.type == "GROUP")
    x, y = 204 / 255 * 2 - 1, -(77 / 255 * 2 - 1)
    z = math.sqrt(1 - x * x - y * y)
    expected = [(part + 1) / 2 for part in (x, y, z)]
    assert np.allclose(_shown(bpy, scene, tree, group.outputs["Normal"]), expected, atol=2e-3)
    assert np.allclose(_shown(bpy, scene, tree, group.outputs["Roughness"])[0], 1 - 64 / 255, atol=2e-3)


def _shown(bpy, scene, tree, socket):
    """Return the colour that a socket gives, (3,), by rendering a plane that shines with it."""
    for obj in list(bpy.data.objects):
        obj.hide_render = True
    shine = tree.nodes.new("ShaderNodeEmission")
    output = next(node for node in tree.nodes if node.type == "OUTPUT_MATERIAL")
    tree.links.new(socket, shine.inputs["Color"])
    tree.links.new(shine.outputs[0], output.inputs["Surface"])
    mesh = bpy.data.meshes.new("plane")
    mesh.from_pydata([(-1, -1, 0), (1, -1, 0), (1, 1, 0), (-1, 1, 0)], [], [(0, 1, 2, 3)])
    mesh.uv_layers.new(name="UV0")
    mesh.materials.append(next(each for each in bpy.data.materials if each.node_tree == tree))
    scene.collection.objects.link(bpy.data.objects.new("plane", mesh))
    camera = bpy.data.objects.new("camera", bpy.data.cameras.new("camera"))
    camera.location, camera.data.type, camera.data.ortho_scale = (0, 0, 1), "ORTHO", 1
    scene.collection.objects.link(camera)
    scene.camera, scene.render.engine = camera, "CYCLES"
    scene.cycles.samples, scene.cycles.device, scene.cycles.use_denoising = 1, "CPU", False
    scene.render.resolution_x = scene.render.resolution_y = 4
    scene.render.image_settings.file_format = "OPEN_EXR"
    scene.render.image_settings.color_depth, scene.render.image_settings.exr_codec = "32", "ZIP"
    scene.render.filepath = bpy.app.tempdir + "shown.exr"
    bpy.ops.render.render(write_still=True)
    image = bpy.data.images.load(scene.render.filepath, check_existing=False)
    found = np.array(image.pixels[:]).reshape(4, 4, -1)[2, 2, :3]
    bpy.data.images.remove(image)
    return found


@pytest.mark.parametrize("textures", [True, False])
def test_an_untouched_export_is_the_file_whatever_its_textures(scene_api, tmp_path, textures):
    import bpy

    path = write(tmp_path / "a.partsbnd.dcx", model(), {"sky_a": SKY, "bent_n": BENT})
    imported = load(scene_api, path, textures=textures)
    target = tmp_path / "out.flver"
    scene_api.export_flver(bpy.context, imported.collection, target, scene_api.FlverExportSettings())
    assert target.read_bytes() == model().write()


def test_corpus_pictures_are_read_by_blender(scene_api, corpus):
    import bpy

    for name in ("am_m_1122", "hd_m_1140", "hd_m_9000", "hd_m_9007", "wp_a_0213", "bd_f_9002_l"):
        imported = load(scene_api, corpus(f"eldenring/{name}.partsbnd.dcx"), cloth=False)
        for material in {material for material in materials(imported) if material}:
            assert "Albedo" in texture_nodes(material), f"{name}: {material.name}"
    assert len(bpy.data.images) >= 15
    for image in bpy.data.images:
        pixels = np.empty(len(image.pixels), np.float32)
        image.pixels.foreach_get(pixels)
        assert np.unique(pixels).size > 50, image.name
