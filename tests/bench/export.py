"""Export of models: each stage, for a loose file and into a binder, untouched and with an edit."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

import bpy

import addon
from tests.conftest import CORPUS

FILES = ("sekiro/c7190.chrbnd.dcx", "eldenring/c4500.chrbnd.dcx", "eldenring/hd_m_9000.partsbnd.dcx")
RUNS = 5


def run() -> None:
    """Print the best of five exports of each file's model."""
    addon.register()
    try:
        for name in FILES:
            path = CORPUS / name
            if path.exists():
                measure(path)
            else:
                print(f"{name}: not there")
    finally:
        addon.unregister()


def measure(path: Path) -> None:
    """Print the times of one file."""
    from addon.scene import import_flver

    bpy.ops.wm.read_factory_settings(use_empty=True)
    model = import_flver(bpy.context, [path]).models[0]
    _report(path, model, "untouched")
    model.meshes[0].data.vertices[0].co.x += 0.01
    _report(path, model, "one vertex moved")


def _report(path: Path, model, what: str) -> None:
    from addon.scene import export_flver

    for suffix in (".flver", ".partsbnd.dcx"):
        best: dict[str, float] = {}
        for _ in range(RUNS):
            with tempfile.TemporaryDirectory() as folder:
                start = time.perf_counter()
                result = export_flver(bpy.context, model.collection, Path(folder, "out" + suffix))
                seconds = {"all": time.perf_counter() - start, **result.timings.seconds}
            best = min(best or seconds, seconds, key=lambda each: each["all"])
        stages = ", ".join(f"{stage} {value * 1e3:.0f}" for stage, value in best.items())
        print(f"{path.name} -> {suffix}, {what}: ms: {stages}")
