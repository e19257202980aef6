"""The shared codec module: bytes <-> typed records. numpy only, never bpy, no scene maths."""

from .binder import Binder, SplitBinder
from .dcx import Dcx
from .errors import FormatError
from .flver import Flver
from .havok import Tagfile
from .havok.cloth import read_cloth
from .havok.cloth.storing import store_cloth
from .havok.collision import read_collision
from .matbin import Matbin
from .mtd import Mtd
from .source import open_source
from .tpf import Tpf

__all__ = [
    "Binder", "Dcx", "Flver", "FormatError", "Matbin", "Mtd", "SplitBinder", "Tagfile", "Tpf", "open_source",
    "read_cloth", "read_collision", "store_cloth",
]  # fmt: skip
