"""Particles as a mesh that users edit: made from a point cloud, applied to it, or thrown away."""

from __future__ import annotations

from statistics import median_low
from typing import Any

import bmesh
import bpy
import numpy as np

from ...cloth.edits import SimValues
from ...cloth.edits.pins import linked
from ...codec import FormatError
from ...codec.binary import Array
from ...maths import axes
from ..gather.shown import evaluated
from ..geometry import connect, fill
from ..properties import set_properties
from ..texts import shown_name
from .gather import StoredCloth, known_points
from .hiding import edit_mesh, hide_points, show_points
from .keys import ARMATURE, EDIT, KIND, SIM, UNLINKED, VOLUME, sim_objects
from .pointclouds import FIELDS, read, write
from .values import PARTICLES, REST, put_to_rest, read_particles, write_inverse, write_particles

PARTICLE = "particle"  # the particle that a vertex is


def begin_edit(context: Any, collection: Any, sim: int, stored: StoredCloth) -> Any:
    """Make a mesh of the particles of a cloth where they rest, with their values as attributes, and edit it.

    Args:
        context: Blender's.
        collection: of the cloth.
        sim: which simulated cloth.
        stored: the cloth file.

    Returns:
        The mesh object, active and in edit mode; the one that is there already where there is one.

    Raises:
        FormatError: the points of the cloth are gone, or are not those of the file, or their collection is hidden.
    """
    if context.view_layer.objects.active is not None and context.view_layer.objects.active.mode != "OBJECT":
        bpy.ops.object.mode_set(mode="OBJECT")
    obj = edit_mesh(collection, sim) or _made(context, collection, sim, stored)
    _reveal(obj)
    for other in context.view_layer.objects:
        other.select_set(state=other == obj)
    context.view_layer.objects.active = obj
    bpy.ops.object.mode_set(mode="EDIT")
    return obj


def _made(context: Any, collection: Any, sim: int, stored: StoredCloth) -> Any:
    record, cloud = stored.sims[sim], known_points(collection, stored, sim)
    rest = read(cloud.data, REST, "FLOAT_VECTOR")
    values = read_particles(cloud.data, record, stored.values[sim])
    mesh = bpy.data.meshes.new(shown_name(f"{cloud.name} Edit"))
    fill(mesh, axes.swap_vectors(record.poses[0]) if rest is None else rest, _drawable(record.triangles))
    connect(mesh)
    write(mesh, PARTICLE, "INT", np.arange(len(record), dtype=np.int32))
    write_particles(mesh, record, values)
    write(mesh, UNLINKED, "BOOLEAN", stored.values[sim].pinned & ~linked(record))
    obj = bpy.data.objects.new(mesh.name, mesh)
    set_properties(obj, {KIND: EDIT, SIM: sim})
    obj.hide_render = True
    obj.show_wire = obj.show_all_edges = True
    obj.show_in_front = True  # of the mesh that the cloth moves, which lies around it
    for holder in cloud.users_collection:
        holder.objects.link(obj)
    obj.parent = collection.get(ARMATURE)
    context.view_layer.update()
    try:
        _reveal(obj)
    except FormatError:
        bpy.data.objects.remove(obj)
        bpy.data.meshes.remove(mesh)
        raise
    hide_points(context.scene, collection, sim, cloud)
    return obj


def _reveal(obj: Any) -> None:
    """Show an object that is hidden itself: Blender edits no other.

    Raises:
        FormatError: what it is in is hidden or excluded.
    """
    layer = bpy.context.view_layer
    if obj.name in layer.objects:
        obj.hide_viewport = False
        obj.hide_set(state=False)
    if not obj.visible_get(view_layer=layer):
        raise FormatError(f"{obj.name} is in a collection that is hidden or excluded: show that one first")


def _drawable(triangles: Array) -> Array:
    """Return triangles of three corners, each once, wound for Blender: edit mode takes no others."""
    if not len(triangles):
        return np.zeros((0, 3), np.int32)
    sides = np.sort(triangles, axis=1)
    whole = np.flatnonzero((sides[:, 0] != sides[:, 1]) & (sides[:, 1] != sides[:, 2]))
    _, first = np.unique(sides[whole], axis=0, return_index=True)
    return triangles[whole[np.sort(first)]][:, ::-1].astype(np.int32)


def apply_edit(collection: Any, obj: Any, stored: StoredCloth) -> None:
    """Give the point cloud of a cloth the positions and values of its edit mesh, and remove that.

    Raises:
        FormatError: vertices were added, deleted or sorted; the mesh stays then.
    """
    sim = obj[SIM]
    record, cloud = stored.sims[sim], known_points(collection, stored, sim)
    with evaluated(obj, None, None, modifiers=False) as mesh:
        rest, values = _read(obj, mesh, record, stored.values[sim])
    write(cloud.data, REST, "FLOAT_VECTOR", rest)
    write_particles(cloud.data, record, values)
    write_inverse(cloud.data, record, values)
    cancel_edit(collection, obj)
    put_to_rest(collection)


def _read(obj: Any, mesh: Any, record: Any, values: SimValues) -> tuple[Array, SimValues]:
    """Return where the vertices of an edit mesh are, in Blender's axes and the armature's space, and their values."""
    if len(mesh.vertices) != len(record):
        raise FormatError(
            f"it has {len(mesh.vertices)} vertices, the cloth {len(record)} particles. The mesh that the cloth moves, "
            "and what the game knows of it, go by their number: undo what was added or deleted"
        )
    particles = read(mesh, PARTICLE, "INT")
    if particles is None or not np.array_equal(particles, np.arange(len(record))):
        raise FormatError("its vertices are in another order than the particles: undo what sorted or replaced them")
    positions = np.empty(3 * len(record), np.float32)
    mesh.vertices.foreach_get("co", positions)
    positions = positions.reshape(-1, 3)
    matrix = np.array(obj.matrix_parent_inverse, np.float64) @ np.array(obj.matrix_basis, np.float64)
    if not (matrix == np.eye(4)).all():
        positions = (positions.astype(np.float64) @ matrix[:3, :3].T + matrix[:3, 3]).astype(np.float32)
    return positions, read_particles(mesh, record, values)


def cancel_edit(collection: Any, obj: Any) -> None:
    """Remove an edit mesh; its point cloud is shown again and active."""
    if obj.mode != "OBJECT":
        bpy.ops.object.mode_set(mode="OBJECT")
    sim, mesh = obj[SIM], obj.data
    bpy.data.objects.remove(obj)
    bpy.data.meshes.remove(mesh)
    show_points(bpy.context.scene, collection, sim)
    cloud = sim_objects(collection)[0].get(sim)
    if cloud is not None and cloud.name in bpy.context.view_layer.objects:
        bpy.context.view_layer.objects.active = cloud
        cloud.select_set(state=not cloud.hide_get())


def settable(mesh: Any) -> list[str]:
    """Return the names of the attributes of particles that an edit mesh has."""
    found = [name for name, _, _ in PARTICLES if name in mesh.attributes]
    return found + [each.name for each in mesh.attributes if each.name.startswith(VOLUME)]


def selected_value(obj: Any, name: str, *, unless: str = "") -> float | None:
    """Return the median of an attribute over the selected vertices of an edit mesh in edit mode.

    It is what one of them has: a mean of masks, or of ranges where -1 stands for none, would say nothing.

    Args:
        obj: the mesh object.
        name: of the attribute.
        unless: as `set_selected` takes it.

    Returns:
        None where nothing is selected, or the mesh is in another mode.
    """
    if not obj.data.is_editmode:
        return None
    shape = bmesh.from_edit_mesh(obj.data)  # its elements live as long as it does
    chosen, layer, _ = _selected(shape, name)
    values = [each[layer] for each in _without(shape, chosen, unless)]
    return median_low(values) if values else None


def _without(shape: Any, chosen: list[Any], unless: str) -> list[Any]:
    """Return those of some elements of which a BOOLEAN attribute of vertices is not set."""
    excepted = shape.verts.layers.bool.get(unless)
    return [each for each in chosen if excepted is None or not each[excepted]]


def _selected(shape: Any, name: str) -> tuple[list[Any], Any, type]:
    """Return what is selected of the elements that have an attribute, its layer, and the kind of its values."""
    for elements in (shape.verts, shape.edges):
        for kind, made in ((elements.layers.float, float), (elements.layers.int, int), (elements.layers.bool, bool)):
            layer = kind.get(name)
            if layer is not None:
                return [each for each in elements if each.select], layer, made
    return [], None, float


def edited_together(context: Any, obj: Any) -> list[Any]:
    """Return an edit mesh and those that are in edit mode with it."""
    others = context.objects_in_mode_unique_data if obj.mode == "EDIT" else []
    return [obj, *(other for other in others if other != obj and other.get(KIND) == EDIT)]


def set_selected(obj: Any, name: str, value: float, *, unless: str = "") -> tuple[int, int]:
    """Give the selected vertices of an edit mesh a value, or the selected edges of links.

    Args:
        obj: in edit mode or not.
        name: of the attribute.
        value: a number, of a BOOLEAN attribute 0 or 1; of an INT one the same bits as a signed number.
        unless: a BOOLEAN attribute of vertices; those that have it are left out. Empty for none.

    Returns:
        How many were set, and how many left out.
    """
    mesh = obj.data
    if mesh.is_editmode:
        return _set_edited(mesh, name, value, unless)
    attribute = mesh.attributes[name]
    elements = mesh.vertices if attribute.domain == "POINT" else mesh.edges
    chosen = np.empty(len(elements), np.bool_)
    elements.foreach_get("select", chosen)
    excepted = read(mesh, unless, "BOOLEAN")
    left = np.zeros_like(chosen) if excepted is None else chosen & excepted
    chosen &= ~left
    values = read(mesh, name, attribute.data_type, attribute.domain)
    if values is not None:
        values[chosen] = value
        attribute.data.foreach_set(FIELDS[attribute.data_type], values)
        mesh.update_tag()
    return int(np.count_nonzero(chosen)), int(np.count_nonzero(left))


def _set_edited(mesh: Any, name: str, value: float, unless: str) -> tuple[int, int]:
    """Do the same in edit mode."""
    shape = bmesh.from_edit_mesh(mesh)  # its elements live as long as it does
    chosen, layer, made = _selected(shape, name)
    free = _without(shape, chosen, unless)
    for each in free:
        each[layer] = made(value)
    bmesh.update_edit_mesh(mesh, loop_triangles=False, destructive=False)
    return len(free), len(chosen) - len(free)
