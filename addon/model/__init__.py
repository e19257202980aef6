"""What is done with FLVER records: placing nodes, vertices and dummies, checking a model, completing one that is made.

numpy only.
"""

from .checks import findings
from .derived import complete
from .placed import Level, PlacedMesh, PlacedModel
from .placement import DummyFrames, dummy_frames, node_matrices, place_mesh, vertex_bones

__all__ = [
    "DummyFrames", "Level", "PlacedMesh", "PlacedModel", "complete", "dummy_frames", "findings", "node_matrices",
    "place_mesh", "vertex_bones",
]  # fmt: skip
