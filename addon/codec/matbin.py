"""MATBIN: a material of Elden Ring, the samplers of its shader with their texture paths, and its parameters.

Layout: known from open tools. No file of the game was at hand, so that reading and writing are tested with files of
this module's own making only. Numbers whose meaning is not known are kept and written back.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from .binary import Array, Buffer, Reader, Record, Writer, encode_text

HEADER = Record("MATBIN header", 0x38, (
    (0x00, "magic", "S4", "MAB"),
    (0x04, "version", "i4", "2"),
    (0x08, "shader_offset", "i8", "where the path of the shader is"),
    (0x10, "source_offset", "i8", "where the path of the material's source is"),
    (0x18, "key", "u4", "unknown"),
    (0x1C, "parameter_count", "i4", "number of parameters"),
    (0x20, "sampler_count", "i4", "number of samplers"),
    (0x24, "unk24", "V20", "0"),
))  # fmt: skip

PARAMETER = Record("MATBIN parameter", 0x28, (
    (0x00, "name_offset", "i8", "where the name is"),
    (0x08, "value_offset", "i8", "where the value is"),
    (0x10, "key", "u4", "unknown"),
    (0x14, "type", "u4", "0 bool, 4-5 one or two ints, 8-12 one to five floats"),
    (0x18, "unk18", "V16", "0"),
))  # fmt: skip

SAMPLER = Record("MATBIN sampler", 0x30, (
    (0x00, "type_offset", "i8", "where the sampler's name is"),
    (0x08, "path_offset", "i8", "where the path of its texture is"),
    (0x10, "key", "u4", "unknown"),
    (0x14, "scale", "2f4", "perhaps how often the texture repeats; mostly 0, 0"),
    (0x1C, "unk1C", "V20", "0"),
))  # fmt: skip

ENCODING = "utf-16-le"
REPEATS = 8
# by type: dtype and number of values
TYPES = {
    0: ("u1", 1), 4: ("<i4", 1), 5: ("<i4", 2),
    8: ("<f4", 1), 9: ("<f4", 2), 10: ("<f4", 3), 11: ("<f4", 4), 12: ("<f4", 5),
}  # fmt: skip


@dataclass(slots=True)
class Parameter:
    """A parameter of the shader.

    Attributes:
        name: such as ``g_AlphaRef``.
        value: its bytes; three floats are stored with two more behind them.
        record: 0-d array of `PARAMETER`; offsets are set anew on writing.
    """

    name: str
    value: bytes
    record: Array = field(default_factory=lambda: PARAMETER.zeros(1).reshape(()))

    @property
    def numbers(self) -> list[float]:
        """The value as numbers; none where the type is not known or bytes are missing."""
        dtype, count = TYPES.get(int(self.record["type"]), ("u1", 0))
        size = np.dtype(dtype).itemsize * count
        return np.frombuffer(self.value[:size], dtype).tolist() if len(self.value) >= size else []


@dataclass(slots=True)
class Sampler:
    """A texture slot of the shader.

    Attributes:
        type: the name that a FLVER's texture slot has too.
        path: of the texture, empty where the slot is not used.
        record: 0-d array of `SAMPLER`; offsets are set anew on writing.
    """

    type: str
    path: str = ""
    record: Array = field(default_factory=lambda: SAMPLER.zeros(1).reshape(()))

    @property
    def uv_set(self) -> int:
        """Which UV set it goes by: not stored, so the first."""
        return 1

    @property
    def scale(self) -> Array:
        """How often the texture repeats, (2,) f4; (0, 0) where nothing is said."""
        return self.record["scale"]


def _new_header() -> Array:
    header = HEADER.zeros(1).reshape(())
    header["magic"], header["version"] = b"MAB", 2
    return header


@dataclass
class Matbin:
    """A material.

    Attributes:
        shader: path of its shader file.
        source: path of what it was made from, a .matxml.
        parameters: in stored order.
        samplers: in stored order.
        header: 0-d array of `HEADER`; offsets and counts are set anew on writing.
    """

    shader: str = ""
    source: str = ""
    parameters: list[Parameter] = field(default_factory=list)
    samplers: list[Sampler] = field(default_factory=list)
    header: Array = field(default_factory=_new_header)

    @classmethod
    def read(cls, data: Buffer, file: str = "") -> Matbin:
        """Read a file.

        Raises:
            FormatError: not a MATBIN of this version, or a count or offset that lies outside the file.
        """
        reader = Reader(data, file, repeats=REPEATS)
        header = reader.record(HEADER, 0)
        if header["magic"].item() != b"MAB" or header["version"] != 2:
            reader.fail("not a MATBIN material", 0)
        parameters = reader.table(PARAMETER, HEADER.size, int(header["parameter_count"]))
        samplers = reader.table(SAMPLER, HEADER.size + parameters.nbytes, int(header["sampler_count"]))
        shader, source = (_text(reader, header[name], name) for name in ("shader_offset", "source_offset"))
        places = (
            parameters["name_offset"], parameters["value_offset"], samplers["type_offset"], samplers["path_offset"],
            header["shader_offset"], header["source_offset"], len(reader),
        )  # fmt: skip
        ends = np.unique(np.hstack(places))
        found = cls(shader, source, header=header)
        for i, row in enumerate(parameters):
            with reader.at(f"parameters[{i}]"):
                value = _value(reader, int(row["value_offset"]), ends)
                name = _text(reader, row["name_offset"], "name")
            found.parameters.append(Parameter(name, value, parameters[i : i + 1].reshape(())))
        for i, row in enumerate(samplers):
            with reader.at(f"samplers[{i}]"):
                kind, path = _text(reader, row["type_offset"], "type"), _text(reader, row["path_offset"], "path")
            found.samplers.append(Sampler(kind, path, samplers[i : i + 1].reshape(())))
        return found

    def write(self) -> bytes:
        """Return the file's bytes.

        Raises:
            FormatError: a text that cannot be stored.
        """
        writer = Writer()
        header = self.header.copy()
        header["parameter_count"], header["sampler_count"] = len(self.parameters), len(self.samplers)
        writer.reserve(HEADER.size + PARAMETER.size * len(self.parameters) + SAMPLER.size * len(self.samplers))
        rows = []
        for parameter in self.parameters:
            row = parameter.record.copy()
            row["name_offset"] = writer.write(encode_text(parameter.name, ENCODING))
            row["value_offset"] = writer.write(parameter.value)
            rows.append(row)
        for sampler in self.samplers:
            row = sampler.record.copy()
            row["type_offset"] = writer.write(encode_text(sampler.type, ENCODING))
            row["path_offset"] = writer.write(encode_text(sampler.path, ENCODING))
            rows.append(row)
        header["shader_offset"] = writer.write(encode_text(self.shader, ENCODING))
        header["source_offset"] = writer.write(encode_text(self.source, ENCODING))
        place = 0
        for row in (header, *rows):
            writer.patch(place, row)
            place += row.nbytes
        return writer.getvalue()

    def parameter(self, name: str) -> list[float]:
        """Return the numbers of a parameter; none where the material does not have it."""
        return next((each.numbers for each in self.parameters if each.name == name), [])


def _text(reader: Reader, offset: Array, what: str) -> str:
    return reader.string(int(offset), ENCODING, what)


def _value(reader: Reader, offset: int, ends: Array) -> bytes:
    """Return a value: what stands up to the next thing that something points to."""
    reader.check(offset, 1, "value")
    after = ends[np.searchsorted(ends, offset, side="right") :]
    return bytes(reader.view(offset, int(after[0]) - offset, "value"))
