"""Run-length arrays: literals are taken from the front of one buffer, control bytes from its back."""

from __future__ import annotations

from ..binary import Buffer
from .bits import BitTable, damaged

SHORT = BitTable("run command", 8, (
    (0, 4, "literals", "15 - literal bytes to copy"),
    (4, 4, "fill", "fill bytes"),
))  # fmt: skip

LONG = BitTable("run command of two bytes, less 0x1000", 13, (
    (0, 6, "literals", "literal bytes to copy"),
    (6, 7, "fill", "fill bytes"),
))  # fmt: skip


def expand(commands: Buffer, count: int, offset: int) -> bytes:
    """Carry out run commands that make ``count`` bytes.

    Raises:
        FormatError: literals and control bytes do not meet, or make another number of bytes.
    """
    out = bytearray()
    front, back, fill = 0, len(commands), b"\0"
    while front < back:
        back -= 1
        control = commands[back]
        if control == 1:
            fill = bytes(commands[front : front + 1])
            front += 1
            continue
        if control == 0 or control >= 0x30:
            literals, filled = SHORT.split(control)
            literals = 15 - literals
        else:
            back -= 1
            if back < front:
                break
            literals, filled = _long(control << 8 | commands[back])
        if literals > back - front or len(out) + literals + filled > count:
            raise damaged("run lengths that are too long", offset)
        out += commands[front : front + literals]
        out += fill * filled
        front += literals
    if front != back or len(out) != count:
        raise damaged("run lengths that end elsewhere", offset)
    return bytes(out)


def _long(value: int) -> tuple[int, int]:
    """Return the literals and the fill bytes of a command of two bytes."""
    if value >= 0x1000:
        literals, filled = LONG.split(value - 0x1000)
        return literals, filled
    if value >= 0x900:
        return 0, (value - 0x8FF) * 128
    return (value - 0x1FF) * 64, 0
