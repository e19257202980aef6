"""Typed records -> datablocks and back. What scripts call; operators are a skin over it."""

from .collision.imports import CollisionSettings, import_collision
from .files import DecodedCache
from .imports import import_flver
from .result import CollisionResult, ImportedBody, ImportedModel, ImportResult
from .settings import FlverSettings, Lods

__all__ = [
    "CollisionResult",
    "CollisionSettings",
    "DecodedCache",
    "FlverSettings",
    "ImportResult",
    "ImportedBody",
    "ImportedModel",
    "Lods",
    "import_collision",
    "import_flver",
]
