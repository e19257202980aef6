"""Text that leaves the machine: without the folders and the name of who sends it."""

from __future__ import annotations

import getpass
import os
import re
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

USER, FOLDERS = "<user>", "..."

# A folder's name may hold spaces, so what is taken for one ends at the next separator, and a path at its last.
_WINDOWS = re.compile(r"""(?<![A-Za-z0-9])[A-Za-z]:[\\/]+(?:[^\\/:*?"<>|\r\n]+[\\/]+)*""")
_SHARE = re.compile(r"""\\\\[^\\/:*?"<>|\r\n]+[\\/](?:[^\\/:*?"<>|\r\n]+[\\/]+)*""")
_POSIX = re.compile(r"""(?<![\w.~/])~?/(?=[^\s/])(?:[^/:*?"'<>|\r\n]+/+)*""")


def masked(text: str, names: Iterable[str] | None = None) -> str:
    """Return a text with "..." for the folders of absolute paths, and "<user>" for names wherever they stand.

    What looks like a path is taken for one: rather too much is hidden than too little.

    Args:
        text: lines of a report.
        names: to hide; None for those of the user of this machine.
    """
    for pattern, separator in ((_SHARE, "\\"), (_WINDOWS, "\\"), (_POSIX, "/")):
        text = pattern.sub(lambda _match, separator=separator: FOLDERS + separator, text)
    for name in sorted(user_names() if names is None else names, key=len, reverse=True):
        text = re.sub(rf"(?<![A-Za-z0-9]){re.escape(name)}(?![A-Za-z0-9])", USER, text, flags=re.IGNORECASE)
    return text


def user_names() -> set[str]:
    """Return the names that tell who uses this machine: of the login and of the home folder."""
    found = {os.environ.get(name, "") for name in ("USER", "USERNAME", "LOGNAME")}
    with suppress(OSError, KeyError, RuntimeError, ImportError):  # a user whom the system does not know
        found |= {Path.home().name, getpass.getuser()}
    return {name for name in found if name}
