"""What importers make is what Blender and its exporters call valid, and links that share an edge lose nothing."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from addon.cloth.edits.edited import sims_of
from addon.codec.havok.cloth import constraints as records
from tests.cloth.corpus import CLOTHS
from tests.cloth.editing import F, source
from tests.corpus import BINDERS
from tests.sample import write_sample
from tests.scene.cloth_exports import export, exported, link, load
from tests.scene.test_cloth_import import values

MODELS = [name for name, models in BINDERS.items() if models]
COLLISION = ["eldenring/h_collision.hkx.dcx", "eldenring/tool_made_collision.hkx"]
SKIRT = "eldenring/bd_f_9002_l.partsbnd.dcx"


def invalid(bpy) -> list[str]:
    """Return the names of the meshes of the file that validating changes."""
    return [mesh.name for mesh in bpy.data.meshes if mesh.validate(verbose=True)]


@pytest.mark.parametrize("name", MODELS)
def test_models_with_their_cloth(scene_api, blender, corpus, name):
    assert not scene_api.import_flver(blender.context, [corpus(name)]).failures
    assert not invalid(blender)


@pytest.mark.parametrize("name", sorted(CLOTHS.values()))
def test_cloth_alone(scene_api, blender, corpus, name):
    assert not scene_api.import_cloth(blender.context, [corpus(name)]).failures
    assert not invalid(blender)


@pytest.mark.parametrize("name", COLLISION)
def test_collision(scene_api, blender, corpus, name):
    assert not scene_api.import_collision(blender.context, [corpus(name)]).failures
    assert not invalid(blender)


def test_the_sample(scene_api, blender, tmp_path):
    assert not scene_api.import_flver(blender.context, write_sample(tmp_path)).failures
    assert not invalid(blender)
    assert [obj for obj in blender.data.objects if obj.get("cloth_kind") == "links"]


def test_links_between_the_same_particles_share_an_edge(scene_api, corpus, tmp_path):
    """What is set of the edge is set of all; where it is not, each keeps its own."""
    import shutil

    path = shutil.copyfile(corpus(SKIRT), tmp_path / "skirt.partsbnd.dcx")
    made, record = load(scene_api, path), sims_of(source(corpus, "BD_M_2210_c.hkx").cloth)[0]
    place = next(row for row, one in enumerate(record.constraints) if isinstance(one, records.BendStiffness))
    obj, bends = link(made, "BendStiffness"), record.constraints[place]
    assert len(obj.data.edges) == bends.indices.shape[1] - 5
    edge = int(np.flatnonzero(values(obj.data, "row") == 96)[0])
    assert set(obj.data.edges[edge].vertices) == set(bends.indices[:2, 359].tolist())
    obj.data.attributes["stiffness"].data[edge].value = 0.5
    new = exported(scene_api, made.collection, tmp_path / "a.hkx", insist=True)
    stiffness = sims_of(new)[0].constraints[place].stiffness
    assert np.flatnonzero(stiffness != bends.stiffness).tolist() == [96, 359]
    obj.data.attributes["stiffness"].data[edge].value = float(values_of_edge(record, place, 96))
    assert not export(scene_api, made.collection, path).written


def values_of_edge(record, place, row):
    from addon.cloth.edits.terms import shares

    return shares(record.constraints[place], record.inverse_mass)[row]


def test_edges_of_odd_links(blender):
    """Links of a pair either way round whose stiffness differs, and one from a particle to itself, which none shows."""
    from addon.scene.cloth import links

    ends = np.array([(3, 2), (0, 1), (2, 3), (1, 1), (1, 0), (2, 0)], np.uint16)
    one = records.StandardLinks("odd", *ends.T.copy(), np.ones(6, F), np.ones(6, F))
    shares = np.array([0.1, 0.2, 0.3, 0.4, 0.5, 0.6], F)
    mesh = blender.data.meshes.new("odd")
    links.fill_links(mesh, np.eye(4, 3, dtype=F), one)
    obj = blender.data.objects.new("odd", mesh)
    links.write_stiffness(obj, one, shares)
    assert [tuple(edge.vertices) for edge in mesh.edges] == [(3, 2), (0, 1), (2, 0)]
    assert not mesh.validate(verbose=True)
    np.testing.assert_array_equal(links.read_stiffness(obj, one, shares), shares)
    mesh.attributes["stiffness"].data[1].value = 0.75
    read = links.read_stiffness(obj, one, shares)
    np.testing.assert_array_equal(read, np.array([0.1, 0.75, 0.3, 0.4, 0.75, 0.6], F))
    none = replace(one, a=one.a[:0], b=one.b[:0], rest=one.rest[:0], stiffness=one.stiffness[:0])
    empty = blender.data.objects.new("none", blender.data.meshes.new("none"))
    links.fill_links(empty.data, np.eye(4, 3, dtype=F), none)
    links.write_stiffness(empty, none, shares[:0])
    assert links.read_stiffness(empty, none, shares[:0]).shape == (0,)
