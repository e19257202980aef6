"""Mesh objects -> FLVER meshes, the mirror of `addon.scene.meshes`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from ...codec import FormatError
from ...codec.binary import Array
from ...codec.flver import FaceSet, Flver, Layout, Mesh, Semantic, VertexBuffer, encode_vertices, uv_factor
from ...codec.flver.layout import stored_members
from ...model.binding import Binder, Bound
from ...model.edits import EditedMesh, Space, edited
from ...model.facesets import FaceSets, with_skipped
from .. import held
from ..keys import PREFIX
from ..problems import Problems
from ..properties import fill_record
from ..settings import FlverExportSettings
from .armature import GatheredNodes
from .materials import Materials
from .shown import ReadMesh, evaluated, model_matrix, read_mesh

# of the first mesh of a model that has none, for a plain material of Elden Ring
DEFAULT_LAYOUT = (
    (Semantic.POSITION, 0x02, 0),
    (Semantic.NORMAL, 0x13, 0),
    (Semantic.TANGENT, 0x13, 0),
    (Semantic.BONES, 0x11, 0),
    (Semantic.WEIGHTS, 0x13, 0),
    (Semantic.COLOR, 0x13, 1),
    (Semantic.UV, 0x15, 0),
)
_EMPTY_VALUES = {"tangents": np.nan, "bitangents": -1.0}  # to be made; the byte zero, which stands for none
WRAP_STEPS = 256  # UVs in steps of less have no range worth a check


@dataclass
class GatheredMesh:
    """A mesh as it is to be stored.

    Attributes:
        mesh: the record.
        source: its number in the file, -1 for a new one.
        shape: whether vertices moved, are others, or are bound otherwise.
        faces: whether triangles are others.
        naming: whether it names another node than before.
    """

    mesh: Mesh
    source: int
    shape: bool
    faces: bool
    naming: bool


@dataclass
class MeshGatherer:
    """What all meshes of a model are gathered with.

    Attributes:
        template: the model as it was imported.
        nodes: of the armature.
        armature: the object, None without nodes.
        materials: takes the materials that meshes use.
        context: Blender's.
        settings: of the export.
        problems: takes what cannot be stored.
        layouts: of the file, and the one that new meshes need where the file has no mesh.
    """

    template: Flver
    nodes: GatheredNodes
    armature: Any
    materials: Materials
    context: Any
    settings: FlverExportSettings
    problems: Problems
    layouts: list[Layout]

    def gather(self, obj: Any, lods: list[Any], *, imported: bool) -> GatheredMesh | None:
        """Return the mesh that an object stands for; None, with an error reported, where it cannot be stored.

        Args:
            obj: the object.
            lods: objects of its further levels of detail.
            imported: whether it is one of the file's meshes; else it is a new one.
        """
        try:
            return _Gathering(self, obj, lods, imported=imported).gather()
        except FormatError as error:
            self.problems.error(str(error), obj.name)
            return None


class _Gathering:
    """One object on its way to a mesh."""

    def __init__(self, owner: MeshGatherer, obj: Any, lods: list[Any], *, imported: bool) -> None:
        self.owner, self.obj, self.data, self.lods, self.imported = owner, obj, obj.data, lods, imported
        self.numbering = owner.nodes.numbering
        self.donor = self._donor()
        self.original = self._original()
        self.node = int(self.numbering.of(self.original.node))
        self.members = [
            each for each in stored_members(self.original.buffers, owner.layouts) if each.coding is not None
        ]

    def gather(self) -> GatheredMesh | None:
        if self.node < 0 <= self.original.node:
            self._warn("its own bone is gone: it names none")
        read = self._read()
        if not len(read.shown.positions) and not self.imported:
            self._warn("has no vertices and is left out")
            return None
        bound = self._bind(read)
        result = self._edit(read, bound)
        numbers = read.numbers[result.sources]
        if len(self.original.buffers) > 1 and not self._keeps_cloth(numbers):
            return None
        mesh = replace(self.original, palette=bound.palette, node=self.node, material=self._material(read.slots))
        mesh.buffers = self._encoded(result, numbers)
        mesh.face_sets, faces = self._face_sets(read, result, numbers)
        return GatheredMesh(
            mesh,
            self.donor if self.imported else -1,
            shape=result.moved or bool(bound.changed.any()) or not self.imported,
            faces=faces,
            naming=not self.imported or self.node != self.original.node,
        )

    def _warn(self, text: str) -> None:
        self.owner.problems.warn(text, self.obj.name)

    def _error(self, text: str) -> None:
        self.owner.problems.error(text, self.obj.name)

    # what the mesh is made from

    def _donor(self) -> int:
        """Return the mesh of the file whose record and layout the object has, -1 where there is none.

        An object that was not imported takes those of a mesh with its material, else of the first mesh.
        """
        meshes = self.owner.template.meshes
        own = int(self.data.get(PREFIX + "mesh", -1))
        if 0 <= own < len(meshes):
            return own
        block = next((slot.material for slot in self.obj.material_slots if slot.material), None)
        material = -1 if block is None else self.owner.materials.index_of(block)
        plain = [i for i, each in enumerate(meshes) if len(each.buffers) == 1]
        alike = [i for i in plain if meshes[i].material == material]
        return (alike or plain or [-1])[0]

    def _original(self) -> Mesh:
        """Return the record of the file, with what the object's properties say of it."""
        owner, data = self.owner, self.data
        if self.donor < 0:
            if len(owner.layouts) == len(owner.template.layouts):
                owner.layouts.append(Layout.new(*DEFAULT_LAYOUT))
            layout = len(owner.layouts) - 1
            return Mesh([FaceSet(np.zeros(0, "<u2"))], [VertexBuffer.new(owner.layouts, layout, 0)])
        mesh = replace(owner.template.meshes[self.donor])
        if PREFIX + "mesh" not in data:
            return mesh
        mesh.dynamic = int(data.get(PREFIX + "dynamic", mesh.dynamic))
        mesh.node = int(data.get(PREFIX + "node", mesh.node))
        mesh.palette = np.array(list(data.get(PREFIX + "palette", mesh.palette)), np.int32)
        if mesh.bounds is not None and PREFIX + "bounds" in data:
            mesh.bounds = mesh.bounds.copy()
            fill_record(mesh.bounds, data[PREFIX + "bounds"], prefix="")
        values = data.get(PREFIX + "face_sets", ())
        if len(values) == len(mesh.face_sets):
            mesh.face_sets = [_face_set(*each) for each in zip(mesh.face_sets, values, strict=True)]
        return mesh

    @cached_property
    def steps(self) -> dict[str, float]:
        """The steps in which the layouts store values, by attribute and index; 0 for real numbers."""
        steps = {}
        for member in self.members:
            name, key = member.place
            data = self.original.buffers[member.buffer].data.dtype
            real = data[member.name].base.kind == "f"
            one = 0.0 if real or member.coding is None else member.coding.one or uv_factor(self.owner.template.version)
            steps[name if key is None else f"{name}{key}"] = float(one)
        return steps

    # reading

    def _read(self) -> ReadMesh:
        owner = self.owner
        matrix = model_matrix(self.obj, owner.armature, owner.nodes.from_world)
        with evaluated(self.obj, owner.armature, owner.context, modifiers=owner.settings.apply_modifiers) as mesh:
            read = read_mesh(self.obj, mesh, matrix, owner.nodes.by_bone, self._bone_width())
        if not read.imported:
            self._give_members(read)
        if read.strangers:
            names = ", ".join(read.strangers[:3]) + (" ..." if len(read.strangers) > 3 else "")
            self._warn(f"the weights of {names} move nothing: there is no such bone")
        return read

    def _bone_width(self) -> int:
        bones = [each.coding for each in self.members if each.semantic == Semantic.BONES and each.coding is not None]
        return len(bones[0].order) if bones else 4

    def _give_members(self, read: ReadMesh) -> None:
        """Give the vertices of a new mesh all that its layout holds; what Blender does not show of it is filled in."""
        count, vertices = len(read.shown.positions), read.stored.vertices
        painted = next(iter(vertices.colors.values()), np.ones((count, 4), np.float32))
        for member in self.members:
            name, key = member.place
            width = 0 if member.coding is None else len(member.coding.order)
            if name in {"bones", "weights"}:
                setattr(vertices, name, np.zeros((count, width), np.int32 if name == "bones" else np.float32))
            elif name == "normals":
                vertices.normals = np.full((count, width), np.nan, np.float32)
                vertices.normal_nodes = np.zeros(count, np.int32)
            elif name == "colors":
                vertices.colors.setdefault(int(key or 0), painted)
            elif key is not None:
                getattr(vertices, name)[key] = np.full((count, width), _EMPTY_VALUES.get(name, 0.0), np.float32)

    # editing

    def _bind(self, read: ReadMesh) -> Bound:
        template = self.owner.template
        binder = Binder(template, self.original, self.numbering, self.steps.get("weights", 0.0))
        bound = binder.bind(read.stored.vertices, read.influences, everything=not read.imported)
        if bound.fault:
            self._error(bound.fault)
        if bound.dropped:
            self._warn(f"{bound.dropped} vertices follow more bones than can be stored: the weakest are dropped")
        if bound.unbound:
            names = self.owner.nodes.names
            name = names[max(self.node, 0)] if names else "nothing"
            self._warn(f"{bound.unbound} vertices have no weights: they follow {name}")
        read.stored.vertices = bound.vertices
        return bound

    def _edit(self, read: ReadMesh, bound: Bound) -> EditedMesh:
        nodes, space = self.owner.nodes, None
        if not self.original.dynamic:
            carriers = bound.carriers(self.node, len(nodes.nodes))
            same = np.append(nodes.same, True)[carriers]
            space = Space(np.concatenate((nodes.world, np.eye(4)[None]))[carriers], same & ~bound.changed)
        result = edited(read.shown, read.stored, space, self.steps)
        broken = int((~np.isfinite(result.vertices.positions).all(axis=1)).sum())
        if broken and result.moved:
            self._error(f"{broken} vertices have a position that is no number")
        for index, values in result.vertices.uvs.items():
            steps = self.steps.get(f"uvs{index}", 0.0)
            if steps > WRAP_STEPS and len(values) and np.abs(np.nan_to_num(values)).max() * steps > 0x8000:
                self._error(f"its UV map {index} reaches past {0x8000 / steps:.0f} tiles, more than its layout stores")
        return result

    def _keeps_cloth(self, numbers: Array) -> bool:
        """Tell whether a cloth mesh still has its vertices, which the cloth's data know by number."""
        count = self.original.vertex_count
        if len(numbers) == count and (numbers == np.arange(count)).all():
            return True
        if self.owner.settings.let_go_of_cloth:
            self._warn("lets go of its cloth, whose data know other vertices")
            return True
        why = f"{count} vertices became {len(numbers)}" if len(numbers) != count else "vertices were exchanged"
        if len(self.data.vertices) == count != len(numbers):
            why += ", as UVs or normals differ at corners of one vertex"
        self._error(f"moves as cloth, which knows its vertices by number, but {why}. Undo that, or let go of the cloth")
        return False

    # storing

    def _encoded(self, result: EditedMesh, numbers: Array) -> list[VertexBuffer]:
        """Return buffers of the layouts; bytes that no member means come from the vertex of the file."""
        buffers = []
        for buffer in self.original.buffers:
            known = (numbers >= 0) & (numbers < len(buffer.data))
            whole = np.dtype((np.void, buffer.data.dtype.itemsize))  # bytes between members too
            data = np.zeros(len(numbers), whole)
            data[known] = np.ascontiguousarray(buffer.data).view(whole)[numbers[known]]
            buffers.append(replace(buffer, data=data.view(buffer.data.dtype)))
        template = self.owner.template
        return encode_vertices(result.vertices, buffers, self.owner.layouts, uv_factor(template.version))

    def _material(self, used: list[int]) -> int:
        slots = self.obj.material_slots
        blocks = {slots[i].material for i in used if i < len(slots)} - {None}
        blocks = blocks or {slot.material for slot in slots if slot.material}
        if len(blocks) > 1:
            self._error(f"uses {len(blocks)} materials, a mesh of the format has one: separate it by material")
        if blocks:
            return self.owner.materials.index_of(blocks.pop())
        if not 0 <= self.original.material < len(self.owner.materials.materials) and not self.imported:
            self._error("has no material")
        return self.original.material

    def _face_sets(self, read: ReadMesh, result: EditedMesh, numbers: Array) -> tuple[list[FaceSet], bool]:
        """Return the face sets, and whether their triangles are others than before."""
        if self.donor < 0 or not read.imported:
            return [_plain(self.original.face_sets[0], result.triangles, len(numbers))], True
        places = np.full(self.owner.template.meshes[self.donor].vertex_count, -1, np.int64)
        known = (numbers >= 0) & (numbers < len(places))
        places[numbers[known][::-1]] = np.flatnonzero(known)[::-1]  # of copies, the first
        count = len(numbers)
        levels = {int(self.data.get(PREFIX + "lod", 0)): _level(self.data, result.triangles, places, count)}
        for lod in self.lods:
            levels[int(lod.data[PREFIX + "lod"])] = self._lod(lod, places, count)
        maker = FaceSets(self.owner.template, self.donor, places, read.shown.positions[result.sources])
        made = maker.make(self.original.face_sets, levels, self.owner.settings.lods)
        if made.lost:
            self._warn(f"{made.lost} triangles of other levels of detail have lost a vertex and are left out")
        return made.sets, made.changed or not self.imported

    def _lod(self, obj: Any, places: Array, count: int) -> Array:
        """Return the level that an object of its own shows; its vertices are those of the mesh, known by number."""
        with evaluated(obj, self.owner.armature, self.owner.context, modifiers=False) as mesh:
            mesh.calc_loop_triangles()
            corners = np.empty(3 * len(mesh.loop_triangles), np.int32)
            mesh.loop_triangles.foreach_get("vertices", corners)
            numbers = held.read(mesh, held.VERTEX)
        if numbers is None or ((numbers < 0) | (numbers >= len(places))).any():
            raise FormatError(f"vertices of {obj.name} are not among those of the mesh")
        triangles = places[numbers[corners]].reshape(-1, 3)
        whole = (triangles >= 0).all(axis=1)
        if not whole.all():
            self._warn(f"{int((~whole).sum())} triangles of {obj.name} have lost a vertex and are left out")
        return _level(obj.data, triangles[whole].astype(np.int32), places, count)


def _level(data: Any, triangles: Array, places: Array, count: int) -> Array:
    """Return a level with the triangles that the import has skipped, where nothing was added or taken away."""
    same = len(places) == count and bool((places == np.arange(count)).all())
    if not same or data.get(PREFIX + "triangles", -1) != len(triangles):
        return triangles
    skipped, corners = (np.array(list(data[PREFIX + "skipped_" + name]), np.int32) for name in ("triangles", "corners"))
    return with_skipped(triangles, skipped, corners.reshape(-1, 3))


def _face_set(stored: FaceSet, values: Any) -> FaceSet:
    flags = int(values["flags"]) & 0xFFFFFFFF
    return replace(stored, flags=flags, cull_back=int(values["cull_back"]), unk06=int(values["unk06"]))


def _plain(like: FaceSet, triangles: Array, count: int) -> FaceSet:
    """Return the one face set of a new mesh."""
    wide = count > 0xFFFF
    indices = triangles.ravel().astype("<u4" if wide else "<u2")
    return replace(like, indices=indices, flags=0, strip=0, index_size=32 if wide else 16, index_count=None)
