"""Trying a cloth out: the games' own stay in one piece, one that explodes is told with what it did."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from addon.cloth.edits import check_identities, try_out, values_of, with_values
from addon.cloth.edits.edited import sims_of, with_data, with_sim
from addon.codec.havok import cloth as records
from tests.cloth.editing import SOURCES, F, source
from tests.cloth.synthetic import sheet, with_sets

ALL = ("StandardLinks", "StretchLinks", "BendLinks", "LocalRange", "Transition")


@pytest.mark.parametrize("name", SOURCES)
def test_real_cloths_stay_in_one_piece(corpus, name):
    own = source(corpus, name)
    trial = try_out(own.cloth)
    assert (trial.fault, trial.sim, trial.particle, trial.step) == ("", -1, -1, 120)
    assert len(trial.away) == len(trial.motion) == len(own.sims)
    for sim, away, motion in zip(own.sims, trial.away, trial.motion, strict=True):
        assert 0 < away < 1.5
        size = np.linalg.norm(np.ptp(sim.poses[0], axis=0))
        assert away < size
        assert motion < 0.02  # 22 m of wings move the most
    again = try_out(own.cloth)
    assert np.array_equal(again.away, trial.away)
    assert np.array_equal(again.motion, trial.motion)


def stiffer(file, factor):
    """Return a file whose links correct more than there is to correct, in the first cloth."""
    sim = file.datas[0].sims[0]
    sets = tuple(
        replace(one, stiffness=one.stiffness * F(factor)) if isinstance(one, records.StandardLinks) else one
        for one in sim.constraints
    )
    return with_data(file, 0, with_sim(file.datas[0], 0, replace(sim, constraints=sets)))


@pytest.mark.parametrize("name", ["HD_M_1630_c.hkx", "c7190_c.hkx", "HD_M_1140_c.hkx"])
def test_a_cloth_that_explodes_is_told(corpus, name):
    file = stiffer(source(corpus, name).cloth, 6)
    trial = try_out(file)
    assert trial.sim == 0
    assert trial.step < 60
    assert trial.fault.startswith(file.datas[0].name + ": ")
    assert "runs away" in trial.fault or "no number" in trial.fault
    assert f"particle {trial.particle} " in trial.fault
    assert f"in step {trial.step} of 120" in trial.fault
    assert check_identities(file)


def test_a_cloth_that_shakes_within_its_range_is_told(corpus):
    file = stiffer(source(corpus, "HD_M_1630_c.hkx").cloth, 2.1)
    trial = try_out(file)
    assert "the cloth shakes" in trial.fault
    assert trial.step > 90


def test_a_position_that_is_no_number_is_told():
    file = sheet(kinds=ALL)
    sim = replace(sims_of(file)[0], gravity=np.array([0, np.nan, 0], F))
    trial = try_out(with_data(file, 0, with_sim(file.datas[0], 0, sim)))
    assert trial.fault == "sheet: the position of particle 0 is no number any more in step 1 of 120."
    assert (trial.sim, trial.particle, trial.step) == (0, 0, 1)


def test_a_cloth_that_nothing_holds_runs_away():
    file = sheet(kinds=("LocalRange",))
    trial = try_out(with_sets(file, []))
    assert "it runs away" in trial.fault
    # it falls by gravity alone, most of its velocity kept: 1.2 m in about half a second
    assert 20 < trial.step < 60


def test_user_settings_at_their_ends_hold(corpus):
    """What with_values accepts, the stiffest and the softest, stays in one piece."""
    for name in ("HD_M_1140_c.hkx", "BD_M_2210_c.hkx"):
        file = source(corpus, name).cloth
        for share in (0.0, 1.0):
            wanted = {}
            for sim in range(len(sims_of(file))):
                old = values_of(file, sim)
                made = tuple(
                    None if own is None else np.full_like(own, share) if own.ndim else own for own in old.stiffness
                )
                wanted[sim] = replace(old, stiffness=made, gravity=old.gravity * F(4))
            edited = with_values(file, wanted)
            assert not edited.refusals
            assert try_out(edited.file).fault == ""


def test_fewer_steps_and_files_without_cloth():
    file = sheet(kinds=ALL)
    assert try_out(file, 7).step == 7
    empty = records.ClothFile((), (), None)
    assert (try_out(empty).fault, try_out(empty).step) == ("", 0)


def test_a_cloth_that_cannot_be_stepped_is_told():
    file = sheet(kinds=ALL)
    data = file.datas[0]
    buffers = (data.buffers[0], replace(data.buffers[1], vertex_count=3), *data.buffers[2:])
    trial = try_out(with_data(file, 0, replace(data, buffers=buffers)))
    assert trial.fault.startswith("The cloth cannot be stepped: no simulated cloth of sheet is that of buffer 1")
