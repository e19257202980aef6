"""MTD: a material of Sekiro, the samplers of its shader with their texture paths, and its parameters.

A file is made of blocks (0, length, kind, version) and of values, each closed by a mark byte and zeros up to a multiple
of four. Found on the 3,170 materials of the game and verified on them by rewriting. In 83 of them, edited by hand, the
lengths of blocks are wrong: the reader goes by the contents, and the difference is kept and written back.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np

from .binary import Array, Buffer, Reader, Record, Writer, decode_text, encode_text
from .errors import FormatError

BLOCK = Record("MTD block", 0x10, (
    (0x00, "unk00", "u4", "0"),
    (0x04, "length", "u4", "bytes from the end of this field to the end of the block"),
    (0x08, "kind", "u4", "what the block holds"),
    (0x0C, "version", "u4", "of the kind"),
))  # fmt: skip

LENGTH_FROM = 8  # of a block: where its length counts from

# kind, version and mark of each block
FILE, HEAD, DATA, LISTS = (0, 3, 0x01), (1, 2, 0xB0), (2, 4, 0xA3), (3, 4, 0xA3)
PARAMETER, SAMPLER = (4, 4, 0xA3), (0x2000, 5, 0xA3)
# of the values: by kind of the block, its version and mark, and the dtype
VALUES = {"<u1": (0x1000, 1, 0xC0), "<i4": (0x1001, 1, 0xC5), "<f4": (0x1002, 1, 0xCA)}
TYPES = {"bool": "<u1", "int": "<i4", "int2": "<i4"}  # all others are floats

ENCODING = "cp932"
MAGIC, VERSION, SEPARATOR = "MTD ", 1000, 0x34
NAME_MARK, TEXT_MARK, TYPE_MARK, UV_MARK, PATH_MARK = 0xA3, 0x03, 0x04, 0x35, 0xBA


@dataclass(slots=True)
class Parameter:
    """A parameter of the shader.

    Attributes:
        name: such as ``g_BlendMode``.
        type: ``bool``, ``int``, ``int2``, ``float``, ... ``float4``.
        value: (k,) u1, i4 or f4.
        excess: by how much the stored lengths of its block and of the value's are too large.
    """

    name: str
    type: str
    value: Array
    excess: tuple[int, int] = (0, 0)


@dataclass(slots=True)
class Sampler:
    """A texture slot of the shader.

    Attributes:
        type: the name that a FLVER's texture slot has too.
        path: of the texture, empty where the slot is not used or the FLVER says it.
        uv_set: which UV set it goes by, 1 the first.
        unk: a number, mostly 0.
        scale: (2,) f4: how often the texture repeats along u and v; (0, 0) where nothing is said; rarely (0,).
        excess: by how much the stored length of its block is too large.
    """

    type: str
    path: str = ""
    uv_set: int = 1
    unk: int = 0
    scale: Array = field(default_factory=lambda: np.ones(2, "<f4"))
    excess: int = 0


@dataclass
class Mtd:
    """A material.

    Attributes:
        shader: path of its shader file.
        description: for people.
        parameters: in stored order.
        samplers: in stored order.
        excess: by how much the stored lengths of the file's, the data's and the lists' block are too large.
    """

    shader: str = ""
    description: str = ""
    parameters: list[Parameter] = field(default_factory=list)
    samplers: list[Sampler] = field(default_factory=list)
    excess: tuple[int, int, int] = (0, 0, 0)

    @classmethod
    def read(cls, data: Buffer, file: str = "") -> Mtd:
        """Read a file.

        Raises:
            FormatError: not a material of this version, or one that is cut off or damaged.
        """
        cursor = _Cursor(Reader(data, file))
        found = cls()
        whole = cursor.open(FILE)
        cursor.open(HEAD)
        if cursor.text(SEPARATOR) != MAGIC or cursor.number() != VERSION:
            cursor.reader.fail("not an MTD material", 0x28)
        cursor.mark(0x01)
        inner = cursor.open(DATA)
        found.shader, found.description = cursor.text(NAME_MARK), cursor.text(TEXT_MARK)
        cursor.constant(1)
        lists = cursor.open(LISTS)
        cursor.constant(0)
        cursor.mark(0x03)
        for i in range(cursor.count()):
            with cursor.reader.at(f"parameters[{i}]"):
                found.parameters.append(_read_parameter(cursor))
        cursor.mark(0x03)
        for i in range(cursor.count()):
            with cursor.reader.at(f"samplers[{i}]"):
                found.samplers.append(_read_sampler(cursor))
        ends = []
        for block in (lists, inner, whole):
            cursor.mark(0x04)
            cursor.constant(0)
            ends.append(cursor.excess(block))
        if cursor.position != len(cursor.reader):
            cursor.reader.fail("bytes follow the material", cursor.position)
        found.excess = (ends[2], ends[1], ends[0])
        return found

    def write(self) -> bytes:
        """Return the file's bytes.

        Raises:
            FormatError: a text that Shift-JIS has no form for, or a value of another type than its parameter's.
        """
        out = _Builder()
        with out.block(FILE, self.excess[0]):
            with out.block(HEAD):
                out.text(MAGIC, SEPARATOR)
                out.number(VERSION)
            out.mark(0x01)
            with out.block(DATA, self.excess[1]):
                out.text(self.shader, NAME_MARK)
                out.text(self.description, TEXT_MARK)
                out.number(1)
                with out.block(LISTS, self.excess[2]):
                    out.number(0)
                    out.mark(0x03)
                    self._write_lists(out)
                    out.end()
                out.end()
            out.end()
        return out.writer.getvalue()

    def _write_lists(self, out: _Builder) -> None:
        out.number(len(self.parameters))
        for parameter in self.parameters:
            _write_parameter(out, parameter)
        out.mark(0x03)
        out.number(len(self.samplers))
        for sampler in self.samplers:
            _write_sampler(out, sampler)

    def parameter(self, name: str) -> list[float]:
        """Return the numbers of a parameter; none where the material does not have it."""
        return next((each.value.tolist() for each in self.parameters if each.name == name), [])


def _read_parameter(cursor: _Cursor) -> Parameter:
    block = cursor.open(PARAMETER)
    name, kind = cursor.text(NAME_MARK), cursor.text(TYPE_MARK)
    cursor.constant(1)
    dtype = TYPES.get(kind, "<f4")
    inner = cursor.open(VALUES[dtype])
    value = cursor.values(dtype, cursor.number())
    inner_excess = cursor.excess(inner)
    cursor.mark(0x04)
    cursor.constant(0)
    return Parameter(name, kind, value, (cursor.excess(block), inner_excess))


def _write_parameter(out: _Builder, parameter: Parameter) -> None:
    dtype = TYPES.get(parameter.type, "<f4")
    if parameter.value.dtype != np.dtype(dtype):
        raise FormatError(f"{parameter.name} is a {parameter.type}, its value is {parameter.value.dtype}")
    with out.block(PARAMETER, parameter.excess[0]):
        out.text(parameter.name, NAME_MARK)
        out.text(parameter.type, TYPE_MARK)
        out.number(1)
        with out.block(VALUES[dtype], parameter.excess[1]):
            out.number(len(parameter.value))
            out.writer.array(parameter.value)
        out.end()


def _read_sampler(cursor: _Cursor) -> Sampler:
    block = cursor.open(SAMPLER)
    found = Sampler(cursor.text(UV_MARK))
    found.uv_set = cursor.number()
    cursor.mark(UV_MARK)
    found.unk = cursor.number()
    cursor.mark(NAME_MARK)
    found.path = cursor.text(PATH_MARK)
    found.scale = cursor.values("<f4", cursor.number())
    found.excess = cursor.excess(block)
    return found


def _write_sampler(out: _Builder, sampler: Sampler) -> None:
    with out.block(SAMPLER, sampler.excess):
        out.text(sampler.type, UV_MARK)
        out.number(sampler.uv_set)
        out.mark(UV_MARK)
        out.number(sampler.unk)
        out.mark(NAME_MARK)
        out.text(sampler.path, PATH_MARK)
        out.number(len(sampler.scale))
        out.writer.array(sampler.scale)


class _Cursor:
    """Reads front to back; a mark that is not there means that the reader has lost its way, and so is an error."""

    def __init__(self, reader: Reader) -> None:
        self.reader = reader
        self.position = 0

    def take(self, size: int, what: str) -> memoryview:
        found = self.reader.view(self.position, size, what)
        self.position += size
        return found

    def number(self) -> int:
        return int.from_bytes(self.take(4, "number"), "little", signed=True)

    def count(self) -> int:
        """Return how many blocks follow; each has at least a head."""
        start, found = self.position, self.number()
        self.reader.check(start, found * BLOCK.size, f"{found} blocks")
        return found

    def constant(self, value: int) -> None:
        start = self.position
        if (found := self.number()) != value:
            self.reader.fail(f"{found} where {value} stands in every known material", start)

    def mark(self, value: int) -> None:
        start = self.position
        found = self.take(4 - start % 4, "mark")
        if found[0] != value or any(found[1:]):
            self.reader.fail(f"mark {found[0]:#04x}, {value:#04x} expected", start)

    def text(self, mark: int) -> str:
        found = decode_text(self.take(self.number(), "text"), ENCODING)
        self.mark(mark)
        return found

    def values(self, dtype: str, count: int) -> Array:
        found = self.reader.array(dtype, self.position, count).copy()
        self.position += found.nbytes
        return found

    def open(self, block: tuple[int, int, int]) -> int:
        """Enter a block and return where it should end."""
        start = self.position
        unk, length, kind, version = (self.number() for _ in range(4))
        if (unk, kind, version) != (0, *block[:2]):
            self.reader.fail(f"a block of kind {kind:#x}, version {version}; {block[0]:#x}, {block[1]} expected", start)
        self.mark(block[2])
        return start + LENGTH_FROM + length

    def excess(self, end: int) -> int:
        """Return by how much the stored end of a block lies behind the end of what it holds."""
        return end - self.position


class _Builder:
    """The mirror of `_Cursor`."""

    def __init__(self) -> None:
        self.writer = Writer()

    def number(self, value: int) -> None:
        if not -(1 << 31) <= value < 1 << 31:
            raise FormatError(f"{value} does not fit an MTD material")
        self.writer.write(value.to_bytes(4, "little", signed=True))

    def mark(self, value: int) -> None:
        self.writer.write(bytes((value,)))
        self.writer.align(4)

    def text(self, text: str, mark: int) -> None:
        stored = encode_text(text, ENCODING)[:-1]
        self.number(len(stored))
        self.writer.write(stored)
        self.mark(mark)

    def end(self) -> None:
        self.mark(0x04)
        self.number(0)

    @contextmanager
    def block(self, block: tuple[int, int, int], excess: int = 0) -> Iterator[None]:
        kind, version, mark = block
        start = self.writer.tell()
        for value in (0, 0, kind, version):
            self.number(value)
        self.mark(mark)
        yield
        length = self.writer.tell() - start - LENGTH_FROM + excess
        self.writer.patch(start + 4, np.array([length], "<i4"))
