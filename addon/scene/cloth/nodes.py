"""The node groups that show cloth: on meshes, point clouds and links."""

from __future__ import annotations

from typing import Any

import bpy

from .keys import POSED, POSITION, PREFIX, SELECTION

MARK = PREFIX + "group"
SMALLEST = 0.002  # metres; particles without radius are drawn as large as that
FREE, PINNED = (0.95, 0.55, 0.15, 1.0), (0.1, 0.35, 0.9, 1.0)


def group(name: str) -> Any:
    """Return a node group by its name here; one for the file."""
    for block in bpy.data.node_groups:
        if block.get(MARK) == name:
            return block
    block = bpy.data.node_groups.new(f"Ossuary {name}", "GeometryNodeTree")
    block[MARK] = name
    block.interface.new_socket("Geometry", in_out="INPUT", socket_type="NodeSocketGeometry")
    block.interface.new_socket("Geometry", in_out="OUTPUT", socket_type="NodeSocketGeometry")
    _MAKERS[name](_Graph(block))
    return block


def material(name: str, color: tuple[float, float, float, float]) -> Any:
    """Return a material of one colour; one for the file."""
    for block in bpy.data.materials:
        if block.get(MARK) == name:
            return block
    block = bpy.data.materials.new(f"Ossuary {name}")
    block[MARK] = name
    block.diffuse_color = color
    return block


class _Graph:
    """Adds nodes to a group and joins them."""

    def __init__(self, block: Any) -> None:
        self.block = block
        self.start = self.add("NodeGroupInput")
        self.end = self.add("NodeGroupOutput")

    def add(self, kind: str, **values: Any) -> Any:
        """Add a node and set properties of it."""
        node = self.block.nodes.new(kind)
        for name, value in values.items():
            setattr(node, name, value)
        return node

    def named(self, attribute: str, kind: str) -> Any:
        """Return the output of an attribute."""
        node = self.add("GeometryNodeInputNamedAttribute", data_type=kind)
        node.inputs["Name"].default_value = attribute
        return node.outputs[0]

    def join(self, source: Any, target: Any) -> None:
        """Draw a link."""
        self.block.links.new(source, target)


def _mesh(graph: _Graph) -> None:
    """What the cloth wrote takes the place of what is posed, where it wrote; what was posed is kept to be read."""
    keep = graph.add("GeometryNodeStoreNamedAttribute", data_type="FLOAT_VECTOR", domain="POINT")
    keep.inputs["Name"].default_value = POSED
    move = graph.add("GeometryNodeSetPosition")
    graph.join(graph.start.outputs[0], keep.inputs["Geometry"])
    graph.join(graph.add("GeometryNodeInputPosition").outputs[0], keep.inputs["Value"])
    graph.join(keep.outputs[0], move.inputs["Geometry"])
    graph.join(graph.named(SELECTION, "BOOLEAN"), move.inputs["Selection"])
    graph.join(graph.named(POSITION, "FLOAT_VECTOR"), move.inputs["Position"])
    graph.join(move.outputs[0], graph.end.inputs[0])


def _points(graph: _Graph) -> None:
    """Pinned points are spheres with a material of their own: a point cloud has one colour in Solid view."""
    size = graph.add("ShaderNodeMath", operation="MAXIMUM")
    graph.join(graph.named("radius", "FLOAT"), size.inputs[0])
    size.inputs[1].default_value = SMALLEST
    split = graph.add("GeometryNodeSeparateGeometry", domain="POINT")
    graph.join(graph.start.outputs[0], split.inputs["Geometry"])
    graph.join(graph.named("pinned", "BOOLEAN"), split.inputs["Selection"])
    ball = graph.add("GeometryNodeMeshIcoSphere")
    ball.inputs["Radius"].default_value, ball.inputs["Subdivisions"].default_value = 1.0, 1
    pinned = graph.add("GeometryNodeSetMaterial")
    pinned.inputs["Material"].default_value = material("pinned", PINNED)
    spread = graph.add("GeometryNodeInstanceOnPoints")
    graph.join(ball.outputs["Mesh"], pinned.inputs["Geometry"])
    graph.join(split.outputs["Selection"], spread.inputs["Points"])
    graph.join(pinned.outputs[0], spread.inputs["Instance"])
    graph.join(size.outputs[0], spread.inputs["Scale"])
    grow = graph.add("GeometryNodeSetPointRadius")
    graph.join(split.outputs["Inverted"], grow.inputs[0])
    graph.join(size.outputs[0], grow.inputs["Radius"])
    free = graph.add("GeometryNodeSetMaterial")
    free.inputs["Material"].default_value = material("free", FREE)
    graph.join(grow.outputs[0], free.inputs["Geometry"])
    both = graph.add("GeometryNodeJoinGeometry")
    graph.join(spread.outputs[0], both.inputs[0])
    graph.join(free.outputs[0], both.inputs[0])
    graph.join(both.outputs[0], graph.end.inputs[0])


MESH, POINTS = "Cloth", "Cloth Points"
_MAKERS = {MESH: _mesh, POINTS: _points}


def attach(obj: Any, name: str) -> Any:
    """Give an object a modifier of a group, last in its stack, and return it."""
    modifier = obj.modifiers.new(f"Ossuary {name}", "NODES")
    modifier.node_group = group(name)
    return modifier


def attached(obj: Any, name: str) -> Any:
    """Return an object's modifier of a group, None without."""
    found = (each for each in obj.modifiers if each.type == "NODES" and each.node_group is not None)
    return next((each for each in found if each.node_group.get(MARK) == name), None)


def remove_unused(block: Any) -> None:
    """Remove a node group that nothing uses."""
    if block is not None and block.users == 0:
        bpy.data.node_groups.remove(block)
