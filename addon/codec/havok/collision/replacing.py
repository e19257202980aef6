"""Bodies -> the tagfile that they were read from: the inverse of `read_collision` on a file that is there.

What bodies do not say, such as constraints, materials of the engine and drag, stays. Bodies as they were read give the
same bytes.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from ...errors import FormatError
from ..classes import learn_hashes
from ..making import records
from ..objects import View
from ..tagfile import Tagfile
from .bodies import NEW, Body, unit
from .shapes import ExternShape, MeshShape, Shape
from .storing import store_extern, store_mesh
from .writing import ShapeWriter, write_body


def replace_collision(tag: Tagfile, bodies: Iterable[Body]) -> None:
    """Let a file hold these bodies.

    Args:
        tag: the file, with the types of its own or of its compendium.
        bodies: by system; those with the index `NEW` are added to their system. Bodies that the file has and that are
            not given are taken out.

    Raises:
        FormatError: a body of a system that is not there, bodies added to a ragdoll or taken out of one, a class that
            the types lack.
    """
    systems = [view for view in tag.find("hknpPhysicsSystemData") if not view.values.ndim]
    wanted: dict[int, list[Body]] = {number: [] for number in range(len(systems))}
    for body in bodies:
        if body.system not in wanted:
            raise FormatError(f"body {body.name} is of system {body.system}, the file has {len(systems)}", tag.file)
        wanted[body.system].append(body)
    learn_hashes(tag)
    replacer = _Replacer(tag)
    for number, system in enumerate(systems):
        replacer.replace(system, wanted[number])


class _Replacer:
    """Bodies of one file."""

    def __init__(self, tag: Tagfile) -> None:
        self.writer = ShapeWriter(tag)
        self.held: dict[int, Shape] = {}  # which shape an object holds, by item

    def replace(self, system: View, bodies: list[Body]) -> None:
        """Let a system hold these bodies."""
        count = len(system.many("bodyCinfos"))
        order = [body.index for body in bodies]
        kept = [index for index in order if index != NEW]
        if len(set(kept)) != len(kept) or not all(0 <= index < count for index in kept):
            system.fail(f"bodies {kept} of {count}", "bodyCinfos")
        if order != list(range(count)):
            if system.is_a("hknpRagdollData") or int(system.values["constraintCinfos"]["item"]):
                system.fail(
                    "bodies that constraints hold together: none can be added, moved or taken out", "bodyCinfos"
                )
            stored = records(system, "bodyCinfos", count)
            fresh = np.zeros(len(bodies), stored.dtype)
            for place, index in enumerate(order):
                if index != NEW:
                    fresh[place] = stored[index]
            system["bodyCinfos"] = fresh
        for record, body in zip(system.many("bodyCinfos"), bodies, strict=True):
            if body.index == NEW:
                write_body(record, body, self.writer)
            else:
                self._update(record, body)

    def _update(self, record: View, body: Body) -> None:
        """Write what of a body differs from what its record says."""
        for name, value in body.fields.items():
            if name in record:
                record[name] = value
        if (record.text("name") or "") != body.name:
            record["name"] = None  # the text may be another's too
            record["name"] = body.name
        if (record.numbers("position", "<f4", (4,))[:3] != body.position).any():
            record["position"] = np.append(body.position, np.float32(1))
        if (unit(record.numbers("orientation", "<f4", (4,))[None])[0] != body.orientation).any():
            record["orientation"] = body.orientation
        self._update_shape(record, body.shape)

    def _update_shape(self, record: View, shape: Shape | None) -> None:
        """Store a mesh in the object that is there, if it is of its class; shapes that are no meshes stay."""
        view = record.maybe("shape")
        if shape is None:
            record["shape"] = None
        elif view is None or view.layout.name != shape.name or self.held.setdefault(view.item, shape) is not shape:
            record["shape"] = self.writer.write(shape)
        elif isinstance(shape, MeshShape | ExternShape):
            if isinstance(shape, MeshShape):
                store_mesh(view, shape.mesh)
            else:
                store_extern(view, shape)
            view["flags"], view["numShapeKeyBits"], view["convexRadius"] = shape.flags, shape.key_bits, shape.radius
