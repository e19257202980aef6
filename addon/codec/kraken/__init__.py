"""Oodle Kraken, as DCX files of the "KRAK" kind hold it, and LZB16, which takes its place in tiny files.

The stages, from the outside in: `blocks` finds the quanta, `chunks` and `arrays` walk all headers in them, `lanes`
decodes the Huffman streams of many blocks at once, `lz` runs the commands. Sizes are in the headers, which is what
makes the batches possible. There is no checksum: a changed literal decodes to a changed byte.

Source of all rules: found on real files and held against native decoders.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from ..binary import Buffer
from . import blocks, chunks, lz, lzb
from .blocks import Kind, Quantum
from .chunks import Chunk, PlainChunk
from .lanes import HuffmanBatch

BATCH_OUTPUT = 1 << 24
BATCH_SOURCE = 1 << 22
BATCH_SYMBOLS = 1 << 22
LANES_SHARE = 0.4  # of a batch's time, roughly


def decode(payload: Buffer, size: int, progress: Callable[[float], None] | None = None) -> bytes:
    """Decode a Kraken payload.

    Args:
        payload: the compressed bytes; zeros may follow them.
        size: bytes of the content.
        progress: called now and then with the share that is done, 0 to 1.

    Returns:
        ``size`` bytes.

    Raises:
        FormatError: the payload is damaged, cut off or of another size, or uses another Oodle codec.
    """
    data = memoryview(payload).toreadonly().cast("B")
    quanta = blocks.walk(data, size)
    out = bytearray(size)
    batch = _Batch(data, out)
    for quantum in quanta:
        batch.add(quantum)
        if batch.full or quantum is quanta[-1]:
            for place in batch.run():
                if progress:
                    progress(place / size)
            batch = _Batch(data, out)
    return bytes(out)


def encode(content: Buffer) -> bytes:
    """Return content as a legal Kraken stream of uncompressed blocks."""
    return b"".join(blocks.frame(memoryview(content)))


class _Batch:
    """Some quanta in a row, walked together so that their Huffman streams are decoded together."""

    def __init__(self, payload: memoryview, out: bytearray) -> None:
        self.payload = payload
        self.out = out
        self.huffman = HuffmanBatch()
        self.quanta: list[tuple[Quantum, list[Chunk]]] = []

    def add(self, quantum: Quantum) -> None:
        """Walk the headers of a quantum."""
        walked = list(chunks.walk(self.payload, quantum, self.huffman)) if quantum.kind is Kind.KRAKEN else []
        self.quanta.append((quantum, walked))

    @property
    def full(self) -> bool:
        """Whether another quantum would take more memory than it saves time."""
        first, last = self.quanta[0][0], self.quanta[-1][0]
        return (
            last.end - first.start >= BATCH_OUTPUT
            or last.source_end - first.source >= BATCH_SOURCE
            or self.huffman.symbols >= BATCH_SYMBOLS
        )

    def run(self) -> Iterator[float]:
        """Write the output; yield the output byte up to which the work is done, on average."""
        first, last = self.quanta[0][0], self.quanta[-1][0]
        self.huffman.decode(self.payload[first.source : last.source_end], first.source)
        yield first.start + LANES_SHARE * (last.end - first.start)
        for quantum, walked in self.quanta:
            self._write(quantum, walked)
            yield quantum.end + LANES_SHARE * (last.end - quantum.end)

    def _write(self, quantum: Quantum, walked: list[Chunk]) -> None:
        source = self.payload[quantum.source : quantum.source_end]
        if quantum.kind is Kind.STORED:
            self.out[quantum.start : quantum.end] = source
        elif quantum.kind is Kind.FILL:
            self.out[quantum.start : quantum.end] = bytes(source) * (quantum.end - quantum.start)
        elif quantum.kind is Kind.LZB16:
            lzb.run(self.payload, quantum, self.out)
        for chunk in walked:
            if isinstance(chunk, PlainChunk):
                self.out[chunk.start : chunk.start + chunk.part.count] = chunk.part.resolve().tobytes()
            else:
                lz.run(chunk, self.out)
