"""Panels drawn without a window."""

from __future__ import annotations

from types import SimpleNamespace


class Recorder:
    """Stands in for a panel's layout: takes any call, remembers texts and properties, and checks that those exist.

    Attributes:
        seen: texts, properties and operators, in their order.
        split: of them the properties whose names stand beside their fields, cut off where they are long.
    """

    use_property_split = False

    def __init__(self):
        self.seen = []
        self.split = []
        self.button = type("Button", (), {})

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *_arguments, **_keywords: self

    def label(self, text="", **_keywords):
        self.seen.append(text)

    def prop(self, owner, name, **_keywords):
        if not name.startswith("["):
            getattr(owner, name)
        self.seen.append(name)
        if self.use_property_split:
            self.split.append(name)

    def operator(self, name, **_keywords):
        import bpy

        group, title = name.split(".")
        getattr(getattr(bpy.ops, group), title).get_rna_type()
        self.seen.append(name)
        return self.button()


def drawn(panel) -> list[str]:
    """Return the texts, properties and operators that a panel shows, its header first."""
    return recorded(panel).seen


def recorded(panel) -> Recorder:
    """Return what a panel has drawn."""
    import bpy

    class Context:
        region = SimpleNamespace(width=300)
        space_data = SimpleNamespace(overlay=SimpleNamespace(show_overlays=True))
        preferences = SimpleNamespace(system=SimpleNamespace(ui_scale=1.0))

        def __getattr__(self, name):
            return getattr(bpy.context, name)

    recorder = Recorder()
    mixed_in = tuple(base for base in panel.__bases__ if not issubclass(base, bpy.types.Panel))
    drawer = type("Panel", mixed_in, {"layout": recorder})()
    if hasattr(panel, "draw_header"):
        panel.draw_header(drawer, Context())
    panel.draw(drawer, Context())
    return recorder
