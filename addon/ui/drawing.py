"""The overlays as they are drawn into a 3D view."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import blf
import bpy
import gpu
import numpy as np
from gpu_extras.batch import batch_for_shader

from ..operators.collision import PROPERTY as COLLISION
from ..scene.collision.colors import legend
from ..scene.collision.keys import LABEL, SET
from ..scene.labels import Labels, dummy_labels, node_labels
from .labels import arrange

FONT = 0
SIZE = 11  # points
CHARACTER, MORE = 6.2, 4  # pixels of a character, and characters that are kept for how many more there are
BESIDE = 6.0  # pixels from a point to its label
MOST_LABELS, MOST_LINES = 300, 20
EDGE, LINE, SWATCH = 14.0, 17.0, 11.0  # pixels of the legend
DUMMY, NODE, TEXT = (1.0, 0.83, 0.45, 1.0), (0.65, 0.87, 1.0, 1.0), (0.95, 0.95, 0.95, 1.0)
SHADOW = (0.0, 0.0, 0.0, 1.0)
BLURRED = 3  # one of the widths that Blender has for shadows
GAMMA = 2.2


def draw(context: Any, *, dummies: bool, nodes: bool, collision: bool) -> None:
    """Draw the overlays that are on into the region of a 3D view."""
    scale = context.preferences.system.ui_scale
    objects = context.visible_objects
    blf.size(FONT, SIZE * scale)
    blf.enable(FONT, blf.SHADOW)
    blf.shadow(FONT, BLURRED, *SHADOW)
    try:
        lines: list[tuple[Sequence[float] | None, str]] = []
        kinds = [(dummy_labels(objects), DUMMY)] if dummies else []
        kinds += [(node_labels(objects), NODE)] if nodes else []
        if left_out := _labels(context, kinds, scale):
            lines.append((None, f"{left_out:,} more labels: zoom in to see them"))
        if collision:
            lines += _legend(context, objects)
        _column(context, lines, scale)
    finally:
        blf.disable(FONT, blf.SHADOW)


def _labels(context: Any, kinds: Sequence[tuple[Labels, Sequence[float]]], scale: float) -> int:
    """Write labels of some colours beside their points; return how many there are too many."""
    if not kinds:
        return 0
    texts = [text for labels, _ in kinds for text in labels.texts]
    colors = [color for labels, color in kinds for _ in labels.texts]
    points = np.concatenate([labels.points for labels, _ in kinds])
    widths = np.array([len(text) + MORE for text in texts]) * CHARACTER * scale
    region, perspective = context.region, np.array(context.region_data.perspective_matrix)
    layout = arrange(points, widths, perspective, (region.width, region.height), most=MOST_LABELS, scale=scale)
    for row, (x, y), more in zip(layout.rows.tolist(), layout.places.tolist(), layout.more.tolist(), strict=True):
        blf.color(FONT, *colors[row])
        blf.position(FONT, x + BESIDE * scale, y - 0.35 * SIZE * scale, 0)
        blf.draw(FONT, f"{texts[row]} +{more}" if more else texts[row])
    return layout.left_out


def _legend(context: Any, objects: Sequence[Any]) -> list[tuple[Sequence[float] | None, str]]:
    """Return the lines of the legend: what the colours of collision in sight tell."""
    lines = legend(obj for obj in objects if SET in obj and obj.type == "MESH")
    if not lines:
        return []
    colors = {block[LABEL]: block.diffuse_color for block in bpy.data.materials if LABEL in block}
    settings = getattr(context.scene, COLLISION)
    title = settings.bl_rna.properties["color"].enum_items[settings.color].name
    found: list[tuple[Sequence[float] | None, str]] = [(None, f"Collision by {title.lower()}")]
    for label, count in lines[:MOST_LINES]:
        linear = colors.get(label, TEXT)
        found.append(([max(part, 0.0) ** (1 / GAMMA) for part in linear[:3]], f"{label}: {count:,}"))
    if len(lines) > MOST_LINES:
        found.append((None, f"... and {len(lines) - MOST_LINES} more"))
    return found


def _column(context: Any, lines: list[tuple[Sequence[float] | None, str]], scale: float) -> None:
    """Write lines below each other into the lower right corner, left of the sidebar, with squares of their colour."""
    widths = [blf.dimensions(FONT, text)[0] + (LINE * scale if color else 0) for color, text in lines]
    left = context.region.width - _sidebar(context) - EDGE * scale - max(widths, default=0)
    height = EDGE * scale + LINE * scale * len(lines)
    for row, (color, text) in enumerate(lines):
        y = height - LINE * scale * (row + 1)
        if color is not None:
            _square(left, y - 0.1 * SIZE * scale, SWATCH * scale, (*color, 1.0))
        blf.color(FONT, *TEXT)
        blf.position(FONT, left + (LINE * scale if color else 0), y, 0)
        blf.draw(FONT, text)


def _sidebar(context: Any) -> int:
    """Return the pixels of a view that its sidebar covers."""
    if not context.preferences.system.use_region_overlap:
        return 0
    regions = context.area.regions
    return sum(each.width for each in regions if each.type == "UI" and each.alignment == "RIGHT" and each.width > 1)


def _square(x: float, y: float, size: float, color: Sequence[float]) -> None:
    shader = gpu.shader.from_builtin("UNIFORM_COLOR")
    corners = ((x, y), (x + size, y), (x + size, y + size), (x, y + size))
    batch = batch_for_shader(shader, "TRIS", {"pos": corners}, indices=((0, 1, 2), (0, 2, 3)))
    shader.uniform_float("color", color)
    batch.draw(shader)
