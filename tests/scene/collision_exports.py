"""Collision for tests: imported, exported, and read back."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from addon.codec import Tagfile, read_collision
from addon.codec.source import Kind, open_source


def load(scene_api, *paths, **settings) -> list:
    """Import files that must succeed; return the objects."""
    import bpy

    result = scene_api.import_collision(bpy.context, paths, scene_api.CollisionSettings(**settings))
    assert not result.failures
    bpy.context.view_layer.update()
    return [body.object for body in result.bodies]


def export(scene_api, path: Path, bodies=None, progress=None, **settings):
    """Export bodies, or those that are chosen; return the result."""
    import bpy

    chosen = scene_api.chosen_bodies(bpy.context) if bodies is None else bodies
    options = scene_api.CollisionExportSettings(**settings)
    return scene_api.export_collision(bpy.context, chosen, path, options, *([progress] if progress else []))


def exported(scene_api, path: Path, bodies=None, **settings) -> list:
    """Export without errors; return the bodies of all files that are in the target."""
    result = export(scene_api, path, bodies, **settings)
    assert not result.errors, result.details
    return stored(path)


def members(path: Path) -> list:
    return [each for each in open_source(path).members if each.kind in {Kind.COLLISION, Kind.RAGDOLL}]


def stored(path: Path) -> list:
    return [
        body for each in members(path) for body in read_collision(Tagfile.read(each.data(), each.compendium, each.name))
    ]


def contents(path: Path) -> list[tuple[str, bytes]]:
    return [(each.path, bytes(each.data())) for each in open_source(path).members]


def corners(vertices, triangles, digits: int = 3) -> list:
    """Return triangles as sorted places, each from its smallest corner on."""
    points = np.round(np.asarray(vertices, float)[triangles], digits) + 0.0
    turned = [min(each[i:] + each[:i] for i in range(3)) for each in points.tolist()]
    return sorted(turned)


def surface_corners(body, digits: int = 3) -> list:
    return corners(body.vertices, body.triangles, digits)


def set_face(obj, name: str, face: int, value: int) -> None:
    obj.data.attributes[f"collision_{name}"].data[face].value = value


def activate(obj) -> None:
    import bpy

    bpy.context.view_layer.objects.active = obj
