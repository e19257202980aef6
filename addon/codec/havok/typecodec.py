"""TYPE: reading and writing the type table's sections.

========== =================================================================================================
TPTR       8 zero bytes a type, room for run-time pointers
TSTR       NUL-terminated names of types and template parameters, in the order of first use by the bodies
TNA1       packed: count with the null type; per type: name, parameter count, then (name, value) each
FSTR       NUL-terminated names of members, in the order of first use by the bodies
TBDY       packed: bodies, see `BODY`; their order is that of `types.bodies_met`
THSH       packed count, then (packed type index, u32 hash) each
TPAD       empty
========== =================================================================================================

The orders of bodies and strings were found on real files; a file with others keeps them in `TypeTable.body_order`,
`TypeTable.type_names` and `TypeTable.member_names`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import NoReturn, TypeVar

from ..binary import Array, Reader, decode_text, encode_text
from .packed import PackedError, pack, unpack, unpack_one
from .sections import Section, read_children, section, take
from .types import Interface, Member, Parameter, Type, TypeTable, bodies_met

# bit of the option word, what it announces: the optional values of a body in their order
BODY = (
    (0x01, "format"),
    (0x02, "subtype"),
    (0x04, "version"),
    (0x08, "size, alignment"),
    (0x10, "flags"),
    (0x20, "members: low 16 bits their number, high 16 bits that of properties; then name, flags, offset, type each"),
    (0x40, "interfaces: their number; then type, offset each"),
    (0x80, "attribute"),
)
OPTIONS = sum(bit for bit, _ in BODY)
TABLES = ("TPTR", "TSTR", "TNA1", "FSTR", "TBDY", "THSH", "TPAD")
NAMES = "utf-8"

T = TypeVar("T")


class _Values:
    """The packed integers of one table, taken one after another."""

    def __init__(self, reader: Reader, part: Section) -> None:
        self._reader, self._part = reader, part
        data = bytes(reader.view(part.offset, part.size, part.name))
        with _packed(reader, part):
            self._values = unpack(data)
        self._next = 0

    def more(self) -> bool:
        """Tell whether a record follows; none begins with 0, which is padding."""
        return self._next < len(self._values) and self._values[self._next] != 0

    def finish(self) -> None:
        """Check that nothing but padding is left."""
        if any(self._values[self._next :]):
            self.fail("bytes follow the last record")

    def next(self) -> int:
        if self._next >= len(self._values):
            self.fail("the table ends inside a record")
        self._next += 1
        return self._values[self._next - 1]

    def count(self, value: int, width: int) -> int:
        """Return a number of records of at least ``width`` values each, if the table can hold them."""
        if value * width > len(self._values) - self._next:
            self.fail(f"{value} records are announced, {len(self._values) - self._next} numbers are left")
        return value

    def index(self, limit: int, what: str) -> int:
        value = self.next()
        if value >= limit:
            self.fail(f"{what} {value} is not below {limit}")
        return value

    def fail(self, what: str) -> NoReturn:
        self._reader.fail(what, self._part.offset, self._part.name)


@contextmanager
def _packed(reader: Reader, part: Section) -> Iterator[None]:
    try:
        yield
    except PackedError as error:
        reader.fail("not a packed integer", part.offset + error.position, part.name)


def read_types(reader: Reader, part: Section) -> TypeTable:
    """Read the type table in a TYPE section.

    Raises:
        FormatError: a table is missing, an index points past its end, or a count is larger than its table.
    """
    with reader.at("TYPE"):
        children = read_children(reader, part, TABLES)
        type_pool = _read_pool(reader, take(reader, children, "TSTR"))
        member_pool = _read_pool(reader, take(reader, children, "FSTR"))
        named = _read_names(_Values(reader, take(reader, children, "TNA1")), type_pool)
        bodies = _read_bodies(_Values(reader, take(reader, children, "TBDY")), named, member_pool)
        types = tuple(bodies.get(index, kind) for index, kind in enumerate(named))
        stored = tuple(bodies)
        hashes = _read_hashes(reader, children["THSH"], len(types)) if "THSH" in children else ()
        return TypeTable(
            types,
            hashes,
            tuple(child.name for child in children.values()),
            _unless(stored, bodies_met(types, [kind for kind, _ in hashes])),
            _read_pointers(reader, children, len(types)),
            _unless(type_pool, _type_names(types, stored)),
            _unless(member_pool, _member_names(types, stored)),
            children["TPAD"].size if "TPAD" in children else 0,
            reader.file,
        )


def write_types(table: TypeTable, hashes: Iterable[tuple[int, int]]) -> bytes:
    """Return the TYPE section.

    Args:
        table: the classes.
        hashes: what THSH lists, (type index, hash) in its order.
    """
    type_pool = _pool(table.type_names, _type_names(table.types, table.bodies))
    member_pool = _pool(table.member_names, _member_names(table.types, table.bodies))
    pairs = list(hashes)
    payloads = {
        "TPTR": bytes(8 * len(table)) if table.pointers is None else table.pointers.tobytes(),
        "TSTR": b"".join(encode_text(name, NAMES) for name in type_pool),
        "TNA1": pack(_name_values(table, type_pool)),
        "FSTR": b"".join(encode_text(name, NAMES) for name in member_pool),
        "TBDY": pack(_body_values(table, member_pool)),
        "THSH": pack([len(pairs)]) + b"".join(pack([kind]) + value.to_bytes(4, "little") for kind, value in pairs),
        "TPAD": bytes(table.padding),
    }
    tables = (section(name, payloads[Section(name, 0, 0).key]) for name in table.sections)
    return section("TYPE", b"".join(tables))


def _read_pointers(reader: Reader, children: dict[str, Section], count: int) -> Array | None:
    if "TPTR" not in children:
        return None
    pointers = reader.array("u8", take(reader, children, "TPTR", 8 * count).offset, count, "TPTR")
    return pointers.copy() if pointers.any() else None


def _read_pool(reader: Reader, part: Section) -> tuple[str, ...]:
    """Return the strings of a pool; the padding behind them are NULs as well."""
    data = bytes(reader.view(part.offset, part.size, part.name)).rstrip(b"\0")
    return tuple(decode_text(name, NAMES) for name in data.split(b"\0"))


def _read_names(values: _Values, pool: tuple[str, ...]) -> list[Type]:
    """Return the types with their names and parameters only, the null type in front."""
    count = values.count(values.next(), 1)
    types = [Type("", has_body=False)]
    for _ in range(1, count):
        name = pool[values.index(len(pool), "name")]
        parameters = []
        for _ in range(values.count(values.next(), 2)):
            parameter = Parameter(pool[values.index(len(pool), "name")], values.next())
            if parameter.is_type and parameter.value >= count:
                values.fail(f"type {parameter.value} is not below {count}")
            parameters.append(parameter)
        types.append(Type(name, tuple(parameters), has_body=False))
    values.finish()
    return types


def _read_bodies(values: _Values, named: list[Type], pool: tuple[str, ...]) -> dict[int, Type]:
    """Return the types that have a body, whole, by index in stored order."""
    bodies: dict[int, Type] = {}
    while values.more():
        index = values.index(len(named), "type")
        if not index or index in bodies:
            values.fail(f"type {index} has a second body" if index else "the null type has a body")
        bodies[index] = _read_body(values, named[index], len(named), pool)
    values.finish()
    return bodies


def _read_body(values: _Values, kind: Type, count: int, pool: tuple[str, ...]) -> Type:
    parent = values.index(count, "parent type")
    options = values.next()
    if options & ~OPTIONS:
        values.fail(f"option bits {options:#x} are unknown")
    form = values.next() if options & 0x01 else None
    subtype = values.index(count, "subtype") if options & 0x02 else None
    version = values.next() if options & 0x04 else None
    size = values.next() if options & 0x08 else None
    alignment = values.next() if options & 0x08 else None
    flags = values.next() if options & 0x10 else None
    members, properties = _read_members(values, count, pool) if options & 0x20 else (None, 0)
    interfaces = _read_interfaces(values, count) if options & 0x40 else None
    attribute = values.next() if options & 0x80 else None
    return Type(
        kind.name, kind.parameters, parent, form, subtype, version, size, alignment, flags,
        members, properties, interfaces, attribute,
    )  # fmt: skip


def _read_members(values: _Values, count: int, pool: tuple[str, ...]) -> tuple[tuple[Member, ...], int]:
    word = values.next()
    members = []
    for _ in range(values.count(word & 0xFFFF, 4)):
        name = pool[values.index(len(pool), "member name")]
        members.append(Member(name, values.next(), values.next(), values.index(count, "member type")))
    return tuple(members), word >> 16


def _read_interfaces(values: _Values, count: int) -> tuple[Interface, ...]:
    number = values.count(values.next(), 2)
    return tuple(Interface(values.index(count, "interface type"), values.next()) for _ in range(number))


def _read_hashes(reader: Reader, part: Section, count: int) -> tuple[tuple[int, int], ...]:
    data = bytes(reader.view(part.offset, part.size, "THSH"))
    pairs: list[tuple[int, int]] = []
    with _packed(reader, part):
        number, position = unpack_one(data, 0)
        if number * 5 > len(data):
            reader.fail(f"{number} hashes are announced in {len(data)} bytes", part.offset, "THSH")
        for _ in range(number):
            kind, position = unpack_one(data, position)
            if kind >= count or position + 4 > len(data):
                reader.fail(f"the hash of type {kind} has no place", part.offset + position, "THSH")
            pairs.append((kind, int.from_bytes(data[position : position + 4], "little")))
            position += 4
    return tuple(pairs)


def _type_names(types: tuple[Type, ...], body_order: tuple[int, ...]) -> tuple[str, ...]:
    """Return the names of types and parameters in the order of first use."""
    rest = [index for index in range(1, len(types)) if not types[index].has_body]
    kinds = [types[index] for index in (*body_order, *rest)]
    return tuple(dict.fromkeys(name for kind in kinds for name in (kind.name, *(p.name for p in kind.parameters))))


def _member_names(types: tuple[Type, ...], body_order: tuple[int, ...]) -> tuple[str, ...]:
    """Return the names of members in the order of first use."""
    return tuple(dict.fromkeys(member.name for index in body_order for member in types[index].members or ()))


def _unless(stored: tuple[T, ...], rule: tuple[T, ...]) -> tuple[T, ...] | None:
    """Return an order where it is not the rule's."""
    return None if stored == rule else stored


def _pool(stored: tuple[str, ...] | None, used: tuple[str, ...]) -> tuple[str, ...]:
    """Return a pool in its stored order, with what it lacks behind."""
    return tuple(dict.fromkeys((*(stored or ()), *used)))


def _name_values(table: TypeTable, pool: tuple[str, ...]) -> Iterator[int]:
    place = {name: index for index, name in enumerate(pool)}
    yield len(table)
    for kind in table.types[1:]:
        yield from (place[kind.name], len(kind.parameters))
        for parameter in kind.parameters:
            yield from (place[parameter.name], parameter.value)


def _body_values(table: TypeTable, pool: tuple[str, ...]) -> Iterator[int]:
    place = {name: index for index, name in enumerate(pool)}
    for index in table.bodies:
        kind = table.types[index]
        yield from (index, kind.parent)
        parts = (
            _optional(kind.format),
            _optional(kind.subtype),
            _optional(kind.version),
            [] if kind.size is None or kind.alignment is None else [kind.size, kind.alignment],
            _optional(kind.flags),
            _member_values(kind, place),
            _interface_values(kind),
            _optional(kind.attribute),
        )
        yield sum(bit for (bit, _), part in zip(BODY, parts, strict=True) if part)
        for part in parts:
            yield from part


def _optional(value: int | None) -> list[int]:
    return [] if value is None else [value]


def _member_values(kind: Type, place: dict[str, int]) -> list[int]:
    if kind.members is None:
        return []
    words = [kind.properties << 16 | len(kind.members)]
    for member in kind.members:
        words += (place[member.name], member.flags, member.offset, member.type)
    return words


def _interface_values(kind: Type) -> list[int]:
    if kind.interfaces is None:
        return []
    return [len(kind.interfaces), *(value for entry in kind.interfaces for value in (entry.type, entry.offset))]
