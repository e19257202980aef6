"""How fast the collision of a large map is decoded, imported, coloured and written back.

The binder is made here: 228 files with 1.67 million triangles, as large as the largest of Sekiro, all with the types of
one compendium.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

import numpy as np

from addon.codec import Binder, Dcx, Tagfile, read_collision
from addon.codec.binder import Entry
from addon.codec.havok.collision.writing import write_collision
from addon.codec.havok.tagfile import TCRF
from addon.codec.source import Kind, open_source
from tests.collision.build import body, build, grid

FILES, TRIANGLES = 228, 1_671_788
DIFFERENT = 6  # the others repeat them
SIDE = 60
ID = b"collisio"
AREA = "11_01_00_00"


def run() -> None:
    """Print seconds for decoding, importing, switching colours and exporting."""
    with tempfile.TemporaryDirectory() as folder:
        path = make(Path(folder))
        print(f"{path.name}: {path.stat().st_size:,} bytes")
        decode(path)
        import_all(path)
        export_all(path)


def make(folder: Path) -> Path:
    """Write the binder and return its path."""
    shapes = [build(grid(SIDE + number, origin=(70 * number, 0, 0)), flagged=False) for number in range(DIFFERENT)]
    binder, compendium, total = Binder.new(), b"", 0
    for number in range(FILES):
        shape = shapes[number % DIFFERENT]
        tag = write_collision("20160200", [body(shape, f"h{number:06}", (70 * (number // DIFFERENT), 0, 0))])
        compendium = compendium or Tagfile("", tag.layouts, ids=(ID,)).write()
        tag.reference = TCRF.zeros(1)[0:1].reshape(())
        tag.reference["id"] = np.void(ID)
        data = tag.write()
        binder.entries.append(Entry(f"N:\\NTC\\h{AREA}_{number:06}.hkx", data, number))
        total += len(shape.decoded)
    binder.entries.append(Entry(f"N:\\NTC\\h{AREA}.compendium", compendium, FILES))
    path = folder / f"h{AREA}.hkxbnd.dcx"
    path.write_bytes(Dcx.new(binder.write()).write())
    print(f"{FILES} files, {total:,} triangles (Ashina Castle has {TRIANGLES:,})")
    return path


def decode(path: Path) -> None:
    members = [member for member in open_source(path).members if member.kind == Kind.COLLISION]
    files = [(bytes(member.data()), member.compendium) for member in members]
    for _ in range(3):
        start = time.perf_counter()
        tags = [Tagfile.read(data, compendium) for data, compendium in files]
        middle = time.perf_counter()
        count = sum(len(each.triangles) for tag in tags for each in read_collision(tag))
        end = time.perf_counter()
        print(f"tagfiles {middle - start:.2f}s + meshes {end - middle:.2f}s = {end - start:.2f}s, {count:,} triangles")


def import_all(path: Path) -> None:
    import bpy

    import addon.scene
    from addon.scene.collision.colors import paint_all
    from addon.scene.collision.keys import Mode

    bpy.ops.wm.read_factory_settings(use_empty=True)
    start = time.perf_counter()
    result = addon.scene.import_collision(bpy.context, [path])
    stages = ", ".join(f"{name} {seconds:.2f}" for name, seconds in result.timings.seconds.items())
    print(f"import {time.perf_counter() - start:.2f}s ({stages}): {result.summary}")
    for mode in (Mode.SECTION, Mode.INTERIOR, Mode.KIND, Mode.SET, Mode.MATERIAL):
        start = time.perf_counter()
        paint_all([imported.object for imported in result.bodies], mode)
        bpy.context.view_layer.update()
        print(f"colours by {mode.value.lower()} {time.perf_counter() - start:.2f}s")


def export_all(path: Path) -> None:
    """Write what was imported into its binder: untouched, then with one vertex moved."""
    import bpy

    import addon.scene

    for what in ("untouched", "one vertex moved"):
        bodies = addon.scene.chosen_bodies(bpy.context)
        start = time.perf_counter()
        result = addon.scene.export_collision(bpy.context, bodies, path)
        stages = ", ".join(f"{name} {seconds:.2f}" for name, seconds in result.timings.seconds.items())
        print(f"export, {what} {time.perf_counter() - start:.2f}s ({stages}): {result.summary}")
        bodies[0].data.vertices[0].co.z += 0.5
