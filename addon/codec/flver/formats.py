"""Vertex formats: how each semantic is stored in each type, in one table for both directions."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import numpy as np

from ..binary import Array
from ..errors import FormatError


class Semantic(IntEnum):
    """What a layout member holds."""

    POSITION = 0
    WEIGHTS = 1
    BONES = 2
    NORMAL = 3
    UV = 5
    TANGENT = 6
    BITANGENT = 7
    COLOR = 10


EDGE_COMPRESSED = 0xF0
NODES_MAX = 1 << 15  # nodes are numbered in 16 bits
NOT_STORED = -32768  # a member's `special` where the vertex does not hold it (SpeedTree)

# type code: (name, numpy dtype without byte order)
TYPES: dict[int, tuple[str, str]] = {
    0x00: ("float1", "(1,)f4"),
    0x01: ("float2", "2f4"),
    0x02: ("float3", "3f4"),
    0x03: ("float4", "4f4"),
    0x10: ("byte4 A", "4u1"),
    0x11: ("byte4 B", "4u1"),
    0x12: ("signed byte4", "4i1"),
    0x13: ("byte4 C", "4u1"),
    0x14: ("signed byte4 norm", "4i1"),
    0x15: ("short2", "2i2"),
    0x16: ("short4", "4i2"),
    0x17: ("ushort2", "2u2"),
    0x18: ("ushort4", "4u2"),
    0x1A: ("short4 norm", "4i2"),
    0x2D: ("half2", "2i2"),
    0x2E: ("short4 E", "4i2"),
    0x2F: ("byte4 E", "4u1"),
    EDGE_COMPRESSED: ("edge compressed", "(1,)u1"),
}


@dataclass(frozen=True)
class Coding:
    """A way to store numbers: ``value = (raw[order] - zero) / one``.

    Attributes:
        order: which stored components make the value, in the value's order.
        kind: the component's dtype where it is not that of the type ("" = as the type says).
        zero: raw number that stands for 0.
        one: raw step that stands for 1; 0 = the file's UV factor.
        node: the stored component that names a node, -1 where there is none.
        node_kind: the dtype of that component.
    """

    order: tuple[int, ...]
    kind: str = ""
    zero: int = 0
    one: float = 1.0
    node: int = -1
    node_kind: str = ""

    def decode(self, raw: Array, uv_factor: float = 1.0) -> Array:
        """Return the value of stored components.

        Args:
            raw: (n, c) in the type's dtype.
            uv_factor: raw step of one UV unit.

        Returns:
            (n, k) float32.
        """
        part = _as_kind(raw, self.kind)[:, list(self.order)].astype(np.float32)
        one = np.float32(self.one or uv_factor)
        if self.zero:
            part -= np.float32(self.zero)
        return part if one == 1.0 else part / one

    def encode(self, values: Array, raw: Array, uv_factor: float = 1.0) -> None:
        """Store values, rounded to the nearest that the type holds, into the components that they make.

        Values past the type's range become its ends, NaN becomes 0.

        Args:
            values: (n, k).
            raw: (n, c) in the type's dtype, changed in place.
            uv_factor: raw step of one UV unit.

        Raises:
            FormatError: a bone index past the type's range.
        """
        target = _as_kind(raw, self.kind)
        columns = list(self.order)
        if target.dtype.kind == "f":
            target[:, columns] = values
            return
        if self.one == 1.0:
            _check_fits(values, target.dtype, "bone")
        limits = np.iinfo(target.dtype)
        steps = np.rint(np.nan_to_num(np.asarray(values, np.float64)) * (self.one or uv_factor)) + self.zero
        target[:, columns] = np.clip(steps, limits.min, limits.max)

    def decode_node(self, raw: Array) -> Array | None:
        """Return the (n,) int32 node index stored with a normal, None where this coding has none."""
        if self.node < 0:
            return None
        stored = _as_kind(raw, self.node_kind)[:, self.node]
        if stored.dtype.kind == "f":
            stored = np.where(np.abs(stored) < NODES_MAX, stored, np.float32(-1))  # NaN as well
        return stored.astype(np.int32)

    def encode_node(self, nodes: Array, raw: Array) -> None:
        """Store (n,) node indices into the component that holds them, if there is one.

        Where that holds a real number which stands for the same node, it stays.

        Raises:
            FormatError: a node index past the component's range.
        """
        if self.node < 0:
            return
        target = _as_kind(raw, self.node_kind)
        if target.dtype.kind != "f":
            _check_fits(nodes, target.dtype, "node")
        other = np.flatnonzero(self.decode_node(raw) != nodes)
        target[other, self.node] = nodes[other]


def _check_fits(indices: Array, dtype: np.dtype[Any], what: str) -> None:
    limits = np.iinfo(dtype)
    wild = indices[(indices < limits.min) | (indices > limits.max)]
    if wild.size:
        raise FormatError(f"{what} {int(wild.flat[0])} does not fit its type, which ends at {limits.max}")


def _as_kind(raw: Array, kind: str) -> Array:
    """Reinterpret components as another dtype of the same size, keeping the byte order."""
    if not kind:
        return raw
    return raw.view(np.dtype(kind).newbyteorder(">" if raw.dtype.byteorder == ">" else "<"))


_XYZ, _XYZW, _XY = (0, 1, 2), (0, 1, 2, 3), (0, 1)
_BYTE_NORMAL = Coding(_XYZ, zero=127, one=127, node=3)
_BYTE_TANGENT = Coding(_XYZW, zero=127, one=127)
_UV_PAIR, _UV_TWO_PAIRS = Coding(_XY, one=0), Coding(_XYZW, one=0)
_BYTES = (0x10, 0x11, 0x13, 0x2F)

CODINGS: dict[tuple[int, int], Coding] = {
    (Semantic.POSITION, 0x02): Coding(_XYZ),
    (Semantic.POSITION, 0x03): Coding(_XYZ),
    (Semantic.WEIGHTS, 0x03): Coding(_XYZW),
    (Semantic.WEIGHTS, 0x10): Coding(_XYZW, "i1", one=127),
    (Semantic.WEIGHTS, 0x13): Coding(_XYZW, one=255),
    (Semantic.WEIGHTS, 0x16): Coding(_XYZW, zero=-32768, one=65535),
    (Semantic.WEIGHTS, 0x1A): Coding(_XYZW, one=32767),
    (Semantic.BONES, 0x11): Coding(_XYZW),
    (Semantic.BONES, 0x12): Coding(_XYZW, "u1"),
    (Semantic.BONES, 0x2F): Coding(_XYZW),
    (Semantic.BONES, 0x17): Coding(_XY),
    (Semantic.BONES, 0x18): Coding(_XYZW),
    (Semantic.NORMAL, 0x02): Coding(_XYZ),
    (Semantic.NORMAL, 0x03): Coding(_XYZ, node=3),
    **{(Semantic.NORMAL, code): _BYTE_NORMAL for code in _BYTES},
    (Semantic.NORMAL, 0x12): Coding((3, 2, 1), one=127, node=0, node_kind="u1"),
    (Semantic.NORMAL, 0x1A): Coding(_XYZ, one=32767, node=3),
    (Semantic.NORMAL, 0x18): Coding(_XYZ, zero=32767, one=32767, node=3),
    (Semantic.NORMAL, 0x2E): Coding(_XYZ, "u2", zero=32767, one=32767, node=3),
    (Semantic.TANGENT, 0x03): Coding(_XYZW),
    **{(Semantic.TANGENT, code): _BYTE_TANGENT for code in _BYTES},
    (Semantic.TANGENT, 0x14): Coding((3, 2, 1, 0), one=127),
    (Semantic.TANGENT, 0x1A): Coding(_XYZW, one=32767),
    **{(Semantic.BITANGENT, code): _BYTE_TANGENT for code in _BYTES},
    (Semantic.COLOR, 0x03): Coding(_XYZW),
    (Semantic.COLOR, 0x10): Coding(_XYZW, one=255),
    (Semantic.COLOR, 0x13): Coding(_XYZW, one=255),
    (Semantic.UV, 0x01): Coding(_XY),
    (Semantic.UV, 0x02): Coding(_XY),
    (Semantic.UV, 0x03): Coding(_XYZW),
    **{(Semantic.UV, code): _UV_PAIR for code in (0x10, 0x11, 0x12, 0x15, 0x2D)},
    **{(Semantic.UV, code): _UV_TWO_PAIRS for code in (0x16, 0x1A, 0x2E)},
    (Semantic.UV, 0x13): Coding(_XYZW, one=255),
}

FACTORS_NOT_UV = 0x13  # four bytes under the UV semantic: wind and blend factors


def field_type(semantic: int, code: int) -> str | None:
    """Return the numpy dtype, without byte order, that a member's bytes are read in; None for an unknown type."""
    if semantic == Semantic.UV and code in (0x10, 0x11, 0x12):
        return "2i2"  # two shorts, whatever the type's name says
    return TYPES[code][1] if code in TYPES else None


def uv_factor(version: int) -> float:
    """Return the raw step of one UV unit in a file's version."""
    return 2048.0 if version >= 0x2000F else 1024.0
