"""The feel of a cloth - stiffness, damping, masses - from one simulated cloth in the scene to another, as text."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ...cloth.edits import Feel, feel_of, values_of, with_feel
from .edits import EditedCloth
from .gather import StoredCloth, known_points
from .keys import sim_objects
from .links import read_stiffness
from .values import read_values, write_values


def copy_feel(edited: EditedCloth, sim: int) -> str:
    """Return the feel of a simulated cloth with its edits, as text that files can hold."""
    return feel_of(edited.file, sim).to_json()


def paste_feel(collection: Any, stored: StoredCloth, sim: int, text: str) -> list[str]:
    """Give a simulated cloth the feel of another, by relative position; its other edits stay.

    Args:
        collection: of the cloth.
        stored: its file.
        sim: which simulated cloth.
        text: of `copy_feel`.

    Returns:
        What could not be brought over and what else there is to know, a sentence each.

    Raises:
        FormatError: the text is none of a feel, or the objects are not those of the cloth.
    """
    changed = with_feel(stored.file, sim, Feel.from_json(text))
    record, cloud = stored.sims[sim], known_points(collection, stored, sim)
    _, links, _ = sim_objects(collection)
    own = {index: obj for (place, index), obj in links.items() if place == sim}
    shares = {}
    for index, obj in own.items():
        share = stored.values[sim].stiffness[index]
        if share is not None:
            shares[index] = read_stiffness(obj, record.constraints[index], share)
    now, feel = read_values(cloud, shares, record, stored.values[sim]), values_of(changed.file, sim)
    mass = np.where(stored.values[sim].pinned, now.mass, feel.mass)
    write_values(cloud, own, record, replace(now, damping=feel.damping, mass=mass, stiffness=feel.stiffness))
    return [*changed.refusals, *changed.notes]
