"""Copy Report: what a maintainer needs to know of a fault, in the clipboard."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import bpy

from . import report
from .masking import masked

MANIFEST = Path(__file__).resolve().parents[2] / "blender_manifest.toml"


def full_report(context: Any) -> str:
    """Return versions and the last messages of imports and exports, with private paths and names masked."""
    lines = [f"{name}: {value}" for name, value in _versions().items()]
    messages = report.logged(context)
    for message in messages:
        lines += ["", message.summary, *(f"  {line}" for line in message.details)]
        if message.seconds:
            lines.append("  " + ", ".join(f"{stage} {seconds:.2f} s" for stage, seconds in message.seconds.items()))
    if not messages:
        lines += ["", "Nothing was imported or exported yet"]
    return masked("\n".join(lines)) + "\n"


def _versions() -> dict[str, str]:
    import platform
    import tomllib

    import numpy as np

    build = f"{bpy.app.build_hash.decode()}, {bpy.app.build_type.decode()}"
    kind = "" if bpy.app.binary_path else ", as a Python module"
    return {
        "Ossuary": str(tomllib.loads(MANIFEST.read_text("utf-8"))["version"]),
        "Blender": f"{bpy.app.version_string} ({build}){kind}{', no window' if bpy.app.background else ''}",
        "System": platform.platform(),
        "Python": platform.python_version(),
        "numpy": np.__version__,
        "Text": f"{sys.getfilesystemencoding()}, {bpy.app.translations.locale or 'no locale'}",
    }


class WM_OT_ossuary_copy_report(bpy.types.Operator):
    """Copy versions and the last messages for a report of a fault. Folders and your user name are left out"""

    bl_idname = "wm.ossuary_copy_report"
    bl_label = "Copy Report"
    bl_options = {"INTERNAL"}

    def execute(self, context: Any) -> set[str]:
        """Put it into the clipboard."""
        text = full_report(context)
        context.window_manager.clipboard = text
        self.report({"INFO"}, f"Copied a report of {len(text.splitlines())} lines")
        return {"FINISHED"}


CLASSES = (WM_OT_ossuary_copy_report,)
