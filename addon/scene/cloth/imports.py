"""Files -> cloth in the scene: the function that scripts call and operators are a skin over."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import bpy

from ...cloth import MeshKey, Setup, bind_displays, build_setup
from ...codec import FormatError, Tagfile, read_cloth
from ...codec.source import Kind, Member, Opener, open_source
from ..cache import DecodedCache
from ..files import Progress, import_files, is_wanted, nothing_found
from ..keys import PREFIX as FLVER
from ..properties import set_properties
from ..provenance import Origin
from ..result import ClothResult, ImportedCloth, Timings
from ..texts import shown_name
from . import rig
from .build import ClothBuilder
from .keys import ARMATURE, DATA, MESHES, PREFIX, TYPES, cloths
from .outputs import bound_meshes

BONE_LENGTH = 0.05  # metres, of the bones of a skeleton that only the cloth file has


@dataclass(frozen=True)
class ClothSettings:
    """How cloth is imported.

    Attributes:
        member_filter: only binder members whose name matches, with * and ?; empty for all.
        scale: of a skeleton that is made for cloth without a model; cloth on an armature has the armature's size.
        points, links, collidables: what is visible at once; all are made.
    """

    member_filter: str = ""
    scale: float = 1.0
    points: bool = True
    links: bool = False
    collidables: bool = True


@dataclass
class DecodedCloth:
    """A file's cloths, ready to be built.

    Attributes:
        cloths: member and setup, in stored order.
        warnings: what the user should know about the file.
    """

    cloths: list[tuple[Member, Setup]] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


def import_cloth(
    context: Any,
    paths: Iterable[str | Path],
    settings: ClothSettings | None = None,
    *,
    armature: Any = None,
    cache: DecodedCache | None = None,
    progress: Progress | None = None,
    opener: Opener = open_source,
) -> ClothResult:
    """Import the cloth in files: loose ``_c.hkx`` and binders, wrapped or not.

    Each file is all or nothing: one that fails leaves no datablock behind, and the others are imported. Mode,
    selection and active object stay as they are.

    Args:
        context: Blender's.
        paths: the files.
        settings: how to import; None for the defaults.
        armature: the object that the cloth follows; None for the one of the scene that has most of its bones, the
            active one first. Where none has any, the skeleton of the cloth file is made.
        cache: keeps the decoded files for the next call; files of earlier calls leave it.
        progress: called with the share done, 0 to 1.
        opener: opens each file; for callers that have it open.

    Returns:
        What was made, warned of and failed. Nothing is raised for files that cannot be read.
    """
    result = ClothResult()
    job = _Job(context, settings or ClothSettings(), armature, result, opener)
    import_files(context, paths, job, result, cache=cache, progress=progress)
    return result


@dataclass
class _Job:
    context: Any
    settings: ClothSettings
    armature: Any
    result: ClothResult
    opener: Opener

    def key(self, _path: Path) -> tuple[str, str]:
        return "cloth", self.settings.member_filter

    def decode(self, path: Path, progress: Progress) -> DecodedCloth:
        with self.result.timings.stage("open"):
            source = self.opener(path, None, progress)
        wanted = [member for member in source.members if is_wanted(member.name, self.settings.member_filter)]
        decoded = decode_cloth(wanted, self.result.timings)
        if not decoded.cloths:
            raise nothing_found("cloth to play", self.settings.member_filter, decoded.warnings)
        return decoded

    def build(self, path: Path, decoded: DecodedCloth) -> Callable[[], None]:
        with self.result.timings.stage("cloth"):
            made = [
                build_cloth(path, member, setup, self.context, self.settings, armature=self.armature)
                for member, setup in decoded.cloths
            ]

        def note() -> None:
            self.result.cloths += made
            self.result.warnings += [f"{path.name}: {warning}" for warning in decoded.warnings]

        return note


def decode_cloth(members: Iterable[Member], timings: Timings) -> DecodedCloth:
    """Read and check the cloth among the members of a file; none is no error.

    Raises:
        FormatError: a cloth that cannot be read.
    """
    decoded = DecodedCloth()
    distinct: list[Member] = []
    for member in members:
        if member.kind == Kind.PACKFILE and member.name.lower().endswith("_c.hkx"):
            decoded.warnings.append(f"{member.name} is a Havok packfile, which Sekiro and Elden Ring do not use")
        if member.kind != Kind.CLOTH:
            continue
        if any(member.name == other.name and member.data() == other.data() for other in distinct):
            decoded.warnings.append(f"holds {member.name} twice, imported once")
            continue
        distinct.append(member)
        with timings.stage("read cloth"):
            _decode(member, decoded)
    return decoded


def _decode(member: Member, decoded: DecodedCloth) -> None:
    file = read_cloth(Tagfile.read(member.data(), member.compendium, member.file))
    if file.authoring_only:
        decoded.warnings.append(f"{member.name} holds only what cloth is authored from, nothing to play")
    elif not len(file):
        decoded.warnings.append(
            f"{member.name} holds {len(file.collidables)} collidables and no cloth: add them to a cloth in the sidebar"
        )
    else:
        try:
            rig.skeleton_of(file)
            decoded.cloths.append((member, build_setup(file)))
        except FormatError as error:
            raise error if error.file else error.inside(member.file) from error


def build_cloth(
    path: Path, member: Member, setup: Setup, context: Any, settings: ClothSettings, *, armature: Any = None,
    parent: Any = None,
) -> ImportedCloth:  # fmt: skip
    """Make the collection of a cloth.

    Runs inside a transaction: it changes the active object.

    Args:
        path: the file it is from; ``member`` the one in it.
        member: of the file.
        setup: the cloth, ready to step.
        context: Blender's.
        settings: what to show.
        armature: what it follows; None to look for it.
        parent: the collection that takes the cloth's; None for the active one.
    """
    name = member.name.split(".", 1)[0] or member.name
    collection = bpy.data.collections.new(shown_name(f"{name} Cloth"))
    parent = parent or context.collection
    if parent is None or not parent.is_editable:
        parent = context.scene.collection
    parent.children.link(collection)
    result = ImportedCloth(name, collection, warnings=list(setup.notes))
    skeleton = rig.skeleton_of(setup.file)
    armature = armature or find_armature(context, skeleton.bones)
    if armature is None:
        armature = rig.build_armature(skeleton, name, collection, context, BONE_LENGTH)
        armature.scale = (settings.scale,) * 3
        result.warnings.append("no armature of the scene has its bones: it is on the skeleton of its own file")
    result.armature = armature
    set_properties(collection, {
        DATA: bytes(member.data()),
        ARMATURE: armature,
        PREFIX + "game": str(member.game),
        **({} if member.compendium is None else {TYPES: member.compendium}),
        **Origin.properties(path, member, PREFIX),
    })  # fmt: skip
    missing = rig.Rig.of(armature, setup).missing
    if missing:
        result.warnings.append(f"bones that {armature.name} lacks stand still: {', '.join(missing)}")
    _bind_meshes(collection, armature, setup, result)
    for other in cloths(context.scene):
        if other != collection and not set(bound_meshes(other).values()).isdisjoint(result.meshes):
            result.warnings.append(f"{other.name} moves the same meshes, which show one of both: delete the other")
    builder = ClothBuilder(collection, armature, setup.file, context)
    result.points, result.links, result.collidables = builder.build()
    builder.show(points=settings.points, links=settings.links, collidables=settings.collidables)
    return result


def find_armature(context: Any, bones: Iterable[str]) -> Any:
    """Return the armature object of the scene that has most of some bones, the active one before all; None without."""
    wanted = set(bones)
    best, found = 0, None
    objects = [obj for obj in context.scene.objects if obj.type == "ARMATURE"]
    active = context.view_layer.objects.active
    if active is not None and active.find_armature() is not None:
        active = active.find_armature()
    for obj in sorted(objects, key=lambda obj: obj is not active):
        count = len(wanted & {rig.stored_name(bone) for bone in obj.data.bones})
        if count > best:
            best, found = count, obj
        if obj is active and count:
            break
    return found


def _bind_meshes(collection: Any, armature: Any, setup: Setup, result: ImportedCloth) -> None:
    """Find the mesh object of each display buffer among those that hang on the armature."""
    meshes = [obj for obj in armature.children_recursive if obj.type == "MESH" and FLVER + "mesh" in obj.data]
    meshes = sorted((obj for obj in meshes if obj.data.get(FLVER + "lod") == 0), key=lambda o: o.data[FLVER + "mesh"])
    nodes = {bone[FLVER + "index"]: rig.stored_name(bone) for bone in armature.data.bones if FLVER + "index" in bone}
    binding = bind_displays(setup.displays, [_key(obj, nodes) for obj in meshes])
    found = {place: meshes[mesh] for place, mesh in enumerate(binding.meshes) if mesh >= 0}
    collection[MESHES] = {str(place): obj for place, obj in found.items()}
    result.meshes = list(dict.fromkeys(found.values()))
    if meshes:
        result.warnings += binding.warnings
    elif setup.displays:
        result.warnings.append(f"{armature.name} has no model's meshes: only points move")


def _key(obj: Any, nodes: dict[int, str]) -> MeshKey:
    """Return what a mesh object is known by; the first face set's triangles as stored, where they are no strip."""
    mesh = obj.data
    sets = mesh.get(FLVER + "face_sets", ())
    triangles = len(mesh.polygons) + len(mesh.get(FLVER + "skipped_triangles", ()))
    if len(sets) and not sets[0]["strip"]:
        triangles = sets[0]["indices"] // 3
    return MeshKey(nodes.get(mesh[FLVER + "node"], ""), len(mesh.vertices), triangles, obj.name)
