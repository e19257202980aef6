"""The cloth of the corpus, the models beside it, and skeletons that move."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from addon.cloth import MeshKey, Pose, bind_displays, build_setup, reference_pose
from addon.codec import Tagfile, read_cloth
from addon.codec.flver import Flver
from addon.codec.havok.cloth import ClothFile
from addon.codec.source import Kind, open_source
from addon.maths import affine

# cloth tagfile: the file of the corpus it is in
CLOTHS = {
    "c7190_c.hkx": "sekiro/c7190.chrbnd.dcx",
    "c4500_c.hkx": "eldenring/c4500.chrbnd.dcx",
    "HD_M_1140_c.hkx": "eldenring/hd_m_1140.partsbnd.dcx",
    "HD_M_1630_c.hkx": "eldenring/hd_m_9000.partsbnd.dcx",
    "BD_M_2210_c.hkx": "eldenring/bd_f_9002_l.partsbnd.dcx",
}
COLLIDABLES = {
    "WP_A_0213_collidable.hkx": "eldenring/wp_a_0213.partsbnd.dcx",
    "WP_A_0606_collidable.hkx": "eldenring/wp_a_9008.partsbnd.dcx",
}
Find = Callable[[str], Path]
SWING = 0.03
"""Radians by which every bone swings about each of its axes."""


@dataclass(frozen=True, eq=False)
class Sample:
    """A cloth and the model of its binder."""

    name: str
    cloth: ClothFile
    model: bytes | None

    def flver(self) -> Flver:
        return Flver.read(self.model, self.name)


def load(corpus: Find, name: str) -> Sample:
    """Return a cloth of the corpus; skips where it is absent."""
    return _load(corpus(CLOTHS[name] if name in CLOTHS else COLLIDABLES[name]), name)


@cache
def _load(path: Path, name: str) -> Sample:
    members = open_source(path).members
    data = next(member.data() for member in members if member.name == name)
    model = next((member.data() for member in members if member.kind is Kind.FLVER), None)
    return Sample(name, read_cloth(Tagfile.read(data, None, name)), model)


def still(cloth: ClothFile) -> Pose:
    """Return the reference pose."""
    return Pose(reference_pose(cloth.skeleton))


def swinging(cloth: ClothFile, seconds: float, swing: float = SWING) -> Pose:
    """Return a pose in which every bone turns a little, each at its own phase."""
    skeleton = cloth.skeleton
    phase = 2 * np.pi * (0.5 * seconds + 0.13 * np.arange(len(skeleton.bones)))
    angles = swing * np.sin(phase[:, None] + np.arange(3)) * min(1.0, 4 * seconds)
    world = reference_pose(skeleton).astype(np.float64)
    parents = np.asarray(skeleton.parents)
    local = np.where((parents < 0)[:, None, None], world, np.linalg.inv(world[parents]) @ world)
    turns = affine.compose(np.zeros((len(angles), 3)), affine.euler_xzy(angles), np.ones((len(angles), 3)))
    return Pose(affine.world_matrices(local @ turns, parents).astype(np.float32))


def bound_meshes(sample: Sample) -> tuple[list[int], Flver]:
    """Return the FLVER mesh of each display buffer, and the model."""
    flver = sample.flver()
    setup = build_setup(sample.cloth)
    binding = bind_displays(setup.displays, mesh_keys(flver))
    assert not binding.warnings
    return list(binding.meshes), flver


def mesh_keys(flver: Flver) -> list[MeshKey]:
    return [
        MeshKey(
            flver.node_names[mesh.node] if 0 <= mesh.node < len(flver.node_names) else "",
            mesh.vertex_count,
            len(flver.triangles(index, 0)) if mesh.face_sets else 0,
        )
        for index, mesh in enumerate(flver.meshes)
    ]


@cache
def drawn_triangles(sample: Sample) -> dict[tuple[int, int], np.ndarray]:
    """Return the triangles of the drawn meshes, by cloth data and buffer."""
    meshes, flver = bound_meshes(sample)
    displays = build_setup(sample.cloth).displays
    return {
        (display.place.data, display.place.buffer): flver.triangles(mesh, 0)
        for display, mesh in zip(displays, meshes, strict=True)
    }
