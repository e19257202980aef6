"""Import of models through the operator: each stage, and how much of the time is Blender's."""

from __future__ import annotations

import time
from pathlib import Path

import bpy

import addon
from tests.conftest import CORPUS

FILES = (
    "sekiro/c7190.chrbnd.dcx",
    "eldenring/c4500.chrbnd.dcx",
    "eldenring/hd_m_1140.partsbnd.dcx",
    "eldenring/hd_m_9000.partsbnd.dcx",
)
RUNS = 5
OURS = ("open", "read", "place", "find textures", "read cloth")


def run() -> None:
    """Print the best of five imports of each file, by the operator and by its stages."""
    for name in FILES:
        path = CORPUS / name
        if path.exists():
            measure(path)
        else:
            print(f"{name}: not there")


def measure(path: Path) -> None:
    """Print the times of one file."""
    from addon.scene import import_flver

    operator, stages = [], []
    for _ in range(RUNS):
        operator.append(import_once(path))
        bpy.ops.wm.read_factory_settings(use_empty=True)
        stages.append(import_flver(bpy.context, [path]).timings.seconds)
    best = min(stages, key=lambda seconds: sum(seconds.values()))
    total = sum(best.values())
    blender = total - sum(best.get(stage, 0.0) for stage in OURS)
    print(f"{path.name}: operator {min(operator) * 1e3:.0f} ms, of which opening the file {best['open'] * 1e3:.0f} ms")
    for stage, seconds in best.items():
        print(f"  {stage:<10} {seconds * 1e3:7.1f} ms  {seconds / total:4.0%}")
    print(f"  making datablocks takes {blender / total:.0%}")


def import_once(path: Path) -> float:
    """Return the seconds of one import by the operator, which has decoded nothing yet."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    addon.register()
    try:
        start = time.perf_counter()
        bpy.ops.import_scene.ossuary_flver(filepath=str(path))
        return time.perf_counter() - start
    finally:
        addon.unregister()
