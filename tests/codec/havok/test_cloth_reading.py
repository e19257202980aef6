"""Cloth records of real files, and what is refused."""

from __future__ import annotations

import dataclasses
from functools import cache

import numpy as np
import pytest

from addon.codec import FormatError, Tagfile, read_cloth
from addon.codec.havok import cloth as records
from addon.codec.havok.cloth.checks import check_cloth
from addon.codec.havok.cloth.values import unpack
from tests.codec.havok.tagfile_corpus import sample

# tagfile: binder, cloth datas, particles, fixed particles, collidables (objects, references), display buffers
FILES = {
    "c7190_c.hkx": ("sekiro/c7190.chrbnd.dcx", 5, 3941, 575, 3, 6, 7),
    "c4500_c.hkx": ("eldenring/c4500.chrbnd.dcx", 14, 1094, 540, 0, 0, 8),
    "HD_M_1140_c.hkx": ("eldenring/hd_m_1140.partsbnd.dcx", 2, 42, 18, 0, 0, 2),
    "HD_M_1630_c.hkx": ("eldenring/hd_m_9000.partsbnd.dcx", 3, 135, 15, 0, 0, 3),
    "BD_M_2210_c.hkx": ("eldenring/bd_f_9002_l.partsbnd.dcx", 4, 425, 94, 7, 14, 5),
}
HAT = "HD_M_1140_c.hkx"


def tagfile(corpus, name):
    return sample(corpus, FILES[name][0], name).read()


@pytest.fixture(params=sorted(FILES))
def named(request, corpus):
    return request.param, read_cloth(tagfile(corpus, request.param))


def test_counts(named):
    name, cloth = named
    sims = [sim for data in cloth for sim in data.sims]
    bodies = [one for sim in sims for one in sim.collidables]
    displays = [buffer for data in cloth for buffer in data.buffers if buffer.type == records.BufferType.DISPLAY]
    found = (
        len(cloth), sum(map(len, sims)), sum(len(sim.fixed) for sim in sims), len(set(map(id, bodies))), len(bodies),
        len(displays),
    )  # fmt: skip
    assert found == FILES[name][1:]
    assert not cloth.authoring_only
    assert not cloth.collidables
    assert [data.platform for data in cloth] == [2] * len(cloth)


def test_states(named):
    _, cloth = named
    for data in cloth:
        names = [state.name for state in data.states]
        assert len(names) == 5
        assert names[2:] == ["_Skin", f"_preAtoS_{names[0]}", f"_curAtoS_{names[0]}"]
        assert any(isinstance(data.operators[index], records.Simulate) for index in data.states[0].operators)


def test_blocks_hold_every_vertex_once(named):
    _, cloth = named
    for data in cloth:
        for operator in data.operators:
            if not isinstance(operator, records.Skin | records.MeshMeshDeform):
                continue
            vertices = np.concatenate([blend.vertices for blend in operator.blends])
            assert len(np.unique(vertices)) == len(vertices)
            for blend in operator.blends:
                if blend.weights is not None:
                    assert np.allclose(blend.weights.astype(np.float64).sum(1), 1, atol=1e-6)
                if operator.binds is None:
                    assert np.allclose(blend.positions[..., 3].sum(1), 1)


def test_every_array_is_of_its_kind(named):
    """Records hold float32, indices and bools, as their docstrings say."""
    _, cloth = named
    kinds = set()

    def walk(value):
        if dataclasses.is_dataclass(value):
            for field in dataclasses.fields(value):
                walk(getattr(value, field.name))
        elif isinstance(value, tuple):
            for one in value:
                walk(one)
        elif isinstance(value, np.ndarray):
            kinds.add(value.dtype.str)

    walk(cloth)
    assert kinds <= {"<f4", "<u2", "<u4", "<i2", "<i4", "|b1", "|u1"}


def test_loose_collidables(corpus):
    for binder, name in (
        ("eldenring/wp_a_0213.partsbnd.dcx", "WP_A_0213_collidable.hkx"),
        ("eldenring/wp_a_9008.partsbnd.dcx", "WP_A_0606_collidable.hkx"),
    ):
        cloth = read_cloth(sample(corpus, binder, name).read())
        assert len(cloth) == 0
        assert [one.name for one in cloth.collidables] == ["WP_Colidable_L_001", "WP_Colidable_L_002"]
        assert all(isinstance(one.shape, records.TaperedCapsule) and one.enabled for one in cloth.collidables)
        assert not cloth.authoring_only


def test_file_without_cloth_is_refused(corpus):
    ragdoll = sample(corpus, "eldenring/c4500.chrbnd.dcx", "c4500.HKX").read()
    with pytest.raises(FormatError, match="holds no cloth"):
        read_cloth(ragdoll)


def test_authoring_file_is_named(corpus):
    data = sample(corpus, FILES[HAT][0], HAT).data
    renamed = data.replace(b"hclClothContainer\0", b"hclClothSetupCont\0")
    cloth = read_cloth(Tagfile.read(renamed))
    assert cloth.authoring_only
    assert not len(cloth)


@pytest.mark.parametrize(
    ("known", "unknown", "what"),
    [
        (b"hclTransitionConstraintSet\0", b"hclTransitionConstraintSez\0", "constraint sets of class"),
        (b"hclMoveParticlesOperator\0", b"hclMoveParticlesOperatoz\0", "operators of class"),
    ],
)
def test_unknown_classes_are_refused(corpus, known, unknown, what):
    data = sample(corpus, FILES[HAT][0], HAT).data
    with pytest.raises(FormatError, match=what):
        read_cloth(Tagfile.read(data.replace(known, unknown)))


def test_unknown_shape_is_refused(corpus):
    one = sample(corpus, "eldenring/wp_a_0213.partsbnd.dcx", "WP_A_0213_collidable.hkx")
    data = one.data.replace(b"hclTaperedCapsuleShape\0", b"hclTaperedCapsuleShapz\0")
    with pytest.raises(FormatError, match="shapes of class"):
        read_cloth(Tagfile.read(data))


# class, member, array member around it, value, part of the message
DAMAGE = [
    ("hclSimClothData", "fixedParticles", None, 32, "fixed particle 32"),
    ("hclSimClothData", "triangleIndices", None, 999, "triangle corner 999"),
    ("hclStandardLinkConstraintSet", "particleB", "links", 32, "particle 32"),
    ("hclStretchLinkConstraintSet", "particleA", "links", 40, "particle 40"),
    ("hclBendStiffnessConstraintSet", "particleD", "links", 99, "particle 99"),
    ("hclLocalRangeConstraintSet", "particleIndex", "localConstraints", 32, "particle 32"),
    ("hclLocalRangeConstraintSet", "referenceVertex", "localConstraints", 34, "vertex 34"),
    ("hclLocalRangeConstraintSet", "referenceMeshBufferIdx", None, 9, "reference buffer 9"),
    ("hclTransitionConstraintSet", "referenceVertex", "perParticleData", 34, "vertex 34"),
    ("hclMoveParticlesOperator", "vertexIndex", "vertexParticlePairs", 34, "vertex 34"),
    ("hclMoveParticlesOperator", "particleIndex", "vertexParticlePairs", 32, "particle 32"),
    ("hclMoveParticlesOperator", "refBufferIdx", None, 5, "buffer 5"),
    ("hclSimulateOperator", "simClothIndex", None, 1, "simulated cloth 1"),
    ("hclClothState", "operators", None, 10, "operator 10"),
    ("hclGatherAllVerticesOperator", "vertexInputFromVertexOutput", None, 34, "vertex 34"),
    ("hclUpdateAllVertexFramesOperator", "referenceVertices", None, 494, "reference vertex 494"),
    ("hclUpdateAllVertexFramesOperator", "vertToNormalID", None, 483, "normal id 483"),
    ("hclBoneSpaceSkinPNOperator", "transformSubset", None, 121, "bone 121"),
    ("hclObjectSpaceMeshMeshDeformPNOperator", "inputBufferIdx", None, 5, "buffer 5"),
    ("hclOutputConvertOperator", "userBufferIndex", None, 6, "buffer 6"),
    ("hclCopyVerticesOperator", "startVertexIn", None, 1, "end of the copied vertices"),
    ("hclTransformSetDefinition", "numTransforms", None, 120, "120 transforms for"),
]


@pytest.mark.parametrize(("kind", "member", "within", "value", "what"), DAMAGE)
def test_indices_out_of_range_are_refused(corpus, kind, member, within, value, what):
    tag = tagfile(corpus, HAT)
    found = next(view for view in tag.find(kind) if view.values.ndim == 0 and _filled(view, within or member))
    if within:
        table = found.many(within).values
        table[member][-1] = value
    elif np.ndim(found[member]):
        found[member][-1] = value
    else:
        found[member] = value
    with pytest.raises(FormatError, match=what) as error:
        read_cloth(tag)
    assert error.value.file == HAT
    assert error.value.trail


@pytest.mark.parametrize(
    ("kind", "member", "what"),
    [
        ("hclSimClothData", "fixedParticles", "does not lead to an array of uint16"),
        ("hclSimClothPose", "positions", r"does not lead to an array of float32\[4\]"),
        ("hclSimClothData", "particleDatas", "is not an array of records"),
        ("hclClothState", "operators", "does not lead to an array of uint32"),
    ],
)
@pytest.mark.parametrize("target", ["hclSimClothData", "hclBufferDefinition"])
def test_arrays_that_lead_elsewhere_are_refused(corpus, kind, member, what, target):
    tag = tagfile(corpus, HAT)
    view = next(view for view in tag.find(kind) if not view.values.ndim)
    view[member] = next(other.item for other in tag.find(target) if not other.values.ndim)
    with pytest.raises(FormatError, match=what):
        read_cloth(tag)


def test_buffers_of_more_vertices_than_indices_know_are_refused(corpus):
    tag = tagfile(corpus, HAT)
    next(tag.find("hclBufferDefinition"))["numVertices"] = 1 << 31
    with pytest.raises(FormatError, match="2147483648 vertices"):
        read_cloth(tag)


# class of a record, and its members that are indices
INDICES = {
    "ClothState": ("operators", "buffers", "shadows", "sims"),
    "SimCloth": ("fixed", "triangles"),
    "CollidableMap": ("transform_set", "bones"),
    "StandardLinks": ("a", "b"),
    "StretchLinks": ("a", "b"),
    "BendLinks": ("a", "b"),
    "CompressibleLinks": ("a", "b"),
    "BendStiffness": ("indices",),
    "LocalRange": ("particle", "vertex", "buffer"),
    "Transition": ("particle", "vertex", "buffer"),
    "Volume": ("frame_particle", "apply_particle"),
    "Simulate": ("sim",),
    "SimulateConfig": ("execution",),
    "MoveParticles": ("sim", "buffer", "vertices", "particles"),
    "Skin": ("output", "transform_set", "bones"),
    "MeshMeshDeform": ("input", "output", "triangles"),
    "Blend": ("vertices", "sources"),
    "SimpleMeshBoneDeform": ("input", "transform_set", "bones", "triangles"),
    "MeshBoneDeform": ("input", "transform_set", "starts", "triangles"),
    "CopyVertices": ("input", "output"),
    "GatherVertices": ("input", "output", "source", "target"),
    "Convert": ("user", "shadow"),
    "VertexFrames": ("buffer", "vertices", "corners", "involved", "normal_ids", "references"),
}
# arrays that have one row for each of something
ROWS = {
    "SimCloth": ("masks",),
    "Simulate": ("configs",),
    "Skin": ("binds",),
    "MeshMeshDeform": ("binds",),
    "VertexFrames": ("cos", "sin"),
}


def cases(table):
    return [pytest.param(kind, member, id=f"{kind}.{member}") for kind in table for member in table[kind]]


@pytest.mark.parametrize(("kind", "member"), cases(INDICES))
def test_every_index_is_checked(corpus, kind, member):
    def out_of_range(value):
        if np.ndim(value) == 0:
            return 60000
        found = value.astype(np.int32)
        found.flat[-1] = 60000
        return found

    check_damaged(corpus, kind, member, out_of_range, "60000|60001")


@pytest.mark.parametrize(("kind", "member"), cases(ROWS))
def test_missing_rows_are_refused(corpus, kind, member):
    check_damaged(corpus, kind, member, lambda value: value[:-1], "there are|there is")


@cache
def _known(path, name):
    tag = sample(lambda _: path, FILES[name][0], name).read()
    return read_cloth(tag), next(tag.find("hclClothData"))


def check_damaged(corpus, kind, member, damage, what):
    for name in ("c4500_c.hkx", "c7190_c.hkx", "BD_M_2210_c.hkx", HAT):
        cloth, view = _known(corpus(FILES[name][0]), name)
        for data in cloth:
            whole = with_several_triangles_a_bone(data)
            check_cloth(whole, cloth.skeleton, view)
            broken = damaged(whole, kind, member, damage)
            if broken is not None:
                with pytest.raises(FormatError, match=what):
                    check_cloth(broken, cloth.skeleton, view)
                return
    pytest.fail("no file has one")


def with_several_triangles_a_bone(data):
    """Return a cloth data that also has the operator that no file at hand has, where it has its simple kind."""
    simple = [one for one in data.operators if isinstance(one, records.SimpleMeshBoneDeform)]
    made = [
        records.MeshBoneDeform(
            "", one.input, one.transform_set, np.array([0, 1]), one.triangles[:1], np.ones(1, "f4"), one.local[:1]
        )
        for one in simple[:1]
    ]
    return dataclasses.replace(data, operators=(*data.operators, *made))


def damaged(record, kind, member, damage):
    """Return a record with the first such member below it damaged; None where there is none."""
    if isinstance(record, tuple):
        for place, one in enumerate(record):
            found = damaged(one, kind, member, damage)
            if found is not None:
                return (*record[:place], found, *record[place + 1 :])
    elif dataclasses.is_dataclass(record):
        value = getattr(record, member) if type(record).__name__ == kind else None
        if value is not None and np.size(value):
            return dataclasses.replace(record, **{member: damage(value)})
        for field in dataclasses.fields(record):
            found = damaged(getattr(record, field.name), kind, member, damage)
            if found is not None:
                return dataclasses.replace(record, **{field.name: found})
    return None


@pytest.mark.parametrize("value", [-2, 6])
def test_executed_sets_are_in_range(corpus, value):
    tag = tagfile(corpus, HAT)
    config = next(tag.find("hclSimulateOperator")).many("simulateOpConfigs").at(0)
    config["constraintExecution"][0] = value
    with pytest.raises(FormatError, match="executed constraint set"):
        read_cloth(tag)


def _filled(view, member):
    return np.ndim(view[member]) == 0 if not hasattr(view[member], "__len__") else len(view[member]) > 0


def test_packed_vectors():
    """Whole numbers times a power of two: 16384 * 2 ** 16 times the float whose upper half is stored."""
    half = int(np.float32(2.0**-30).view(np.uint32) >> 16)
    packed = np.array([[16384, -32768, 1, half]], np.uint16 if half > 32767 else np.int16).view(np.int16)
    assert unpack(packed)[0].tolist() == [1.0, -2.0, 2.0**-14]
