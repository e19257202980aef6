"""A model's collection -> a `Flver`, the mirror of `addon.scene.flver`."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ...codec import FormatError
from ...codec.flver import Flver
from ...model.following import Changes, follow
from ..keys import HASH, PREFIX, is_level, own_objects
from ..problems import Problems
from ..properties import fill_record
from ..settings import FlverExportSettings, Included
from . import armature as armatures
from . import dummies
from .armature import GatheredNodes
from .materials import Materials
from .meshes import GatheredMesh, MeshGatherer

_FILE_FIELDS = ("magic", "endian", "version", "data_offset", "data_size")


def gather(
    collection: Any, template: Flver, context: Any, settings: FlverExportSettings, problems: Problems
) -> Flver | None:
    """Return the model that a collection stands for; None, with errors reported, where it cannot be stored.

    Everything that the scene holds is read from the scene, whatever ``template`` says. Nothing in the scene changes.

    Args:
        collection: of the model.
        template: the model as it was imported, which fills what the scene cannot hold.
        context: Blender's.
        settings: what to write.
        problems: takes what stands in the way and what the user should know.
    """
    objects = own_objects(collection)
    armature = _armature(objects, template, problems)
    if armature is not None and armature.mode == "EDIT":
        armature.update_from_editmode()
    nodes = armatures.gather(armature, template, float(collection.get(PREFIX + "scale", 1.0)), problems)
    empties = _empties(objects, armature, problems)
    if collection.get(PREFIX + "with_dummies", True) or any(PREFIX + "index" in empty for empty in empties):
        standing = dummies.gather(empties, armature, nodes, template, problems)
    else:
        standing = dummies.kept(template, nodes)
    materials = Materials(template, str(collection.get(HASH, "")), problems)
    gatherer = MeshGatherer(template, nodes, armature, materials, context, settings, problems, list(template.layouts))
    meshes = _meshes(objects, gatherer)
    if problems.errors:
        return None
    result = replace(
        template,
        header=template.header.copy(),
        nodes=nodes.nodes,
        node_names=nodes.names,
        dummies=standing.dummies,
        materials=materials.materials,
        gx_lists=materials.gx_lists,
        meshes=[each.mesh for each in meshes],
        layouts=gatherer.layouts,
    )
    try:
        fill_record(result.header, collection, skip=_FILE_FIELDS)
        follow(template, result, _changes(template, nodes, meshes, naming=standing.naming))
    except FormatError as error:
        problems.error(str(error))
        return None
    return result


def _empties(objects: list[Any], armature: Any, problems: Problems) -> list[Any]:
    """Return the empties that are dummies: those that were imported as such, or that hang on the armature."""
    empties = [obj for obj in objects if obj.type == "EMPTY" and obj.instance_type == "NONE"]
    chosen = [obj for obj in empties if PREFIX + "reference_id" in obj or obj.parent == armature]
    others = [obj.name for obj in empties if obj not in chosen]
    if others:
        problems.warn("hangs on no armature and is not written as a dummy", *others)
    return chosen


def _armature(objects: list[Any], template: Flver, problems: Problems) -> Any:
    """Return the armature of a model."""
    found = [obj for obj in objects if obj.type == "ARMATURE"]
    own = [obj for obj in found if any(PREFIX + "index" in bone for bone in obj.data.bones)]
    if len(template.nodes) and not found:
        problems.error("The model's armature is gone: without it nothing says where its nodes are")
    if len(own) > 1:
        problems.error("The model has more than one armature: join them", *(obj.name for obj in own))
    return (own or found or [None])[0]


def _meshes(objects: list[Any], gatherer: MeshGatherer) -> list[GatheredMesh]:
    """Gather the meshes: those of the file in their order, then new ones by name."""
    chosen = [obj for obj in objects if obj.type == "MESH" and _included(obj, gatherer)]
    main: dict[int, Any] = {}
    lods: dict[int, list[Any]] = {}
    count = len(gatherer.template.meshes)
    for obj in objects:
        if obj.type == "MESH" and is_level(obj):
            lods.setdefault(int(obj.data[PREFIX + "mesh"]), []).append(obj)
    for obj in chosen:
        index = int(obj.data.get(PREFIX + "mesh", -1))
        known = not is_level(obj) and 0 <= index < count
        if known and (index not in main or obj.name == obj.data.get(PREFIX + "object")):
            main[index] = obj
    originals = {obj.name for obj in main.values()}
    new = sorted((obj for obj in chosen if obj.name not in originals and not is_level(obj)), key=lambda obj: obj.name)
    missing = sorted(set(range(count)) - set(main)) if gatherer.settings.meshes == Included.ALL else []
    if missing:
        numbers = ", ".join(map(str, missing[:8])) + (" ..." if len(missing) > 8 else "")
        gatherer.problems.warn(f"meshes of the file that are not in the model's collection are left out: {numbers}")
    gatherer.materials.add([slot.material for obj in chosen for slot in obj.material_slots if slot.material])
    result = [gatherer.gather(main[index], lods.get(index, []), imported=True) for index in sorted(main)]
    result += [gatherer.gather(obj, [], imported=False) for obj in new]
    return [each for each in result if each is not None]


def _included(obj: Any, gatherer: MeshGatherer) -> bool:
    wanted, view_layer = gatherer.settings.meshes, gatherer.context.view_layer
    if wanted == Included.VISIBLE:
        return bool(obj.visible_get(view_layer=view_layer))
    return wanted == Included.ALL or bool(obj.select_get(view_layer=view_layer))


def _changes(template: Flver, nodes: GatheredNodes, meshes: list[GatheredMesh], *, naming: bool) -> Changes:
    others = [each.source for each in meshes] != list(range(len(template.meshes)))
    return Changes(
        tree=nodes.tree,
        naming=naming or others or any(each.naming for each in meshes),
        shape=others or not nodes.same.all() or any(each.shape for each in meshes),
        faces=others or any(each.faces for each in meshes),
        node_sources=nodes.sources,
        mesh_sources=[each.source for each in meshes],
    )
