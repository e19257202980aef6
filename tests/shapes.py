"""Surfaces for models of the project's own: grids of points with normals, tangents and texture coordinates."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

Array = np.ndarray


@dataclass
class Surface:
    """A grid of points, rows by columns, in a space of its own (left-handed, Y up, metres).

    Attributes:
        points: (r, c, 3) float64.
        uv_scale: texture repeats along columns and rows.
        inside_out: whether a closed surface is seen from within.
    """

    points: Array
    uv_scale: tuple[float, float] = (1.0, 1.0)
    inside_out: bool = False

    @property
    def positions(self) -> Array:
        """(n, 3) float32."""
        return self.points.reshape(-1, 3).astype(np.float32)

    @property
    def uvs(self) -> Array:
        """(n, 2) float32, V pointing down the rows."""
        rows, columns = self.points.shape[:2]
        v, u = np.meshgrid(
            np.linspace(0, self.uv_scale[1], rows), np.linspace(0, self.uv_scale[0], columns), indexing="ij"
        )
        return np.stack((u, v), axis=-1).reshape(-1, 2).astype(np.float32)

    def triangles(self, step: int = 1) -> Array:
        """Return (m, 3) triangles over every ``step``-th row and column, wound against the normals, none flat."""
        rows, columns = self.points.shape[:2]
        grid = np.arange(rows * columns).reshape(rows, columns)[_every(rows, step)][:, _every(columns, step)]
        a, b, c, d = (part.ravel() for part in (grid[:-1, :-1], grid[:-1, 1:], grid[1:, 1:], grid[1:, :-1]))
        triangles = np.concatenate((np.stack((a, b, c), axis=1), np.stack((a, c, d), axis=1)))
        cross = _cross(self.points.reshape(-1, 3), triangles)
        triangles = triangles[np.linalg.norm(cross, axis=1) > 1e-9]
        return triangles[:, ::-1] if self._outward() > 0 else triangles

    def _outward(self) -> int:
        """Return 1 if the raw grid's triangles are wound along the outward normals, -1 if against them."""
        points = self.points.reshape(-1, 3)
        rows, columns = self.points.shape[:2]
        grid = np.arange(rows * columns).reshape(rows, columns)
        a, b, c, d = (part.ravel() for part in (grid[:-1, :-1], grid[:-1, 1:], grid[1:, 1:], grid[1:, :-1]))
        triangles = np.concatenate((np.stack((a, b, c), axis=1), np.stack((a, c, d), axis=1)))
        corners = points[triangles] - points.mean(axis=0)
        volume = np.linalg.det(corners).sum()
        return -1 if (volume < 0) != self.inside_out else 1

    @property
    def normals(self) -> Array:
        """(n, 3) float64 unit normals, smooth over seams and poles."""
        points = self.points.reshape(-1, 3)
        triangles = self.triangles()[:, ::-1]
        _unique, welded = np.unique(points.round(6) + 0.0, axis=0, return_inverse=True)
        sums = np.zeros((welded.max() + 1, 3))
        for corner in range(3):
            np.add.at(sums, welded.ravel()[triangles[:, corner]], _cross(points, triangles))
        return _unit(sums[welded.ravel()])

    @property
    def tangents(self) -> Array:
        """(n, 4) float64: unit +dP/dV made square to the normal, and the sign of the UV determinant."""
        normals = self.normals
        down = np.gradient(self.points, axis=0).reshape(-1, 3)
        across = np.gradient(self.points, axis=1).reshape(-1, 3)
        down -= normals * (down * normals).sum(axis=1, keepdims=True)
        lost = np.linalg.norm(down, axis=1) < 1e-9
        down[lost] = np.cross(normals[lost], np.eye(3)[np.abs(normals[lost]).argmin(axis=1)])
        tangents = _unit(down)
        sign = np.sign((np.cross(normals, tangents) * across).sum())
        return np.concatenate((tangents, np.full((len(tangents), 1), sign)), axis=1)


def _every(count: int, step: int) -> Array:
    """Return every ``step``-th number below ``count``, and the last."""
    return np.unique(np.append(np.arange(0, count, step), count - 1))


def _cross(points: Array, triangles: Array) -> Array:
    a, b, c = (points[triangles[:, corner]] for corner in range(3))
    return np.cross(b - a, c - a)


def _unit(vectors: Array) -> Array:
    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.where(length > 0, vectors / np.where(length > 0, length, 1), (0.0, 1.0, 0.0))


def lathe(profile: list[tuple[float, float]], columns: int = 24, rows_between: int = 2) -> Surface:
    """Turn a profile of (radius, height), from top to bottom, about the Y axis."""
    corners = np.array(profile, np.float64)
    places = np.linspace(0, len(corners) - 1, (len(corners) - 1) * rows_between + 1)
    radius, height = (np.interp(places, np.arange(len(corners)), corners[:, i]) for i in (0, 1))
    angle = np.linspace(0, 2 * np.pi, columns + 1)
    points = np.stack((
        radius[:, None] * np.cos(angle), np.broadcast_to(height[:, None], (len(radius), columns + 1)),
        radius[:, None] * np.sin(angle),
    ), axis=-1)  # fmt: skip
    return Surface(points, (2.0, 1.0))


def tube(path: Array, radius: Array, columns: int = 10) -> Surface:
    """Lay a tube along a path of (k, 3) points with a radius at each."""
    along = _unit(np.gradient(path, axis=0))
    side = np.cross(along, (0.31, 0.2, 0.93))
    side = _unit(side)
    up = np.cross(side, along)
    angle = np.linspace(0, 2 * np.pi, columns + 1)[None, :, None]
    ring = np.cos(angle) * side[:, None] + np.sin(angle) * up[:, None]
    return Surface(path[:, None] + ring * np.asarray(radius)[:, None, None], (1.0, len(path) / 4))


def femur(length: float = 0.5) -> Surface:
    """A long bone along X, with its knobs."""
    x = np.linspace(0, 1, 25)
    ends = np.exp(-(((x - 0.06) / 0.07) ** 2)) + np.exp(-(((x - 0.94) / 0.07) ** 2))
    cap = np.sqrt(np.clip(1 - np.abs(2 * x - 1) ** 12, 0, 1))
    radius = (0.022 + 0.028 * ends) * cap
    path = np.stack(((x - 0.5) * length, 0.02 * np.sin(np.pi * x), np.zeros(len(x))), axis=1)
    return tube(path, radius, 12)


def skull() -> Surface:
    """A skull that looks along -Z, about 0.22 m high, its centre at the origin."""
    rows, columns = 49, 65
    polar = np.linspace(0.0, np.pi, rows)[:, None]
    around = np.linspace(-np.pi, np.pi, columns)[None, :]
    direction = np.stack((
        np.sin(polar) * np.sin(around), np.broadcast_to(np.cos(polar), (rows, columns)),
        -np.sin(polar) * np.cos(around),
    ), axis=-1)  # fmt: skip
    x, y, z = np.moveaxis(direction, -1, 0)

    def bump(at: tuple[float, float, float], width: float) -> Array:
        center = np.array(at) / np.linalg.norm(at)
        return np.exp(-((np.arccos(np.clip(direction @ center, -1, 1)) / width) ** 2))

    radius = np.ones((rows, columns))
    front = np.clip(-z, 0, 1)
    for side in (-1, 1):
        radius -= 0.42 * bump((side * 0.42, 0.02, -1), 0.25)  # eye sockets
        radius += 0.07 * bump((side * 0.45, 0.36, -1), 0.26)  # brows
        radius += 0.10 * bump((side * 0.75, -0.28, -0.75), 0.24)  # cheekbones
    radius -= 0.20 * bump((0, -0.34, -1), 0.13)  # nose
    radius += 0.15 * bump((0, -0.78, -1), 0.40)  # jaw
    radius += 0.05 * front * np.exp(-(((y + 0.62) / 0.10) ** 2)) * np.cos(28 * np.arctan2(x, -z + 1e-9))  # teeth
    narrow = 1 - 0.34 * np.clip(-y - 0.15, 0, 1)
    below = np.clip(-y, 0, 1)
    size = np.stack((0.088 * narrow, 0.112 + 0.02 * below, 0.115 - 0.035 * below * (z > 0)), axis=-1)
    return Surface(direction * radius[..., None] * size, (1.0, 1.0))


def banner(width: float, height: float) -> Surface:
    """A hanging cloth with folds, its upper edge along X through the origin."""
    rows, columns = 29, 25
    down = np.linspace(0, 1, rows)[:, None]
    across = np.linspace(-1, 1, columns)[None, :]
    points = np.stack((
        across * width / 2 * (1 - 0.12 * down), -height * down * (1 + 0.10 * (1 - np.abs(across))),
        (0.012 + 0.03 * down) * np.sin(6.5 * across + 1.2 * down) - 0.05 * down**2,
    ), axis=-1)  # fmt: skip
    return Surface(points, (1.0, 1.0))
