"""How fast Kraken decodes, beside the plain decoder, and how much memory it takes."""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Callable

from addon.codec import kraken
from addon.codec.dcx import HEADER
from tests.conftest import CORPUS
from tests.reference import kraken_plain

FILES = (
    "eldenring/hd_m_1140.partsbnd.dcx",
    "sekiro/allmaterialbnd.mtdbnd.dcx",
    "eldenring/wp_a_0213.partsbnd.dcx",
    "eldenring/bd_f_9002_l.partsbnd.dcx",
    "eldenring/c4500.chrbnd.dcx",
    "eldenring/h_collision.compendium.dcx",
)
TURNS = 5


def best(decode: Callable[[bytes, int], bytes], payload: bytes, size: int) -> float:
    """Return MB of content a second, the best of some turns."""
    times = []
    for _ in range(TURNS):
        start = time.perf_counter()
        decode(payload, size)
        times.append(time.perf_counter() - start)
    return size / 1e6 / min(times)


def memory(payload: bytes, size: int) -> float:
    """Return the MiB that decoding takes at its peak, the content not counted."""
    tracemalloc.start()
    kraken.decode(payload, size)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return (peak - size) / (1 << 20)


def run() -> None:
    """Print a table: MB of content a second with both decoders, their ratio, and the peak memory above the content."""
    print(f"{'Kraken':40} {'MB':>6} {'MB/s':>8} {'plain':>8} {'ratio':>6} {'MiB':>6}")
    for name in FILES:
        if not (CORPUS / name).exists():
            print(f"{name:40} not in {CORPUS}")
            continue
        data = (CORPUS / name).read_bytes()
        payload, size = data[HEADER.size :], int.from_bytes(data[0x1C:0x20], "big")
        fast, plain = best(kraken.decode, payload, size), best(kraken_plain.decode, payload, size)
        row = f"{size / 1e6:6.1f} {fast:8.1f} {plain:8.1f} {fast / plain:6.1f} {memory(payload, size):6.0f}"
        print(f"{name:40} {row}", flush=True)
