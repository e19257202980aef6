"""What overlays draw, with a pen that notes instead of a window."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from tests.collision.build import body
from tests.scene import tiny
from tests.scene.collision_files import ground, hkx
from tests.scene.shown import load


class Pen:
    """Stands for Blender's module blf."""

    SHADOW = 4

    def __init__(self):
        self.texts, self.enabled, self._color, self._place = [], set(), None, None

    def size(self, _font, _size):
        pass

    def shadow(self, _font, _level, *_color):
        pass

    def enable(self, _font, option):
        self.enabled.add(option)

    def disable(self, _font, option):
        self.enabled.discard(option)

    def color(self, _font, *color):
        self._color = tuple(color)

    def position(self, _font, x, y, _z):
        self._place = x, y

    def dimensions(self, _font, text):
        return 6.0 * len(text), 11.0

    def draw(self, _font, text):
        self.texts.append((text, self._place, self._color))


@pytest.fixture
def drawn(scene, monkeypatch):
    """Return a function that draws overlays from above and returns the texts and the squares."""
    import bpy

    from addon.ui import drawing

    def draw(**switches):
        bpy.context.view_layer.update()
        pen, squares = Pen(), []
        monkeypatch.setattr(drawing, "blf", pen)
        monkeypatch.setattr(drawing, "_square", lambda x, y, _size, color: squares.append((x, y, *color)))
        perspective = np.diag((0.05, 0.05, 0.01, 1.0))
        sidebar = SimpleNamespace(type="UI", alignment="RIGHT", width=200)
        context = SimpleNamespace(
            preferences=SimpleNamespace(system=SimpleNamespace(ui_scale=1.0, use_region_overlap=True)),
            visible_objects=bpy.context.visible_objects,
            scene=scene,
            region=SimpleNamespace(width=1000, height=800),
            region_data=SimpleNamespace(perspective_matrix=perspective),
            area=SimpleNamespace(regions=[sidebar]),
        )
        drawing.draw(context, **({"dummies": False, "nodes": False, "collision": False} | switches))
        assert not pen.enabled
        return pen.texts, squares

    return draw


@pytest.fixture
def model(scene, tmp_path):
    import addon.scene

    return load(addon.scene, tiny.write(tmp_path / "tiny.partsbnd.dcx", tiny.model()))


def test_dummies_are_named_where_they_are(drawn, model):
    texts, squares = drawn(dummies=True)
    assert {text for text, _, _ in texts} == {"100"}
    assert not squares
    for dummy in model.dummies:
        x, y = (np.array(dummy.matrix_world.translation[:2]) * 0.05 + 1) / 2 * (1000, 800)
        assert any(0 < place[0] - x < 20 and abs(place[1] - y) < 15 for _, place, _ in texts)


def test_nodes_and_dummies_have_colours_of_their_own(drawn, model):
    texts, _ = drawn(dummies=True, nodes=True)
    colors = {text.split(" +")[0]: color for text, _, color in texts}
    assert "100" in colors
    assert len(set(colors.values())) == 2


def test_hidden_dummies_are_not_named(drawn, model):
    model.dummies[0].hide_set(state=True)
    assert len(drawn(dummies=True)[0]) == 1


def test_too_many_labels_are_counted(drawn, model, monkeypatch):
    from addon.ui import drawing

    monkeypatch.setattr(drawing, "MOST_LABELS", 1)
    texts, _ = drawn(dummies=True)
    assert [text for text, _, _ in texts] == ["100", "1 more labels: zoom in to see them"]


def test_the_legend_tells_the_colouring(drawn, scene, tmp_path):
    import bpy

    from addon.scene import import_collision

    path = tmp_path / "h10_00_00_00_000100.hkx"
    path.write_bytes(hkx(body(ground())))
    result = import_collision(bpy.context, [path])
    assert not result.failures
    faces = len(result.bodies[0].object.data.polygons)
    for name, title in (("MATERIAL", "Collision by material"), ("SET", "Collision by set")):
        scene.ossuary_collision.color = name
        texts, squares = drawn(collision=True)
        assert texts[0][0] == title
        assert len(squares) == len(texts) - 1 > 0
        assert sum(int(text.rsplit(": ", 1)[1].replace(",", "")) for text, _, _ in texts[1:]) == faces
        assert all(place[0] < 800 for _, place, _ in texts)  # left of the sidebar
    shown = next(block for block in bpy.data.materials if block.get("collision_color") == "h").diffuse_color
    np.testing.assert_allclose(squares[0][2:5], np.array(shown[:3]) ** (1 / 2.2), atol=1e-5)


def test_without_collision_there_is_no_legend(drawn, model):
    assert drawn(collision=True) == ([], [])
