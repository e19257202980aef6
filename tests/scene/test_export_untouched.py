"""Untouched means unchanged: import, export, same bytes. And what the scene holds is taken from the scene."""

from __future__ import annotations

import numpy as np
import pytest

from addon.codec.flver import Flver, Vertices, encode_vertices, uv_factor
from tests.corpus import every_model
from tests.sample import make_sample
from tests.scene import tiny
from tests.scene.shown import load
from tests.scene.written import changed_bytes, differences, gathered, source, written


@pytest.fixture
def corpus_model(scene_api, corpus, binder: str, model: str):
    import bpy

    settings = scene_api.FlverSettings(member_filter=model)
    result = scene_api.import_flver(bpy.context, [corpus(binder)], settings)
    return result.models[0]


def spoil(flver: Flver) -> Flver:
    """Change in a model all that the scene holds of it."""
    for field in ("bounds_min", "bounds_max"):
        flver.header[field] += 1
        flver.nodes[field] = 7
    flver.header["true_face_count"] = flver.header["total_face_count"] = flver.header["unk68"] = 3
    for field in ("translation", "rotation", "scale"):
        flver.nodes[field] = 5.5
    flver.nodes["flags"], flver.nodes["parent"] = 0x40, -1
    flver.node_names = ["spoiled"] * len(flver.nodes)
    for field in flver.dummies.dtype.names:
        if field != "unk38":
            flver.dummies[field] = 1
    for material in flver.materials:
        if material.record["string_size"]:
            continue  # made by a tool that stores a wrong size, which is kept as long as the strings are
        material.name, material.path = "spoiled", "spoiled"
        for texture in material.textures:
            texture.path = texture.type = "spoiled"
            texture.record["scale"] = 9
    for i, mesh in enumerate(flver.meshes):
        vertices = flver.vertices(i)
        mesh.dynamic, mesh.node, mesh.material = 1 - mesh.dynamic, 0, 0
        if mesh.bounds is not None:
            mesh.bounds["center" if "center" in mesh.bounds.dtype.names else "min"] += 3
        for face_set in mesh.face_sets:
            if face_set.lod == 0 and not face_set.motion_blur:
                face_set.indices = np.roll(face_set.indices, 1)
        mesh.buffers = encode_vertices(spoiled(vertices), mesh.buffers, flver.layouts, uv_factor(flver.version))
    return flver


def spoiled(vertices: Vertices) -> Vertices:
    """Return vertices of which all that has a meaning is another."""
    for name, value in vars(vertices).items():
        if isinstance(value, np.ndarray):
            setattr(
                vertices, name, np.roll(value, 1, axis=0) * 0.5 + (1 if name in {"bones", "normal_nodes"} else 0.25)
            )
        elif isinstance(value, dict):
            setattr(vertices, name, {key: np.roll(array, 1, axis=0) * 0.5 + 0.25 for key, array in value.items()})
    return vertices


@every_model
def test_corpus_models_come_back_to_the_byte(corpus_model):
    flver, problems = gathered(corpus_model.collection)
    assert not problems.errors
    assert flver.write() == source(corpus_model.collection)


@every_model
def test_the_scene_is_gathered_whatever_the_source_says(corpus_model):
    before = source(corpus_model.collection)
    flver, problems = gathered(corpus_model.collection, spoil(Flver.read(before)))
    assert not problems.errors
    assert differences(Flver.read(before), Flver.read(flver.write())) == set()
    assert flver.write() == before


@pytest.mark.parametrize("make", [tiny.model, make_sample])
def test_models_made_here_come_back_to_the_byte(scene_api, tmp_path, make):
    imported = load(scene_api, tiny.write(tmp_path / "a.partsbnd.dcx", make()))
    assert written(imported.collection).write() == make().write()
    flver, _ = gathered(imported.collection, spoil(Flver.read(make().write())))
    assert differences(Flver.read(make().write()), Flver.read(flver.write())) == set()
    assert flver.write() == make().write()


@pytest.mark.parametrize(
    "settings",
    [{"lods": "ALL"}, {"lods": "CHOSEN", "lod": 1}, {"custom_normals": False}, {"dummies": False}, {"scale": 3.0}],
)
def test_options_of_the_import_change_nothing(scene_api, tmp_path, settings):
    imported = load(scene_api, tiny.write(tmp_path / "a.partsbnd.dcx", make_sample()), **settings)
    assert written(imported.collection).write() == make_sample().write()


def test_one_float_in_the_scene_is_one_float_in_the_file(imported):
    before = source(imported.collection)
    imported.meshes[0].data.vertices[2].co.x += 2**-7
    after = written(imported.collection)
    assert differences(Flver.read(before), after) == {
        "meshes[0].position0", "header.bounds_max", "header.bounds_min", "nodes[0].bounds_max", "nodes[1].bounds_max",
        "nodes[0].bounds_min", "nodes[1].bounds_min",
    }  # fmt: skip
    imported.meshes[0].data.vertices[2].co.x -= 2**-7
    assert written(imported.collection).write() == before


def test_one_float_inside_the_bounds_changes_its_bytes_only(scene_api, corpus):
    imported = load(scene_api, corpus("eldenring/am_m_1122.partsbnd.dcx"))
    before = source(imported.collection)
    flver = Flver.read(before)
    inside = int(np.argmin(np.linalg.norm(flver.vertices(0).positions - flver.vertices(0).positions.mean(0), axis=1)))
    imported.meshes[0].data.vertices[inside].co.z += 2**-14
    changed = changed_bytes(before, written(imported.collection).write())
    assert 1 <= len(changed) <= 4
    assert changed[-1] - changed[0] < 4


def test_it_works_from_a_saved_file_without_the_source(scene_api, tiny_file, tmp_path):
    import bpy

    imported = load(scene_api, tiny_file)
    before = source(imported.collection)
    tiny_file.unlink()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "saved.blend"))
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "saved.blend"))
    (collection,) = scene_api.models(bpy.context)
    assert written(collection).write() == before
