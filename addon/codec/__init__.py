"""The shared codec module: bytes <-> typed records. numpy only, never bpy, no scene maths."""

from .binder import Binder, SplitBinder
from .dcx import Dcx
from .errors import FormatError
from .havok import Tagfile, read_cloth

__all__ = ["Binder", "Dcx", "FormatError", "SplitBinder", "Tagfile", "read_cloth"]
