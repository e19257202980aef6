"""What holds in every valid cloth file: its numbers follow from its rest pose, its skeleton and each other.

Rules and limits are those that all real files keep (found on them, tests try the corpus); what the games' own files
break, such as binds that do not undo the reference pose, is no rule here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from ...codec import FormatError
from ...codec.havok.cloth import ClothFile
from .edited import QUIET, sim_places, sim_title
from .rules_operators import Rest, operator_rules
from .rules_sets import Broken, set_rules


@dataclass(frozen=True)
class Fault:
    """A rule that a file breaks.

    Attributes:
        sim: number of the simulated cloth; -1 where the cloth data has none.
        rule: which, such as "rest length".
        place: the constraint set or operator, empty for the particles.
        text: what is wrong, a sentence with the cloth's name.
    """

    sim: int
    rule: str
    place: str
    text: str


@np.errstate(**QUIET)
def check_identities(file: ClothFile) -> list[Fault]:
    """Return the rules that a cloth file breaks; none for every file of the games.

    Only what the file itself can tell is checked: the drawn meshes' vertices are in the model.
    """
    found: list[Fault] = []
    places = sim_places(file)
    for sim, (number, place) in enumerate(places):
        found += _faults(file, sim, set_rules(file.datas[number], place))
    try:
        rest = Rest.of(file)
    except FormatError as error:
        return [*found, Fault(-1, "buffers", "", f"{error}")]
    for number in range(len(file.datas)):
        sim = next((sim for sim, (own, _) in enumerate(places) if own == number), -1)
        found += _faults(file, sim, operator_rules(rest, number))
    return found


def new_faults(old: ClothFile, new: ClothFile) -> list[Fault]:
    """Return the rules that an edited file breaks and its source does not."""
    known = {(fault.sim, fault.rule, fault.place) for fault in check_identities(old)}
    return [fault for fault in check_identities(new) if (fault.sim, fault.rule, fault.place) not in known]


def _faults(file: ClothFile, sim: int, broken: Iterable[Broken]) -> Iterator[Fault]:
    title = sim_title(file, sim) if sim >= 0 else "cloth"
    for rule, place, text in broken:
        where = f", {place}" if place else ""
        yield Fault(sim, rule, place, f"{title}{where}: {text}.")
