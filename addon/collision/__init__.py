"""What is done with collision records: whole surfaces, checks."""

from .checks import Finding, check
from .surfaces import Surface, SurfaceKind, surface

__all__ = ["Finding", "Surface", "SurfaceKind", "check", "surface"]
