"""The classes of collision files as data, one file an SDK, so that a tagfile can be made from nothing.

A file is a JSON object: the full name of a class (template arguments included) and what its body stores, see
`types.Type`; classes are referred to by full name, a member is ``[name, flags, offset, class]``. ``basis`` says where
an entry is from, if not from the type tables of the games' files:

* ``table``: the published class tables of the SDK,
* ``derived``: no public file has the class. Its members are those that the collision of the game is known to have, and
  their offsets follow from the members' sizes and alignments. All of 2016.2's mesh classes are such.

``hash`` is missing where it is not known; 0 is written then.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from ...errors import FormatError
from ..items import OBJECT
from ..layout import Layouts
from ..tagfile import Tagfile
from ..typecodec import TABLES
from ..types import Member, Parameter, Type, TypeTable

SDKS = ("20160200", "20180100")
ROOT = "hkRootLevelContainer"
ALWAYS = ("char",)  # what strings are made of


@lru_cache(maxsize=len(SDKS))
def describe(sdk: str) -> MappingProxyType[str, Any]:
    """Return the known classes of an SDK by full name.

    Raises:
        FormatError: an SDK without descriptions.
    """
    if sdk not in SDKS:
        raise FormatError(f"no class descriptions for SDK {sdk!r}; there are some for {', '.join(SDKS)}")
    return MappingProxyType(json.loads(Path(__file__).with_name(f"{sdk}.json").read_text("utf-8")))


def type_table(sdk: str, names: Iterable[str]) -> TypeTable:
    """Return a type table with classes and all that they are made of.

    Raises:
        FormatError: a class that is not described.
    """
    known = describe(sdk)
    order: dict[str, int] = {"": 0}
    _meet(sdk, order, [*ALWAYS, *names], 1)
    types = [_type(name, known[name], order) if name else Type("", has_body=False) for name in order]
    hashes = tuple((index, known[name].get("hash", 0)) for name, index in order.items() if name)
    return TypeTable(tuple(types), hashes, TABLES)


def _meet(sdk: str, order: dict[str, int], names: Iterable[str], first: int) -> list[str]:
    """Give indices to classes, and to all that they are made of, that have none yet; return them in that order."""
    known = describe(sdk)
    waiting = [*names][::-1]
    met: list[str] = []
    while waiting:
        name = waiting.pop()
        if name in order:
            continue
        if name not in known:
            raise FormatError(f"class {name} of SDK {sdk} is not described")
        order[name] = first + len(met)
        met.append(name)
        waiting += [each for each in reversed(_parts(known[name])) if each not in order]
    return met


def new_tagfile(sdk: str, names: Iterable[str]) -> Tagfile:
    """Return a tagfile that holds an empty root and knows some classes."""
    tag = Tagfile(sdk, Layouts(type_table(sdk, [ROOT, *names])))
    tag.add(tag.types.find(ROOT), OBJECT, 1)
    return tag


def learn_classes(tag: Tagfile, names: Iterable[str]) -> None:
    """Let a file with a type table of its own know described classes too; those of a compendium stay as they are.

    Raises:
        FormatError: a class that is not described.
    """
    missing = [name for name in names if not tag.types.find(name)]
    if missing and tag.reference is None:
        table = tag.types
        order = {_full_name(table, index): index for index in range(len(table) - 1, 0, -1)}
        met = _meet(tag.sdk, order, missing, len(table))
        fresh = [_type(name, describe(tag.sdk)[name], {"": 0, **order}) for name in met]
        pointers = table.pointers
        if pointers is not None:
            pointers = np.concatenate([pointers, np.zeros(len(fresh), pointers.dtype)])
        tag.layouts = Layouts(replace(table, types=(*table.types, *fresh), pointers=pointers))
    learn_hashes(tag)


def learn_hashes(tag: Tagfile) -> None:
    """Tell a file the hashes of described classes, so that those it does not use yet can come into use."""
    if tag.sdk not in SDKS:
        return
    known = describe(tag.sdk)
    for index in range(1, len(tag.types)):
        name = _full_name(tag.types, index)
        if name in known:
            tag.more_hashes[index] = known[name].get("hash", 0)


def _full_name(table: TypeTable, index: int, depth: int = 8) -> str:
    """Return a class name with its template arguments, theirs included."""
    kind = table.types[index]
    if not kind.parameters or not depth:
        return kind.name
    parts = [_full_name(table, each.value, depth - 1) if each.is_type else str(each.value) for each in kind.parameters]
    return f"{kind.name}<{', '.join(parts)}>"


def _parts(entry: dict[str, Any]) -> list[str]:
    """Return the full names of the classes that a description names."""
    arguments = [value for name, value in entry.get("parameters", ()) if name.startswith("t")]
    members = [kind for _, _, _, kind in entry.get("members", ())]
    return [name for name in (entry.get("parent"), entry.get("subtype"), *arguments, *members) if name]


def _type(title: str, entry: dict[str, Any], order: dict[str, int]) -> Type:
    pairs = entry.get("parameters", ())
    name = title[: title.index("<")] if pairs else title
    parameters = tuple(Parameter(key, order[value] if key.startswith("t") else value) for key, value in pairs)
    if entry.get("opaque"):
        return Type(name, parameters, has_body=False)
    size, alignment = entry.get("size", (None, None))
    members = entry.get("members")
    return Type(
        name,
        parameters,
        order[entry.get("parent", "")],
        entry.get("format"),
        order[entry["subtype"]] if "subtype" in entry else None,
        entry.get("version"),
        size,
        alignment,
        entry.get("flags"),
        None if members is None else tuple(Member(key, flags, at, order[kind]) for key, flags, at, kind in members),
        entry.get("properties", 0),
    )
