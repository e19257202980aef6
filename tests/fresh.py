"""A Blender of its own for a test: code runs in a new process, with empty user folders."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from textwrap import dedent
from types import ModuleType

ROOT = Path(__file__).resolve().parent.parent
HANG = 600  # seconds; only a guard


def run_python(code: str, *, arguments: tuple[str, ...] = ()) -> str:
    """Return what ``code`` prints in a new Python process at the project's root; fails with its messages."""
    return _run([sys.executable, "-c", dedent(code), *arguments], {})


def run_blender(bpy: ModuleType, code: str, user: Path) -> str:
    """Return what ``code`` prints in a new Blender of the kind that runs this, with ``user`` as user folder."""
    # A real Blender does not heed PYTHONPATH.
    code = f"import sys; sys.path.insert(0, {str(ROOT)!r})\n{dedent(code)}"
    if bpy.app.binary_path:
        command = [bpy.app.binary_path, "--background", "--python-exit-code", "1", "--python-expr", code]
    else:
        command = [sys.executable, "-c", code]
    return _run(command, {"BLENDER_USER_RESOURCES": str(user)})


def _run(command: list[str], environment: dict[str, str]) -> str:
    done = subprocess.run(
        command,
        cwd=ROOT,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=HANG,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
