"""Kraken streams made to order: LZ chunks with raw arrays, in one quantum a block, Huffman and tANS arrays."""

from __future__ import annotations

from dataclasses import dataclass

from tests.reference.kraken_plain_arrays import tans_table as tans_entries


@dataclass(frozen=True)
class Command:
    """Literals, then a match: so many bytes from so far back."""

    literals: bytes
    size: int
    distance: int


@dataclass(frozen=True)
class Form:
    """How an LZ chunk is written."""

    delta: bool = False
    scale: int = 0
    excess: bool = False


def simulate(window: bytearray, commands: list[Command], tail: bytes) -> None:
    """Append what commands make to the window, byte by byte."""
    for command in commands:
        window += command.literals
        for _ in range(command.size):
            window.append(window[-command.distance])
    window += tail


def block(window: bytearray, commands: list[Command], tail: bytes, form: Form, *, restart: bool) -> bytes:
    """Return a block of one LZ chunk, and append its content to the window.

    The window holds what earlier blocks made; of an empty one the first 8 bytes are made up.
    """
    body, size = _chunk(window, commands, tail, form)
    body = (1 << 23 | (0 if form.delta else 1) << 19 | len(body)).to_bytes(3, "big") + body
    assert len(body) < size <= 0x20000, "an LZ quantum must be smaller than its content"
    return bytes([0x8C if restart else 0x0C, 6]) + (len(body) - 1).to_bytes(3, "big") + body


def _chunk(window: bytearray, commands: list[Command], tail: bytes, form: Form) -> tuple[bytes, int]:
    before = len(window)
    head = b"" if window else b"\x01\x23\x45\x67\x89\xab\xcd\xef"
    window += head
    literals, codes, offsets, low, sides = bytearray(), bytearray(), bytearray(), bytearray(), ["", ""]
    lengths = []
    recent = [8, 8, 8]
    for command in commands:
        place = len(window)
        simulate(window, [command], b"")
        literals += _residue(window, place, command.literals, recent[0], form)
        run, size = min(len(command.literals), 3), min(command.size - 2, 15)
        slot = recent.index(command.distance) if command.distance in recent else 3
        codes.append(slot << 6 | size << 2 | run)
        lengths += [len(command.literals)] * (run == 3) + [command.size - 14] * (size == 15)
        if slot == 3:
            code, bits = _offset(command.distance, form.scale)
            sides[len(offsets) & 1] += bits
            offsets.append(code)
            low.append(command.distance % max(form.scale, 1))
            recent.pop()
        else:
            recent.pop(slot)
        recent.insert(0, command.distance)
    place = len(window)
    window += tail
    literals += _residue(window, place, tail, recent[0], form)
    long = [length - 258 for length in lengths if length >= 258]
    packed = bytes(min(length - 3, 255) for length in lengths)
    flag, excess = b"", b""
    numbers = ["", ""]
    for index, length in enumerate(long):
        digits = f"{length + 64:b}"
        numbers[index & 1] += "0" * (len(digits) - 7) + digits
    if form.excess:
        excess = _meet(numbers)
        flag = bytes([0x80 | 32 | len(excess) & 31, len(excess) - 32 >> 5]) if len(excess) > 31 else b""
        flag = flag or bytes([0x80 | len(excess)])
    else:
        digits = f"{len(long) + 1:b}"
        sides[1] = "0" * (len(digits) - 1) + digits + sides[1]
        sides = [side + number for side, number in zip(sides, numbers, strict=True)]
    parts = [head, flag, _raw(literals), _raw(codes), bytes([form.scale + 127]) if form.scale else b"", _raw(offsets)]
    parts += [_raw(low) if form.scale >= 2 else b"", _raw(packed), _meet(sides), excess]
    return b"".join(parts), len(window) - before


def _residue(window: bytearray, place: int, literals: bytes, distance: int, form: Form) -> bytes:
    if not form.delta:
        return literals
    return bytes(value - window[place + index - distance] & 255 for index, value in enumerate(literals))


def _offset(distance: int, scale: int) -> tuple[int, str]:
    if scale:
        value = distance // scale + 8
        width = value.bit_length() - 4
        return width << 3 | value >> width & 7, _bits(value, width)
    value = distance + 248
    width = (value >> 4).bit_length() - 1
    if width <= 18:
        return width - 4 << 4 | value & 15, _bits(value >> 4, width)
    value = distance - 8322816
    width = value.bit_length() - 1
    return 0xF0 + width - 16, _bits(value, width)


def _bits(value: int, width: int) -> str:
    return f"{value & (1 << width) - 1:0{width}b}" if width else ""


def _raw(data: bytes) -> bytes:
    return len(data).to_bytes(3, "big") + bytes(data)


def _meet(sides: list[str]) -> bytes:
    front, back = (side + "0" * (-len(side) % 8) for side in sides)
    data = [bytes(int(side[at : at + 8], 2) for at in range(0, len(side), 8)) for side in (front, back)]
    return data[0] + data[1][::-1]


def huffman(data: bytes, lengths: dict[int, int], *, halves: bool, dense: int | None = None) -> bytes:
    """Return a Huffman array; the code lengths have to make a complete code.

    Its table is sparse, or dense with so many low bits.
    """
    table = f"00{len(lengths):08b}100" + "".join(f"{symbol:08b}{length - 1:04b}" for symbol, length in lengths.items())
    if dense is not None:
        table = _dense_table(lengths, dense)
    codes, code = {}, 0
    for symbol, length in sorted(lengths.items(), key=lambda item: item[1]):
        codes[symbol] = f"{code >> 11 - length:0{length}b}"
        code += 2048 >> length
    assert code == 2048, "not a complete code"
    source = _meet([table, ""])
    if halves:
        middle = len(data) + 1 >> 1
        first = _three_streams(data[:middle], codes)
        source += len(first).to_bytes(3, "little") + first + _three_streams(data[middle:], codes)
    else:
        source += _three_streams(data, codes)
    assert len(source) < len(data), "a Huffman array must be smaller than its content"
    return ((4 if halves else 2) << 36 | (len(data) - 1) << 18 | len(source)).to_bytes(5, "big") + source


def _dense_table(lengths: dict[int, int], low_bits: int) -> str:
    text = f"01{low_bits:02b}" + ("1" if 0 in lengths else "0")
    average, symbol = 32, 0
    while symbol < 256:
        gap = next((other for other in range(symbol, 256) if other in lengths), 256) - symbol
        text += _gamma(gap) if gap else ""
        symbol += gap
        run = next((other for other in range(symbol, 256) if other not in lengths), 256) - symbol
        text += _gamma(run) if run else ""
        for length in (lengths[other] for other in range(symbol, symbol + run)):
            change = length - (average + 2 >> 2)
            value = 2 * change if change >= 0 else -2 * change - 1
            text += "0" * (value >> low_bits) + "1" + _bits(value, low_bits)
            average = length + (3 * average + 2 >> 2)
        symbol += run
    return text


def _gamma(value: int) -> str:
    digits = f"{value + 1:b}"
    return "0" * (len(digits) - 2) + digits


def _three_streams(data: bytes, codes: dict[int, str]) -> bytes:
    parts = (data[turn::3] for turn in range(3))
    forward, backward, middle = (_lowest_first("".join(codes[symbol] for symbol in part)) for part in parts)
    return len(forward).to_bytes(2, "little") + forward + middle + backward[::-1]


def tans(data: bytes, weights: dict[int, int], log: int) -> bytes:
    """Return a tANS array; the weights sum to ``1 << log``.

    The table is written in the form for few symbols where there are at most 9, else in the form for the symbols from
    0 on.
    """
    few = len(weights) <= 9
    head = f"0{log - 8:02b}" + (_few_weights(weights, log) if few else _weights(weights))
    entries = {symbol: [] for symbol in weights}
    for number, (symbol, width, add) in enumerate(tans_entries(sorted(weights.items()), log)):
        entries[symbol].append((number, width, add))
    states = list(data[-5:])
    steps = []
    for index in reversed(range(len(data) - 5)):
        state = states[index % 5]
        (entry,) = (entry for entry in entries[data[index]] if 0 <= state - entry[2] < 1 << entry[1])
        states[index % 5], width, add = entry
        steps.append((index // 5 & 1, state - add, width))
    steps += [(index & 1, states[index], log) for index in reversed(range(5))]
    sides = ["", ""]
    for side, value, width in reversed(steps):
        sides[side] += _bits(value, width)[::-1]
    source = _meet([head, ""]) + _lowest_first(sides[0]) + _lowest_first(sides[1])[::-1]
    assert len(source) < len(data), "a tANS array must be smaller than its content"
    return (1 << 36 | (len(data) - 1) << 18 | len(source)).to_bytes(5, "big") + source


def _lowest_first(bits: str) -> bytes:
    return bytes(int(bits[at : at + 8][::-1], 2) for at in range(0, len(bits), 8))


def _few_weights(weights: dict[int, int], log: int) -> str:
    ordered = sorted(weights.items(), key=lambda item: item[1])
    text, before = f"0{len(ordered) - 2:03b}{log:04b}", 0
    for symbol, weight in ordered[:-1]:
        text += f"{symbol:08b}{weight - before:0{log}b}"
        before = weight
    return text + f"{ordered[-1][0]:08b}"


def _weights(weights: dict[int, int]) -> str:
    count, least = len(weights), 2
    span = 2 * min(257 - count, count)
    width = (span - 1).bit_length()
    spare = (1 << width) - span
    text = f"1{least:03b}{count - 1:08b}" + "0" * (0 if count == 256 else width - 1 if spare else width)
    unaries, extra, average = "", "", 6
    for symbol in range(count):
        value, half = weights[symbol] - 1, average >> 2
        change = value - half
        stored = value if value > 2 * half else 2 * change if change >= 0 else -2 * change - 1
        average += min(2 * half, value) - half
        size = (stored + (1 << least)).bit_length() - 1
        unaries += "0" * (size - least) + "1"
        extra += _bits(stored + (1 << least), size)
    return text + unaries + extra
