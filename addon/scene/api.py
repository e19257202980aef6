"""The public names of `addon.scene`."""

from .cache import DecodedCache
from .chosen import chosen_cloth, chosen_model
from .cloth.exports import export_cloth
from .cloth.imports import ClothSettings, import_cloth
from .cloth.player import Player
from .cloth.session import PlayOptions
from .collision.exports import CollisionExport, chosen_bodies, export_collision
from .collision.imports import CollisionSettings, import_collision
from .exports import export_flver
from .imports import import_flver
from .keys import models
from .preferences import Preferences
from .result import ClothResult, CollisionResult, ImportedBody, ImportedCloth, ImportedModel, ImportResult
from .settings import (
    ClothExportSettings,
    CollisionExportSettings,
    FlverExportSettings,
    FlverSettings,
    GameFolders,
    Included,
    LodPolicy,
    Lods,
    Wrapper,
)
from .writing import ExportResult

__all__ = [
    "ClothExportSettings",
    "ClothResult",
    "ClothSettings",
    "CollisionExport",
    "CollisionExportSettings",
    "CollisionResult",
    "CollisionSettings",
    "DecodedCache",
    "ExportResult",
    "FlverExportSettings",
    "FlverSettings",
    "GameFolders",
    "ImportResult",
    "ImportedBody",
    "ImportedCloth",
    "ImportedModel",
    "Included",
    "LodPolicy",
    "Lods",
    "PlayOptions",
    "Player",
    "Preferences",
    "Wrapper",
    "chosen_bodies",
    "chosen_cloth",
    "chosen_model",
    "export_cloth",
    "export_collision",
    "export_flver",
    "import_cloth",
    "import_collision",
    "import_flver",
    "models",
]
