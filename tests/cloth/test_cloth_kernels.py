"""The parts of a step by themselves: schedules, roots, moving collidables, shapes."""

from __future__ import annotations

import itertools
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from addon.cloth import contacts
from addon.cloth.bending import BendStiffness
from addon.cloth.links import Part
from addon.cloth.motion import advance, drive, quaternions, rotations
from addon.cloth.ranges import Blending, Blends, LocalRanges, RangePart, Transitions
from addon.cloth.schedule import dependency_levels, merge
from addon.cloth.settings import ROOTS, RootChoice
from addon.cloth.simulation import substep_length, velocity_kept
from addon.codec.havok import cloth as records
from addon.maths import estimates
from tests.cloth.synthetic import local_range
from tests.reference import cloth_plain_maths, cloth_plain_solve

F = np.float32
EXACT = ROOTS[RootChoice.EXACT]
POSITIVE = st.floats(2.0**-100, 2.0**100, width=32)


# -- schedules --


@given(st.lists(st.lists(st.integers(-1, 9), min_size=1, max_size=4), max_size=40))
def test_levels_keep_the_order_of_what_shares_a_particle(links):
    width = max((len(link) for link in links), default=1)
    table = np.array([link + [-1] * (width - len(link)) for link in links]).reshape(len(links), width)
    levels = dependency_levels(table)
    level_of = {link: level for level, rows in enumerate(levels) for link in rows.tolist()}
    assert sorted(level_of) == list(range(len(links)))
    for later in range(len(links)):
        shared = [one for one in range(later) if {*links[one]} & {*links[later]} - {-1}]
        assert level_of[later] == max((level_of[one] + 1 for one in shared), default=0)


@given(st.lists(st.lists(st.sampled_from("abcd"), max_size=6), max_size=5))
def test_merged_orders_run_every_sequence(sequences):
    steps = merge(sequences)
    for place, sequence in enumerate(sequences):
        assert [key for key, taking in steps if place in taking] == sequence
    assert len(steps) <= sum(map(len, sequences))
    assert all(taking for _, taking in steps)


def test_merged_orders_wait_for_one_another():
    assert [key for key, _ in merge(["lsbC", "lcbC", "lsbC"])] == ["l", "s", "c", "b", "C"]


# -- roots --


@given(POSITIVE)
def test_estimates_are_those_of_the_rule(value):
    x, out = np.array([value], F), np.zeros(1, F)
    for function, plain in (
        (estimates.rsqrt_exact, cloth_plain_maths.exact_root),
        (estimates.rsqrt_estimate, cloth_plain_maths.estimated_root),
        (estimates.rsqrt_refined, cloth_plain_maths.refined_root),
        (estimates.reciprocal_exact, cloth_plain_maths.exact_reciprocal),
        (estimates.reciprocal_refined, cloth_plain_maths.refined_reciprocal),
    ):
        function(x, out)
        assert out[0] == plain(x[0])


def test_estimates_are_near():
    x = np.geomspace(1e-30, 1e30, 100_001).astype(F)
    out = np.zeros_like(x)
    for function, power, limit in (
        (estimates.rsqrt_estimate, -0.5, 3.7e-4),
        (estimates.rsqrt_refined, -0.5, 3e-7),
        (estimates.reciprocal_estimate, -1.0, 7.4e-4),
        (estimates.reciprocal_refined, -1.0, 7e-7),
    ):
        function(x, out)
        error = np.abs(out / x.astype(np.float64) ** power - 1).max()
        assert limit / 100 < error < limit


@pytest.mark.parametrize(
    ("choice", "off"),
    [
        (RootChoice.EXACT, (False, False, False)), (RootChoice.ESTIMATE, (True, False, False)),
        (RootChoice.ESTIMATE_ONLY, (True, True, True)),
    ],
)  # fmt: skip
def test_choices_of_roots(choice, off):
    """The estimate alone is off in the fourth digit; a Newton step, where a choice has it, mends that."""
    x = np.geomspace(0.01, 100, 999).astype(F)
    out, roots = np.zeros_like(x), ROOTS[choice]
    for function, power, is_off in zip(
        (roots.rough, roots.refined, roots.reciprocal), (-0.5, -0.5, -1), off, strict=True
    ):
        function(x, out)
        assert (np.abs(out / x.astype(np.float64) ** power - 1).max() > 1e-5) == is_off


def test_estimates_repeat_every_four_times():
    x = np.random.default_rng(1).uniform(0.5, 2, 5000).astype(F)
    near, far = np.zeros_like(x), np.zeros_like(x)
    estimates.rsqrt_estimate(x, near)
    estimates.rsqrt_estimate(x * F(4), far)
    assert np.array_equal(near, far * F(2))
    assert len(np.unique(near)) <= 2048


def test_nothing_has_no_infinite_root():
    x, out = np.zeros(3, F), np.zeros(3, F)
    for function in (estimates.rsqrt_exact, estimates.rsqrt_estimate, estimates.rsqrt_refined):
        function(x, out)
        assert np.isfinite(out).all()
        assert not (x * out).any()


# -- bending --


@pytest.mark.parametrize(("rest", "clamp"), [(True, True), (True, False), (False, True)])
def test_bits_of_bending(rest, clamp):
    """Links whose wings stand too far off do not act, where they are clamped; without rest poses all act."""
    count, random = 120, np.random.default_rng(16)
    points = random.uniform(-1, 1, (3, 30)).astype(F)
    inverse = random.uniform(0, 10, 30).astype(F)
    numbers = [random.uniform(low, 1, size).astype(F) for low, size in ((-1, (4, count)), (-1, count), (-1, count))]
    indices = np.array([random.permutation(30)[:4] for _ in range(count)]).T.astype(np.uint16)
    numbers[1] *= F(0.05)
    one = records.BendStiffness("", indices, *numbers, F(0.1), clamp, rest)
    sim = SimpleNamespace(
        now=SimpleNamespace(points=cloth_plain_maths.scalars(points.T)), rows={"inverse": list(inverse)}
    )
    cloth_plain_solve.bend_stiffness(sim, one, cloth_plain_solve.constraint_rows(one), cloth_plain_maths.Roots())
    BendStiffness([Part(one, 0)], inverse, 30).solve(points.reshape(-1), EXACT)
    assert np.array_equal(points.T + F(0), np.array(sim.now.points) + F(0))


# -- ranges --


@pytest.mark.parametrize("shape", [0, 1, 2])
@pytest.mark.parametrize(("wanted", "stored"), [(True, True), (True, False), (False, True)])
def test_bits_of_ranges(shape, wanted, stored):
    """Of a part of its strength, with normals where they are asked for and there; an unknown shape does nothing."""
    count, random = 80, np.random.default_rng(15)
    one = replace(local_range(np.arange(count), shape), stiffness=F(0.5), use_normals=wanted)
    store, normals = (random.uniform(-0.3, 0.3, (3, 2 * count)).astype(F) for _ in range(2))
    points, centers = (np.ascontiguousarray(half.T) for half in np.split(store, 2, axis=1))
    sim = SimpleNamespace(now=SimpleNamespace(points=cloth_plain_maths.scalars(points)))
    buffer = SimpleNamespace(
        points=cloth_plain_maths.scalars(centers), has_normals=stored,
        normals=cloth_plain_maths.scalars(normals[:, count:].T),
    )  # fmt: skip
    part = RangePart(one, 0, 0, count, in_display=False, has_normals=stored, adapts=False)
    LocalRanges([part], 2 * count, 0).solve(store.reshape(-1), normals.reshape(-1), None, EXACT.rough)
    if shape < 2:
        rows = cloth_plain_solve.constraint_rows(one)
        cloth_plain_solve.local_range(sim, one, rows, buffer, cloth_plain_maths.exact_root)
        assert (points != store[:, :count].T).any(1).sum() > 40
    assert np.array_equal(store[:, :count].T, np.array(sim.now.points))


# -- time --


@pytest.mark.parametrize(("damping", "kept"), [(0.0, 1.0), (0.75, 0.5), (1.0, 0.0), (1.5, 0.0)])
def test_velocity_that_damping_leaves(damping, kept):
    """A power of what is left of a second; from 1 on, which the games' files go beyond, nothing is."""
    assert velocity_kept(damping, F(0.5)) == F(kept)


def test_substeps_round_the_reciprocal_first():
    lengths = np.random.default_rng(12).uniform(0.01, 0.05, 50).astype(F)
    for count in (1, 2, 3, 4):
        assert all(substep_length(dt, count) == (F(1) / F(count)) * dt for dt in lengths)
    assert any(substep_length(dt, 3) != dt / F(3) for dt in lengths)


def test_kept_velocity_is_taken_before_the_push():
    """``Q = P' - (P - Q)``, which rounds otherwise than Q + (P' - P)."""
    count, random = 40, np.random.default_rng(13)
    store = random.uniform(-1, 1, (3, 3 * count)).astype(F)
    one = local_range(np.arange(count))
    ranges = LocalRanges([RangePart(one, 0, 0, 2 * count, False, False, True)], 3 * count, count)  # noqa: FBT003
    now, before = store[:, :count].copy(), store[:, count : 2 * count].copy()
    ranges.solve(store.reshape(-1), np.zeros_like(store).reshape(-1), None, EXACT.rough, divided=True)
    pushed = store[:, :count]
    assert np.linalg.norm(pushed - store[:, 2 * count :], axis=0).max() < 0.2001
    assert np.array_equal(store[:, count : 2 * count], pushed - (now - before))
    assert (pushed - (now - before) != before + (pushed - now)).any()


def transition(count, random):
    delays = random.uniform(0, 0.2, (2, count)).astype(F)
    rows = np.arange(count, dtype=np.uint16)
    return records.Transition(
        "Transition", rows, rows, *delays, random.uniform(0.1, 1, count).astype(F), 0, F(0.3), F(0.37), F(0.5), F(0.57)
    )


def blend_plainly(one, state, time, tables, starts, *, keeps):
    """Blend one particle after another: bounds by reciprocals; the first whose return is over ends the loop."""
    now, before, goals = tables
    for row, (point, old, goal) in enumerate(zip(now.copy(), before.copy(), goals, strict=True)):
        gap = point - goal
        square = cloth_plain_maths.dot(gap, gap)
        inverse = cloth_plain_maths.exact_root(square)
        length = square * inverse
        if state is Blending.TO_ANIMATION:
            since, period = time - one.to_anim_delay[row], one.to_anim_period
            if since <= 0:
                starts[row] = length
                continue
            bound, arrived = (F(1) - (F(1) / period) * since) * starts[row], since >= period
        else:
            since, period = time - one.to_sim_delay[row], one.to_sim_period
            bound, arrived = ((F(1) / period) * since) * one.to_sim_max_distance[row], since <= 0
            if since >= period:
                break
        if arrived:
            now[row] = goal
        elif length > bound:
            now[row] = point + ((bound - length) * inverse) * gap
            before[row] = now[row] - (point - old) if keeps else old


@pytest.mark.parametrize("keeps", [False, True])
@pytest.mark.parametrize("state", [Blending.TO_ANIMATION, Blending.TO_SIMULATION])
def test_bits_of_transitions(state, keeps):
    count, random = 60, np.random.default_rng(14)
    one = transition(count, random)
    store = random.uniform(-1, 1, (3, 3 * count)).astype(F)
    plain = [np.ascontiguousarray(table.T) for table in np.split(store, 3, axis=1)]
    kernel = Transitions([RangePart(one, 0, 0, 2 * count, False, False, keeps)], 3 * count, count)  # noqa: FBT003
    starts, plain_starts = np.zeros(count, F), np.zeros(count, F)
    for time in np.arange(1, 36, dtype=F) / F(60):
        store[:, :count] += random.uniform(-0.2, 0.2, (3, count)).astype(F)  # as if simulated
        plain[0][...] = store[:, :count].T
        blends = Blends(np.array([state]), np.array([time]), starts)
        kernel.solve(store.reshape(-1), None, blends, EXACT.refined, divided=True)
        blend_plainly(one, state, time, plain, plain_starts, keeps=keeps)
        assert np.array_equal(store, np.concatenate(plain).T), time
        assert np.array_equal(starts, plain_starts)


# -- moving collidables --


def random_maps(count, seed):
    random = np.random.default_rng(seed)
    q = random.normal(size=(4, count))
    q /= np.linalg.norm(q, axis=0)
    maps = np.zeros((4, 3, count))
    maps[:3] = rotations(q)
    maps[3] = random.normal(size=(3, count))
    return maps.astype(F)


def test_quaternions_of_all_rotations():
    maps = random_maps(2000, 1)
    q = quaternions(maps)
    assert np.abs(np.square(q).sum(0) - 1).max() < 1e-5
    assert np.abs(rotations(q) - maps[:3]).max() < 3e-6
    trace = maps[0, 0] + maps[1, 1] + maps[2, 2]
    assert (trace < 0).any()
    assert (trace > 0).any()


@pytest.mark.parametrize("substeps", [1, 2, 4])
def test_collidables_arrive_at_their_bones(substeps):
    """Driven and carried on, a collidable ends where its bone is, to the error of the games' polynomials."""
    start = random_maps(50, 2)
    turn = random_maps(50, 3)
    angle = np.random.default_rng(4).uniform(0, 0.5, 50)
    axis = np.random.default_rng(5).normal(size=(3, 50))
    axis /= np.linalg.norm(axis, axis=0)
    q = np.concatenate([axis * np.sin(angle / 2), np.cos(angle / 2)[None]])
    spin = rotations(q)
    goal = turn.copy()
    goal[:3] = np.einsum("krn,ckn->crn", spin, start[:3])
    dt = F(1 / 60)
    linear, angular = drive(start, goal, dt, EXACT.refined)
    assert np.allclose(np.linalg.norm(angular, axis=0), angle * 60, atol=0.06)
    now = start
    for _ in range(substeps):
        now = advance(now, linear, angular, dt / F(substeps), EXACT.refined)
    assert np.abs(now - goal).max() < 2e-5


def test_still_collidables_do_not_turn():
    maps = random_maps(20, 6)
    linear, angular = drive(maps, maps, F(1 / 60), EXACT.refined)
    assert not linear.any()
    assert not angular.any()


# -- shapes --


def place(seed=7):
    return random_maps(1, seed)


def world(own, points):
    return np.einsum("crn,cn->rn", own[:3].repeat(points.shape[1], 2), points) + own[3]


def ask(shape, own, points):
    radius = np.full(points.shape[1], 0.02, F)
    return contacts.nearest(shape, own, points.astype(F), radius, EXACT)


def sample_points(count=400, size=1.0):
    return np.random.default_rng(8).uniform(-size, size, (3, count))


def check_answer(distance, normal, surface, points, expected):
    assert np.allclose(distance, expected, atol=3e-6)
    assert np.allclose(np.linalg.norm(normal, axis=0), 1, atol=1e-4)
    assert np.allclose(points - surface, normal * distance, atol=2e-5)


def test_sphere():
    shape, own = records.Sphere(np.array([0.1, 0.2, 0.3], F), F(0.4)), place()
    local = sample_points()
    points = world(own, local)
    expected = np.linalg.norm(local - shape.center[:, None], axis=0) - 0.4
    check_answer(*ask(shape, own, points), points, expected)


def test_plane():
    normal = np.array([0.6, 0, 0.8])
    shape, own = records.Plane(np.array([*normal, -0.1], F)), place()
    local = sample_points()
    points = world(own, local)
    check_answer(*ask(shape, own, points), points, normal @ local - 0.1)


def test_capsules():
    a, b = np.array([-0.3, 0, 0.1]), np.array([0.4, 0.2, 0])
    own, local = place(), sample_points()
    points = world(own, local)
    along = (b - a) / np.linalg.norm(b - a)
    t = np.clip((local - a[:, None]).T @ along, 0, np.linalg.norm(b - a))
    expected = np.linalg.norm(local - (a[:, None] + t * along[:, None]), axis=0) - 0.15
    shape = records.Capsule(a.astype(F), b.astype(F), F(0.15), along.astype(F), F(1))
    check_answer(*ask(shape, own, points), points, expected)
    # a tapered capsule is the hull of all the spheres between its ends
    zero = np.zeros(3, F)
    shape = records.TaperedCapsule(
        a.astype(F), b.astype(F), F(0.1), F(0.3), zero, zero, F(0), F(0), F(0), F(0), F(0), F(0)
    )
    share = np.linspace(0, 1, 4001)
    centers = a[:, None] + share * (b - a)[:, None]
    expected = np.array([(np.linalg.norm(centers.T - one, axis=1) - (0.1 + 0.2 * share)).min() for one in local.T])
    check_answer(*ask(shape, own, points), points, expected)


def box():
    """Return the unit cube around the origin as 12 tetrahedra from its middle."""
    corners = np.array([[x, y, z] for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])
    faces = []
    for axis in range(3):
        for side in (-0.5, 0.5):
            quad = corners[corners[:, axis] == side]
            faces += [quad[[0, 1, 2]], quad[[1, 3, 2]]]
    planes = []
    for triangle in faces:
        rows = []
        for trio, opposite in (
            (triangle, np.zeros(3)),
            *(((triangle[i], triangle[(i + 1) % 3], np.zeros(3)), triangle[(i + 2) % 3]) for i in range(3)),
        ):
            normal = np.cross(trio[1] - trio[0], trio[2] - trio[0])
            normal /= np.linalg.norm(normal)
            normal *= -np.sign(normal @ (opposite - trio[0]))
            rows.append([*normal, -normal @ trio[0]])
        planes.append(rows)
    none = np.zeros(0, np.uint16)
    bounds = np.array([[-0.5] * 3, [0.5] * 3], F)
    eye = np.eye(4, dtype=F)
    return records.ConvexGeometry(
        np.array(planes, F), none, none.astype(np.uint8), 1, eye, eye, bounds, np.zeros(3, F), np.ones(3, F)
    )


def test_convex_body():
    shape, own = box(), place()
    local = sample_points(600, 0.7)
    points = world(own, local)
    distance, normal, surface = ask(shape, own, points)
    size = np.abs(local).max(0)
    inside = size < 0.5
    assert inside.sum() > 100
    assert np.allclose(distance[inside], size[inside] - 0.5, atol=2e-6)
    assert np.isinf(distance[size > 0.53]).all()
    found = np.isfinite(distance)
    assert np.allclose(np.linalg.norm(normal[:, found], axis=0), 1, atol=1e-5)
    # out along the line from the middle, onto the face
    back = np.einsum("crn,rn->cn", own[:3].repeat(found.sum(), 2), (surface - own[3])[:, found])
    assert np.allclose(np.abs(back).max(0), 0.5, atol=3e-6)
    assert np.allclose(np.cross(back.T, local[:, found].T), 0, atol=3e-6)


def gridded(shape):
    """Return a box with a grid of octants, in each the tetrahedra of the triangles that have its corner."""
    corners = np.array(list(itertools.product((-0.5, 0.5), repeat=3)))
    inner = np.moveaxis(shape.equations[:, 1:], -1, 0)
    cells = []
    for corner in corners:
        # a hair inside of the corner: where no side face keeps it out
        depth = inner[0] * corner[0] + inner[1] * corner[1] + inner[2] * corner[2] + inner[3]
        cells.append(np.flatnonzero((depth <= 1e-6).all(1)))
    starts = np.cumsum([0, *map(len, cells[:-1])])
    return replace(
        shape, resolution=2, inverse_cell_size=np.full(3, 2, F),
        grid=starts.astype(np.uint16), cells=np.concatenate(cells).astype(np.uint8),
    )  # fmt: skip


def test_the_grid_of_a_convex_body_narrows_the_search():
    shape, own = box(), place()
    local = sample_points(600, 0.7)
    with_grid = gridded(shape)
    assert len(with_grid.cells) < 8 * len(shape.equations) / 2
    for one, other in zip(ask(shape, own, world(own, local)), ask(with_grid, own, world(own, local)), strict=True):
        assert np.array_equal(one[..., np.abs(local).max(0) < 0.5], other[..., np.abs(local).max(0) < 0.5])
    # the last cell has none, each other cell what was in the one before
    moved = replace(with_grid, grid=np.append(with_grid.grid[1:], np.uint16(len(with_grid.cells))))
    distance, _, _ = ask(moved, own, world(own, local))
    last = (local > 0).all(0)
    assert last.sum() > 20
    assert np.isinf(distance[last]).all()
    assert not np.isinf(distance[(np.abs(local) < 0.5).all(0) & ~last]).all()


@pytest.mark.parametrize(("order", "expected"), [((0, 1), np.inf), ((1, 0), -0.1), ((), np.inf)])
def test_the_search_ends_at_a_face_that_a_point_is_outside_of(order, expected):
    behind = [0, 0, 0, -1]
    planes = np.array([[row, behind, behind, behind] for row in ([1, 0, 0, 0], [0, 1, 0, 0])], F)
    shape = replace(box(), equations=planes[list(order)].reshape(-1, 4, 4))
    own = place()
    distance, _, _ = ask(shape, own, world(own, np.array([[0.1], [-0.1], [0.2]], F)))
    assert np.allclose(distance, expected, atol=1e-6)


@pytest.mark.parametrize(
    "shape", [records.Sphere(np.zeros(3, F), F(0.3)), box(), records.Plane(np.array([0, 1, 0, 0], F))]
)
def test_particles_are_pushed_out_and_slowed(shape):
    own = place(9)
    local = sample_points(200, 0.25)
    points = world(own, local).astype(F)
    flat = np.concatenate([points, points], 1).reshape(-1)
    index = (np.arange(3)[:, None] * 400 + np.arange(200)).astype(np.intp)
    radius, friction = np.full(200, 0.02, F), np.full(200, 0.5, F)
    one = contacts.Candidates(0, shape, index, index + 200, radius, friction, contacts.reach_of(shape, F(0.02)))
    linear = np.array([[1], [0], [0]], F)
    moving = contacts.Moving(own, linear, np.zeros((3, 1), F), F(0.1))
    contacts.collide(one, moving, flat, EXACT)
    now, before = flat.reshape(3, 400)[:, :200], flat.reshape(3, 400)[:, 200:]
    distance, normal, _ = ask(shape, own, points)
    touched = distance < 0.02
    assert touched.sum() > 50
    assert np.array_equal(now[:, ~touched], points[:, ~touched])
    after, _, _ = ask(shape, own, now + normal * F(1e-4))
    assert (after[touched] > 0.0199).all()
    # the velocity along the surface, seen from the moving body, is halved
    push = now - points
    seen = push - linear * F(0.1)
    sliding = seen - (seen * normal).sum(0) * normal
    assert np.allclose((before - points)[:, touched], 0.5 * sliding[:, touched], atol=1e-6)
