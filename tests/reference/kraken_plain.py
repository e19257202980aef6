"""A plain Kraken decoder: one bit, one symbol and one command at a time, in the order of the format.

It shares nothing with `addon.codec.kraken`, so that the two can be held against each other.
"""

from __future__ import annotations

from tests.reference.kraken_plain_arrays import MalformedError, Msb, array, need

__all__ = ["MalformedError", "decode"]

# LZ chunks


def long_length(bits):
    c = bits.zeros(12)
    return bits.take(c + 7) - 64


def distances(codes, low, scale, streams):
    out = []
    for index, code in enumerate(codes):
        bits = streams[index & 1]
        if scale is None and code < 0xF0:
            k = (code >> 4) + 4
            out.append(((1 << k) + bits.take(k) << 4) + (code & 15) - 248)
        elif scale is None:
            k = code - 0xF0 + 4 + 12
            out.append(8322816 + (1 << k) + bits.take(k))
        else:
            k = code >> 3
            need(k <= 26, "offset code")
            value = (8 + (code & 7) << k) + bits.take(k) - 8
            out.append(value * scale + low[index] if scale >= 2 else value)
    return out


def lz_chunk(data, mode, out, base, count):
    """Decode one LZ chunk of ``count`` bytes behind ``out``."""
    need(len(data) >= 13, "LZ chunk")
    end = len(out) + count
    excess = None
    if len(out) == base:
        out += data[:8]
        data = data[8:]
    if data[0] & 0x80:
        need(data[0] >> 6 == 2, "excess flag")
        size, used = data[0] & 63, 1
        if size > 31:
            need(len(data) >= 2, "excess flag")
            size, used = size + data[1] * 32, 2
        data = data[used:]
        need(size <= len(data), "excess flag")
        excess = data[len(data) - size :]
        data = data[: len(data) - size]
    literals, used = array(data, count)
    data = data[used:]
    commands, used = array(data, count)
    data = data[used:]
    need(len(data) >= 3, "LZ chunk ends too early")
    scale = None
    if data[0] & 0x80:
        scale = data[0] - 127
        data = data[1:]
    codes, used = array(data, len(commands))
    data = data[used:]
    low = b""
    if scale is not None and scale >= 2:
        low, used = array(data, len(codes))
        need(len(low) == len(codes), "low offsets")
        data = data[used:]
    packed, used = array(data, count >> 2)
    data = data[used:]
    forward, backward = streams = Msb(data), Msb(data[::-1])
    longs = packed.count(255)
    if excess is None:
        c = backward.zeros(18)
        need(backward.take(c + 1) - 1 == longs and longs <= 512, "long lengths")
    offsets = distances(codes, low, scale, streams)
    source = streams if excess is None else (Msb(excess), Msb(excess[::-1]))
    long = [long_length(source[k & 1]) for k in range(longs)]
    need(forward.used() + backward.used() == len(data), "bit streams do not meet")
    if excess is not None:
        need(source[0].used() + source[1].used() == len(excess), "excess streams do not meet")
    rest = iter(long)
    lengths = [size + 3 + (next(rest) if size == 255 else 0) for size in packed]
    run_commands(commands, literals, offsets, lengths, mode, out, base, end)


def run_commands(commands, literals, offsets, lengths, mode, out, base, end):
    recent = [8, 8, 8]
    literal = offset = length = 0
    for command in commands:
        run, size, slot = command & 3, (command >> 2 & 15) + 2, command >> 6
        if run == 3:
            need(length < len(lengths), "lengths")
            run = lengths[length]
            length += 1
        if size == 17:
            need(length < len(lengths), "lengths")
            size = 14 + lengths[length]
            length += 1
        need(literal + run <= len(literals) and len(out) + run + size <= end, "command too long")
        copy_literals(literals[literal : literal + run], mode, recent[0], out)
        literal += run
        if slot == 3:
            need(offset < len(offsets), "offsets")
            recent.insert(0, offsets[offset])
            offset += 1
            recent.pop()
        else:
            recent.insert(0, recent.pop(slot))
        copy_match(recent[0], size, out, base)
    need(offset == len(offsets) and length == len(lengths), "offsets or lengths left")
    need(len(literals) - literal == end - len(out), "literals left")
    copy_literals(literals[literal:], mode, recent[0], out)


def copy_literals(literals, mode, distance, out):
    if mode == 1:
        out += literals
        return
    for value in literals:
        out.append(value + out[-distance] & 255)


def copy_match(distance, size, out, base):
    start = len(out) - distance
    need(distance >= 8 and start >= base, "distance")
    if size <= distance:
        out += out[start : start + size]
    else:
        out += (out[start:] * (size // distance + 1))[:size]


# blocks


def kraken_quantum(data, out, base, count, checksum):
    """Decode one quantum of ``count`` bytes; return the bytes used."""
    need(len(data) >= 4, "quantum header")
    head = int.from_bytes(data[:3], "big")
    if head & 0x3FFFF == 0x3FFFF:
        need(head >> 18 == 1, "special quantum")
        out += data[3:4] * count
        return 4
    size = (head & 0x3FFFF) + 1
    at = 6 if checksum else 3
    need(size <= count and at + size <= len(data), "quantum size")
    body = data[at : at + size]
    if size == count:
        out += body
        return at + size
    end = len(out) + count
    while len(out) < end:
        body = chunk(body, out, base, min(0x20000, end - len(out)))
    need(not body, "bytes behind the chunks")
    return at + size


def chunk(data, out, base, count):
    """Decode one chunk; return what follows it."""
    need(len(data) >= 4, "chunk header")
    head = int.from_bytes(data[:3], "big")
    if not head >> 23:
        part, used = array(data, count)
        need(len(part) == count, "chunk size")
        out += part
        return data[used:]
    size, mode = head & 0x7FFFF, head >> 19 & 15
    need(size + 3 <= len(data), "chunk size")
    if size < count:
        need(mode <= 1, "chunk mode")
        lz_chunk(data[3 : 3 + size], mode, out, base, count)
    else:
        need(size == count and mode == 0, "chunk size")
        out += data[3 : 3 + size]
    return data[3 + size :]


def small_quantum(data, out, base, count, checksum):
    """Decode one LZB16 quantum; return the bytes used."""
    need(len(data) >= 2, "quantum header")
    head = data[0] << 8 | data[1]
    if head & 0x3FFF == 0x3FFF:
        kind = head >> 14
        if kind == 1:
            need(len(data) >= 3, "quantum header")
            out += data[2:3] * count
            return 3
        need(kind == 2 and len(data) >= 2 + count, "special quantum")
        out += data[2 : 2 + count]
        return 2 + count
    size = (head & 0x3FFF) + 1
    at = 5 if checksum else 2
    need(size <= count and at + size <= len(data), "quantum size")
    body = data[at : at + size]
    if size == count:
        out += body
    else:
        lzb(body, out, base, len(out) + count)
    return at + size


def lzb(data, out, base, end):
    at = 0

    def byte():
        nonlocal at
        need(at < len(data), "LZB16 ends too early")
        at += 1
        return data[at - 1]

    while True:
        token = byte()
        run = token & 15
        if run == 15:
            more = byte()
            need(more < 255, "long literal run")
            run += more
        need(at + run <= len(data) and len(out) + run <= end, "literals")
        out += data[at : at + run]
        at += run
        if at == len(data):
            break
        code = token >> 4
        if code < 15:
            distance = byte() | byte() << 8
            size = code + 4
        else:
            b = byte()
            if b & 0x80:
                distance, size = b & 7, 4 + (b >> 3 & 15)
                if b >> 3 & 15 == 15:
                    size += byte()
            else:
                need(b < 0x7F, "long match")
                distance, size = byte() | byte() << 8, 19 + b
        need(1 <= distance <= len(out) - base and len(out) + size <= end, "match")
        for _ in range(size):
            out.append(out[-distance])
    need(len(out) == end, "LZB16 size")


def decode(payload, size):
    """Decode a whole payload to ``size`` bytes; zeros may follow it."""
    out = bytearray()
    data = bytes(payload)
    at = base = 0
    while len(out) < size:
        need(len(data) - at >= 2, "block header")
        first, second = data[at], data[at + 1]
        need(first & 0x3F == 0x0C, "block header")
        at += 2
        if first & 0x80 or not out:
            base = len(out)
        codec, count = second & 0x7F, min(0x40000, size - len(out))
        if first & 0x40:
            need(codec in (2, 6, 7) and len(data) - at >= count, "uncompressed block")
            out += data[at : at + count]
            at += count
            continue
        need(codec in (2, 6), "codec")
        if codec == 6:
            at += kraken_quantum(data[at : at + 0x40006], out, base, count, second >> 7)
            continue
        end = len(out) + count
        while len(out) < end:
            at += small_quantum(data[at : at + 0x4005], out, base, min(0x4000, end - len(out)), second >> 7)
    need(not any(data[at:]), "bytes behind the stream")
    return bytes(out)
