"""FLVER2: the games' models."""

from .faces import FaceSet, FaceSetFlags, is_degenerate
from .formats import Semantic, uv_factor
from .gx import GxItem, GxList, GxReference
from .layout import Layout, VertexBuffer, Vertices, decode_vertices, encode_vertices
from .model import Flver
from .parts import Material, Mesh, Packing, SkeletonSet, Texture

__all__ = [
    "FaceSet", "FaceSetFlags", "Flver", "GxItem", "GxList", "GxReference", "Layout", "Material", "Mesh", "Packing",
    "Semantic", "SkeletonSet", "Texture", "VertexBuffer", "Vertices", "decode_vertices", "encode_vertices",
    "is_degenerate", "uv_factor",
]  # fmt: skip
