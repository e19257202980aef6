"""What overlays write into the 3D view: where dummies and bones are, and what they are called in the file."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..codec.binary import Array
from .keys import PREFIX
from .texts import loaded_text, shown_text

REFERENCE, NAME = PREFIX + "reference_id", PREFIX + "name"


@dataclass(frozen=True, eq=False)
class Labels:
    """Texts at points.

    Attributes:
        points: (n, 3) float64, world space.
        texts: n of them.
    """

    points: Array
    texts: list[str]


def dummy_labels(objects: Iterable[Any]) -> Labels:
    """Return the reference IDs of those objects that are dummies."""
    found = [obj for obj in objects if obj.type == "EMPTY" and REFERENCE in obj]
    points = np.array([obj.matrix_world.translation for obj in found], np.float64).reshape(-1, 3)
    return Labels(points, [str(obj[REFERENCE]) for obj in found])


def node_labels(objects: Iterable[Any]) -> Labels:
    """Return the stored names of the nodes that the bones of armatures among objects stand for, at the bones' heads.

    Bones that are hidden, alone or with their collections, have none; nor have those that came from no file.
    """
    points, texts = [np.zeros((0, 3))], list[str]()
    for obj in objects:
        if obj.type == "ARMATURE":
            heads, names = _bones(obj)
            world = np.array(obj.matrix_world)
            points.append(heads @ world[:3, :3].T + world[:3, 3])
            texts += names
    return Labels(np.concatenate(points), texts)


def _bones(armature: Any) -> tuple[Array, list[str]]:
    """Return the heads, (n, 3) in the armature's space, and the names of its bones that show and are nodes."""
    edited = armature.mode == "EDIT"
    placed = armature.data.edit_bones if edited else armature.pose.bones
    bones = placed if edited else [each.bone for each in placed]
    heads = np.empty(len(placed) * 3, np.float32)
    placed.foreach_get("head", heads)
    rows = [
        row
        for row, (bone, each) in enumerate(zip(bones, placed, strict=True))
        if NAME in bone and not _is_hidden(bone, each)
    ]
    return heads.reshape(-1, 3)[rows].astype(np.float64), [shown_text(loaded_text(bones[row][NAME])) for row in rows]


def _is_hidden(bone: Any, placed: Any) -> bool:
    """Tell whether a bone does not show; from Blender 5.0 on its pose says so, before the bone itself."""
    if getattr(placed, "hide", False) or bone.hide:
        return True
    collections = bone.collections
    return bool(collections) and not any(each.is_visible_effectively for each in collections)
