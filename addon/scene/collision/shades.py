"""Shades: colours as they look, of which those of the sets of collision are the middle ones."""

from __future__ import annotations

import colorsys
from collections.abc import Iterable, Mapping
from types import MappingProxyType

from .keys import CollisionSet

GAMMA = 2.2

Shade = tuple[float, float, float]  # hue, saturation and lightness as they look, 0 to 1
SetColors = Mapping[CollisionSet, Shade]

# told apart by lightness too
SET_COLORS: SetColors = MappingProxyType({
    CollisionSet.HIGH: (0.58, 0.75, 0.55),
    CollisionSet.LOW: (0.09, 0.90, 0.60),
    CollisionSet.FALL: (0.42, 0.65, 0.40),
    CollisionSet.RAGDOLL: (0.83, 0.55, 0.62),
    CollisionSet.OTHER: (0.15, 0.25, 0.60),
})  # fmt: skip


def rgb_of(shade: Shade) -> tuple[float, float, float]:
    """Return the linear colour of a shade; hues go round, too light and too dark ones are brought back."""
    hue, saturation, lightness = shade
    red, green, blue = colorsys.hls_to_rgb(hue % 1.0, min(max(lightness, 0.12), 0.88), min(max(saturation, 0.0), 1.0))
    return red**GAMMA, green**GAMMA, blue**GAMMA


def shade_of(rgb: Iterable[float]) -> Shade:
    """Return the shade of a linear colour, the mirror of `rgb_of`."""
    red, green, blue = (min(max(channel, 0.0), 1.0) ** (1 / GAMMA) for channel in rgb)
    hue, lightness, saturation = colorsys.rgb_to_hls(red, green, blue)
    return hue, saturation, lightness
