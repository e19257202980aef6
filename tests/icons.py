"""The icons' PNGs, made from their SVGs: ``python -m tests.icons`` after an SVG was changed.

Reads the little of SVG that the icons use, and says so where one uses more: `path` with the absolute commands M, L, C
and Z, `circle`, `rect`; fill and stroke are none or currentColor; strokes have round ends and corners.
"""

from __future__ import annotations

import re
import struct
import zlib
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree as ET

import numpy as np

from tests.fresh import ROOT

ICONS = ROOT / "icons"
SIZE, SAMPLES = 64, 4  # pixels, and samples along each side of one
COLORS = {"dark": (220, 220, 220), "light": (40, 40, 40)}  # of icons, by the kind of theme they are for
CURVE = np.linspace(0, 1, 17)[1:, None]  # where curves are cut into lines
KAPPA = 0.5522847498307936  # a quarter of a circle as a curve

SIGNATURE = b"\x89PNG\r\n\x1a\n"
HEADER = struct.Struct(">IIBBBBB")


def main() -> None:
    """Make every PNG anew."""
    for svg in sorted(ICONS.glob("*.svg")):
        for theme in COLORS:
            target = png_of(svg, theme)
            target.parent.mkdir(exist_ok=True)
            target.write_bytes(encode(render(svg, theme)))


def png_of(svg: Path, theme: str) -> Path:
    """Return where an icon's picture for a kind of theme lies."""
    return svg.parent / theme / f"{svg.stem}.png"


def render(svg: Path, theme: str) -> np.ndarray:
    """Return an icon's pixels, (SIZE, SIZE, 4) u8, top row first."""
    root = ET.parse(svg).getroot()
    left, top, width, height = map(float, root.attrib["viewBox"].split())
    steps = (np.arange(SIZE * SAMPLES) + 0.5) / (SIZE * SAMPLES)
    points = np.stack(np.meshgrid(left + steps * width, top + steps * height), axis=-1).reshape(-1, 2)
    covered = np.zeros(len(points))
    for shape in root:
        name = shape.tag.rsplit("}", 1)[-1]
        if name != "title":
            covered += (1 - covered) * coverage(name, shape.attrib, points)
    alpha = covered.reshape(SIZE, SAMPLES, SIZE, SAMPLES).mean(axis=(1, 3))
    pixels = np.empty((SIZE, SIZE, 4), np.uint8)
    pixels[..., :3], pixels[..., 3] = COLORS[theme], np.rint(alpha * 255)
    return pixels


def coverage(name: str, given: dict[str, str], points: np.ndarray) -> np.ndarray:
    """Return how much of the colour a shape gives to points, (n,), 0 to 1."""
    lines = list(outlines(name, given))
    inside = np.zeros(len(points), bool)
    if given.get("fill", "none") == "currentColor":
        if len(lines) > 1 and given.get("fill-rule") != "evenodd":
            raise ValueError("a shape of several outlines must be filled by the rule evenodd")
        for line, _ in lines:
            inside ^= is_inside(line, points)
    if given.get("stroke", "none") == "currentColor":
        for line, closed in lines:
            ends = np.vstack((line, line[:1])) if closed else line
            inside |= distance(ends, points) <= float(given["stroke-width"]) / 2
    if not {given.get(kind, "none") for kind in ("fill", "stroke")} <= {"none", "currentColor"}:
        raise ValueError("icons have the colour of the theme")
    return inside * float(given.get("opacity", "1"))


def outlines(name: str, given: dict[str, str]) -> Iterator[tuple[np.ndarray, bool]]:
    """Yield a shape's outlines, (k, 2) points each, with whether they are closed."""
    if name == "path":
        yield from path_outlines(given["d"])
    elif name == "rect":
        x, y, width, height = (float(given[key]) for key in ("x", "y", "width", "height"))
        yield np.array([(x, y), (x + width, y), (x + width, y + height), (x, y + height)]), True
    elif name == "circle":
        x, y, r = (float(given[key]) for key in ("cx", "cy", "r"))
        k = r * KAPPA
        yield from path_outlines(
            f"M{x + r} {y} C{x + r} {y + k} {x + k} {y + r} {x} {y + r} C{x - k} {y + r} {x - r} {y + k} {x - r} {y} "
            f"C{x - r} {y - k} {x - k} {y - r} {x} {y - r} C{x + k} {y - r} {x + r} {y - k} {x + r} {y} Z"
        )
    else:
        raise ValueError(f"{name} is not among the shapes that icons use")


def path_outlines(text: str) -> Iterator[tuple[np.ndarray, bool]]:
    """Yield the outlines of a path."""
    if unknown := set(re.findall("[A-DF-Za-df-z]", text)) - set("MLCZ"):
        raise ValueError(f"{unknown} are not among the commands that icons use")
    for part in text.split("M")[1:]:
        line: list[np.ndarray] = []
        for command, numbers in re.findall(r"([MLC])([^MLCZ]*)", "M" + part):
            for corner in np.array(numbers.split(), float).reshape(-1, 6 if command == "C" else 2):
                line += curve(line[-1], corner.reshape(3, 2)) if command == "C" else [corner]
        yield np.array(line), part.rstrip().endswith("Z")


def curve(start: np.ndarray, corners: np.ndarray) -> list[np.ndarray]:
    """Return points along a cubic curve, without its start."""
    t, (a, b, end) = CURVE, corners
    return list((1 - t) ** 3 * start + 3 * (1 - t) ** 2 * t * a + 3 * (1 - t) * t**2 * b + t**3 * end)


def is_inside(line: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Tell which points, (n, 2), are inside of a closed outline."""
    inside = np.zeros(len(points), bool)
    for (x0, y0), (x1, y1) in zip(line, np.roll(line, -1, axis=0), strict=True):
        if y0 != y1:
            crossed = (points[:, 1] < y0) != (points[:, 1] < y1)
            inside ^= crossed & (points[:, 0] < x0 + (points[:, 1] - y0) * (x1 - x0) / (y1 - y0))
    return inside


def distance(line: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Return the distance of points, (n, 2), to a line of points, (k, 2)."""
    nearest = np.full(len(points), np.inf)
    for start, end in pairwise(line):
        along = end - start
        share = np.clip((points - start) @ along / max(float(along @ along), 1e-12), 0, 1)
        nearest = np.minimum(nearest, np.linalg.norm(points - start - share[:, None] * along, axis=1))
    return nearest


def encode(pixels: np.ndarray) -> bytes:
    """Return pixels, (h, w, 4) u8, as a PNG."""
    height, width = pixels.shape[:2]
    rows = np.zeros((height, 1 + width * 4), np.uint8)  # each begins with its filter: none
    rows[:, 1:] = pixels.reshape(height, -1)
    chunks = ((b"IHDR", HEADER.pack(width, height, 8, 6, 0, 0, 0)), (b"IDAT", zlib.compress(rows, 9)), (b"IEND", b""))
    return SIGNATURE + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in chunks
    )


def decode(data: bytes) -> np.ndarray:
    """Return the pixels, (h, w, 4) u8, of a PNG that `encode` made."""
    width, height = HEADER.unpack_from(data, 16)[:2]
    size = int.from_bytes(data[33:37], "big")
    rows = np.frombuffer(zlib.decompress(data[41 : 41 + size]), np.uint8).reshape(height, 1 + width * 4)
    if rows[:, 0].any():
        raise ValueError("not made by `encode`")
    return rows[:, 1:].reshape(height, width, 4)


if __name__ == "__main__":
    main()
