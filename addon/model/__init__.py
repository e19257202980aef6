"""What is done with FLVER records: placing nodes, vertices and dummies, and checking a model. numpy only."""

from .checks import findings
from .placed import Level, PlacedMesh, PlacedModel
from .placement import DummyFrames, dummy_frames, node_matrices, place_mesh, vertex_bones

__all__ = [
    "DummyFrames", "Level", "PlacedMesh", "PlacedModel", "dummy_frames", "findings", "node_matrices", "place_mesh",
    "vertex_bones",
]  # fmt: skip
