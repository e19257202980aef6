"""FLVER materials -> Blender materials, by name; what a shader needs and Blender does not show is in properties."""

from __future__ import annotations

import colorsys
import zlib
from typing import Any

import bpy

from ..codec.flver import Flver, GxList, Material
from .keys import PREFIX
from .properties import record_properties, set_properties
from .texts import shown_name, stored_text

_FILE_FIELDS = (
    "name_offset", "path_offset", "type_offset", "gx_offset", "texture_count", "first_texture", "string_size",
)  # fmt: skip


def build(flver: Flver) -> list[Any]:
    """Make a material for every material of the model, in its order."""
    return [_material(flver, index, material) for index, material in enumerate(flver.materials)]


def _material(flver: Flver, index: int, material: Material) -> Any:
    block = bpy.data.materials.new(shown_name(material.name) or "Material")
    block.diffuse_color = _viewport_color(material.name)
    block.roughness = 0.8
    values = record_properties(material.record, skip=(*_FILE_FIELDS, "index"))
    values |= {
        PREFIX + "index": index,
        PREFIX + "material": block.name,
        PREFIX + "stored_index": int(material.record["index"]),
        PREFIX + "name": stored_text(material.name),
        PREFIX + "path": stored_text(material.path),
        PREFIX + "textures": [
            {"type": stored_text(texture.type), "path": stored_text(texture.path)}
            | record_properties(texture.record, skip=_FILE_FIELDS)
            for texture in material.textures
        ],
    }
    if material.gx is not None:
        values[PREFIX + "gx_list"], values[PREFIX + "gx_item"] = material.gx.gx_list, material.gx.item
        values[PREFIX + "gx"] = _gx_properties(flver.gx_lists[material.gx.gx_list])
    set_properties(block, values)
    return block


def _gx_properties(gx_list: GxList) -> list[dict[str, Any]]:
    return [{"id": item.id, "unk04": item.unk04, "data": item.data} for item in gx_list.items]


def _viewport_color(name: str) -> tuple[float, float, float, float]:
    """Return a quiet colour that is the same for a name every time, so that parts are told apart in Solid view."""
    number = zlib.crc32(name.encode("utf-8", "replace"))
    hue, light = (number & 0xFFFF) / 0xFFFF, ((number >> 16) & 0xFF) / 0xFF
    red, green, blue = colorsys.hsv_to_rgb(hue, 0.22, 0.62 + 0.2 * light)
    return red, green, blue, 1.0
