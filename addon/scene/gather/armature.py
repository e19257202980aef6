"""An armature -> FLVER nodes, the mirror of `addon.scene.armature`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...codec.binary import Array
from ...codec.flver import Flver
from ...codec.flver.records import NODE
from ...maths import affine, axes
from ...model import node_matrices
from ...model.binding import Renumbering
from ...model.bounds import INVERTED
from ...model.following import LINKS
from ..armature import TURN
from ..keys import PREFIX
from ..problems import Problems
from ..properties import fill_record
from ..texts import loaded_text

SHEAR = 1e-3  # share of a node's scale from which a shear is reported
OFF = 1e-5  # share of the size: a node is where it was when it is off by less
TURNED = 1e-5  # of a rest matrix's entries: a bone that is moved in edit mode turns by less, as that keeps its ends


@dataclass
class GatheredNodes:
    """The nodes that an armature stands for.

    Attributes:
        nodes: (n,) `NODE`; links are renumbered, not made anew.
        names: n stored names.
        old_names: the names that they had, empty for new ones.
        world: (n, 4, 4) float64: the full product of what is stored.
        same: (n,) bool: the node's world matrix is what it was when it was imported.
        sources: (n,) int32: the number that each had, -1 for a new one.
        numbering: how nodes are numbered now.
        by_bone: the node of each of Blender's bones.
        tree: whether nodes were added, removed or have other parents.
        rest: (n, 4, 4) the bones' rest matrices in Blender's axes.
        lengths: (n,) the bones' lengths.
        from_world: (4, 4) from the scene to the model, in Blender's axes.
    """

    nodes: Array
    names: list[str]
    old_names: list[str]
    world: Array
    same: Array
    sources: Array
    numbering: Renumbering
    by_bone: dict[str, int]
    tree: bool
    rest: Array
    lengths: Array
    from_world: Array


def gather(armature: Any, template: Flver, scale: float, problems: Problems) -> GatheredNodes:
    """Return the nodes of an armature object; no object has none.

    Nodes that were imported stand in their old order, new ones behind them.

    Args:
        armature: the object; its edit mode, if any, must have been flushed.
        template: the model as it was imported.
        scale: of a model without an armature in the scene.
        problems: takes what cannot be stored.
    """
    bones = [] if armature is None else list(armature.data.bones)
    originals = _originals(bones, len(template.nodes))
    ordered = [originals[index] for index in sorted(originals)]
    chosen = {bone.name for bone in ordered}
    ordered += [bone for bone in bones if bone.name not in chosen]
    sources = np.full(len(ordered), -1, np.int32)
    sources[: len(originals)] = sorted(originals)
    places = np.full(len(template.nodes), -1, np.int32)
    places[sources[: len(originals)]] = np.arange(len(originals))
    numbering = Renumbering(places, len(ordered))
    by_bone = {bone.name: index for index, bone in enumerate(ordered)}
    nodes = NODE.zeros(len(ordered))
    for row, bone, source in zip(nodes, ordered, sources.tolist(), strict=True):
        _fill(row, bone, None if source < 0 else template.nodes[source])
    parents = np.array([-1 if bone.parent is None else by_bone[bone.parent.name] for bone in ordered], np.int64)
    other_parent = (sources < 0) | (numbering.of(nodes["parent"], gone=-2) != parents)
    tree = bool(other_parent.any()) or len(originals) != len(template.nodes)
    nodes["parent"] = parents
    for field in LINKS if tree else ():
        nodes[field] = np.where(sources < 0, -1, numbering.of(nodes[field]))
    rest = np.array([bone.matrix_local for bone in ordered], np.float64).reshape(-1, 4, 4)
    world, moved = _set_locals(nodes, ordered, rest, other_parent, problems)
    lengths = np.array([bone.length for bone in ordered], np.float64)
    old_names = [loaded_text(bone.get(PREFIX + "name", "")) for bone in ordered]
    names = [
        old if PREFIX + "name" in bone and bone.name == bone.get(PREFIX + "bone") else bone.name
        for bone, old in zip(ordered, old_names, strict=True)
    ]
    to_world = np.diag((scale, scale, scale, 1.0)) if armature is None else np.array(armature.matrix_world)
    return GatheredNodes(
        nodes, names, old_names, world, ~moved, sources, numbering, by_bone, tree, rest, lengths,
        affine.inverses(to_world),
    )  # fmt: skip


def _originals(bones: list[Any], count: int) -> dict[int, Any]:
    """Return the bone that each node was imported as; of copies, the one that has kept its name."""
    found: dict[int, Any] = {}
    for bone in bones:
        index = bone.get(PREFIX + "index", -1)
        if 0 <= index < count and (index not in found or bone.name == bone.get(PREFIX + "bone")):
            found[index] = bone
    return found


def _fill(row: Array, bone: Any, source: Array | None) -> None:
    """Fill a node's record from its bone; what is not in the scene is as in the source."""
    if source is None:
        row["scale"] = 1
    else:
        for field in NODE.dtype.names or ():
            row[field] = source[field]
    fill_record(row, bone, skip=("name_offset",))
    if source is None:
        row["bounds_min"], row["bounds_max"], row["flags"] = INVERTED, -INVERTED, 0


@np.errstate(over="ignore", invalid="ignore")
def _set_locals(
    nodes: Array, bones: list[Any], rest: Array, other_parent: Array, problems: Problems
) -> tuple[Array, Array]:
    """Set the local values of nodes that have moved, in place.

    Returns:
        (n, 4, 4) float64 world matrices of what is stored, and (n,) bool: which are not what they were.
    """
    wanted, turned, shifted = _worlds(bones, rest)
    moved = turned | shifted
    if not (moved | other_parent).any():
        return wanted, moved
    parents = nodes["parent"]
    rooted = parents < 0
    anew = other_parent | (~rooted & turned[parents])
    new_origin = anew | moved | (~rooted & moved[parents])
    new_linear = anew | turned
    above = np.where(rooted[:, None, None], np.eye(4), wanted[parents])
    flat = np.abs(np.linalg.det(above)) == 0
    local = affine.inverses(above) @ wanted
    rotations, scale, shear = affine.split_scale(local[:, :3, :3], nodes["scale"])
    nodes["translation"][new_origin] = local[new_origin, :3, 3]
    nodes["rotation"][new_linear] = affine.angles_xzy(rotations[new_linear])
    nodes["scale"][new_linear] = scale[new_linear]
    for index in np.flatnonzero(new_linear & (shear > SHEAR)):
        problems.warn(
            f"bone {bones[index].name} is sheared by {shear[index]:.1%} under its scaled parent, which no node can "
            "hold: it is written without the shear"
        )
    for index in np.flatnonzero(flat & new_origin):
        problems.warn(f"bone {bones[index].name} has a parent whose scale is zero: its place cannot be stored")
    stored = node_matrices(nodes)
    size = np.abs(wanted).max(axis=(1, 2), initial=1, keepdims=True)
    off = (np.abs(stored - wanted) > OFF * size).any(axis=(1, 2))
    return np.where((moved | off)[:, None, None], stored, wanted), moved | off


@np.errstate(over="ignore", invalid="ignore")
def _worlds(bones: list[Any], rest: Array) -> tuple[Array, Array, Array]:
    """Return where bones say that their nodes are.

    A bone that was imported has the node's exact world matrix and the rest matrix that Blender made of it: what has
    changed since is applied to the exact one.

    Returns:
        (n, 4, 4) float64 in the games' axes; (n,) bool: which have turned, which have shifted; all that are new.
    """
    known = np.array([bone.get(PREFIX + "rest") is not None for bone in bones], bool)
    held, exact = rest.copy(), axes.swap_matrices(rest @ TURN.T)
    for index in np.flatnonzero(known):
        held[index] = np.array(bones[index][PREFIX + "rest"]).reshape(4, 4)
        exact[index] = np.array(bones[index][PREFIX + "world"]).reshape(4, 4)
    turned = ~known | (np.abs(rest[:, :3, :3] - held[:, :3, :3]) > TURNED).any(axis=(1, 2))
    origins = rest[:, :3, 3], held[:, :3, 3]
    shifted = ~known | ~((origins[0] == origins[1]) | np.isnan(origins).all(axis=0)).all(axis=1)
    turn = np.tile(np.eye(4), (len(bones), 1, 1))
    turn[:, :3, :3] = rest[:, :3, :3] @ affine.inverses(held[:, :3, :3])
    linear = (axes.swap_matrices(turn) @ exact)[:, :3, :3]
    shift = axes.swap_vectors(rest[:, :3, 3] - held[:, :3, 3])
    world = exact.copy()
    world[turned, :3, :3] = linear[turned]
    world[shifted, :3, 3] += shift[shifted]
    return world, turned, shifted
