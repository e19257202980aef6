"""Vertices and primitives of a compressed mesh: slots, codes, runs."""

from __future__ import annotations

import numpy as np

from ...codec.binary import Array
from ...codec.havok.collision.decode import CUSTOM, QUAD
from ...codec.havok.collision.mesh import DATA_RUN, SECTION, CompressedMesh
from ...codec.havok.collision.packing import SHARED_STEPS, packed_codes, shared_codes
from ...codec.havok.collision.simd import empty_simd
from ...codec.havok.collision.trees import Nodes
from ...maths.runs import starts
from .customs import CustomWords, custom_slots, custom_words, place_points
from .flatness import turned_quads
from .layout import Layout
from .leaves import CustomPart, Leaves
from .settings import CompileSettings
from .slots import SharedVertices, Slots, number_slots, share
from .source import Rows

RUN_VALUE = 0xFFFF
QUARTER = np.float32(0.25)
FLAT_BYTE = 255


def store_vertices(
    rows: Rows, leaves: Leaves, layout: Layout, customs: list[CustomPart], settings: CompileSettings
) -> tuple[CompressedMesh, Array, CustomWords]:
    """Return a mesh without trees and bits, the key of each row, (m,) u4, and the records of custom primitives."""
    radius = np.float32(settings.radius)
    error = radius * QUARTER if settings.packed_error is None else np.float32(settings.packed_error)
    corners, kind = leaves.corners[layout.walk], leaves.kind[layout.walk]
    drawn = kind != CUSTOM
    owner = np.repeat(layout.section[drawn], 4)
    slots = number_slots(rows.vertices, corners[drawn].ravel(), owner, len(layout.counts), error)
    words = custom_words(customs, leaves, layout)
    shared = share(slots.shared, slots.num_shared, words.points)
    domain = mesh_domain(layout, settings)
    codes = shared_codes(rows.vertices[shared.vertices], domain[0], domain[1])
    codes[shared.vertices < 0] = 0
    place_points(words, shared, settings.sdk)
    mesh = _bare_mesh(layout, slots, shared, settings, domain)
    mesh.shared, mesh.packed = codes, _packed(rows.vertices, slots)
    mesh.shared_index, mesh.sections["num_shared"] = words.behind(shared.index, slots.num_shared)
    mesh.sections["first_shared"] = starts(mesh.sections["num_shared"])
    mesh.sections["flags"] = np.bincount(layout.section[~drawn], minlength=len(layout.counts)) > 0
    primitives = np.zeros((len(kind), 4), np.int64)
    primitives[drawn] = slots.of_corners.reshape(-1, 4)
    primitives[~drawn] = custom_slots(words, slots, layout, np.flatnonzero(~drawn), settings.sdk)
    turned = np.zeros(len(kind), bool)
    if settings.flat_quads:
        mesh.flat_convex = FLAT_BYTE
        turned = turned_quads(primitives, rows.vertices[corners], kind == QUAD)
        primitives[turned] = primitives[turned][:, [2, 3, 0, 1]]
    mesh.primitives = primitives[layout.stored].astype(np.uint8)
    return mesh, _row_keys(len(rows), leaves, layout, turned), words


def mesh_domain(layout: Layout, settings: CompileSettings) -> Array:
    """Return the box of the mesh, (2, 3) f4: the one given, where it holds the leaves to within a step of codes."""
    tree = layout.tree
    own = np.stack([tree.low[tree.root], tree.high[tree.root]])
    if settings.domain is None:
        return own
    given = np.array(settings.domain, np.float32)
    step = (given[1] - given[0]) * SHARED_STEPS
    holds = (own[0] >= given[0] - step).all() and (own[1] <= given[1] + step).all()
    return given if holds else own


def with_w(box: Array, radius: np.float32) -> Array:
    """Return boxes, (..., 2, 3) f4, with the fourth lanes that the games write: 1 - radius, 1 + radius."""
    lanes = np.array([np.float32(1) - radius, np.float32(1) + radius])
    return np.concatenate([box, np.broadcast_to(lanes[:, None], (*box.shape[:-1], 1))], axis=-1)


def empty_mesh(settings: CompileSettings) -> CompressedMesh:
    """Return a mesh without sections, whose keys have no bits (seed 003)."""
    nothing = Nodes(np.zeros((0, 3), np.uint8), np.zeros(0, bool), np.zeros(0, np.int64))
    radius = np.float32(settings.radius)
    mesh = CompressedMesh(
        np.zeros(0, SECTION), np.zeros((0, 4), np.uint8), np.zeros(0, np.uint32), np.zeros(0, np.uint64),
        np.zeros(0, np.uint16), np.zeros(0, DATA_RUN), with_w(np.zeros((2, 3), np.float32), radius), nothing, nothing,
        np.zeros(1, np.int64), has_simd=settings.simd if settings.sdk == "20180100" else None, key_count=0, key_bits=0,
        max_key=0, flat_convex=0, interior=np.zeros(0, bool), radius=float(radius),
    )  # fmt: skip
    mesh.simd = empty_simd(flagged=settings.sdk == "20180100")
    return mesh


def _bare_mesh(
    layout: Layout, slots: Slots, shared: SharedVertices, settings: CompileSettings, domain: Array
) -> CompressedMesh:
    """Return a mesh with its sections' table."""
    mesh = empty_mesh(settings)
    table = mesh.sections = np.zeros(len(layout.counts), SECTION)
    table["codec"], table["page"] = slots.codec, shared.pages
    table["num_packed"], table["first_packed"] = slots.num_packed, starts(slots.num_packed)
    table["num_primitives"], table["first_primitive"] = layout.counts, starts(layout.counts)
    table["num_runs"], table["first_run"] = 1, np.arange(len(table))
    mesh.runs = np.zeros(len(table), DATA_RUN)
    mesh.runs["value"], mesh.runs["count"] = RUN_VALUE, layout.counts
    mesh.domain = with_w(domain, np.float32(settings.radius))
    return mesh


def _packed(vertices: Array, slots: Slots) -> Array:
    owner = np.repeat(np.arange(len(slots.num_packed)), slots.num_packed)
    return packed_codes(vertices[slots.packed], slots.codec[owner, 0], slots.codec[owner, 1])


def _row_keys(count: int, leaves: Leaves, layout: Layout, turned: Array) -> Array:
    """Return the key of each row, (count,) u4; where a quad is turned its halves change places."""
    first = layout.section << 8 | layout.payload << 1
    halves = first[:, None] | (np.arange(2) ^ turned[:, None])
    rows = leaves.rows[layout.walk]
    keys = np.zeros(count, np.uint32)
    keys[rows[rows >= 0]] = halves[rows >= 0]
    return keys
