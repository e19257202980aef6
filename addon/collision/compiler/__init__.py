"""The mesh compiler: triangles -> compressed meshes as the games' tool makes them; extern meshes.

::

    compiled = compile_mesh(vertices, triangles, materials, CompileSettings(sdk="20180100", radius=0.015))
    body = Body.new("h433653", compiled.shape)
    data = write_collision("20180100", [body]).write()
"""

from .customs import custom_parts
from .extern import CompiledExtern, compile_extern
from .leaves import CustomPart
from .mesh import Compiled, compile_mesh
from .settings import Cancelled, CompileSettings, Progress
from .tables import repaint

__all__ = [
    "Cancelled",
    "CompileSettings",
    "Compiled",
    "CompiledExtern",
    "CustomPart",
    "Progress",
    "compile_extern",
    "compile_mesh",
    "custom_parts",
    "repaint",
]
