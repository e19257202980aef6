"""The type table of a tagfile or compendium: its classes as records, without their bytes."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NoReturn

from ..binary import Array
from ..errors import FormatError

MAX_ANCESTORS = 64
NOT_STORED = 0x01
"""Member flag: the bytes are there and zero, the value is not part of the file."""


@dataclass(frozen=True)
class Parameter:
    """A template parameter.

    Attributes:
        name: begins with ``t`` for a type, ``v`` for a number.
        value: type index, or the number.
    """

    name: str
    value: int

    @property
    def is_type(self) -> bool:
        """True for a type parameter."""
        return self.name.startswith("t")


@dataclass(frozen=True)
class Member:
    """A member of a class.

    Attributes:
        name: as the class declares it.
        flags: 1 not stored, 2 protected, 4 private, 8 hidden, 0x10 property, 0x20 field, 0x40 custom setter.
        offset: byte offset in the most derived object.
        type: type index.
    """

    name: str
    flags: int
    offset: int
    type: int


@dataclass(frozen=True)
class Interface:
    """An interface a class implements: its type index and its offset in the object."""

    type: int
    offset: int


@dataclass(frozen=True)
class Type:
    """An entry of the type table. What is None is not stored; format, subtype, size and alignment are inherited then.

    Attributes:
        name: class or template name.
        parameters: template parameters.
        parent: type index, 0 for none.
        format: the format word, see `layout`.
        subtype: type index of the element, the pointee or the storage.
        version: of the class.
        size, alignment: in bytes.
        flags: 1 not serialisable, 2 abstract, 8 property, 0x10 interface; 0x40 and 0x90 are met and unknown.
        members: those the class itself declares, without its ancestors'.
        properties: number of properties (they have no record).
        interfaces: not met in real files.
        attribute: not met in real files, kept as the number it is.
        has_body: False for an opaque type, of which only the name is stored.
    """

    name: str
    parameters: tuple[Parameter, ...] = ()
    parent: int = 0
    format: int | None = None
    subtype: int | None = None
    version: int | None = None
    size: int | None = None
    alignment: int | None = None
    flags: int | None = None
    members: tuple[Member, ...] | None = None
    properties: int = 0
    interfaces: tuple[Interface, ...] | None = None
    attribute: int | None = None
    has_body: bool = True


@dataclass(frozen=True, eq=False)
class TypeTable:
    """The classes of a tagfile or compendium.

    Attributes:
        types: (n,) entries; 0 is the null type.
        hashes: (type index, hash of the class) in stored order. A hash is fixed for a class of one SDK.
        sections: names of the tables in stored order and spelling.
        body_order: type indices in the order their bodies stand, where it is not that of `bodies_met`.
        pointers: (n,) u64 run-time pointers, where they are not zero as they should be in a file.
        type_names, member_names: the string pools, where they are not in the order of first use by the bodies.
        padding: bytes of the padding table.
        file: for messages.
    """

    types: tuple[Type, ...]
    hashes: tuple[tuple[int, int], ...]
    sections: tuple[str, ...]
    body_order: tuple[int, ...] | None = None
    pointers: Array | None = None
    type_names: tuple[str, ...] | None = None
    member_names: tuple[str, ...] | None = None
    padding: int = 0
    file: str = ""

    def __len__(self) -> int:
        return len(self.types)

    def lineage(self, index: int) -> tuple[int, ...]:
        """Return a class and its ancestors, itself first.

        Raises:
            FormatError: the ancestors form a loop, or are more than any class has.
        """
        line: list[int] = []
        while index:
            if index in line:
                self.fail(index, "the class is its own ancestor")
            if len(line) >= MAX_ANCESTORS:
                self.fail(index, f"the class has more than {MAX_ANCESTORS} ancestors")
            line.append(index)
            index = self.types[index].parent
        return tuple(line)

    @cached_property
    def bodies(self) -> tuple[int, ...]:
        """The types that have a body, in the order the bodies stand."""
        rule = bodies_met(self.types, [kind for kind, _ in self.hashes])
        return rule if self.body_order is None else tuple(dict.fromkeys((*self.body_order, *rule)))

    @cached_property
    def hash_of(self) -> dict[int, int]:
        """The hashes by type index."""
        return dict(self.hashes)

    def find(self, name: str) -> int:
        """Return the index of the first class of that name, 0 if there is none."""
        return self._by_name.get(name, 0)

    @cached_property
    def _by_name(self) -> dict[str, int]:
        return {self.types[index].name: index for index in range(len(self.types) - 1, 0, -1)}

    def title(self, index: int) -> str:
        """Return a class name with its template arguments, for messages."""
        if not index:
            return "null"
        kind = self.types[index]
        arguments = [self.types[p.value].name if p.is_type else str(p.value) for p in kind.parameters]
        return f"{kind.name}<{', '.join(arguments)}>" if arguments else kind.name

    def fail(self, index: int, what: str) -> NoReturn:
        """Raise `FormatError` about an entry of the table."""
        raise FormatError(what, self.file, None, f"types[{index}].{self.types[index].name}")


def bodies_met(types: Sequence[Type], roots: Iterable[int]) -> tuple[int, ...]:
    """Return the types with a body in the order in which the games' writer writes the bodies.

    The writer goes breadth-first from each root in turn, through the parent, the template arguments and the members of
    a class. Those it gives numbers as it meets them, and the subtype (after the arguments) with them, which it does not
    follow. The roots are the types of the objects and references, in the order in which THSH lists them. Found on real
    files: the type tables of both games follow it to the last body and number.

    Args:
        types: the table.
        roots: type indices.
    """
    met: dict[int, None] = {}
    for root in (*roots, *range(1, len(types))):
        fresh = deque([root])
        while fresh:
            index = fresh.popleft()
            if index and index not in met:
                met[index] = None
                kind = types[index]
                fresh.append(kind.parent)
                fresh.extend(parameter.value for parameter in kind.parameters if parameter.is_type)
                fresh.extend(member.type for member in kind.members or ())
    return tuple(index for index in met if types[index].has_body)
