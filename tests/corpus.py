"""The games' files that tests read: which binders there are, which models are in them, and how to open them once."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from addon.codec import Binder, Dcx
from addon.codec.flver import Flver

Find = Callable[[str], Path]

BINDERS = {
    "eldenring/am_m_1122.partsbnd.dcx": ("AM_M_1122.flver",),
    "eldenring/bd_f_9002_l.partsbnd.dcx": ("BD_M_2210_L.flver",),
    "eldenring/c0000.chrbnd.dcx": ("c0000.flver",),
    "eldenring/c4500.chrbnd.dcx": ("c4500.flver",),
    "eldenring/hd_m_1140.partsbnd.dcx": ("HD_M_1140.flver",),
    "eldenring/hd_m_9000.partsbnd.dcx": ("HD_M_1630.flver",),
    "eldenring/hd_m_9007.partsbnd.dcx": ("HD_M_1600.flver",),
    "eldenring/wp_a_0213.partsbnd.dcx": ("WP_A_0213.flver",),
    "eldenring/wp_a_9008.partsbnd.dcx": ("WP_A_0606.flver",),
    "sekiro/allmaterialbnd.mtdbnd.dcx": (),
    "sekiro/c7100.anibnd.dcx": (),
    "sekiro/c7190.chrbnd.dcx": ("c7190.flver",),
    "sekiro/m25_00_00_00_599010.mapbnd.dcx": ("m25_00_00_00_599010.flver", "m25_00_00_00_599010_S.flver"),
}
MODELS = tuple((binder, model) for binder, models in BINDERS.items() for model in models)
# Made or converted by mod tools from models of other games and versions: what they hold need not fit together.
TOOL_MADE = {"HD_M_1600.flver", "HD_M_1630.flver", "WP_A_0606.flver"}
# Of those, the ones whose links, skeletons and meshes name nodes of the model they were made from.
CONVERTED = TOOL_MADE - {"HD_M_1630.flver"}

every_binder = pytest.mark.parametrize("binder", BINDERS)
every_model = pytest.mark.parametrize(("binder", "model"), MODELS, ids=[model for _binder, model in MODELS])


@cache
def content(path: Path) -> bytes:
    """Return what a wrapped file holds."""
    return Dcx.read(path.read_bytes(), path.name).content


@cache
def model_bytes(path: Path, model: str) -> bytes:
    """Return a model of a binder as it is stored; the binder must hold those that `BINDERS` says."""
    entries = {entry.basename: entry.data for entry in Binder.read(content(path)).entries}
    found = {name for name in entries if name.lower().endswith(".flver")}
    assert found == {name for binder, name in MODELS if binder.endswith(path.name)}
    return bytes(entries[model])


@cache
def read_model(path: Path, model: str) -> Flver:
    """Return a model of a binder, shared by tests: not to be changed."""
    return Flver.read(model_bytes(path, model), model)
