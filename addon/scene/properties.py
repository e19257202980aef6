"""Stored fields as custom properties, so that nothing a file says is lost by what Blender can show."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from ..codec import FormatError
from ..codec.binary import Array
from .keys import PREFIX


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


def fill_record(record: Array, block: Any, skip: Iterable[str] = (), prefix: str = PREFIX) -> None:
    """Set a record's fields from the custom properties that `record_properties` made, in place.

    Args:
        record: 0-d or one row; fields without a property keep their values, bytes become zero.
        block: a datablock, a bone or a group of properties.
        skip: fields that stay as they are.
        prefix: of the properties' names.

    Raises:
        FormatError: a number that the field cannot hold.
    """
    for field in record.dtype.names or ():
        if field in skip:
            continue
        value, kind = block.get(prefix + field), record.dtype[field]
        if kind.base.kind == "V":
            record[field] = np.void((value or b"").ljust(kind.itemsize, b"\0"))
        elif value is not None:
            number = _stored_value(value, kind, field)
            if kind.base.kind != "f":
                record[field] = number
            else:  # a property keeps that a number is none, but not which bits say so
                known = np.isnan(number) & np.isnan(record[field])
                record[field] = np.where(known, record[field], number.astype(kind.base))


def _stored_value(value: Any, kind: np.dtype[Any], field: str) -> Any:
    base = kind.base
    numbers = np.array(value if isinstance(value, (int, float, str, bytes)) else list(value))
    if base.kind not in "iu":
        return numbers
    if base == np.uint32 and (numbers < 0).any():
        return numbers.astype(np.int32).view(np.uint32)
    limits = np.iinfo(base)
    if ((numbers < limits.min) | (numbers > limits.max)).any():
        raise FormatError(f"{field} is {numbers.tolist()}, which is not between {limits.min} and {limits.max}")
    return numbers
