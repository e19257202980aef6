"""The shared codec module: bytes <-> typed records. numpy only, never bpy, no scene maths."""

from .dcx import Dcx
from .errors import FormatError

__all__ = ["Dcx", "FormatError"]
