"""Where two trees of records differ: to the bit, so that a negative zero or another NaN counts too."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np


def same(old: Any, new: Any) -> bool:
    """Tell whether two numbers or arrays are the same in shape, kind and bits."""
    old, new = np.asarray(old), np.asarray(new)
    if old.shape != new.shape or old.dtype != new.dtype:
        return False
    return old.tobytes() == new.tobytes()


def differences(old: Any, new: Any, trail: str = "") -> Iterator[str]:
    """Yield where two records, or what they hold, differ.

    Args:
        old: a `ClothFile`, or any part of one.
        new: another.
        trail: how the parts are named, such as ``datas[0].sims[1]``.

    Yields:
        The trail of each array, number or text that differs, or of a tuple whose length does.
    """
    if old is new:
        return
    if is_dataclass(old) and type(old) is type(new):
        for one in fields(old):
            inner = f"{trail}.{one.name}" if trail else one.name
            yield from differences(getattr(old, one.name), getattr(new, one.name), inner)
    elif isinstance(old, tuple) and isinstance(new, tuple) and len(old) == len(new):
        for place, (left, right) in enumerate(zip(old, new, strict=True)):
            yield from differences(left, right, f"{trail}[{place}]")
    elif isinstance(old, np.ndarray | np.generic | float) and isinstance(new, np.ndarray | np.generic | float):
        if not same(old, new):
            yield trail
    elif type(old) is not type(new) or is_dataclass(old) or old != new:
        yield trail
