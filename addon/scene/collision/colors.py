"""Colours of collision faces: materials with a viewport colour, which the Solid view shows as it is.

Faces are coloured by giving meshes material slots and faces their index: that is seen everywhere, saved, and written in
a few milliseconds. Which colours there are is told by a `Mode`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import bpy
import numpy as np

from ...codec.binary import Array
from ...codec.havok.collision import NO_MATERIAL
from ...collision import SurfaceKind
from .keys import LABEL, LEGEND, PREFIX, SET, CollisionSet, Mode
from .shades import SET_COLORS, SetColors, rgb_of

SECTION_COLORS, NO_SECTION = 12, -1
GOLDEN = 0.6180339887498949  # its multiples spread over 0..1

KIND_TITLES = {
    SurfaceKind.MESH: "mesh", SurfaceKind.EXTERN_MESH: "extern mesh", SurfaceKind.CONVEX: "convex",
    SurfaceKind.EXTERN_SHAPE: "extern shape", SurfaceKind.POINTS: "point set",
}  # fmt: skip
KIND_SHIFTS = {  # of hue, saturation (factor) and lightness, from the colour of a mesh
    SurfaceKind.MESH: (0.0, 1.0, 0.0), SurfaceKind.EXTERN_MESH: (0.04, 0.7, 0.08), SurfaceKind.CONVEX: (0.0, 0.75, 0.1),
    SurfaceKind.EXTERN_SHAPE: (0.12, 1.0, 0.16), SurfaceKind.POINTS: (-0.12, 1.0, -0.16),
}  # fmt: skip


@dataclass(frozen=True)
class Color:
    """A colour of the legend.

    Attributes:
        label: what it stands for; one Blender material each.
        rgb: linear, 0 to 1.
    """

    label: str
    rgb: tuple[float, float, float]


def color_of(mode: Mode, name: CollisionSet, code: int, colors: SetColors = SET_COLORS) -> Color:
    """Return the colour of a face code (`codes`) in a set; the sets' colours may be the user's."""
    if mode is Mode.SET:
        return Color(str(name), rgb_of(colors[name]))
    if mode is Mode.SECTION and code == NO_SECTION:
        return Color("no section", rgb_of((0.0, 0.0, 0.5)))
    if mode is Mode.SECTION:
        label = f"section {code}, {code + SECTION_COLORS}, ..."
        return Color(label, rgb_of((code / SECTION_COLORS, 0.55, 0.4 + 0.1 * (code % 4))))
    if mode is Mode.INTERIOR:
        shade = (0.02, 0.7, 0.45) if code else (0.55, 0.25, 0.7)
        return Color("interior" if code else "not interior", rgb_of(shade))
    kind, material = SurfaceKind(code >> 32), code & NO_MATERIAL
    shift, fade, light = KIND_SHIFTS[kind]
    hue, saturation, lightness = colors[name]
    title = str(name)
    if mode is Mode.MATERIAL:
        title += " no material" if material == NO_MATERIAL else f" material {material}"
        if material != NO_MATERIAL:
            share = material * GOLDEN % 1.0
            lightness = 0.25 + 0.5 * share
            shift += 0.12 * ((material * GOLDEN * GOLDEN) % 1.0 - 0.5)
    if kind is not SurfaceKind.MESH or mode is Mode.KIND:
        title += f" {KIND_TITLES[kind]}"
    return Color(title, rgb_of((hue + shift, saturation * fade, lightness + light)))


def codes(mesh: Any, mode: Mode) -> Array:
    """Return the code of each face of a collision mesh in a mode, (m,) i8: equal ones share a colour within a set."""
    count = len(mesh.polygons)
    if mode is Mode.SET:
        return np.zeros(count, np.int64)
    if mode is Mode.SECTION:
        section = read(mesh, "section")
        return np.where(section < 0, NO_SECTION, section % SECTION_COLORS)
    if mode is Mode.INTERIOR:
        return read(mesh, "interior")
    kind = read(mesh, "kind") << 32
    if mode is Mode.KIND:
        return kind | NO_MATERIAL
    return kind | read(mesh, "material").astype(np.uint32).astype(np.int64)


def read(mesh: Any, name: str) -> Array:
    """Return a face attribute of ours, (m,) i8; zeros where it is missing."""
    attribute = mesh.attributes.get(PREFIX + name)
    if attribute is None or attribute.domain != "FACE":
        return np.zeros(len(mesh.polygons), np.int64)
    found = np.empty(len(mesh.polygons), bool if attribute.data_type == "BOOLEAN" else np.int32)
    attribute.data.foreach_get("value", found)
    return found.astype(np.int64)


class Palette:
    """The materials that colour collision, made when first asked for; those that are there get the colours of now."""

    def __init__(self, colors: SetColors = SET_COLORS) -> None:
        self.colors = colors
        self._made = {block[LABEL]: block for block in bpy.data.materials if LABEL in block}

    def material(self, color: Color) -> Any:
        """Return the material of a colour."""
        if color.label not in self._made:
            block = bpy.data.materials.new(f"Collision {color.label}")
            block.roughness = 0.9
            block[LABEL] = color.label
            self._made[color.label] = block
        self._made[color.label].diffuse_color = (*color.rgb, 1.0)
        return self._made[color.label]


def paint(obj: Any, mode: Mode, palette: Palette) -> None:
    """Colour the faces of a body."""
    mesh, name = obj.data, CollisionSet(obj[SET])
    known, index, counts = np.unique(codes(mesh, mode), return_inverse=True, return_counts=True)
    colors = [color_of(mode, name, code, palette.colors) for code in known.tolist()]
    mesh.materials.clear()
    for color in colors:
        mesh.materials.append(palette.material(color))
    if len(index):
        # through the attribute: MeshPolygon.material_index takes a hundred times as long
        slots = mesh.attributes.get("material_index") or mesh.attributes.new("material_index", "INT", "FACE")
        slots.data.foreach_set("value", index.astype(np.int32))
    mesh[LEGEND] = {color.label: count for color, count in zip(colors, counts.tolist(), strict=True)}
    mesh.update_tag()


def paint_all(objects: Iterable[Any], mode: Mode, colors: SetColors = SET_COLORS) -> None:
    """Colour the faces of bodies. They must not be in edit mode."""
    palette = Palette(colors)
    for mesh_obj in {obj.data: obj for obj in objects}.values():
        paint(mesh_obj, mode, palette)


def legend(objects: Iterable[Any]) -> list[tuple[str, int]]:
    """Return the labels of the colours that bodies have, with the number of faces of each, most first."""
    total: dict[str, int] = {}
    for obj in objects:
        for label, count in (obj.data.get(LEGEND) or {}).items():
            total[label] = total.get(label, 0) + count
    return sorted(total.items(), key=lambda entry: (-entry[1], entry[0]))
