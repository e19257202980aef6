"""Collision records: compressed and extern meshes, convex shapes, their trees, and the bodies that hold them."""

from .bodies import Body, read_collision
from .decode import NO_MATERIAL, Triangles

__all__ = ["NO_MATERIAL", "Body", "Triangles", "read_collision"]
