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
STATUS = pytest.StashKey[int]()
CORPUS = Path(os.environ.get("OSSUARY_CORPUS") or ROOT.parent / "shared" / "corpus")

# Shared machines stall at times: no example has a deadline. CI tries the same examples on every run.
settings.register_profile("ossuary", deadline=None, derandomize="CI" in os.environ, print_blob=True)
settings.load_profile("ossuary")


def pytest_addoption(parser: pytest.Parser, pluginmanager: pytest.PytestPluginManager) -> None:
    """Add our options, and switch pytest-blender off unless it was asked for: it would end every other run."""
    parser.addoption(
        "--blender-side", action="store_true", help="run only the tests that need Blender, and those of bits"
    )
    if not any(arg.startswith("--blender-executable") for arg in sys.argv) and pluginmanager.hasplugin(
        "pytest-blender"
    ):
        pluginmanager.unregister(name="pytest-blender")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """With --blender-side, leave out what does not ask for the fixture `blender`, directly or by another one.

    What is marked as bits stays: it must come out the same with every numpy that a Blender bundles.
    """
    if config.getoption("--blender-side"):
        apart = [
            item
            for item in items
            if "blender" not in getattr(item, "fixturenames", ()) and item.get_closest_marker("bits") is None
        ]
        items[:] = [item for item in items if item not in set(apart)]
        config.hook.pytest_deselected(items=apart)


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Keep the exit status for the end of the process."""
    session.config.stash[STATUS] = session.exitstatus


@pytest.hookimpl(trylast=True)
def pytest_unconfigure(config: pytest.Config) -> None:
    """End the process at once, after everything is reported, where Blender would never let it end.

    Blender 4.5 as a module leaves a thread of its sound system waiting at exit (Blender's fault 146640, mended in
    later versions): when Python does not take the module itself down first, which no test can see to, its static
    destructor waits for that thread for ever.
    """
    bpy = sys.modules.get("bpy")
    if bpy is not None and not bpy.app.binary_path and bpy.app.version < (5, 0) and STATUS in config.stash:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(config.stash[STATUS])


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
