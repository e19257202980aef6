#!/usr/bin/env python3
"""The one door for people who work on Ossuary: set-up, demo, tests, build, conversion and benchmarks.

Runs on a bare checkout with nothing but Python's standard library. Every command first makes `.venv` with the packages
of tests/requirements, the bpy wheel among them, which is Blender as a module; nothing else is changed or needed.
`test --all` makes an environment for each further Blender beside it.
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
import time
import zipfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree as ET

ROOT = Path(__file__).resolve().parent
REQUIREMENTS = ROOT / "tests" / "requirements"

# The Blenders that the tests run on and the Python that each is a module of. Their exact versions are in
# tests/requirements: the newest is what is pinned there, and `test --all` says when the index has a newer one.
BLENDERS = {"4.5": "3.11", "5.0": "3.11", "5.2": "3.13", "5.3": "3.13"}
MAIN = {"3.11": "5.0", "3.13": "5.2"}  # the Blender of `.venv`, by the Python that the machine has

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


class SetUpError(Exception):
    """What stands in the way of an environment: no such Python here, or packages that cannot be installed."""


@dataclass(frozen=True)
class Environment:
    """A virtual environment with one Blender in it.

    Attributes:
        blender: its release, a key of `BLENDERS`.
        is_main: it is `.venv`, which every command uses, and has the tools that check the code.
    """

    blender: str
    is_main: bool = False

    @property
    def folder(self) -> Path:
        """Where it is."""
        return ROOT / (".venv" if self.is_main else f".venv-{self.blender}")

    @property
    def python(self) -> Path:
        """Its Python."""
        return self.folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")

    @property
    def requirements(self) -> list[Path]:
        """What is installed into it."""
        names = [self.blender, *(["tools"] if self.is_main else [])]
        return [REQUIREMENTS / f"{name}.txt" for name in names]

    @property
    def version(self) -> str:
        """The exact version of its Blender."""
        return self.requirements[0].read_text("utf-8").partition("bpy==")[2].split()[0]

    @property
    def log(self) -> Path:
        """Where what it says goes while another one has the terminal."""
        return ROOT / "out" / f"tests-{self.blender}.log"

    def run(self, *args: str, cwd: Path = ROOT, log: Path | None = None) -> int:
        """Run its Python, on the checkout if nothing else is said, and return the exit status.

        Args:
            args: of Python.
            cwd: the folder to run in.
            log: takes what it says in place of the terminal.
        """
        command: list[str | Path] = [self.python, *args]
        if log is None:
            return subprocess.run(command, cwd=cwd, check=False).returncode
        log.parent.mkdir(exist_ok=True)
        with log.open("wb") as file:
            return subprocess.run(command, cwd=cwd, stdout=file, stderr=subprocess.STDOUT, check=False).returncode

    def set_up(self) -> None:
        """Make or update it, and see to the libraries that the bpy wheel loads.

        Raises:
            SetUpError: it cannot be made on this machine.
        """
        stamp = self.folder / "ossuary-stamp"
        contents = [path.read_bytes() for path in (*self.requirements, REQUIREMENTS / "tests.txt")]
        wanted = f"{BLENDERS[self.blender]} {hashlib.sha256(b''.join(contents)).hexdigest()}\n"
        if not (self.python.exists() and stamp.exists() and stamp.read_text() == wanted):
            if python_version(str(self.python)) != BLENDERS[self.blender]:
                self._make(BLENDERS[self.blender])
            stamp.unlink(missing_ok=True)
            print(f"Installing Blender {self.version} into {self.folder.name} (about 400 MB, once) ...", flush=True)
            files = [part for path in self.requirements for part in ("-r", str(path))]
            if self.run("-m", "pip", "install", "--quiet", "--disable-pip-version-check", *files):
                raise SetUpError(f"The packages for Blender {self.version} cannot be installed: see pip's message")
            stamp.write_text(wanted)
        if sys.platform == "linux":
            missing = sorted({package for name, package in LIBRARIES.items() if not loads(name)})
            if missing:
                install(missing, "Blender's libraries")

    def _make(self, version: str) -> None:
        python = find_python(version)
        if not python:
            raise SetUpError(f"This machine has no Python {version}")
        if subprocess.run([python, "-c", "import ensurepip, venv"], check=False, capture_output=True).returncode:
            install([f"python{version}-venv"], "Python's venv module")
        print(f"Making {self.folder.name} with Python {version} ...", flush=True)
        subprocess.run([python, "-m", "venv", "--clear", str(self.folder)], check=True)


def main() -> int:
    """Run the command of the command line and return the exit status."""
    try:
        return run_command()
    except SetUpError as error:
        sys.exit(f"{error}.")


def run_command() -> int:
    """Run the command of the command line."""
    # pytest and the conversion have options of their own, so what follows these commands is not parsed here.
    if sys.argv[1:2] == ["test"]:
        args = [each for each in sys.argv[2:] if each != "--all"]
        return test(args) if args == sys.argv[2:] else test_all(args)
    if sys.argv[1:2] == ["convert"]:
        return convert(sys.argv[2:])
    parser = argparse.ArgumentParser(description="Set up, show, test, build and measure Ossuary.")
    commands = parser.add_subparsers(dest="command", required=True)
    demo_parser = commands.add_parser("demo", help="import files (or the sample), save and render what they hold")
    demo_parser.add_argument("files", nargs="*", type=Path, metavar="FILE")
    demo_parser.add_argument("--out", type=Path, default=ROOT / "out", metavar="DIR")
    commands.add_parser("test", help="run every test; --all on every supported Blender; other arguments go to pytest")
    commands.add_parser("convert", help="turn game files into .blend or .glb; convert --help says how")
    commands.add_parser("build", help="lint, check types, build and validate the extension's zip in out/")
    bench_parser = commands.add_parser("bench", help="run one benchmark, or all")
    bench_parser.add_argument("name", nargs="?")
    chosen = parser.parse_args()
    if chosen.command == "demo":
        return demo(chosen.files, chosen.out)
    if chosen.command == "bench":
        return bench(chosen.name)
    return build()


def demo(files: list[Path], out: Path) -> int:
    """Import files, or the sample, through the operators; save and render the scene."""
    missing = [str(path) for path in files if not path.is_file()]
    if missing:
        sys.exit("No such file: " + ", ".join(missing))
    paths = [str(path.resolve()) for path in files]
    return main_environment().run("-m", "tests.demo", *paths, "--out", str(out.resolve()))


def convert(args: list[str]) -> int:
    """Convert files as `blender --command ossuary convert` does, in the folder where this was called."""
    code = f"import sys; sys.path[0] = {str(ROOT)!r}; from tests.convert import main; sys.exit(main(sys.argv[1:]))"
    return main_environment().run("-c", code, *args, cwd=Path.cwd())


def test(pytest_args: list[str]) -> int:
    """Run the tests."""
    return main_environment().run("-m", "pytest", *pytest_args)


def test_all(pytest_args: list[str]) -> int:
    """Run the tests on every supported Blender, all of them in `.venv` and beside it those that need Blender elsewhere.

    What the machine lacks is left out and said. It is a failure where `.venv` cannot be made, and in CI, which
    promises every Blender.
    """
    main = main_environment()
    others = [Environment(blender) for blender in BLENDERS if blender != main.blender]
    lacking = {environment: fault for environment in others if (fault := lacks(environment))}
    with ThreadPoolExecutor(max(1, (os.cpu_count() or 1) - 1)) as pool:
        beside = {other: pool.submit(test_on, other, pytest_args) for other in others if other not in lacking}
        print(f"-- Blender {main.version}", flush=True)
        found = {main: test_on(main, pytest_args)}
        for other, running in beside.items():
            found[other] = running.result()
            print(f"\n-- Blender {other.version}", other.log.read_text("utf-8", "replace"), sep="\n", flush=True)
    for other, fault in lacking.items():
        is_promised = "CI" in os.environ
        found[other] = (not is_promised, f"{'FAILED' if is_promised else 'left out'}: {fault}")
    lines = [f"Blender {each.version:<7} Python {BLENDERS[each.blender]}  {found[each][1]}" for each in (main, *others)]
    print("", *lines, *newer_blenders([main, *others]), sep="\n", flush=True)
    return int(not all(passed for passed, _ in found.values()))


def lacks(environment: Environment) -> str:
    """Set an environment up, and return what stands in the way, empty where nothing does."""
    try:
        environment.set_up()
    except SetUpError as error:
        return str(error)
    return ""


def test_on(environment: Environment, pytest_args: list[str]) -> tuple[bool, str]:
    """Run the tests in an environment; return whether they passed, and what came of them."""
    report = ROOT / "out" / f"tests-{environment.blender}.xml"
    report.unlink(missing_ok=True)
    which = [] if environment.is_main else ["--blender-side"]
    began = time.monotonic()
    log = None if environment.is_main else environment.log
    status = environment.run("-m", "pytest", f"--junitxml={report}", *which, *pytest_args, log=log)
    counts = []
    if report.exists():
        suite = next(ET.parse(report).getroot().iter("testsuite")).attrib
        found = {name: int(suite[name]) for name in ("failures", "errors", "skipped")}
        found = {"passed": int(suite["tests"]) - sum(found.values()), **found}
        counts = [f"{count} {name}" for name, count in found.items() if count]
    # 5: nothing of what was asked for needs Blender
    passed = status == 0 or (status == 5 and bool(pytest_args) and not environment.is_main)
    verdict = "passed" if passed else f"FAILED (status {status})"
    what = "all tests" if environment.is_main else "Blender side"
    return passed, f"{verdict}: {what}, {', '.join(counts) or 'no test'}, {time.monotonic() - began:.0f} s"


def newer_blenders(environments: list[Environment]) -> list[str]:
    """Return a line for each Blender on the package index that is newer than what is pinned for its Python."""
    newer = dict[str, None]()
    for environment in environments:
        if environment.python.exists():
            command = [str(environment.python), "-m", "pip", "index", "versions", "bpy"]
            try:
                done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
            except subprocess.TimeoutExpired:
                continue  # it is only a hint
            text = done.stdout.partition("Available versions:")[2].partition("\n")[0]
            series, patch = numbers(environment.version)[:2], numbers(environment.version)
            for each in map(str.strip, text.split(",")):
                if (numbers(each)[:2] == series and numbers(each) > patch) or numbers(each) > numbers(newest()):
                    newer[each] = None
    return [f"The index has Blender {each}: pin it in {REQUIREMENTS.relative_to(ROOT)}" for each in newer]


def newest() -> str:
    """Return the newest version that is pinned."""
    return max((Environment(blender).version for blender in BLENDERS), key=numbers)


def numbers(version: str) -> tuple[int, ...]:
    """Return the numbers of a version, empty where it has other parts too."""
    parts = version.split(".")
    return tuple(map(int, parts)) if all(map(str.isdigit, parts)) else ()


def build() -> int:
    """Check the code, then build and validate the zip."""
    environment = main_environment()
    for stage in (("ruff", "check", "."), ("ruff", "format", "--check", "."), ("mypy",)):
        print("--", *stage, flush=True)
        if status := environment.run("-m", *stage):
            return status
    return build_zip(environment, ROOT / "out")


def bench(name: str | None) -> int:
    """Run benchmarks, each in a process of its own."""
    names = sorted(path.stem for path in (ROOT / "tests" / "bench").glob("[!_]*.py"))
    if name is not None and name not in names:
        sys.exit(f"No benchmark {name!r}; there are: {', '.join(names)}")
    environment = main_environment()
    # by name, for one is called import
    call = "import importlib; importlib.import_module('tests.bench.{}').run()"
    statuses = [environment.run("-c", call.format(each)) for each in ([name] if name else names)]
    return next(filter(None, statuses), 0)


def build_zip(environment: Environment, out: Path) -> int:
    """Build the zip with Blender's own tool, validate it, and check that it holds what users need and no more."""
    where = "import importlib.util as u; print(u.find_spec('bpy').submodule_search_locations[0])"
    bpy = subprocess.run([environment.python, "-c", where], check=True, capture_output=True, text=True).stdout.strip()
    scripts = next(Path(bpy).glob("*/scripts"))
    tool = str(scripts / "addons_core/bl_pkg/cli/blender_ext.py")
    tags = ("--valid-tags", str(scripts / "modules/_bpy_internal/extensions/tags.py"))  # those of the platform
    shutil.rmtree(out / "build", ignore_errors=True)
    (out / "build").mkdir(parents=True)
    if status := environment.run(tool, "build", *tags, "--source-dir", str(ROOT), "--output-dir", str(out / "build")):
        return status
    built = next((out / "build").glob("*.zip"))
    if status := environment.run(tool, "validate", *tags, str(built)):
        return status
    target = built.replace(out / built.name)
    (out / "build").rmdir()
    with zipfile.ZipFile(target) as archive:
        names = archive.namelist()
    if strangers := sorted({name.split("/")[0] for name in names} ^ SHIPPED):
        sys.exit(f"The zip must hold exactly {sorted(SHIPPED)}; missing or too much: {strangers}")
    print(f"{target}: {len(names)} files, {target.stat().st_size:,} bytes")
    return 0


def main_environment() -> Environment:
    """Return `.venv`, set up: with the Python that runs this, else the one it has, else one found on the machine.

    Raises:
        SetUpError: there is none that a bpy wheel exists for, or the packages cannot be installed.
    """
    here = f"{sys.version_info[0]}.{sys.version_info[1]}"
    there = python_version(str(Environment("", is_main=True).python))
    for version in (here, there, *MAIN):
        if version in MAIN and (version == there or find_python(version)):
            environment = Environment(MAIN[version], is_main=True)
            environment.set_up()
            return environment
    raise SetUpError(
        f"This is Python {here}. Blender's Python module exists for Python {' or '.join(MAIN)}: install one and run "
        "this again"
    )


def find_python(version: str) -> str:
    """Return a Python of a version: the running one, else one of PATH or pyenv; empty without."""
    pyenv = sorted((Path.home() / ".pyenv" / "versions").glob(f"{version}.*/bin/python{version}"))
    candidates = (sys.executable, shutil.which(f"python{version}"), *map(str, reversed(pyenv)))
    return next((each for each in candidates if each and python_version(each) == version), "")


def python_version(python: str) -> str:
    """Return "major.minor" of an interpreter, empty if it does not run."""
    code = "import sys; print('%d.%d' % sys.version_info[:2])"
    try:
        return subprocess.run([python, "-c", code], check=True, capture_output=True, text=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ""


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
        raise SetUpError(f"Missing: {what}. On Debian or Ubuntu: sudo {shlex.join(command)}")
    print(f"Installing {what}: {' '.join(packages)} ...", flush=True)
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for step in (["apt-get", "update", "-qq"], command):
        if subprocess.run(step, env=environment, stdout=subprocess.DEVNULL, check=False).returncode:
            raise SetUpError(f"Failed: {shlex.join(step)}")


if __name__ == "__main__":
    sys.exit(main())
