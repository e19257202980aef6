"""What an edit hands back, and how a part of a file is replaced."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from ...codec.havok.cloth import ClothData, ClothFile, Operator, SimCloth

QUIET: Any = {"over": "ignore", "invalid": "ignore", "divide": "ignore"}
"""Numbers of damaged files overflow and are no numbers without a word; what comes of them is checked."""


class Edited(NamedTuple):
    """An edited file.

    Attributes:
        file: with everything done that was not refused.
        notes: what was done besides what was asked for, a sentence each.
        refusals: what was not done, a sentence each that names the cloth, the particle or set, and why.
    """

    file: ClothFile
    notes: list[str]
    refusals: list[str]


def sim_places(file: ClothFile) -> list[tuple[int, int]]:
    """Return the place of each simulated cloth: its cloth data in the file, and its place there."""
    return [(number, place) for number, data in enumerate(file.datas) for place in range(len(data.sims))]


def sims_of(file: ClothFile) -> list[SimCloth]:
    """Return the simulated cloths of a file, in the order of their numbers."""
    return [sim for data in file.datas for sim in data.sims]


def sim_title(file: ClothFile, sim: int) -> str:
    """Return how messages name a simulated cloth: by its cloth data, and its place there where there are several."""
    number, place = sim_places(file)[sim]
    data = file.datas[number]
    return data.name if len(data.sims) == 1 else f"{data.name}, cloth {place}"


def with_data(file: ClothFile, number: int, data: ClothData) -> ClothFile:
    """Return the file with another cloth data in a place."""
    return replace(file, datas=(*file.datas[:number], data, *file.datas[number + 1 :]))


def with_sim(data: ClothData, place: int, sim: SimCloth) -> ClothData:
    """Return the cloth data with another simulated cloth in a place."""
    return replace(data, sims=(*data.sims[:place], sim, *data.sims[place + 1 :]))


def with_operators(data: ClothData, operators: Mapping[int, Operator]) -> ClothData:
    """Return the cloth data with other operators in some places."""
    return replace(data, operators=tuple(operators.get(place, one) for place, one in enumerate(data.operators)))
