"""`blender --command ossuary convert`: many files at once, without a window."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import bpy

from ..scene.result import counted
from .preferences import preferences

if TYPE_CHECKING:
    import argparse

    from ..scene import GameFolders
    from ..scene.convert import Converted, Part

COMMAND = "ossuary"
SOME_FAILED, USAGE = 1, 2  # exit statuses, beside 0

_GAMES = {"sekiro": "Sekiro", "elden_ring": "Elden Ring"}  # fields of GameFolders
_DESCRIPTION = """\
Turn game files into .blend or .glb files, one line a file. Files are told by content: name binders, loose files or
whole folders, of which the files that hold nothing are passed over."""
_EPILOG = "Exit status: 0 all files were converted, 1 some failed, 2 the command line is wrong."


def run(args: Sequence[str], program: str = f"blender --command {COMMAND}") -> int:
    """Run the command and return its exit status.

    Args:
        args: what follows the command's name.
        program: what was called, for the help.
    """
    from ..scene.convert import ConvertSettings, Format, Outcome, convert

    try:
        options = _parser(program).parse_args(list(args))
    except SystemExit as end:  # which is how argparse answers --help and mistakes
        return int(end.code or 0)
    missing = [str(path) for path in options.inputs if not path.exists()]
    if missing:
        sys.stderr.write(f"No such file or folder: {', '.join(missing)}\n")
        return USAGE
    if options.out.exists() and not options.out.is_dir():
        sys.stderr.write(f"Not a folder: {options.out}\n")
        return USAGE
    settings = ConvertSettings(
        format=Format(options.format),
        parts=options.include,
        member_filter=options.members,
        scale=options.scale,
        textures=not options.no_textures,
        folders=_folders(options),
        skip_existing=options.skip_existing,
    )
    with _own_output(2 if options.verbose else None) as output:
        found = convert(
            options.inputs, options.out, settings, lambda result: _tell(output, result, verbose=options.verbose)
        )
        output.write(f"{_total(found)}\n")
    return SOME_FAILED if any(each.outcome in {Outcome.FAILED, Outcome.PARTLY} for each in found) else 0


def _parser(program: str) -> argparse.ArgumentParser:
    import argparse

    from ..scene.convert import Format, Part

    parser = argparse.ArgumentParser(prog=program, description="Ossuary without a window.")
    commands = parser.add_subparsers(dest="command", required=True)
    one = commands.add_parser("convert", help="turn files into others", description=_DESCRIPTION, epilog=_EPILOG)
    one.add_argument("inputs", nargs="+", type=Path, metavar="IN", help="a file, or a folder with all below it")
    one.add_argument("--out", type=Path, required=True, metavar="DIR", help="the folder for what they become")
    one.add_argument("--format", choices=[each.value for each in Format], default=Format.BLEND.value)
    one.add_argument(
        "--include",
        type=_parts,
        default=frozenset(Part),
        metavar="PARTS",
        help="what is taken from files, with commas between: model, collision (ragdolls too), cloth. All if not given",
    )
    one.add_argument("--members", default="", metavar="PATTERN", help="only members of binders so named, with * and ?")
    one.add_argument("--scale", type=_positive, default=1.0, metavar="FACTOR", help="size of what is imported")
    one.add_argument("--no-textures", action="store_true", help="leave materials plain: faster, and smaller files")
    for name, title in _GAMES.items():
        text = f"folder of the unpacked {title} with textures that are not beside a model; else that of the preferences"
        one.add_argument(f"--{name.replace('_', '-')}", type=Path, metavar="DIR", help=text)
    one.add_argument("--skip-existing", action="store_true", help="leave what is there already: go on after a stop")
    one.add_argument("--verbose", action="store_true", help="write warnings below a file's line, and let Blender talk")
    return parser


def _folders(options: argparse.Namespace) -> GameFolders:
    """Return the games' folders of the command line, and where it names none those of the preferences."""
    from ..scene import GameFolders

    set_there = preferences(bpy.context).folders
    return GameFolders(**{name: getattr(options, name) or getattr(set_there, name) for name in _GAMES})


def _parts(text: str) -> frozenset[Part]:
    import argparse

    from ..scene.convert import Part

    try:
        return frozenset(map(Part, text.split(",")))
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{error}: it is one of {', '.join(Part)}") from error


def _positive(text: str) -> float:
    import argparse

    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is no number above 0")
    return value


@contextmanager
def _own_output(other: int | None) -> Iterator[TextIO]:
    """Give the standard output to the caller alone, so that each file has one line, which scripts can read.

    Args:
        other: the descriptor for what Blender and its add-ons write to the standard output; None for nowhere.
    """
    sys.stdout.flush()
    kept, nowhere = os.dup(1), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere if other is None else other, 1)
    try:
        with os.fdopen(os.dup(kept), "w", encoding="utf-8", errors="backslashreplace", buffering=1) as output:
            yield output
    finally:
        sys.stdout.flush()
        os.dup2(kept, 1)
        os.close(kept)
        os.close(nowhere)


def _tell(output: TextIO, result: Converted, *, verbose: bool) -> None:
    """Write a file's line; nothing for what holds nothing."""
    from ..scene.convert import Outcome

    if result.outcome == Outcome.NOTHING:
        return
    parts = [f"{result.outcome} {result.path} -> {result.target}"]
    if result.outcome == Outcome.FAILED:
        parts = [f"{result.outcome} {result.path}"]
    else:
        parts += [result.made] if result.made else []
    parts += result.failures
    if result.outcome != Outcome.SKIPPED:
        parts.append(f"{result.seconds:.1f} s")
    if result.warnings:
        parts.append(counted(len(result.warnings), "warning"))
    output.write("; ".join(part.replace("\n", " ") for part in parts) + "\n")
    if verbose:
        output.writelines(f"    {warning}\n" for warning in result.warnings)


def _total(found: list[Converted]) -> str:
    """Return the last line: how many files there are of each outcome."""
    from ..scene.convert import Outcome

    counts = {outcome: sum(each.outcome == outcome for each in found) for outcome in Outcome}
    named = {Outcome.DONE: "converted", Outcome.NOTHING: "with nothing to convert"}
    parts = [f"{count} {named.get(outcome, outcome)}" for outcome, count in counts.items() if count]
    return ", ".join(parts) or "no file that can be looked into"


class _Command:
    """What Blender knows of the command while it is registered."""

    handle: Any = None


def register(_package: str) -> None:
    """Register the command."""
    _Command.handle = bpy.utils.register_cli_command(COMMAND, run)


def unregister() -> None:
    """Take it away."""
    bpy.utils.unregister_cli_command(_Command.handle)
    _Command.handle = None
