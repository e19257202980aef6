"""Bytes with bounds: record tables, a checked reader and a back-patching writer.

A record is a table of rows ``(offset, name, dtype, meaning)`` in the order of the format. The table is the numpy
dtype, the documentation and the test at once: it must name every byte of the record, without gap or overlap.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from .errors import FormatError

Buffer = bytes | bytearray | memoryview
Array = npt.NDArray[Any]
Row = tuple[int, str, str, str]


@dataclass(frozen=True)
class Record:
    """A fixed-size record of a format.

    Attributes:
        name: what the record is called in messages.
        size: bytes of one record.
        rows: ``(offset, field name, numpy dtype without byte order, meaning)``, one a field.
    """

    name: str
    size: int
    rows: tuple[Row, ...]

    def __post_init__(self) -> None:
        end = 0
        for offset, field, dtype, _meaning in self.rows:
            if offset != end:
                raise ValueError(f"{self.name}.{field} stands at {offset:#x}, the field before it ends at {end:#x}")
            end += np.dtype(dtype).itemsize
        if end != self.size:
            raise ValueError(f"{self.name} has fields for {end:#x} bytes of {self.size:#x}")

    @cached_property
    def dtype(self) -> np.dtype[Any]:
        """The record as a little-endian numpy dtype; models hold their tables in it, whatever the file's order."""
        return np.dtype([(field, np.dtype(dtype).newbyteorder("<")) for _offset, field, dtype, _meaning in self.rows])

    def zeros(self, count: int) -> Array:
        """Return ``count`` records of zero bytes, (count,) of `dtype`."""
        return np.zeros(count, self.dtype)


class Reader:
    """A bounds-checked view of a file's bytes.

    Every read checks its range first and raises `FormatError` with the file, the offset and the trail of records that
    the caller has entered with `at`. Nothing is allocated from a count before the bytes for it are known to exist.
    """

    def __init__(self, data: Buffer, file: str = "", *, big_endian: bool = False, repeats: int | None = None) -> None:
        """Look at ``data``.

        Args:
            data: the file.
            file: its name for messages.
            big_endian: byte order of its numbers.
            repeats: how many times its own length may be read in all. A damaged file may refer to the same bytes from
                thousands of records; this keeps time and memory in proportion to the file. None = no limit.
        """
        self.data = memoryview(data).toreadonly().cast("B")
        self.file = file
        self.big_endian = big_endian
        self._bytes = np.frombuffer(self.data, np.uint8)
        self._trail: list[str] = []
        self._left = None if repeats is None else repeats * len(self.data)

    def __len__(self) -> int:
        return len(self.data)

    @contextmanager
    def at(self, step: str) -> Iterator[None]:
        """Enter a record: its name becomes part of the trail of errors raised inside."""
        self._trail.append(step)
        try:
            yield
        finally:
            self._trail.pop()

    def fail(self, what: str, offset: int | None = None, step: str = "") -> NoReturn:
        """Raise `FormatError` at this place."""
        trail = ".".join([*self._trail, step] if step else self._trail)
        raise FormatError(what, self.file, offset, trail)

    def check(self, offset: int, size: int, what: str) -> None:
        """Raise unless ``size`` bytes exist at ``offset``."""
        if offset < 0 or size < 0 or offset + size > len(self.data):
            self.fail(f"{what} needs {size} bytes, the file ends at {len(self.data):#x}", offset)
        if self._left is not None:
            self._left -= size
            if self._left < 0:
                self.fail("the records refer to the same bytes over and over", offset)

    def view(self, offset: int, size: int, what: str = "data") -> memoryview:
        """Return a view of ``size`` bytes at ``offset``."""
        self.check(offset, size, what)
        return self.data[offset : offset + size]

    def array(self, dtype: npt.DTypeLike, offset: int, count: int, what: str = "array") -> Array:
        """Return a read-only (count,) view in the file's byte order.

        ``dtype`` is written without byte order; a structured dtype is taken as it is when the file is little-endian.
        """
        kind = np.dtype(dtype).newbyteorder(">" if self.big_endian else "<")
        size = count * kind.itemsize if count > 0 else count
        self.check(offset, size, what)
        return self._bytes[offset : offset + size].view(kind)

    def table(self, record: Record, offset: int, count: int) -> Array:
        """Return ``count`` records as a writable little-endian copy, (count,) of ``record.dtype``."""
        return self.array(record.dtype, offset, count, f"{count} x {record.name}").astype(record.dtype)

    def record(self, record: Record, offset: int) -> Array:
        """Return one record as a writable 0-d array of ``record.dtype``."""
        return self.table(record, offset, 1)[0:1].reshape(())

    def string(self, offset: int, encoding: str, what: str = "name") -> str:
        """Return the NUL-terminated string at ``offset``; see `decode_text` for what undecodable bytes become."""
        self.check(offset, 1, what)
        width = 2 if encoding.startswith("utf-16") else 1
        end = self._terminator(offset, width)
        if end < 0:
            self.fail(f"{what} has no end", offset)
        self.check(offset, end - offset, what)
        return decode_text(self.data[offset:end], encoding)

    def _terminator(self, offset: int, width: int) -> int:
        """Return the offset of the NUL that ends the string at ``offset``, or -1."""
        step = 256
        start = offset
        while start < len(self.data):
            stop = min(start + step * width, len(self.data))
            chunk = self.data[start:stop].tobytes()
            end = chunk.find(b"\0" * width)
            while end >= 0 and end % width:
                end = chunk.find(b"\0" * width, end + 1)
            if end >= 0:
                return start + end
            start, step = stop, step * 8
        return -1


class Writer:
    """Bytes written front to back, with offsets filled in later."""

    def __init__(self, *, big_endian: bool = False) -> None:
        self.big_endian = big_endian
        self._out = bytearray()

    def tell(self) -> int:
        """Return the offset at which the next byte goes."""
        return len(self._out)

    def align(self, step: int) -> int:
        """Write zeros up to the next multiple of ``step`` and return the offset."""
        self._out += bytes(-len(self._out) % step)
        return len(self._out)

    def write(self, data: Buffer) -> int:
        """Write ``data`` and return where it stands."""
        offset = len(self._out)
        self._out += data
        return offset

    def reserve(self, size: int) -> int:
        """Write ``size`` zero bytes, to be filled by `patch`, and return where they stand."""
        return self.write(bytes(size))

    def array(self, values: Array) -> int:
        """Write an array in the file's byte order and return where it stands."""
        return self.write(self._ordered(values))

    def patch(self, offset: int, values: Array) -> None:
        """Write an array, in the file's byte order, over bytes that are already there."""
        data = self._ordered(values)
        self._out[offset : offset + len(data)] = data

    def getvalue(self) -> bytes:
        """Return all that was written."""
        return bytes(self._out)

    def _ordered(self, values: Array) -> bytes:
        return values.astype(values.dtype.newbyteorder(">" if self.big_endian else "<"), copy=False).tobytes()


def text_encoding(*, unicode: bool, big_endian: bool) -> str:
    """Return the codec name of a format's strings: UTF-16 in the file's byte order, else Shift-JIS."""
    if not unicode:
        return "cp932"
    return "utf-16-be" if big_endian else "utf-16-le"


def decode_text(data: Buffer, encoding: str) -> str:
    """Decode stored text so that `encode_text` turns it back into the same bytes.

    Bytes that mean nothing become lone surrogates. So does all but ASCII where a character has two forms, as some of
    Shift-JIS have, and the stored one is not the one that would be written.
    """
    stored = bytes(data)
    if encoding.startswith("utf-16"):
        return stored.decode(encoding, "surrogatepass")
    text = stored.decode(encoding, "surrogateescape")
    return text if text.encode(encoding, "surrogateescape") == stored else stored.decode("ascii", "surrogateescape")


def encode_text(text: str, encoding: str) -> bytes:
    """Encode text as the format stores it, with its terminating NUL.

    Raises:
        FormatError: the encoding has no form for a character.
    """
    handler = "surrogatepass" if encoding.startswith("utf-16") else "surrogateescape"
    try:
        return (text + "\0").encode(encoding, handler)
    except UnicodeEncodeError as error:
        raise FormatError(f"the name {text!r} cannot be stored as {encoding}") from error


def fill(table: Array, field: str, values: list[int]) -> None:
    """Set a column of a record table from whole numbers.

    Raises:
        FormatError: a number that the field's dtype cannot hold.
    """
    limits = np.iinfo(table.dtype[field])
    for i, value in enumerate(values):
        if not limits.min <= value <= limits.max:
            raise FormatError(f"{value} does not fit the field {field}", trail=f"[{i}]")
    table[field] = values
