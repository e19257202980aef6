"""Collision written back untouched: same bytes in every form; and where it is written."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from addon.codec import Dcx
from tests.collision.build import body, build, grid
from tests.collision.parts import ball, box, extern, group
from tests.scene import collision_files as made
from tests.scene.collision_exports import activate, contents, export, load, members, stored

BESIDE = "eldenring/h_collision.compendium.dcx"


@pytest.fixture
def copy(corpus, tmp_path):
    def copied(name: str) -> Path:
        if "h_collision" in name:
            shutil.copyfile(corpus(BESIDE), tmp_path / Path(BESIDE).name)
        return Path(shutil.copyfile(corpus(name), tmp_path / Path(name).name))

    return copied


@pytest.mark.parametrize(
    ("name", "scale"),
    [
        ("eldenring/tool_made_collision.hkx", 1.0), ("eldenring/h_collision.hkx.dcx", 1.0),
        ("eldenring/h_collision.hkx.dcx", 0.37), ("eldenring/c4500.chrbnd.dcx", 1.0),
        ("eldenring/c0000.chrbnd.dcx", 0.37), ("sekiro/c7190.chrbnd.dcx", 1.0),
    ],
)  # fmt: skip
def test_corpus_files_untouched(scene_api, copy, tmp_path, name, scale):
    path = copy(name)
    before, file = contents(path), path.read_bytes()
    objects = load(scene_api, path, scale=scale)
    result = export(scene_api, path)
    assert (result.errors, result.warnings, result.written) == ([], [], False)
    assert path.read_bytes() == file
    assert result.data in [data for _, data in before]
    again = path.with_name(f"again-{path.name}")
    assert export(scene_api, again).written
    assert [data for _, data in contents(again)] == [data for _, data in before]
    for ending in (".hkx", ".hkx.dcx"):
        loose = tmp_path / f"loose{ending}"
        assert export(scene_api, loose).written
        assert (Dcx.read(loose.read_bytes()).content if "dcx" in ending else loose.read_bytes()) == result.data
    assert len(objects) == len(stored(path))


def parts(sdk: str):
    """Return bodies of all kinds."""
    turn = np.float32([0, np.sin(0.3), 0, np.cos(0.3)])
    source = grid(3)
    source.points = [np.float32([[9, 0, 9], [10, 0, 9], [9, 0, 10], [9, 1, 9]])]
    yield body(build(grid(5), flagged=sdk != "20160200"), "mesh", (1, 2, 3), turn)
    yield body(build(source, flagged=sdk != "20160200"), "points")
    yield body(extern(3, old=sdk == "20160200"), "extern", (0, 5, 0))
    yield body(box((1, 2, 6)), "box", (10, 20, 30), turn)
    yield body(ball("capsule", (0, 0, 0), (0, 2, 0), 0.5), "capsule")
    yield body(None, "nothing")
    if sdk != "20160200":
        yield body(group((np.eye(4), box((1, 1, 1)))), "group")


@pytest.mark.parametrize("sdk", ["20160200", "20180100"])
def test_all_kinds_of_shapes_untouched(scene_api, tmp_path, sdk):
    path = tmp_path / "o100200.hkx"
    path.write_bytes(made.hkx(*parts(sdk), sdk=sdk))
    before = path.read_bytes()
    load(scene_api, path)
    result = export(scene_api, path)
    assert (result.details, result.written, result.data) == ([], False, before)


def test_a_split_binder_untouched(scene_api, tmp_path):
    header = made.area(tmp_path)["h"]
    data = header.with_suffix(".hkxbdt")
    before = header.read_bytes(), data.read_bytes()
    load(scene_api, header)
    for target in (header, data):
        result = export(scene_api, target)
        assert (result.details, result.written) == ([], False)
    assert (header.read_bytes(), data.read_bytes()) == before
    copy = tmp_path / "copy" / header.name
    copy.parent.mkdir()
    result = export(scene_api, copy)
    assert result.written
    assert (copy.read_bytes(), copy.with_suffix(".hkxbdt").read_bytes()) == before


def test_faces_in_another_order_are_untouched(scene_api, tmp_path):
    import bmesh

    path = tmp_path / "h11_00_00_00_000100.hkx"
    path.write_bytes(made.hkx(body(made.ground(), "h000100")))
    (obj,) = load(scene_api, path)
    shape = bmesh.new()
    shape.from_mesh(obj.data)
    shape.faces.ensure_lookup_table()
    for place, face in enumerate(shape.faces):
        face.index = (place * 7) % 32
    shape.faces.sort()
    for place, vertex in enumerate(shape.verts):
        vertex.index = -place
    shape.verts.sort()
    shape.to_mesh(obj.data)
    shape.free()
    result = export(scene_api, path)
    assert (result.details, result.written) == ([], False)


def test_the_bytes_are_kept_once_a_file_in_the_blend(scene_api, tmp_path):
    import bpy

    path = tmp_path / "o100200.hkx"
    path.write_bytes(made.hkx(*parts("20180100")))
    before = path.read_bytes()
    load(scene_api, path)
    kept = [bytes(each[name]) for each in bpy.data.collections for name in each.keys() if "packed" in name]  # noqa: SIM118
    assert kept == [before]
    path.unlink()
    assert export(scene_api, tmp_path / "new.hkx").data == before


def test_without_the_bytes_the_file_must_be_as_it_was(scene_api, tmp_path):
    import bpy

    path = tmp_path / "o100200.hkx"
    path.write_bytes(made.hkx(*parts("20180100")))
    load(scene_api, path)
    for each in bpy.data.collections:
        for name in [name for name in each.keys() if "packed" in name]:  # noqa: SIM118
            del each[name]
    assert export(scene_api, path).details == []
    path.write_bytes(made.hkx(body(made.ground())))
    assert "has changed since" in str(export(scene_api, path).errors[0])
    path.unlink()
    assert "is gone" in str(export(scene_api, path).errors[0])


@pytest.mark.parametrize("form", ["hkx", "binder", "split"])
def test_files_that_are_too_large_for_the_blend_are_written_again_and_again(scene_api, tmp_path, monkeypatch, form):
    monkeypatch.setattr("addon.scene.collision.sources.PACKED_MAX", 0)
    files = {"h11_00_00_00_000100.hkx": made.hkx(body(made.ground(), "h000100"))}
    if form == "split":
        path = made.area(tmp_path)["h"]
    elif form == "binder":
        path = made.binder(tmp_path / "h11_00_00_00.hkxbnd.dcx", files)
    else:
        path = tmp_path / next(iter(files))
        path.write_bytes(files[path.name])
    before = contents(path)
    obj = load(scene_api, path)[0]
    height = obj.data.vertices[0].co.z
    for _ in range(3):
        obj.data.vertices[0].co.z += 0.25
        result = export(scene_api, path)
        assert (result.details, result.written) == ([], True)
    assert [name for name, data in contents(path) if (name, data) not in before] == [before[0][0]]
    obj.data.vertices[0].co.z = height
    assert export(scene_api, path).written
    assert contents(path) == before


def test_a_moved_part_and_a_size_in_the_scene_are_no_edits(scene_api, tmp_path):
    path = tmp_path / "h11_00_00_00_000100.hkx"
    path.write_bytes(made.hkx(body(made.ground(), "h000100")))
    (obj,) = load(scene_api, path, scale=0.01)
    obj.parent.location = (5, 6, 7)
    result = export(scene_api, path)
    assert (result.details, result.written) == ([], False)


def test_one_member_of_several_into_a_loose_file(scene_api, tmp_path):
    names = ("a.hkx", "b.hkx")
    files = {name: made.hkx(body(made.ground(side), name)) for side, name in enumerate(names, 2)}
    path = made.binder(tmp_path / "o.objbnd.dcx", files)
    first, second = load(scene_api, path)
    activate(second)
    result = export(scene_api, tmp_path / "b.hkx")
    assert result.data == files["b.hkx"]
    activate(None)
    assert "2 members do not go into one .hkx" in str(export(scene_api, tmp_path / "c.hkx").errors[0])
    assert first.name != second.name


def test_names_that_say_nothing_and_other_kinds_of_binders(scene_api, tmp_path):
    header = made.area(tmp_path)["h"]
    load(scene_api, header)
    assert "must end in .hkx" in str(export(scene_api, tmp_path / "a.obj").errors[0])
    assert "another kind of binder" in str(export(scene_api, tmp_path / "a.objbnd").errors[0])
    made.binder(tmp_path / "b.objbnd.dcx", {"other.hkx": b"something"})
    assert "holds no h11" in str(export(scene_api, tmp_path / "b.objbnd.dcx").errors[0])
    (header.with_suffix(".hkxbdt")).unlink()
    assert "is not beside it" in str(export(scene_api, header).errors[0])


def test_a_pair_is_replaced_whole_or_not_at_all(scene_api, tmp_path, monkeypatch):
    header = made.area(tmp_path)["h"]
    data = header.with_suffix(".hkxbdt")
    objects = load(scene_api, header)
    objects[0].data.vertices[0].co.z += 0.25
    before = header.read_bytes(), data.read_bytes()

    def full(*_arguments):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("os.fsync", full)
        assert "No space left" in str(export(scene_api, header).errors[0])
    assert (header.read_bytes(), data.read_bytes()) == before
    assert not list(tmp_path.glob(".ossuary*"))
    result = export(scene_api, header)
    assert (result.details, result.written) == ([], True)
    assert data.with_name(data.name + ".bak").read_bytes() == before[1]
    now = contents(header)
    assert len(now) == 3
    assert [each.name for each in members(header)] == [f"{each}.dcx" for each in _parts()]


def _parts():
    return [f"h11_01_00_00_{model:06}.hkx" for model in (100, 200)]
