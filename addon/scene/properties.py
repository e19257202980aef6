"""Stored fields as custom properties, so that nothing a file says is lost by what Blender can show."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from ..codec.binary import Array

PREFIX = "flver_"
NAME_BYTES = 63  # bones and vertex groups everywhere, all datablocks on Blender 4.5


def shown_text(text: str) -> str:
    """Return text as Blender takes it: what is no character is shown as a question mark."""
    return text.encode("utf-8", "replace").decode("utf-8").replace("\0", "")


def stored_text(text: str) -> str | bytes:
    """Return stored text as a custom property holds it whole: as bytes where it is not all characters."""
    return text if shown_text(text) == text else text.encode("utf-8", "surrogatepass")


def shown_name(text: str) -> str:
    """Return a name cut, between characters, to what every Blender holds."""
    return shown_text(text).encode("utf-8")[:NAME_BYTES].decode("utf-8", "ignore")


def record_properties(record: Array, skip: Iterable[str] = ()) -> dict[str, Any]:
    """Return a record's fields as values for custom properties, by prefixed name.

    Numbers become ints and floats, vectors lists, unsigned numbers the signed ones of the same bits; bytes are left
    out where they are all zero, as they nearly always are.
    """
    values: dict[str, Any] = {}
    for field in record.dtype.names or ():
        if field not in skip:
            value = property_value(record[field])
            if not isinstance(value, bytes) or any(value):
                values[PREFIX + field] = value
    return values


def property_value(value: Any) -> Any:
    """Return a numpy value as Blender's properties hold it: integers are signed, of 32 bits."""
    array = np.asarray(value)
    if array.dtype.kind == "u" and array.dtype.itemsize == 4:
        array = array.view(np.int32)
    return array.tolist()


def set_properties(block: Any, values: dict[str, Any]) -> None:
    """Set custom properties of a datablock or bone."""
    for key, value in values.items():
        block[key] = value
