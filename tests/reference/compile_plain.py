"""The compile rules, one number at a time, as seed 003 words them. Shares no code with `addon.collision.compiler`.

Boxes are (low, high) pairs of three float32 each; a tree is nested pairs of leaf numbers.
"""

from __future__ import annotations

import numpy as np

F = np.float32


def quicksort(keys):
    order = list(range(len(keys)))

    def sort(left, right):
        i, j, pivot = left, right, keys[order[(left + right) >> 1]]
        while i <= j:
            while keys[order[i]] < pivot:
                i += 1
            while pivot < keys[order[j]]:
                j -= 1
            if i <= j:
                order[i], order[j] = order[j], order[i]
                i, j = i + 1, j - 1
        if left < j:
            sort(left, j)
        if i < right:
            sort(i, right)

    if order:
        sort(0, len(order) - 1)
    return order


def surface(box):
    x, y, z = (F(high - low) for low, high in zip(*box, strict=True))
    return F(F(F(z * y) + F(y * x)) + F(x * z))


def union(one, other):
    low = tuple(min(a, b) for a, b in zip(one[0], other[0], strict=True))
    return low, tuple(max(a, b) for a, b in zip(one[1], other[1], strict=True))


def centre(box):
    return tuple(F(F(low + high) * F(0.5)) for low, high in zip(*box, strict=True))


def extents(box):
    x, y, z = (F(high - low) for low, high in zip(*box, strict=True))
    return F(F(x + y) + z)


def box_of(tree, boxes):
    return boxes[tree] if isinstance(tree, int) else union(box_of(tree[0], boxes), box_of(tree[1], boxes))


def leaves(tree):
    return [tree] if isinstance(tree, int) else leaves(tree[0]) + leaves(tree[1])


def pair_quads(corners, points, data):
    """Return the quads taken, (first row, second row), of rows of vertex numbers."""
    records = []
    for row, triangle in enumerate(corners):
        for edge in range(3):
            start, end, opposite = (triangle[(edge + step) % 3] for step in range(3))
            records.append((min(start, end), max(start, end), start, end, row, edge, opposite))
    records = [records[place] for place in quicksort([record[:2] for record in records])]
    candidates = []
    for place, one in enumerate(records):
        for other in records[place + 1 :]:
            if other[:2] != one[:2]:
                break
            fits = other[2:4] == (one[3], one[2]) and other[6] != one[6] and data[other[4]] == data[one[4]]
            if fits and {one[5], other[5]} == {0, 2}:
                candidates.append((one[4], other[4]) if one[5] == 2 else (other[4], one[4]))
                break
    costs = []
    for first, second in candidates:
        boxes = [
            (tuple(points[corners[row]].min(axis=0)), tuple(points[corners[row]].max(axis=0)))
            for row in (first, second)
        ]
        both = surface(union(*boxes))
        costs.append(F(F(both - surface(boxes[1])) + F(both - surface(boxes[0]))))
    taken, quads = set(), []
    for place in quicksort(costs):
        if not taken & set(candidates[place]):
            taken |= set(candidates[place])
            quads.append(candidates[place])
    return quads


def insert(boxes):
    """Return the tree that insertion makes."""

    class Node:
        def __init__(self, leaf, box):
            self.leaf, self.box, self.children = leaf, box, None

    def measure(node, box):
        ends = [F(F(a - b) * F(a - b)) for a, b in zip(centre(node.box), centre(box), strict=True)]
        return F(F(F(ends[0] + ends[1]) + ends[2]) * F(extents(node.box) + extents(box)))

    root = Node(0, boxes[0])
    for leaf in range(1, len(boxes)):
        node = root
        while node.children:
            node.box = union(node.box, boxes[leaf])
            first, second = node.children
            node = second if measure(second, boxes[leaf]) < measure(first, boxes[leaf]) else first
        node.children = [Node(node.leaf, node.box), Node(leaf, boxes[leaf])]
        node.box = union(node.box, boxes[leaf])

    def nested(node):
        return (nested(node.children[0]), nested(node.children[1])) if node.children else node.leaf

    return nested(root)


def rebuild(tree, boxes):
    order = leaves(tree)
    return build(order, boxes, top=True) if len(order) > 2 else tree


def build(order, boxes, *, top):
    if len(order) == 1:
        return order[0]
    if top or len(order) > 16:
        first, second = split(order, boxes)
        return build(first, boxes, top=False), build(second, boxes, top=False)
    entries = list(order)
    while len(entries) > 1:
        best = None
        for i in range(len(entries)):
            for j in range(i + 1, len(entries)):
                cost = surface(union(box_of(entries[i], boxes), box_of(entries[j], boxes)))
                if best is None or cost < best[0]:
                    best = cost, i, j
        _, i, j = best
        entries[i] = (entries[i], entries[j])
        entries[j] = entries[-1]
        entries.pop()
    return entries[0]


def split(order, boxes):
    whole = boxes[order[0]]
    for leaf in order[1:]:
        whole = union(whole, boxes[leaf])
    best = None
    for axis in range(3):
        low, extent = whole[0][axis], F(whole[1][axis] - whole[0][axis])
        bins = {}
        for leaf in order:
            share = F(F(centre(boxes[leaf])[axis] - low) / extent) if extent > 0 else F(0)
            bins.setdefault(min(max(int(F(F(share * F(32)) + F(0.5))), 0), 31), []).append(leaf)
        for chosen in sorted(bins):
            cost = F(0)
            for side in (
                [leaf for each in bins for leaf in bins[each] if each <= chosen],
                [leaf for each in bins for leaf in bins[each] if each >= chosen],
            ):
                box = boxes[side[0]]
                for leaf in side[1:]:
                    box = union(box, boxes[leaf])
                cost = F(cost + F(surface(box) * F(len(side))))
            if best is None or cost < best[0]:
                best = cost, axis, chosen, bins
    _, axis, chosen, bins = best
    number = {leaf: each for each in bins for leaf in bins[each]}
    before = [leaf for leaf in order if number[leaf] < chosen]
    after = [leaf for leaf in order if number[leaf] > chosen]
    inside = [leaf for leaf in order if number[leaf] == chosen]
    if bool(before) != bool(after):
        return (before, inside) if before else (inside, after)
    inside = [inside[place] for place in quicksort([centre(boxes[leaf])[axis] for leaf in inside])]
    half = len(inside) >> 1
    return before + inside[:half], after + inside[half:]


def refine(tree, boxes):
    while True:
        before = tree
        if not isinstance(tree, int):
            tree = (exchange(tree[0], boxes), exchange(tree[1], boxes))
        if tree == before:
            return tree


def exchange(tree, boxes):
    """Return a subtree after one pass."""
    if isinstance(tree, int):
        return tree
    first, second = tree
    if not isinstance(first, int) and not isinstance(second, int):
        (a0, a1), (b0, b1) = first, second
        one = F(surface(box_of((a0, b0), boxes)) + surface(box_of((a1, b1), boxes)))
        other = F(surface(box_of((a0, b1), boxes)) + surface(box_of((b0, a1), boxes)))
        if min(one, other) < F(surface(box_of(first, boxes)) + surface(box_of(second, boxes))):
            first, second = ((a0, b0), (a1, b1)) if one < other else ((a0, b1), (b0, a1))
    return exchange(first, boxes), exchange(second, boxes)


def larger_first(tree, boxes, *, top=True):
    if isinstance(tree, int):
        return tree
    first, second = (larger_first(each, boxes, top=False) for each in tree)
    if not top and surface(box_of(second, boxes)) > surface(box_of(first, boxes)):
        return second, first
    return first, second


def cut(tree, slots):
    """Return the sections, as subtrees, in the order of their numbers."""
    queue, number = [tree], 0
    while number < len(queue):
        while not isinstance(queue[number], int):
            held = leaves(queue[number])
            if len(held) <= 127 and slots(held) <= 255:
                break
            queue.append(queue[number][1])
            queue[number] = queue[number][0]
        number += 1
    return queue


def neighbours(polygons):
    """Return the polygon and edge across each, by polygon and edge; see `interior`."""
    links, waiting = {}, {}
    for place, (key, corners, _, _) in enumerate(polygons):
        sides = len(corners)
        for edge in range(sides):
            if key & 1 and edge == 0:
                links[place, 0], links[place - 1, 2] = (place - 1, 2), (place, 0)
            is_first = not key & 1 and place + 1 < len(polygons) and polygons[place + 1][0] == key + 1
            if (key & 1 and edge == 0) or (is_first and edge == 2):
                continue
            ends = corners[edge], corners[(edge + 1) % sides]
            stack = waiting.get(ends[::-1], [])
            if stack:
                other = stack.pop()
                links[place, edge], links[other] = other, (place, edge)
            else:
                waiting.setdefault(ends, []).append((place, edge))
    return links


def interior(polygons, estimate):
    """Return the keys that are set.

    Args:
        polygons: (key, corner identities, points, halves) in key order; three or four corners; ``halves`` are the two
            triangles of a flat quad, or the one triangle; polygons whose key is one more than the one before are the
            second halves of bent quads.
        estimate: of 1 / sqrt(x).
    """

    def dot(u, v):
        return F(F(F(u[0] * v[0]) + F(u[1] * v[1])) + F(u[2] * v[2]))

    def cross(u, v):
        return tuple(F(F(u[i] * v[j]) - F(u[j] * v[i])) for i, j in ((1, 2), (2, 0), (0, 1)))

    def minus(u, v):
        return tuple(F(a - b) for a, b in zip(u, v, strict=True))

    def unit(v):
        square = dot(v, v)
        root = estimate(square)
        factor = F(F(F(3) - F(F(root * square) * root)) * F(root * F(0.5)))
        return tuple(F(part * factor) for part in v)

    def normal(points):
        return cross(minus(points[1], points[0]), minus(points[2], points[0]))

    links = neighbours(polygons)
    normals = [normal(points) for _, _, points, _ in polygons]
    listed, weights, convex = [], [], {}
    for place, (_, corners, points, _) in enumerate(polygons):
        sides = len(corners)
        if any((place, edge) not in links for edge in range(sides)):
            continue
        convex[place] = []
        for edge in range(sides):
            other, across = links[place, edge]
            halves = polygons[other][3]
            facing = unit(normal(halves[1] if len(halves) == 2 and across >= 2 else halves[0]))
            along = unit(minus(points[(edge + 1) % sides], points[edge]))
            if dot(along, cross(normals[place], facing)) > F(2.0**-23):
                convex[place].append(other)
        listed.append(place)
        weights.append(F(np.sqrt(dot(normals[place], normals[place])) + F(F(10) * F(len(convex[place])))))
    is_set = set()
    for chosen in quicksort(weights):
        place = listed[chosen]
        steep = any(dot(unit(normals[place]), unit(normals[other])) < F(0.34202015) for other in convex[place])
        if not steep and not any(other in is_set for other in convex[place]):
            is_set.add(place)
    return sorted(polygons[place][0] for place in is_set)
