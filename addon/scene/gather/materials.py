"""Blender's materials -> FLVER materials, the mirror of `addon.scene.materials`."""

from __future__ import annotations

import re
from copy import deepcopy
from dataclasses import replace
from typing import Any

from ...codec import FormatError
from ...codec.flver import Flver, GxItem, GxList, GxReference, Material, Texture
from ..keys import HASH, PREFIX
from ..problems import Problems
from ..properties import fill_record
from ..texts import loaded_text

_NUMBER = re.compile(r"\.\d{3,}$")
_RECORD_SKIP = (
    "name_offset", "path_offset", "type_offset", "gx_offset", "texture_count", "first_texture", "string_size", "index",
)  # fmt: skip


class Materials:
    """The materials of a model, those of the file first, in their order; new ones are added as meshes ask for them."""

    def __init__(self, template: Flver, source: str, problems: Problems) -> None:
        """Begin with the materials of the file.

        Args:
            template: the model as it was imported.
            source: the hash of the file; materials of another one are new to this model.
            problems: takes what cannot be stored.
        """
        self.template, self.source, self.problems = template, source, problems
        self.materials = [replace(each, textures=list(each.textures)) for each in template.materials]
        self.gx_lists = list(template.gx_lists)
        self._known: dict[str, int] = {}
        self._taken: dict[int, str] = {}

    def add(self, blocks: list[Any]) -> None:
        """Take the materials that meshes use; of copies, the one that has kept its name is the one of the file."""
        for block in sorted(blocks, key=lambda each: (each.name != each.get(PREFIX + "material"), each.name)):
            self.index_of(block)

    def index_of(self, block: Any) -> int:
        """Return the number of a Blender material in the model."""
        if block.name not in self._known:
            self._known[block.name] = self._add(block)
        return self._known[block.name]

    def _add(self, block: Any) -> int:
        index = block.get(PREFIX + "index", -1)
        own = block.get(HASH, self.source) == self.source and 0 <= index < len(self.template.materials)
        if not own or index in self._taken:
            index = len(self.materials)
            self.materials.append(Material("", ""))
            self._add_gx(block, self.materials[index])
        self._taken[index] = block.name
        try:
            self.materials[index] = _filled(self.materials[index], block)
        except FormatError as error:
            self.problems.error(f"material {block.name}: {error.what}")
        return index

    def _add_gx(self, block: Any, material: Material) -> None:
        """Give a new material the overrides that its properties hold: the file's own list where it has them."""
        items = [
            GxItem(bytes(each["id"]), int(each["unk04"]), bytes(each["data"])) for each in block.get(PREFIX + "gx", ())
        ]
        if not items:
            return
        known = [number for number, each in enumerate(self.gx_lists) if each.items == items]
        if not known:
            known = [len(self.gx_lists)]
            self.gx_lists.append(GxList(items))
        material.gx = GxReference(known[0], int(block.get(PREFIX + "gx_item", 0)))


def _filled(material: Material, block: Any) -> Material:
    """Return a material with what its block says; what the block does not say stays."""
    name = loaded_text(block.get(PREFIX + "name", block.name)) if _keeps_name(block) else block.name
    path = loaded_text(block.get(PREFIX + "path", material.path))
    record = material.record.copy()
    fill_record(record, block, skip=_RECORD_SKIP)
    record["index"] = block.get(PREFIX + "stored_index", record["index"])
    slots = block.get(PREFIX + "textures")
    textures = material.textures if slots is None else [_texture(slot, material, i) for i, slot in enumerate(slots)]
    before = [material.name, material.path, *(text for each in material.textures for text in (each.type, each.path))]
    after = [name, path, *(text for each in textures for text in (each.type, each.path))]
    if before != after:
        record["string_size"] = 0  # made anew by the writer
    return replace(material, name=name, path=path, textures=textures, record=record)


def _keeps_name(block: Any) -> bool:
    """Tell whether a block has the name that it was given; a number that Blender has added to a copy is no other."""
    given = block.get(PREFIX + "material")
    return given is not None and (block.name == given or _NUMBER.sub("", block.name) == given)


def _texture(slot: Any, material: Material, index: int) -> Texture:
    texture = deepcopy(material.textures[index]) if index < len(material.textures) else Texture("")
    fill_record(texture.record, slot, skip=_RECORD_SKIP)
    return replace(texture, type=loaded_text(slot["type"]), path=loaded_text(slot["path"]))
