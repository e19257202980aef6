"""Oodle Kraken, as DCX files of the "KRAK" kind hold it, and LZB16, which takes its place in tiny files.

The stages, from the outside in: `blocks` finds the quanta, `chunks` and `arrays` walk all headers in them, `lanes`
decodes the Huffman streams of many blocks at once, `lz` runs the commands. Sizes are in the headers, which is what
makes the batches possible. There is no checksum: a changed literal decodes to a changed byte.

Source of all rules: found on real files and held against native decoders.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from io import BytesIO

from ..binary import Buffer
from . import blocks, chunks, lz, lzb
from .blocks import Kind, Quantum
from .chunks import Chunk, PlainChunk
from .lanes import HuffmanBatch

# A batch ends at any of these: bytes of output, bytes of source, Huffman symbols. They keep its memory below 100 MiB.
BATCH_OUTPUT = 1 << 24
BATCH_SOURCE = 1 << 22
BATCH_SYMBOLS = 1 << 22
LANES_SHARE = 0.4  # of a batch's time, roughly


def decode(payload: Buffer, size: int, progress: Callable[[float], None] | None = None) -> bytes:
    """Decode a Kraken payload.

    Args:
        payload: the compressed bytes; zeros may follow them.
        size: bytes of the content.
        progress: called now and then with the share that is done, 0 to 1; what it raises ends the work.

    Returns:
        ``size`` bytes.

    Raises:
        FormatError: the payload is damaged, cut off or of another size, or uses another Oodle codec.
    """
    data = memoryview(payload).toreadonly().cast("B")
    quanta = blocks.walk(data, size)
    out = _Output()
    batch, done = _Batch(data, out), 0.0
    for quantum in quanta:
        batch.add(quantum)
        if batch.full or quantum is quanta[-1]:
            for step in batch.run():
                done += step
                if progress:
                    progress(min(done / size, 1.0))
            batch = _Batch(data, out)
    return out.finish()


def encode(content: Buffer) -> bytes:
    """Return content as a legal Kraken stream of uncompressed blocks."""
    return b"".join(blocks.frame(memoryview(content)))


class _Output:
    """The content so far. Its last part is the window that matches read; what is in front of it is out of reach."""

    def __init__(self) -> None:
        self.window = bytearray()
        self._done = BytesIO()

    def begin(self, quantum: Quantum) -> None:
        """Make room for the output of a quantum."""
        if quantum.start == 0:
            self._done.write(self.window)
            self.window = bytearray()
        self.window += bytes(quantum.end - quantum.start)

    def finish(self) -> bytes:
        """Return all of the content."""
        self._done.write(self.window)
        return self._done.getvalue()


class _Batch:
    """Some quanta in a row, walked together so that their Huffman streams are decoded together."""

    def __init__(self, payload: memoryview, out: _Output) -> None:
        self.payload = payload
        self.out = out
        self.huffman = HuffmanBatch()
        self.quanta: list[tuple[Quantum, list[Chunk]]] = []
        self.size = 0

    def add(self, quantum: Quantum) -> None:
        """Walk the headers of a quantum."""
        walked = list(chunks.walk(self.payload, quantum, self.huffman)) if quantum.kind is Kind.KRAKEN else []
        self.quanta.append((quantum, walked))
        self.size += quantum.end - quantum.start

    @property
    def full(self) -> bool:
        """Whether another quantum would take more memory than it saves time."""
        source = self.quanta[-1][0].source_end - self.quanta[0][0].source
        return self.size >= BATCH_OUTPUT or source >= BATCH_SOURCE or self.huffman.cost >= BATCH_SYMBOLS

    def run(self) -> Iterator[float]:
        """Write the output; yield, now and then, how many bytes' worth of work is done since the last time."""
        first, last = self.quanta[0][0], self.quanta[-1][0]
        self.huffman.decode(self.payload[first.source : last.source_end], first.source)
        yield LANES_SHARE * self.size
        for quantum, walked in self.quanta:
            self.out.begin(quantum)
            self._write(quantum, walked)
            yield (1 - LANES_SHARE) * (quantum.end - quantum.start)

    def _write(self, quantum: Quantum, walked: list[Chunk]) -> None:
        window = self.out.window
        source = self.payload[quantum.source : quantum.source_end]
        if quantum.kind is Kind.STORED:
            window[quantum.start :] = source
        elif quantum.kind is Kind.FILL:
            window[quantum.start :] = bytes(source) * (quantum.end - quantum.start)
        elif quantum.kind is Kind.LZB16:
            lzb.run(self.payload, quantum, window)
        for chunk in walked:
            if isinstance(chunk, PlainChunk):
                window[chunk.start : chunk.start + chunk.part.count] = chunk.part.resolve().tobytes()
            else:
                lz.run(chunk, window)
