"""Cloth for tests: imported, edited, exported, and read back."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from addon.codec import Tagfile, read_cloth
from addon.codec.source import Kind, open_source
from tests.cloth.corpus import CLOTHS
from tests.sample import write_sample
from tests.scene.test_cloth_import import model

SAMPLE = "the sample"
every_cloth = pytest.mark.parametrize("name", [*CLOTHS, SAMPLE])


def copied(corpus, name: str, folder: Path) -> Path:
    """Return a copy of the binder of a cloth, in a folder."""
    if name == SAMPLE:
        return write_sample(folder)[0]
    path = corpus(CLOTHS[name])
    return Path(shutil.copyfile(path, folder / path.name))


def members(path: Path) -> list:
    return [each for each in open_source(path).members if each.kind == Kind.CLOTH]


def contents(path: Path) -> list[tuple[str, int, bytes]]:
    return [(each.path, each.id, bytes(each.data())) for each in open_source(path).members]


def stored(data: bytes):
    return read_cloth(Tagfile.read(data, None, "the cloth"))


def load(scene_api, path: Path):
    """Import a binder; return the cloth in it, on its model's armature."""
    import bpy

    made = model(scene_api, path).cloths[0]
    bpy.context.view_layer.update()
    return made


def export(scene_api, collection, path: Path, **settings):
    import bpy

    return scene_api.export_cloth(bpy.context, collection, path, scene_api.ClothExportSettings(**settings))


def exported(scene_api, collection, path: Path, **settings):
    """Export without errors; return the records that are in the file."""
    result = export(scene_api, collection, path, **settings)
    assert not result.errors, result.details
    return stored(result.data)


def paint(obj, name: str, rows, value) -> None:
    """Set an attribute of some points, vertices or edges."""
    for row in np.atleast_1d(rows).tolist():
        obj.data.attributes[name].data[row].value = value


def cloud(made, sim: int = 0):
    return next(obj for obj in made.points if obj["cloth_sim"] == sim)


def link(made, kind: str, sim: int = 0):
    return next(obj for obj in made.links if (obj["cloth_sim"], obj["cloth_set"]) == (sim, kind))
