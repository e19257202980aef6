"""The public names of `addon.scene`."""

from .cache import DecodedCache
from .cloth.imports import ClothSettings, import_cloth
from .cloth.player import Player
from .cloth.session import PlayOptions
from .collision.exports import CollisionExport, chosen_bodies, export_collision
from .collision.imports import CollisionSettings, import_collision
from .exports import chosen_model, export_flver, models
from .imports import import_flver
from .result import ClothResult, CollisionResult, ImportedBody, ImportedCloth, ImportedModel, ImportResult
from .settings import CollisionExportSettings, FlverExportSettings, FlverSettings, Included, LodPolicy, Lods, Wrapper
from .writing import ExportResult

__all__ = [
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
    "ImportResult",
    "ImportedBody",
    "ImportedCloth",
    "ImportedModel",
    "Included",
    "LodPolicy",
    "Lods",
    "PlayOptions",
    "Player",
    "Wrapper",
    "chosen_bodies",
    "chosen_model",
    "export_collision",
    "export_flver",
    "import_cloth",
    "import_collision",
    "import_flver",
    "models",
]
