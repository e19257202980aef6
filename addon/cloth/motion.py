"""How collidables move: driven to their bones once a frame, then carried on each substep.

Seed "Havok cloth data", Sekiro's code: quaternions are not normalised before they are compared. All collidables go
together, maps as (4, 3, k), quaternions (4, k) in the order x, y, z, w.
"""

from __future__ import annotations

import numpy as np

from ..codec.binary import Array
from .settings import Inverse
from .vectors import EPSILON, HALF, ONE, TWO, ZERO, cross, dot

HALF_PI = np.float32(1.57079637)
SMALLEST = np.float32(1e-4)
ASIN = tuple(np.float32(value) for value in (0.0421632007, 0.024181312, 0.0454700254, 0.0749530047, 0.166667521))
COSINE = tuple(np.float32(value) for value in (0.822948, 0.130529, 0.044408))
FOUR_OVER_PI_SQUARED = np.float32(4 / np.pi**2)
NEXT = (1, 2, 0)


def drive(current: Array, goal: Array, dt: np.float32, rsqrt: Inverse) -> tuple[Array, Array]:
    """Return the velocities that bring collidables to their bones.

    Args:
        current: (4, 3, k) maps, where they are.
        goal: (4, 3, k) where their bones want them.
        dt: seconds of the whole step.
        rsqrt: a refined one.

    Returns:
        (3, k) f4 linear and angular velocities.
    """
    rate = ONE / dt
    turn = multiply(quaternions(goal), conjugate(quaternions(current)))
    square = dot(turn[:3], turn[:3])
    inverse = np.empty_like(square)
    rsqrt(square, inverse)
    angle = TWO * arc_cosine(np.abs(turn[3]))
    axis = turn[:3] * inverse
    axis = np.where(turn[3] < ZERO, -axis, axis)
    still = (angle <= ZERO) | (square <= EPSILON)
    angular = np.where(still, ZERO, axis * (rate * angle))
    return (goal[3] - current[3]) * rate, angular


def advance(current: Array, linear: Array, angular: Array, dt: np.float32, rsqrt: Inverse) -> Array:
    """Return the maps after a substep of ``dt`` seconds."""
    half = angular * (dt * HALF)
    u = dot(half, half) * FOUR_OVER_PI_SQUARED
    squared = u * u
    w = ((ONE - COSINE[0] * u) - COSINE[1] * squared) - (COSINE[2] * u) * squared
    turned = multiply(np.concatenate((half, w[None])), quaternions(current))
    product = turned * turned
    square = (product[0] + product[2]) + (product[1] + product[3])
    inverse = np.empty_like(square)
    rsqrt(square, inverse)
    moved = np.empty_like(current)
    moved[:3] = rotations(turned * inverse)
    moved[3] = current[3] + linear * dt
    return moved


def arc_cosine(values: Array) -> Array:
    """Return the arc cosine of values from 0 on, by the games' polynomial of the arc sine."""
    c = np.minimum(ONE, values)
    upper = c > HALF
    x = np.where(upper, (ONE - c) * HALF, c * c)
    s = np.where(upper, np.sqrt(x), c)
    p = ASIN[0] * x
    for factor in ASIN[1:]:
        p = (p + factor) * x
    p = p * s + s
    sine = np.where(upper, HALF_PI - (p + p), p)
    sine = np.where(c < SMALLEST, c, sine)
    return HALF_PI - sine


def quaternions(maps: Array) -> Array:
    """Return the quaternions of rotations, by the trace where it is positive, else by the largest diagonal element."""
    m = [[maps[column, row] for column in range(3)] for row in range(3)]
    trace = (m[0][0] + m[1][1]) + m[2][2]
    candidates = [_by_axis(m, axis) for axis in range(3)]
    size = np.sqrt(np.maximum(trace, ZERO) + ONE)
    scale = HALF / size
    by_trace = np.stack((
        (m[2][1] - m[1][2]) * scale, (m[0][2] - m[2][0]) * scale, (m[1][0] - m[0][1]) * scale, HALF * size
    ))  # fmt: skip
    second = m[1][1] > m[0][0]
    largest = np.where(second, m[1][1], m[0][0])
    axis = np.where(m[2][2] > largest, 2, second.astype(np.intp))
    chosen = np.where(axis == 0, candidates[0], np.where(axis == 1, candidates[1], candidates[2]))
    return np.where(trace > ZERO, by_trace, chosen)


def _by_axis(m: list[list[Array]], i: int) -> Array:
    j, k = NEXT[i], NEXT[NEXT[i]]
    size = np.sqrt(np.maximum((m[i][i] - (m[j][j] + m[k][k])) + ONE, EPSILON))
    scale = HALF / size
    rows: list[Array] = [size] * 4
    rows[i] = HALF * size
    rows[j] = (m[j][i] + m[i][j]) * scale
    rows[k] = (m[k][i] + m[i][k]) * scale
    rows[3] = (m[k][j] - m[j][k]) * scale
    return np.stack(rows)


def rotations(q: Array) -> Array:
    """Return the columns of rotations, (3, 3, k)."""
    x, y, z, w = q
    x2, y2, z2 = x + x, y + y, z + z
    xx, yy, zz = x * x2, y * y2, z * z2
    xy, xz, yz = x * y2, x * z2, y * z2
    wx, wy, wz = w * x2, w * y2, w * z2
    return np.stack((
        np.stack((ONE - (yy + zz), xy + wz, xz - wy)),
        np.stack((xy - wz, ONE - (xx + zz), yz + wx)),
        np.stack((xz + wy, yz - wx, ONE - (xx + yy))),
    ))  # fmt: skip


def multiply(a: Array, b: Array) -> Array:
    """Return quaternion products: the vector part ``(a x b + a b.w) + b a.w``, the real part ``a.w b.w - a . b``."""
    vector = (cross(a[:3], b[:3]) + a[:3] * b[3]) + b[:3] * a[3]
    return np.concatenate((vector, (a[3] * b[3] - dot(a[:3], b[:3]))[None]))


def conjugate(q: Array) -> Array:
    """Return the inverses of unit quaternions."""
    return np.concatenate((-q[:3], q[3:]))
