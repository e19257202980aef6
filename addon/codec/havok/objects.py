"""Objects as readers see them: members by name, references followed when asked for.

A `View` is one record or an array of records of one class; it reads and writes the bytes of its item. A typed reader
names what it needs (`numbers`, `text`, `one`, `many`, `links`), and a class that lacks it is refused with the class,
the member and the SDK. Scripts may use ``view["member"]``, which returns whatever is there.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
import numpy.typing as npt

from ..binary import Array
from ..errors import FormatError
from .items import ARRAY, CHAR, Item
from .layout import REFERENCES, Kind, Layout, MemberLayout

if TYPE_CHECKING:
    from .tagfile import Tagfile

NUMBERS = frozenset({Kind.NUMBER, Kind.BOOL, Kind.HALF})


class View:
    """One record, or an array of records, of a class.

    Attributes:
        tag: the file.
        layout: the class.
        values: () or (n, ...) of ``layout.dtype``, a writable view of the item's bytes.
        item: index of the item, 0 where the view is only a part of one.
        trail: the way here, for messages.
    """

    def __init__(self, tag: Tagfile, layout: Layout, values: Array, trail: str, item: int = 0) -> None:
        self.tag, self.layout, self.values, self.trail, self.item = tag, layout, values, trail, item

    def __repr__(self) -> str:
        count = f"{self.values.shape} x " if self.values.ndim else ""
        return f"<{count}{self.layout.name} at {self.trail}>"

    def __bool__(self) -> bool:
        """Return True for a record, and for an array that is not empty."""
        return not self.values.ndim or len(self.values) > 0

    def __len__(self) -> int:
        return len(self.values)

    def __iter__(self) -> Iterator[View]:
        return (self.at(place) for place in range(len(self)))

    def __contains__(self, name: str) -> bool:
        return name in self.layout.members

    def is_a(self, name: str) -> bool:
        """Tell whether the class is, or derives from, the one of that name."""
        return name in self.layout.bases

    def at(self, place: int) -> View:
        """Return one element of an array of records."""
        if not 0 <= place < len(self.values):
            self.fail(f"there is no element {place} of {len(self.values)}")
        return View(self.tag, self.layout, self.values[place, ...], f"{self.trail}[{place}]")

    def __getitem__(self, name: str) -> Any:
        """Return a member: numbers as array or scalar, a record as `View`, a reference followed.

        References of an array of records come as `Links`, to be followed together.
        """
        member = self._member(name)
        if not member.layout.size or (not member.stored and member.layout.kind in REFERENCES):
            return None
        return expose(self.tag, member.layout, self.values[name], f"{self.trail}.{name}")

    def __setitem__(self, name: str, value: Any) -> None:
        """Change a member.

        Args:
            name: of a member that is not a record.
            value: numbers; for a string str or None; for a pointer a `View` of an object, or None; for an array its
                elements: numbers, records as a structured array, a list of objects, strings or arrays. References may
                be given as item indices too.
        """
        layout = self._member(name).layout
        if layout.kind in REFERENCES and not self.values.ndim and not layout.shape:
            slot = self.values[name]
            slot = slot["item"] if slot.dtype.names else slot
            slot[...] = _Store(self, name).put(layout, value, int(slot))
        elif layout.kind is Kind.HALF:
            self.values[name] = half_from_float(value)
        elif layout.kind in NUMBERS or layout.kind in REFERENCES:
            self.values[name] = value
        else:
            self.fail(f"{self._title(name)} holds {layout.kind.value}, whose members are set one by one", name)

    def numbers(self, name: str, dtype: npt.DTypeLike, shape: tuple[int, ...] = ()) -> Array:
        """Return a member of numbers, in place or behind an array.

        Args:
            name: of the member.
            dtype: what the class must store; "f4" for half floats, "?" for bools.
            shape: of one number or one array element, such as (4,) for vectors.

        Returns:
            The view's shape, or (n,) for an array, followed by ``shape``. A view of the item, but for half floats and
            bools.
        """
        layout = self._member(name).layout
        behind = layout.kind is Kind.ARRAY
        if behind:
            self._need_single(name)
            layout = self.tag.layouts[layout.target]
        held = {Kind.HALF: np.dtype("f4"), Kind.BOOL: np.dtype("?")}.get(layout.kind, layout.dtype)
        wanted = f"{np.dtype(dtype).name}{list(shape) or ''}"
        if layout.kind not in NUMBERS or held != np.dtype(dtype) or layout.shape != shape:
            held_as = f"{held.name}{list(layout.shape) or ''}" if layout.kind in NUMBERS else layout.kind.value
            self.fail(f"{self._title(name)} holds {held_as}, {wanted} is needed", name)
        found = self[name]
        if behind and (getattr(found, "dtype", None) != held or found.shape[1:] != shape or not found.ndim):
            self.fail(f"{self._title(name)} does not lead to an array of {wanted}", name)
        return np.asarray(found)

    def text(self, name: str) -> str | None:
        """Return a string member, None where it is null."""
        self._need(name, Kind.TEXT)
        self._need_single(name)
        text: str | None = self[name]
        return text

    def one(self, name: str) -> View:
        """Return a record member, or the object behind a pointer, which must be there."""
        found = self.maybe(name)
        if found is None:
            self.fail(f"{self._title(name)} is null", name)
        return found

    def maybe(self, name: str) -> View | None:
        """Return a record member, or the object behind a pointer, None where it is null."""
        self._need(name, Kind.RECORD, Kind.POINTER)
        self._need_single(name)
        found = self[name]
        if found is not None and not isinstance(found, View):
            self.fail(f"{self._title(name)} does not lead to an object", name)
        return found

    def many(self, name: str) -> View:
        """Return the records of an array member."""
        self._need(name, Kind.ARRAY)
        self._need_single(name)
        found = self[name]
        if not isinstance(found, View) or not found.values.ndim:
            self.fail(f"{self._title(name)} is not an array of records", name)
        return found

    def links(self, name: str) -> Links:
        """Return an array member of pointers, strings or arrays, or such a member of each record of an array."""
        self._need(name, *REFERENCES)
        found = self[name]
        if not isinstance(found, Links):
            self.fail(f"{self._title(name)} is not an array of references", name)
        return found

    def bits(self) -> Array:
        """Return a ``hkBitField``, (number of bits,) bool."""
        view = self
        while "storage" in view:
            view = view.one("storage")
        words, count = view.numbers("words", "<u4"), int(view.numbers("numBits", "<i4"))
        if not 0 <= count <= 32 * len(words):
            self.fail(f"{count} bits in {len(words)} words")
        return np.unpackbits(words.view(np.uint8), count=count, bitorder="little").astype(bool)

    def fail(self, what: str, step: str = "") -> NoReturn:
        """Raise `FormatError` about this object."""
        raise FormatError(what, self.tag.file, None, f"{self.trail}.{step}" if step else self.trail)

    def _title(self, name: str) -> str:
        return f"member {name!r} of class {self.layout.name} (SDK {self.tag.sdk})"

    def _member(self, name: str) -> MemberLayout:
        member = self.layout.members.get(name)
        if member is None:
            self.fail(f"class {self.layout.name} of SDK {self.tag.sdk} has no member {name!r}", name)
        return member

    def _need_single(self, name: str) -> None:
        member = self._member(name)
        if member.layout.kind in REFERENCES and (self.values.ndim or member.layout.shape):
            self.fail(f"{self._title(name)} is a reference of many records, to be followed by links", name)
        if member.layout.kind in REFERENCES and not member.stored:
            self.fail(f"{self._title(name)} is not stored", name)

    def _need(self, name: str, *kinds: Kind) -> None:
        kind = self._member(name).layout.kind
        if kind not in kinds:
            self.fail(f"{self._title(name)} holds {kind.value}, {' or '.join(k.value for k in kinds)} is needed", name)


class Links:
    """Many references of one slot type.

    Attributes:
        tag: the file.
        layout: what the slots are: strings, pointers or arrays.
        indices: (n, ...) u8 or u4, item indices; a writable view of the slots.
        trail: the way here, for messages.
    """

    def __init__(self, tag: Tagfile, layout: Layout, values: Array, trail: str) -> None:
        self.tag, self.layout, self.trail = tag, layout, trail
        self.indices: Array = values["item"] if values.dtype.names else values

    def __repr__(self) -> str:
        return f"<{self.indices.shape} x {self.layout.name} at {self.trail}>"

    def __len__(self) -> int:
        return len(self.indices)

    def __getitem__(self, place: int) -> Any:
        """Follow one reference: to a `View`, numbers, a string, or None."""
        if not 0 <= place < len(self):
            raise FormatError(f"there is no element {place} of {len(self)}", self.tag.file, None, self.trail)
        return expose(self.tag, self.layout, self.indices[place, ...], f"{self.trail}[{place}]")

    def __iter__(self) -> Iterator[Any]:
        return (self[place] for place in range(len(self)))

    def views(self) -> list[View]:
        """Return the objects behind the pointers that are not null."""
        return [found for found in self if isinstance(found, View)]

    def texts(self) -> list[str | None]:
        """Return the strings."""
        return [found if isinstance(found, str) else None for found in self]

    def joined(self) -> tuple[Any, Array]:
        """Follow all references and join what they lead to.

        Returns:
            A copy of the elements one after another, numbers as (sum of lengths, ...) array, records as `View`, and
            (n + 1,) i64 where each reference's elements start; a null reference has none.

        Raises:
            FormatError: the targets are of different classes.
        """
        items = [item_at(self.tag, index, self.trail) for index in self.indices.reshape(-1).tolist()]
        full = [item for item in items if item.layout.index]
        layouts = {item.layout.index: item.layout for item in full}
        if len(layouts) > 1:
            names = ", ".join(layout.name for layout in layouts.values())
            raise FormatError(f"objects of different classes: {names}", self.tag.file, None, self.trail)
        starts = np.cumsum([0, *(len(item) for item in items)])
        layout = layouts.popitem()[1] if layouts else self.tag.layouts[self.layout.target]
        raw = np.concatenate([item.raw for item in full]) if full else np.zeros(0, np.uint8)
        values = raw.view(layout.dtype).reshape(-1, *layout.shape)
        return expose(self.tag, layout, values, self.trail), starts


class _Store:
    """Puts values behind the references of a member."""

    def __init__(self, view: View, name: str) -> None:
        self.view, self.tag, self.name = view, view.tag, name

    def put(self, layout: Layout, value: Any, index: int) -> int:
        """Return the item index to store for a value; ``index`` is the item that is there, 0 for none."""
        if value is None or isinstance(value, int | np.integer):
            return int(value or 0)
        if layout.kind is Kind.POINTER:
            return self._object(value)
        if layout.kind is Kind.TEXT:
            index = index or self.tag.add(self.tag.types.find(CHAR), ARRAY)
            item_at(self.tag, index, self.view.trail).text = value
            return index
        return self._array(layout, value, index) if len(value) else 0

    def _array(self, layout: Layout, value: Any, index: int) -> int:
        element = self.tag.layouts[layout.target]
        if element.kind in REFERENCES:
            value = [self.put(element, one, 0) for one in value]
        elif element.kind is Kind.HALF:
            value = half_from_float(value)
        index = index or self.tag.add(layout.target, ARRAY)
        item_at(self.tag, index, self.view.trail).values = np.asarray(value)
        return index

    def _object(self, value: Any) -> int:
        if not isinstance(value, View) or value.tag is not self.tag or not value.item or value.values.ndim:
            self.view.fail("only a whole object of the same file can be pointed to", self.name)
        return value.item


def expose(tag: Tagfile, layout: Layout, values: Array, trail: str, item: int = 0) -> Any:
    """Return stored values as readers see them, see `View.__getitem__`."""
    kind = layout.kind
    if kind is Kind.RECORD:
        return View(tag, layout, values, trail, item)
    if kind in REFERENCES:
        return Links(tag, layout, values, trail) if values.ndim else _follow(tag, layout, values, trail)
    if kind is Kind.BOOL:
        values = values != 0
    elif kind is Kind.HALF:
        values = half_to_float(values)
    return values if values.ndim else values[()]


def view_item(tag: Tagfile, index: int, trail: str = "") -> Any:
    """Return a whole item as readers see it: an object as one record, an array as many."""
    trail = trail or f"items[{index}]"
    item = item_at(tag, index, trail)
    if item.is_array:
        return expose(tag, item.layout, item.values, trail, index)
    if len(item) != 1:
        raise FormatError(f"an object of {len(item)} elements", tag.file, None, trail)
    return expose(tag, item.layout, item.values[0, ...], trail, index)


def item_at(tag: Tagfile, index: int, trail: str) -> Item:
    """Return the item of an index."""
    if not 0 <= index < len(tag.items):
        what = f"the reference leads to object {index}, past the last of {len(tag.items)}"
        raise FormatError(what, tag.file, None, trail)
    return tag.items[index]


def _follow(tag: Tagfile, layout: Layout, slot: Array, trail: str) -> Any:
    index = int(slot["item"] if slot.dtype.names else slot)
    if layout.kind is Kind.TEXT:
        return item_at(tag, index, trail).text if index else None
    if not index and layout.kind is Kind.ARRAY:
        element = tag.layouts[layout.target]
        return expose(tag, element, np.zeros((0, *element.shape), element.dtype), trail)
    return view_item(tag, index, trail) if index else None


def half_to_float(values: Array) -> Array:
    """Return ``hkHalf16`` values, u2, as f4: they are the upper halves of float32."""
    return (np.asarray(values).astype("<u4") << np.uint32(16)).view("<f4")


def half_from_float(values: npt.ArrayLike) -> Array:
    """Return the upper halves of float32 values, u2; the lower halves are cut off."""
    return (np.asarray(values, "<f4").view("<u4") >> np.uint32(16)).astype("<u2")
