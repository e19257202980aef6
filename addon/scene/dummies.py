"""FLVER dummies -> empties on the bones they follow."""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np
from mathutils import Matrix

from ..codec.binary import Array
from ..maths import affine, axes
from ..model import PlacedModel
from .armature import BuiltArmature
from .keys import PREFIX
from .properties import record_properties, set_properties
from .texts import shown_name, stored_text


def build(model: PlacedModel, name: str, collection: Any, armature: BuiltArmature | None, size: float) -> list[Any]:
    """Make an empty for every dummy, named by model, reference ID and index.

    An empty's Y points along the dummy's forward, its Z along its upward direction. It follows the attach bone, or the
    parent bone where there is none; its own location and rotation are those in armature space at rest.

    Args:
        model: the model.
        name: of the model.
        collection: takes the empties.
        armature: what they follow, None without nodes.
        size: metres, of an empty's axes.

    Returns:
        The empties in the order of the dummies.
    """
    frames = axes.swap_matrices(model.dummies.matrices)
    tails = None if armature is None else bone_tails(armature.rest, armature.lengths)
    inverses = None if tails is None else affine.inverses(tails)
    empties = []
    for index, record in enumerate(model.flver.dummies):
        empty = bpy.data.objects.new(shown_name(f"{name} dummy {record['reference_id']} [{index}]"), None)
        empty.empty_display_type = "ARROWS"
        empty.empty_display_size = size
        alpha, red, green, blue = (record["color"] / 255).tolist()
        empty.color = (red, green, blue, alpha)
        collection.objects.link(empty)
        follows = int(model.dummies.followed[index])
        if armature is not None and tails is not None and inverses is not None:
            empty.parent = armature.object
            if follows >= 0:
                empty.parent_type = "BONE"
                empty.parent_bone = armature.bone_names[follows]
                empty.matrix_parent_inverse = Matrix(inverses[follows].tolist())
        empty.matrix_basis = Matrix(frames[index].tolist())
        values = _properties(model, index, record)
        values |= {
            PREFIX + "object": empty.name,
            PREFIX + "bone": empty.parent_bone,
            PREFIX + "chain": tail_chain(tails[follows] if tails is not None and follows >= 0 else np.eye(4), empty),
            PREFIX + "basis": [value for row in empty.matrix_basis for value in row],
        }
        set_properties(empty, values)
        empties.append(empty)
    return empties


def bone_tails(rest: Array, lengths: Array) -> Array:
    """Return the (n, 4, 4) bones' rest matrices at their tails, where Blender puts children of bones."""
    tails = rest.copy()
    tails[..., :3, 3] += tails[..., :3, 1] * lengths[..., None]
    return tails


def tail_chain(tail: Array, empty: Any) -> list[float]:
    """Return what stands between an empty's own matrix and the armature's space at rest, as 16 numbers.

    It is the identity but for Blender's rounding, which a bone that is small and far away makes large.
    """
    return (tail @ np.array(empty.matrix_parent_inverse, np.float64)).ravel().tolist()


def _properties(model: PlacedModel, index: int, record: Any) -> dict[str, Any]:
    values = record_properties(record) | {PREFIX + "index": index}
    for field in ("parent", "attach"):
        node = int(record[field])
        if 0 <= node < len(model.flver.node_names):
            values[PREFIX + field + "_name"] = stored_text(model.flver.node_names[node])
    return values
