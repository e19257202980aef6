"""Typed records -> datablocks and back. What scripts call; operators are a skin over it."""

from .imports import DecodedCache, import_flver
from .result import ImportedModel, ImportResult
from .settings import FlverSettings, Lods

__all__ = ["DecodedCache", "FlverSettings", "ImportResult", "ImportedModel", "Lods", "import_flver"]
