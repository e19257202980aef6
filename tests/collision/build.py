"""Compressed meshes of the tests' own: valid by every rule of the format, built simply, not as the games build them.

Trees are median splits. A section whose packed step would be too coarse for its convex radius stores all its vertices
shared. Point sets and extern references can be put in, and the shared vertices made to start anywhere, to reach pages.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from addon.codec.havok.collision import keys
from addon.codec.havok.collision.bodies import Body
from addon.codec.havok.collision.custom import leaf_boxes, read_custom
from addon.codec.havok.collision.decode import CUSTOM, QUAD, TRIANGLE, decode, list_primitives
from addon.codec.havok.collision.mesh import DATA_RUN, SECTION, CompressedMesh, MaterialTable
from addon.codec.havok.collision.packing import (
    PACKED_BITS,
    PACKED_TOPS,
    join,
    packed_codes,
    shared_codes,
)
from addon.codec.havok.collision.shapes import MeshShape, Shape, ShapeInstance
from addon.codec.havok.collision.simd import BIG, CHILD, EMPTY, LEAF, SimdTree
from addon.codec.havok.collision.trees import Nodes, walk
from addon.codec.havok.collision.writing import empty_simd
from addon.maths.sorts import ranks

PAGE = 65536


@dataclass
class Source:
    """What a mesh is made of.

    Attributes:
        vertices: (n, 3) f4.
        quads: (q, 4) vertex numbers, rows ``a b c`` and ``a c d``.
        triangles: (t, 3) vertex numbers.
        names: hit material of each quad, then of each triangle.
        points: point sets, (k, 3) f4 each.
        externs: shapes that the mesh refers to, each once.
        dead: dead primitives to put in.
    """

    vertices: np.ndarray
    quads: np.ndarray = field(default_factory=lambda: np.zeros((0, 4), int))
    triangles: np.ndarray = field(default_factory=lambda: np.zeros((0, 3), int))
    names: np.ndarray | None = None
    points: list[np.ndarray] = field(default_factory=list)
    externs: list[tuple[ShapeInstance, np.ndarray]] = field(default_factory=list)
    dead: int = 0


def grid(side: int, step: float = 1.0, height: float = 0.5, origin=(0, 0, 0)) -> Source:
    """Return a bumpy ground of side x side cells, a third of them quads, materials in stripes."""
    x, z = np.meshgrid(np.arange(side + 1), np.arange(side + 1), indexing="ij")
    y = height * np.sin(x * 0.7) * np.cos(z * 0.4)
    vertices = (np.stack([x * step, y, z * step], axis=-1).reshape(-1, 3) + origin).astype(np.float32)
    corner = (np.arange(side)[:, None] * (side + 1) + np.arange(side)).ravel()
    cells = np.stack([corner, corner + 1, corner + side + 2, corner + side + 1], axis=1)
    whole = np.arange(len(cells)) % 3 == 0
    triangles = cells[~whole][:, [0, 1, 2, 0, 2, 3]].reshape(-1, 3)
    names = 21 + np.r_[corner[whole] // 40 % 5, np.repeat(corner[~whole] // 40 % 5, 2)]
    return Source(vertices, cells[whole], triangles, names.astype(np.uint32))


def build(source: Source, radius: float = 0.015, *, flagged: bool = True, skip_shared: int = 0, simd: bool = True):
    """Return a `MeshShape`; ``flagged`` chooses the simd encoding, ``skip_shared`` where shared vertices start."""
    builder = _Builder(source, np.float32(radius), skip_shared)
    mesh = builder.run(flagged=flagged, simd=simd)
    return shape_of(mesh, [instance for instance, _ in source.externs])


def shape_of(mesh: CompressedMesh, externs=()) -> MeshShape:
    primitives = list_primitives(mesh)
    return MeshShape(
        name="fsnpCustomParamCompressedMeshShape", type=9, flags=4, key_bits=mesh.shape_bits, radius=mesh.radius,
        user_data=0, mesh=mesh, primitives=primitives, decoded=decode(mesh, primitives),
        custom=read_custom(mesh, primitives), externs=list(externs),
    )  # fmt: skip


def body(shape: Shape | None, name: str = "h000100", position=(0, 0, 0), orientation=(0, 0, 0, 1), **fields) -> Body:
    mesh = shape.triangles if shape is not None else None
    values = {"motionType": 0, "mass": 0.0, "motionId": 0x7FFFFFFF, "attachedBody": -1} | fields
    place, turn = np.array(position, np.float32), np.array(orientation, np.float32)
    return Body(name, 0, 0, False, shape, place, turn, mesh, values)  # noqa: FBT003


class _Builder:
    def __init__(self, source: Source, radius: np.float32, skip_shared: int) -> None:
        self.source, self.radius = source, radius
        quads, triangles = np.asarray(source.quads), np.asarray(source.triangles)
        self.corners = np.concatenate([quads, np.c_[triangles, triangles[:, 2:]]]).astype(np.int64)
        self.kind = np.r_[np.full(len(quads), QUAD), np.full(len(triangles), TRIANGLE)]
        points = source.vertices[self.corners]
        boxes = [np.stack([points.min(axis=1), points.max(axis=1)], axis=1)]
        extra = [np.stack([each.min(axis=0), each.max(axis=0)]) for each in source.points]
        extra += [np.asarray(box, np.float32) for _, box in source.externs]
        centre = points.reshape(-1, 3).mean(axis=0) if len(points) else np.zeros(3, np.float32)
        extra += [np.stack([centre, centre])] * source.dead
        boxes += [np.stack(extra)] if extra else []
        grown = np.concatenate(boxes).astype(np.float32)
        self.boxes = np.stack([grown[:, 0] - radius, grown[:, 1] + radius], axis=1)
        self.special = ["points"] * len(source.points) + ["extern"] * len(source.externs) + ["dead"] * source.dead
        self.domain = np.stack([self.boxes[:, 0].min(axis=0), self.boxes[:, 1].max(axis=0)])
        self.shared = [np.zeros(3, np.float32)] * skip_shared
        self.entry: dict[tuple[int, int], int] = {}
        self.words: list[int] = []
        self.tail: list[int] = []  # shared words that are no vertices: point sets, behind all of them
        self.pending: list[tuple[int, int, int]] = []

    def run(self, *, flagged: bool, simd: bool) -> CompressedMesh:
        top, groups = self._split_sections()
        sections = np.zeros(len(groups), SECTION)
        packed, primitives, trees, order = [], [], [], []
        users: dict[int, int] = {}
        for group in groups:
            for vertex in np.unique(self.corners[group[group < len(self.corners)]]).tolist():
                users[vertex] = users.get(vertex, 0) + 1
        for number, group in enumerate(groups):
            tree = self._tree(group)
            slots, codes = self._section(sections[number : number + 1], group, tree, users, sum(map(len, packed)))
            sections["first_primitive"][number] = len(order)
            packed.append(codes)
            primitives.append(slots)
            trees.append(tree)
            order += list(tree[3])
        nodes = [self._nodes(tree, sections["domain"][n, :, :3]) for n, tree in enumerate(trees)]
        joined = Nodes(*(np.concatenate([getattr(n, name) for n in nodes]) for name in ("nibbles", "inner", "value")))
        starts = np.cumsum([0, *(len(n) for n in nodes)])
        mesh_tree = self._mesh_tree(top, sections)
        shared = shared_codes(np.array(self.shared, np.float32).reshape(-1, 3), *self.domain)
        flat = np.concatenate(primitives)
        mesh = CompressedMesh(
            sections, flat.astype(np.uint8), np.concatenate(packed).astype(np.uint32), shared,
            np.array(self.words, np.uint16), self._runs(sections), self._wide(self.domain), mesh_tree, joined, starts,
            has_simd=True, key_count=0, key_bits=0, max_key=0, flat_convex=0, interior=np.zeros(0, bool),
            radius=float(self.radius),
        )  # fmt: skip
        self._store_points(mesh)
        self._finish(mesh, np.array(order), flagged=flagged, simd=simd)
        return mesh

    # sections

    def _split_sections(self):
        """Return the tree above the sections, as nested pairs of section numbers, and the sections."""
        groups: list[np.ndarray] = []

        def split(part: np.ndarray):
            vertices = len(np.unique(self.corners[part[part < len(self.corners)]]))
            if len(part) <= 127 and vertices + 4 * len(self.special) <= 255:
                groups.append(part)
                return len(groups) - 1
            first, second = self._halves(part)
            return (split(first), split(second))

        return split(np.arange(len(self.boxes))), groups

    def _halves(self, part: np.ndarray):
        centre = self.boxes[part].sum(axis=1)
        axis = int(np.argmax(np.ptp(centre, axis=0)))
        order = part[np.argsort(centre[:, axis], kind="stable")]
        first, second = order[: len(order) // 2], order[len(order) // 2 :]
        surfaces = [self._surface(each) for each in (first, second)]
        return (first, second) if surfaces[0] >= surfaces[1] else (second, first)

    def _surface(self, part: np.ndarray) -> float:
        x, y, z = self.boxes[part, 1].max(axis=0) - self.boxes[part, 0].min(axis=0)
        return float(x * y + y * z + z * x)

    def _tree(self, group: np.ndarray):
        """Return pre-order boxes, distance to the second child (0 in leaves), leaf ranks and primitives by index."""
        boxes, second, leaf_of = [], [], []

        def walk_down(part: np.ndarray) -> None:
            place = len(boxes)
            boxes.append((self.boxes[part, 0].min(axis=0), self.boxes[part, 1].max(axis=0)))
            second.append(0)
            if len(part) == 1:
                leaf_of.append((place, int(part[0])))
                return
            first, other = self._halves(part)
            walk_down(first)
            second[place] = len(boxes) - place
            walk_down(other)

        walk_down(group)
        by_index = [leaf_of[rank][1] for rank in ranks(len(leaf_of))]
        payload = {primitive: index for index, primitive in enumerate(by_index)}
        leaves = {node: payload[primitive] for node, primitive in leaf_of}
        return np.array(boxes, np.float32), second, leaves, by_index

    def _section(self, row, group, tree, users, first_packed: int):
        """Fill a section's record; return its primitives and packed codes."""
        plain = group[group < len(self.corners)]
        vertices = np.unique(self.corners[plain])
        own = np.array([v for v in vertices.tolist() if users[v] == 1], int)
        source = self.source.vertices
        low, high = (source[own].min(axis=0), source[own].max(axis=0)) if len(own) else (np.zeros(3), np.zeros(3))
        scale = ((high - low) / PACKED_TOPS.astype(np.float32)).astype(np.float32)
        if (scale > self.radius).any():
            own = np.zeros(0, int)
        shared = [v for v in vertices.tolist() if v not in set(own.tolist())]
        page = self._page(len(shared))
        words = [self._entry(page, v) for v in shared]
        slot_of = {v: n for n, v in enumerate([*own.tolist(), *shared])}
        node_of = {payload: node for node, payload in tree[2].items()}
        slots = np.zeros((len(tree[3]), 4), np.int64)
        for index, primitive in enumerate(tree[3]):
            if primitive < len(self.corners):
                slots[index] = [slot_of[v] for v in self.corners[primitive].tolist()]
                continue
            what = self.special[primitive - len(self.corners)]
            if what == "dead":
                slots[index] = (0xDE, 0xAD, 0xDE, 0xAD)
                continue
            slot, node = len(own) + len(words), node_of[index]
            row["flags"] = 1
            if what == "points":
                number = primitive - len(self.corners)
                slots[index] = (slot, node, 3, node)
                self.pending.append((number, len(self.words) + len(words), first_packed))
                words += [len(self.source.points[number]) << 8 | 0x52, 0, 0x3C24]
            else:
                slots[index] = (slot, slot, 4, slot)
                number = primitive - len(self.corners) - len(self.source.points)
                words += [0x92, 0, number & 0xFFFF, number >> 16]
        row["domain"][0, :, :3] = tree[0][0]
        row["domain"][0, :, 3] = 1 - self.radius, 1 + self.radius
        row["codec"][0] = (low, scale) if len(own) else ([BIG] * 3, [-np.inf] * 3)
        row["first_packed"], row["num_packed"] = first_packed, len(own)
        row["first_shared"], row["num_shared"] = len(self.words), len(words)
        row["num_primitives"], row["num_runs"], row["page"] = len(tree[3]), 1, page
        self.words += words
        codes = packed_codes(source[own], low.astype(np.float32), scale) if len(own) else np.zeros(0, np.uint32)
        return slots, codes

    def _page(self, count: int) -> int:
        if len(self.shared) % PAGE + count > PAGE:
            self.shared += [np.zeros(3, np.float32)] * (-len(self.shared) % PAGE)
        return len(self.shared) // PAGE if count else 0

    def _entry(self, page: int, vertex: int) -> int:
        if (page, vertex) not in self.entry:
            self.entry[page, vertex] = len(self.shared) % PAGE
            self.shared.append(self.source.vertices[vertex])
        return self.entry[page, vertex]

    # trees

    def _nodes(self, tree, domain: np.ndarray) -> Nodes:
        boxes, second, leaves, _ = tree
        inner = np.array([distance > 0 for distance in second])
        value = np.array([leaves[n] if not d else d // 2 for n, d in enumerate(second)], np.int64)
        return _with_nibbles(boxes, inner, value, domain)

    def _mesh_tree(self, top, sections) -> Nodes:
        boxes, second, value = [], [], []

        def walk_down(part):
            place = len(boxes)
            boxes.append(None)
            second.append(0)
            value.append(0)
            if isinstance(part, int):
                boxes[place] = sections["domain"][part, :, :3]
                value[place], sections["leaf_index"][part] = part, place
                return boxes[place]
            first = walk_down(part[0])
            second[place] = len(boxes) - place
            other = walk_down(part[1])
            boxes[place] = np.stack([np.minimum(first[0], other[0]), np.maximum(first[1], other[1])])
            return boxes[place]

        walk_down(top)
        inner = np.array(second) > 0
        return _with_nibbles(np.array(boxes), inner, np.where(inner, np.array(second) // 2, value), self.domain)

    def _runs(self, sections):
        runs = np.zeros(len(sections), DATA_RUN)
        runs["value"], runs["count"] = 0xFFFF, sections["num_primitives"]
        sections["first_run"] = np.arange(len(sections))
        return runs

    def _wide(self, box: np.ndarray) -> np.ndarray:
        return np.c_[box, [1 - self.radius, 1 + self.radius]].astype(np.float32)

    def _store_points(self, mesh: CompressedMesh) -> None:
        primitives = list_primitives(mesh)
        first = len(mesh.shared)
        for number, word, _ in self.pending:
            mesh.shared_index[word + 1] = first
            first += (len(self.source.points[number]) + 1) // 2
        mesh.shared = np.concatenate([mesh.shared, np.zeros(first - len(mesh.shared), np.uint64)])
        custom = read_custom(mesh, primitives)
        boxes = leaf_boxes(mesh, custom.section, custom.primitive) if len(custom) else []
        by_word = {word: number for number, word, _ in self.pending}
        for place in range(len(custom)):
            row = mesh.sections[custom.section[place]]
            slots = mesh.primitives[row["first_primitive"] + custom.primitive[place]]
            word = int(row["first_shared"]) + int(slots[0]) - int(row["num_packed"])
            if word in by_word:
                points = self.source.points[by_word[word]]
                scale = (boxes[place][1] - boxes[place][0]) / PACKED_TOPS.astype(np.float32)
                parts = np.rint((points - boxes[place][0]) / np.where(scale > 0, scale, 1)).astype(np.uint64)
                codes = join(parts, PACKED_BITS)
                codes = np.r_[codes, np.zeros(len(codes) % 2, np.uint64)].reshape(-1, 2)
                start = int(mesh.shared_index[word + 1])
                mesh.shared[start : start + len(codes)] = codes[:, 0] << np.uint64(32) | codes[:, 1]

    def _finish(self, mesh: CompressedMesh, order: np.ndarray, *, flagged: bool, simd: bool) -> None:
        """Set keys, interior bits, the material table and the simd tree."""
        primitives = list_primitives(mesh)
        kind, key = primitives.kind, primitives.keys.astype(np.int64)
        alive = kind <= CUSTOM
        mesh.max_key = int((key + (kind == QUAD))[alive].max())
        mesh.key_bits = mesh.shape_bits = keys.width_for(mesh.max_key)
        mesh.key_count = int(1 * (kind == TRIANGLE).sum() + 2 * (kind == QUAD).sum() + (kind == CUSTOM).sum())
        mesh.interior = np.zeros(mesh.max_key + 1, bool)
        mesh.interior[key[kind == TRIANGLE][::3]] = True
        names = self.source.names if self.source.names is not None else np.full(len(self.corners), 21, np.uint32)
        known, data = np.unique(names, return_inverse=True)
        row_keys = np.zeros((len(self.corners), 2), np.int64)
        row_keys[order[kind <= QUAD], 0] = key[kind <= QUAD]
        row_keys[:, 1] = np.where(self.kind == QUAD, row_keys[:, 0] | 1, -1)
        rows = row_keys.ravel()
        data = np.repeat(data, 2)[rows >= 0]
        corners = self.corners[:, [0, 1, 2, 0, 2, 3]].reshape(-1, 3)[rows >= 0]
        mesh.rows = keys.to_left(rows[rows >= 0].astype(np.uint32), mesh.shape_bits)
        count = np.arange(len(data), dtype=np.uint32)
        mesh.materials = MaterialTable(data.astype(np.uint32), count, corners.astype(np.uint32), known, 0x100000)
        mesh.has_simd = simd
        if simd:
            mesh.simd = simd_tree(
                self._exact_boxes(mesh, primitives, order)[alive], key[alive].astype(np.uint32), flagged=flagged
            )
        else:
            mesh.simd = empty_simd()

    def _exact_boxes(self, mesh, primitives, order):
        """Return the boxes of the decoded vertices; those of custom primitives without the radius."""
        boxes = self.boxes[order].copy()
        boxes[:, 0] += self.radius
        boxes[:, 1] -= self.radius
        decoded = decode(mesh, primitives)
        points = decoded.vertices[decoded.triangles]
        place = np.cumsum(decoded.half == 0) - 1
        drawn = np.flatnonzero(primitives.kind <= QUAD)
        low, high = np.full((len(drawn), 3), np.inf, np.float32), np.full((len(drawn), 3), -np.inf, np.float32)
        np.minimum.at(low, place, points.min(axis=1))
        np.maximum.at(high, place, points.max(axis=1))
        boxes[drawn] = np.stack([low, high], axis=1)
        return boxes


def _with_nibbles(boxes, inner, value, domain) -> Nodes:
    """Return nodes whose boxes hold those given, shrinking from the domain as far as the nibbles go."""
    nodes = Nodes(np.zeros((len(inner), 3), np.uint8), inner, value)
    root, end = np.array([0]), np.array([len(inner)])
    walked = walk(nodes, root, end, np.asarray(domain, np.float32)[None])
    outer = np.broadcast_to(np.asarray(domain, np.float32), boxes.shape).copy()
    squares = np.arange(16, dtype=np.float32) ** 2
    for depth in range(int(walked.depth.max(initial=0)) + 1):
        level = np.flatnonzero(walked.depth == depth)
        if depth:
            outer[level] = outer[walked.parent[level]]
        low, high = outer[level, 0], outer[level, 1]
        step = (high - low)[..., None] * squares / np.float32(226)
        first = (low[..., None] + step <= boxes[level, 0][..., None]).sum(axis=-1).clip(1) - 1
        last = (high[..., None] - step >= boxes[level, 1][..., None]).sum(axis=-1).clip(1) - 1
        nodes.nibbles[level] = first << 4 | last
        take = np.take_along_axis
        outer[level] = np.stack(
            [low + take(step, first[..., None], -1)[..., 0], high - take(step, last[..., None], -1)[..., 0]], axis=1
        )
    return nodes


def simd_tree(boxes, key, *, flagged: bool) -> SimdTree:
    """Return a simd tree over leaves, grouped by fours along their longest axis."""
    order = np.argsort(boxes.sum(axis=1)[:, int(np.argmax(np.ptp(boxes.sum(axis=1), axis=0)))], kind="stable")
    out_box, out_kind, out_value = [_empty_boxes()], [np.zeros(4, np.uint8)], [np.zeros(4, np.uint32)]

    def node(part: np.ndarray):
        place = len(out_kind)
        out_box.append(_empty_boxes())
        out_kind.append(np.full(4, EMPTY, np.uint8))
        out_value.append(np.zeros(4, np.uint32))
        if len(part) <= 4:
            out_box[place][: len(part)] = boxes[part]
            out_kind[place][: len(part)], out_value[place][: len(part)] = LEAF, key[part]
        else:
            for lane, each in enumerate(np.array_split(part, 4)):
                out_kind[place][lane] = CHILD
                out_value[place][lane], out_box[place][lane] = node(each)
        some = out_kind[place] != EMPTY
        union = np.stack([out_box[place][some, 0].min(axis=0), out_box[place][some, 1].max(axis=0)])
        return place, union

    node(order)
    return SimdTree(np.stack(out_box), np.stack(out_kind), np.stack(out_value), 1, flagged)


def _empty_boxes():
    box = np.empty((4, 2, 3), np.float32)
    box[:, 0], box[:, 1] = BIG, -BIG
    return box
