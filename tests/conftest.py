"""What every test can ask for: Blender, an empty scene, files of the games."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import settings

import addon

ROOT = Path(__file__).resolve().parent.parent
CORPUS = Path(os.environ.get("OSSUARY_CORPUS") or ROOT.parent / "shared" / "corpus")

# Shared machines stall at times: no example has a deadline. CI tries the same examples on every run.
settings.register_profile("ossuary", deadline=None, derandomize="CI" in os.environ, print_blob=True)
settings.load_profile("ossuary")


def pytest_addoption(pluginmanager: pytest.PytestPluginManager) -> None:
    """Switch pytest-blender off unless it was asked for: it would end every other run."""
    if not any(arg.startswith("--blender-executable") for arg in sys.argv) and pluginmanager.hasplugin(
        "pytest-blender"
    ):
        pluginmanager.unregister(name="pytest-blender")


@pytest.fixture(scope="session")
def corpus() -> Callable[[str], Path]:
    """Return a function from a name below the corpus folder to its path; it skips the test where that is absent."""

    def find(name: str) -> Path:
        path = CORPUS / name
        if not path.exists():
            pytest.skip(f"no corpus file {name} below {CORPUS} (set OSSUARY_CORPUS)")
        return path

    return find


@pytest.fixture(scope="session")
def blender() -> Iterator[ModuleType]:
    """Return bpy with Ossuary registered; skips where there is no Blender."""
    bpy = pytest.importorskip("bpy", reason="no Blender in this Python")
    addon.register()
    yield bpy
    # Blender 4.5 as a module hangs at exit with classes registered.
    addon.unregister()


@pytest.fixture
def scene(blender: ModuleType):
    """Return the scene of an empty factory file."""
    blender.ops.wm.read_factory_settings(use_empty=True)
    return blender.context.scene
