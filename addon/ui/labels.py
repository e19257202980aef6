"""Which labels of many are written where in a view, so that they can be read. Needs no Blender."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..codec.binary import Array


@dataclass(frozen=True, eq=False)
class Layout:
    """Labels of a view, nearest first.

    Attributes:
        rows: (k,) int, which of the points they are of.
        places: (k, 2) float64, pixels from the lower left corner.
        more: (k,) int, labels that there is no room for beside each of them.
        left_out: places in the view that have no label, for there are too many.
    """

    rows: Array
    places: Array
    more: Array
    left_out: int


def arrange(points: Array, perspective: Array, size: tuple[int, int], cell: tuple[float, float], most: int) -> Layout:
    """Choose the labels of a view: of those that would lie upon each other the nearest, which counts the others.

    Args:
        points: (n, 3) world space.
        perspective: (4, 4) from there to the view, as Blender's `perspective_matrix`.
        size: of the view, pixels.
        cell: width and height that a label takes, pixels.
        most: labels, all in all.
    """
    places, depth, shown = project(points, perspective, size)
    rows = np.flatnonzero(shown)
    rows = rows[np.argsort(depth[rows], kind="stable")]
    cells = np.floor(places[rows] / cell).astype(np.int64)
    columns = int(size[0] // cell[0]) + 1
    _, first, counts = np.unique(cells[:, 0] + columns * cells[:, 1], return_index=True, return_counts=True)
    order = np.argsort(first)
    chosen = rows[first[order]][:most]
    return Layout(chosen, places[chosen], counts[order][:most] - 1, max(len(first) - most, 0))


def project(points: Array, perspective: Array, size: tuple[int, int]) -> tuple[Array, Array, Array]:
    """Return where points are in a view.

    Args:
        points: (n, 3) world space.
        perspective: (4, 4) from there to the view.
        size: of the view, pixels.

    Returns:
        (n, 2) pixels from the lower left corner; (n,) depth, less is nearer; (n,) bool, whether they are in the view,
        in front of the viewer and before its far end.
    """
    clip = points @ perspective[:, :3].T + perspective[:, 3]
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        seen = clip[:, :3] / clip[:, 3:]
    shown = (clip[:, 3] > 0) & (np.abs(seen) <= 1).all(axis=1)
    return (seen[:, :2] + 1) / 2 * size, seen[:, 2], shown
