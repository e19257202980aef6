"""Which textures materials take and where they are found, without Blender."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

import pytest

from addon.codec import Binder, Dcx, Flver, FormatError, SplitBinder
from addon.codec.binder import Entry
from addon.codec.flver import Material, Texture
from addon.codec.mtd import Mtd
from addon.codec.source import Game, Kind, open_source
from addon.model.textures import Alpha, GameFolders, Library, Picture, Role, TextureIndex, check, library, looks, places
from addon.model.textures.samplers import base_of, role_of, texture_name
from tests.models import small_model
from tests.textures import MaterialSample, dds, make_matbin, make_mtd, make_tpf

ALBEDO, METAL, NORMAL = (
    f"C_AMSN_snp_Texture2D_{name}" for name in ("2_AlbedoMap_0", "0_MetallicMap_0", "7_NormalMap_4")
)
TEX = "N:\\GR\\data\\Model\\chr\\c1000\\tex\\"
SAMPLERS = ((ALBEDO, TEX + "c1000_body_a.tif", [1, 1]), (NORMAL, TEX + "c1000_body_n.tif", [1, 1]))


def model(*materials: Material) -> Flver:
    flver = small_model()
    flver.materials = list(materials)
    return flver


def material(path: str = "N:\\GR\\x\\C[c1000]_Body.matxml", *textures: tuple[str, str]) -> Material:
    slots = textures or ((ALBEDO, ""), (METAL, ""), (NORMAL, ""))
    made = [Texture(kind, where) for kind, where in slots]
    for each in made:
        each.record["scale"] = 1
    return Material("m", path, made)


def binder(path: Path, members: dict[str, bytes]) -> Path:
    made = Binder.new()
    made.entries += [Entry(f"N:\\GR\\data\\{name}", data, i) for i, (name, data) in enumerate(members.items())]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(Dcx.new(made.write()).write())
    return path


def library_of(path: Path, folders: GameFolders | None = None, index: TextureIndex | None = None) -> Library:
    return Library(path, open_source(path).members, folders or GameFolders(), index or TextureIndex())


def names(look) -> dict[str, str]:
    return {slot.role.value: slot.picture.name for slot in look.slots}


@pytest.fixture
def game(tmp_path) -> Path:
    """Return the folder of a small game: a character, its textures beside it, and its material."""
    root = tmp_path / "Game"
    binder(root / "chr" / "c1000.chrbnd.dcx", {"c1000.flver": model(material()).write()})
    binder(root / "chr" / "c1000_h.texbnd.dcx", {"c1000.tpf": make_tpf({"c1000_body_a": dds(8, 8)})})
    binder(root / "chr" / "c1000_l.texbnd.dcx", {"c1000_l.tpf": make_tpf({"c1000_body_n_l": dds(4, 4)})})
    matbin = make_matbin(MaterialSample(samplers=SAMPLERS, parameters={"g_BlendMode": [0], "g_AlphaRef": [128, 0]}))
    binder(root / "material" / "allmaterial.matbinbnd.dcx", {"C[c1000]_Body.matbin": matbin})
    return root


def test_a_character_finds_its_material_and_textures_in_its_game(game):
    path = game / "chr" / "c1000.chrbnd.dcx"
    found = looks(model(material()), Game.ELDEN_RING, library_of(path))
    assert not found.warnings
    (look,) = found.of
    assert names(look) == {"albedo": "c1000_body_a", "normal": "c1000_body_n_l"}
    assert (look.alpha, look.cut) == (Alpha.CLIP, 128 / 255)


def test_a_model_elsewhere_needs_the_folder_of_the_preferences(game, tmp_path):
    path = binder(tmp_path / "mods" / "c1000.chrbnd.dcx", {"c1000.flver": model(material()).write()})
    (look,) = (without := looks(model(material()), Game.ELDEN_RING, library_of(path))).of
    assert not look.slots
    (warning,) = without.warnings
    assert "c[c1000]_body" in warning
    assert "set the folder of Elden Ring in the add-on's preferences" in warning
    (look,) = (found := looks(model(material()), Game.ELDEN_RING, library_of(path, GameFolders(elden_ring=game)))).of
    assert names(look) == {"albedo": "c1000_body_a", "normal": "c1000_body_n_l"}
    assert not found.warnings


def test_what_a_mod_brings_comes_before_the_game(game, tmp_path):
    mod = tmp_path / "mod" / "chr" / "c1000.chrbnd.dcx"
    binder(mod, {"c1000.flver": model(material()).write(), "c1000.tpf": make_tpf({"c1000_body_a": dds(16, 16)})})
    found = library_of(mod, GameFolders(elden_ring=game)).texture(TEX + "c1000_body_a.tif", Game.ELDEN_RING)
    assert found == Picture("c1000_body_a", dds(16, 16))


def test_paths_of_the_model_come_before_those_of_the_material(game):
    own = material("N:\\GR\\x\\C[c1000]_Body.matxml", (ALBEDO, "other_a.tif"), (NORMAL, ""))
    found = looks(model(own), Game.ELDEN_RING, library_of(game / "chr" / "c1000.chrbnd.dcx"))
    assert names(found.of[0]) == {"normal": "c1000_body_n_l"}
    (warning,) = found.warnings
    assert warning.startswith("1 texture (other_a) not found")


def test_without_its_material_a_model_takes_its_own_textures_by_name(tmp_path):
    textures = {name: dds(4, 4) for name in ("HD_M_1_a", "HD_M_1_n", "HD_M_1_m", "HD_M_1_hair_a", "HD_M_1_hair_n")}
    path = binder(tmp_path / "hd_m_1.partsbnd.dcx", {"HD_M_1.tpf": make_tpf(textures)})
    made = [material(f"N:\\GR\\x\\P[HD_M_1]_{part}.matxml") for part in ("metal", "hair_cloth")]
    found = looks(model(*made, material("x.matxml")), Game.ELDEN_RING, library_of(path))
    metal, hair, strange = map(names, found.of)
    assert metal == {"albedo": "HD_M_1_a", "normal": "HD_M_1_n", "metallic": "HD_M_1_m"}
    assert hair == {"albedo": "HD_M_1_hair_a", "normal": "HD_M_1_hair_n"}
    assert strange == {}
    assert len(found.warnings) == 2
    assert "matched by their names" in found.warnings[0]
    assert "1 material (x) without textures" in found.warnings[1]


def test_the_only_albedo_is_that_of_all_materials(tmp_path):
    path = binder(tmp_path / "a.partsbnd.dcx", {"a.tpf": make_tpf({"strange_a_l": dds(4, 4), "other_n": dds(4, 4)})})
    found = looks(model(material()), Game.ELDEN_RING, library_of(path))
    assert names(found.of[0]) == {"albedo": "strange_a_l"}


def test_missing_textures_are_one_line(game):
    paths = [(f"C_X_snp_Texture2D_{i}_AlbedoMap_0", f"t{i}_a.tif") for i in range(20)]
    made = [material("N:\\GR\\x\\C[c1000]_Body.matxml", each) for each in paths]
    found = looks(model(*made), Game.ELDEN_RING, library_of(game / "chr" / "c1000.chrbnd.dcx"))
    (warning,) = found.warnings
    assert warning.startswith("20 textures (t0_a, t1_a, ")
    assert "and 12 more) not found" in warning


def test_damaged_files_are_warnings(game):
    path = game / "chr" / "c1000_h.texbnd.dcx"
    binder(
        path,
        {"a.tpf": b"TPF\0" + bytes(4) + b"\xff\xff\xff\x7f" + bytes(4), "b.tpf": make_tpf({"c1000_body_a": b"DDS "})},
    )
    (game / "chr" / "c1000_l.texbnd.dcx").write_bytes(b"DCX\0")
    found = looks(model(material()), Game.ELDEN_RING, library_of(game / "chr" / "c1000.chrbnd.dcx"))
    assert not found.of[0].slots
    assert [warning.split(" needs ")[0] for warning in found.warnings[:2]] == [
        "2147483647 x TPF texture", "1 x DDS header",
    ]  # fmt: skip
    assert "2 textures (c1000_body_a, c1000_body_n) not found" in found.warnings[-1]


def test_a_damaged_material_is_a_warning(game):
    binder(game / "material" / "allmaterial.matbinbnd.dcx", {"C[c1000]_Body.matbin": b"MAB\0"})
    found = looks(model(material()), Game.ELDEN_RING, library_of(game / "chr" / "c1000.chrbnd.dcx"))
    assert "MATBIN header" in found.warnings[0]


def test_files_are_opened_once_a_session_until_they_change(game, monkeypatch):
    opened = []
    monkeypatch.setattr(library, "open_source", lambda path: opened.append(path.name) or open_source(path))
    index, path = TextureIndex(), game / "chr" / "c1000.chrbnd.dcx"
    elsewhere = binder(game / "parts" / "common_body.tpf.dcx", {"other.tpf": make_tpf({"other": dds(4, 4)})})
    members = open_source(path).members

    def look() -> set[str]:
        opened.clear()
        lib = Library(path, members, GameFolders(), index)
        found = looks(model(material(), material("", (ALBEDO, "absent_a.tif"))), Game.ELDEN_RING, lib)
        assert names(found.of[0]) == {"albedo": "c1000_body_a", "normal": "c1000_body_n_l"}
        assert len(opened) == len(set(opened))
        return set(opened)

    assert look() == {
        "allmaterial.matbinbnd.dcx", "c1000_h.texbnd.dcx", "c1000_l.texbnd.dcx", "common_body.tpf.dcx",
    }  # fmt: skip
    assert look() == {"c1000_h.texbnd.dcx", "c1000_l.texbnd.dcx"}  # their bytes are wanted again
    binder(elsewhere, {"other.tpf": make_tpf({"others": dds(4, 4)})})
    os.utime(elsewhere, ns=(1, 1))
    assert "common_body.tpf.dcx" in look()


def test_textures_of_a_map_are_in_a_split_binder_by_name(tmp_path):
    root, split = tmp_path / "Game", SplitBinder.new()
    for name in ("m10_a", "m10_b"):
        data = Dcx.new(make_tpf({name: dds(4, 4)})).write() if name == "m10_b" else b"DCX\0 damaged"
        split.entries.append(Entry(f"N:\\{name}.tpf.dcx", data))
    (root / "map" / "m10").mkdir(parents=True)
    header, data = split.write()
    (root / "map" / "m10" / "m10_0001.tpfbhd").write_bytes(header)
    (root / "map" / "m10" / "m10_0001.tpfbdt").write_bytes(data)
    path = binder(root / "map" / "m10_00_00_00" / "m10_1.mapbnd.dcx", {"a.flver": b"FLVER\0"})
    lib = library_of(path)
    texture = "N:\\NTC\\data\\Model\\map\\m10_00_00_00\\tex\\{}.tif"
    assert lib.texture(texture.format("m10_b"), Game.SEKIRO) == Picture("m10_b", dds(4, 4))
    assert not lib.faults  # the others are not looked into
    assert lib.texture(texture.format("m10_a"), Game.SEKIRO) is None
    assert len(lib.faults) == 1


@pytest.mark.parametrize(
    ("path", "first"),
    [
        ("N:\\NTC\\data\\Model\\chr\\c7109\\tex\\c7109_Eye_a.tif", "chr/c7109.texbnd.dcx"),
        ("N:\\NTC\\data\\Model\\parts\\tex\\FC_A_0000_Fabric_a.tif", "parts/fc_a_0000.partsbnd.dcx"),
        ("N:\\GR\\data\\x\\AAT100_Metal_02_a.tif", "parts/common_body.tpf.dcx"),
        ("N:\\GR\\data\\x\\AET007_123_a.tif", "asset/aet/aet007/aet007_123.tpf.dcx"),
        ("N:\\GR\\data\\x\\AEG099_100_a.tif", "asset/aeg/aeg099/aeg099_100.geombnd.dcx"),
        ("N:\\NTC\\data\\Model\\obj\\o100010\\tex\\o100010_a.tif", "obj/o100010.objbnd.dcx"),
        ("N:\\NTC\\data\\Model\\map\\m11\\tex\\m11_rock_a.tif", "map/m11/m11_*.tpfbhd"),
        ("HD_M_9200_a.tif", "parts/hd_m_9200.partsbnd.dcx"),
        ("", "parts/common_body.tpf.dcx"),
    ],
)
def test_where_the_games_keep_textures(path, first):
    assert places.texture_files(path)[0] == first


def test_files_are_found_whatever_their_case(tmp_path):
    (tmp_path / "CHR").mkdir()
    (tmp_path / "CHR" / "C1.TexBnd.dcx").touch()
    assert [path.name for path in places.find(tmp_path, "chr/c1.texbnd.dcx")] == ["C1.TexBnd.dcx"]
    assert [path.name for path in places.find(tmp_path, "chr/c*.texbnd.dcx")] == ["C1.TexBnd.dcx"]
    assert not places.find(tmp_path, "chr/c2.texbnd.dcx")
    assert not places.find(tmp_path / "none", "chr/c1.texbnd.dcx")
    (tmp_path / "CHR" / "c3.texbnd.dcx").symlink_to(tmp_path / "gone")
    assert not places.find(tmp_path, "chr/c3.texbnd.dcx")


def test_what_is_said_of_a_folder(game, tmp_path):
    assert check(tmp_path / "none", Game.SEKIRO) == (False, "There is no such folder")
    (game / "parts").mkdir(exist_ok=True)
    assert check(game, Game.ELDEN_RING) == (True, "Found Elden Ring's materials, parts and characters (1)")
    assert check(game.parent, Game.ELDEN_RING) == (False, "Choose the folder Game inside this one")
    good, text = check(game, Game.SEKIRO)
    assert not good
    assert text.endswith("Missing: mtd/allmaterialbnd.mtdbnd.dcx")
    (tmp_path / "packed").mkdir()
    (tmp_path / "packed" / "Data0.bhd").touch()
    good, text = check(tmp_path / "packed", Game.ELDEN_RING)
    assert not good
    assert "still packed" in text
    assert "chr, parts, material/allmaterial.matbinbnd.dcx" in text


def test_names_tell_roles():
    roles = {
        "Character_AMSN_snp_Texture2D_0_ReflectanceMap_0": Role.METALLIC,
        "M_Multiple__snp_Texture2D_1_GSBlendMap_AlbedoMap_0": Role.ALBEDO,
        "C_DetailBlend__snp_Texture2D_0_NormalMap": Role.NORMAL,
        "Character_AMSN__Cs___Cat_Eye__snp_Texture2D_4_EmissiveMap_0": Role.EMISSIVE,
        "C_Face_S2__SSS_snp_Texture2D_2_Mask3Map": None,
        "g_DiffuseTexture": Role.ALBEDO,
        "g_BumpmapTexture2": None,
        "": None,
    }
    assert {name: role_of(name) for name in roles} == roles
    assert texture_name("N:\\a\\B_c.tif") == "b_c"
    assert (base_of("c1_body_n_l"), base_of("c1_body_1m"), base_of("c1_manta")) == ("c1_body", "c1_body", "c1_manta")


class Everything(Library):
    """A library that has every texture, and the materials of a binder."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, [], GameFolders(), TextureIndex())

    def texture(self, path: str, _game: Game) -> Picture:
        return Picture(texture_name(path), b"")


@cache
def sekiros_materials(path: Path) -> dict[str, Mtd]:
    return {texture_name(member.name): Mtd.read(member.data()) for member in open_source(path).members}


# materials of Sekiro whose main textures their names leave no doubt of
MAIN = {
    "c7109_sss": ("c7109_skin_uv2k2k_a", "c7109_skin_uv2k2k_n", None, Alpha.NONE),
    "c7109_sss_body": ("c7109_skin_body_a", "c7109_skin_body_n", None, Alpha.NONE),
    "c7109_hair": ("c7109_hair_a", "c7109_hair_n", None, Alpha.CLIP),
    "c7109_hair_decal": ("c7109_fc_m_0200_fur_a", "c7109_fc_m_0200_fur_n", None, Alpha.BLEND),
    "c7109_we_sword01": ("c7109_we_sword01_a", "c7109_we_sword01_n", "c7109_we_sword01_m", Alpha.NONE),
    "c7100_mantoblend_e_decal": ("c7100_manto_a", "c7100_manto_n", "c7100_manto_m", Alpha.CLIP),
}


def test_the_main_textures_of_sekiros_materials(corpus):
    path = corpus("sekiro/allmaterialbnd.mtdbnd.dcx")
    stored, lib = sekiros_materials(path), Everything(path)
    made = [
        material(f"N:\\NTC\\x\\{name}.mtd", *((sampler.type, "") for sampler in stored[name].samplers)) for name in MAIN
    ]
    found = looks(model(*made), Game.SEKIRO, lib)
    assert not found.warnings
    for name, look in zip(MAIN, found.of, strict=True):
        told = names(look)
        assert (*(told.get(role) for role in ("albedo", "normal", "metallic")), look.alpha) == MAIN[name]


def test_albedo_and_normal_of_sekiros_characters_are_of_one_surface(corpus):
    """Where the textures chosen for a material are named alike, the choice is right; the others are looks of one form.

    Those are variants of a surface, each with an albedo of its own and the one normal map (kimono_02_a, kimono_n).
    """
    path = corpus("sekiro/allmaterialbnd.mtdbnd.dcx")
    stored = sekiros_materials(path)
    made = [
        material(f"N:\\NTC\\x\\{name}.mtd", *((sampler.type, "") for sampler in mtd.samplers))
        for name, mtd in stored.items()
        if "chr" in " ".join(sampler.path for sampler in mtd.samplers)
    ]
    found = [names(look) for look in looks(model(*made), Game.SEKIRO, Everything(path)).of]
    both = [(base_of(told["albedo"]), base_of(told["normal"])) for told in found if {"albedo", "normal"} <= set(told)]
    alike = sum(albedo == normal for albedo, normal in both)
    assert len(both) > 1000
    assert alike / len(both) > 0.94


def test_tiling_and_uv_set_of_a_material(tmp_path):
    mtd = Mtd.read(make_mtd(MaterialSample(samplers=((ALBEDO, "a.tif", [4, 2]), (NORMAL, "b.tif", [0, 0])))))
    mtd.samplers[0].uv_set = 2
    path = binder(tmp_path / "a.chrbnd.dcx", {"a.tpf": make_tpf({"a": dds(4, 4), "b": dds(4, 4)})})
    binder(tmp_path / "allmaterialbnd.mtdbnd.dcx", {"x.mtd": mtd.write()})
    (look,) = looks(model(material("N:\\NTC\\x.mtd")), Game.UNKNOWN, library_of(path)).of
    assert [(slot.uv_set, slot.scale) for slot in look.slots] == [(2, (4.0, 2.0)), (1, (1.0, 1.0))]


def test_a_library_survives_files_that_vanish(game, monkeypatch):
    path = game / "chr" / "c1000.chrbnd.dcx"
    lib = library_of(path)
    monkeypatch.setattr(library, "open_source", lambda _path: (_ for _ in ()).throw(FormatError("gone")))
    assert lib.texture(TEX + "c1000_body_a.tif", Game.ELDEN_RING) is None
    assert "gone" in lib.faults[0]


def test_the_corpus_is_looked_at_without_a_fault(corpus):
    for name, warned in (("eldenring/hd_m_1140.partsbnd.dcx", "names"), ("sekiro/c7190.chrbnd.dcx", "36 textures")):
        path = corpus(name)
        lib = library_of(path)
        member = next(each for each in open_source(path).members if each.kind == Kind.FLVER)
        found = looks(Flver.read(member.data()), member.game, lib)
        assert not lib.faults
        assert warned in found.warnings[0]
