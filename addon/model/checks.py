"""What is odd about a model, in sentences for the person who opens it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ..codec.binary import Array
from ..codec.flver import Flver

BOUNDS_TOLERANCE = 1e-3  # of the diagonal; every model of the games but a few in ten thousand keeps to it


@np.errstate(over="ignore", invalid="ignore")
def bounds_deviation(flver: Flver, positions: Sequence[Array]) -> float:
    """Return how far the header's bounds are from those of the posed vertices, as a share of their own diagonal.

    Args:
        flver: the model.
        positions: (v, 3) for each mesh, in model space.

    Returns:
        0.0 for models without vertices and for SpeedTree models, whose bounds are those of a placed instance.
    """
    filled = [part for part in positions if len(part)]
    if not filled or flver.is_speedtree:
        return 0.0
    low = np.min([part.min(axis=0) for part in filled], axis=0)
    high = np.max([part.max(axis=0) for part in filled], axis=0)
    stored = np.array([flver.header["bounds_min"], flver.header["bounds_max"]], np.float64)
    deviation = float(np.abs(stored - (low, high)).max())
    return deviation / (float(np.linalg.norm(stored[1] - stored[0])) or 1.0)


def findings(flver: Flver, positions: Sequence[Array]) -> list[str]:
    """Return what a modder should know about the model: bounds that do not fit, indices that name nothing.

    Args:
        flver: the model.
        positions: (v, 3) for each mesh, in model space.
    """
    result = list(_wild_indices(flver))
    deviation = bounds_deviation(flver, positions)
    if not deviation <= BOUNDS_TOLERANCE:
        result.append(f"the stored bounds are {deviation:.2%} off those of the vertices")
    if flver.is_speedtree:
        result.append("a SpeedTree model: parts of its vertices are not stored in the file")
    return result


def _wild_indices(flver: Flver) -> Iterator[str]:
    count = len(flver.nodes)
    links = [flver.nodes[field] for field in ("first_child", "next_sibling", "previous_sibling")]
    groups = {
        "node links": np.concatenate(links),
        "mesh nodes": np.array([mesh.node for mesh in flver.meshes], np.int64),
        "palette entries": np.concatenate([np.zeros(0, np.int32), *(mesh.palette for mesh in flver.meshes)]),
        "dummy parents": flver.dummies["parent"],
        "dummy attach nodes": flver.dummies["attach"],
    }
    if flver.skeletons is not None:
        entries = (flver.skeletons.base["node"], flver.skeletons.all["node"])
        groups["skeleton entries"] = np.concatenate(entries)
    for name, values in groups.items():
        wild = int(((values < -1) | (values >= count)).sum())
        if wild:
            yield f"{wild} {name} name nodes that the model does not have"
    materials = sum(not 0 <= mesh.material < len(flver.materials) for mesh in flver.meshes)
    if materials:
        yield f"{materials} meshes name materials that the model does not have"
