"""How fast meshes are compiled, and that it grows little faster than with their size."""

from __future__ import annotations

import time

import numpy as np

from addon.collision.compiler import CompileSettings, compile_extern, compile_mesh
from tests.collision.meshes import ground, soup

LIMITS = {7_000: 2.0, 100_000: 30.0}  # seconds, what users are promised


def run() -> None:
    """Print seconds by kind and size of mesh, the stages of the largest, and what doubling costs."""
    for name, make in (("hills", hills), ("flat ground", flat), ("separate triangles", apart)):
        measure(name, make)
    for sdk in ("20160200", "20180100"):
        start = time.perf_counter()
        compile_extern(*hills(100_000), sdk)
        print(f"extern mesh of SDK {sdk}, 100,000 triangles: {time.perf_counter() - start:.2f}s")


def hills(count: int):
    return cut(ground(int((count / 2) ** 0.5) + 1), count)


def flat(count: int):
    return cut(ground(int((count / 2) ** 0.5) + 1, noise=0.0), count)


def apart(count: int):
    return soup(count, 300.0)


def cut(mesh, count: int):
    return mesh[0], mesh[1][:count]


def measure(name: str, make) -> None:
    before = None
    for count in (7_000, 25_000, 50_000, 100_000):
        seconds, stages = timed(make(count))
        limit = f", limit {LIMITS[count]:.0f}s" if count in LIMITS else ""
        growth = f", x{seconds / before[1]:.1f} for x{count / before[0]:.1f}" if before else ""
        print(f"{name}, {count:,} triangles: {seconds:.2f}s{limit}{growth}")
        before = count, seconds
    print("   " + ", ".join(f"{stage} {spent:.2f}s" for stage, spent in stages.items()))


def timed(mesh) -> tuple[float, dict[str, float]]:
    vertices, triangles = mesh
    stages: dict[str, float] = {}
    last = ["", time.perf_counter()]

    def progress(stage: str, _fraction: float) -> None:
        now = time.perf_counter()
        if last[0]:
            stages[last[0]] = stages.get(last[0], 0.0) + now - last[1]
        last[:] = stage, now

    start = time.perf_counter()
    compile_mesh(vertices, triangles, np.full(len(triangles), 21), CompileSettings(), progress=progress)
    return time.perf_counter() - start, stages
