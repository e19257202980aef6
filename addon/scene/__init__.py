"""Typed records -> datablocks and back. What scripts call; operators are a skin over it."""

from .exports import chosen_model, export_flver, models
from .imports import DecodedCache, import_flver
from .result import ExportResult, ImportedModel, ImportResult
from .settings import FlverExportSettings, FlverSettings, Included, LodPolicy, Lods, Wrapper

__all__ = [
    "DecodedCache", "ExportResult", "FlverExportSettings", "FlverSettings", "ImportResult", "ImportedModel", "Included",
    "LodPolicy", "Lods", "Wrapper", "chosen_model", "export_flver", "import_flver", "models",
]  # fmt: skip
