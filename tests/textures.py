"""Textures and materials of our own: DDS pictures, TPF, MTD and MATBIN files for tests."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from addon.codec import matbin, mtd
from addon.codec.dds import DX10, HEADER
from addon.codec.tpf import Tpf, TpfTexture

RGBA8, BC1 = 28, 71
_BITS = {BC1: 4, 72: 4, 80: 4, RGBA8: 32, 29: 32}


def dds(width: int, height: int, form: int = BC1, pixels: bytes = b"", *, cube: bool = False) -> bytes:
    """Return a DDS picture of one level; black where no pixels are given."""
    header, extra = HEADER.zeros(1), DX10.zeros(1)
    header["magic"], header["size"], header["flags"], header["mips"] = b"DDS ", 124, 0x1007, 1
    header["width"], header["height"], header["caps"], header["caps2"] = width, height, 0x1000, 0xFE00 * cube
    header["format_size"], header["format_flags"], header["code"] = 32, 4, b"DX10"
    extra["format"], extra["dimension"], extra["array_size"] = form, 3, 1
    bits = _BITS.get(form, 8)
    size = width * height * bits // 8 if bits == 32 else -(-width // 4) * -(-height // 4) * 2 * bits
    return header.tobytes() + extra.tobytes() + (pixels or bytes(size))


def picture(pixels: np.ndarray, *, srgb: bool = False) -> bytes:
    """Return an uncompressed DDS of pixels, (height, width, 4) u1, the upper row first."""
    height, width = pixels.shape[:2]
    return dds(width, height, 29 if srgb else RGBA8, pixels.astype(np.uint8).tobytes())


def make_tpf(textures: dict[str, bytes]) -> bytes:
    tpf = Tpf.new()
    tpf.textures += [TpfTexture(name, data) for name, data in textures.items()]
    return tpf.write()


@dataclass(frozen=True)
class MaterialSample:
    """What a material file says: samplers (type, path, scale) and parameters."""

    shader: str = "N:\\x\\character_AMSN.spx"
    samplers: tuple[tuple[str, str, list[float]], ...] = ()
    parameters: dict[str, list[float]] = field(default_factory=dict)


MATERIAL = MaterialSample(
    samplers=(
        ("C_AMSN_snp_Texture2D_2_AlbedoMap_0", "N:\\NTC\\data\\Model\\chr\\c1\\tex\\c1_a.tif", [1, 1]),
        ("C_AMSN_snp_Texture2D_7_NormalMap_4", "", [2, 0.5]),
    ),
    parameters={"g_BlendMode": [0], "g_AlphaRef": [128, 0], "flag": [1], "colour": [0.5, 0.25, 1.0], "one": [0.5]},
)
# type in an MTD, type in a MATBIN, dtype
_TYPES = {
    "g_BlendMode": ("int", 4, "<i4"), "g_AlphaRef": ("int2", 5, "<i4"), "flag": ("bool", 0, "u1"),
    "colour": ("float3", 10, "<f4"), "one": ("float", 8, "<f4"),
}  # fmt: skip


def make_mtd(sample: MaterialSample) -> bytes:
    return mtd.Mtd(
        sample.shader,
        "説明",
        [mtd.Parameter(n, _TYPES[n][0], np.array(v, _TYPES[n][2])) for n, v in sample.parameters.items()],
        [mtd.Sampler(kind, path, scale=np.array(scale, "<f4")) for kind, path, scale in sample.samplers],
    ).write()


def make_matbin(sample: MaterialSample) -> bytes:
    made = matbin.Matbin(sample.shader, "N:\\x\\source.matxml")
    for name, value in sample.parameters.items():
        number, dtype = _TYPES[name][1:]
        values = [*value, 1.0, 1.0] if number == 10 else value
        parameter = matbin.Parameter(name, np.array(values, dtype).tobytes())
        parameter.record["type"], parameter.record["key"] = number, 0xABCD
        made.parameters.append(parameter)
    for kind, path, scale in sample.samplers:
        sampler = matbin.Sampler(kind, path)
        sampler.record["scale"] = scale
        made.samplers.append(sampler)
    return made.write()
