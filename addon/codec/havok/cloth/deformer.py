"""Deformers: vertices carried by bones, or by the triangles of another mesh.

Blocks of 16 lanes hold vertices with one to four influences; a control byte a block tells which. Found on real files:
lanes that are not used repeat the block's last vertex, so a vertex written twice is read once, the later one.

========= ============================== ===========================================
control   object space                   bone space
========= ============================== ===========================================
0         4 influences, 16 vertices      4 influences, 4 vertices
1         3 influences, 16 vertices      3 influences, 5 vertices (one lane is spare)
2         2 influences, 16 vertices      2 influences, 8 vertices
3         1 influence, 16 vertices       1 influence, 16 vertices
========= ============================== ===========================================
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from ...binary import Array
from ..objects import View
from .values import unpack

LANES = 16
FACTORS = {4: "four", 3: "three", 2: "two", 1: "one"}
WEIGHT = np.array([0x3B808081], np.uint32).view(np.float32)[0]
"""What the games multiply a weight byte by, the float32 next to 1/255 (seed "Havok cloth data")."""


@dataclass(frozen=True, eq=False)
class Blend:
    """Vertices with the same number k of influences.

    Attributes:
        vertices: (n,) i4 in the output buffer; no vertex occurs twice in a deformer.
        sources: (n, k) i4 places in the operator's list of bones or triangles.
        weights: (n, k) f4; None in bone space, where local data hold them already, and for one influence.
        positions: object space (n, 3) f4 in the mesh's space; bone space (n, k, 4), one in each source's space, with
            its weight in the last lane.
        normals, tangents: (n, 3) or (n, k, 3) f4; None where the operator makes none.
    """

    vertices: Array
    sources: Array
    weights: Array | None
    positions: Array
    normals: Array | None
    tangents: Array | None

    def take(self, rows: Array) -> Blend:
        """Return some of the vertices: ``rows`` (n,) bool or (k,) indices."""
        columns = {column.name: getattr(self, column.name) for column in fields(self)}
        taken: dict[str, Any] = {name: None if values is None else values[rows] for name, values in columns.items()}
        return Blend(**taken)


def read_blends(view: View, deformer: str, local: str) -> tuple[Blend, ...]:
    """Read an operator's deformer.

    Args:
        view: the operator.
        deformer: name of the member with the entries.
        local: name of the member with the local data, "localPs" to "localPNTBs".

    Raises:
        FormatError: more influences than any game file has, or blocks and control bytes that do not fit.
    """
    entries = view.one(deformer)
    bone_space = "bone" in deformer.lower()
    control = entries.numbers("controlBytes", "u1")
    if (control > 3).any():
        entries.fail(f"control byte {int(control.max())}: more than four influences are not supported", "controlBytes")
    channels = _channels(view, local)
    if channels[0] is not None and len(channels[0]) != len(control):
        view.fail(f"{len(channels[0])} local blocks for {len(control)} control bytes", local)
    parts: list[tuple[Blend, Array]] = []
    for code, influences in enumerate((4, 3, 2, 1)):
        blocks = np.flatnonzero(control == code)
        list_of = entries.many(f"{FACTORS[influences]}BlendEntries")
        if len(list_of) != len(blocks):
            list_of.fail(f"{len(list_of)} blocks, the control bytes tell of {len(blocks)}")
        if len(blocks):
            own = [None if channel is None else channel[blocks] for channel in channels]
            read = _bone_block if bone_space else _object_block
            parts.append((read(list_of, influences, own), blocks))
    keep = _last_writes([(blend.vertices, blocks) for blend, blocks in parts])
    return tuple(blend.take(kept) for (blend, _), kept in zip(parts, keep, strict=True))


def _channels(view: View, local: str) -> list[Array | None]:
    """Return positions, normals and tangents, (blocks, 16, 3 or 4) f4 each; unpacked data stand in for packed."""
    packed, unpacked = view.many(local), view.many(local.replace("local", "localUnpacked", 1))
    source = packed if len(packed) or not len(unpacked) else unpacked
    names = ("localPosition", "localNormal", "localTangent")
    return [_channel(source, name) if name in source else None for name in names]


def _channel(blocks: View, name: str) -> Array:
    values = blocks[name]
    if isinstance(values, View):
        return unpack(values.numbers("values", "<i2", (4,)))
    return blocks.numbers(name, "<f4", (LANES, 4))


def _object_block(entries: View, k: int, channels: list[Array | None]) -> Blend:
    vertices = entries.numbers("vertexIndices", "<u2", (LANES,)).reshape(-1).astype(np.int32)
    sources = entries.numbers("boneIndices", "<u2", (LANES * k,)).reshape(-1, k).astype(np.int32)
    weights = None
    if k > 1:
        weights = entries.numbers("boneWeights", "u1", (LANES * k,)).reshape(-1, k).astype(np.float32) * WEIGHT
    local = [None if channel is None else channel[..., :3].reshape(-1, 3) for channel in channels]
    positions = local[0] if local[0] is not None else np.zeros((len(vertices), 3), np.float32)
    return Blend(vertices, sources, weights, positions, local[1], local[2])


def _bone_block(entries: View, k: int, channels: list[Array | None]) -> Blend:
    count = LANES // k
    vertices = entries.numbers("vertexIndices", "<u2", (count,)).reshape(-1).astype(np.int32)
    sources = entries.numbers("boneIndices", "<u2", (count * k,)).reshape(-1, k).astype(np.int32)
    local = []
    for channel, width in zip(channels, (4, 3, 3), strict=True):
        own = None if channel is None else channel[:, : count * k, :width].reshape(-1, k, width)
        local.append(own)
    positions = local[0] if local[0] is not None else np.zeros((len(vertices), k, 4), np.float32)
    return Blend(vertices, sources, None, positions, local[1], local[2])


def _last_writes(parts: list[tuple[Array, Array]]) -> list[Array]:
    """Return which rows of each part are the last, in the order of the blocks, to write their vertex.

    Args:
        parts: (n,) vertices, the same number a block, and (blocks,) places of the blocks.
    """
    if not parts:
        return []
    vertices = np.concatenate([rows for rows, _ in parts])
    time = np.concatenate([np.repeat(blocks, len(rows) // len(blocks)) for rows, blocks in parts])
    order = np.lexsort((np.arange(len(time)), time, vertices))
    last = np.ones(len(order), np.bool_)
    last[:-1] = vertices[order][1:] != vertices[order][:-1]
    kept = np.zeros(len(order), np.bool_)
    kept[order[last]] = True
    return np.split(kept, np.cumsum([len(rows) for rows, _ in parts])[:-1])
