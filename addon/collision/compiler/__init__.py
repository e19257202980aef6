"""The mesh compiler: triangles -> compressed meshes as the games' tool makes them; extern meshes."""

from .leaves import CustomPart
from .mesh import Compiled, compile_mesh
from .settings import Cancelled, CompileSettings, Progress

__all__ = ["Cancelled", "CompileSettings", "Compiled", "CustomPart", "Progress", "compile_mesh"]
