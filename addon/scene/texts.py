"""Stored text as Blender can show and keep it."""

from __future__ import annotations

NAME_BYTES = 63  # bones and vertex groups everywhere, all datablocks on Blender 4.5


def shown_text(text: str) -> str:
    """Return text as Blender takes it: what is no character is shown as a question mark."""
    return text.encode("utf-8", "replace").decode("utf-8").replace("\0", "")


def stored_text(text: str) -> str | bytes:
    """Return stored text as a custom property holds it whole: as bytes where it is not all characters."""
    return text if shown_text(text) == text else text.encode("utf-8", "surrogatepass")


def loaded_text(value: str | bytes) -> str:
    """Return text from a property that `stored_text` made."""
    return value if isinstance(value, str) else value.decode("utf-8", "surrogatepass")


def shown_name(text: str) -> str:
    """Return a name cut, between characters, to what every Blender holds."""
    return shown_text(text).encode("utf-8")[:NAME_BYTES].decode("utf-8", "ignore")
