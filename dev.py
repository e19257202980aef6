#!/usr/bin/env python3
"""The one door for people who work on Ossuary: set-up, demo, tests, build and benchmarks.

Runs on a bare checkout with nothing but Python's standard library. Every command first makes `.venv` with the packages
of tests/requirements.txt, the bpy wheel among them, which is Blender as a module; nothing else is changed or needed.
"""

from __future__ import annotations

import argparse
import ctypes
import hashlib
import os
import shlex
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent
VENV = ROOT / ".venv"
STAMP = VENV / "ossuary-stamp"
PYTHON = VENV / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
REQUIREMENTS = ROOT / "tests" / "requirements.txt"
VERSIONS = ("3.11", "3.13")  # for which a bpy wheel exists

LIBRARIES = {
    "libX11.so.6": "libx11-6",
    "libXrender.so.1": "libxrender1",
    "libXfixes.so.3": "libxfixes3",
    "libXi.so.6": "libxi6",
    "libxkbcommon.so.0": "libxkbcommon0",
    "libSM.so.6": "libsm6",
    "libGL.so.1": "libgl1",
    "libgomp.so.1": "libgomp1",
    "libEGL.so.1": "libegl1",
}

SHIPPED = {"__init__.py", "blender_manifest.toml", "LICENSE", "README.md", "addon", "icons"}


def main() -> int:
    """Run the command of the command line and return the exit status."""
    # pytest has its own options, so what follows "test" is not parsed here.
    if sys.argv[1:2] == ["test"]:
        return test(sys.argv[2:])
    parser = argparse.ArgumentParser(description="Set up, show, test, build and measure Ossuary.")
    commands = parser.add_subparsers(dest="command", required=True)
    demo_parser = commands.add_parser("demo", help="import files (or the sample), save and render what they hold")
    demo_parser.add_argument("files", nargs="*", type=Path, metavar="FILE")
    demo_parser.add_argument("--out", type=Path, default=ROOT / "out", metavar="DIR")
    commands.add_parser("test", help="run every test; arguments go to pytest")
    commands.add_parser("build", help="lint, check types, build and validate the extension's zip in out/")
    bench_parser = commands.add_parser("bench", help="run one benchmark, or all")
    bench_parser.add_argument("name", nargs="?")
    args = parser.parse_args()
    if args.command == "demo":
        return demo(args.files, args.out)
    if args.command == "bench":
        return bench(args.name)
    return build()


def demo(files: list[Path], out: Path) -> int:
    """Import files, or the sample, through the operators; save and render the scene."""
    missing = [str(path) for path in files if not path.is_file()]
    if missing:
        sys.exit("No such file: " + ", ".join(missing))
    set_up()
    return run("-m", "tests.demo", *(str(path.resolve()) for path in files), "--out", str(out.resolve()))


def test(pytest_args: list[str]) -> int:
    """Run the tests."""
    set_up()
    return run("-m", "pytest", *pytest_args)


def build() -> int:
    """Check the code, then build and validate the zip."""
    set_up()
    for stage in (("ruff", "check", "."), ("ruff", "format", "--check", "."), ("mypy",)):
        print("--", *stage, flush=True)
        if status := run("-m", *stage):
            return status
    return build_zip(ROOT / "out")


def bench(name: str | None) -> int:
    """Run benchmarks, each in a process of its own."""
    names = sorted(path.stem for path in (ROOT / "tests" / "bench").glob("[!_]*.py"))
    if name is not None and name not in names:
        sys.exit(f"No benchmark {name!r}; there are: {', '.join(names)}")
    set_up()
    # by name, for one is called import
    call = "import importlib; importlib.import_module('tests.bench.{}').run()"
    statuses = [run("-c", call.format(each)) for each in ([name] if name else names)]
    return next(filter(None, statuses), 0)


def build_zip(out: Path) -> int:
    """Build the zip with Blender's own tool, validate it, and check that it holds what users need and no more."""
    where = "import importlib.util as u; print(u.find_spec('bpy').submodule_search_locations[0])"
    bpy = subprocess.run([PYTHON, "-c", where], check=True, capture_output=True, text=True).stdout.strip()
    tool = str(next(Path(bpy).glob("*/scripts/addons_core/bl_pkg/cli/blender_ext.py")))
    shutil.rmtree(out / "build", ignore_errors=True)
    (out / "build").mkdir(parents=True)
    if status := run(tool, "build", "--source-dir", str(ROOT), "--output-dir", str(out / "build")):
        return status
    built = next((out / "build").glob("*.zip"))
    if status := run(tool, "validate", str(built)):
        return status
    target = built.replace(out / built.name)
    (out / "build").rmdir()
    with zipfile.ZipFile(target) as archive:
        names = archive.namelist()
    if strangers := sorted({name.split("/")[0] for name in names} ^ SHIPPED):
        sys.exit(f"The zip must hold exactly {sorted(SHIPPED)}; missing or too much: {strangers}")
    print(f"{target}: {len(names)} files, {target.stat().st_size:,} bytes")
    return 0


def run(*args: str) -> int:
    """Run the environment's Python on the checkout and return its exit status."""
    return subprocess.run([PYTHON, *args], cwd=ROOT, check=False).returncode


def set_up() -> None:
    """Make or update the virtual environment, and see to the libraries that the bpy wheel loads."""
    python = choose_python()
    wanted = f"{python_version(python)} {hashlib.sha256(REQUIREMENTS.read_bytes()).hexdigest()}\n"
    if not (PYTHON.exists() and STAMP.exists() and STAMP.read_text() == wanted):
        if python_version(str(PYTHON)) != python_version(python):
            make_environment(python)
        STAMP.unlink(missing_ok=True)
        print(f"Installing {REQUIREMENTS.relative_to(ROOT)} into {VENV.name} (about 400 MB, once) ...", flush=True)
        if run("-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r", str(REQUIREMENTS)):
            sys.exit("The packages could not be installed; see pip's message above.")
        STAMP.write_text(wanted)
    if sys.platform == "linux":
        missing = sorted({package for name, package in LIBRARIES.items() if not loads(name)})
        if missing:
            install(missing, "Blender's libraries")


def choose_python() -> str:
    """Return a Python that a bpy wheel exists for: the running one, else that of `.venv`, else another one found."""
    here = f"{sys.version_info[0]}.{sys.version_info[1]}"
    if here in VERSIONS:
        return sys.executable
    if python_version(str(PYTHON)) in VERSIONS:
        return str(PYTHON)
    for version in VERSIONS:
        pyenv = sorted((Path.home() / ".pyenv" / "versions").glob(f"{version}.*/bin/python{version}"))
        for candidate in (shutil.which(f"python{version}"), *map(str, reversed(pyenv))):
            if candidate and python_version(candidate) == version:
                return candidate
    wanted = " or ".join(VERSIONS)
    sys.exit(
        f"This is Python {here}. Blender's Python module exists for Python {wanted}: install one and run this again."
    )


def python_version(python: str) -> str:
    """Return "major.minor" of an interpreter, empty if it does not run."""
    code = "import sys; print('%d.%d' % sys.version_info[:2])"
    try:
        return subprocess.run([python, "-c", code], check=True, capture_output=True, text=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ""


def make_environment(python: str) -> None:
    """Make `.venv` anew with ``python``."""
    version = python_version(python)
    if subprocess.run([python, "-c", "import ensurepip, venv"], check=False, capture_output=True).returncode:
        install([f"python{version}-venv"], "Python's venv module")
    print(f"Making {VENV.name} with Python {version} ...", flush=True)
    subprocess.run([python, "-m", "venv", "--clear", str(VENV)], check=True)


def loads(library: str) -> bool:
    """Tell whether the dynamic linker finds a library."""
    try:
        ctypes.CDLL(library)
    except OSError:
        return False
    return True


def install(packages: list[str], what: str) -> None:
    """Install Debian packages when this is root on Debian, else say what to run and stop."""
    command = ["apt-get", "install", "-y", "--no-install-recommends", *packages]
    if not Path("/etc/debian_version").exists() or os.getuid() != 0:
        sys.exit(f"Missing: {what}. On Debian or Ubuntu: sudo {shlex.join(command)}")
    print(f"Installing {what}: {' '.join(packages)} ...", flush=True)
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for step in (["apt-get", "update", "-qq"], command):
        if subprocess.run(step, env=environment, stdout=subprocess.DEVNULL, check=False).returncode:
            sys.exit(f"Failed: {shlex.join(step)}")


if __name__ == "__main__":
    sys.exit(main())
