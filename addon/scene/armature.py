"""FLVER nodes -> an armature.

A bone takes the node's origin and its rotation without scale; the exact local values and the world matrix with scale
are kept in the bone's properties. Blender's bones point along +Y, these skeletons run along the node's +X: a bone's
rest matrix is the node's rotation times one constant turn.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import bpy
import numpy as np
from mathutils import Matrix

from ..codec.binary import Array
from ..maths import affine, axes
from ..model import PlacedModel
from ..model.placement import named_nodes
from .keys import COLLECTIONS, PREFIX
from .properties import record_properties, set_properties
from .texts import shown_name, stored_text

# columns: where a bone's x, y and z point in its node's axes
TURN = np.array([[0.0, 1.0, 0.0, 0.0], [-1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]])
MIN_LENGTH = 0.01  # metres; Blender 4.5 deletes bones of almost no length
FAR = 1e-5  # least length of a bone, as a share of how far out it is: else its two ends are one number
ON_AXIS = 1e-3  # a child lies on the bone's axis when it is off it by less than this share of its distance


@dataclass
class BuiltArmature:
    """An armature and how to find its bones.

    Attributes:
        object: the armature object.
        bone_names: the bone of each node, by node index.
        rest: (n, 4, 4) float64, the bones' rest matrices in armature space as Blender holds them.
        lengths: (n,) float64, metres.
    """

    object: Any
    bone_names: list[str]
    rest: Array
    lengths: Array


@np.errstate(over="ignore", invalid="ignore")
def rest_matrices(nodes: Array, world: Array) -> Array:
    """Return the rest matrices that bones are asked to take, in Blender's axes.

    Args:
        nodes: (n,) `NODE`.
        world: (n, 4, 4) the nodes' world matrices in the games' axes.

    Returns:
        (n, 4, 4) float64, rotation and origin only.
    """
    turns = affine.compose(np.zeros((len(nodes), 3)), affine.euler_xzy(nodes["rotation"]), np.ones((len(nodes), 3)))
    rest = affine.world_matrices(turns, nodes["parent"])
    rest[:, :3, 3] = world[:, :3, 3]
    return axes.swap_matrices(rest) @ TURN


@np.errstate(over="ignore", invalid="ignore")
def bone_lengths(parents: Array, rest: Array, default: float) -> Array:
    """Return a length for each bone: to its farthest child on its axis, else the default.

    Args:
        parents: (n,) parent indices.
        rest: (n, 4, 4) of `rest_matrices`.
        default: metres.

    Returns:
        (n,) float64, never under `MIN_LENGTH`, nor so short that Blender's numbers cannot tell the ends apart.
    """
    children = np.flatnonzero(parents >= 0)
    owners = parents[children]
    to_child = rest[children, :3, 3] - rest[owners, :3, 3]
    along = np.einsum("ij,ij->i", to_child, rest[owners, :3, 1])
    distance = np.linalg.norm(to_child, axis=1)
    on_axis = (along > MIN_LENGTH) & (distance - along < ON_AXIS * distance)
    lengths = np.zeros(len(parents))
    np.maximum.at(lengths, owners[on_axis], along[on_axis])
    distance = np.nan_to_num(np.abs(rest[:, :3, 3]).max(axis=1, initial=0), posinf=0.0)
    return np.maximum(np.where(lengths > 0, lengths, max(default, MIN_LENGTH)), distance * FAR)


def build(model: PlacedModel, name: str, collection: Any, context: Any, default_length: float) -> BuiltArmature:
    """Make the armature object of a model and link it to a collection.

    Args:
        model: the model.
        name: of the object.
        collection: takes the object.
        context: Blender's; its active object is another one afterwards (the caller's transaction brings it back).
        default_length: metres, of bones whose children do not lie on their axis.
    """
    nodes = model.flver.nodes
    rest = rest_matrices(nodes, model.world)
    lengths = bone_lengths(nodes["parent"], rest, default_length)
    built = make(name, WantedBones(model.flver.node_names, nodes["parent"], rest, lengths), collection, context)
    bones = [built.object.data.bones[bone] for bone in built.bone_names]
    _keep_records(bones, model, built.rest)
    _sort_into_collections(built.object.data, bones, model)
    return built


@dataclass(frozen=True, eq=False)
class WantedBones:
    """Bones to be made.

    Attributes:
        names: wanted; Blender may cut and number them.
        parents: (n,) indices, -1 for none.
        rest: (n, 4, 4) rest matrices in Blender's axes.
        lengths: (n,) metres.
    """

    names: Sequence[str]
    parents: Array
    rest: Array
    lengths: Array


def make(name: str, bones: WantedBones, collection: Any, context: Any) -> BuiltArmature:
    """Make an armature object of bones and link it to a collection.

    Args:
        name: of the object.
        bones: its bones.
        collection: takes the object.
        context: Blender's; its active object is another one afterwards.
    """
    armature = bpy.data.armatures.new(shown_name(name))
    obj = bpy.data.objects.new(shown_name(name), armature)
    root = context.scene.collection
    root.objects.link(obj)  # edit mode wants an object that is visible, whatever the user's collections are
    context.view_layer.objects.active = obj
    bpy.ops.object.mode_set(mode="EDIT")
    try:
        names = _make_bones(armature, bones)
    finally:
        bpy.ops.object.mode_set(mode="OBJECT")
    root.objects.unlink(obj)
    collection.objects.link(obj)
    obj.show_in_front = True
    armature.display_type = "STICK"
    made = [armature.bones[bone] for bone in names]
    # numpy makes float32 of a matrix of Blender's, in which tails would be rounded otherwise than an export has them
    held = np.array([bone.matrix_local for bone in made], np.float64).reshape(-1, 4, 4)
    return BuiltArmature(obj, names, held, np.array([bone.length for bone in made]))


def _make_bones(armature: Any, wanted: WantedBones) -> list[str]:
    """Make bones in edit mode; return the names that Blender gave them."""
    bones = []
    for name, matrix, length in zip(wanted.names, wanted.rest.tolist(), wanted.lengths.tolist(), strict=True):
        bone = armature.edit_bones.new(shown_name(name) or "Bone")
        bone.tail = (0.0, length, 0.0)
        bone.matrix = Matrix(matrix)
        bones.append(bone)
    for bone, parent in zip(bones, wanted.parents.tolist(), strict=True):
        if parent >= 0:
            bone.parent = bones[parent]
    return [bone.name for bone in bones]


def _keep_records(bones: list[Any], model: PlacedModel, held: Array) -> None:
    """Keep each node's record, its world matrix, and the name and rest matrix that Blender holds for it."""
    for index, (bone, stored) in enumerate(zip(bones, model.flver.node_names, strict=True)):
        values = record_properties(model.flver.nodes[index], skip=("name_offset",))
        values |= {
            PREFIX + "index": index,
            PREFIX + "name": stored_text(stored),
            PREFIX + "world": model.world[index].ravel().tolist(),
            PREFIX + "bone": bone.name,
            PREFIX + "rest": held[index].ravel().tolist(),
        }
        set_properties(bone, values)


def _sort_into_collections(armature: Any, bones: list[Any], model: PlacedModel) -> None:
    """Sort bones by what uses them; those that nothing uses are hidden."""
    groups = {collection: armature.collections.new(collection) for collection in COLLECTIONS}
    for name, members in zip(COLLECTIONS, node_groups(model), strict=True):
        for index in np.flatnonzero(members):
            groups[name].assign(bones[index])
    groups["unused"].is_visible = False


def node_groups(model: PlacedModel) -> tuple[Array, Array, Array, Array]:
    """Return which nodes go into each of `COLLECTIONS`.

    Returns:
        Four (n,) bool arrays: nodes that move vertices or stand in a hierarchy, nodes that dummies name, nodes that
        meshes name, and nodes that are none of these.
    """
    flver = model.flver
    count = len(flver.nodes)
    parents = flver.nodes["parent"]
    skeleton, dummies, meshes = np.zeros((3, count), bool)
    nothing = np.zeros(0, np.int32)
    for field in ("parent", "attach"):
        _mark(dummies, named_nodes(flver.dummies[field], nothing, count))
    _mark(meshes, named_nodes(np.array([mesh.node for mesh in flver.meshes], np.int32), nothing, count))
    for placed in model.meshes:
        _mark(skeleton if placed.mesh.dynamic else meshes, placed.nodes[placed.weights > 0])
    _mark(skeleton, parents)
    skeleton |= parents >= 0
    return skeleton, dummies, meshes, ~(skeleton | dummies | meshes)


def _mark(used: Array, nodes: Array) -> None:
    used[nodes[nodes >= 0]] = True
