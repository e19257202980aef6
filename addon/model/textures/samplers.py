"""What the name of a sampler tells: which picture of a surface it takes, and whether it is the main one of its kind.

Names such as ``C_DetailBlend__snp_Texture2D_7_AlbedoMap`` name the shader, a number and the kind of picture. A shader
takes several of a kind: the surface's own, and details that are laid over it. Found on the games' materials: the
numbers of the main ones are those that a character's own textures stand at.
"""

from __future__ import annotations

import re
from enum import StrEnum


class Role(StrEnum):
    """What a picture tells of a surface."""

    ALBEDO = "albedo"
    NORMAL = "normal"
    METALLIC = "metallic"
    EMISSIVE = "emissive"


# the first that a sampler's name ends with counts; what other names say (masks, details, wind) is not drawn
_ENDINGS: tuple[tuple[str, Role], ...] = (
    ("albedomap", Role.ALBEDO), ("albedo1", Role.ALBEDO), ("diffusetexture", Role.ALBEDO), ("diffuse", Role.ALBEDO),
    ("normalmap", Role.NORMAL), ("bumpmaptexture", Role.NORMAL), ("bumpmap", Role.NORMAL),
    ("metallicmap", Role.METALLIC), ("reflectancemap", Role.METALLIC),  # Sekiro's holds how metallic a surface is
    ("emissivemap", Role.EMISSIVE), ("emissive1", Role.EMISSIVE), ("emissivetexture", Role.EMISSIVE),
)  # fmt: skip
# shaders whose main samplers are told by their number alone
_MAIN: tuple[tuple[str, dict[Role, int]], ...] = (
    ("detailblend", {Role.ALBEDO: 7, Role.NORMAL: 0, Role.METALLIC: 3}),
    ("ao_sss", {Role.ALBEDO: 2, Role.NORMAL: 12}),
)
_SUFFIX = {Role.ALBEDO: "a", Role.NORMAL: "n", Role.METALLIC: "m", Role.EMISSIVE: "em"}
_NAME = re.compile(r"^(.*?)_*(?:snp_)?texture2d_(\d+)_*(.*?)(?:_(\d+))?$")


def role_of(sampler: str) -> Role | None:
    """Return what a sampler's picture tells; None where it is not of the surface itself."""
    name = re.sub(r"_\d+$", "", sampler.lower())
    return next((role for ending, role in _ENDINGS if name.endswith(ending)), None)


def distance(sampler: str) -> int:
    """Return how far a sampler is from being the main one of its role: 0 where its name says so."""
    role, parts = role_of(sampler), _NAME.match(sampler.lower())
    if role is None or parts is None:
        return 0 if role is not None and not sampler[-1:].isdigit() else 2
    shader, number, _kind, place = parts.groups()
    main = next((numbers for family, numbers in _MAIN if family in shader), {}).get(role)
    if main is not None:
        return 0 if int(number) == main else 3
    if place is None:
        return 2
    return 0 if place == "0" or (role is Role.NORMAL and place == "4") else 3


def texture_name(path: str) -> str:
    """Return the name of a texture from its path, in lower case, without folder and extension."""
    return path.replace("\\", "/").rsplit("/", 1)[-1].rsplit(".", 1)[0].lower()


def base_of(name: str) -> str:
    """Return a texture's name without what tells its kind: ``c1_body`` of ``c1_body_n``; the low-detail mark too."""
    return re.sub(r"_(?:a|n|m|em|r|\dm)$", "", name.removesuffix("_l"))


def named_role(name: str) -> Role | None:
    """Return the role that a texture's own name tells: ``_a``, ``_n``, ``_m`` and ``_em``."""
    ending = name.removesuffix("_l").rsplit("_", 1)[-1]
    return next((role for role, suffix in _SUFFIX.items() if suffix == ending), None)


def is_stand_in(name: str) -> bool:
    """Tell whether a texture is one of those that the games put where a material has none."""
    return name.startswith("systex")
