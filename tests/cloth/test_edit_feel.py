"""The feel of a cloth: kept as text, brought to another by relative position."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from addon.cloth.edits import Feel, check_identities, feel_of, try_out, values_of, with_feel, with_values
from addon.cloth.edits.feel import relative_places
from addon.cloth.edits.formulas import nearest
from addon.codec import FormatError
from addon.codec.havok import cloth as records
from tests.cloth.editing import SOURCES, F, source, trails
from tests.cloth.synthetic import sheet

KINDS = ("StandardLinks", "BendLinks", "StretchLinks", "LocalRange")


@pytest.mark.parametrize("name", SOURCES)
def test_text_holds_it_to_the_bit_and_it_changes_nothing_at_home(corpus, name):
    own = source(corpus, name)
    for sim in range(len(own.sims)):
        feel = feel_of(own.cloth, sim)
        again = Feel.from_json(feel.to_json())
        assert not list(records.differences(feel, again))
        edited = with_feel(own.cloth, sim, again)
        assert not trails(own.cloth, edited.file)
        assert (edited.notes, edited.refusals) == ([], [])


def painted(file):
    """Return a sheet whose stiffness and masses grow from left to right and from top to bottom."""
    old = values_of(file, 0)
    record = file.datas[0].sims[0]
    places = relative_places(record)
    sets = []
    for one, own in zip(record.constraints, old.stiffness, strict=True):
        if not isinstance(one, records.Links):
            sets.append(own)
            continue
        across = (places[one.a] + places[one.b])[:, 0] / 2
        sets.append((0.2 + 0.6 * (across if own.ndim == 1 else np.stack([across, 1 - across], 1))).astype(F))
    mass = np.where(old.pinned, 0, 0.1 + places[:, 3]).astype(F)
    return with_values(file, {0: replace(old, damping=F(0.75), mass=mass, stiffness=tuple(sets))}).file


def test_a_finer_cloth_gets_it_by_relative_position():
    coarse, fine = painted(sheet(9, 7, kinds=KINDS)), sheet(33, 25, spacing=0.02, kinds=KINDS)
    edited = with_feel(fine, 0, feel_of(coarse, 0))
    assert not edited.refusals
    assert not edited.notes
    assert check_identities(edited.file) == []
    got = values_of(edited.file, 0)
    record = edited.file.datas[0].sims[0]
    places = relative_places(record)
    assert got.damping == F(0.75)
    free = ~got.pinned
    # a cell of the coarse cloth is an eighth wide and a sixth high
    assert np.abs(got.mass - (0.1 + places[:, 3]))[free].max() < 1 / 6
    for one, share in zip(record.constraints, got.stiffness, strict=True):
        if isinstance(one, records.Links):
            across = (places[one.a] + places[one.b])[:, 0] / 2
            first = share if share.ndim == 1 else share[:, 0]
            assert np.abs(first - (0.2 + 0.6 * across)).max() < 0.6 / 8
            if share.ndim == 2:
                assert np.abs(share[:, 1] - (0.8 - 0.6 * across)).max() < 0.6 / 8


def test_the_size_and_place_of_a_cloth_do_not_matter():
    small, large = painted(sheet(9, 7, kinds=KINDS)), sheet(9, 7, spacing=0.75, kinds=KINDS)
    edited = with_feel(large, 0, feel_of(small, 0))
    got, expected = values_of(edited.file, 0), values_of(small, 0)
    assert np.array_equal(got.mass, expected.mass)
    for left, right in zip(got.stiffness, expected.stiffness, strict=True):
        assert left is right is None or np.abs(left - right).max() < 1e-6


def test_between_cloths_of_the_games(corpus):
    """Hair's feel on a skirt: masses and painted bending come over, what hair lacks stays."""
    hair, skirt = source(corpus, "c7190_c.hkx"), source(corpus, "BD_M_2210_c.hkx")
    edited = with_feel(skirt.cloth, 0, feel_of(hair.cloth, 0))
    assert edited.notes == [
        "BD_Skirt: the stiffness of Compressible Links stays, the feel has none."
    ]  # fmt: skip
    assert check_identities(edited.file) == []
    assert try_out(edited.file).fault == ""
    got, hairs = values_of(edited.file, 0), values_of(hair.cloth, 0)
    assert set(got.mass[~got.pinned].tolist()) <= set(hairs.mass.tolist())
    assert got.damping == hairs.damping
    assert got.gravity[1] == values_of(skirt.cloth, 0).gravity[1]
    kinds = [type(one).__name__ for one in skirt.sims[0].constraints]
    bend = kinds.index("BendStiffness")
    assert np.ptp(got.stiffness[bend]) > 0.1
    same = kinds.index("CompressibleLinks")
    assert np.abs(got.stiffness[same] - values_of(skirt.cloth, 0).stiffness[same]).max() < 1e-6


def test_places(corpus):
    for sim in source(corpus, "c4500_c.hkx").sims:
        places = relative_places(sim)
        assert places.min() >= -1e-9
        assert places.max() <= 1 + 1e-9
        assert (places[sim.fixed, 3] == 0).all()
        assert places[:, 3].max() == pytest.approx(1)


def test_nearest_is_the_nearest_in_parts():
    random = np.random.default_rng(4)
    points, targets = random.random((3000, 4)), random.random((2500, 4)).astype(F)
    found = nearest(points, targets)
    picked = random.choice(3000, 40, replace=False)
    gaps = np.linalg.norm(points[picked, None] - targets[None], axis=2)
    assert np.array_equal(found[picked], gaps.argmin(1))


GOOD = feel_of(sheet(4, 3, kinds=KINDS), 0).to_json()


def edited_text(**members):
    return json.dumps(json.loads(GOOD) | members)


@pytest.mark.parametrize(
    "text",
    [
        "", "{", "null", "[]", "7", "{}", edited_text(version=2), edited_text(version=None), edited_text(sets=7),
        edited_text(sets=[7]), edited_text(sets=[{}]), edited_text(damping="x"), edited_text(damping=1e999),
        edited_text(mass={"values": [[1, 2, 3]], "places": []}), edited_text(mass={"values": [1], "places": [1, 2]}),
        edited_text(mass={"values": [1, 2], "places": [[0, 0, 0, 0]]}), edited_text(mass=[]),
        edited_text(mass={"values": [[1, 2]], "places": []}), edited_text(mass={"values": [None], "places": []}),
        edited_text(mass={"values": [1e39], "places": []}), "[" * 100_000,
    ],
)  # fmt: skip
def test_other_text_is_refused(text):
    with pytest.raises(FormatError):
        Feel.from_json(text)


@given(st.integers(0, len(GOOD) - 1), st.characters(codec="ascii"))
def test_damaged_text_is_read_or_refused(place, character):
    file = sheet(4, 3, kinds=KINDS)
    try:
        feel = Feel.from_json(GOOD[:place] + character + GOOD[place + 1 :])
    except FormatError:
        return
    assert check_identities(with_feel(file, 0, feel).file) == []
