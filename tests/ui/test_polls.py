"""Whatever of ours is greyed out says why, and whatever there is explains itself."""

from __future__ import annotations

import re

import pytest


def operators(bpy):
    """Return the names of our operators: "import_scene.ossuary_flver", ..."""
    kinds = [getattr(bpy.types, name) for name in dir(bpy.types) if "_OT_ossuary_" in name]
    return sorted(kind.bl_idname.replace("_OT_", ".").lower() for kind in kinds)


def operator(bpy, name):
    group, function = name.split(".")
    return getattr(getattr(bpy.ops, group), function)


def test_what_is_greyed_out_in_an_empty_scene_says_why(scene, blender):
    greyed = [name for name in operators(blender) if not operator(blender, name).poll()]
    assert len(greyed) > 8
    silent = []
    for name in greyed:
        with pytest.raises(RuntimeError) as caught:
            operator(blender, name)("EXEC_DEFAULT")
        message = str(caught.value)
        if "failed, context is incorrect" in message or not re.search(r"\.poll\(\) \w", message):
            silent.append(f"{name}: {message}")
    assert not silent


def test_what_is_greyed_out_beside_other_objects_says_why(scene, blender):
    """In edit mode of a mesh, which is neither model, collision nor cloth."""
    mesh = blender.data.meshes.new("mesh")
    mesh.from_pydata([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [], [(0, 1, 2)])
    obj = blender.data.objects.new("mesh", mesh)
    scene.collection.objects.link(obj)
    blender.context.view_layer.objects.active = obj
    obj.select_set(state=True)
    blender.ops.object.mode_set(mode="EDIT")
    try:
        test_what_is_greyed_out_in_an_empty_scene_says_why(scene, blender)
    finally:
        blender.ops.object.mode_set(mode="OBJECT")


def test_operators_and_their_options_have_tooltips(blender):
    for name in operators(blender):
        rna = operator(blender, name).get_rna_type()
        assert rna.description, name
        assert rna.description[-1] != ".", name
        for option in rna.properties:
            if option.identifier != "rna_type" and not option.is_hidden:
                assert option.description, f"{name}: {option.identifier}"
                assert option.description[-1] != ".", f"{name}: {option.identifier}"


def test_panels_stand_under_one_tab_in_the_order_of_the_work(blender):
    panels = [kind for name in dir(blender.types) if "_PT_ossuary_" in name for kind in [getattr(blender.types, name)]]
    assert {kind.bl_category for kind in panels} == {"Ossuary"}
    from addon.ui.sidebar import LAST

    assert blender.types.VIEW3D_PT_ossuary_export.bl_order == LAST
    assert all(getattr(kind, "bl_order", 0) < LAST for kind in panels if "export" not in kind.__name__)
