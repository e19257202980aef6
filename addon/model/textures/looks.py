"""What the materials of a model look like: which picture of which role, and how alpha is meant."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import StrEnum

from ...codec.flver import Flver
from ...codec.flver import Material as FlverMaterial
from ...codec.source import Game
from .library import Library, Material, Picture
from .places import MATERIALS, TITLES
from .samplers import Role, base_of, distance, is_stand_in, named_role, role_of, texture_name

LISTED = 8  # names of textures in a warning
BLEND_MODE, ALPHA_REF = "g_BlendMode", "g_AlphaRef"
HALF = 128  # of 255: the alpha that materials cut at, where nothing is said


class Alpha(StrEnum):
    """What the alpha of the albedo does."""

    NONE = "NONE"
    CLIP = "CLIP"  # what is under a limit is not drawn
    BLEND = "BLEND"


@dataclass(frozen=True)
class Slot:
    """A picture of a material.

    Attributes:
        role: what it tells.
        picture: the texture.
        uv_set: which UV set of the mesh it goes by, 1 the first.
        scale: how often it repeats along u and v.
    """

    role: Role
    picture: Picture
    uv_set: int = 1
    scale: tuple[float, float] = (1.0, 1.0)


@dataclass(frozen=True)
class Look:
    """What a material looks like.

    Attributes:
        slots: at most one of a role.
        alpha: what the alpha of the albedo does.
        cut: the alpha, 0 to 1, under which nothing is drawn.
    """

    slots: tuple[Slot, ...] = ()
    alpha: Alpha = Alpha.NONE
    cut: float = 0.0


@dataclass
class Looks:
    """What the materials of a model look like.

    Attributes:
        of: one a material, in the model's order.
        warnings: a sentence each.
    """

    of: list[Look] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class _Candidate:
    """A sampler with a texture, before the main ones are chosen."""

    sampler: str
    path: str
    uv_set: int = 1
    scale: tuple[float, float] = (1.0, 1.0)

    @property
    def name(self) -> str:
        return texture_name(self.path)


def looks(flver: Flver, game: Game, library: Library) -> Looks:
    """Find out what the materials of a model look like.

    Args:
        flver: the model.
        game: the one that it is from; where that is not known its materials may tell.
        library: where to look.
    """
    if game is Game.UNKNOWN:
        game = _game_of(flver)
    found, missing, unknown, guessed = Looks(), dict[str, None](), dict[str, None](), False
    before = len(library.faults)
    for material in flver.materials:
        source = library.material(material.path, game) if material.textures else None
        wanted = _chosen(material, source)
        if not wanted and source is None and any(role_of(texture.type) for texture in material.textures):
            wanted = _guessed(material, library.own_names())
            guessed |= bool(wanted)
            unknown |= dict.fromkeys([] if wanted else [texture_name(material.path)])
        slots = []
        for role, candidate in wanted.items():
            picture = library.texture(candidate.path, game)
            if picture is None:
                missing[candidate.name] = None
            else:
                slots.append(Slot(role, picture, candidate.uv_set, candidate.scale))
        found.of.append(Look(tuple(slots), *_alpha(material, source)))
    found.warnings += library.faults[before:]
    found.warnings += _warnings(list(missing), list(unknown), game, library, guessed=guessed)
    return found


def _game_of(flver: Flver) -> Game:
    paths = " ".join(material.path.lower() for material in flver.materials)
    if "n:\\gr\\" in paths or ".matxml" in paths:
        return Game.ELDEN_RING
    return Game.SEKIRO if "n:\\ntc\\" in paths else Game.UNKNOWN


def _chosen(material: FlverMaterial, source: Material | None) -> dict[Role, _Candidate]:
    """Choose the main texture of each role among those that the model or its material names."""
    stored = {sampler.type: sampler for sampler in source.samplers} if source is not None else {}
    candidates: dict[Role, list[_Candidate]] = {}
    for texture in material.textures:
        sampler, role = stored.get(texture.type), role_of(texture.type)
        path = texture.path or (sampler.path if sampler is not None else "")
        if role is None or not path or is_stand_in(texture_name(path)):
            continue
        uv_set, scale = 1, texture.record["scale"].tolist()
        if sampler is not None:
            uv_set = sampler.uv_set
            scale = [a * b for a, b in zip(scale, sampler.scale.tolist(), strict=False)]
        pair = (scale[0], scale[1]) if len(scale) == 2 and all(scale) else (1.0, 1.0)
        candidates.setdefault(role, []).append(_Candidate(texture.type, path, uv_set, pair))
    return _main(candidates)


def _main(candidates: dict[Role, list[_Candidate]]) -> dict[Role, _Candidate]:
    """Choose by the sampler's name, then whether the pictures of a surface are named alike, then the stored order."""
    bases = {role: [base_of(each.name) for each in found] for role, found in candidates.items()}
    found: dict[Role, _Candidate] = {}
    for role in Role:
        if role in candidates:
            near = base_of(found[Role.ALBEDO].name) if Role.ALBEDO in found else None
            others = [base for other, each in bases.items() if other is not role for base in each]

            def order(each: _Candidate, near: str | None = near, others: list[str] = others) -> tuple[int, int, bool]:
                base = base_of(each.name)
                alike = base == near if near is not None else base in others
                return (distance(each.sampler), -alike, each.scale != (1.0, 1.0))

            found[role] = min(candidates[role], key=order)
    return found


def _guessed(material: FlverMaterial, names: list[str]) -> dict[Role, _Candidate]:
    """Choose among the model's own textures by their names, for a material whose file is not there.

    ``P[HD_F_1630]_hair_cloth.matxml`` takes ``HD_F_1630_hair_a``, and ``HD_F_1630_a`` where that is not there; the only
    albedo of a model is that of all its materials.
    """
    by_base: dict[str, dict[Role, str]] = {}
    for name in names:
        role = named_role(name)
        if role is not None:
            by_base.setdefault(base_of(name), {})[role] = name
    albedos = [base for base, roles in by_base.items() if Role.ALBEDO in roles]
    words = re.sub(r"[\[\]_]+", "_", texture_name(material.path).lower()).strip("_")
    words = re.sub(r"^[a-z]_", "", words) + "_"
    fitting = [base for base in albedos if words.startswith(base + "_")]
    base = max(fitting, key=len) if fitting else albedos[0] if len(albedos) == 1 else None
    return {role: _Candidate("", name) for role, name in by_base[base].items()} if base is not None else {}


def _alpha(material: FlverMaterial, source: Material | None) -> tuple[Alpha, float]:
    """Return what alpha does, from the material's file; without it, hair and what is named an edge is cut."""
    if source is None:
        named = re.search(r"_e(?:_|\.|$)", material.path.rsplit("\\", 1)[-1].lower())
        fur = any(re.match(r"(?:c_)?(?:fur|hair)", texture.type.lower()) for texture in material.textures)
        return (Alpha.CLIP, HALF / 255) if named or fur else (Alpha.NONE, 0.0)
    mode, limit = source.parameter(BLEND_MODE), source.parameter(ALPHA_REF)
    if mode and mode[0] != 0:
        return Alpha.BLEND, 0.0
    return (Alpha.CLIP, limit[0] / 255) if limit and limit[0] > 0 else (Alpha.NONE, 0.0)


def _warnings(missing: list[str], unknown: list[str], game: Game, library: Library, *, guessed: bool) -> list[str]:
    """Say in a line what is missing, and where it could be found."""
    hint = ""
    if library.folders.of(game) is None and game is not Game.UNKNOWN:
        hint = f"; set the folder of {TITLES[game]} in the add-on's preferences to look there too"
    binder = MATERIALS[game][0] if MATERIALS[game] else "the game's material file"
    have = bool(library.material_files(game))
    lines = []
    if guessed and not have:
        lines.append(f"textures are matched by their names, for {binder} is not there{'' if missing else hint}")
    if missing:
        lines.append(f"{_listed(missing, 'texture')} not found{hint}")
    if unknown and have:
        lines.append(f"{_listed(unknown, 'material')} not in {binder}, and so without textures")
    elif unknown:
        lines.append(f"{_listed(unknown, 'material')} without textures, for {binder} is not there{hint}")
    return lines


def _listed(names: list[str], noun: str) -> str:
    more = f" and {len(names) - LISTED} more" if len(names) > LISTED else ""
    return f"{len(names)} {noun}{'s' if len(names) > 1 else ''} ({', '.join(names[:LISTED])}{more})"
