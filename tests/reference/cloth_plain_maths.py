"""The arithmetic of the plain cloth: vectors as lists of three np.float32, maps as lists of four columns."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

import numpy as np

F = np.float32
ZERO, HALF, ONE, TWO, THREE = F(0), F(0.5), F(1), F(2), F(3)
EPS = F(1.1920929e-7)
TINY = F(2.0**-126)
AXES = (0, 1, 2)


def dot(a, b):
    return (a[0] * b[0] + a[1] * b[1]) + a[2] * b[2]


def add(a, b):
    return [a[0] + b[0], a[1] + b[1], a[2] + b[2]]


def sub(a, b):
    return [a[0] - b[0], a[1] - b[1], a[2] - b[2]]


def mul(a, s):
    return [a[0] * s, a[1] * s, a[2] * s]


def cross(a, b):
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def exact_root(x):
    return ONE / F(sqrt(max(TINY, x)))  # a float64 root rounded is the float32 root


def exact_reciprocal(x):
    return ONE / (max(TINY, x))


def estimated_root(x):
    """The middle of a cell of 2^13 units, its inverse root rounded to a multiple of 2^11 units."""
    bits = int((max(TINY, x)).view(np.int32)) & ~0x1FFF | 0x1000
    inverse = int(F(1 / np.sqrt(np.float64(np.int32(bits).view(F)))).view(np.int32))
    return np.int32((inverse + 0x400) & ~0x7FF).view(F)


def refined_root(x):
    r = estimated_root(x)
    return (THREE - (x * r) * r) * (r * HALF)


def refined_reciprocal(x):
    x = max(TINY, x)
    bits = int(x.view(np.int32)) & ~0x1FFF | 0x1000
    inverse = int(F(1 / np.float64(np.int32(bits).view(F))).view(np.int32))
    r = np.int32((inverse + 0x400) & ~0x7FF).view(F)
    return (TWO - x * r) * r


@dataclass
class Roots:
    rough: object = exact_root
    refined: object = exact_root
    reciprocal: object = exact_reciprocal


ESTIMATED = Roots(estimated_root, refined_root, refined_reciprocal)


def scalars(rows):
    """Return an array as nested lists of np.float32."""
    return [list(row) if np.ndim(row) == 1 else scalars(row) for row in np.asarray(rows, F)]


def columns(matrix):
    """Return a (4, 4) matrix for column vectors as its four columns of three."""
    return [[F(matrix[row][column]) for row in AXES] for column in range(4)]


def compose(outer, inner):
    o0, o1, o2, o3 = outer
    made = []
    for place, column in enumerate(inner):
        value = mul(o0, column[0])
        if place == 3:
            value = add(value, o3)
        made.append(add(add(value, mul(o1, column[1])), mul(o2, column[2])))
    return made


def point_by(m, p):
    return add(add(add(mul(m[0], p[0]), m[3]), mul(m[1], p[1])), mul(m[2], p[2]))


def direction_by(m, p):
    return add(add(mul(m[0], p[0]), mul(m[1], p[1])), mul(m[2], p[2]))


def shape_point(m, p):
    return add(add(add(mul(m[0], p[0]), mul(m[1], p[1])), mul(m[2], p[2])), m[3])


def frame_of(p0, p1, p2, scale, roots):
    c = mul(add(add(p0, p1), p2), F(0.333333343))
    a, b = sub(p0, c), sub(p1, c)
    n = cross(a, b)
    if scale == 0:
        n = mul(n, roots.rough(dot(n, n)))
    elif scale == 2:
        n = mul(n, roots.reciprocal(dot(n, n)))
    return [a, b, n, c]


def quaternion(m):
    def at(row, column):
        return m[column][row]

    trace = (at(0, 0) + at(1, 1)) + at(2, 2)
    if trace > ZERO:
        size = np.sqrt(trace + ONE)
        scale = HALF / size
        vector = [at(2, 1) - at(1, 2), at(0, 2) - at(2, 0), at(1, 0) - at(0, 1)]
        return [*mul(vector, scale), HALF * size]
    i = 1 if at(1, 1) > at(0, 0) else 0
    if at(2, 2) > at(i, i):
        i = 2
    j, k = (i + 1) % 3, (i + 2) % 3
    size = np.sqrt((at(i, i) - (at(j, j) + at(k, k))) + ONE)
    scale = HALF / size
    q = [ZERO] * 4
    q[i], q[3] = HALF * size, (at(k, j) - at(j, k)) * scale
    q[j], q[k] = (at(j, i) + at(i, j)) * scale, (at(k, i) + at(i, k)) * scale
    return q


def times(a, b):
    vector = add(add(cross(a, b), mul(a, b[3])), mul(b, a[3]))
    return [*vector, a[3] * b[3] - dot(a, b)]


def drive(current, goal, dt, roots):
    old = quaternion(current)
    turn = times(quaternion(goal), [-old[0], -old[1], -old[2], old[3]])
    square = dot(turn, turn)
    rate = ONE / dt
    linear = mul(sub(goal[3], current[3]), rate)
    angle = TWO * arc_cosine(abs(turn[3]))
    if angle <= ZERO or square <= EPS:
        return linear, [ZERO] * 3
    axis = mul(turn, roots.refined(square))
    axis = [-lane for lane in axis] if turn[3] < ZERO else axis
    return linear, mul(axis, rate * angle)


def arc_cosine(value):
    c = min(ONE, value)
    upper = c > HALF
    x = (ONE - c) * HALF if upper else c * c
    s = np.sqrt(x) if upper else c
    p = F(0.0421632007) * x
    for factor in (0.024181312, 0.0454700254, 0.0749530047, 0.166667521):
        p = (p + F(factor)) * x
    p = p * s + s
    sine = F(1.57079637) - (p + p) if upper else p
    return F(1.57079637) - (c if c < F(1e-4) else sine)


def advance(m, linear, angular, dt, roots):
    half = mul(angular, dt * HALF)
    u = dot(half, half) * F(4 / np.pi**2)
    w = ((ONE - F(0.822948) * u) - F(0.130529) * (u * u)) - (F(0.044408) * u) * (u * u)
    q = times([*half, w], quaternion(m))
    inverse = roots.refined((q[0] * q[0] + q[2] * q[2]) + (q[1] * q[1] + q[3] * q[3]))
    x, y, z, w = (lane * inverse for lane in q)
    x2, y2, z2 = x + x, y + y, z + z
    return [
        [ONE - (y * y2 + z * z2), x * y2 + w * z2, x * z2 - w * y2],
        [x * y2 - w * z2, ONE - (x * x2 + z * z2), y * z2 + w * x2],
        [x * z2 + w * y2, y * z2 - w * x2, ONE - (x * x2 + y * y2)],
        add(m[3], mul(linear, dt)),
    ]


def polar(fit, vectors, root):
    """Return the rotation of a 3x3 matrix, and the eigenvectors of its square."""
    square = matmul(fit, turned(fit))
    a = matmul(matmul(vectors, square), turned(vectors))
    whole = ZERO
    for row in square:
        for lane in row:
            whole = whole + lane * lane
    for _ in range(20):
        rest = (a[2][0] * a[2][0] + a[1][0] * a[1][0]) + a[2][1] * a[2][1]
        if whole * (EPS * EPS) > TWO * rest or rest == ZERO:
            break
        p, q = 0, 1
        for pair in ((0, 2), (1, 2)):
            if abs(a[pair[1]][pair[0]]) > abs(a[q][p]):
                p, q = pair
        theta = (a[q][q] - a[p][p]) * (HALF / a[q][p])
        r = np.sqrt(theta * theta + ONE)
        t = ONE / (r + theta) if theta >= ZERO else ONE / (theta - r)
        c = ONE / np.sqrt(t * t + ONE)
        s = t * c
        j = [[F(row == column) for column in AXES] for row in AXES]
        j[p][p] = j[q][q] = c
        j[q][p], j[p][q] = s, -s
        a = matmul(matmul(j, a), turned(j))
        vectors = matmul(j, vectors)
    vectors = [[lane / np.sqrt(dot(row, row)) for lane in row] for row in vectors]
    values = [abs(a[axis][axis]) for axis in AXES]
    roots = [value * root(value) + EPS for value in values]
    stretch = matmul(turned(vectors), [mul(row, size) for row, size in zip(vectors, roots, strict=True)])
    return matmul(inverse_of(stretch), fit), vectors


def matmul(a, b):
    return [[(row[0] * b[0][lane] + row[1] * b[1][lane]) + row[2] * b[2][lane] for lane in AXES] for row in a]


def turned(matrix):
    return [list(row) for row in zip(*matrix, strict=True)]


def inverse_of(m):
    (a, b, c), (d, e, f), (g, h, i) = m
    cofactors = [
        [e * i - f * h, c * h - b * i, b * f - c * e],
        [f * g - d * i, a * i - c * g, c * d - a * f],
        [d * h - e * g, b * g - a * h, a * e - b * d],
    ]
    determinant = (a * cofactors[0][0] + b * cofactors[1][0]) + c * cofactors[2][0]
    if abs(determinant) <= F(1e-30):
        return [[ZERO] * 3 for _ in AXES]
    return [[lane / determinant for lane in row] for row in cofactors]
