"""What the panels show of cloth's objects as fields: they read and write the properties that exports read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import bpy
from bpy.props import BoolProperty, FloatProperty, FloatVectorProperty, IntProperty, PointerProperty, StringProperty

from ..scene.cloth.keys import GRAVITY, NAME, PREFIX, STIFFNESS
from ..scene.texts import loaded_text, stored_text

PROPERTY = "ossuary_cloth"
Access = dict[str, Callable[..., Any]]


def _kept(name: str, nothing: Any, *, shows: bool = False) -> Access:
    """Return how a field reads and writes a property of its object; of a shape, which is drawn anew."""
    key = PREFIX + name

    def get(self: Any) -> Any:
        return self.id_data.get(key, nothing)

    def put(self: Any, value: Any) -> None:
        from ..scene.cloth.shapes import redraw

        self.id_data[key] = list(value) if isinstance(nothing, tuple) else value
        if shows:
            redraw(self.id_data)

    return {"get": get, "set": put}


def _text() -> Access:
    def get(self: Any) -> str:
        return loaded_text(self.id_data.get(NAME, "")).encode("utf-8", "replace").decode()

    def put(self: Any, value: str) -> None:
        self.id_data[NAME] = stored_text(value)

    return {"get": get, "set": put}


def _painted(name: str) -> Access:
    """Return how a field reads and writes an attribute of all edges at once: their mean, where they differ."""

    def get(self: Any) -> float:
        import numpy as np

        from ..scene.cloth.pointclouds import read

        values = read(self.id_data.data, name, "FLOAT", "EDGE")
        return 0.0 if values is None or not len(values) else float(values.mean(dtype=np.float64))

    def put(self: Any, value: float) -> None:
        import numpy as np

        from ..scene.cloth.pointclouds import write

        mesh = self.id_data.data
        if not mesh.is_editmode:
            write(mesh, name, "FLOAT", np.full(len(mesh.edges), value, np.float32), "EDGE")
            mesh.update_tag()

    return {"get": get, "set": put}


ORIGIN = (0.0, 0.0, 0.0)
SHARE = {"soft_min": 0.0, "soft_max": 1.0, "precision": 3}


class OssuaryClothObject(bpy.types.PropertyGroup):
    """What users set of an object that is a part of cloth."""

    name_stored: StringProperty(name="Name", description="As the file has it", **_text())
    gravity: FloatVectorProperty(
        name="Gravity", description="Of this cloth", subtype="ACCELERATION", size=3,
        **_kept(GRAVITY[len(PREFIX) :], ORIGIN),
    )  # fmt: skip
    damping: FloatProperty(
        name="Damping", description="Share of the speed that is lost in a second", min=0.0, soft_max=1.0, precision=4,
        **_kept("damping", 0.0),
    )  # fmt: skip
    substeps: IntProperty(
        name="Substeps", description="Into how many a step is divided", min=1, max=255, soft_max=8,
        **_kept("substeps", 1),
    )  # fmt: skip
    iterations: IntProperty(
        name="Iterations", description="How often constraints are solved in each substep", min=1, max=255, soft_max=8,
        **_kept("iterations", 1),
    )  # fmt: skip
    landscape: BoolProperty(
        name="Landscape", description="The game lets the cloth meet the ground; it is not simulated here",
        **_kept("landscape", nothing=False),
    )  # fmt: skip
    landscape_radius: FloatProperty(
        name="Landscape Radius", description="Of all particles, for the ground", min=0.0, subtype="DISTANCE",
        **_kept("landscape_radius", 0.0),
    )  # fmt: skip
    landscape_tolerance: FloatProperty(
        name="Landscape Tolerance", description="How far from the ground it is looked for", min=0.0, subtype="DISTANCE",
        **_kept("landscape_tolerance", 0.0),
    )  # fmt: skip
    stiffness: FloatProperty(
        name="Stiffness", description="Of all links of the set; shows the mean where they differ", **SHARE,
        **_painted(STIFFNESS[1][0]),
    )  # fmt: skip
    bend_stiffness: FloatProperty(
        name="Bend", description="How hard all links of the set push; shows the mean where they differ", **SHARE,
        **_painted(STIFFNESS[2][0]),
    )  # fmt: skip
    stretch_stiffness: FloatProperty(
        name="Stretch", description="How hard all links of the set pull; shows the mean where they differ", **SHARE,
        **_painted(STIFFNESS[2][1]),
    )  # fmt: skip


_LENGTH = {"min": 0.0001, "soft_max": 2.0, "precision": 4, "subtype": "DISTANCE"}
_POINTS = {"center": "Center", "start": "Start", "end": "End", "small": "Small End", "big": "Big End"}
_RADII = {"radius": "Radius", "small_radius": "Small Radius", "big_radius": "Big Radius"}
OssuaryClothObject.__annotations__ |= {
    name: FloatVectorProperty(
        name=title, description="In the object's own space", subtype="XYZ", unit="LENGTH", size=3, precision=4,
        **_kept(name, ORIGIN, shows=True),
    )
    for name, title in _POINTS.items()
} | {
    name: FloatProperty(name=title, description="Of the shape", **_LENGTH, **_kept(name, 0.1, shows=True))
    for name, title in _RADII.items()
}  # fmt: skip


CLASSES = (OssuaryClothObject,)


def register(_package: str) -> None:
    """Add the fields as a property of objects."""
    setattr(bpy.types.Object, PROPERTY, PointerProperty(type=OssuaryClothObject))


def unregister() -> None:
    """Take them away."""
    delattr(bpy.types.Object, PROPERTY)
