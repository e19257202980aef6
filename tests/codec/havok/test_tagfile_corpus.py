"""Every tagfile of the corpus: rewritten bit for bit, and the same values as a plain reader finds."""

from __future__ import annotations

import numpy as np
import pytest

from addon.codec import Tagfile
from addon.codec.havok.layout import REFERENCES, Kind, Layout
from tests.codec.havok.tagfile_corpus import COUNTS, TOOL_MADE, Find, Sample, sample, samples
from tests.reference import tagfile_plain

PLAIN_LIMIT = 8  # files of one binder that are held against the plain reader, which is slow


@pytest.mark.parametrize("source", COUNTS)
def test_rewritten_bit_for_bit(corpus: Find, source: str):
    found = samples(corpus, source)
    assert len(found) == COUNTS[source]
    for one in found:
        tag = one.read()
        assert tag.write() == one.data, one.name
        assert (tag.arrangement is not None) == (source == TOOL_MADE), one.name
        if source != TOOL_MADE:
            assert not [item for item in tag.items if item.lead or item.alignment], one.name
        own = (tag.types.body_order, tag.types.type_names, tag.types.member_names, tag.types.pointers)
        assert (own != (None, None, None, None)) == (source == TOOL_MADE), one.name
        assert (tag.sdk == "20160200") == (source.startswith("sekiro") and not tag.ids)


@pytest.mark.parametrize("source", COUNTS)
def test_values_are_those_of_the_plain_reader(corpus: Find, source: str):
    for one in samples(corpus, source)[:PLAIN_LIMIT]:
        if one.data[4:8] == b"TAG0":
            compare(one)


def compare(one: Sample) -> None:
    tag, wanted = one.read(), tagfile_plain.read(one.data, one.compendium)
    assert len(tag.items) == len(wanted)
    for item, plain in zip(tag.items[1:], wanted[1:], strict=True):
        assert (item.layout.name, item.flags) == (plain.kind, plain.flags)
        # as text: a NaN is not equal to itself
        mine = [values_of(tag, item.layout, item.values[place, ...]) for place in range(len(item))]
        assert repr(mine) == repr(sorted_members(plain.values)), (one.name, item.layout.name)


def values_of(tag: Tagfile, layout: Layout, value: np.ndarray) -> object:
    """Return a value of the codec as the plain reader gives it."""
    if layout.kind is Kind.RECORD:
        if value.ndim:
            return [values_of(tag, layout, value[place, ...]) for place in range(len(value))]
        fields = sorted((name, member.layout) for name, member in layout.members.items())
        return {name: values_of(tag, inner, value[name]) if inner.size else None for name, inner in fields}
    if layout.kind in REFERENCES:
        return (value["item"] if value.dtype.names else value).tolist()
    if layout.kind is Kind.HALF:
        value = (value.astype("u4") << np.uint32(16)).view("f4")
    if layout.kind in {Kind.NUMBER, Kind.BOOL, Kind.HALF}:
        plain = value.tolist()
        return {"value": plain} if layout.name == "hkHandle" else plain
    return None


def sorted_members(value: object) -> object:
    if isinstance(value, list):
        return [sorted_members(one) for one in value]
    if isinstance(value, dict):
        return {name: sorted_members(one) for name, one in sorted(value.items())}
    return value


def test_cloth_is_reached_from_the_root(corpus: Find):
    tag = sample(corpus, "sekiro/c7190.chrbnd.dcx", "c7190_c.hkx").read()
    assert len(tag.items) == 1488
    container = next(one for one in tag.root.many("namedVariants") if one.text("className") == "hclClothContainer")
    datas = container.one("variant").links("clothDatas").views()
    sims = [sim for data in datas for sim in data.links("simClothDatas").views()]
    assert len(sims) == 5
    assert sum(len(sim.many("particleDatas")) for sim in sims) == 3941
    for sim in sims:
        particles = sim.many("particleDatas")
        assert particles.numbers("mass", "f4").shape == (len(particles),)
        poses = sim.links("simClothPoses").views()
        assert [pose.numbers("positions", "f4", (4,)).shape for pose in poses] == [(len(particles), 4)] * len(poses)


def test_collision_written_by_a_tool(corpus: Find):
    tag = sample(corpus, TOOL_MADE, "tool_made_collision.hkx").read()
    shape = next(tag.find("hknpCompressedMeshShape"))
    assert shape.layout.name == "fsnpCustomParamCompressedMeshShape"
    tree = shape.one("data").one("meshTree")
    assert tree.numbers("packedVertices", "u4").shape == (116,)
    assert tree.many("primitives").numbers("indices", "u1", (4,)).shape == (110, 4)
    assert tree.many("sections").numbers("codecParms", "f4", (6,)).shape == (1, 6)
    parameter = shape.one("pParam")
    triangles, starts = parameter.many("primitiveDataArray").links("vertexData").joined()
    assert len(triangles) == starts[-1] == 0
    assert len(parameter.many("triangleDataArray")) == 210


def test_ragdoll_shapes_use_relative_arrays_and_half_floats(corpus: Find):
    for source, name in (("sekiro/c7190.chrbnd.dcx", "c7190.hkx"), ("eldenring/c0000.chrbnd.dcx", "c0000.HKX")):
        tag = sample(corpus, source, name).read()
        shapes = [shape for shape in tag.find("hknpConvexShape") if not shape.values.ndim]
        assert shapes
        for shape in shapes:
            vertices = shape.numbers("vertices", "f4", (4,))
            assert len(vertices)
            assert np.isfinite(vertices[:, :3]).all()
            assert 0 <= shape.numbers("maxAllowedPenetration", "f4") < 100


def test_a_longer_and_a_shorter_array(corpus: Find):
    one = sample(corpus, "sekiro/c7190.chrbnd.dcx", "c7190_c.hkx")
    tag = one.read()
    sims = list(tag.find("hclSimClothData"))
    particles, pinned = sims[0].many("particleDatas").values, sims[1].numbers("fixedParticles", "u2")
    sims[0]["particleDatas"] = np.concatenate([particles, particles[:7]])
    sims[1]["fixedParticles"] = pinned[:3]
    sims[2]["fixedParticles"] = pinned[:0]
    sims[3]["name"] = "a name that is longer than the one before"
    again = Tagfile.read(tag.write())
    assert again.arrangement is None
    assert again.write() == tag.write()
    fresh = list(again.find("hclSimClothData"))
    assert fresh[0].many("particleDatas").values.tobytes() == particles.tobytes() + particles[:7].tobytes()
    assert np.array_equal(fresh[1].numbers("fixedParticles", "u2"), pinned[:3])
    assert fresh[2].numbers("fixedParticles", "u2").shape == (0,)
    assert fresh[3].text("name") == "a name that is longer than the one before"
    assert len(again.items) == len(tag.items) - 1
    assert fresh[4].values.dtype == sims[4].values.dtype


def test_an_edited_file_of_a_tool_keeps_its_order(corpus: Find):
    tag = sample(corpus, TOOL_MADE, "tool_made_collision.hkx").read()
    system = next(tag.find("hknpPhysicsSystemData"))
    system["name"] = "named now"
    again = Tagfile.read(tag.write())
    assert next(again.find("hknpPhysicsSystemData")).text("name") == "named now"
    assert again.arrangement is not None
    assert [item.layout.name for item in again.items][:25] == [item.layout.name for item in tag.items][:25]
