"""Typed records -> datablocks and back. What scripts call; operators are a skin over it."""

from .cloth.imports import ClothSettings, import_cloth
from .cloth.player import Player
from .cloth.session import PlayOptions
from .collision.imports import CollisionSettings, import_collision
from .files import DecodedCache
from .imports import import_flver
from .result import ClothResult, CollisionResult, ImportedBody, ImportedCloth, ImportedModel, ImportResult
from .settings import FlverSettings, Lods

__all__ = [
    "ClothResult",
    "ClothSettings",
    "CollisionResult",
    "CollisionSettings",
    "DecodedCache",
    "FlverSettings",
    "ImportResult",
    "ImportedBody",
    "ImportedCloth",
    "ImportedModel",
    "Lods",
    "PlayOptions",
    "Player",
    "import_cloth",
    "import_collision",
    "import_flver",
]
