"""What the extension costs where it is not used: enabling it, frame changes and the drawing of its panels."""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from collections.abc import Callable

from tests.fresh import run_python
from tests.panels import drawn

RUNS = 15  # processes; the first fill the cache of compiled modules
MOST = 60.0  # milliseconds that enabling may take
CALLS = 2000

# numpy is not loaded when Blender starts, so what needs it would be part of the price.
# Compiled modules are kept, as they are in an installed extension.
ENABLE = """
    import sys, time, bpy
    sys.dont_write_bytecode, sys.pycache_prefix = False, sys.argv[1]
    began, processor = time.perf_counter(), time.process_time()
    import addon
    addon.register()
    print((time.perf_counter() - began) * 1e3, (time.process_time() - processor) * 1e3, len(
        [name for name in sys.modules if name.startswith("addon")]), "addon.codec" in sys.modules)
    addon.unregister()
"""


def run() -> None:
    """Measure and print."""
    print("enabling, milliseconds (median, least of", RUNS, "processes)")
    with tempfile.TemporaryDirectory() as folder:
        found = [run_python(ENABLE, arguments=(folder,)).split()[-4:] for _ in range(RUNS)]
    for name, column in (("on the clock", 0), ("of the processor", 1)):
        times = [float(row[column]) for row in found[2:]]
        print(f"{statistics.median(times):9.1f} {min(times):9.1f}  {name}, at most {MOST:.0f} are promised")
    print(f"{found[-1][2]:>9} modules loaded; codecs {'too' if found[-1][3] == 'True' else 'not among them'}")
    _measure_use()


def _measure_use() -> None:
    """Measure what Blender does for the extension in a scene without cloth: frame changes, and panels."""
    import bpy

    import addon

    bpy.ops.wm.read_factory_settings(use_empty=True)
    scene = bpy.context.scene
    for number in range(200):
        scene.collection.children.link(bpy.data.collections.new(f"collection {number}"))
    without = _per_call(lambda: scene.frame_set(1))
    addon.register()
    try:
        with_it = _per_call(lambda: scene.frame_set(1))
        print(
            f"a frame change in a scene of 200 collections: {without:.1f} us without the extension, {with_it:.1f} with"
        )
        panels = [kind for kind in bpy.types.Panel.__subclasses__() if kind.__module__.startswith("addon.")]
        polls = [kind.poll for kind in panels if hasattr(kind, "poll")]
        spent = _per_call(lambda: [poll(bpy.context) for poll in polls])
        print(f"the polls of {len(polls)} of {len(panels)} panels: {spent:.1f} microseconds a redraw of the sidebar")
        shown = [kind for kind in panels if not hasattr(kind, "poll") or kind.poll(bpy.context)]
        spent = _per_call(lambda: [drawn(kind) for kind in shown])
        print(f"drawing the {len(shown)} that are shown, into a layout of Python's: {spent:.1f} microseconds")
        heavy = ("addon.codec", "addon.collision", "addon.cloth", "addon.model", "addon.scene.api")
        loaded = [name for name in heavy if name in sys.modules]
        print("loaded by that:", ", ".join(loaded) or "nothing")
    finally:
        addon.unregister()


def _per_call(action: Callable[[], object]) -> float:
    """Return microseconds, the least of five rounds."""
    rounds = []
    for _ in range(5):
        began = time.perf_counter()
        for _ in range(CALLS):
            action()
        rounds.append((time.perf_counter() - began) / CALLS * 1e6)
    return min(rounds)
