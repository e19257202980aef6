"""Empties -> FLVER dummies, the mirror of `addon.scene.dummies`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...codec import FormatError
from ...codec.binary import Array
from ...codec.flver import Flver
from ...codec.flver.records import DUMMY
from ...maths import affine, axes
from ...model.derived import CRC_FROM, name_crcs
from ..dummies import bone_tails, tail_chain
from ..keys import PREFIX
from ..problems import Problems
from ..properties import fill_record
from ..texts import loaded_text
from .armature import GatheredNodes

NEAR = 1e-5  # share of the size: a dummy stands where it stood when it is off by less


@dataclass
class GatheredDummies:
    """Dummies, and whether they name other nodes than before."""

    dummies: Array
    naming: bool


def gather(
    empties: list[Any], armature: Any, nodes: GatheredNodes, template: Flver, problems: Problems
) -> GatheredDummies:
    """Return the dummies that empties stand for.

    Those that were imported stand in their old order, new ones and copies behind them.

    Args:
        empties: the objects.
        armature: the object that they hang on, None without nodes.
        nodes: its nodes.
        template: the model as it was imported.
        problems: takes what cannot be stored.
    """
    ordered, known = _ordered(empties, len(template.dummies))
    result = DUMMY.zeros(len(ordered))
    naming = known != len(template.dummies) or len(ordered) != known
    if known < len(template.dummies):
        missing = len(template.dummies) - known
        problems.warn(f"{missing} dummies of the file are not in the model's collection: they are left out")
    for number, (row, empty) in enumerate(zip(result, ordered, strict=True)):
        row["color"], row["use_upward"], row["parent"], row["attach"], row["reference_id"] = 255, 1, -1, -1, -1
        try:
            if number < known:
                result[number] = template.dummies[empty[PREFIX + "index"]]
            fill_record(row, empty)
            named = {field: int(row[field]) for field in ("parent", "attach")}
            naming |= _gather_one(row, empty, armature, nodes, template, new=number >= known)
            lost = [
                field for field, node in named.items() if nodes.numbering.of(node, gone=-2) == -2 and row[field] < 0
            ]
            if lost:
                problems.warn(f"its {' and '.join(lost)} bone is gone: it names none", empty.name)
        except FormatError as error:
            problems.error(error.what, empty.name)
    return GatheredDummies(result, naming)


def kept(template: Flver, nodes: GatheredNodes) -> GatheredDummies:
    """Return the dummies of the file, where none were imported."""
    dummies = template.dummies.copy()
    for field in ("parent", "attach"):
        dummies[field] = nodes.numbering.of(dummies[field])
    return GatheredDummies(dummies, naming=False)


def _ordered(empties: list[Any], count: int) -> tuple[list[Any], int]:
    """Return empties in the order of their dummies, and how many of the first were imported."""
    found: dict[int, Any] = {}
    for empty in empties:
        index = empty.get(PREFIX + "index", -1)
        if 0 <= index < count and (index not in found or empty.name == empty.get(PREFIX + "object")):
            found[index] = empty
    originals = [found[index] for index in sorted(found)]
    names = {empty.name for empty in originals}
    new = sorted((empty for empty in empties if empty.name not in names), key=lambda empty: empty.name)
    return originals + new, len(originals)


def _gather_one(row: Array, empty: Any, armature: Any, nodes: GatheredNodes, template: Flver, *, new: bool) -> bool:
    """Fill a dummy's record from its empty; return whether it names other nodes than it did."""
    before = int(row["parent"]), int(row["attach"])
    parent, attach = (_named(row, empty, field, nodes, template) for field in ("parent", "attach"))
    follows = _bone_node(empty, armature, nodes)
    if follows != (attach if attach >= 0 else parent):
        attach = follows
        parent = follows if new and parent < 0 else parent
    row["parent"], row["attach"] = _kept_wild(before[0], parent, nodes), _kept_wild(before[1], attach, nodes)
    expected = nodes.numbering.of(np.array(before))
    other = bool((expected != (row["parent"], row["attach"])).any())
    if other or new:
        row["unk2E"] = int(row["attach"] >= 0 and len(nodes.nodes) > 1)
    if template.version >= CRC_FROM and (new or other or _renamed(parent, nodes)):
        row["name_crc"] = name_crcs(np.array([parent]), nodes.names)[0]
    _place(row, empty, armature, nodes, other_space=bool(expected[0] != row["parent"]) or not _still(parent, nodes))
    return other or new


def _kept_wild(before: int, now: int, nodes: GatheredNodes) -> int:
    """Return a node's number; one that named nothing in the file stays until another takes its place."""
    return before if now < 0 and not 0 <= before < len(nodes.numbering.places) else now


def _named(row: Array, empty: Any, field: str, nodes: GatheredNodes, template: Flver) -> int:
    """Return the node that a dummy's properties name: by the number that it had, or by a name that was changed."""
    stored, name = int(row[field]), empty.get(f"{PREFIX}{field}_name")
    inside = 0 <= stored < len(template.nodes)
    new = int(nodes.numbering.of(stored)) if inside else -1
    if name is None or not loaded_text(name):
        return new
    name = loaded_text(name)
    known = {nodes.names[new], nodes.old_names[new]} if new >= 0 else {template.node_names[stored]} if inside else set()
    if name in known:
        return new
    if name in nodes.by_bone:
        return nodes.by_bone[name]
    if name in nodes.names:
        return nodes.names.index(name)
    raise FormatError(f"its property {PREFIX}{field}_name names {name!r}, which is no bone of the armature")


def _bone_node(empty: Any, armature: Any, nodes: GatheredNodes) -> int:
    if empty.parent is not None and empty.parent == armature and empty.parent_type == "BONE":
        return nodes.by_bone.get(empty.parent_bone, -1)
    return -1


def _renamed(node: int, nodes: GatheredNodes) -> bool:
    return node >= 0 and nodes.names[node] != nodes.old_names[node]


def _still(node: int, nodes: GatheredNodes) -> bool:
    return node < 0 or bool(nodes.same[node])


@np.errstate(over="ignore", invalid="ignore")
def _place(row: Array, empty: Any, armature: Any, nodes: GatheredNodes, *, other_space: bool) -> None:
    """Set position and directions where the empty, or the node whose space holds the dummy, has moved."""
    basis = np.array(empty.matrix_basis, np.float64)
    held = empty.get(PREFIX + "basis")
    before = np.eye(4) if held is None else np.array(held).reshape(4, 4)
    chain, tolerance = _chain(empty, armature, nodes), NEAR * max(1.0, float(np.abs(basis).max()))
    before_chain = np.array(empty.get(PREFIX + "chain", np.eye(4).ravel())).reshape(4, 4)
    if _differs(chain, before_chain, tolerance).any():
        seen = chain @ basis
        tolerance = NEAR * max(1.0, float(np.abs(seen).max()))
    else:
        seen, tolerance = basis, 0.0  # the empty's own matrix tells, to the bit
    other = _differs(seen, before, tolerance)
    shifted, turned = bool(held is None or other[:3, 3].any()), bool(held is None or other[:3, :3].any())
    if not (shifted or turned or other_space):
        return
    parent = int(row["parent"])
    space = nodes.world[parent] if 0 <= parent < len(nodes.world) else np.eye(4)
    if np.linalg.det(space) == 0:
        raise FormatError("stands in the space of a bone whose scale is zero")
    local = affine.inverses(space) @ axes.swap_matrices(seen)
    if shifted or other_space:
        row["position"] = local[:3, 3]
    if turned or other_space:
        for field, column in (("forward", 2), ("upward", 1)):
            length = float(np.linalg.norm(row[field])) or 1.0
            row[field] = affine.normalized(local[None, :3, column])[0] * length


def _differs(one: Array, two: Array, tolerance: float) -> Array:
    """Return bool: which numbers are not the same, or near by a tolerance."""
    return ~((np.abs(one - two) <= tolerance) | (one == two) | (np.isnan(one) & np.isnan(two)))


def _chain(empty: Any, armature: Any, nodes: GatheredNodes) -> Array:
    """Return what stands between an empty's own matrix and the armature's space at rest, (4, 4), in Blender's axes."""
    if empty.parent is None:
        return nodes.from_world
    if empty.parent != armature:
        basis = np.array(empty.matrix_basis, np.float64)
        return nodes.from_world @ np.array(empty.matrix_world, np.float64) @ affine.inverses(basis)
    node = _bone_node(empty, armature, nodes)
    tail = np.eye(4) if node < 0 else bone_tails(nodes.rest[node], nodes.lengths[node])
    return np.array(tail_chain(tail, empty)).reshape(4, 4)
