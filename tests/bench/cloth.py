"""How fast cloth steps: the batches, beside the plain sequential step and Blender's own cloth modifier.

Real files where they are at hand, and a sheet of 6,460 particles made here. Machines differ and stall; what lasts are
the ratios, all measured in one run. Steps a second are the best of several rounds.
"""

from __future__ import annotations

import importlib.util
import time
from collections.abc import Callable

import numpy as np

from addon.cloth import Pose, Settings, Setup, build_setup, new_state, reset, step
from addon.codec.havok.cloth import ClothFile
from tests.cloth.corpus import CLOTHS, drawn_triangles, load, still, swinging
from tests.cloth.synthetic import sheet
from tests.conftest import CORPUS
from tests.reference import cloth_plain

RATE = np.float32(1 / 60)
KINDS = ("LocalRange", "StandardLinks", "BendStiffness", "StretchLinks")
WANTED = {"HD_M_1140_c.hkx": 500, "c7190_c.hkx": 120, "c4500_c.hkx": 200}
PARTICLES, SHOWN = Settings(display=False), Settings()
FRAMES = 20


def run() -> None:
    """Print steps a second of every cloth at hand, and the ratios to the two references."""
    print(f"{'steps a second':34} {'particles':>10} {'display':>10} {'moving':>10} {'wanted':>8}")
    for name in CLOTHS:
        if (CORPUS / CLOTHS[name]).exists():
            sample = load(lambda file: CORPUS / file, name)
            show(name, sample.cloth, drawn_triangles(sample), WANTED.get(name))
    big = sheet(85, 76, kinds=KINDS)
    show("sheet of 6,460 particles", big, {}, 60)
    if (CORPUS / CLOTHS["c7190_c.hkx"]).exists():
        compare(load(lambda file: CORPUS / file, "c7190_c.hkx").cloth)
    else:
        print(f"no real files below {CORPUS}")


def show(title: str, cloth: ClothFile, triangles: dict, wanted: int | None) -> None:
    """Print one line: particles alone, with the display buffers, and with moving bones."""
    setup = build_setup(cloth, triangles=triangles)
    rest, moving = [still(cloth)], [swinging(cloth, frame / 60) for frame in range(FRAMES)]
    rates = [rate(setup, poses, settings) for settings, poses in ((PARTICLES, rest), (SHOWN, rest), (SHOWN, moving))]
    print(f"{title:34} {rates[0]:10.0f} {rates[1]:10.0f} {rates[2]:10.0f} {wanted or '':>8}")


def rate(setup: Setup, poses: list[Pose], settings: Settings) -> float:
    """Return steps a second, the poses one after another."""
    state = new_state(setup)
    reset(setup, state, poses[0])
    return 1 / seconds(lambda frame: step(setup, state, poses[frame % len(poses)], RATE, settings))


def compare(cloth: ClothFile) -> None:
    """Print how c7190's particles step plainly and in Blender, and how many times faster the batches are."""
    setup, pose = build_setup(cloth), still(cloth)
    state = new_state(setup)
    reset(setup, state, pose)
    fast = seconds(lambda _: step(setup, state, pose, RATE, PARTICLES))
    plain = [cloth_plain.Cloth(data) for data in cloth]
    bones = [cloth_plain.columns(matrix) for matrix in pose.bones]
    for one in plain:
        one.reset(bones)
    slow = seconds(lambda _: [one.step(bones, RATE, shown=False) for one in plain], rounds=3, count=2)
    print(f"c7190, {setup.layout.particles} particles: batched {1e3 * fast:.2f} ms")
    print(f"  plain, lists of np.float32        {1e3 * slow:8.1f} ms  {slow / fast:6.1f} times as long")
    if importlib.util.find_spec("bpy") is None:
        print("  no Blender here to compare with its cloth modifier")
        return
    for quality in (1, 5):
        own = blender_seconds(cloth, quality)
        print(f"  Blender's modifier, quality {quality}      {1e3 * own:8.1f} ms  {own / fast:6.1f} times as long")


def blender_seconds(cloth: ClothFile, quality: int) -> float:
    """Return what a frame takes Blender's cloth modifier on the same particles and triangles, without collision.

    ``quality`` is its number of solver steps a frame; 5 is its default.
    """
    import bpy

    bpy.ops.wm.read_factory_settings(use_empty=True)
    scene = bpy.context.scene
    scene.render.fps, scene.frame_start, scene.frame_end = 60, 1, FRAMES + 1
    for data in cloth:
        for sim in data.sims:
            mesh = bpy.data.meshes.new(data.name)
            mesh.from_pydata(sim.poses[0].tolist(), [], sim.triangles.tolist())
            thing = bpy.data.objects.new(data.name, mesh)
            scene.collection.objects.link(thing)
            thing.vertex_groups.new(name="pinned").add(sim.fixed.tolist(), 1.0, "REPLACE")
            modifier = thing.modifiers.new("Cloth", "CLOTH")
            modifier.settings.vertex_group_mass = "pinned"
            modifier.settings.quality = quality
            modifier.collision_settings.use_collision = False
            modifier.point_cache.frame_end = FRAMES + 1
    scene.frame_set(1)
    start = time.perf_counter()
    for frame in range(2, FRAMES + 2):
        scene.frame_set(frame)
    return (time.perf_counter() - start) / FRAMES


def seconds(work: Callable[[int], object], rounds: int = 8, count: int = FRAMES) -> float:
    """Return the shortest mean of some rounds of ``count`` calls."""
    best = float("inf")
    for _ in range(rounds):
        start = time.perf_counter()
        for frame in range(count):
            work(frame)
        best = min(best, (time.perf_counter() - start) / count)
    return best
