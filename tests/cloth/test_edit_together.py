"""All edits at once: rest pose, values and collidables, in any order, into one file."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from addon.cloth.edits import check_identities, try_out, with_values
from addon.cloth.edits.collidables import placed_collidables, with_collidables
from addon.cloth.edits.edited import sims_of
from addon.cloth.edits.rest import with_rest
from addon.codec import Tagfile, read_cloth
from tests.cloth.editing import SOURCES, F, random_values, source, trails


@pytest.fixture(params=SOURCES)
def own(request, corpus):
    return source(corpus, request.param)


def bulged(file):
    """Return rest poses that grow by a twentieth from each cloth's middle."""
    poses = [sim.poses[0].astype(np.float64) for sim in sims_of(file)]
    return {sim: (pose + 0.05 * (pose - pose.mean(0))).astype(F) for sim, pose in enumerate(poses)}


def shifted(file):
    """Return the collidables a little higher on their bones."""
    moved = []
    for one in placed_collidables(file):
        offset = one.offset.copy()
        offset[:3, 3] += F(0.004)
        moved.append(replace(one, offset=offset))
    return moved


@pytest.mark.parametrize("first", ["rest", "values", "collidables"])
def test_all_edits_together(own, first):
    random = np.random.default_rng(5)
    wanted = {sim: random_values(own.cloth, sim, random) for sim in range(len(own.sims))}
    # bits past the collidables would stand for those that are added
    wanted = {sim: replace(one, mask=own.sims[sim].masks) for sim, one in wanted.items()}
    edits = {
        "rest": lambda file: with_rest(file, bulged(own.cloth)),
        "values": lambda file: with_values(file, wanted),
        "collidables": lambda file: with_collidables(file, shifted(own.cloth)),
    }
    file = own.cloth
    for name in (first, *(other for other in edits if other != first)):
        edited = edits[name](file)
        if name != "rest":
            assert not edited.refusals, name
        file = edited.file
    assert check_identities(file) == []
    assert try_out(file, 60).fault == ""
    assert not trails(file, read_cloth(Tagfile.read(own.stored(file))))
