"""Order without loops: which links can be solved together, and which cloths.

A constraint set is solved link after link, each seeing what those before it did. Links that touch no common particle
do not see one another, so links are put on levels: one more than the highest level of an earlier link with a particle
in common. Solving level after level gives the bits of the sequential loop. Fixed particles never change and make no
links wait.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np

from ..codec.binary import Array


def dependency_levels(touched: Array) -> list[Array]:
    """Return the links of each level, in their order.

    Args:
        touched: (n, k) particles of each link, negative where a particle makes none wait.
    """
    free: dict[int, int] = {}
    levels: list[list[int]] = []
    for link, particles in enumerate(touched.tolist()):
        level = max((free.get(particle, 0) for particle in particles), default=0)
        if level == len(levels):
            levels.append([])
        levels[level].append(link)
        for particle in particles:
            if particle >= 0:
                free[particle] = level + 1
    return [np.array(links, np.intp) for links in levels]


def merge(sequences: Sequence[Sequence[Hashable]]) -> list[tuple[Hashable, list[int]]]:
    """Return one order of steps that runs every sequence, steps of one key together where their orders allow it.

    The next key is the one that fewest sequences only reach later; among those, the one that most wait for.

    Args:
        sequences: the keys of each sequence's steps.

    Returns:
        For each step its key and the places of the sequences that take part.
    """
    waiting = [list(sequence) for sequence in sequences]
    steps = []
    while any(waiting):
        heads = list(dict.fromkeys(keys[0] for keys in waiting if keys))
        key = max(heads, key=lambda head: _votes(waiting, head))
        taking = [place for place, keys in enumerate(waiting) if keys and keys[0] == key]
        for place in taking:
            waiting[place].pop(0)
        steps.append((key, taking))
    return steps


def _votes(waiting: list[list[Hashable]], key: Hashable) -> tuple[int, int]:
    """Return minus the number of sequences that reach a key only later, and that of those that wait for it."""
    ready = sum(keys[0] == key for keys in waiting if keys)
    return ready - sum(key in keys for keys in waiting), ready
