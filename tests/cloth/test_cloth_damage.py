"""Damaged cloth: whatever a byte of an object becomes, an error with its place, or a cloth that steps."""

from __future__ import annotations

import numpy as np

from addon.cloth import Pose, build_setup, new_state, reference_pose, reset, step
from addon.codec import FormatError, Tagfile, read_cloth
from tests.cloth.corpus import CLOTHS
from tests.codec.havok.tagfile_corpus import sample

NAME = "HD_M_1140_c.hkx"


def test_damaged_values_are_refused_or_harmless(corpus):
    data = sample(corpus, CLOTHS[NAME], NAME).data
    answers = []
    for seed in range(60):
        random = np.random.default_rng(seed)
        tag = Tagfile.read(data, file=NAME)
        items = [place for place, item in enumerate(tag.items) if item.layout.name.startswith("hcl") and len(item.raw)]
        for place in random.choice(items, 3):
            raw = tag.items[place].raw
            raw[random.integers(len(raw))] = random.integers(256)
        try:
            run(tag)
            answers.append("stepped")
        except FormatError as error:
            answers.append(str(error))
    assert "stepped" in answers
    assert set(answers) != {"stepped"}


def run(tag):
    found = read_cloth(tag)
    setup = build_setup(found)
    state, pose = new_state(setup), Pose(reference_pose(found.skeleton))
    reset(setup, state, pose)
    step(setup, state, pose, 1 / 60)
