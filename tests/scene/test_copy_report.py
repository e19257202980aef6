"""Copy Report: what it gathers, and that nothing tells who sent it."""

from __future__ import annotations

import getpass
import tomllib
from pathlib import Path

import pytest

from addon.operators.masking import masked
from tests.fresh import ROOT
from tests.scene import tiny

NAMES = ("Jo", "joe.bloggs")


@pytest.mark.parametrize(
    ("text", "hidden"),
    [
        (r"C:\Users\Jo\My Mods\c4500.chrbnd.dcx: holds no cloth", r"...\c4500.chrbnd.dcx: holds no cloth"),
        (r"d:/Games (x86)/ELDEN RING/Game/parts/a.dcx", r"...\a.dcx"),
        (r"\\server\share\deep\a.dcx", r"...\a.dcx"),
        (r"\\server\share\Doe, John\a.dcx", r"...\a.dcx"),
        (r"C:\a\b.dcx and D:\c\d.dcx", r"...\b.dcx and ...\d.dcx"),
        ("'/home/jo/My Mods/c4500.chrbnd.dcx': cut off", "'.../c4500.chrbnd.dcx': cut off"),
        ("~/mods/a.dcx", ".../a.dcx"),
        ("/home/a.dcx (/media/disk/b.dcx)", ".../b.dcx)"),  # " (" may be part of a folder's name
        ("file is /secret", "file is .../secret"),
        ("JO, jo's and joe.bloggs made jo_c4500.flver", "<user>, <user>'s and <user> made <user>_c4500.flver"),
        ("3 meshes, 1/2 of a.flver and/or b; jolly joint 4 / 5", None),
        ("N:\\GR\\data\\c4500.flver", "...\\c4500.flver"),
    ],
)
def test_folders_and_names_are_masked(text, hidden):
    assert masked(text, NAMES) == (text if hidden is None else hidden)


def test_the_user_of_this_machine_is_masked_by_default(monkeypatch):
    monkeypatch.setenv("USERNAME", "somebody")
    text = masked(f"{Path.home() / 'a.flver'} of {getpass.getuser()} or Somebody")
    assert text == ".../a.flver of <user> or <user>"


@pytest.fixture
def api(scene, blender):
    from addon.operators import copy_report, report

    setattr(blender.context.window_manager, report.LOG, "")
    return copy_report


def test_it_gathers_versions_and_what_imports_and_exports_said(api, blender, tmp_path, monkeypatch):
    folder = tmp_path / "Bloggs family" / "secret place"
    folder.mkdir(parents=True)
    monkeypatch.setenv("USERNAME", "Bloggs")
    path = tiny.write(folder / "tiny of bloggs.partsbnd.dcx", tiny.model())
    (folder / "broken.flver").write_bytes(b"FLVER\0 and no more")
    assert api.full_report(blender.context).endswith("\nNothing was imported or exported yet\n")
    ops = blender.ops
    ops.import_scene.ossuary_flver(filepath=str(path))
    with pytest.raises(RuntimeError):
        ops.import_scene.ossuary_flver(filepath=str(folder / "broken.flver"))
    with pytest.raises(RuntimeError):
        ops.import_scene.ossuary_flver(filepath=str(folder / "nowhere.flver"))
    blender.context.view_layer.objects.active = blender.data.objects["tiny"]
    ops.export_scene.ossuary_flver(filepath=str(folder / "other.flver"))
    text = api.full_report(blender.context)
    version = tomllib.loads((ROOT / "blender_manifest.toml").read_text("utf-8"))["version"]
    for part in (
        f"Ossuary: {version}\n", f"Blender: {blender.app.version_string} (", "System: ", "Python: 3.", "numpy: ",
        "Imported tiny: 4 bones", "  tiny: 1 triangles that repeat a vertex", "open 0.",
        "broken.flver: ", "No such file", "Exported other.flver",
    ):  # fmt: skip
        assert part in text
    for word in (
        "bloggs",
        "secret",
        "family",
        str(tmp_path).lower(),
        *filter(None, map(str.lower, tmp_path.parts[1:])),
    ):
        assert word not in text.lower()
    assert "<user>" in text or "tiny of" not in text


def test_the_log_is_kept_short(api, blender):
    from addon.operators import report

    for number in range(30):
        report.keep(blender.context, f"message {number}", [f"line {line}" for line in range(200)], {"open": 0.5})
    text = api.full_report(blender.context)
    assert "message 20\n" in text
    assert "message 19\n" not in text
    assert text.count("... and 140 more") == 10
    assert report.kept(blender.context)[0] == "message 29"
    assert len(report.kept(blender.context)) == 201


def test_the_operators_copy_it(api, blender):
    assert blender.ops.wm.ossuary_copy_report() == {"FINISHED"}
