"""Havok tagfiles: sections, the type table, items, references, and typed records on top of them."""

from .layout import Kind, Layout
from .objects import Links, View
from .tagfile import Tagfile

__all__ = ["Kind", "Layout", "Links", "Tagfile", "View"]
