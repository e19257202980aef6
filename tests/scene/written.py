"""Exports for tests: a model taken from the scene and written, and how it differs from another."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import numpy as np

from addon.codec.flver import Flver


def gathered(collection, template: Flver | None = None, **settings):
    """Return what a model's collection stands for, None where there are errors, and the problems."""
    import bpy

    from addon.scene import FlverExportSettings, provenance
    from addon.scene.gather.flver import gather
    from addon.scene.problems import Problems

    problems = Problems()
    template = template or Flver.read(provenance.source_bytes(collection))
    bpy.context.view_layer.update()
    return gather(collection, template, bpy.context, FlverExportSettings(**settings), problems), problems


def written(collection, **settings) -> Flver:
    """Return a model as it is written, which must find no errors."""
    flver, problems = gathered(collection, **settings)
    assert not problems.errors
    return Flver.read(flver.write())


def source(collection) -> bytes:
    from addon.scene import provenance

    return provenance.source_bytes(collection)


def exported(collection, path: Path, **settings):
    """Export a model into a file; return the result."""
    import bpy

    from addon.scene import FlverExportSettings, export_flver

    bpy.context.view_layer.update()
    return export_flver(bpy.context, collection, path, FlverExportSettings(**settings))


def differences(before: Flver, after: Flver) -> set[str]:
    """Return where two models differ: paths of fields, such as ``nodes[1].translation`` or ``meshes[0].uv0``."""
    found = {f"header.{name}" for name in _unlike(before.header, after.header)}
    found -= {"header.data_offset"}
    for title in ("nodes", "dummies"):
        old, new = getattr(before, title), getattr(after, title)
        if len(old) != len(new):
            found.add(title)
        for i, rows in enumerate(zip(old, new, strict=False)):
            found |= {f"{title}[{i}].{name}" for name in _unlike(*rows) if name != "name_offset"}
    for title in ("node_names", "gx_lists"):
        if repr(getattr(before, title)) != repr(getattr(after, title)):
            found.add(title)
    if _texts(before) != _texts(after):
        found.add("materials")
    if repr(before.skeletons) != repr(after.skeletons):
        found.add("skeletons")
    if len(before.meshes) != len(after.meshes):
        found.add("meshes")
    for i, (old, new) in enumerate(zip(before.meshes, after.meshes, strict=False)):
        found |= {f"meshes[{i}].{name}" for name in _mesh_differences(old, new)}
    return found


def _texts(flver: Flver) -> list:
    """Return all of a model's materials but the places of their strings."""
    fixed = ("index", "unk1C"), ("scale", "tiling", "unk12", "unk14")
    return [
        [each.name, each.path, each.gx, *(str(each.record[name]) for name in fixed[0])]
        + [[slot.type, slot.path, *(str(slot.record[name]) for name in fixed[1])] for slot in each.textures]
        for each in flver.materials
    ]


def _mesh_differences(old, new):
    for field in fields(old):
        if field.name not in {"face_sets", "buffers"} and repr(getattr(old, field.name)) != repr(
            getattr(new, field.name)
        ):
            yield field.name
    if [repr(each) for each in old.face_sets] != [repr(each) for each in new.face_sets]:
        yield "face_sets"
    for before, after in zip(old.buffers, new.buffers, strict=True):
        if len(before.data) != len(after.data):
            yield "vertices"
            continue
        for name in before.data.dtype.names:
            if before.data[name].tobytes() != after.data[name].tobytes():
                yield name


def _unlike(old, new):
    return [name for name in old.dtype.names if old[name].tobytes() != new[name].tobytes()]


def changed_bytes(before: bytes, after: bytes) -> list[int]:
    """Return the offsets at which files of one length differ."""
    assert len(before) == len(after)
    return np.flatnonzero(np.frombuffer(before, np.uint8) != np.frombuffer(after, np.uint8)).tolist()


def edit_bones(imported):
    """Return the armature's bones in edit mode."""
    import bpy

    bpy.context.view_layer.objects.active = imported.armature
    bpy.ops.object.mode_set(mode="EDIT")
    return imported.armature.data.edit_bones


def leave_edit_mode():
    import bpy

    bpy.ops.object.mode_set(mode="OBJECT")


def edit_mesh(obj, change):
    """Change a mesh through bmesh, as edit mode does."""
    import bmesh

    shape = bmesh.new()
    shape.from_mesh(obj.data)
    for part in (shape.verts, shape.faces, shape.edges):
        part.ensure_lookup_table()
    change(bmesh, shape)
    shape.to_mesh(obj.data)
    shape.free()
    obj.data.update()
