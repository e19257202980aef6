"""Which textures the materials of a model take, and where they are found. Reads files, needs no Blender."""

from .library import Library, Picture, TextureIndex
from .looks import Alpha, Look, Looks, Slot, looks
from .places import GameFolders, check
from .samplers import Role

__all__ = [
    "Alpha", "GameFolders", "Library", "Look", "Looks", "Picture", "Role", "Slot", "TextureIndex", "check", "looks",
]  # fmt: skip
