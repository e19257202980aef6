"""The sample's textures, made by formulas: a TPF of small DDS pictures as its materials name them."""

from __future__ import annotations

import numpy as np

from addon.codec.binary import Array
from addon.codec.dds import HEADER
from addon.codec.tpf import Tpf, TpfTexture

SIDE = 128  # pixels
BENT = 0.35  # how steep a normal map is for a height of one
# sRGB of the dark and the light places
COLORS = {
    "iron": ((0.22, 0.20, 0.19), (0.52, 0.46, 0.42)), "bone": ((0.62, 0.53, 0.38), (0.93, 0.88, 0.76)),
    "cloth": ((0.28, 0.03, 0.05), (0.55, 0.09, 0.10)), "rope": ((0.33, 0.24, 0.14), (0.66, 0.52, 0.34)),
}  # fmt: skip
METALLIC = {"iron": 0.6, "bone": 0.0, "cloth": 0.0, "rope": 0.0}
GLOSS = {"iron": 0.55, "bone": 0.4, "cloth": 0.1, "rope": 0.05}


def make_sample_textures(materials: list[str]) -> bytes:
    """Return a TPF with the albedo, metallic and normal pictures of materials."""
    tpf = Tpf.new()
    for name in materials:
        height = _height(name)
        dark, light = (np.array(color) for color in COLORS[name])
        pictures = {
            "a": dark + height[..., None] * (light - dark),
            "m": np.broadcast_to(METALLIC[name] * (0.6 + 0.4 * height[..., None]), (SIDE, SIDE, 3)),
            "n": _normals(height, GLOSS[name]),
        }
        tpf.textures += [TpfTexture(f"{name}_{kind}", _dds(rgb)) for kind, rgb in pictures.items()]
    return tpf.write()


def _height(name: str) -> Array:
    """Return a surface's relief, (SIDE, SIDE) of 0 to 1, whose edges meet."""
    rough = _noise(sorted(COLORS).index(name))
    across, down = np.meshgrid(*[np.arange(SIDE) / SIDE * 2 * np.pi] * 2)
    if name == "cloth":  # a weave
        weave = 0.5 + 0.25 * (np.sin(24 * across) + np.sin(24 * down))
        return _spread(0.7 * weave + 0.3 * rough)
    if name == "rope":
        return _spread(np.abs(np.sin(6 * across + 6 * down)) + 0.4 * rough)
    if name == "bone":  # fine cracks
        return _spread(0.5 * rough + np.minimum(np.abs(rough - 0.5) * 8, 1))
    return _spread(rough)


def _noise(seed: int) -> Array:
    """Return noise of many sizes, (SIDE, SIDE) of 0 to 1, whose edges meet."""
    random = np.random.default_rng(seed)
    rates = np.fft.fftfreq(SIDE) * SIDE
    size = np.hypot(*np.meshgrid(rates, rates))
    size[0, 0] = np.inf  # no mean
    waves = np.exp(2j * np.pi * random.random((SIDE, SIDE))) / size**1.2
    return _spread(np.fft.ifft2(waves).real)


def _spread(values: Array) -> Array:
    return (values - values.min()) / np.ptp(values)


def _normals(height: Array, gloss: float) -> Array:
    """Return what a normal map of the games holds: x and y, green pointing down, and gloss in blue."""
    x = np.roll(height, 1, 1) - np.roll(height, -1, 1)
    y = np.roll(height, 1, 0) - np.roll(height, -1, 0)
    steps = BENT * SIDE / 16
    length = np.sqrt((steps * x) ** 2 + (steps * y) ** 2 + 1)
    return np.stack([0.5 + 0.5 * steps * x / length, 0.5 + 0.5 * steps * y / length, gloss * height], axis=-1)


def _dds(rgb: Array) -> bytes:
    """Return a DDS of 32 bits a pixel, blue first, with its levels of detail."""
    levels = []
    while rgb.shape[0]:
        pixels = np.full((*rgb.shape[:2], 4), 255, np.uint8)
        pixels[..., :3] = np.rint(255 * rgb[..., ::-1])
        levels.append(pixels.tobytes())
        half = rgb.shape[0] // 2
        rgb = rgb[: 2 * half, : 2 * half].reshape(half, 2, half, 2, 3).mean((1, 3))
    header = HEADER.zeros(1).reshape(())
    header["magic"], header["size"], header["format_size"] = b"DDS ", 124, 32
    header["flags"], header["caps"] = 0x2100F, 0x401008  # with pitch and levels; a texture of several levels
    header["height"] = header["width"] = SIDE
    header["pitch"], header["mips"] = 4 * SIDE, len(levels)
    header["format_flags"], header["bits"] = 0x41, 32  # colours and alpha
    header["masks"] = (0xFF0000, 0xFF00, 0xFF, 0xFF000000)
    return header.tobytes() + b"".join(levels)
