"""What panels call a value of cloth is what changes, notes and refusals call it."""

from __future__ import annotations

from addon.cloth.edits.names import stiffness_words, title, words
from addon.codec.havok.cloth import constraints as records


def one(kind):
    return object.__new__(getattr(records, kind))


def test_values_of_particles_have_one_name(blender):
    from addon.operators.cloth_edit import VALUES
    from addon.scene.cloth.keys import VOLUME
    from addon.scene.cloth.values import PARTICLES

    fields = {name: field for name, _, field in PARTICLES}
    shown = {name: label for name, label, _ in VALUES}
    volume = one("Volume")
    assert shown.pop(VOLUME).lower() == f"{title(volume)} {stiffness_words(volume)[0]}".lower()
    assert {name: label.lower() for name, label in shown.items()} == {
        name: words(field) for name, field in fields.items()
    }


def test_settings_have_one_name(blender):
    from addon.operators.cloth_values import PROPERTY
    from addon.scene.cloth.values import SETTINGS

    shown = getattr(blender.data.objects.new("any", None), PROPERTY).bl_rna.properties
    for name in ("gravity", *SETTINGS):
        assert shown[name].name.lower() == words(name)


def test_constraint_sets_have_one_name(blender):
    from addon.operators.cloth_playback import SETS
    from addon.scene.cloth.keys import STIFFNESS

    for kind, label, _ in SETS.values():
        assert title(one(kind)) == label
    for kind in ("BendLinks", "StandardLinks"):
        columns = stiffness_words(one(kind))
        assert STIFFNESS[len(columns)] == tuple(column.replace(" ", "_") for column in columns)
