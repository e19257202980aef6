"""How fast models are read, decoded and written."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from addon.codec import Binder, Dcx, FormatError
from addon.codec.flver import Flver
from addon.model import findings, node_matrices, place_mesh
from tests.conftest import CORPUS
from tests.sample import make_sample

ROUNDS = 5
MODELS = {"sekiro/c7190.chrbnd.dcx": "c7190.flver", "eldenring/c4500.chrbnd.dcx": "c4500.flver"}


def run() -> None:
    """Print, for the sample and the corpus's largest characters, the best times of each step."""
    report("sample", make_sample().write())
    for name, model in MODELS.items():
        path = CORPUS / name
        if not path.exists():
            print(f"{model}: no {path}")
            continue
        packed = path.read_bytes()
        try:
            unpack = best(lambda packed=packed: Dcx.read(packed))
        except FormatError as error:
            print(f"{model}: {error}")
            continue
        entries = Binder.read(Dcx.read(packed).content).entries
        report(model, bytes(next(entry.data for entry in entries if entry.basename == model)))
        print(f"  {'unwrap':16} {unpack * 1e3:8.1f} ms")


def report(name: str, data: bytes) -> None:
    """Print the times of one model."""
    flver = Flver.read(data)
    counts = f"{len(flver.nodes)} nodes, {len(flver.meshes)} meshes, {len(flver.dummies)} dummies"
    print(f"{name}: {len(data) / 1e6:.1f} MB, {counts}")
    steps: dict[str, Callable[[], Any]] = {
        "read": lambda: Flver.read(data),
        "read and decode": lambda: decode(Flver.read(data)),
        "decode and place": lambda: place(flver),
        "write": flver.write,
    }
    for step, action in steps.items():
        print(f"  {step:16} {best(action) * 1e3:8.1f} ms")


def best(action: Callable[[], Any]) -> float:
    """Return the least seconds of some rounds."""
    times = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        action()
        times.append(time.perf_counter() - start)
    return min(times)


def decode(flver: Flver) -> None:
    """Decode all vertices and triangles."""
    for i, mesh in enumerate(flver.meshes):
        flver.vertices(i)
        for j in range(len(mesh.face_sets)):
            flver.triangles(i, j)


def place(flver: Flver) -> None:
    """Decode all vertices, place and check them."""
    matrices = node_matrices(flver.nodes)
    meshes = enumerate(flver.meshes)
    findings(flver, [place_mesh(flver, mesh, flver.vertices(i), matrices)[0] for i, mesh in meshes])
