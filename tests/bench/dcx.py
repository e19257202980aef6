"""How fast DCX wraps and unwraps."""

from __future__ import annotations

import time

import numpy as np

from addon.codec import Dcx

SIZE = 16 << 20


def run() -> None:
    """Print MB of content a second, for content that compresses about as vertex data does."""
    steps = np.random.default_rng(1).integers(-8, 8, SIZE // 4, np.int32)
    wrapped = Dcx.new(np.cumsum(steps, dtype=np.int32).tobytes())
    start = time.perf_counter()
    data = wrapped.write()
    written = time.perf_counter()
    Dcx.read(data)
    read = time.perf_counter()
    print(f"DCX DFLT, {SIZE >> 20} MB at ratio {SIZE / len(data):.1f}")
    print(f"  write {SIZE / 1e6 / (written - start):8.1f} MB/s")
    print(f"  read  {SIZE / 1e6 / (read - written):8.1f} MB/s")
