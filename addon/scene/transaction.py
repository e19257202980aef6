"""All or nothing: datablocks made inside a transaction that fails are removed, and mode and selection come back."""

from __future__ import annotations

from collections.abc import Iterator
from types import TracebackType
from typing import Any, Self

import bpy


class Transaction:
    """A context manager around code that makes datablocks.

    On leaving, mode, selection and active object are what they were; where the code has raised, every datablock that
    did not exist before is removed as well. The exception goes on.
    """

    def __init__(self, context: Any) -> None:
        self.context = context

    def __enter__(self) -> Self:
        view_layer = self.context.view_layer
        self._active = view_layer.objects.active
        self._selected = [obj for obj in view_layer.objects if obj.select_get(view_layer=view_layer)]
        self._mode = self._active.mode if self._active is not None else "OBJECT"
        if self._mode != "OBJECT":
            bpy.ops.object.mode_set(mode="OBJECT")
        self._before = {block.session_uid for block in _datablocks()}
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        view_layer = self.context.view_layer
        if kind is not None:
            if view_layer.objects.active is not None and view_layer.objects.active.mode != "OBJECT":
                bpy.ops.object.mode_set(mode="OBJECT")
            bpy.data.batch_remove([block for block in _datablocks() if block.session_uid not in self._before])
            view_layer.update()  # its list of objects still has places for those removed
        for obj in view_layer.objects:
            obj.select_set(obj in self._selected, view_layer=view_layer)
        view_layer.objects.active = self._active
        if self._mode != "OBJECT":
            bpy.ops.object.mode_set(mode=self._mode)


def _datablocks() -> Iterator[Any]:
    """Yield every datablock of the file."""
    for prop in bpy.data.bl_rna.properties:
        if prop.type == "COLLECTION":
            yield from getattr(bpy.data, prop.identifier)
