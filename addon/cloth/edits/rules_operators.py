"""Rules of what carries a simulated cloth and what it carries: skins, deformers, bones, collidables; see `identities`.

Everything is evaluated at the rest pose and the skeleton's reference pose, in float64.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ...codec.binary import Array
from ...codec.havok import cloth as records
from ..contacts import Cone
from ..layout import BufferPlace, Layout, lay_out
from ..results import reference_pose
from ..settings import ROOTS, RootChoice
from .accepting import listed
from .formulas import triangle_frames
from .pins import reference_vertices
from .rules_sets import Broken

PACKED = 3.2e-5
"""Half a step of a packed vector, a metre of its largest component (found on real files: rounded to the nearest)."""
CARRIED = 1.2e-4
"""The same after bones whose binds are not undone by the reference pose."""
UNPACKED = 2e-6
FRAME_ROUNDING = 4e-5
BONE_ROUNDING = 1.5e-5
PLACE_ROUNDING = 3e-6
DISPLAY_ROUNDING = 1e-4
XYZ = slice(0, 3)
READ_COLUMNS = (0, 2, 3)
"""The columns of a driven bone that are read; the second is made from them."""


@dataclass(frozen=True, eq=False)
class Rest:
    """A file at rest.

    Attributes:
        file: the file; ``layout`` where everything stands.
        bones: (b, 4, 4) f8 the skeleton's reference pose.
    """

    file: records.ClothFile
    layout: Layout
    bones: Array

    @classmethod
    def of(cls, file: records.ClothFile) -> Rest:
        """Return a file at rest.

        Raises:
            FormatError: buffers that belong to nothing.
        """
        none = np.zeros((0, 4, 4))
        bones = none if file.skeleton is None else reference_pose(file.skeleton).astype(np.float64)
        return cls(file, lay_out(file), bones)

    def corners(self, place: BufferPlace, triangles: Array) -> Array | None:
        """Return the corners of some triangles of a simulated cloth at rest, (t, 3, 3) f8; None for other buffers."""
        if place.sim < 0 or (len(triangles) and triangles.max() >= len(place.triangles)):
            return None
        pose = self.layout.sims[place.sim].record.poses[0].astype(np.float64)
        return pose[place.triangles[triangles].astype(np.intp)]


def skinned(operator: records.Skin, bones: Array, count: int) -> tuple[Array, Array]:
    """Return where a skin's vertices are: in the mesh's own space, and carried by bones, (count, 3) f8 each.

    A skin in bone space knows only the second; vertices it does not write are no numbers.

    Args:
        operator: the skin.
        bones: (b, 4, 4) f8 of the transform set.
        count: vertices of the buffer.
    """
    mesh, carried = np.full((count, 3), np.nan), np.full((count, 3), np.nan)
    own = bones[operator.bones]
    for blend in operator.blends:
        if operator.binds is None:
            moved = np.einsum("nkij,nkj->ni", own[blend.sources], blend.positions.astype(np.float64))
        else:
            mesh[blend.vertices] = blend.positions
            moved = carried_points(own @ operator.binds, blend)
        carried[blend.vertices] = moved[:, XYZ]
    return mesh, carried


def carried_points(sources: Array, blend: records.Blend) -> Array:
    """Return an object-space blend carried by matrices, (n, 3) f8; ``sources`` (s, 4, 4) by the blend's places."""
    count = len(blend.vertices)
    weights = np.ones((count, 1)) if blend.weights is None else blend.weights.astype(np.float64)
    points = np.concatenate([blend.positions.astype(np.float64), np.ones((count, 1))], 1)
    return np.einsum("nk,nkij,nj->ni", weights, sources[blend.sources], points)[:, XYZ]


def operator_rules(rest: Rest, number: int) -> Iterator[Broken]:
    """Yield the rules that a cloth data's operators and collidables break.

    Args:
        rest: the file at rest.
        number: of the cloth data.
    """
    data = rest.file.datas[number]
    display: dict[int, list[Array]] = {}
    for operator in data.operators:
        if isinstance(operator, records.Skin):
            count = data.buffers[operator.output].vertex_count
            mesh, carried = skinned(operator, rest.bones, count)
            display.setdefault(operator.output, []).append(carried if operator.binds is None else mesh)
            yield from _skin(data, operator, mesh, carried)
    for operator in data.operators:
        if isinstance(operator, records.MeshMeshDeform):
            yield from _mesh_mesh(rest, number, operator, display.get(operator.output, []))
        elif isinstance(operator, records.SimpleMeshBoneDeform):
            yield from _mesh_bone(rest, number, operator)
    for sim in data.sims:
        yield from _collidables(rest, sim)


def _skin(data: records.ClothData, operator: records.Skin, mesh: Array, carried: Array) -> Iterator[Broken]:
    """Yield where the vertices that particles belong to are not on the rest pose.

    Found on real files: the mesh is the rest pose, but for some skins whose binds are of another pose of the rig; then
    it is what the reference pose makes of the mesh.
    """
    for place, sim in enumerate(data.sims):
        vertices = reference_vertices(data, place, operator.output)
        particles = np.flatnonzero((vertices >= 0) & ~np.isnan(carried[np.maximum(vertices, 0), 0]))
        if not len(particles):
            continue
        pose = sim.poses[0][particles].astype(np.float64)
        size = np.maximum(np.abs(pose).max(1), 1)
        own, moved = (np.abs(points[vertices[particles]] - pose).max(1) / size for points in (mesh, carried))
        if operator.binds is None:
            wrong = ~(moved <= UNPACKED)
        elif np.median(own) <= PACKED:
            wrong = ~(own <= PACKED)
        else:
            wrong = ~(moved <= CARRIED)
        if wrong.any():
            text = f"{listed(particles[wrong])}: the reference vertex is not on the rest pose"
            yield "reference", operator.name, text


def _mesh_mesh(rest: Rest, number: int, operator: records.MeshMeshDeform, display: list[Array]) -> Iterator[Broken]:
    place = rest.layout.buffers[number][operator.input]
    triangles = np.arange(len(place.triangles)) if operator.triangles is None else operator.triangles
    corners = rest.corners(place, triangles)
    if corners is None:
        return
    frames = triangle_frames(corners, operator.scale)
    if operator.binds is not None:
        binds = operator.binds.astype(np.float64)
        off = np.abs(frames @ binds - np.eye(4)) > FRAME_ROUNDING * np.maximum(np.abs(frames) @ np.abs(binds), 1)
        if off.any():
            wrong = listed(np.flatnonzero(off.any((1, 2))), "triangle")
            yield "bind", operator.name, f"{wrong}: the bind does not undo the frame at rest"
    for blend in operator.blends:
        if operator.binds is not None:
            made = carried_points(frames @ operator.binds, blend)
        else:
            made = np.einsum("nkij,nkj->ni", frames[blend.sources], blend.positions.astype(np.float64))[:, XYZ]
        for positions in display:
            gap = np.abs(made - positions[blend.vertices]).max(1)
            size = np.maximum(np.abs(made).max(1), 1)
            if (gap > DISPLAY_ROUNDING * size).any():
                wrong = listed(blend.vertices[gap > DISPLAY_ROUNDING * size], "vertex")
                yield "drawn mesh", operator.name, f"{wrong}: at rest it is not where a skin has it"
                break


def _mesh_bone(rest: Rest, number: int, operator: records.SimpleMeshBoneDeform) -> Iterator[Broken]:
    corners = rest.corners(rest.layout.buffers[number][operator.input], operator.triangles)
    if corners is None or not len(rest.bones):
        return
    frames, local = triangle_frames(corners, records.ScaleNormal.AREA), operator.local.astype(np.float64)
    gap = np.abs(frames @ local - rest.bones[operator.bones])[:, XYZ][..., READ_COLUMNS]
    size = np.maximum((np.abs(frames) @ np.abs(local))[:, XYZ][..., READ_COLUMNS], 1)
    off = (gap > BONE_ROUNDING * size).any((1, 2))
    if off.any():
        yield "bone", operator.name, f"{listed(operator.bones[off], 'bone')}: at rest it is not in the reference pose"


def _collidables(rest: Rest, sim: records.SimCloth) -> Iterator[Broken]:
    own = sim.collidable_map
    for index, one in enumerate(sim.collidables):
        name = one.name or f"collidable {index}"
        if own.transform_set >= 0 and len(rest.bones):
            made = rest.bones[own.bones[index]] @ own.offsets[index]
            size = max(1.0, float(np.abs(made).max()))
            if not np.abs(made - one.transform).max() <= PLACE_ROUNDING * size:
                yield "place", name, "it is not where its bone and offset put it in the reference pose"
        text = shape_fault(one.shape)
        if text:
            yield "shape", name, text


def shape_fault(shape: records.Shape) -> str:
    """Return which derived members of a shape do not follow from the others; empty for none."""
    if isinstance(shape, records.Capsule):
        along = (shape.end - shape.start).astype(np.float64)
        length = np.linalg.norm(along)
        if not length:
            return "its ends are one point"
        off = np.abs(along / length - shape.direction).max() > 3e-7
        off |= abs(shape.inverse_length_squared * length**2 - 1) > 1e-6
        return "direction or length do not follow from the ends" if off else ""
    if isinstance(shape, records.TaperedCapsule):
        if not shape.small_radius < shape.big_radius:
            return "the small radius is not below the big one"
        ends = shape.small[:, None], shape.big[:, None]
        cone = Cone.between(ends, (shape.small_radius, shape.big_radius), ROOTS[RootChoice.EXACT])
        pairs = (
            (cone.length, shape.length), (cone.sine, shape.sin), (cone.cosine, shape.cos), (cone.tangent, shape.tan),
            (cone.base, shape.apex_distance), (cone.tangent**2, shape.tan_squared),
        )  # fmt: skip
        off = any(abs(made[0] - stored) > 2e-6 * abs(made[0]) for made, stored in pairs)
        apex = shape.small - cone.base * cone.axis[:, 0]
        off |= bool(np.abs(cone.axis[:, 0] - shape.axis).max() > 3e-7)
        off |= bool(np.abs(apex - shape.apex).max() > 2e-6 * max(1.0, float(np.abs(apex).max())))
        return "the cone does not follow from the ends and radii" if off else ""
    return ""
