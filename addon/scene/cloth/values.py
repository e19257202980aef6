"""What users set of simulated cloths, in Blender and back: attributes of points and links, properties of objects.

What is read is exactly what was written, float32 for float32, so that what nobody changed is known as untouched. A
part that is missing, such as an attribute that was removed, stands for what the file has.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ...cloth.edits import SimValues
from ...codec import FormatError
from ...codec.binary import Array
from ...codec.havok import cloth as records
from ...maths import axes
from .keys import GRAVITY, PINNED, PREFIX, RANGE, SIM, VOLUME, parts, sim_objects
from .links import write_stiffness
from .pointclouds import read, read_own, write

REST = "rest"  # where a particle rests, which playing leaves alone
# attribute of points, its type, what of the values it is
PARTICLES = (
    ("radius", "FLOAT", "radius"),
    ("mass", "FLOAT", "mass"),
    ("friction", "FLOAT", "friction"),
    (PINNED, "BOOLEAN", "pinned"),
    ("local_range", "FLOAT", "max_distance"),
    ("range_above", "FLOAT", "max_normal"),
    ("range_below", "FLOAT", "min_normal"),
    ("collision_mask", "INT", "mask"),
)
# properties of point clouds by the name of the value; gravity besides, in Blender's axes
SETTINGS = ("damping", "substeps", "iterations", "landscape", "landscape_radius", "landscape_tolerance")


def write_values(cloud: Any, links: Mapping[int, Any], record: records.SimCloth, values: SimValues) -> None:
    """Show the values of a simulated cloth.

    Args:
        cloud: its point cloud, None where it is gone.
        links: its link objects by constraint set.
        record: the cloth as it is in the file that the values have their rows from.
        values: to show.
    """
    for index, obj in links.items():
        stiffness = values.stiffness[index]
        if stiffness is not None:
            write_stiffness(obj, record.constraints[index], stiffness)
    if cloud is None:
        return
    write_particles(cloud.data, record, values)
    write_inverse(cloud.data, record, values)
    cloud[GRAVITY] = axes.swap_vectors(values.gravity).tolist()
    for name in SETTINGS:
        value = getattr(values, name)
        cloud[PREFIX + name] = value if isinstance(value, bool | int) else float(value)
    for index, constraint in enumerate(record.constraints):
        if isinstance(constraint, records.LocalRange):
            cloud[f"{RANGE}{index}"] = float(values.stiffness[index])  # type: ignore[arg-type]
            cloud.id_properties_ui(f"{RANGE}{index}").update(min=0.0, max=1.0, description="Of the local range")


def write_particles(data: Any, record: records.SimCloth, values: SimValues) -> None:
    """Write the attributes of particles, of a point cloud or a mesh."""
    for name, kind, field in PARTICLES:
        stored = getattr(values, field)
        write(data, name, kind, stored.view(np.int32) if kind == "INT" else stored)
    for index, particles in _pulled(record):
        shown = np.full(len(record), -1, np.float32)
        shown[particles] = values.stiffness[index]
        write(data, f"{VOLUME}{index}", "FLOAT", shown)


def write_inverse(data: Any, record: records.SimCloth, values: SimValues) -> None:
    """Show the inverse masses that follow from masses and pins; the file's own where it has those."""
    known = (values.mass == record.mass) & (values.pinned == (record.inverse_mass == 0))
    moves = ~values.pinned & (values.mass > 0)
    inverse = np.where(moves, 1 / np.where(moves, values.mass, 1), 0)
    write(data, "inverse_mass", "FLOAT", np.where(known, record.inverse_mass, inverse).astype(np.float32))


def read_particles(data: Any, record: records.SimCloth, values: SimValues) -> SimValues:
    """Return values with those of particles that the attributes of a point cloud or a mesh have.

    Raises:
        FormatError: an attribute that was converted.
    """
    found: dict[str, Any] = {}
    for name, kind, field in PARTICLES:
        stored = read_own(data, name, kind)
        if stored is not None:
            found[field] = stored.view(np.uint32) if kind == "INT" else stored
    stiffness = list(values.stiffness)
    for index, particles in _pulled(record):
        shown = read_own(data, f"{VOLUME}{index}", "FLOAT")
        if shown is not None:
            stiffness[index] = shown[particles]
    return replace(values, stiffness=tuple(stiffness), **found)


def _pulled(record: records.SimCloth) -> Iterator[tuple[int, Array]]:
    """Yield the volumes of a cloth whose stiffness particles can show: each pulls a particle once."""
    for index, constraint in enumerate(record.constraints):
        if isinstance(constraint, records.Volume):
            particles = constraint.apply_particle
            if len(np.unique(particles)) == len(particles):
                yield index, particles


def read_values(cloud: Any, shares: Mapping[int, Array], record: records.SimCloth, values: SimValues) -> SimValues:
    """Return the values of a simulated cloth as they are in Blender.

    Args:
        cloud: its point cloud; None where it is gone.
        shares: what `read_stiffness` has of its links, by constraint set.
        record: the cloth as it is in the file.
        values: those of the file, for what is missing.

    Raises:
        FormatError: a property that is no number, an attribute that was converted.
    """
    if cloud is not None:
        values = replace(read_particles(cloud.data, record, values), **dict(_settings(cloud, values)))
    stiffness = [shares.get(index, share) for index, share in enumerate(values.stiffness)]
    for index, constraint in enumerate(record.constraints):
        if isinstance(constraint, records.LocalRange) and cloud is not None and f"{RANGE}{index}" in cloud:
            stiffness[index] = np.array(cloud[f"{RANGE}{index}"], np.float32)
    return replace(values, stiffness=tuple(stiffness))


def _settings(cloud: Any, values: SimValues) -> Iterator[tuple[str, Any]]:
    for key, name in ((GRAVITY, "gravity"), *((PREFIX + name, name) for name in SETTINGS)):
        if key not in cloud:
            continue
        try:
            if key == GRAVITY:
                yield name, axes.swap_vectors(np.array(cloud[key], np.float32))
            else:
                yield name, type(getattr(values, name))(cloud[key])
        except (TypeError, ValueError, IndexError) as error:
            raise FormatError(f"has a {name} that is none: {cloud[key]!r}") from error


def read_rest(cloud: Any) -> Array | None:
    """Return where particles rest, (n, 3) f4 in the games' axes; None where nothing says so.

    Raises:
        FormatError: what said so was converted.
    """
    rest = read_own(cloud.data, REST, "FLOAT_VECTOR")
    return None if rest is None else axes.swap_vectors(rest)


def put_to_rest(collection: Any) -> None:
    """Put the points of a cloth, and what hangs on them, where they rest."""
    clouds, _, _ = sim_objects(collection)
    rests = {sim: read(cloud.data, REST, "FLOAT_VECTOR") for sim, cloud in clouds.items()}
    for obj in of_particles(collection):
        rest = rests.get(obj[SIM])
        if rest is not None and count_points(obj) == len(rest):
            write(obj.data, "position", "FLOAT_VECTOR", rest)


def of_particles(collection: Any) -> list[Any]:
    """Return a cloth's points and links, without those that are being edited."""
    found = [*parts(collection, "points"), *parts(collection, "links")]
    return [obj for obj in found if not (obj.type == "MESH" and obj.data.is_editmode)]


def count_points(obj: Any) -> int:
    """Return how many points or vertices an object has."""
    return len(obj.data.points if obj.type == "POINTCLOUD" else obj.data.vertices)
