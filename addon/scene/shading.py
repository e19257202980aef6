"""What a material looks like -> nodes: a Principled BSDF with the pictures of the surface.

The games' normal maps hold the normal's x and y in red and green, green pointing down (found on their pictures: only so
they are the slopes of one surface), and gloss in blue. How metallic a surface is stands in red of its own picture.
"""

from __future__ import annotations

from typing import Any

import bpy

from ..model.textures import Alpha, Look, Role, Slot
from .images import Images
from .keys import PREFIX

GROUP, GROUP_NAME = PREFIX + "normal_group", "Game Normal Map"
ROUGH = 0.8  # where no picture tells
ROW, COLUMN = 300, 280  # between nodes
ORDER = (Role.ALBEDO, Role.METALLIC, Role.EMISSIVE, Role.NORMAL)  # from the top


def shade(block: Any, look: Look, images: Images, uv_maps: list[str]) -> None:
    """Give a material the nodes of its look; one without pictures stays as it is.

    Args:
        block: the material.
        look: what it looks like.
        images: makes the images.
        uv_maps: the names of the UV maps of the meshes that have the material, in their order.
    """
    if look.slots:
        _Shader(block, look, images, uv_maps).build()


class _Shader:
    """Builds the nodes of one material."""

    def __init__(self, block: Any, look: Look, images: Images, uv_maps: list[str]) -> None:
        self.block, self.look, self.images, self.uv_maps = block, look, images, uv_maps
        if bpy.app.version < (5, 0):  # from there on always
            block.use_nodes = True
        self.tree = block.node_tree
        self.tree.nodes.clear()
        self.surface = self.node("ShaderNodeBsdfPrincipled", 0, 0)
        self.surface.inputs["Roughness"].default_value = ROUGH
        output = self.node("ShaderNodeOutputMaterial", 1.2, 0)
        self.link(self.surface.outputs["BSDF"], output.inputs["Surface"])

    def build(self) -> None:
        """Add the pictures."""
        joins = {
            Role.ALBEDO: self.albedo, Role.METALLIC: self.metallic, Role.EMISSIVE: self.emissive,
            Role.NORMAL: self.normal,
        }  # fmt: skip
        slots = {slot.role: slot for slot in self.look.slots}
        for row, role in enumerate(role for role in ORDER if role in slots):
            joins[role](self.picture(slots[role], row), slots[role], row)

    def node(self, kind: str, column: float, row: float) -> Any:
        """Add a node at a place of a grid."""
        node = self.tree.nodes.new(kind)
        node.location = (column * COLUMN, -row * ROW)
        return node

    def link(self, source: Any, target: Any) -> None:
        """Join two sockets."""
        self.tree.links.new(source, target)

    def picture(self, slot: Slot, row: int) -> Any:
        """Add the node of a picture, and what places it where that is not the mesh's first UV map as it is."""
        node = self.node("ShaderNodeTexImage", -3, row)
        node.image = self.images.image(slot.picture, slot.role)
        node.label = slot.role.value.capitalize()
        if slot.uv_set != 1 or slot.scale != (1.0, 1.0):
            uv = self.node("ShaderNodeUVMap", -5, row)
            uv.uv_map = self.uv_map(slot)
            place = self.node("ShaderNodeMapping", -4, row)
            place.inputs["Scale"].default_value = (*slot.scale, 1.0)
            # v counts from the picture's upper edge in the games, from the lower in Blender
            place.inputs["Location"].default_value = (0.0, 1.0 - slot.scale[1], 0.0)
            self.link(uv.outputs["UV"], place.inputs["Vector"])
            self.link(place.outputs["Vector"], node.inputs["Vector"])
        return node

    def uv_map(self, slot: Slot) -> str:
        """Return the name of a slot's UV map; empty, which means the first, where the mesh has not so many."""
        return self.uv_maps[slot.uv_set - 1] if 0 < slot.uv_set <= len(self.uv_maps) else ""

    def albedo(self, node: Any, _slot: Slot, row: int) -> None:
        """Colour the surface, and cut it out or let it shine through by alpha."""
        self.link(node.outputs["Color"], self.surface.inputs["Base Color"])
        self.tree.nodes.active = node  # what Solid view shows when it shows textures
        if self.look.alpha is Alpha.BLEND:
            self.block.surface_render_method = "BLENDED"
            self.link(node.outputs["Alpha"], self.surface.inputs["Alpha"])
        elif self.look.alpha is Alpha.CLIP:
            limit = self.node("ShaderNodeMath", -1, row + 0.5)
            limit.operation = "GREATER_THAN"
            limit.inputs[1].default_value = self.look.cut
            self.link(node.outputs["Alpha"], limit.inputs[0])
            self.link(limit.outputs[0], self.surface.inputs["Alpha"])

    def metallic(self, node: Any, _slot: Slot, row: int) -> None:
        """Tell how metallic the surface is by red."""
        split = self.node("ShaderNodeSeparateColor", -1, row)
        self.link(node.outputs["Color"], split.inputs["Color"])
        self.link(split.outputs["Red"], self.surface.inputs["Metallic"])

    def emissive(self, node: Any, _slot: Slot, _row: int) -> None:
        """Let the surface shine."""
        self.link(node.outputs["Color"], self.surface.inputs["Emission Color"])
        self.surface.inputs["Emission Strength"].default_value = 1.0

    def normal(self, node: Any, slot: Slot, row: int) -> None:
        """Turn the normals, and tell how rough the surface is."""
        group = self.node("ShaderNodeGroup", -2, row)
        group.node_tree = _normal_group()
        bend = self.node("ShaderNodeNormalMap", -1, row)
        bend.uv_map = self.uv_map(slot) if slot.uv_set != 1 else ""
        self.link(node.outputs["Color"], group.inputs["Color"])
        self.link(group.outputs["Normal"], bend.inputs["Color"])
        self.link(bend.outputs["Normal"], self.surface.inputs["Normal"])
        self.link(group.outputs["Roughness"], self.surface.inputs["Roughness"])


def _normal_group() -> Any:
    """Return the node group that makes a normal map as Blender has them, and roughness, of one as the games have them.

    It is one datablock for all materials: green is turned over, blue is made from red and green, and roughness is what
    gloss, in blue, leaves.
    """
    known = next((tree for tree in bpy.data.node_groups if tree.get(GROUP)), None)
    if known is not None:
        return known
    tree = bpy.data.node_groups.new(GROUP_NAME, "ShaderNodeTree")
    tree[GROUP] = 1
    tree.interface.new_socket("Color", in_out="INPUT", socket_type="NodeSocketColor")
    tree.interface.new_socket("Normal", in_out="OUTPUT", socket_type="NodeSocketColor")
    tree.interface.new_socket("Roughness", in_out="OUTPUT", socket_type="NodeSocketFloat")
    nodes, links = tree.nodes, tree.links
    given, made = nodes.new("NodeGroupInput"), nodes.new("NodeGroupOutput")
    split, join = nodes.new("ShaderNodeSeparateColor"), nodes.new("ShaderNodeCombineColor")
    links.new(given.outputs["Color"], split.inputs["Color"])

    def maths(operation: str, *values: Any, clamp: bool = False) -> Any:
        node = nodes.new("ShaderNodeMath")
        node.operation, node.use_clamp = operation, clamp
        for socket, value in zip(node.inputs, values, strict=False):
            if isinstance(value, float):
                socket.default_value = value
            else:
                links.new(value, socket)
        return node.outputs[0]

    red, up = split.outputs["Red"], maths("SUBTRACT", 1.0, split.outputs["Green"])
    x, y = (maths("MULTIPLY_ADD", channel, 2.0, -1.0) for channel in (red, up))
    flat = maths("MULTIPLY_ADD", x, x, maths("MULTIPLY", y, y))
    high = maths("SQRT", maths("SUBTRACT", 1.0, flat, clamp=True))
    for channel, value in (("Red", red), ("Green", up), ("Blue", maths("MULTIPLY_ADD", high, 0.5, 0.5))):
        links.new(value, join.inputs[channel])
    links.new(join.outputs["Color"], made.inputs["Normal"])
    links.new(maths("SUBTRACT", 1.0, split.outputs["Blue"]), made.inputs["Roughness"])
    for column, node in enumerate(nodes):
        node.location = (column * 180, 0)
    return tree
