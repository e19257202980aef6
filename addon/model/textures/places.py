"""Where the games keep textures and materials: paths below the game's folder.

Known from open tools; which of the texture paths of the games' materials name a folder was found on Sekiro's.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatch
from itertools import pairwise
from pathlib import Path

from ...codec.source import Game

COMMON = ("parts/common_body.tpf.dcx", "other/systex.tpf.dcx")
MATERIALS = {
    Game.SEKIRO: ("mtd/allmaterialbnd.mtdbnd.dcx",),
    Game.ELDEN_RING: (
        "material/allmaterial.matbinbnd.dcx",
        "material/allmaterial_dlc01.matbinbnd.dcx",
        "material/allmaterial_dlc02.matbinbnd.dcx",
    ),
    Game.UNKNOWN: (),
}
TITLES = {Game.SEKIRO: "Sekiro", Game.ELDEN_RING: "Elden Ring", Game.UNKNOWN: "the game"}
PARTS = ("chr", "parts", "map", "obj", "asset", "mtd", "material", "other")
PACKED = {Game.SEKIRO: "data1.bhd", Game.ELDEN_RING: "data0.bhd"}


@dataclass(frozen=True)
class GameFolders:
    """The folders of the unpacked games.

    Attributes:
        sekiro: the one that holds ``chr``, ``parts``, ``mtd``; None where it is not known.
        elden_ring: the one that holds ``chr``, ``parts``, ``material``.
    """

    sekiro: Path | None = None
    elden_ring: Path | None = None

    def of(self, game: Game) -> Path | None:
        """Return the folder of a game."""
        return {Game.SEKIRO: self.sekiro, Game.ELDEN_RING: self.elden_ring}.get(game)


def roots(model: Path, game: Game, folders: GameFolders) -> list[Path]:
    """Return the folders to look below: that of the mod that a model file lies in, then the game's."""
    found = []
    for parent in model.parents:
        if parent.name.lower() in PARTS:
            found.append(parent.parent)
            break
    folder = folders.of(game)
    return [*found, folder] if folder is not None and folder not in found else found


def beside(model: Path) -> Iterator[Path]:
    """Yield the texture files beside a model: its texture binder, detailed before low, and loose ones."""
    stem = model.name.split(".", 1)[0].lower()
    names = [f"{stem}{size}.{kind}" for kind in ("texbnd", "tpf") for size in ("", "_h", "_l")]
    files = {path.name.lower(): path for path in listed(model.parent) if _is(path.is_file)}
    yield from (files[each] for name in names for each in (f"{name}.dcx", name) if each in files)


def texture_files(path: str) -> list[str]:
    r"""Return the files below a game's folder that may hold a texture, likely ones first, in lower case, with ``*``.

    Args:
        path: as a material or model names it, such as ``N:\NTC\data\Model\chr\c7109\tex\c7109_Eye_a.tif``.
    """
    parts = path.lower().replace("\\", "/").split("/")
    name = parts[-1].rsplit(".", 1)[0]
    found: list[str] = []
    for kind, owner in pairwise(parts):
        if kind == "chr" and re.match(r"c\d{4}", owner):
            found += _character(owner)
        elif kind == "obj":
            found += [f"obj/{owner}.objbnd.dcx", f"obj/{owner[:7]}.objbnd.dcx"]
        elif kind == "map" and re.match(r"m\d\d", owner):
            found.append(f"map/{owner[:3]}/{owner[:3]}_*.tpfbhd")
    if matched := re.match(r"(a[eaw][tg]\d{3})_(\d{3})", name):
        group, number = matched.groups()
        if group.startswith("aet"):
            found.append(f"asset/aet/{group}/{group}_{number}.tpf.dcx")
        else:
            found.append(f"asset/aeg/{group}/{group}_{number}.geombnd.dcx")
    if matched := re.match(r"c\d{4}", name):
        found += _character(matched.group())
    if matched := re.match(r"(?:hd|bd|am|lg|fc|fg|hr|wp)_[amf]_\d{4}", name):
        found.append(f"parts/{matched.group()}.partsbnd.dcx")
    if re.match(r"m\d\d_", name):
        found.append(f"map/{name[:3]}/{name[:3]}_*.tpfbhd")
    return list(dict.fromkeys([*found, *COMMON]))


def _character(owner: str) -> list[str]:
    return [f"chr/{owner}.texbnd.dcx", f"chr/{owner}_h.texbnd.dcx", f"chr/{owner}_l.texbnd.dcx"]


def find(root: Path, relative: str) -> list[Path]:
    """Return the files below a folder that a path in lower case, with ``*``, means; names may be in any case."""
    found = [root]
    for part in relative.split("/"):
        if "*" not in part and all(_is((each / part).exists) for each in found):
            found = [each / part for each in found]
        else:
            found = sorted(path for each in found for path in listed(each) if fnmatch(path.name.lower(), part))
    return [path for path in found if _is(path.is_file)]


def _is(question: Callable[[], bool]) -> bool:
    """Return what a path answers; what may not be looked at is not there."""
    try:
        return question()
    except OSError:
        return False


def listed(folder: Path) -> list[Path]:
    """Return what is in a folder; nothing where it cannot be read."""
    try:
        return list(folder.iterdir())
    except OSError:
        return []


def check(folder: Path, game: Game) -> tuple[bool, str]:
    """Say in plain words whether a folder is that of an unpacked game, and what is found there or missing.

    Returns:
        Whether textures and materials can be found in it, and the sentence.
    """
    title = TITLES[game]
    if not _is(folder.is_dir):
        return False, "There is no such folder"
    binders = [name for name in MATERIALS[game][:1] if not find(folder, name)]
    characters = len([path for path in listed(folder / "chr") if ".chrbnd" in path.name.lower()])
    missing = [name for name in ("chr", "parts") if not _is((folder / name).is_dir)] + binders
    if not missing:
        return True, f"Found {title}'s materials, parts and characters ({characters:,})"
    below = [path for path in listed(folder) if _is(path.is_dir) and find(path, MATERIALS[game][0])]
    if below:
        return False, f"Choose the folder {below[0].name} inside this one"
    if any(path.name.lower() == PACKED[game] for path in listed(folder)):
        return False, f"{title} is still packed: unpack it with a tool such as UXM. Missing: {', '.join(missing)}"
    return False, f"Not the folder of the unpacked game. Missing: {', '.join(missing)}"
