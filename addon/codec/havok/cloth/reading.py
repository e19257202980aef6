"""Tagfile -> cloth records."""

from __future__ import annotations

import numpy as np

from ...binary import Array
from ...errors import FormatError
from ..objects import View
from ..tagfile import Tagfile
from .checks import check_cloth
from .constraints import read_constraint
from .data import Buffer, BufferType, ClothData, ClothFile, ClothState, CollidableMap, SimCloth, Skeleton, TransformSet
from .operators import read_operator
from .shapes import Collidable, read_collidable
from .values import bits, flag, matrices, number, real

CONTAINER = "hclClothContainer"
AUTHORING = "hclClothSetup"
MOST_VERTICES = 1 << 16  # of a buffer: its indices are u2
SHADOWED = ("shadowPositions", "shadowNormals", "shadowTangents", "shadowBiTangents")


def read_cloth(tagfile: Tagfile) -> ClothFile:
    """Read the cloth of a tagfile, of either SDK.

    Args:
        tagfile: a ``_c.hkx`` or a loose ``_collidable.hkx``.

    Returns:
        The cloth datas as a sequence, with the collidables and the skeleton beside them. Every index that one part
        stores into another is in range.

    Raises:
        FormatError: the file has no cloth, a class the games do not use, or an index that is out of range.
    """
    containers = [view for view in tagfile.find(CONTAINER) if not view.values.ndim]
    authoring = any(item.layout.name.startswith(AUTHORING) for item in tagfile.items)
    if not containers and not authoring:
        raise FormatError("the file holds no cloth: it has no hclClothContainer", tagfile.file)
    shapes = _Collidables()
    skeleton = _skeleton(tagfile)
    datas, loose = [], []
    for container in containers:
        for view in container.links("clothDatas").views():
            data = _data(view, shapes)
            check_cloth(data, skeleton, view)
            datas.append(data)
        loose += [shapes.read(view) for view in container.links("collidables").views()]
    return ClothFile(tuple(datas), tuple(loose), skeleton, authoring_only=authoring and not datas and not loose)


class _Collidables:
    """Reads each collidable once, so that cloths that share one share the record."""

    def __init__(self) -> None:
        self._made: dict[int, Collidable] = {}

    def read(self, view: View) -> Collidable:
        if view.item not in self._made:
            self._made[view.item] = read_collidable(view)
        return self._made[view.item]


def _skeleton(tagfile: Tagfile) -> Skeleton | None:
    view = next((found for found in tagfile.find("hkaSkeleton") if not found.values.ndim), None)
    if view is None:
        return None
    names = view.many("bones").links("name").texts()
    parents, pose = view.numbers("parentIndices", "<i2"), view.many("referencePose")
    if not len(names) == len(parents) == len(pose):
        view.fail(f"{len(names)} names, {len(parents)} parents and {len(pose)} transforms")
    if ((parents >= np.arange(len(parents))) | (parents < -1)).any():
        view.fail("a bone stands before its parent", "parentIndices")
    translation, rotation, scale = (pose.numbers(part, "<f4", (4,)) for part in ("translation", "rotation", "scale"))
    bones = tuple(name or "" for name in names)
    return Skeleton(view.text("name") or "", bones, parents, translation[:, :3], rotation, scale[:, :3])


def _data(view: View, shapes: _Collidables) -> ClothData:
    sims = tuple(_sim(found, shapes) for found in view.links("simClothDatas").views())
    return ClothData(
        view.text("name") or "",
        sims,
        tuple(_buffer(found) for found in view.links("bufferDefinitions").views()),
        tuple(
            TransformSet(found.text("name") or "", number(found, "numTransforms", "<u4"))
            for found in view.links("transformSetDefinitions").views()
        ),
        tuple(read_operator(found) for found in view.links("operators").views()),
        tuple(_state(found) for found in view.links("clothStateDatas").views()),
        number(view, "targetPlatform", "<u4"),
    )


def _buffer(view: View) -> Buffer:
    kind = number(view, "type", "<i4")
    triangles = np.zeros(0, np.uint16)
    if "triangleIndices" in view:
        triangles = view.numbers("triangleIndices", "<u2")
    if len(triangles) % 3:
        view.fail(f"{len(triangles)} indices are no whole triangles", "triangleIndices")
    vertices = number(view, "numVertices", "<u4")
    if vertices > MOST_VERTICES:
        view.fail(f"{vertices} vertices, indices know {MOST_VERTICES}", "numVertices")
    return Buffer(
        view.text("name") or "",
        kind,
        number(view, "subType", "<i4"),
        vertices,
        number(view, "numTriangles", "<u4"),
        triangles.reshape(-1, 3),
        # only scratch buffers say so; the others hold normals
        flag(view, "storeNormals") if "storeNormals" in view else kind != BufferType.PREVIOUS,
        tuple(flag(view, name) for name in SHADOWED if name in view),
    )


def _state(view: View) -> ClothState:
    access = view.many("usedBuffers")
    return ClothState(
        view.text("name") or "",
        view.numbers("operators", "<u4"),
        access.numbers("bufferIndex", "<u4"),
        access.numbers("shadowBufferIndex", "<u4"),
        view.numbers("usedSimCloths", "<u4"),
    )


def _sim(view: View, shapes: _Collidables) -> SimCloth:
    info, particles = view.one("simulationInfo"), view.many("particleDatas")
    indices = view.numbers("triangleIndices", "<u2")
    if len(indices) % 3:
        view.fail(f"{len(indices)} indices are no whole triangles", "triangleIndices")
    if len(view.links("antiPinchConstraintSets")):
        view.fail("anti-pinch constraint sets are not supported: no game file has one", "antiPinchConstraintSets")
    collidables = view.links("perInstanceCollidables").views()
    world = view.one("landscapeCollisionData")
    return SimCloth(
        view.text("name") or "",
        info.numbers("gravity", "<f4", (4,))[:3],
        real(info, "globalDampingPerSecond"),
        particles.numbers("mass", "<f4"),
        particles.numbers("invMass", "<f4"),
        particles.numbers("radius", "<f4"),
        particles.numbers("friction", "<f4"),
        fixed=view.numbers("fixedParticles", "<u2"),
        triangles=indices.reshape(-1, 3),
        flips=bits(view, "triangleFlips", len(indices) // 3),
        makes_normals=flag(view, "doNormals"),
        poses=_poses(view, len(particles)),
        constraints=tuple(read_constraint(found) for found in view.links("staticConstraintSets").views()),
        collidables=tuple(shapes.read(found) for found in collidables),
        collidable_map=_map(view, len(collidables)),
        masks=view.numbers("staticCollisionMasks", "<u4"),
        max_radius=real(view, "maxParticleRadius"),
        total_mass=real(view, "totalMass"),
        landscape=flag(view, "landscapeCollisionEnabled"),
        landscape_count=number(view, "numLandscapeCollidableParticles", "<u4"),
        virtual_point_count=number(view.one("virtualCollisionPointsData"), "numVCPoints", "<u2"),
        transfers_motion=flag(view, "transferMotionEnabled"),
        detects_pinching=flag(view, "pinchDetectionEnabled"),
        landscape_radius=real(world, "landscapeRadius"),
        landscape_tolerance=real(world, "collisionTolerance"),
    )


def _poses(view: View, count: int) -> Array:
    """Return the poses' positions, (p, count, 3) f4; there is at least one."""
    poses = [found.numbers("positions", "<f4", (4,))[:, :3] for found in view.links("simClothPoses").views()]
    if not poses or any(len(pose) != count for pose in poses):
        view.fail(f"there is no pose, or one that has not {count} particles", "simClothPoses")
    return np.stack(poses)


def _map(view: View, count: int) -> CollidableMap:
    stored = view.one("collidableTransformMap")
    bones, offsets = stored.numbers("transformIndices", "<u4"), stored.numbers("offsets", "<f4", (16,))
    index = number(stored, "transformSetIndex", "<i4")
    if len(bones) != len(offsets) or (index >= 0 and len(bones) != count):
        stored.fail(f"{len(bones)} bones and {len(offsets)} offsets for {count} collidables")
    places = matrices(offsets)
    places[:, 3] = np.array((0, 0, 0, 1), np.float32)
    return CollidableMap(index, bones, places)
