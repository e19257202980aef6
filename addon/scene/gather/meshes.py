"""Mesh objects -> FLVER meshes, the mirror of `addon.scene.meshes`."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ...codec import FormatError
from ...codec.binary import Array
from ...codec.flver import FaceSet, Flver, Layout, Mesh, Semantic, VertexBuffer, Vertices, encode_vertices, uv_factor
from ...codec.flver.layout import StoredMember, stored_members
from ...model.binding import Bound, bind, carriers
from ...model.edits import EditedMesh, Space, edited
from ...model.facesets import FaceSets, ShownLevel, with_skipped
from .. import held
from ..problems import Problems
from ..properties import PREFIX, fill_record
from ..settings import FlverExportSettings
from .armature import GatheredNodes
from .materials import Materials
from .shown import ReadMesh, evaluated, model_matrix, read_mesh

DEFAULT_LAYOUT = (
    (Semantic.POSITION, 0x02, 0),
    (Semantic.NORMAL, 0x13, 0),
    (Semantic.TANGENT, 0x13, 0),
    (Semantic.BONES, 0x11, 0),
    (Semantic.WEIGHTS, 0x13, 0),
    (Semantic.COLOR, 0x13, 1),
    (Semantic.UV, 0x15, 0),
)


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
    """Gathers the meshes of a model.

    Attributes:
        template: the model as it was imported.
        nodes: of the armature.
        armature: the object, None without nodes.
        materials: takes the materials that meshes use.
        context: Blender's.
        settings: of the export.
        scale: of the model in the scene.
        problems: takes what cannot be stored.
        layouts: of the file, and those that new meshes need.
    """

    template: Flver
    nodes: GatheredNodes
    armature: Any
    materials: Materials
    context: Any
    settings: FlverExportSettings
    scale: float
    problems: Problems
    layouts: list[Layout] = field(default_factory=list)

    def gather(self, obj: Any, lods: list[Any], *, imported: bool) -> GatheredMesh | None:
        """Return the mesh that an object stands for; None, with an error reported, where it cannot be stored.

        Args:
            obj: the object.
            lods: objects of its further levels of detail.
            imported: whether it is one of the file's meshes; else it is a new one.
        """
        try:
            donor = self._donor(obj)
            original, source = self._original(obj, donor)
            read = self._read(obj, original)
            if not len(read.shown.positions) and not imported:
                self.problems.warn("has no vertices and is left out", obj.name)
                return None
            bound = self._bind(obj, read, original)
            result = self._edit(obj, read, bound, original)
            if len(original.buffers) > 1 and not self._keeps_cloth(obj, result, read, original):
                return None
            return self._assemble(obj, lods, read, bound, result, original, source if imported else -1)
        except FormatError as error:
            self.problems.error(str(error), obj.name)
            return None

    def _donor(self, obj: Any) -> int:
        """Return the mesh of the file whose record and layout an object has, -1 where there is none.

        A mesh that was not imported takes those of a mesh with its material, else of the first mesh.
        """
        own = int(obj.data.get(PREFIX + "mesh", -1))
        if 0 <= own < len(self.template.meshes):
            return own
        material = next((slot.material for slot in obj.material_slots if slot.material), None)
        index = -1 if material is None else self.materials.index_of(material)
        plain = [i for i, each in enumerate(self.template.meshes) if len(each.buffers) == 1]
        return next((i for i in plain if self.template.meshes[i].material == index), plain[0] if plain else -1)

    def _original(self, obj: Any, donor: int) -> tuple[Mesh, int]:
        """Return the record of the file that an object's properties complete, and its number."""
        if donor < 0:
            if not self.layouts or len(self.layouts) == len(self.template.layouts):
                self.layouts.append(Layout.new(*DEFAULT_LAYOUT))
            layout = len(self.layouts) - 1
            return Mesh([FaceSet(np.zeros(0, "<u2"))], [VertexBuffer.new(self.layouts, layout, 0)]), -1
        stored, data = self.template.meshes[donor], obj.data
        if PREFIX + "mesh" not in data:
            return replace(stored), donor
        mesh = replace(
            stored,
            dynamic=int(data.get(PREFIX + "dynamic", stored.dynamic)),
            node=int(data.get(PREFIX + "node", stored.node)),
            palette=np.array(list(data.get(PREFIX + "palette", stored.palette)), np.int32),
        )
        if mesh.bounds is not None and PREFIX + "bounds" in data:
            mesh.bounds = mesh.bounds.copy()
            fill_record(mesh.bounds, data[PREFIX + "bounds"], prefix="")
        flags = data.get(PREFIX + "face_sets", ())
        if len(flags) == len(stored.face_sets):
            mesh.face_sets = [_face_set(each, values) for each, values in zip(stored.face_sets, flags, strict=True)]
        return mesh, donor

    def _read(self, obj: Any, original: Mesh) -> ReadMesh:
        bones = _member(self._members(original), Semantic.BONES)
        width = len(bones.coding.order) if bones is not None and bones.coding is not None else 4
        matrix = model_matrix(obj, self.armature, self.scale)
        with evaluated(obj, self.armature, self.context, modifiers=self.settings.apply_modifiers) as mesh:
            read = read_mesh(obj, mesh, matrix, self.nodes.by_bone, width)
        if not read.imported:
            self._give_members(read, original)
        if read.strangers:
            self.problems.warn(f"weights of {_list(read.strangers)} move nothing: there is no such bone", obj.name)
        return read

    def _members(self, mesh: Mesh) -> list[StoredMember]:
        return [each for each in stored_members(mesh.buffers, self.layouts) if each.coding is not None]

    def _give_members(self, read: ReadMesh, original: Mesh) -> None:
        """Give the vertices of a new mesh all that its layout holds; what Blender does not show of it is filled in."""
        count, vertices = len(read.shown.positions), read.stored.vertices
        for member in self._members(original):
            name, key = member.place
            if member.coding is None:
                continue
            width = len(member.coding.order)
            if name in ("bones", "weights"):
                setattr(vertices, name, np.zeros((count, width), np.int32 if name == "bones" else np.float32))
            elif key is None and name != "positions":
                setattr(vertices, name, np.full((count, width), np.nan, np.float32))
                vertices.normal_nodes = None if member.coding.node < 0 else np.zeros(count, np.int32)
            elif name == "colors":
                first = next(iter(vertices.colors.values()), np.ones((count, 4), np.float32))
                vertices.colors.setdefault(int(key or 0), first)
            elif key is not None:
                getattr(vertices, name)[key] = np.full((count, width), _FILL.get(name, 0.0), np.float32)

    def _bind(self, obj: Any, read: ReadMesh, original: Mesh) -> Bound:
        steps = self._steps(original).get("weights", 0.0)
        bound = bind(self.template, original, read.stored.vertices, read.influences, self.nodes.numbering, steps)
        if not read.imported:
            bound.changed[:] = True
        if bound.fault:
            self.problems.error(bound.fault, obj.name)
        if bound.dropped:
            width = 1 if not original.dynamic or bound.vertices.bones is None else bound.vertices.bones.shape[1]
            what = "one bone" if width == 1 else f"{width} bones"
            self.problems.warn(f"{bound.dropped} vertices follow more than {what}: the weakest are dropped", obj.name)
        if bound.unbound:
            name = self.nodes.names[max(original.node, 0)] if self.nodes.names else "nothing"
            self.problems.warn(f"{bound.unbound} vertices have no weights: they follow {name}", obj.name)
        read.stored.vertices = bound.vertices
        return bound

    def _steps(self, mesh: Mesh) -> dict[str, float]:
        """Return the steps in which a mesh's layouts store values, by attribute and index; 0 for real numbers."""
        steps = {}
        for member in self._members(mesh):
            name, key = member.place
            if member.coding is not None:
                one = float(member.coding.one or uv_factor(self.template.version))
                real = member.coding.kind == "" and member.code <= 0x03
                steps[name if key is None else f"{name}{key}"] = 0.0 if real else one
        return steps

    def _edit(self, obj: Any, read: ReadMesh, bound: Bound, original: Mesh) -> EditedMesh:
        space = None
        if not original.dynamic:
            space = self._space(read.stored.vertices, bound, original)
        result = edited(read.shown, read.stored, space, self._steps(original))
        broken = ~np.isfinite(result.vertices.positions).all(axis=1)
        if broken.any() and result.moved:
            self.problems.error(f"{int(broken.sum())} vertices have a position that is no number", obj.name)
        self._check_uvs(obj, result.vertices, original)
        return result

    def _space(self, vertices: Vertices, bound: Bound, original: Mesh) -> Space:
        own = int(self.nodes.numbering.of(original.node))
        nodes = carriers(original, vertices, bound.palette, own, len(self.nodes.nodes))
        world = np.concatenate((self.nodes.world, np.eye(4)[None]))
        same = np.concatenate((self.nodes.same, [True]))
        return Space(world[nodes], same[nodes] & ~bound.changed)

    def _check_uvs(self, obj: Any, vertices: Vertices, original: Mesh) -> None:
        steps = self._steps(original)
        for index, values in vertices.uvs.items():
            one = steps.get(f"uvs{index}", 0.0)
            if one > 255 and len(values) and np.nanmax(np.abs(values)) * one > 32768:
                self.problems.error(
                    f"UVs of map {index} reach past {32767 / one:.0f} tiles, more than the layout stores", obj.name
                )

    def _keeps_cloth(self, obj: Any, result: EditedMesh, read: ReadMesh, original: Mesh) -> bool:
        """Tell whether a cloth mesh still has its vertices, which the cloth's data know by number."""
        count = original.vertex_count
        same = len(result.sources) == count and bool((read.numbers == np.arange(count)).all())
        if same or self.settings.let_go_of_cloth:
            if not same:
                self.problems.warn(
                    "lets go of its cloth: its vertices have other numbers than the cloth's data", obj.name
                )
            return True
        why = (
            f"{count} vertices became {len(result.sources)}" if len(result.sources) != count else "vertices are others"
        )
        if len(read.numbers) == count and len(result.sources) != count:
            why += ", as UVs or normals now differ at corners of one vertex"
        self.problems.error(
            f"moves as cloth, whose data know its vertices by number, but {why}. Undo that, or let go of the cloth",
            obj.name,
        )
        return False

    def _assemble(
        self, obj: Any, lods: list[Any], read: ReadMesh, bound: Bound, result: EditedMesh, original: Mesh, source: int
    ) -> GatheredMesh:
        donor = self._donor(obj)
        own = int(self.nodes.numbering.of(original.node))
        mesh = replace(original, palette=bound.palette, node=own)
        numbers = read.numbers[result.sources]
        mesh.buffers = self._encode(obj, original, result.vertices, numbers)
        mesh.material = self._material(obj, original)
        faces = True
        if donor >= 0 and read.imported:
            mesh.face_sets, faces = self._face_sets(obj, lods, read, result, original, donor)
        else:
            mesh.face_sets = [replace(original.face_sets[0], indices=result.triangles.astype("<u4").ravel(), strip=0)]
            _fit(mesh.face_sets[0], len(result.sources))
        shape = result.moved or bool(bound.changed.any()) or source < 0
        return GatheredMesh(mesh, source, shape, faces, naming=source < 0 or bool(own != original.node))

    def _encode(self, obj: Any, original: Mesh, vertices: Vertices, numbers: Array) -> list[VertexBuffer]:
        """Return buffers of the layouts; bytes that no member means come from the vertex of the file."""
        buffers = []
        for buffer in original.buffers:
            known = (numbers >= 0) & (numbers < len(buffer.data))
            if known.all() and len(numbers) == len(buffer.data) and (numbers == np.arange(len(numbers))).all():
                buffers.append(buffer)
                continue
            data = np.zeros(len(numbers), buffer.data.dtype)
            data[known] = buffer.data[numbers[known]]
            buffers.append(replace(buffer, data=data))
        return encode_vertices(vertices, buffers, self.layouts, uv_factor(self.template.version))

    def _material(self, obj: Any, original: Mesh) -> int:
        used = {polygon.material_index for polygon in obj.data.polygons} if len(obj.material_slots) > 1 else {0}
        blocks = [slot.material for i, slot in enumerate(obj.material_slots) if slot.material is not None and i in used]
        if len(blocks) > 1:
            self.problems.error(
                f"uses {len(blocks)} materials, a mesh of the format has one: separate it by material", obj.name
            )
        if blocks:
            return self.materials.index_of(blocks[0])
        if 0 <= original.material < len(self.template.materials) and PREFIX + "mesh" in obj.data:
            self.problems.warn("has no material: the one of the file stays", obj.name)
        elif not self.materials.materials:
            self.problems.error("has no material, and the model has none", obj.name)
        return original.material

    def _face_sets(
        self, obj: Any, lods: list[Any], read: ReadMesh, result: EditedMesh, original: Mesh, donor: int
    ) -> tuple[list[FaceSet], bool]:
        numbers = read.numbers[result.sources]
        places = np.full(self.template.meshes[donor].vertex_count, -1, np.int64)
        known = (numbers >= 0) & (numbers < len(places))
        places[numbers[known][::-1]] = np.flatnonzero(known)[::-1]
        levels = {int(obj.data.get(PREFIX + "lod", 0)): _level(obj.data, result.triangles, places, len(result.sources))}
        for lod in lods:
            levels[int(lod.data[PREFIX + "lod"])] = self._lod(lod, places, len(result.sources))
        positions = read.shown.positions[result.sources]
        maker = FaceSets(self.template, donor, places, positions, self.settings.lods)
        maker.stored = original.face_sets
        made = maker.make(levels)
        if made.lost:
            self.problems.warn(f"{made.lost} triangles of other levels of detail have lost a vertex", obj.name)
        return made.sets, made.changed

    def _lod(self, obj: Any, places: Array, count: int) -> ShownLevel:
        """Return the level that an object of its own shows; its vertices are those of the mesh, known by number."""
        with evaluated(obj, self.armature, self.context, modifiers=False) as mesh:
            mesh.calc_loop_triangles()
            corners = np.empty(3 * len(mesh.loop_triangles), np.int32)
            mesh.loop_triangles.foreach_get("vertices", corners)
            numbers = held.read(mesh, held.VERTEX)
        if numbers is None or ((numbers < 0) | (numbers >= len(places))).any():
            raise FormatError(f"vertices of {obj.name} are not among those of the mesh")
        triangles = places[numbers[corners]].reshape(-1, 3)
        whole = (triangles >= 0).all(axis=1)
        if not whole.all():
            self.problems.warn(f"{int((~whole).sum())} triangles have lost a vertex in the nearest level", obj.name)
        return _level(obj.data, triangles[whole].astype(np.int32), places, count)


_FILL = {"tangents": np.nan, "bitangents": -1.0}


def _level(data: Any, triangles: Array, places: Array, count: int) -> ShownLevel:
    """Return a level with the triangles that the import has skipped, where nothing was added or taken away."""
    skipped = np.array(list(data.get(PREFIX + "skipped_triangles", ())), np.int32)
    corners = np.array(list(data.get(PREFIX + "skipped_corners", ())), np.int32).reshape(-1, 3)
    strips = np.array(list(data.get(PREFIX + "strips", ())), np.int32)
    same = len(places) == count and bool((places == np.arange(count)).all())
    if not same or data.get(PREFIX + "triangles", -1) != len(triangles):
        return ShownLevel(triangles)
    return ShownLevel(with_skipped(triangles, skipped, corners), strips)


def _face_set(stored: FaceSet, values: Any) -> FaceSet:
    return replace(
        stored,
        flags=int(values["flags"]) & 0xFFFFFFFF,
        cull_back=int(values["cull_back"]),
        unk06=int(values["unk06"]),
    )


def _fit(face_set: FaceSet, count: int) -> None:
    wide = count > 0xFFFF
    face_set.indices = face_set.indices.astype("<u4" if wide else "<u2")
    face_set.index_size = 32 if wide else 16
    face_set.flags = 0


def _member(members: list[StoredMember], semantic: Semantic) -> StoredMember | None:
    return next((each for each in members if each.semantic == semantic), None)


def _list(names: list[str]) -> str:
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
