"""Typed records -> datablocks and back. What scripts call; operators are a skin over it."""

from .collision.imports import CollisionSettings, import_collision
from .exports import ExportResult, chosen_model, export_flver, models
from .files import DecodedCache
from .imports import import_flver
from .result import CollisionResult, ImportedBody, ImportedModel, ImportResult
from .settings import FlverExportSettings, FlverSettings, Included, LodPolicy, Lods, Wrapper

__all__ = [
    "CollisionResult",
    "CollisionSettings",
    "DecodedCache",
    "ExportResult",
    "FlverExportSettings",
    "FlverSettings",
    "ImportResult",
    "ImportedBody",
    "ImportedModel",
    "Included",
    "LodPolicy",
    "Lods",
    "Wrapper",
    "chosen_model",
    "export_flver",
    "import_collision",
    "import_flver",
    "models",
]
