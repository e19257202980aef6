"""The constraints and contacts of the plain cloth, lane by lane: what the batches are timed against."""

from __future__ import annotations

import numpy as np

from addon.codec.havok import cloth as records

from .cloth_plain_maths import EPS, ONE, ZERO, add, cross, dot, mul, point_by, polar, scalars, shape_point, sub


def solve(cloth, sim, index, step):
    """Solve one set of a simulated cloth, or collision."""
    if index < 0:
        for place in range(len(sim.places)):
            collide(sim, place, step, cloth.roots)
        return
    one, rows = sim.record.constraints[index], sim.rows[index]
    name = type(one).__name__
    if name == "LocalRange":
        local_range(sim, one, rows, cloth.buffers[one.buffer], cloth.roots.rough)
    elif name == "Volume":
        volume(sim, index, one, cloth.roots.refined)
    elif name == "BendStiffness":
        bend_stiffness(sim, one, rows, cloth.roots)
    elif name != "Transition":
        SOLVERS[name](sim, rows, cloth.roots.rough)


def standard(sim, rows, root):
    points, inverse = sim.now.points, sim.rows["inverse"]
    for a, b, rest, stiffness in rows:
        ax, ay, az = points[a]
        bx, by, bz = points[b]
        dx, dy, dz = bx - ax, by - ay, bz - az
        s = (dx * dx + dy * dy) + dz * dz
        r = root(s)
        t = (s * r - rest) * stiffness
        cx, cy, cz = (dx * r) * t, (dy * r) * t, (dz * r) * t
        wa, wb = inverse[a], inverse[b]
        points[a] = [ax + cx * wa, ay + cy * wa, az + cz * wa]
        points[b] = [bx - cx * wb, by - cy * wb, bz - cz * wb]


def stretch(sim, rows, root):
    points = sim.now.points
    for a, b, rest, stiffness in rows:
        ax, ay, az = points[a]
        bx, by, bz = points[b]
        dx, dy, dz = bx - ax, by - ay, bz - az
        s = (dx * dx + dy * dy) + dz * dz
        r = root(s)
        t = min(rest - r * s, ZERO) * stiffness
        points[b] = [bx + (dx * r) * t, by + (dy * r) * t, bz + (dz * r) * t]


def bend_links(sim, rows, root):
    points, inverse = sim.now.points, sim.rows["inverse"]
    for a, b, low, high, push, pull in rows:
        d = sub(points[b], points[a])
        s = dot(d, d)
        r = root(s)
        length = r * s
        c = mul(mul(d, r), max(ZERO, length - high) * pull - max(ZERO, low - length) * push)
        points[a] = add(points[a], mul(c, inverse[a]))
        points[b] = sub(points[b], mul(c, inverse[b]))


def compressible(sim, rows, root):
    points, inverse = sim.now.points, sim.rows["inverse"]
    for a, b, rest, compression, stiffness in rows:
        d = sub(points[b], points[a])
        s = dot(d, d)
        r = root(s)
        length = s * r
        if compression > length:
            target = compression
        elif length > rest:
            target = rest
        else:
            continue
        c = mul(mul(d, r), (length - target) * stiffness)
        points[a] = add(points[a], mul(c, inverse[a]))
        points[b] = sub(points[b], mul(c, inverse[b]))


SOLVERS = {
    "StandardLinks": standard, "StretchLinks": stretch, "BendLinks": bend_links, "CompressibleLinks": compressible,
}  # fmt: skip


def bend_stiffness(sim, one, rows, roots):
    points, inverse, root = sim.now.points, sim.rows["inverse"], roots.rough
    for corners, (wa, wb, wc, wd), stiffness, curvature in rows:
        (ax, ay, az), (bx, by, bz), (cx, cy, cz), (dx, dy, dz) = (points[corner] for corner in corners)
        vx = ((ax * wa + bx * wb) + cx * wc) + dx * wd
        vy = ((ay * wa + by * wb) + cy * wc) + dy * wd
        vz = ((az * wa + bz * wb) + cz * wc) + dz * wd
        pull = stiffness
        if one.use_rest:
            ex, ey, ez = dx - cx, dy - cy, dz - cz
            fx, fy, fz = ax - cx, ay - cy, az - cz
            gx, gy, gz = bx - cx, by - cy, bz - cz
            mx, my, mz = ey * fz - ez * fy, ez * fx - ex * fz, ex * fy - ey * fx
            nx, ny, nz = gy * ez - gz * ey, gz * ex - gx * ez, gx * ey - gy * ex
            l1, l2 = (mx * mx + my * my) + mz * mz, (nx * nx + ny * ny) + nz * nz
            i1, i2 = root(l1), root(l2)
            sx, sy, sz = nx * i2 + mx * i1, ny * i2 + my * i1, nz * i2 + mz * i1
            unit = root((sx * sx + sy * sy) + sz * sz)
            height = ((i2 * l2) * (i1 * l1)) * roots.reciprocal((ex * ex + ey * ey) + ez * ez)
            vx = vx + ((sx * unit) * height) * curvature
            vy = vy + ((sy * unit) * height) * curvature
            vz = vz + ((sz * unit) * height) * curvature
            if one.clamp and (curvature * height) * (curvature * height) > one.max_height_squared:
                pull = ZERO
        for corner, weight in zip(corners, (wa, wb, wc, wd), strict=True):
            x, y, z = points[corner]
            w = inverse[corner] * (pull * weight)
            points[corner] = [x + vx * w, y + vy * w, z + vz * w]


def local_range(sim, one, rows, buffer, root):
    points = sim.now.points
    limited = one.use_normals and buffer.has_normals
    for particle, vertex, most, above, below in rows:
        px, py, pz = points[particle]
        qx, qy, qz = buffer.points[vertex]
        nx, ny, nz = buffer.normals[vertex]
        along = None
        dx, dy, dz = px - qx, py - qy, pz - qz
        if one.shape == 1 and limited:
            along = (dx * nx + dy * ny) + dz * nz
            dx, dy, dz = px - (qx + nx * along), py - (qy + ny * along), pz - (qz + nz * along)
        dx, dy, dz = dx + EPS, dy + EPS, dz + EPS
        s = (dx * dx + dy * dy) + dz * dz
        r = root(s)
        ux, uy, uz, length = dx * r, dy * r, dz * r, r * s
        change = min((most - length) * one.stiffness, ZERO)
        x, y, z = ux * change + px, uy * change + py, uz * change + pz
        if limited:
            if along is None:
                along = ((nx * ux + ny * uy) + nz * uz) * (change + length)
            low, high = min(along - below, ZERO), min(above - along, ZERO)
            x, y, z = x - nx * low, y - ny * low, z - nz * low
            x, y, z = x + nx * high, y + ny * high, z + nz * high
        points[particle] = [x, y, z]


def volume(sim, index, one, root):
    points = sim.now.points
    framed = one.frame_particle.tolist()
    center = [ZERO] * 3
    for particle, weight in zip(framed, one.frame_weight, strict=True):
        center = add(center, mul(points[particle], weight))
    fit = [[EPS] * 3 for _ in range(3)]
    for particle, vector, weight in zip(framed, scalars(one.frame_vector), one.frame_weight, strict=True):
        d = sub(points[particle], center)
        for lane in range(3):
            fit[lane] = add(fit[lane], mul(mul(d, vector[lane]), weight))
    start = sim.eigenvectors.get(index, [[ONE if row == column else ZERO for column in range(3)] for row in range(3)])
    rotation, sim.eigenvectors[index] = polar(fit, start, root)
    rows = zip(one.apply_particle.tolist(), scalars(one.apply_vector), one.apply_stiffness, strict=True)
    for particle, vector, stiffness in rows:
        target = point_by([*rotation, center], vector)
        points[particle] = add(points[particle], mul(sub(target, points[particle]), stiffness))


def collide(sim, place, step, roots):
    record, shape, m = sim.record, sim.record.collidables[place].shape, sim.places[place]
    if not record.collidables[place].enabled:
        return
    query = query_of(shape, m, roots)
    now, before = sim.now.points, sim.before.points
    for row in range(len(record)):
        if not sim.rows["masks"][row] >> min(place, 30) & 1 or sim.rows["inverse"][row] <= ZERO:
            continue
        radius = sim.rows["radius"][row]
        distance, n, surface = query(now[row])
        if distance - radius < ZERO:
            now[row] = add(now[row], mul(n, radius - dot(sub(now[row], surface), n)))
            turning = cross(sim.angular[place], sub(surface, m[3]))
            v = sub(sub(now[row], before[row]), mul(add(sim.linear[place], turning), step))
            sliding = sub(v, mul(n, dot(v, n)))
            before[row] = add(before[row], mul(sliding, sim.rows["friction"][row]))


def constraint_rows(one):
    """Return a set as rows of Python numbers and np.float32."""
    name = type(one).__name__
    if name in {"StandardLinks", "StretchLinks"}:
        return list(zip(one.a.tolist(), one.b.tolist(), one.rest, one.stiffness, strict=True))
    if name == "BendLinks":
        limits = (one.bend_min, one.stretch_max, one.bend_stiffness, one.stretch_stiffness)
        return list(zip(one.a.tolist(), one.b.tolist(), *limits, strict=True))
    if name == "CompressibleLinks":
        return list(zip(one.a.tolist(), one.b.tolist(), one.rest, one.compression, one.stiffness, strict=True))
    if name == "BendStiffness":
        return list(zip(one.indices.T.tolist(), scalars(one.weights.T), one.stiffness, one.curvature, strict=True))
    if name == "LocalRange":
        limits = (one.max_distance, one.max_normal, one.min_normal)
        return list(zip(one.particle.tolist(), one.vertex.tolist(), *limits, strict=True))
    return []


def query_of(shape, m, roots):
    """Return a function from a point to (distance, normal, surface point)."""
    if isinstance(shape, records.Capsule):
        start, end = shape_point(m, shape.start), shape_point(m, shape.end)
        d = sub(end, start)
        s = dot(d, d)
        length = s * roots.refined(s)
        scale = ONE / (length * length)

        def capsule(p):
            t = min(max(dot(sub(p, start), d) * scale, ZERO), ONE)
            return sphere(add(start, mul(d, t)), shape.radius, p, EPS, roots)

        return capsule
    small, big, r, wide = shape_point(m, shape.small), shape_point(m, shape.big), shape.small_radius, shape.big_radius
    d = sub(big, small)
    s = dot(d, d)
    inverse = roots.refined(s)
    axis, length = mul(d, inverse), s * inverse
    wider = wide - r
    sine = wider / length
    height = ((length * length - wider * wider) * wide) / (wider * length)
    square = (wide * height) * sine
    tangent, cosine = np.sqrt(square) / height, height / np.sqrt(square + height * height)
    base = r / sine
    apex = sub(small, mul(axis, base))

    (ox, oy, oz), (kx, ky, kz) = apex, axis

    def tapered(p):
        x, y, z = p[0] - ox, p[1] - oy, p[2] - oz
        t = (x * kx + y * ky) + z * kz
        ex, ey, ez = y * kz - z * ky, z * kx - x * kz, x * ky - y * kx
        bx, by, bz = ky * ez - kz * ey, kz * ex - kx * ez, kx * ey - ky * ex
        p2 = ((bx * bx + by * by) + bz * bz) + EPS
        inverse = roots.refined(p2)
        high = p2 * inverse
        first = base - tangent * high
        if length + first < t:
            return sphere(big, wide, p, ZERO, roots)
        if t < first:
            return sphere(small, r, p, ZERO, roots)
        n = sub(mul([bx * inverse, by * inverse, bz * inverse], cosine), mul(axis, sine))
        n = mul(n, roots.rough(dot(n, n)))
        distance = (high - tangent * t) * cosine
        return distance, n, sub(p, mul(n, distance))

    return tapered


def sphere(center, radius, p, slack, roots):
    cx, cy, cz = center
    x, y, z = p[0] - cx, p[1] - cy, p[2] - cz
    s = ((x * x + y * y) + z * z) + slack
    inverse = roots.refined(s)
    x, y, z = x * inverse, y * inverse, z * inverse
    return s * inverse - radius, [x, y, z], [cx + x * radius, cy + y * radius, cz + z * radius]
