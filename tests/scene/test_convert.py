"""Many files to .blend and glTF: what is found, what becomes of it, and the command line around it."""

from __future__ import annotations

import json
import os
import shutil
import struct
import subprocess
import sys
from pathlib import Path

import pytest

from addon.codec import Dcx
from tests.collision.build import body
from tests.fresh import HANG, ROOT, run_blender
from tests.sample import NAME, make_sample, write_sample
from tests.scene import tiny
from tests.scene.collision_files import area, binder, ground, hkx
from tests.scene.playing import evaluated, play, same
from tests.scene.test_import_textures import BENT, SKY, model, write


@pytest.fixture
def api(scene):
    import addon.scene.convert

    return addon.scene.convert


@pytest.fixture
def game(tmp_path) -> Path:
    """Return a folder with a model and its cloth, a map's collision, and files that hold nothing or are broken."""
    folder = tmp_path / "game"
    (folder / "parts" / "deep").mkdir(parents=True)
    (folder / "map").mkdir()
    [sample] = write_sample(folder / "parts")
    sample.rename(folder / "parts" / "deep" / "strange name")
    tiny.write(folder / "parts" / "TINY.PARTSBND.DCX", tiny.model())
    area(folder / "map", sides={"h": 2})
    (folder / "broken.flver.dcx").write_bytes(Dcx.new(make_sample().write()).write()[:-40])
    (folder / "text.txt").write_text("nothing")
    (folder / "empty.flver").touch()
    (folder / "other.dcx").write_bytes(Dcx.new(b"nothing that is known").write())
    return folder


def player_meshes(scene) -> list:
    """Return the meshes that the cloth of a scene moves."""
    from addon.scene.cloth.keys import cloths
    from addon.scene.cloth.outputs import bound_meshes

    return [mesh for cloth in cloths(scene) for mesh in bound_meshes(cloth).values()]


def by_name(results) -> dict[str, object]:
    return {result.path.name: result for result in results}


def opened(path: Path):
    import bpy

    bpy.ops.wm.open_mainfile(filepath=str(path))
    return bpy.data


def gltf(path: Path) -> dict:
    data = path.read_bytes()
    assert data[:4] == b"glTF"
    return json.loads(data[20 : 20 + struct.unpack_from("<I", data, 12)[0]])


def test_folders_are_searched_by_content_and_files_keep_their_place(api, game, tmp_path):
    out = tmp_path / "out"
    results = api.convert([game], out)
    assert {name: str(result.outcome) for name, result in by_name(results).items()} == {
        "broken.flver.dcx": "failed", "other.dcx": "nothing", "h11_01_00_00.hkxbhd": "done",
        "TINY.PARTSBND.DCX": "done", "strange name": "done",
    }  # fmt: skip
    files = {path.relative_to(out).as_posix() for path in out.rglob("*") if path.is_file()}
    assert files == {"parts/TINY.PARTSBND.blend", "parts/deep/strange name.blend", "map/h11_01_00_00.hkxbhd.blend"}
    assert [result.path for result in results] == sorted((result.path for result in results), key=lambda p: (
        len(p.parts) > len(game.parts) + 1, p))  # fmt: skip


def test_a_blend_holds_the_model_and_its_cloth_ready_to_play(api, game, tmp_path, player):
    import bpy

    [result] = api.convert([game / "parts" / "deep"], tmp_path / "out")
    assert "1 cloth" in result.made
    data = opened(result.target)
    assert {obj.type for obj in data.objects} >= {"ARMATURE", "MESH", "POINTCLOUD"}
    assert len([obj for obj in data.objects if obj.type == "MESH" and "flver_mesh" in obj.data]) == len(
        make_sample().meshes
    )
    scene = bpy.context.scene
    [mesh] = player_meshes(scene)
    before = evaluated(mesh)
    play(scene, *range(1, 10))
    assert not same([evaluated(mesh)], [before])


def test_every_file_has_a_scene_of_its_own(api, game, tmp_path):
    results = by_name(api.convert([game / "map", game / "parts"], tmp_path / "out"))
    data = opened(results["strange name"].target)
    assert not [mesh for mesh in data.meshes if "collision_name" in mesh or mesh.name.startswith("tiny")]
    assert not [material for material in data.materials if material.name.startswith("Collision")]
    assert len(data.armatures) == 1
    data = opened(results["h11_01_00_00.hkxbhd"].target)
    assert len([obj for obj in data.objects if obj.type == "MESH"]) == 2
    assert not data.armatures


def test_gltf_holds_skin_collision_and_the_links_of_cloth(api, game, tmp_path):
    import bpy

    source = game / "parts" / "deep" / "strange name"
    form = api.ConvertSettings(format=api.Format.GLB)
    results = by_name(api.convert([source, game / "map"], tmp_path, form))
    tree = gltf(results["strange name"].target)
    assert len(tree["skins"]) == 1
    modes = [primitive.get("mode", 4) for mesh in tree["meshes"] for primitive in mesh["primitives"]]
    assert modes.count(4) >= len(make_sample().meshes)
    assert 1 in modes  # lines
    without = api.convert([source], tmp_path / "bare", api.ConvertSettings(
        format=api.Format.GLB, parts=frozenset({api.Part.MODEL})))  # fmt: skip
    tree = gltf(without[0].target)
    assert {primitive.get("mode", 4) for mesh in tree["meshes"] for primitive in mesh["primitives"]} == {4}
    assert len(tree["meshes"]) == len(make_sample().meshes)
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    bpy.ops.import_scene.gltf(filepath=str(results["h11_01_00_00.hkxbhd"].target))
    bodies = [obj for obj in bpy.data.objects if obj.type == "MESH"]
    assert [len(obj.data.polygons) for obj in bodies] == [8, 8]  # two triangles a square


def test_parts_are_chosen(api, tmp_path):
    members = {"a.flver": tiny.model().write(), "a.hkx": hkx(body(ground(), "ground"))}
    path = binder(tmp_path / "both.objbnd.dcx", members)
    for parts, kinds in (
        ({"model"}, {"ARMATURE", "MESH", "EMPTY"}), ({"collision"}, {"MESH"}), ({"cloth"}, None),
    ):  # fmt: skip
        settings = api.ConvertSettings(parts=frozenset(map(api.Part, parts)))
        [result] = api.convert([path], tmp_path / next(iter(parts)), settings)
        if kinds is None:
            assert result.outcome == "failed"
            assert result.failures == ["holds no cloth"]
        else:
            assert {obj.type for obj in opened(result.target).objects} == kinds
    [result] = api.convert([path], tmp_path / "all")
    assert "4 bones" in result.made
    assert "1 other body" in result.made
    [result] = api.convert([path], tmp_path / "some", api.ConvertSettings(member_filter="*.hkx"))
    assert "bones" not in result.made


def test_textures_come_along_unless_they_are_left_out(api, tmp_path):
    path = write(tmp_path / "tiny.partsbnd.dcx", model(), {"sky_a": SKY, "bent_n": BENT})
    for wanted, count in ((True, 2), (False, 0)):
        [result] = api.convert([path], tmp_path / str(wanted), api.ConvertSettings(textures=wanted))
        assert len([image for image in opened(result.target).images if image.packed_file]) == count
    [result] = api.convert([path], tmp_path, api.ConvertSettings(format=api.Format.GLB))
    assert gltf(result.target)["images"]


def test_what_cannot_be_imported_is_said_and_the_rest_written(api, tmp_path):
    members = {"a.flver": tiny.model().write(), "a.hkx": hkx(body(ground(), "ground"))}
    members["a.flver"] = members["a.flver"][:-300]
    path = binder(tmp_path / "both.objbnd.dcx", members)
    [result] = api.convert([path], tmp_path)
    assert result.outcome == "partly"
    assert len(result.failures) == 1
    assert "a.flver" in result.failures[0]
    assert [obj.type for obj in opened(result.target).objects] == ["MESH"]


def test_a_file_that_fails_leaves_what_was_there(api, game, tmp_path, monkeypatch):
    target = tmp_path / "strange name.blend"
    target.write_text("earlier")

    def fail(*_args, **_options):
        raise ZeroDivisionError("of all things")

    monkeypatch.setattr(api, "import_flver", fail)
    [result] = api.convert([game / "parts" / "deep"], tmp_path)
    assert (result.outcome, result.failures) == ("failed", ["ZeroDivisionError: of all things"])
    assert target.read_text() == "earlier"
    assert not list(tmp_path.glob("*.unfinished.*"))


def test_a_run_goes_on_where_it_was_stopped(api, game, tmp_path):
    (tmp_path / "parts").mkdir()
    there = tmp_path / "parts" / "TINY.PARTSBND.blend"
    there.write_text("earlier")
    settings = api.ConvertSettings(skip_existing=True)
    results = by_name(api.convert([game], tmp_path, settings))
    assert results["TINY.PARTSBND.DCX"].outcome == "skipped"
    assert results["strange name"].outcome == "done"
    assert there.read_text() == "earlier"
    api.convert([game], tmp_path)
    assert there.read_bytes() != b"earlier"


def test_files_that_would_become_one_are_told(api, game, tmp_path):
    other = shutil.copy(game / "parts" / "TINY.PARTSBND.DCX", game / "parts" / "TINY.PARTSBND")
    first, second = api.convert([game / "parts" / "TINY.PARTSBND.DCX", other], tmp_path)
    assert (first.outcome, second.outcome) == ("done", "failed")
    assert "has become" in second.failures[0]
    assert len(api.convert([game / "parts" / "deep", game / "parts" / "deep"], tmp_path)) == 1


def test_a_file_is_read_once(api, tmp_path, monkeypatch):
    members = {"a.flver": tiny.model().write(), "a.hkx": hkx(body(ground(), "ground"))}
    path = binder(tmp_path / "both.objbnd.dcx", members)
    read, real = [], Path.read_bytes
    monkeypatch.setattr(Path, "read_bytes", lambda self: read.append(self) or real(self))
    [result] = api.convert([path], tmp_path)
    assert result.outcome == "done"
    assert read == [path]


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="memory is told by /proc")
def test_memory_does_not_grow_with_the_files(blender, game, tmp_path):
    code = f"""
        import gc
        from pathlib import Path
        import addon
        addon.register()
        from addon.scene.convert import convert, ConvertSettings, Format
        def memory():
            gc.collect()
            return int(Path("/proc/self/statm").read_text().split()[1]) * 4096
        def rounds(count):
            for form in [ConvertSettings(format=each) for each in Format] * count:
                [result] = convert([{str(game / "parts" / "deep")!r}], {str(tmp_path)!r}, form)
                assert result.outcome == "done", result
        rounds(8)
        before = memory()
        rounds(16)
        grown = memory() - before
        addon.unregister()
        assert grown < 24 << 20, grown
        print("steady")"""
    assert "steady" in run_blender(blender, code, tmp_path)


# the command line


@pytest.fixture
def command(blender, tmp_path):
    """Return a function that runs the real command line in a process of its own, and returns status, lines, errors."""
    user = tmp_path / "user"
    user.mkdir()
    environment = {**os.environ, "BLENDER_USER_RESOURCES": str(user)}
    if blender.app.binary_path:
        tool = Path(blender.utils.system_resource("SCRIPTS")) / "addons_core" / "bl_pkg" / "cli" / "blender_ext.py"
        build = [sys.executable, tool, "build", "--source-dir", ROOT, "--output-filepath", tmp_path / "ossuary.zip"]
        subprocess.run(build, check=True, capture_output=True)
        install = ["extension", "install-file", "-r", "user_default", "--enable", tmp_path / "ossuary.zip"]
        subprocess.run([blender.app.binary_path, "--command", *install], check=True, env=environment)
        start = [blender.app.binary_path, "--command", "ossuary", "convert"]
    else:
        code = "import sys; sys.path[0] = sys.argv.pop(1); from tests.convert import main; sys.exit(main(sys.argv[1:]))"
        start = [sys.executable, "-c", code, ROOT]

    def run(*args):
        done = subprocess.run(
            [*start, *args], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=HANG, check=False
        )
        lines = [line for line in done.stdout.splitlines() if "system.path" not in line]  # of a Blender without mounts
        return done.returncode, lines, done.stderr

    return run


def test_the_command_writes_a_line_for_each_file_and_answers_by_its_status(command, game):
    status, lines, _errors = command("game", "--out", "out")
    assert status == 1
    assert [line.split("; ")[0] for line in lines] == [
        f"failed {Path('game', 'broken.flver.dcx')}",
        f"done {Path('game/map/h11_01_00_00.hkxbhd')} -> {Path('out/map/h11_01_00_00.hkxbhd.blend')}",
        f"done {Path('game/parts/TINY.PARTSBND.DCX')} -> {Path('out/parts/TINY.PARTSBND.blend')}",
        f"done {Path('game/parts/deep/strange name')} -> {Path('out/parts/deep/strange name.blend')}",
        "3 converted, 1 failed, 1 with nothing to convert",
    ]
    assert f"{NAME}: " in lines[3]
    assert lines[3].endswith(" s")
    (game / "broken.flver.dcx").unlink()
    status, lines, _errors = command("game", "--out", "out", "--skip-existing")
    assert (status, lines[-1]) == (0, "3 skipped, 1 with nothing to convert")


def test_the_command_takes_its_options(command, game, tmp_path):
    options = ("--format", "glb", "--include", "model", "--scale", "2", "--verbose")
    status, lines, _errors = command("game/parts/deep/strange name", "--out", "out", *options)
    assert (status, lines[-1]) == (0, "1 converted")
    tree = gltf(tmp_path / "out" / "strange name.glb")
    assert [2.0, 2.0, 2.0] in [[round(each, 5) for each in node.get("scale", [])] for node in tree["nodes"]]


def test_folders_of_games_are_those_of_the_options_or_of_the_preferences(api, game, tmp_path, monkeypatch):
    from addon.operators import convert
    from addon.scene import GameFolders, Preferences

    asked = []
    monkeypatch.setattr(api, "convert", lambda _inputs, _out, settings, _tell: asked.append(settings) or [])
    stored = GameFolders(Path("old sekiro"), Path("old ring"))
    monkeypatch.setattr(convert, "preferences", lambda _context: Preferences(folders=stored))
    for options in ([], ["--elden-ring", "new ring"], ["--no-textures"]):
        assert convert.run(["convert", str(game), "--out", str(tmp_path), *options]) == 0
    assert [each.folders for each in asked] == [stored, GameFolders(Path("old sekiro"), Path("new ring")), stored]
    assert [each.textures for each in asked] == [True, True, False]


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["game"], "--out"),
        (["nowhere", "--out", "out"], "No such file or folder: nowhere"),
        (["game", "--out", "game/text.txt"], "Not a folder: game"),
        (["game", "--out", "out", "--include", "model,hair"], "'hair' is not a valid Part"),
        (["game", "--out", "out", "--scale", "0"], "'0' is no number above 0"),
    ],
)
def test_mistakes_in_the_command_line_have_a_status_of_their_own(api, game, args, said, monkeypatch, capsys):
    from addon.operators.convert import run

    monkeypatch.chdir(game.parent)
    assert run(["convert", *args]) == 2
    assert said in capsys.readouterr().err
    assert not Path("out").exists()


def test_the_command_is_there_while_registered(blender, capfd):
    import addon
    from addon.operators.convert import COMMAND

    def is_known() -> bool:
        capfd.readouterr()
        blender.utils.unregister_cli_command(blender.utils.register_cli_command(COMMAND, len))
        return "duplicate" in capfd.readouterr().err

    assert is_known()
    addon.unregister()
    assert not is_known()
    addon.register()
    assert is_known()
