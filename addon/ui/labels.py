"""Which labels of many are written where in a view, so that they can be read. Needs no Blender."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..codec.binary import Array

ROW, COLUMN = 14.0, 8.0  # pixels of the raster in which labels are kept apart, at a scale of 1


@dataclass(frozen=True, eq=False)
class Layout:
    """Labels of a view, nearest first.

    Attributes:
        rows: (k,) int, which of the points they are of.
        places: (k, 2) float64, pixels from the lower left corner to the middle of a label's left end.
        more: (k,) int, labels that lie under each of them.
        left_out: labels that are not written for there are too many.
    """

    rows: Array
    places: Array
    more: Array
    left_out: int


def arrange(
    points: Array, widths: Array, perspective: Array, size: tuple[int, int], *, most: int, scale: float = 1.0
) -> Layout:
    """Choose the labels of a view: of those that would lie upon each other the nearest, which counts the others.

    Labels stand in rows, so that one is up to half a row above or below its point.

    Args:
        points: (n, 3) world space.
        widths: (n,) of their labels, pixels.
        perspective: (4, 4) from there to the view, as Blender's `perspective_matrix`.
        size: of the view, pixels.
        most: labels, all in all.
        scale: of the raster.
    """
    places, depth, shown = project(points, perspective, size)
    near = np.flatnonzero(shown)
    near = near[np.argsort(depth[near], kind="stable")]
    lines = np.floor(places[near, 1] / (ROW * scale)).astype(np.int64)
    spans = np.stack((places[near, 0], places[near, 0] + widths[near])) / (COLUMN * scale)
    first, last = np.floor(spans).astype(np.int64)
    taken: dict[tuple[int, int], int] = {}  # the label in each part of the raster
    chosen, more, left_out = list[int](), list[int](), 0
    for at, (line, begin, end) in enumerate(zip(lines.tolist(), first.tolist(), last.tolist(), strict=True)):
        parts = [(line, column) for column in range(begin, end + 1)]
        over = next((taken[part] for part in parts if part in taken), None)
        if over is not None:
            more[over] += 1
        elif len(chosen) < most:
            taken.update(dict.fromkeys(parts, len(chosen)))
            chosen.append(at)
            more.append(0)
        else:
            left_out += 1
    rows = near[chosen]
    middles = (lines[chosen] + 0.5) * ROW * scale
    return Layout(rows, np.column_stack((places[rows, 0], middles)), np.array(more, np.int64), left_out)


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
