"""DDS: what a texture's header says, and whether Blender can show it. A reader of the header only.

Layout and formats: public documentation of DirectDraw Surface files. Which formats Blender shows was tried on Blender
4.5, 5.0 and 5.2. Blender believes the size that a header tells and takes that much memory, so it is checked here first.
"""

from __future__ import annotations

from dataclasses import dataclass

from .binary import Buffer, Reader, Record

HEADER = Record("DDS header", 0x80, (
    (0x00, "magic", "S4", "DDS and a space"),
    (0x04, "size", "u4", "124"),
    (0x08, "flags", "u4", "which fields count"),
    (0x0C, "height", "u4", "pixels"),
    (0x10, "width", "u4", "pixels"),
    (0x14, "pitch", "u4", "bytes of a line, or of the first level"),
    (0x18, "depth", "u4", "slices of a volume"),
    (0x1C, "mips", "u4", "levels of detail"),
    (0x20, "unk20", "V44", "reserved"),
    (0x4C, "format_size", "u4", "32"),
    (0x50, "format_flags", "u4", "4 = the format has a four-character code"),
    (0x54, "code", "S4", "DXT1, DXT5, ATI1, ATI2, DX10, ..., or a number"),
    (0x58, "bits", "u4", "of a pixel, without a code"),
    (0x5C, "masks", "4u4", "of red, green, blue and alpha"),
    (0x6C, "caps", "u4", "what the file holds"),
    (0x70, "caps2", "u4", "0xFE00 = cube map, 0x200000 = volume"),
    (0x74, "unk74", "V12", "reserved"),
))  # fmt: skip

DX10 = Record("DDS DX10 header", 0x14, (
    (0x00, "format", "u4", "DXGI_FORMAT"),
    (0x04, "dimension", "u4", "3 = texture"),
    (0x08, "misc", "u4", "4 = cube map"),
    (0x0C, "array_size", "u4", "1"),
    (0x10, "misc2", "u4", "how alpha is meant"),
))  # fmt: skip

HAS_CODE = 4
CUBE_OR_VOLUME = 0x20FE00
CUBE = 4
PIXEL_BITS = (8, 16, 24, 32)
LARGEST = 16384  # pixels of a side, what the games' graphics interface allows

# four-character code or DXGI number: name, bytes of 4 x 4 pixels
_CODES: dict[bytes, tuple[str, int]] = {
    b"DXT1": ("BC1", 8), b"DXT2": ("BC2", 16), b"DXT3": ("BC2", 16), b"DXT4": ("BC3", 16), b"DXT5": ("BC3", 16),
    b"ATI1": ("BC4", 8), b"BC4U": ("BC4", 8), b"ATI2": ("BC5", 16), b"BC5U": ("BC5", 16),
}  # fmt: skip
_NUMBERS: dict[int, tuple[str, int]] = {
    28: ("RGBA8", 64), 29: ("RGBA8 sRGB", 64), 71: ("BC1", 8), 72: ("BC1 sRGB", 8), 74: ("BC2", 16),
    75: ("BC2 sRGB", 16), 77: ("BC3", 16), 78: ("BC3 sRGB", 16), 80: ("BC4", 8), 83: ("BC5", 16),
    87: ("BGRA8", 64), 88: ("BGRX8", 64), 91: ("BGRA8 sRGB", 64), 93: ("BGRX8 sRGB", 64), 95: ("BC6H", 16),
    96: ("BC6H signed", 16), 98: ("BC7", 16), 99: ("BC7 sRGB", 16),
}  # fmt: skip


@dataclass(frozen=True)
class Dds:
    """What a DDS file says of itself.

    Attributes:
        width: pixels.
        height: pixels.
        format: "BC1 sRGB", "BC7", "32 bits", ...
    """

    width: int
    height: int
    format: str

    @classmethod
    def read(cls, data: Buffer, file: str = "") -> Dds:
        """Read the header of a picture that Blender can show.

        Raises:
            FormatError: not a DDS, a cube map or volume, a format that Blender does not read, or less data than the
                picture's first level needs.
        """
        reader = Reader(data, file)
        header = reader.record(HEADER, 0)
        if header["magic"].item() != b"DDS " or header["size"] != 124:
            reader.fail("not a DDS picture", 0)
        width, height, start = int(header["width"]), int(header["height"]), HEADER.size
        cube = bool(header["caps2"] & CUBE_OR_VOLUME)
        code = header["code"].item()
        if header["format_flags"] & HAS_CODE:
            if code == b"DX10":
                extra = reader.record(DX10, start)
                start, number = start + DX10.size, int(extra["format"])
                cube |= bool(extra["misc"] & CUBE)
                known, title = _NUMBERS.get(number), f"DXGI {number}"
            else:
                known, title = _CODES.get(code), repr(code.decode("latin-1"))
            if known is None:
                reader.fail(f"a DDS picture of the format {title}, which Blender does not show", 0x50)
            name, size = known[0], -(-width // 4) * -(-height // 4) * known[1]
            if known[1] > 16:  # not in blocks
                size = width * height * known[1] // 16
        else:
            bits = int(header["bits"])
            if bits not in PIXEL_BITS:
                reader.fail(f"a DDS picture of {bits} bits a pixel, which Blender does not show", 0x58)
            name, size = f"{bits} bits", width * height * bits // 8
        if cube:
            reader.fail("a DDS cube map or volume, which is no picture", 0x70)
        if not (0 < width <= LARGEST and 0 < height <= LARGEST):
            reader.fail(f"a DDS picture of {width} x {height} pixels", 0x0C)
        reader.check(start, size, f"a picture of {width} x {height} pixels in {name}")
        return cls(width, height, name)
