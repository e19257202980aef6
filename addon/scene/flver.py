"""FLVER models -> collections of objects."""

from __future__ import annotations

from typing import Any

import bpy
from mathutils import Matrix

from ..model import PlacedModel
from ..model.textures import Look
from . import armature as armatures
from . import dummies, materials
from .images import Images
from .keys import PREFIX
from .meshes import MeshBuilder, uv_maps
from .properties import record_properties, set_properties
from .result import ImportedModel, Timings
from .settings import FlverSettings, Lods
from .shading import shade
from .texts import shown_name, stored_text

_FILE_FIELDS = ("magic", "data_offset", "data_size")


def build(
    model: PlacedModel, name: str, context: Any, settings: FlverSettings, *, timings: Timings, looks: list[Look]
) -> ImportedModel:
    """Make the objects of a model, in a collection of its own inside the active one.

    Runs inside a transaction: it changes the active object.

    Args:
        model: the model.
        name: of the model.
        context: Blender's.
        settings: what to make.
        timings: takes the time of each stage.
        looks: what its materials look like, in their order; empty for plain materials.
    """
    collection = bpy.data.collections.new(shown_name(name))
    parent = context.collection
    if parent is None or not parent.is_editable:
        parent = context.scene.collection
    parent.children.link(collection)
    result = ImportedModel(name, collection, warnings=list(model.findings), timings=timings)
    with timings.stage("armature"):
        built = None
        if len(model.flver.nodes):
            built = armatures.build(model, name, collection, context, settings.bone_length)
            built.object.data.collections["unused"].is_visible = settings.show_unused_bones
            result.armature = built.object
    with timings.stage("materials"):
        blocks = materials.build(model.flver)
    if looks:
        with timings.stage("textures"):
            _shade(model, blocks, looks, result.warnings)
    with timings.stage("meshes"):
        builder = MeshBuilder(model, name, built, blocks, custom_normals=settings.custom_normals)
        _build_meshes(builder, result, settings, context)
    if settings.dummies and len(model.flver.dummies):
        with timings.stage("dummies"):
            child = bpy.data.collections.new(shown_name(f"{name} dummies"))
            collection.children.link(child)
            result.dummies = dummies.build(model, name, child, built, settings.dummy_size)
    _keep_header(model, name, collection)
    collection[PREFIX + "scale"] = settings.scale
    collection[PREFIX + "with_dummies"] = settings.dummies
    _apply_scale(collection, settings.scale)
    return result


def _shade(model: PlacedModel, blocks: list[Any], looks: list[Look], warnings: list[str]) -> None:
    """Give materials their textures. A model is worth having without: what fails in a newer Blender is a warning."""
    images, maps = Images(), [list[str]() for _ in blocks]
    for placed in model.meshes:
        if 0 <= placed.mesh.material < len(maps):
            found = [name for name, _pairs in uv_maps(placed.vertices)]
            maps[placed.mesh.material] = max(maps[placed.mesh.material], found, key=len)
    for block, look, names in zip(blocks, looks, maps, strict=True):
        try:
            shade(block, look, images, names)
        except (AttributeError, KeyError, RuntimeError, TypeError) as error:
            warnings.append(f"material {block.name} is without textures, for this Blender answers: {error}")


def _build_meshes(builder: MeshBuilder, result: ImportedModel, settings: FlverSettings, context: Any) -> None:
    chosen = settings.lod if settings.lods == Lods.CHOSEN else 0
    hidden = None
    for index, placed in enumerate(builder.model.meshes):
        shown = max((lod for lod in placed.levels if lod <= chosen), default=min(placed.levels, default=0))
        result.meshes.append(builder.build(index, shown, result.collection))
        for lod in placed.levels if settings.lods == Lods.ALL else ():
            if lod != shown:
                if hidden is None:
                    hidden = bpy.data.collections.new(shown_name(f"{builder.name} LODs"))
                    result.collection.children.link(hidden)
                result.lods.append(builder.build_lod(index, lod, hidden))
    if result.lods:
        context.view_layer.update()  # which no new object is in before
    for obj in result.lods:
        _hide(obj, context)


def _hide(obj: Any, context: Any) -> None:
    """Hide an object with its eye in the outliner; in an excluded collection, where it has none, by its screen icon."""
    if obj.name in context.view_layer.objects:
        obj.hide_set(state=True)
    else:
        obj.hide_viewport = True
    obj.hide_render = True


def _keep_header(model: PlacedModel, name: str, collection: Any) -> None:
    flver = model.flver
    values = record_properties(flver.header, skip=_FILE_FIELDS)
    values |= {
        PREFIX + "endian": flver.header["endian"].item().decode("latin-1"),
        PREFIX + "name": stored_text(name),
        PREFIX + "layouts": [
            [{field: int(row[field]) for field in layout.members.dtype.names or ()} for row in layout.members]
            for layout in flver.layouts
        ],
    }
    set_properties(collection, values)


def _apply_scale(collection: Any, scale: float) -> None:
    """Scale what hangs on nothing: the armature with all its children, or the objects of a model without one."""
    for obj in collection.all_objects if scale != 1 else ():
        if obj.parent is None:
            obj.matrix_basis = Matrix.Scale(scale, 4) @ obj.matrix_basis
