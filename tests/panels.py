"""Panels drawn without a window."""

from __future__ import annotations

from types import SimpleNamespace


class Recorder:
    """Stands in for a panel's layout: takes any call, remembers texts and properties, and checks that those exist."""

    def __init__(self):
        self.seen = []
        self.button = type("Button", (), {})

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *_arguments, **_keywords: self

    def label(self, text="", **_keywords):
        self.seen.append(text)

    def prop(self, owner, name, **_keywords):
        getattr(owner, name)
        self.seen.append(name)

    def operator(self, name, **_keywords):
        import bpy

        group, title = name.split(".")
        getattr(getattr(bpy.ops, group), title).get_rna_type()
        self.seen.append(name)
        return self.button()


def drawn(panel) -> list[str]:
    """Return the texts, properties and operators that a panel shows, its header first."""
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
    return recorder.seen
