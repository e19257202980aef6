"""Damaged cloth that can still be read: checked, edited and stored, or refused; nothing else ever."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from addon.cloth.edits import Feel, changes, check_identities, feel_of, try_out, values_of, with_feel, with_values
from addon.cloth.edits.edited import sims_of
from addon.codec import FormatError, Tagfile, read_cloth
from addon.codec.havok.cloth import store_cloth
from tests.cloth.editing import random_values, source, trails

BYTES = (0, 127, 128, 255)
PLAIN = {
    "hclSimClothData::ParticleData", "hclStandardLinkConstraintSet::Link", "hclStretchLinkConstraintSet::Link",
    "hclBendStiffnessConstraintSet::Link", "hclLocalRangeConstraintSet::LocalConstraint", "hkVector4", "hkMatrix4",
    "hclMoveParticlesOperator::VertexParticlePair",
}  # fmt: skip
"""Classes without references: a reference that leads elsewhere is refused before cloth is read."""


@pytest.mark.parametrize("name", ["HD_M_1140_c.hkx", "banner"])
def test_damage_is_told_or_harmless(corpus, name):
    own = source(corpus, name)
    faults, stored = 0, 0
    for seed in range(25):
        random = np.random.default_rng(seed)
        tag = own.tag()
        items = [item for item in tag.items if len(item.raw) and item.layout.name in PLAIN]
        for place in random.choice(len(items), 2):
            raw = items[place].raw
            raw[random.integers(len(raw), size=4)] = random.choice(BYTES, 4)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            try:
                tag = Tagfile.read(tag.write())
                file = read_cloth(tag)
            except FormatError:
                continue
            faults += bool(check_identities(file))
            try_out(file, 2)
            for sim in range(len(sims_of(file))):
                values_of(file, sim)
                with_feel(file, sim, Feel.from_json(feel_text(file, sim)))
                edited = with_values(file, {sim: random_values(file, sim, random, pins=3)}).file
                changes(file, edited)
                check_identities(edited)
            data = keep(tag, edited)
            stored += data is not None
            assert data is None or not trails(edited, read_cloth(Tagfile.read(data)))
    assert faults > 5
    assert stored > 5


def feel_text(file, sim):
    """Return the feel as text; that of a damaged cloth may be no numbers, which are not read again."""
    text = feel_of(file, sim).to_json()
    try:
        Feel.from_json(text)
    except FormatError:
        return feel_of(source(None, "banner").cloth, 0).to_json()
    return text


def keep(tag, edited):
    try:
        store_cloth(tag, edited)
    except FormatError:
        return None
    return tag.write()
