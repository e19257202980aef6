"""BND4 and BXF4: the game's archives, in one file or split into a header and a data file.

Layout and the hash of names: found on real files and verified on them by rewriting.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from .binary import Array, Buffer, Reader, Record, Row, Writer, encode_text, fill, text_encoding

HEADER = Record("binder header", 0x40, (
    (0x00, "magic", "S4", "BND4, or BHF4 where the data is in a second file"),
    (0x04, "unk04", "u1", "0 or 1"),
    (0x05, "unk05", "u1", "0 or 1"),
    (0x06, "unk06", "V3", "0"),
    (0x09, "big_endian", "u1", "1 = numbers are big-endian"),
    (0x0A, "reversed_bits", "u1", "1 = format and flags are stored with their bits reversed"),
    (0x0B, "unk0B", "u1", "0"),
    (0x0C, "count", "i4", "number of entries"),
    (0x10, "header_size", "i8", "0x40"),
    (0x18, "version", "V8", "a date code such as 07D7R6"),
    (0x20, "entry_size", "i8", "bytes of one entry header; follows from the format"),
    (0x28, "data_offset", "i8", "end of all headers, before alignment; 0 in a split binder"),
    (0x30, "unicode", "u1", "1 = names are UTF-16, 0 = Shift-JIS"),
    (0x31, "format", "u1", "which fields an entry has, as stored"),
    (0x32, "extended", "u1", "4 = a table of name hashes is present"),
    (0x33, "unk33", "u1", "0"),
    (0x34, "unk34", "i4", "0"),
    (0x38, "hash_offset", "i8", "offset of the hash table, 0 if none"),
))  # fmt: skip

DATA_HEADER = Record("split binder data header", 0x30, (
    (0x00, "magic", "S4", "BDF4"),
    (0x04, "unk04", "u1", "0 or 1"),
    (0x05, "unk05", "u1", "0 or 1"),
    (0x06, "unk06", "V3", "0"),
    (0x09, "big_endian", "u1", "1 = numbers are big-endian"),
    (0x0A, "reversed_bits", "u1", "as in the header file"),
    (0x0B, "unk0B", "u1", "0"),
    (0x0C, "unk0C", "i4", "0"),
    (0x10, "header_size", "i8", "0x30; 0x40 is seen too"),
    (0x18, "version", "V8", "as in the header file"),
    (0x20, "unk20", "i8", "0"),
    (0x28, "unk28", "i8", "0"),
))  # fmt: skip

HASH_HEADER = Record("hash table header", 0x10, (
    (0x00, "hash_offset", "i8", "offset of the hashes"),
    (0x08, "group_count", "u4", "the smallest prime not under a seventh of the entries"),
    (0x0C, "header_size", "u1", "0x10"),
    (0x0D, "group_size", "u1", "8"),
    (0x0E, "hash_size", "u1", "8"),
    (0x0F, "unk0F", "u1", "0"),
))  # fmt: skip

HASH_GROUP = np.dtype([("count", "<i4"), ("first", "<i4")])
HASH = np.dtype([("hash", "<u4"), ("entry", "<i4")])

# bits of the format byte, once in plain order
BIG_ENDIAN, IDS, NAMES_1, NAMES_2, LONG_OFFSETS, SIZES = 0x01, 0x02, 0x04, 0x08, 0x10, 0x20
EXTENDED_HASHES = 4
COMPRESSED = 0x01  # bit of an entry's flags: its data is wrapped on its own
ALIGNMENT = 16
REPEATS = 4  # times that the entries may refer to each byte, on average


@dataclass(slots=True)
class Entry:
    r"""One file in a binder.

    Attributes:
        name: the stored path, such as ``N:\\GR\\data\\...\\c4500.flver``; empty where the format has no names.
        data: the stored bytes (themselves wrapped where `flags` has `COMPRESSED`).
        id: the stored number, -1 where the format has none.
        flags: bits in plain order; 0x02 is usual.
        size: bytes of the data once unwrapped, None where that is what is stored.
    """

    name: str
    data: Buffer
    id: int = -1
    flags: int = 0x02
    size: int | None = None

    @property
    def basename(self) -> str:
        """The last part of the stored path."""
        return self.name.replace("\\", "/").rsplit("/", 1)[-1]


@dataclass
class Binder:
    """A BND4 archive.

    Attributes:
        header: 0-d array of `HEADER`; counts, sizes and offsets are set anew on writing.
        entries: the files in the order of the archive.
    """

    header: Array
    entries: list[Entry] = field(default_factory=list)

    @classmethod
    def new(cls, version: str = "07D7R6") -> Binder:
        """Make an empty archive as Elden Ring has them (ids, names, sizes, hash table)."""
        return cls(_new_header(b"BND4", version))

    @classmethod
    def read(cls, data: Buffer, file: str = "") -> Binder:
        """Read an archive; entries are views of ``data``.

        Raises:
            FormatError: not a BND4, or a count, offset or name that lies outside the file.
        """
        reader = _open(data, file)
        header = _read_header(reader, b"BND4")
        return cls(header, _read_entries(reader, reader, header))

    def write(self) -> bytes:
        """Return the archive's bytes.

        Raises:
            FormatError: a name or number that the archive's format cannot hold.
        """
        writer = Writer(big_endian=bool(self.header["big_endian"]))
        table = _write_headers(writer, self.header, self.entries)
        writer.patch(HEADER_DATA_OFFSET, np.array([writer.tell()], "<i8"))
        _write_data(writer, writer, table, self.header, self.entries)
        return writer.getvalue()


@dataclass
class SplitBinder:
    """A BXF4 archive: names and places in one file (.hkxbhd), the data in another (.hkxbdt).

    Attributes:
        header: 0-d array of `HEADER`.
        data_header: 0-d array of `DATA_HEADER`.
        entries: the files in the order of the archive.
    """

    header: Array
    data_header: Array
    entries: list[Entry] = field(default_factory=list)

    @classmethod
    def new(cls, version: str = "07D7R6") -> SplitBinder:
        """Make an empty archive."""
        data_header = DATA_HEADER.zeros(1).reshape(())
        data_header["magic"], data_header["header_size"] = b"BDF4", DATA_HEADER.size
        data_header["version"] = _version(version)
        return cls(_new_header(b"BHF4", version), data_header)

    @classmethod
    def read(cls, header: Buffer, data: Buffer, file: str = "", data_file: str = "") -> SplitBinder:
        """Read the two files; entries are views of ``data``.

        Raises:
            FormatError: one of the two is not what it should be, or an entry lies outside the data.
        """
        reader, data_reader = _open(header, file), _open(data, data_file)
        head = _read_header(reader, b"BHF4")
        data_head = data_reader.record(DATA_HEADER, 0)
        if data_head["magic"].item() != b"BDF4":
            data_reader.fail("not a BDF4 data file", 0)
        return cls(head, data_head, _read_entries(reader, data_reader, head))

    def write(self) -> tuple[bytes, bytes]:
        """Return the bytes of the header file and of the data file."""
        big_endian = bool(self.header["big_endian"])
        writer, data_writer = Writer(big_endian=big_endian), Writer(big_endian=big_endian)
        data_writer.array(self.data_header)
        data_writer.reserve(max(0, int(self.data_header["header_size"]) - DATA_HEADER.size))
        table = _write_headers(writer, self.header, self.entries)
        _write_data(writer, data_writer, table, self.header, self.entries)
        return writer.getvalue(), data_writer.getvalue()


HEADER_DATA_OFFSET = 0x28


def name_hash(name: str) -> int:
    """Return the 32-bit hash that the game looks a stored path up by (verified on every name of the corpus)."""
    value = 0
    for char in "/" + name.lower().replace("\\", "/").removeprefix("/"):
        value = (value * 37 + ord(char)) & 0xFFFFFFFF
    return value


def plain_format(header: Array) -> int:
    """Return the format byte with its bits in plain order."""
    raw = int(header["format"])
    return reverse_bits(raw) if bits_reversed(header) else raw


def bits_reversed(header: Array) -> bool:
    """Tell whether format and flags are stored with their bits reversed, as all files of the corpus have them."""
    return bool(header["reversed_bits"]) and (int(header["format"]) & 0x81) != 0x01


def reverse_bits(byte: int) -> int:
    """Return a byte with its bits in the opposite order."""
    return int(f"{byte:08b}"[::-1], 2)


def entry_record(form: int) -> Record:
    """Return the record of one entry header for a plain format byte."""
    fields = [("flags", "u1", "bits, as stored"), ("unk01", "V3", "0"), ("unk04", "i4", "-1"),
              ("stored_size", "i8", "bytes of the data")]  # fmt: skip
    if form & SIZES:
        fields.append(("size", "i8", "bytes of the data once unwrapped"))
    fields.append(("data_offset", "u8" if form & LONG_OFFSETS else "u4", "where the data is"))
    if form & IDS:
        fields.append(("id", "i4", "the entry's number"))
    if form & (NAMES_1 | NAMES_2):
        fields.append(("name_offset", "u4", "where the name is"))
    if form == NAMES_1:
        fields += [("id", "i4", "the entry's number"), ("unk_last", "i4", "0")]
    rows: list[Row] = []
    end = 0
    for name, dtype, meaning in fields:
        rows.append((end, name, dtype, meaning))
        end += np.dtype(dtype).itemsize
    return Record("binder entry", end, tuple(rows))


def _version(text: str) -> np.void:
    return np.void(text.encode("ascii")[:8].ljust(8, b"\0"))


def _new_header(magic: bytes, version: str) -> Array:
    header = HEADER.zeros(1).reshape(())
    header["magic"], header["version"], header["header_size"] = magic, _version(version), HEADER.size
    header["format"], header["unicode"], header["extended"] = 0x74, 1, EXTENDED_HASHES
    header["reversed_bits"] = 1
    return header


def _open(data: Buffer, file: str) -> Reader:
    return Reader(data, file, big_endian=len(data) > 9 and data[9] == 1, repeats=REPEATS)


def _read_header(reader: Reader, magic: bytes) -> Array:
    header = reader.record(HEADER, 0)
    if header["magic"].item() != magic:
        reader.fail(f"not a {magic.decode()} binder", 0)
    if header["header_size"] != HEADER.size:
        reader.fail(f"header of {header['header_size']} bytes, {HEADER.size} expected", 0x10)
    size = entry_record(plain_format(header)).size
    if header["entry_size"] != size:
        reader.fail(f"entries of {header['entry_size']} bytes, the format asks for {size}", 0x20)
    return header


def _read_entries(reader: Reader, data_reader: Reader, header: Array) -> list[Entry]:
    table = reader.table(entry_record(plain_format(header)), HEADER.size, int(header["count"]))
    columns = table.dtype.names or ()
    encoding = text_encoding(unicode=bool(header["unicode"]), big_endian=reader.big_endian)
    offsets, sizes = table["data_offset"].tolist(), table["stored_size"].tolist()
    flags = table["flags"].tolist()
    if bits_reversed(header):
        flags = [reverse_bits(flag) for flag in flags]
    entries = []
    for i, (offset, size, flag) in enumerate(zip(offsets, sizes, flags, strict=True)):
        with reader.at(f"entries[{i}]"):
            name = reader.string(int(table["name_offset"][i]), encoding) if "name_offset" in columns else ""
        with data_reader.at(f"entries[{i}].data"):
            data = data_reader.view(offset, size)
        entry = Entry(name, data, flags=flag)
        if "id" in columns:
            entry.id = int(table["id"][i])
        if "size" in columns and table["size"][i] != size:
            entry.size = int(table["size"][i])
        entries.append(entry)
    return entries


def _write_headers(writer: Writer, header: Array, entries: list[Entry]) -> Array:
    """Write header, entry headers, names and hash table; return the entry table, whose data offsets are still 0."""
    record = entry_record(plain_format(header))
    table = record.zeros(len(entries))
    columns = table.dtype.names or ()
    table["unk04"] = -1
    fill(table, "flags", [entry.flags for entry in entries])
    if bits_reversed(header):
        table["flags"] = [reverse_bits(flags) for flags in table["flags"].tolist()]
    fill(table, "stored_size", [len(entry.data) for entry in entries])
    if "size" in columns:
        fill(table, "size", [len(entry.data) if entry.size is None else entry.size for entry in entries])
    if "id" in columns:
        fill(table, "id", [entry.id for entry in entries])
    head = header.copy()
    head["count"], head["entry_size"] = len(entries), record.size
    head["data_offset"] = head["hash_offset"] = 0
    writer.array(head)
    writer.reserve(table.nbytes)
    if "name_offset" in columns:
        encoding = text_encoding(unicode=bool(header["unicode"]), big_endian=writer.big_endian)
        fill(table, "name_offset", [writer.write(encode_text(entry.name, encoding)) for entry in entries])
    if header["extended"] == EXTENDED_HASHES:
        writer.patch(0x38, np.array([writer.align(8)], "<i8"))
        _write_hashes(writer, [entry.name for entry in entries])
    return table


def _write_data(writer: Writer, data_writer: Writer, table: Array, header: Array, entries: list[Entry]) -> None:
    """Write the data of all entries, then their headers with the offsets."""
    offsets = []
    for entry in entries:
        data_writer.align(ALIGNMENT)
        offsets.append(data_writer.write(entry.data))
    fill(table, "data_offset", offsets)
    writer.patch(int(header["header_size"]), table)


def _write_hashes(writer: Writer, names: list[str]) -> None:
    group_count = _group_count(len(names))
    hashes = np.zeros(len(names), HASH)
    hashes["hash"], hashes["entry"] = [name_hash(name) for name in names], np.arange(len(names))
    hashes = hashes[np.lexsort((hashes["hash"], hashes["hash"] % group_count))]
    groups = np.zeros(group_count, HASH_GROUP)
    groups["count"] = np.bincount(hashes["hash"] % group_count, minlength=group_count)
    groups["first"] = np.cumsum(groups["count"]) - groups["count"]
    head = HASH_HEADER.zeros(1)
    head["hash_offset"] = writer.tell() + head.nbytes + groups.nbytes
    head["group_count"], head["header_size"], head["group_size"], head["hash_size"] = group_count, 0x10, 8, 8
    for part in (head, groups, hashes):
        writer.array(part)


def _group_count(files: int) -> int:
    """Return the smallest prime, at least 2, that is not under a seventh of the number of files."""
    count = max(2, files // 7)
    while any(count % divisor == 0 for divisor in range(2, int(count**0.5) + 1)):
        count += 1
    return count
