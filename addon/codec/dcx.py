"""DCX: the compressed wrapper. Big-endian throughout.

Readers accept any level, variant marker and unknown byte, since mod tools write them all; the header is kept and
written back, so that a file keeps its variant.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass, replace

from . import kraken
from .binary import Array, Buffer, Reader, Record, Writer
from .errors import FormatError

HEADER = Record("DCX header", 0x4C, (
    (0x00, "magic", "S4", "DCX"),
    (0x04, "version", "u4", "0x10000 up to Dark Souls III, 0x11000 from Sekiro on"),
    (0x08, "dcs_offset", "u4", "0x18"),
    (0x0C, "dcp_offset", "u4", "0x24"),
    (0x10, "dca_offset", "u4", "0x24 or 0x44: marks the variant, not always the place"),
    (0x14, "unk14", "u4", "0x2C or 0x4C"),
    (0x18, "dcs_magic", "S4", "DCS"),
    (0x1C, "size", "u4", "bytes of the content"),
    (0x20, "stored_size", "u4", "bytes of the payload; mod tools write wrong ones"),
    (0x24, "dcp_magic", "S4", "DCP"),
    (0x28, "codec", "S4", "DFLT, KRAK, ZSTD or EDGE"),
    (0x2C, "unk2C", "u4", "0x20"),
    (0x30, "level", "u1", "compression level"),
    (0x31, "unk31", "V3", "0"),
    (0x34, "unk34", "u4", "0; chunk size in EDGE"),
    (0x38, "unk38", "u1", "0, or 15 in one variant"),
    (0x39, "unk39", "V3", "0"),
    (0x3C, "unk3C", "u4", "0"),
    (0x40, "unk40", "u4", "0x10100"),
    (0x44, "dca_magic", "S4", "DCA"),
    (0x48, "dca_size", "u4", "8"),
))  # fmt: skip

MAGIC = b"DCX\0"
EARLY_MAGIC = b"DCP\0"
REPACK = "unpack it and pack it again as DCX DFLT with a mod tool, the games read that everywhere"
UNSUPPORTED = {
    "ZSTD": f"this DCX is compressed with ZSTD (Zstandard), which cannot be read here: {REPACK}",
    "EDGE": f"this DCX is compressed with EDGE (PlayStation 3), which cannot be read here: {REPACK}",
}

Progress = Callable[[float], None]


@dataclass
class Dcx:
    """A DCX file.

    Attributes:
        content: the bytes inside.
        header: the stored header, 0-d array of `HEADER`; sizes are set anew on writing.
    """

    content: bytes
    header: Array

    @property
    def codec(self) -> str:
        """The compression: "DFLT", "KRAK", ..."""
        return codec_name(self.header)

    @classmethod
    def new(cls, content: bytes, codec: str = "DFLT") -> Dcx:
        """Wrap content as Sekiro's and Elden Ring's files are wrapped (DFLT at level 9, as mods ship it)."""
        header = HEADER.zeros(1).reshape(())
        header["magic"], header["dcs_magic"], header["dcp_magic"], header["dca_magic"] = MAGIC, b"DCS", b"DCP", b"DCA"
        header["version"], header["dcs_offset"], header["dcp_offset"] = 0x11000, 0x18, 0x24
        header["dca_offset"], header["unk14"], header["unk2C"] = 0x44, 0x4C, 0x20
        header["unk40"], header["dca_size"] = 0x10100, 8
        header["codec"], header["level"] = codec.encode("ascii"), LEVELS.get(codec, 9)
        return cls(content, header)

    @classmethod
    def read(cls, data: Buffer, file: str = "", progress: Progress | None = None) -> Dcx:
        """Read a wrapped file.

        Args:
            data: the whole file.
            file: its name, for messages.
            progress: called now and then with the share that is done, 0 to 1.

        Raises:
            FormatError: not a DCX, a codec that is not supported, or a payload that is damaged or of another size
                than announced.
        """
        reader = Reader(data, file, big_endian=True)
        header = read_header(reader)
        codec = codec_name(header)
        if codec not in DECODERS:
            reader.fail(UNSUPPORTED.get(codec, f"DCX compression {codec!r} is not known: {REPACK}"), 0x28)
        try:
            content = DECODERS[codec](reader.data[HEADER.size :], int(header["size"]), progress)
        except FormatError as error:
            offset = None if error.offset is None else HEADER.size + error.offset
            reader.fail(error.what, offset, error.trail)
        return cls(content, header)

    def write(self) -> bytes:
        """Return the file's bytes.

        Raises:
            FormatError: the codec cannot be written.
        """
        if self.codec not in ENCODERS:
            raise FormatError(f"DCX compression {self.codec!r} cannot be written; choose DFLT or KRAK")
        payload, padding = ENCODERS[self.codec](self.content, int(self.header["level"]))
        header = self.header.copy()
        header["size"], header["stored_size"] = len(self.content), len(payload)
        writer = Writer(big_endian=True)
        writer.array(header)
        writer.write(payload)
        writer.align(padding)
        return writer.getvalue()

    def with_content(self, content: bytes) -> Dcx:
        """Return the same wrapper around other content."""
        return replace(self, content=content)


def is_dcx(data: Buffer) -> bool:
    """Tell whether bytes begin as a DCX does, or as the early form that `Dcx.read` turns down with the reason."""
    return bytes(data[:4]) in (MAGIC, EARLY_MAGIC)


def read_header(reader: Reader) -> Array:
    """Return the header, checked for its magics."""
    if bytes(reader.data[:4]) == EARLY_MAGIC:
        reader.fail(f"this is the early DCP wrapper of Demon's Souls, which cannot be read here: {REPACK}", 0)
    header = reader.record(HEADER, 0)
    for field, magic, offset in (("magic", b"DCX", 0), ("dcs_magic", b"DCS", 0x18), ("dcp_magic", b"DCP", 0x24)):
        if header[field].item() != magic:
            reader.fail(f"not a DCX file: {magic.decode()} expected", offset)
    return header


def codec_name(header: Array) -> str:
    """Return the codec of a header as text."""
    return bytes(header["codec"].item()).decode("latin-1")


def _inflate(payload: memoryview, size: int, _progress: Progress | None) -> bytes:
    """Decode a DFLT payload: one zlib stream up to the end of the file, zero padding allowed behind it."""
    inflater = zlib.decompressobj()
    try:
        content = inflater.decompress(payload, size + 1)
    except zlib.error as error:
        raise FormatError(f"the compressed data is damaged: {error}", offset=0) from error
    if len(content) > size:
        raise FormatError(f"the compressed data holds more than the {size} bytes announced", offset=0)
    if not inflater.eof:
        raise FormatError(f"the compressed data is cut off: {len(content)} of {size} bytes", offset=len(payload))
    if len(content) < size:
        raise FormatError(f"the compressed data holds {len(content)} of the {size} bytes announced", offset=0)
    if any(inflater.unused_data):
        raise FormatError("bytes follow the compressed data", offset=len(payload) - len(inflater.unused_data))
    return content


def _deflate(content: bytes, level: int) -> tuple[bytes, int]:
    """Encode a DFLT payload; the file is not padded."""
    return zlib.compress(content, level if 0 < level <= 9 else 9), 1


def _store(content: bytes, _level: int) -> tuple[bytes, int]:
    """Encode a KRAK payload as uncompressed blocks; the file is padded to 16."""
    return kraken.encode(content), 16


LEVELS = {"DFLT": 9, "KRAK": 6}
DECODERS: dict[str, Callable[[memoryview, int, Progress | None], bytes]] = {"DFLT": _inflate, "KRAK": kraken.decode}
ENCODERS: dict[str, Callable[[bytes, int], tuple[bytes, int]]] = {"DFLT": _deflate, "KRAK": _store}
