"""The rules of the house: rings, sizes, the manifest, the zip, and what registering leaves behind."""

from __future__ import annotations

import ast
import runpy
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fresh import ROOT, run_blender, run_python

ADDON = ROOT / "addon"
RINGS = (("operators", "ui"), ("scene",), ("collision", "cloth", "model"), ("codec",), ("maths",))
RANK = {package: rank for rank, ring in enumerate(RINGS) for package in ring}
INNER = [package for ring in RINGS[2:] for package in ring]
BLENDER = {"addon_utils", "bl_ui", "blf", "bmesh", "bpy", "bpy_extras", "gpu", "gpu_extras", "idprop", "mathutils"}

MOST_BYTES = 2 << 20  # of the zip

SOURCES = sorted(ADDON.rglob("*.py"))
CHECKED = [*SOURCES, ROOT / "__init__.py", ROOT / "dev.py", *sorted((ROOT / "tests").rglob("*.py"))]


def parse(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"), str(path))


def dotted(path: Path) -> tuple[str, ...]:
    """Return the package a module's relative imports start from: ("addon", "codec", ...)."""
    return path.relative_to(ROOT).parent.parts


def imports(path: Path) -> Iterator[tuple[str, ...]]:
    """Yield the modules that a file imports, at whatever depth, as absolute parts."""
    for node in ast.walk(parse(path)):
        if isinstance(node, ast.Import):
            yield from (tuple(alias.name.split(".")) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            package = dotted(path)
            base = package[: len(package) - node.level + 1] if node.level else ()
            module = tuple(node.module.split(".")) if node.module else ()
            yield from (base + module + (alias.name,) for alias in node.names)


def own_imports() -> set[tuple[str, str, str]]:
    """Return (file, its package, package it imports) for each import between packages of addon/."""
    found = set()
    for path in SOURCES:
        package = dotted(path)
        for target in imports(path):
            if target[0] == "addon" and len(package) > 1 and target[1] != package[1]:
                found.add((str(path.relative_to(ROOT)), package[1], target[1]))
    return found


def test_every_package_has_its_ring():
    packages = {path.name for path in ADDON.iterdir() if path.is_dir() and any(path.rglob("*.py"))}
    assert packages <= set(RANK)


def test_imports_run_inward():
    wrong = [(file, target) for file, package, target in own_imports() if RANK.get(target, -1) < RANK[package]]
    assert not wrong, "these import outward, or what is no package of addon/"


def test_neighbours_do_not_import_each_other():
    pairs = {(package, target) for _file, package, target in own_imports() if RANK.get(target) == RANK[package]}
    assert not {pair for pair in pairs if pair[::-1] in pairs}


def test_addon_imports_only_what_blender_bundles():
    allowed = sys.stdlib_module_names | {"numpy"}
    for path in SOURCES:
        outer = len(dotted(path)) == 1 or dotted(path)[1] not in INNER
        names = {target[0] for target in imports(path)} - {"addon"}
        assert names <= allowed | (BLENDER if outer else set()), path


def test_addon_names_itself_by_relative_imports_only():
    for path in SOURCES:
        absolute = [node for node in ast.walk(parse(path)) if isinstance(node, ast.ImportFrom) and not node.level]
        names = [node.module for node in absolute]
        names += [alias.name for node in ast.walk(parse(path)) if isinstance(node, ast.Import) for alias in node.names]
        assert not [name for name in names if name.split(".")[0] == "addon"], path


def test_addon_neither_asserts_nor_prints():
    for path in SOURCES:
        for node in ast.walk(parse(path)):
            assert not isinstance(node, ast.Assert), f"{path}:{node.lineno}"
            prints = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print"
            assert not prints, f"{path}:{node.lineno}"


# What the review of Blender's extensions platform looks for in code. threading has one use, joined before it ends.
FORBIDDEN = {
    "asyncio", "ftplib", "http", "multiprocessing", "pip", "requests", "smtplib", "socket", "socketserver", "ssl",
    "subprocess", "urllib", "webbrowser", "xmlrpc",
}  # fmt: skip
CALLS = {"eval", "exec", "compile", "__import__", "os.system", "os.popen", "sys.exit", "exit", "quit", "os._exit"}
OWN_FILES = {
    "addon/codec/havok/classes/__init__.py",
    "addon/operators/copy_report.py",
    "addon/ui/icons.py",
}  # which only read


def test_addon_keeps_to_the_rules_of_the_platform():
    """No network, no other processes, no code from text, no writing beside the code, Python's own state left alone."""
    for path in [*SOURCES, ROOT / "__init__.py"]:
        name = path.relative_to(ROOT).as_posix()
        assert not {target[0] for target in imports(path)} & FORBIDDEN, name
        for node in ast.walk(parse(path)):
            if isinstance(node, ast.Call):
                assert ast.unparse(node.func) not in CALLS, f"{name}:{node.lineno}"
            if isinstance(node, ast.Name):
                assert node.id != "bl_info", f"{name}:{node.lineno}"
                assert node.id != "__file__" or name in OWN_FILES, f"{name}:{node.lineno}"
            if isinstance(node, ast.Attribute):
                assert ast.unparse(node) not in {"sys.path", "sys.modules", "sys.argv"}, f"{name}:{node.lineno}"


def test_every_class_of_blender_is_named_after_its_kind_and_ours():
    """Names that clash with others' are what breaks two extensions at once."""
    kinds = {"Operator": "_OT_", "Panel": "_PT_", "Menu": "_MT_", "FileHandler": "_FH_", "UIList": "_UL_"}
    for path in SOURCES:
        for node in ast.walk(parse(path)):
            bases = [ast.unparse(base) for base in node.bases] if isinstance(node, ast.ClassDef) else []
            for kind, part in kinds.items():
                if f"bpy.types.{kind}" in bases:
                    assert part in node.name, f"{path}:{node.lineno}"
                    assert "ossuary" in node.name.lower(), f"{path}:{node.lineno}"


@pytest.mark.parametrize("path", CHECKED, ids=lambda path: str(path.relative_to(ROOT)))
def test_sizes(path: Path):
    assert len(path.read_text("utf-8").splitlines()) <= 500
    for node in ast.walk(parse(path)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            assert node.end_lineno - node.lineno < 60, node.name


def test_inner_rings_import_without_blender():
    files = [path.relative_to(ROOT) for path in SOURCES if len(dotted(path)) > 1 and dotted(path)[1] in INNER]
    modules = sorted({".".join(path.with_suffix("").parts).removesuffix(".__init__") for path in files})
    assert "addon.codec" in modules
    blocked = dict.fromkeys(BLENDER)
    run_python(
        f"import importlib, sys; sys.modules.update({blocked}); import addon\n"
        "for name in sys.argv[1:]: importlib.import_module(name)",
        arguments=tuple(modules),
    )


def test_inner_rings_do_not_load_the_outer_ones():
    loaded = run_python("import addon, addon.codec, sys; print(*sys.modules, sep='\\n')").split()
    outer = [f"addon.{package}" for ring in RINGS[:2] for package in ring]
    assert "addon.codec" in loaded
    assert not [name for name in loaded if name.startswith(tuple(outer))]


def test_manifest():
    manifest = tomllib.loads((ROOT / "blender_manifest.toml").read_text("utf-8"))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert (manifest["id"], manifest["name"], manifest["type"]) == ("ossuary", "Ossuary", "add-on")
    assert manifest["blender_version_min"] == "4.5.0"
    assert manifest["license"] == ["SPDX:GPL-3.0-or-later"]
    assert manifest["version"] == project["version"]
    assert list(manifest["permissions"]) == ["files", "clipboard"]  # and none for the network
    assert "TODO" not in str(manifest)
    for text in (manifest["tagline"], *manifest["permissions"].values()):
        assert len(text) <= 64
        assert text[-1].isalnum()


def test_readme_names_the_commands():
    readme = (ROOT / "README.md").read_text("utf-8")
    for command in ("python3 dev.py demo", "python3 dev.py test", "pytest --blender-executable"):
        assert command in readme
    version = tomllib.loads((ROOT / "blender_manifest.toml").read_text("utf-8"))["version"]
    assert f"ossuary-{version}.zip" in readme


def test_requirements_are_exact():
    for path in (ROOT / "tests" / "requirements").iterdir():
        for line in path.read_text("utf-8").splitlines():
            assert line.startswith(("#", "-r ")) or "==" in line, f"{path.name}: {line}"


def test_every_blender_has_its_requirements():
    dev = runpy.run_path(str(ROOT / "dev.py"))  # by its path, for the checkout may be called dev too
    for blender in dev["BLENDERS"]:
        assert dev["Environment"](blender).version.startswith(f"{blender}.")
    assert all(dev["BLENDERS"][blender] == python for python, blender in dev["MAIN"].items())
    manifest = tomllib.loads((ROOT / "blender_manifest.toml").read_text("utf-8"))
    oldest = min(dev["BLENDERS"], key=dev["numbers"])
    assert manifest["blender_version_min"] == f"{oldest}.0"


@pytest.fixture(scope="module")
def built_zip(blender, tmp_path_factory) -> Path:
    """Return the extension's zip, made by Blender's own tool."""
    out = tmp_path_factory.mktemp("zip")
    scripts = blender.utils.system_resource("SCRIPTS")
    tool = Path(scripts) / "addons_core" / "bl_pkg" / "cli" / "blender_ext.py"
    tags = ["--valid-tags", Path(scripts) / "modules" / "_bpy_internal" / "extensions" / "tags.py"]
    for arguments in (["build", *tags, "--source-dir", ROOT, "--output-dir", out], ["validate", *tags, ROOT]):
        done = subprocess.run([sys.executable, tool, *arguments], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
    return next(out.glob("ossuary-*.zip"))


def test_zip_holds_what_users_need(built_zip: Path):
    with zipfile.ZipFile(built_zip) as archive:
        names = {name for name in archive.namelist() if not name.endswith("/")}
    wanted = [ROOT / name for name in ("__init__.py", "blender_manifest.toml", "LICENSE", "README.md")]
    wanted += [path for path in (*ADDON.rglob("*"), *(ROOT / "icons").rglob("*")) if path.is_file()]
    assert names == {path.relative_to(ROOT).as_posix() for path in wanted if path.suffix != ".pyc"}
    assert {Path(name).suffix for name in names} <= {".py", ".json", ".toml", ".md", ".svg", ".png", ""}
    assert built_zip.stat().st_size < MOST_BYTES


def test_enabling_loads_neither_numpy_nor_what_needs_it(blender, tmp_path: Path):
    """They would be most of Blender's start-up; so would handlers, panels and operators that have nothing to show."""
    code = f"""
        import sys, bpy, addon
        from tests.panels import drawn
        for name in [name for name in sys.modules if name.split(".")[0] == "numpy"]:
            sys.modules[name] = None  # to import it would raise
        inner = {[*(f"addon.{package}" for package in INNER), "addon.scene.api"]!r}
        def check(after):
            found = [name for name in sys.modules if name in inner]
            assert not found, (after, found)
        addon.register()
        check("registering")
        bpy.context.scene.frame_set(2)
        check("a frame change")
        panels = [kind for kind in bpy.types.Panel.__subclasses__() if kind.__module__.startswith("addon.")]
        assert len(panels) > 8, panels
        for kind in panels:
            if not hasattr(kind, "poll") or kind.poll(bpy.context):
                drawn(kind)
            check(kind)
        operators = [kind for kind in bpy.types.Operator.__subclasses__() if kind.__module__.startswith("addon.")]
        assert len(operators) > 30, operators
        for kind in operators:
            if hasattr(kind, "poll"):
                kind.poll(bpy.context)  # bpy.ops would keep what it raises to itself
            check(kind)
        addon.unregister()
        print("light")"""
    assert "light" in run_blender(blender, code, tmp_path)


def test_register_and_unregister_twice_leave_nothing(blender, tmp_path: Path):
    code = """
        from tests.footprint import footprint
        import addon
        before = footprint()
        addon.register(); once = footprint()
        addon.register(); assert footprint() == once, footprint() ^ once
        addon.unregister(); assert footprint() == before, footprint() ^ before
        addon.unregister(); assert footprint() == before, footprint() ^ before
        print("clean")"""
    assert "clean" in run_blender(blender, code, tmp_path)


def test_zip_installs_enables_and_disables(blender, built_zip: Path, tmp_path: Path):
    code = f"""
        import sys, bpy
        from tests.footprint import footprint
        before = footprint()
        path = {str(built_zip)!r}
        bpy.ops.extensions.package_install_files(filepath=path, repo="user_default", enable_on_install=True)
        name = "bl_ext.user_default.ossuary"
        assert name in bpy.context.preferences.addons, list(bpy.context.preferences.addons.keys())
        assert name + ".addon" in sys.modules
        bpy.ops.preferences.addon_disable(module=name)
        assert footprint() == before, footprint() ^ before
        print("clean")"""
    assert "clean" in run_blender(blender, code, tmp_path)


def test_zip_installs_over_itself(blender, built_zip: Path, tmp_path: Path):
    """A second install, and switching it off and on, leave one working extension: no stale module is kept."""
    code = f"""
        import re, bpy
        from tests.footprint import footprint
        name, path, found = "bl_ext.user_default.ossuary", {str(built_zip)!r}, []
        def note():
            found.append(sorted(re.sub("0x[0-9a-f]+", "", each) for each in footprint()))
        for _ in range(2):
            bpy.ops.extensions.package_install_files(filepath=path, repo="user_default", enable_on_install=True)
            note()
        bpy.ops.preferences.addon_disable(module=name)
        bpy.ops.preferences.addon_enable(module=name)
        note()
        assert found[0] == found[1] == found[2], found
        assert bpy.ops.import_scene.ossuary_flver.poll()
        print("works")"""
    assert "works" in run_blender(blender, code, tmp_path)


def test_what_is_registered_survives_the_scene_fixture(blender, request):
    class Probe(blender.types.Operator):
        bl_idname = "ossuary_test.probe"
        bl_label = "Probe"

        def execute(self, _context) -> set[str]:
            return {"FINISHED"}

    blender.utils.register_class(Probe)
    blender.data.objects.new("left over", None)
    assert not request.getfixturevalue("scene").objects
    assert not blender.data.objects
    assert blender.ops.ossuary_test.probe() == {"FINISHED"}
    blender.utils.unregister_class(Probe)
