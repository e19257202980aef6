"""The textures and materials that a model may use: its own, those beside it, and those of the game's folder.

Files are opened one by one, the likely ones first, until what is wanted is found. Which names a file holds is kept for
the session, and so are the materials of the games' material binders (13 MB for Sekiro); textures are not.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from ...codec import FormatError
from ...codec.binary import Buffer
from ...codec.dds import Dds
from ...codec.matbin import Matbin
from ...codec.mtd import Mtd
from ...codec.source import Game, Kind, Member, open_source
from ...codec.tpf import Tpf
from . import places
from .places import GameFolders
from .samplers import texture_name

Material = Mtd | Matbin
_Stamp = tuple[Path, int, int]
_LOW = "_l"  # textures of low-detail binders end in it


@dataclass
class TextureIndex:
    """What is known of files from earlier in the session; a file that has changed is another.

    Attributes:
        textures: the names of the textures in texture files.
        materials: the materials in material binders, by name.
    """

    textures: dict[_Stamp, frozenset[str]] = field(default_factory=dict)
    materials: dict[_Stamp, dict[str, Buffer]] = field(default_factory=dict)

    def clear(self) -> None:
        """Forget everything."""
        self.textures.clear()
        self.materials.clear()


@dataclass(frozen=True)
class Picture:
    """A texture that was found.

    Attributes:
        name: as stored.
        data: the DDS file, which Blender can show.
    """

    name: str
    data: bytes = field(repr=False)


@dataclass(frozen=True)
class _Held:
    """A texture of a file: its member, its name as stored, and its bytes; None while its own wrapper is on."""

    member: Member
    name: str
    data: Buffer | None = field(default=None, repr=False)


class Library:
    """Finds textures and materials for the models of one file."""

    def __init__(self, model: Path, members: Iterable[Member], folders: GameFolders, index: TextureIndex) -> None:
        """Look at nothing yet.

        Args:
            model: the file of the models.
            members: what it holds.
            folders: the games'.
            index: what is known from earlier; added to.
        """
        self.model, self.folders, self.index = model, folders, index
        self.faults: list[str] = []
        self._members = [member for member in members if member.kind == Kind.TPF]
        self._open: dict[Path | None, dict[str, _Held]] = {}
        self._beside = list(places.beside(model))
        self._found: dict[str, list[Path]] = {}
        self._binders: dict[Game, list[Path]] = {}
        self._pictures: dict[str, Picture | None] = {}
        self._materials: dict[str, Material | None] = {}

    def own_names(self) -> list[str]:
        """Return the names of the textures in the model's file and beside it, in lower case."""
        names = dict(self._textures(None))
        for path in self._beside:
            names |= self._textures(path)
        return list(names)

    def texture(self, path: str, game: Game) -> Picture | None:
        """Return a texture by the path that a material names; None where it is not found or cannot be shown."""
        name = texture_name(path)
        if name not in self._pictures:
            self._pictures[name] = self._find(name, path, game)
        return self._pictures[name]

    def material(self, path: str, game: Game) -> Material | None:
        """Return the material that a model names; None where it is not found."""
        name = texture_name(path)
        if name not in self._materials:
            self._materials[name] = self._read_material(name, game)
        return self._materials[name]

    def material_files(self, game: Game) -> list[Path]:
        """Return the material binders of a game that are there: those of a mod, beside the model, of the game."""
        near = [found for name in places.MATERIALS[game] for found in places.find(self.model.parent, Path(name).name)]
        roots = places.roots(self.model, game, self.folders)
        return [
            *near,
            *(found for root in roots for name in places.MATERIALS[game] for found in places.find(root, name)),
        ]

    def _find(self, name: str, path: str, game: Game) -> Picture | None:
        for place in self._places(path, game):
            if place is not None and not self._may_hold(place, name):
                continue
            held = self._textures(place)
            for each in (name, name + _LOW):
                if each in held:
                    return self._shown(held[each])
        return None

    def _places(self, path: str, game: Game) -> Iterator[Path | None]:
        """Yield where to look for a texture; None is the model's own file."""
        yield None
        yield from self._beside
        for relative in places.texture_files(path):
            if relative not in self._found:
                roots = places.roots(self.model, game, self.folders)
                self._found[relative] = [found for root in roots for found in places.find(root, relative)]
            yield from self._found[relative]

    def _may_hold(self, path: Path, name: str) -> bool:
        known = self.index.textures.get(_stamp(path))
        return known is None or name in known or name + _LOW in known

    def _textures(self, place: Path | None) -> dict[str, _Held]:
        """Return the textures of a file by their names in lower case."""
        if place not in self._open:
            self._open[place] = {held.name.lower(): held for held in self._read_textures(place)}
            if place is not None:
                self.index.textures[_stamp(place)] = frozenset(self._open[place])
        return self._open[place]

    def _read_textures(self, place: Path | None) -> Iterator[_Held]:
        try:
            members = self._members if place is None else open_source(place).members
        except (FormatError, OSError) as error:
            self.faults.append(str(error))
            return
        for member in members:
            if len(members) > 1 and member.name.lower().endswith(".tpf.dcx"):  # of a map, named as its texture
                yield _Held(member, member.name[: -len(".tpf.dcx")])
                continue
            try:
                textures = Tpf.read(member.data(), member.file).textures if member.kind == Kind.TPF else []
            except FormatError as error:
                self.faults.append(str(error))
                continue
            yield from (_Held(member, texture.name, texture.data) for texture in textures)

    def _shown(self, held: _Held) -> Picture | None:
        """Return a texture that Blender can show; what is wrong with another is noted."""
        data, file = held.data, held.member.file
        try:
            if data is None:
                textures = {each.name.lower(): each.data for each in Tpf.read(held.member.data(), file).textures}
                data = textures.get(held.name.lower()) or b""
            Dds.read(data, f"{file} > {held.name}")
        except FormatError as error:
            self.faults.append(str(error))
            return None
        return Picture(held.name, bytes(data))

    def _read_material(self, name: str, game: Game) -> Material | None:
        for path in self.material_files(game):
            stored = self._materials_of(path).get(name)
            if stored is not None:
                try:
                    return (Mtd if game is Game.SEKIRO else Matbin).read(stored, name)
                except FormatError as error:
                    self.faults.append(str(error))
        return None

    def _materials_of(self, path: Path) -> dict[str, Buffer]:
        stamp = _stamp(path)
        if stamp not in self.index.materials:
            try:
                members = open_source(path).members
            except (FormatError, OSError) as error:
                self.faults.append(str(error))
                members = []
            self.index.materials[stamp] = {texture_name(member.name): member.stored for member in members}
        return self.index.materials[stamp]


def _stamp(path: Path) -> _Stamp:
    facts = path.stat()
    return path, facts.st_mtime_ns, facts.st_size
