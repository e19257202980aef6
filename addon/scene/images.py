"""Textures -> image datablocks, packed into the .blend as the DDS files they are: Blender reads them itself."""

from __future__ import annotations

import hashlib
from typing import Any

import bpy

from ..model.textures import Picture, Role
from .keys import PREFIX
from .texts import shown_name

HASH = PREFIX + "texture_sha256"
IN_COLOR = {Role.ALBEDO, Role.EMISSIVE}


class Images:
    """Makes an image for each texture; the same texture, in this model or one imported before, is one image."""

    def __init__(self) -> None:
        self._made = {
            (block[HASH], block.colorspace_settings.name): block
            for block in bpy.data.images
            if HASH in block and block.packed_file is not None and not block.is_dirty
        }
        self._hashes: dict[Picture, str] = {}

    def image(self, picture: Picture, role: Role) -> Any:
        """Return the image of a texture; its colours are read as colours only where its role says that they are."""
        space = "sRGB" if role in IN_COLOR else "Non-Color"
        if picture not in self._hashes:
            self._hashes[picture] = hashlib.sha256(picture.data).hexdigest()
        key = (self._hashes[picture], space)
        if key not in self._made:
            self._made[key] = _packed(picture, *key)
        return self._made[key]


def _packed(picture: Picture, digest: str, space: str) -> Any:
    block = bpy.data.images.new(shown_name(picture.name), 1, 1)
    block.source = "FILE"
    block.filepath_raw = f"//textures/{shown_name(picture.name)}.dds"  # where unpacking puts it
    block.pack(data=picture.data, data_len=len(picture.data))
    block.colorspace_settings.name = space
    block.alpha_mode = "CHANNEL_PACKED"  # alpha cuts out, or is a mask: it must not darken the colours
    block[HASH] = digest
    return block
