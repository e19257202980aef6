"""Collision files of the tests' own: loose, in binders, split, with their types inside, beside or in a compendium."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from addon.codec import Binder, Dcx, SplitBinder, Tagfile
from addon.codec.binder import Entry
from addon.codec.havok.collision.writing import write_collision
from addon.codec.havok.tagfile import TCRF
from tests.collision.build import body, build, grid

ID = b"ossuary!"


def ground(side: int = 4, **options):
    return build(grid(side), **options)


def hkx(*bodies, sdk: str = "20180100", shared: bool = False) -> bytes:
    """Return a file; ``shared`` leaves its types to `compendium`."""
    tag = write_collision(sdk, bodies)
    if shared:
        tag.reference = TCRF.zeros(1)[0:1].reshape(())
        tag.reference["id"] = np.void(ID)
    return tag.write()


def compendium(sdk: str = "20180100") -> bytes:
    return Tagfile("", write_collision(sdk, []).layouts, ids=(ID,)).write()


def binder(path: Path, members: dict[str, bytes]) -> Path:
    made = Binder.new()
    made.entries = [Entry(f"N:\\GR\\{name}", data, number) for number, (name, data) in enumerate(members.items())]
    path.write_bytes(Dcx.new(made.write()).write())
    return path


def split(folder: Path, name: str, members: dict[str, bytes]) -> Path:
    """Write a split binder of wrapped members and its compendium; return the header's path."""
    made = SplitBinder.new()
    wrapped = {f"{key}.dcx": Dcx.new(data).write() for key, data in members.items()}
    wrapped[f"{name}.compendium.dcx"] = Dcx.new(compendium()).write()
    made.entries = [Entry(f"N:\\GR\\{key}", data, number) for number, (key, data) in enumerate(wrapped.items())]
    header, data = made.write()
    (folder / f"{name}.hkxbdt").write_bytes(data)
    (folder / f"{name}.hkxbhd").write_bytes(header)
    return folder / f"{name}.hkxbhd"


def area(folder: Path, number: str = "11_01_00_00", sides: dict[str, int] | None = None) -> dict[str, Path]:
    """Write the sets of a map with two parts each; return the headers."""
    paths = {}
    for letter, side in (sides or {"h": 4, "l": 2, "f": 3}).items():
        parts = [f"{letter}{number}_{model:06}" for model in (100, 200)]
        members = {f"{part}.hkx": hkx(body(_part(side), part), shared=True) for part in parts}
        paths[letter] = split(folder, f"{letter}{number}", members)
    return paths


def _part(side: int):
    """Return a ground; of one triangle for side 0."""
    source = grid(max(side, 1))
    if not side:
        source.quads, source.triangles, source.names = source.quads[:0], np.array([[0, 1, 2]]), np.array([21], "u4")
    return build(source)
