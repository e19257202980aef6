"""What a compressed mesh of the games keeps to, as named findings where one does not. All rules are of seed 003."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..codec.binary import Array
from ..codec.errors import FormatError
from ..codec.havok.collision import keys
from ..codec.havok.collision.custom import POINTS, read_custom
from ..codec.havok.collision.decode import CUSTOM, DEAD_PRIMITIVE, QUAD, TRIANGLE, decode, list_primitives
from ..codec.havok.collision.mesh import CompressedMesh
from ..codec.havok.collision.trees import Nodes, Walk, walk
from ..maths.runs import ranges, starts
from ..maths.sorts import ranks
from . import simd_checks
from .corners import Corners, outside_by
from .simd_checks import UNITS

MAX_PRIMITIVES, MAX_SLOTS = 127, 255
ALL_SECTIONS = 0xFFFF


@dataclass(frozen=True)
class Finding:
    """A rule that a mesh does not keep.

    Attributes:
        rule: its name, the same for every mesh.
        text: what is wrong, in words.
        count: how often.
        first: the first place, such as ``sections[3]``; empty where it is the mesh as a whole.
    """

    rule: str
    text: str
    count: int = 1
    first: str = ""

    def __str__(self) -> str:
        place = f", first {self.first}" if self.first else ""
        return f"{self.text} ({self.count}{place})" if self.count > 1 or place else self.text


def check(mesh: CompressedMesh) -> list[Finding]:
    """Return what of a mesh deviates from what all meshes of the games keep to; an empty list for those.

    Raises:
        FormatError: the mesh cannot be decoded.
    """
    inspection = _Inspection(mesh)
    found: list[Finding] = []
    for rule, test in inspection.rules().items():
        found += [Finding(rule, *parts) for parts in test()]
    return found


Parts = tuple[str, int, str]


class _Inspection:
    """One mesh under inspection, with what several rules need."""

    def __init__(self, mesh: CompressedMesh) -> None:
        self.mesh = mesh
        self.primitives = list_primitives(mesh)
        self.decoded = decode(mesh, self.primitives)
        self.counts = mesh.sections["num_primitives"].astype(np.int64)
        self.corners = Corners.of(mesh, self.primitives, self.decoded)

    def rules(self) -> dict[str, Callable[[], Iterator[Parts]]]:
        """Return the tests by rule name."""
        tests: dict[str, Callable[[], Iterator[Parts]]] = {
            "runs": self.runs, "section size": self.sizes, "section flags": self.flags, "data runs": self.data_runs,
            "section trees": self.section_trees, "payload order": self.payload_order, "leaf boxes": self.leaf_boxes,
            "mesh tree": self.mesh_tree, "domains": self.domains, "keys": self.key_width, "rows": self.rows,
            "interior": self.interior, "point sets": self.point_sets,
        }  # fmt: skip
        if self.mesh.simd is not None:
            tests |= {name: self._simd(test) for name, test in simd_checks.RULES.items()}
        return tests

    def _simd(self, test: simd_checks.Test) -> Callable[[], Iterator[Parts]]:
        return lambda: test(self.mesh, self.primitives, self.corners)

    # arrays

    def runs(self) -> Iterator[Parts]:
        """The runs of the sections tile the arrays in section order."""
        for name, first, count, total in (
            ("packed vertices", "first_packed", "num_packed", len(self.mesh.packed)),
            ("shared-vertex entries", "first_shared", "num_shared", len(self.mesh.shared_index)),
            ("primitives", "first_primitive", "num_primitives", len(self.mesh.primitives)),
        ):
            counts = self.mesh.sections[count].astype(np.int64)
            bad = np.flatnonzero(self.mesh.sections[first] != starts(counts))
            if len(bad):
                yield f"the runs of {name} do not follow one another", len(bad), _section(bad[0])
            elif int(counts.sum()) != total:
                yield f"{total - int(counts.sum())} {name} belong to no section", 1, ""

    def sizes(self) -> Iterator[Parts]:
        """A section has at most 127 primitives and 255 vertex slots."""
        table = self.mesh.sections
        for name, values, limit in (
            ("primitives", self.counts, MAX_PRIMITIVES),
            ("vertices", table["num_packed"].astype(np.int64) + table["num_shared"], MAX_SLOTS),
        ):
            bad = np.flatnonzero(values > limit)
            if len(bad):
                yield f"more than {limit} {name} in a section", len(bad), _section(bad[0])

    def flags(self) -> Iterator[Parts]:
        """Bit 0 is set in exactly the sections with custom primitives."""
        held = np.zeros(len(self.counts), bool)
        held[self.primitives.section[self.primitives.kind == CUSTOM]] = True
        bad = np.flatnonzero((self.mesh.sections["flags"] & 1).astype(bool) != held)
        if len(bad):
            yield "the flag of a section does not tell whether it has custom primitives", len(bad), _section(bad[0])

    def data_runs(self) -> Iterator[Parts]:
        """Each section names one run of value 0xFFFF over all its primitives, and every run is named."""
        first, runs = self.mesh.sections["first_run"].astype(np.int64), self.mesh.runs
        known = (first < len(runs)) & (self.mesh.sections["num_runs"] == 1)
        bad = np.flatnonzero(~known)
        if len(bad):
            yield "a section does not name one data run", len(bad), _section(bad[0])
        named = runs[first[known]]
        wrong = (named["index"] != 0) | (named["count"] != self.counts[known])
        bad = np.flatnonzero(known)[wrong]
        if len(bad):
            yield "a data run does not cover its section's primitives", len(bad), _section(bad[0])
        bad = np.flatnonzero(known)[named["value"] != ALL_SECTIONS]
        if len(bad):
            yield f"a data run has another value than {ALL_SECTIONS:#x}", len(bad), _section(bad[0])
        unused = np.setdiff1d(np.arange(len(runs)), first[known])
        if len(unused):
            yield "data runs that no section names", len(unused), f"primitiveDataRuns[{unused[0]}]"

    # trees

    @cached_property
    def _walked(self) -> Walk | FormatError:
        return _try_walk(
            self.mesh.section_nodes,
            self.mesh.section_starts[:-1],
            self.mesh.section_starts[1:],
            self.mesh.sections["domain"][:, :, :3],
        )

    @cached_property
    def _leaves(self) -> tuple[Array, Array, Array]:
        """The leaves of the section trees in pre-order: node, section, payload."""
        node = np.flatnonzero(~self.mesh.section_nodes.inner)
        section = np.searchsorted(self.mesh.section_starts, node, side="right") - 1
        return node, section, self.mesh.section_nodes.value[node]

    @cached_property
    def _named_once(self) -> Array:
        """(s,) bool, sections whose leaves name each of their primitives once."""
        _, section, payload = self._leaves
        known = payload < self.counts[section]
        owner = starts(self.counts)[section[known]] + payload[known]
        named = np.bincount(owner, minlength=int(self.counts.sum()))
        bad = np.zeros(len(self.counts), bool)
        bad[section[~known]] = True
        bad[self.primitives.section[named != 1]] = True
        return ~bad

    def section_trees(self) -> Iterator[Parts]:
        """Every node is reached once, and the leaves name each primitive once."""
        sizes = np.diff(self.mesh.section_starts)
        empty = np.flatnonzero((sizes == 0) & (self.counts > 0))
        if len(empty):
            yield "the tree of a section is missing", len(empty), _section(empty[0])
        if isinstance(self._walked, FormatError):
            yield f"a section tree is none: {self._walked.what}", 1, self._walked.trail
        bad = np.flatnonzero(~self._named_once & (sizes > 0))
        if len(bad):
            yield "the leaves of a section tree do not name each primitive once", len(bad), _section(bad[0])

    def payload_order(self) -> Iterator[Parts]:
        """The leaf of pre-order rank r carries the payload p with ``ranks(n)[p] == r``, the traces of a sort."""
        _, section, payload = self._leaves
        whole = self._named_once[section]
        section, payload = section[whole], payload[whole]
        sections, place = np.unique(section, return_inverse=True)
        counts = self.counts[sections]
        rank = np.concatenate([np.zeros(0, np.int64), *(np.array(ranks(int(count))) for count in counts)])
        wanted = rank[starts(counts)[place] + payload]
        bad = np.unique(section[wanted != ranges(np.zeros_like(counts), counts)])
        if len(bad):
            yield (
                "the primitives of a section are not in the order that the games' sort gives",
                len(bad),
                _section(bad[0]),
            )

    def leaf_boxes(self) -> Iterator[Parts]:
        """Every vertex lies in its primitive's leaf box."""
        if isinstance(self._walked, FormatError):
            return
        node, section, payload = self._leaves
        known = self._named_once[section]
        node, place = node[known], starts(self.counts)[section[known]] + payload[known]
        points = self.corners.of_primitives[place]
        drawn = self.primitives.kind[place] <= QUAD
        domain = self.mesh.sections["domain"][section[known]][:, :, :3]
        by = outside_by(points[drawn], self._walked.boxes[node[drawn]], domain[drawn])
        bad = np.flatnonzero(by > UNITS)
        if len(bad):
            where = place[drawn][bad[0]]
            yield "a primitive reaches out of its leaf's box", len(bad), self._primitive(where)

    def point_sets(self) -> Iterator[Parts]:
        """The second slot of a point set is the node of its own leaf in its section's tree."""
        if not (self.primitives.kind == CUSTOM).any():
            return
        custom = read_custom(self.mesh, self.primitives)
        slots = self.primitives.slots[self.primitives.kind == CUSTOM]
        node = self.mesh.section_starts[custom.section] + slots[:, 1]
        inside = node < self.mesh.section_starts[custom.section + 1]
        node = np.minimum(node, len(self.mesh.section_nodes) - 1)
        right = ~self.mesh.section_nodes.inner[node] & (self.mesh.section_nodes.value[node] == custom.primitive)
        bad = np.flatnonzero((custom.kind == POINTS) & ~(inside & right))
        if len(bad):
            yield "a point set does not name its leaf", len(bad), f"key {custom.keys[bad[0]]}"

    def mesh_tree(self) -> Iterator[Parts]:
        """The leaves name each section once, each where it says, and hold its domain."""
        tree, sections = self.mesh.tree, self.mesh.sections
        if not len(tree):
            if len(sections):
                yield "the mesh tree is missing", 1, ""
            return
        walked = _try_walk(tree, np.array([0]), np.array([len(tree)]), self.mesh.domain[None, :, :3])
        if isinstance(walked, FormatError):
            yield f"the mesh tree is none: {walked.what}", 1, walked.trail
            return
        leaf = np.flatnonzero(~tree.inner)
        if not np.array_equal(np.sort(tree.value[leaf]), np.arange(len(sections))):
            yield "the leaves of the mesh tree do not name each section once", 1, ""
            return
        node = np.zeros(len(sections), np.int64)
        node[tree.value[leaf]] = leaf
        bad = np.flatnonzero(sections["leaf_index"] != node)
        if len(bad):
            yield "a section names another leaf of the mesh tree than its own", len(bad), _section(bad[0])
        domain = np.broadcast_to(self.mesh.domain[None, :, :3], (len(sections), 2, 3))
        by = outside_by(sections["domain"][:, :, :3], walked.boxes[node], domain)
        bad = np.flatnonzero(by > UNITS)
        if len(bad):
            yield "the domain of a section reaches out of its leaf in the mesh tree", len(bad), _section(bad[0])

    def domains(self) -> Iterator[Parts]:
        """A section's domain holds its vertices and the convex radius round them; the mesh's holds the sections'."""
        sections, radius = self.mesh.sections, np.float32(self.mesh.radius)
        drawn = self.primitives.kind <= QUAD
        points = self.corners.of_primitives[drawn]
        grown = np.stack([points.min(axis=1) - radius, points.max(axis=1) + radius], axis=1)
        domain = sections["domain"][self.primitives.section[drawn]][:, :, :3]
        steps = self.corners.steps[self.primitives.section[drawn]][:, None]
        by = outside_by(grown, domain + np.stack([-steps, steps], axis=1)[:, :, 0], domain)
        bad = np.flatnonzero(by > UNITS)
        if len(bad):
            where = self._primitive(np.flatnonzero(drawn)[bad[0]])
            yield "vertices with their convex radius reach out of their section's domain", len(bad), where
        if len(sections):
            union = np.stack([sections["domain"][:, 0, :3].min(axis=0), sections["domain"][:, 1, :3].max(axis=0)])
            if outside_by(union[None], self.mesh.domain[None, :, :3], self.mesh.domain[None, :, :3])[0] > UNITS:
                yield "a section's domain reaches out of the mesh's", 1, ""

    # keys

    def key_width(self) -> Iterator[Parts]:
        """Widths, largest key and number of keys follow from the primitives."""
        mesh, kind = self.mesh, self.primitives.kind
        if not len(mesh.sections):
            if mesh.shape_bits or mesh.key_bits:
                yield "a mesh without sections has a key width", 1, ""
            return
        largest = self.primitives.keys[kind != DEAD_PRIMITIVE].astype(np.int64) + (kind[kind != DEAD_PRIMITIVE] == QUAD)
        top = int(largest.max(initial=0))
        if mesh.max_key != top:
            yield f"the largest key is {top}, not {mesh.max_key}", 1, ""
        width = keys.width_for(mesh.max_key)
        if mesh.key_bits != width or mesh.shape_bits != width:
            yield f"keys have {width} bits, not {mesh.key_bits} (tree) and {mesh.shape_bits} (shape)", 1, ""
        least = int((kind == TRIANGLE).sum() + 2 * (kind == QUAD).sum() + (kind == CUSTOM).sum())
        if mesh.key_count < least:
            yield f"numPrimitiveKeys is {mesh.key_count}, there are {least} keys", 1, ""

    @cached_property
    def _known_keys(self) -> Array:
        return np.asarray(self.decoded.keys)

    def rows(self) -> Iterator[Parts]:
        """The material table names triangles that exist, none twice, and describes each row."""
        mesh = self.mesh
        if mesh.rows is None:
            return
        named = keys.from_left(mesh.rows, min(mesh.shape_bits, keys.WORD))
        wrong = np.flatnonzero(~np.isin(named, self._known_keys))
        if len(wrong):
            yield "rows name keys that no triangle has", len(wrong), f"triangleIndexToShapeKey[{wrong[0]}]"
        twice = len(named) - len(np.unique(named))
        if twice:
            yield "rows name a key that another row names", twice, ""
        bad = np.flatnonzero(keys.to_left(named, min(mesh.shape_bits, keys.WORD)) != mesh.rows)
        if len(bad):
            yield "the bits below a row's key are not all ones", len(bad), f"triangleIndexToShapeKey[{bad[0]}]"
        if mesh.materials is None:
            yield "the material table is missing", 1, ""
        elif len(mesh.materials.primitive_data) < len(named):
            yield "rows without an entry in the material table", len(named) - len(mesh.materials.primitive_data), ""

    def interior(self) -> Iterator[Parts]:
        """There is one bit for each key up to the largest, set only where a triangle has the key."""
        bits = self.mesh.interior
        if len(self.mesh.sections) and len(bits) != self.mesh.max_key + 1:
            yield f"there are {len(bits)} interior bits for keys up to {self.mesh.max_key}", 1, ""
        stray = np.setdiff1d(np.flatnonzero(bits), self._known_keys)
        if len(stray):
            yield "interior bits of keys that no triangle has", len(stray), f"key {stray[0]}"

    def _primitive(self, place: int) -> str:
        return f"sections[{self.primitives.section[place]}].primitives[{self.primitives.index[place]}]"


def _try_walk(nodes: Nodes, roots: Array, ends: Array, domains: Array) -> Walk | FormatError:
    try:
        return walk(nodes, roots, ends, domains)
    except FormatError as error:
        return error


def _section(number: int) -> str:
    return f"sections[{number}]"
