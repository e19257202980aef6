"""The icons' pictures belong to their sources, and each is one that the interface asks for."""

from __future__ import annotations

import re

import numpy as np
import pytest

from tests import icons
from tests.fresh import ROOT

SVGS = sorted(icons.ICONS.glob("*.svg"))
ROUNDED = 2  # of 255: machines may differ on which side of an edge a sample lies


@pytest.mark.parametrize("theme", icons.COLORS)
@pytest.mark.parametrize("svg", SVGS, ids=lambda svg: svg.stem)
def test_pictures_are_made_from_their_sources(svg, theme):
    """Run ``python -m tests.icons`` after an SVG was changed."""
    stored, made = icons.decode(icons.png_of(svg, theme).read_bytes()), icons.render(svg, theme)
    assert stored.shape == made.shape
    difference = np.abs(stored.astype(int) - made)
    assert difference.mean() < 0.01
    assert (difference > ROUNDED).sum() < 8


def test_there_are_no_other_files():
    pictures = {icons.png_of(svg, theme) for svg in SVGS for theme in icons.COLORS}
    assert {path for path in icons.ICONS.rglob("*") if path.is_file()} == {*SVGS, *pictures}


def test_all_are_small():
    assert sum(path.stat().st_size for path in icons.ICONS.rglob("*.png")) < 20_000


def test_a_shape_that_is_not_known_is_refused(tmp_path):
    for inside in ("<text>a</text>", '<path d="M1 1 A2 2 0 0 0 3 3"/>', '<circle cx="1" cy="1" r="1" fill="red"/>'):
        (tmp_path / "a.svg").write_text(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16">{inside}</svg>')
        with pytest.raises(ValueError, match="icons"):
            icons.render(tmp_path / "a.svg", "dark")


def test_a_square_covers_what_it_should(tmp_path):
    (tmp_path / "a.svg").write_text(
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16">'
        '<rect x="4" y="2" width="8" height="4" fill="currentColor" opacity="0.5"/></svg>'
    )
    alpha = icons.render(tmp_path / "a.svg", "light")[..., 3]
    expected = np.zeros((64, 64), np.uint8)
    expected[8:24, 16:48] = 128
    np.testing.assert_array_equal(alpha, expected)
    np.testing.assert_array_equal(icons.decode(icons.encode(icons.render(tmp_path / "a.svg", "dark")))[..., 3], alpha)


def test_each_name_has_a_picture_and_an_icon_of_blenders(blender):
    from addon.ui.icons import FALLBACKS

    assert set(FALLBACKS) == {svg.stem for svg in SVGS}
    known = blender.types.UILayout.bl_rna.functions["label"].parameters["icon"].enum_items
    assert set(FALLBACKS.values()) <= set(known.keys())
    asked = [name for path in (ROOT / "addon" / "ui").glob("*.py") for name in _asked(path.read_text("utf-8"))]
    assert asked
    assert set(asked) <= set(FALLBACKS)


def _asked(text: str) -> list[str]:
    return re.findall(r'\bicon\("(\w+)"\)', text)


def test_without_a_window_they_are_blenders(blender):
    from addon.ui.icons import FALLBACKS, icon

    if blender.app.background:
        assert icon("cloth") == {"icon": FALLBACKS["cloth"]}


def test_the_colour_follows_the_theme(blender):
    from addon.ui.icons import is_dark

    text = blender.context.preferences.themes[0].user_interface.wcol_menu_item
    before = text.text[:]
    try:
        text.text = (0.1, 0.1, 0.1)
        assert not is_dark()
        text.text = (0.9, 0.9, 0.9)
        assert is_dark()
    finally:
        text.text = before
