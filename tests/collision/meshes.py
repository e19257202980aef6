"""Source meshes for the compiler, and what every compiled mesh has to fulfil."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from addon.collision import check
from addon.collision.compiler import Compiled, CompileSettings, compile_mesh
from addon.collision.compiler.settings import no_progress
from addon.collision.corners import Corners

EPSILON = 2.0**-23


def ground(side: int, *, noise: float = 0.3, step: float = 1.0, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return vertices and triangles of a hilly ground of side x side cells."""
    x, z = np.meshgrid(np.arange(side + 1), np.arange(side + 1), indexing="ij")
    y = np.sin(x * 0.3) * np.cos(z * 0.2) * 2 + np.random.default_rng(seed).random(x.shape)
    vertices = np.stack([x * step, y * noise, z * step], axis=-1).reshape(-1, 3).astype("f4")
    corner = (np.arange(side)[:, None] * (side + 1) + np.arange(side)).ravel()
    cells = np.stack([corner, corner + 1, corner + side + 2, corner + side + 1], axis=1)
    return vertices, cells[:, [0, 1, 2, 0, 2, 3]].reshape(-1, 3)


def soup(count: int, size: float = 100.0, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return triangles that share no vertex."""
    random = np.random.default_rng(seed)
    points = random.random((count, 1, 3)) * size + random.random((count, 3, 3))
    return points.reshape(-1, 3).astype("f4"), np.arange(3 * count).reshape(-1, 3)


def ball(rings: int = 8, segments: int = 12) -> tuple[np.ndarray, np.ndarray]:
    """Return a closed surface, wound outwards."""
    tilt, turn = np.meshgrid(
        np.linspace(0, np.pi, rings + 1), np.arange(segments) * 2 * np.pi / segments, indexing="ij"
    )
    points = np.stack([np.sin(tilt) * np.cos(turn), np.cos(tilt), np.sin(tilt) * np.sin(turn)], axis=-1) * 4
    place = np.arange(rings * segments).reshape(rings, segments)
    right = np.roll(place, -1, axis=1)
    below, cross = place + segments, right + segments
    cells = np.stack([place, right, cross, below], axis=-1).reshape(-1, 4)
    return points.reshape(-1, 3).astype("f4"), cells[:, [0, 1, 2, 0, 2, 3]].reshape(-1, 3)


def compiled(mesh, materials=None, progress=no_progress, **settings) -> Compiled:
    """Compile a mesh, see that it is sound, and return it."""
    vertices, triangles = mesh
    names = np.full(len(triangles), 21) if materials is None else materials
    chosen = CompileSettings(**settings)
    made = compile_mesh(vertices, triangles, names, chosen, progress=progress)
    assert_sound(made, vertices, triangles, names, chosen)
    return made


def assert_sound(made: Compiled, vertices, triangles, materials, settings: CompileSettings) -> None:
    """No triangle is lost, all keep to the rules of the games, all decode to where they were."""
    assert list(map(str, check(made.shape.mesh))) == []
    together = np.sort(np.concatenate([made.kept, made.left_out]))
    np.testing.assert_array_equal(together, np.arange(len(triangles)))
    decoded, mesh = made.shape.decoded, made.shape.mesh
    assert len(decoded) == len(made.kept)
    order = np.searchsorted(decoded.keys, made.keys)
    np.testing.assert_array_equal(decoded.keys[order], made.keys)
    if settings.rows:
        np.testing.assert_array_equal(decoded.row[order], np.arange(len(order)))
        np.testing.assert_array_equal(decoded.materials[order], np.asarray(materials)[made.kept])
    if not len(order):
        return
    source = vertices[triangles[made.kept]].astype("f8")
    found = decoded.vertices[decoded.triangles[order]].astype("f8")
    steps = Corners.of(mesh, made.shape.primitives, decoded).steps[decoded.section[order]]
    size = np.abs(mesh.domain[:, :3]).max(axis=0)
    allowed = steps / 2 + 4 * EPSILON * size
    # a quad that says it is flat may have been turned, and its halves with it
    near = [(np.abs(np.roll(found, turn, axis=1) - source) <= allowed[:, None]).all(axis=(1, 2)) for turn in range(3)]
    assert np.logical_or.reduce(near).all()
    if not settings.flat_quads:
        assert near[0].all()


@st.composite
def meshes(draw) -> tuple[np.ndarray, np.ndarray]:
    """Thin, flat, far away, with triangles that repeat, of one triangle: what people make."""
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    kind = draw(st.sampled_from(["ground", "soup", "ball", "few"]))
    if kind == "ground":
        vertices, triangles = ground(draw(st.integers(1, 14)), noise=draw(st.sampled_from([0.0, 0.01, 1.0])))
    elif kind == "soup":
        vertices, triangles = soup(draw(st.integers(1, 400)), draw(st.sampled_from([0.0, 1.0, 500.0])))
    elif kind == "ball":
        vertices, triangles = ball()
    else:
        count = draw(st.integers(1, 12))
        vertices = random.integers(0, 4, (count + 3, 3)).astype("f4")
        triangles = random.integers(0, len(vertices), (count, 3))
    vertices = vertices * np.float32(draw(st.sampled_from([0.1, 1.0, 30.0])))
    thin = draw(st.sampled_from([None, 0, 1, 2]))
    if thin is not None:
        vertices[:, thin] *= np.float32(draw(st.sampled_from([0.0, 1e-4])))
    vertices += np.float32([draw(st.sampled_from([0.0, -17.0, 4096.0, 1e5])) for _ in range(3)])
    if draw(st.booleans()):
        triangles = np.concatenate([triangles, triangles[random.integers(0, len(triangles), len(triangles))]])
    if draw(st.booleans()):
        turned = random.random(len(triangles)) < 0.5
        triangles = np.where(turned[:, None], triangles[:, ::-1], triangles)
    return vertices.astype("f4"), triangles
