"""TPF: textures by name, each a whole DDS file.

Only the PC form, which both games have. Layout: found on the games' files and verified on them by rewriting; that a
record may be followed by numbers of its own is known from open tools, no file of the two games at hand has any.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from .binary import Array, Buffer, Reader, Record, Writer, encode_text, text_encoding
from .errors import FormatError

HEADER = Record("TPF header", 0x10, (
    (0x00, "magic", "S4", "TPF"),
    (0x04, "data_size", "u4", "bytes from the end of the names to the end of the file"),
    (0x08, "count", "i4", "number of textures"),
    (0x0C, "platform", "u1", "0 = PC; consoles store other records"),
    (0x0D, "unk0D", "u1", "3"),
    (0x0E, "encoding", "u1", "1 = names are UTF-16, else Shift-JIS"),
    (0x0F, "unk0F", "u1", "0"),
))  # fmt: skip

TEXTURE = Record("TPF texture", 0x14, (
    (0x00, "offset", "u4", "where the DDS is"),
    (0x04, "size", "u4", "bytes of the DDS"),
    (0x08, "format", "u1", "tells the pixel format, but not reliably: the DDS does"),
    (0x09, "kind", "u1", "0 texture, 1 cube map, 2 volume"),
    (0x0A, "mips", "u1", "levels of detail"),
    (0x0B, "flags", "u1", "0; 2 and 3 mean that the DDS is wrapped on its own"),
    (0x0C, "name_offset", "u4", "where the name is"),
    (0x10, "has_numbers", "u4", "1 = unk00, a size and that many bytes of numbers follow the record"),
))  # fmt: skip

NUMBERS = Record("TPF texture numbers", 0x08, (
    (0x00, "unk00", "i4", "0"),
    (0x04, "size", "i4", "bytes of the floats that follow"),
))  # fmt: skip

UNICODE = 1
ALIGNMENT, TOOL_ALIGNMENT = 4, 16  # of each texture: in the games' files no more can be told; as mod tools write
REPEATS = 4


@dataclass(slots=True)
class TpfTexture:
    """One texture.

    Attributes:
        name: without folder and extension.
        data: the DDS file.
        record: 0-d array of `TEXTURE`; offsets and sizes are set anew on writing.
        numbers: what follows the record, from its `unk00` on; empty where nothing does.
    """

    name: str
    data: Buffer
    record: Array = field(default_factory=lambda: TEXTURE.zeros(1).reshape(()))
    numbers: bytes = b""


@dataclass
class Tpf:
    """A TPF file.

    Attributes:
        header: 0-d array of `HEADER`; sizes and counts are set anew on writing.
        textures: in stored order.
        alignment: of where each texture begins, and the first name where it is `TOOL_ALIGNMENT`.
    """

    header: Array
    textures: list[TpfTexture] = field(default_factory=list)
    alignment: int = ALIGNMENT

    @classmethod
    def new(cls) -> Tpf:
        """Make an empty file as both games have them."""
        header = HEADER.zeros(1).reshape(())
        header["magic"], header["unk0D"], header["encoding"] = b"TPF", 3, UNICODE
        return cls(header)

    @classmethod
    def read(cls, data: Buffer, file: str = "") -> Tpf:
        """Read a file; textures are views of ``data``.

        Raises:
            FormatError: not a TPF, one of a console, or a count, offset or name that lies outside the file.
        """
        reader = Reader(data, file, repeats=REPEATS)
        header = reader.record(HEADER, 0)
        if header["magic"].item() != b"TPF":
            reader.fail("not a TPF file", 0)
        if header["platform"] != 0:
            reader.fail(f"textures of a console (platform {header['platform']}), only those of PC can be read", 0x0C)
        count = int(header["count"])
        reader.check(HEADER.size, count * TEXTURE.size, f"{count} x {TEXTURE.name}")
        encoding = text_encoding(unicode=header["encoding"] == UNICODE, big_endian=False)
        textures, position = [], HEADER.size
        for i in range(count):
            with reader.at(f"textures[{i}]"):
                texture = _read_texture(reader, position, encoding)
            textures.append(texture)
            position += TEXTURE.size + len(texture.numbers)
        aligned = all(int(texture.record["offset"]) % TOOL_ALIGNMENT == 0 for texture in textures)
        return cls(header, textures, TOOL_ALIGNMENT if aligned else ALIGNMENT)

    def write(self) -> bytes:
        """Return the file's bytes.

        Raises:
            FormatError: a name that the encoding cannot hold, or more bytes than a 32-bit offset reaches.
        """
        writer = Writer()
        header = self.header.copy()
        header["count"] = len(self.textures)
        writer.array(header)
        places = []
        for texture in self.textures:
            places.append(writer.reserve(TEXTURE.size))
            writer.write(texture.numbers)
        encoding = text_encoding(unicode=header["encoding"] == UNICODE, big_endian=False)
        if self.alignment == TOOL_ALIGNMENT:
            writer.align(TOOL_ALIGNMENT)
        names = [writer.write(encode_text(texture.name, encoding)) for texture in self.textures]
        start = writer.tell()
        for texture, place, name in zip(self.textures, places, names, strict=True):
            row = texture.record.copy()
            row["name_offset"], row["size"], row["offset"] = name, len(texture.data), writer.align(self.alignment)
            writer.write(texture.data)
            if writer.tell() > np.iinfo(np.uint32).max:
                raise FormatError("a TPF cannot be larger than 4 GB")
            writer.patch(place, row)
        header["data_size"] = writer.tell() - start
        writer.patch(0, header)
        return writer.getvalue()


def _read_texture(reader: Reader, position: int, encoding: str) -> TpfTexture:
    row = reader.record(TEXTURE, position)
    numbers = b""
    if row["has_numbers"] != 0:
        size = int(reader.record(NUMBERS, position + TEXTURE.size)["size"])
        reader.check(position + TEXTURE.size + NUMBERS.size, size, "numbers")
        numbers = bytes(reader.view(position + TEXTURE.size, NUMBERS.size + size, "numbers"))
    name = reader.string(int(row["name_offset"]), encoding)
    return TpfTexture(name, reader.view(int(row["offset"]), int(row["size"])), row, numbers)
