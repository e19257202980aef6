"""The compiler against what the games' own tool made of the same meshes."""

from __future__ import annotations

import numpy as np
import pytest

from addon.codec import Dcx, Tagfile, read_collision
from addon.codec.havok.collision.decode import CUSTOM, QUAD
from addon.codec.havok.collision.keys import width_for
from addon.codec.havok.collision.replacing import replace_collision
from addon.codec.havok.collision.shapes import MeshShape
from addon.codec.havok.collision.trees import walk
from addon.codec.havok.collision.writing import write_collision
from addon.codec.source import open_source
from addon.collision import check
from addon.collision.compiler import CompileSettings, compile_mesh
from addon.collision.compiler.binary import BinaryTree, Preorder
from addon.collision.compiler.cut import cut_sections
from addon.collision.compiler.flatness import is_flat
from addon.collision.compiler.interior import interior_bits
from addon.collision.compiler.layout import Layout
from addon.collision.compiler.nibbles import nibbles_for
from addon.collision.compiler.quads import pair_quads
from addon.collision.compiler.rebuild import set_boxes
from addon.collision.compiler.slots import number_slots
from addon.collision.compiler.source import keep_rows
from addon.collision.corners import corner_points

MAP, TOOL, RAGDOLL = "map", "tool", "ragdoll"
ROOM = np.float32(1e9)


@pytest.fixture(scope="module")
def map_file(corpus):
    data = Dcx.read(corpus("eldenring/h_collision.hkx.dcx").read_bytes()).content
    compendium = Dcx.read(corpus("eldenring/h_collision.compendium.dcx").read_bytes()).content
    return bytes(data), Tagfile.read(compendium)


@pytest.fixture(scope="module")
def shapes(corpus, map_file) -> dict[str, MeshShape]:
    ragdoll = next(
        member
        for member in open_source(corpus("eldenring/c4500.chrbnd.dcx")).members
        if member.name.lower().endswith("c4500.hkx")
    )
    tags = {
        MAP: Tagfile.read(*map_file),
        TOOL: Tagfile.read(corpus("eldenring/tool_made_collision.hkx").read_bytes()),
        RAGDOLL: Tagfile.read(ragdoll.data(), ragdoll.compendium),
    }
    found = {}
    for name, tag in tags.items():
        (found[name],) = (body.shape for body in read_collision(tag) if isinstance(body.shape, MeshShape))
    return found


def source_of(shape: MeshShape):
    """Return vertices, triangles and materials as the rows of the table name them; without a table in key order."""
    decoded, table = shape.decoded, shape.mesh.materials
    if table is None:
        return decoded.vertices, decoded.triangles, decoded.materials
    order = np.argsort(decoded.row)
    vertices = np.zeros((int(table.vertices.max()) + 1, 3), "f4")
    vertices[table.vertices[decoded.row]] = decoded.vertices[decoded.triangles]
    return vertices, table.vertices, decoded.materials[order]


def settings_of(shape: MeshShape, **others) -> CompileSettings:
    domain = tuple(map(tuple, shape.mesh.domain[:, :3].tolist()))
    return CompileSettings(radius=shape.radius, domain=domain, **others)


def test_the_map_mesh_is_compiled_byte_for_byte(map_file, shapes):
    made = compile_mesh(*source_of(shapes[MAP]), settings_of(shapes[MAP]))
    assert not len(made.left_out)
    tag = Tagfile.read(*map_file)
    (body,) = read_collision(tag)
    body.shape = made.shape
    replace_collision(tag, [body])
    assert tag.write() == map_file[0]


def test_a_new_file_is_the_map_file_but_for_its_drag(map_file, shapes):
    data, compendium = map_file
    tag = Tagfile.read(data, compendium)
    (body,) = read_collision(tag)
    body.shape = compile_mesh(*source_of(shapes[MAP]), settings_of(shapes[MAP])).shape
    made = write_collision("20180100", [body], compendium)
    for file in (tag, made):
        (record,) = next(file.find("hknpPhysicsSystemData")).many("bodyCinfos")
        record["dragProperties"] = None  # follows from the mesh by a rule that is not known
        record["orientation"] = [0, 0, 0, 1]  # stored one unit in the last place short of it
    assert made.write() == tag.write()


@pytest.mark.parametrize(("name", "bits", "held"), [(MAP, 23, 3), (TOOL, 220, 11), (RAGDOLL, 908, 132)])
def test_interior_bits(shapes, name, bits, held):
    shape = shapes[name]
    found = interior_bits(shape.mesh, shape.primitives, shape.decoded)
    assert (len(found), int(found.sum())) == (bits, held)
    np.testing.assert_array_equal(found, shape.mesh.interior)


@pytest.mark.parametrize(("name", "count"), [(MAP, 3), (TOOL, 100), (RAGDOLL, 293)])
def test_quads(shapes, name, count):
    decoded = shapes[name].decoded
    order = np.argsort(decoded.row, kind="stable")
    rows = keep_rows(decoded.vertices, decoded.triangles[order], decoded.primitive_data[order])
    assert not len(rows.left_out)
    found = decoded.keys[order][rows.source[pair_quads(rows)]]
    halves = decoded.keys[decoded.half == 1]
    assert len(halves) == count
    assert sorted(map(tuple, found.tolist())) == sorted((key - 1, key) for key in halves.tolist())


@pytest.mark.parametrize(("name", "nodes"), [(MAP, 23), (RAGDOLL, 626)])
def test_nibbles(shapes, name, nodes):
    """From decoded vertices, with each parent as stored: those of the map are exact, those of the ragdoll nearly."""
    mesh, primitives = shapes[name].mesh, shapes[name].primitives
    stored = mesh.section_nodes
    domains = mesh.sections["domain"][:, :, :3]
    roots, ends = mesh.section_starts[:-1], mesh.section_starts[1:]
    walked = walk(stored, roots, ends, domains)
    section = np.repeat(np.arange(len(roots)), ends - roots)
    boxes = held_boxes(shapes[name], walked, section)
    outer = np.where((walked.parent < 0)[:, None, None], domains[section], walked.boxes[walked.parent])
    found = nibbles_for(outer, boxes)
    parts = [np.stack([nibble >> 4, nibble & 15], axis=-1).astype(int) for nibble in (found, stored.nibbles)]
    assert parts[0].size == 6 * nodes
    assert len(primitives.kind) == nodes - (nodes - len(roots)) // 2
    equal = int((parts[0] == parts[1]).sum())
    assert equal >= {MAP: 138, RAGDOLL: 3698}[name]
    assert np.abs(parts[0] - parts[1]).max() <= 1


def held_boxes(shape: MeshShape, walked, section) -> np.ndarray:
    """Return what each node of the section trees holds: vertices grown by the radius."""
    mesh, nodes = shape.mesh, shape.mesh.section_nodes
    points = corner_points(shape.primitives, shape.decoded)
    radius = np.float32(mesh.radius)
    boxes = np.empty((len(nodes), 2, 3), "f4")
    boxes[:, 0], boxes[:, 1] = ROOM, -ROOM
    leaf = np.flatnonzero(~nodes.inner)
    place = mesh.sections["first_primitive"][section[leaf]] + nodes.value[leaf]
    boxes[leaf, 0], boxes[leaf, 1] = points[place].min(axis=1) - radius, points[place].max(axis=1) + radius
    for depth in range(int(walked.depth.max()), 0, -1):
        level = np.flatnonzero(walked.depth == depth)
        np.minimum.at(boxes[:, 0], walked.parent[level], boxes[level, 0])
        np.maximum.at(boxes[:, 1], walked.parent[level], boxes[level, 1])
    return boxes


def test_mesh_tree_nibbles(shapes):
    for name in (MAP, RAGDOLL):
        mesh = shapes[name].mesh
        walked = walk(mesh.tree, np.array([0]), np.array([len(mesh.tree)]), mesh.domain[None, :, :3])
        boxes = np.empty((len(mesh.tree), 2, 3), "f4")
        boxes[:, 0], boxes[:, 1] = ROOM, -ROOM
        leaf = np.flatnonzero(~mesh.tree.inner)
        boxes[leaf] = mesh.sections["domain"][mesh.tree.value[leaf]][:, :, :3]
        for node in range(len(boxes) - 1, 0, -1):
            up = walked.parent[node]
            boxes[up] = np.stack([np.minimum(boxes[up, 0], boxes[node, 0]), np.maximum(boxes[up, 1], boxes[node, 1])])
        outer = np.concatenate([mesh.domain[None, :, :3], walked.boxes[walked.parent[1:]]])
        np.testing.assert_array_equal(nibbles_for(outer, boxes), mesh.tree.nibbles)


def stored_tree(shape: MeshShape) -> tuple[BinaryTree, np.ndarray]:
    """Return the one tree that a mesh's trees are the pieces of; leaf n is primitive n."""
    mesh, primitives = shape.mesh, len(shape.primitives.kind)
    children: list[tuple[int, int]] = []

    def read(nodes, place: int, leaf) -> int:
        if not nodes.inner[place]:
            return leaf(int(nodes.value[place]))
        pair = read(nodes, place + 1, leaf), read(nodes, place + 2 * int(nodes.value[place]), leaf)
        children.append(pair)
        return primitives + len(children) - 1

    def section(number: int) -> int:
        first = int(mesh.sections["first_primitive"][number])
        return read(mesh.section_nodes, int(mesh.section_starts[number]), lambda payload: first + payload)

    root = read(mesh.tree, 0, section)
    boxes = np.zeros((2 * primitives - 1, 3), "f4")
    tree = BinaryTree(primitives, np.array(children), root, boxes, boxes.copy())
    points = corner_points(shape.primitives, shape.decoded)
    tree.low[:primitives], tree.high[:primitives] = points.min(axis=1), points.max(axis=1)
    set_boxes(tree)
    return tree, vertex_numbers(shape)


def vertex_numbers(shape: MeshShape) -> np.ndarray:
    """Return decoded vertex numbers of the corners of each primitive, (n, 4)."""
    decoded = shape.decoded
    corners = decoded.triangles[decoded.half == 0][:, [0, 1, 2, 2]].copy()
    corners[np.flatnonzero(shape.primitives.kind == QUAD), 3] = decoded.triangles[decoded.half == 1, 2]
    return corners


@pytest.mark.parametrize(("name", "sections"), [(MAP, 1), (RAGDOLL, 4)])
def test_sections_leaf_orders_and_runs(shapes, name, sections):
    """Where the stored tree is cut, which number sections have, and where their primitives stand."""
    shape = shapes[name]
    tree, corners = stored_tree(shape)
    order = Preorder.of(tree)
    layout = Layout.of(tree, order, cut_sections(tree, order, lambda leaves: len(np.unique(corners[leaves]))))
    mesh = shape.mesh
    assert len(layout.counts) == sections
    np.testing.assert_array_equal(layout.counts, mesh.sections["num_primitives"])
    np.testing.assert_array_equal(layout.walk[layout.stored], np.arange(len(corners)))
    np.testing.assert_array_equal(layout.roots, mesh.section_starts)
    np.testing.assert_array_equal(layout.sizes > 1, mesh.section_nodes.inner)
    first = mesh.sections["first_primitive"]
    np.testing.assert_array_equal(first, np.cumsum(layout.counts) - layout.counts)


@pytest.mark.parametrize("name", [MAP, TOOL, RAGDOLL])
def test_key_widths(shapes, name):
    mesh, kind = shapes[name].mesh, shapes[name].primitives.kind
    largest = int((shapes[name].primitives.keys + (kind == QUAD)).max())
    assert (mesh.max_key, mesh.key_bits, mesh.shape_bits) == (largest, width_for(largest), width_for(largest))
    assert mesh.key_count == len(kind) + int((kind == QUAD).sum())
    assert not (kind == CUSTOM).any()


def test_the_ragdoll_shares_what_several_sections_use(shapes):
    shape = shapes[RAGDOLL]
    mesh, decoded = shape.mesh, shape.decoded
    corners = vertex_numbers(shape)
    section = np.repeat(shape.primitives.section.astype(int), 4)
    slots = number_slots(decoded.vertices, corners.ravel().astype(int), section, 4, np.float32(mesh.radius / 4))
    np.testing.assert_array_equal(slots.num_packed, mesh.sections["num_packed"])
    np.testing.assert_array_equal(slots.num_shared, mesh.sections["num_shared"])
    # the same step, but for the rounding of decoded extremes
    np.testing.assert_allclose(slots.codec, mesh.sections["codec"], rtol=1e-5, atol=1e-6)
    own = shape.primitives.slots.ravel() < mesh.sections["num_packed"][section]
    np.testing.assert_array_equal(slots.of_corners < slots.num_packed[section], own)


def test_flat_quads_of_the_ragdoll(shapes):
    shape = shapes[RAGDOLL]
    quads = shape.primitives.kind == QUAD
    slots = shape.primitives.slots[quads].astype(int)
    assert shape.mesh.flat_convex == 255
    points = corner_points(shape.primitives, shape.decoded)[quads]
    assert int((slots[:, 1] > slots[:, 3]).sum()) == 287
    np.testing.assert_array_equal(is_flat(points), slots[:, 1] > slots[:, 3])


def test_the_ragdoll_compiled_again(shapes):
    """Decoded vertices are not the source, and near the boundaries of bins that shows; the sections are the same."""
    shape = shapes[RAGDOLL]
    settings = settings_of(shape, flat_quads=True, simd=False, rows=False)
    made = compile_mesh(shape.decoded.vertices, shape.decoded.triangles, shape.decoded.materials, settings)
    mesh = made.shape.mesh
    assert check(mesh) == []
    for name in ("num_primitives", "num_packed", "num_shared"):
        assert sorted(mesh.sections[name]) == sorted(shape.mesh.sections[name])
    assert (mesh.max_key, mesh.key_bits, mesh.key_count) == (shape.mesh.max_key, 10, 608)
    assert (mesh.has_simd, len(mesh.simd.kind), mesh.rows) == (False, 2, None)
