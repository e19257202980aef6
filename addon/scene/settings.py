"""What imports and exports can be asked to do."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from ..model.facesets import LodPolicy
from ..model.textures import GameFolders

__all__ = [
    "ClothExportSettings",
    "CollisionExportSettings",
    "FlverExportSettings",
    "FlverSettings",
    "GameFolders",
    "Included",
    "LodPolicy",
    "Lods",
    "Wrapper",
]


class Lods(StrEnum):
    """Which levels of detail become objects."""

    FIRST = "FIRST"  # the nearest one
    ALL = "ALL"  # the nearest one, the others as hidden objects
    CHOSEN = "CHOSEN"  # one level in place of the nearest


@dataclass(frozen=True)
class FlverSettings:
    """How FLVER models are imported.

    Attributes:
        lods: which levels of detail become objects.
        lod: the level for `Lods.CHOSEN`; a mesh without it shows the last before it that it has.
        dummies: whether dummies become empties.
        dummy_size: metres, of an empty's axes.
        bone_length: metres, of bones whose children do not lie on their axis.
        custom_normals: whether the stored normals are shown; without them Blender computes its own.
        show_unused_bones: whether bones that nothing uses are visible.
        scale: of the whole model in the scene; the data keep their size.
        cloth: whether the cloth beside a model is imported with it.
        textures: whether materials get the textures that are found.
        folders: the unpacked games, to look for textures and materials in.
        member_filter: only binder members whose name matches, with * and ?; empty for all.
    """

    lods: Lods = Lods.FIRST
    lod: int = 1
    dummies: bool = True
    dummy_size: float = 0.05
    bone_length: float = 0.05
    custom_normals: bool = True
    show_unused_bones: bool = False
    scale: float = 1.0
    cloth: bool = True
    textures: bool = True
    folders: GameFolders = GameFolders()
    member_filter: str = ""


class Included(StrEnum):
    """Which mesh objects of a model are written."""

    ALL = "ALL"
    VISIBLE = "VISIBLE"  # what is hidden is not in the file
    SELECTED = "SELECTED"  # what is not selected is not in the file


class Wrapper(StrEnum):
    """How a wrapped file is compressed."""

    DFLT = "DFLT"
    KRAK = "KRAK"  # uncompressed blocks of the games' own codec


@dataclass(frozen=True)
class FlverExportSettings:
    """How FLVER models are exported.

    Attributes:
        wrapper: the compression of files whose name ends in .dcx.
        meshes: which mesh objects are written; those left out are not in the file.
        lods: what becomes of the levels of detail that are not objects of their own.
        apply_modifiers: whether modifiers other than the model's armature count.
        let_go_of_cloth: whether a cloth mesh may get other vertices than its cloth's data know.
    """

    wrapper: Wrapper = Wrapper.DFLT
    meshes: Included = Included.ALL
    lods: LodPolicy = LodPolicy.KEEP
    apply_modifiers: bool = False
    let_go_of_cloth: bool = False


@dataclass(frozen=True)
class CollisionExportSettings:
    """How collision is exported.

    Attributes:
        wrapper: the compression of files whose name ends in .dcx.
        apply_modifiers: whether modifiers count.
        compendium: file that new files take their types from; None for types of their own.
    """

    wrapper: Wrapper = Wrapper.DFLT
    apply_modifiers: bool = False
    compendium: Path | None = None


@dataclass(frozen=True)
class ClothExportSettings:
    """How cloth is exported.

    Attributes:
        wrapper: the compression of files whose name ends in .dcx.
        insist: whether edited cloth is written even if its parts no longer fit together or it flies apart when tried.
    """

    wrapper: Wrapper = Wrapper.DFLT
    insist: bool = False
