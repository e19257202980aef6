"""New objects, elements and bits for tagfiles that are there."""

from __future__ import annotations

import numpy as np

from ..binary import Array
from ..errors import FormatError
from .items import OBJECT
from .objects import View
from .tagfile import Tagfile


def make(tag: Tagfile, name: str) -> View:
    """Append an object of a class and return it.

    Raises:
        FormatError: the type table lacks the class.
    """
    kind = tag.types.find(name)
    if not kind:
        raise FormatError(f"the types at hand (SDK {tag.sdk}) have no class {name}")
    view: View = tag.item(tag.add(kind, OBJECT, 1))
    return view


def records(owner: View, name: str, count: int) -> Array:
    """Return elements for an array member: those that are there, cut or continued with zeros."""
    dtype = owner.tag.layouts[owner.layout.members[name].layout.target].dtype
    out = np.zeros(count, dtype)
    held = owner.many(name).values[:count]
    out[: len(held)] = held
    return out


def target(owner: View, name: str, kind: str) -> View:
    """Return the object that a pointer leads to, a new one of a class where it leads nowhere."""
    found = owner.maybe(name)
    if found is None:
        found = make(owner.tag, kind)
        owner[name] = found
    return found


def store_bits(view: View, bits: Array) -> None:
    """Write a ``hkBitField``, (number of bits,) bool, see `View.bits`."""
    if np.array_equal(view.bits(), bits):
        return  # what stands behind the last bit stays
    while "storage" in view:
        view = view.one("storage")
    words = np.zeros(-(-len(bits) // 32), np.uint32)
    packed = np.packbits(bits, bitorder="little")
    words.view(np.uint8)[: len(packed)] = packed
    view["words"], view["numBits"] = words, len(bits)
