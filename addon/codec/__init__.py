"""The shared codec module: bytes <-> typed records. numpy only, never bpy, no scene maths."""

from .binder import Binder, SplitBinder
from .dcx import Dcx
from .errors import FormatError
from .flver import Flver
from .havok import Tagfile
from .havok.cloth import read_cloth
from .havok.collision import read_collision
from .source import open_source

__all__ = [
    "Binder", "Dcx", "Flver", "FormatError", "SplitBinder", "Tagfile", "open_source", "read_cloth", "read_collision",
]  # fmt: skip
