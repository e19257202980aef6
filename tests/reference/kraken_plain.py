"""A plain Kraken decoder: one bit, one symbol and one command at a time, in the order of the format.

It shares nothing with `addon.codec.kraken`, so that the two can be held against each other.
"""

from __future__ import annotations


class MalformedError(Exception):
    """The stream is not legal."""


def need(condition, what):
    if not condition:
        raise MalformedError(what)


class Msb:
    """Bits from the top of each byte down; zeros behind the end."""

    def __init__(self, data):
        self.data = data
        self.pos = 0

    def take(self, count):
        first = self.pos >> 3
        self.pos += count
        last = (self.pos + 7) >> 3
        chunk = self.data[first:last]
        value = int.from_bytes(chunk, "big") << 8 * (last - first - len(chunk))
        return value >> (8 * last - self.pos) & ((1 << count) - 1)

    def zeros(self, most):
        """Skip the zeros before the next 1, which stays; at most ``most`` of them are legal."""
        count = 0
        while not self.take(1):
            count += 1
            need(count <= most, "too many zero bits")
        self.pos -= 1
        return count

    def unary(self, most):
        count = self.zeros(most)
        self.pos += 1
        return count

    def used(self):
        need((self.pos + 7) >> 3 <= len(self.data), "bits end too early")
        return (self.pos + 7) >> 3


class Lsb:
    """Bits from the bottom of each byte up; zeros behind the end."""

    def __init__(self, data):
        self.size = len(data)
        self.data = bytes(data) + bytes(8)
        self.pos = 0

    def take(self, count):
        at = self.pos >> 3
        word = int.from_bytes(self.data[at : at + 4], "little")
        value = word >> (self.pos & 7) & ((1 << count) - 1)
        self.pos += count
        return value

    def used(self):
        return (self.pos + 7) >> 3


def zigzag(value):
    return value >> 1 ^ -(value & 1)


def truncated_p(bits, count):
    """The number of range values that follow the ``count`` values of a symbol table."""
    if count == 256:
        return 0
    span = 2 * min(257 - count, count)
    width = (span - 1).bit_length()
    spare = (1 << width) - span
    value = bits.take(width)
    if value >> 1 >= spare:
        return value - spare
    bits.pos -= 1
    return value >> 1


def symbol_ranges(bits, count, unaries):
    """The ``count`` symbols a table of the new form covers, ascending."""
    numbers = iter(unaries)

    def gap():
        q = next(numbers)
        need(q <= 7, "range gap")
        return bits.take(q + 1) + (1 << (q + 1)) - 1

    symbols = []
    symbol = gap() if len(unaries) & 1 else 0
    for _ in range(len(unaries) >> 1):
        q = next(numbers)
        need(q <= 8, "range run")
        run = bits.take(q) + (1 << q)
        symbols += range(symbol, symbol + run)
        symbol += run + gap()
    left = count - len(symbols)
    need(symbol < 256 and left >= 1 and symbol + left <= 256, "symbol ranges")
    return [*symbols, *range(symbol, symbol + left)]


# Huffman


def sparse_lengths(bits):
    count = bits.take(8)
    need(count, "empty table")
    if count == 1:
        return [(bits.take(8), 0)]
    width = bits.take(3)
    need(width <= 4, "width of lengths")
    return [(bits.take(8), bits.take(width) + 1) for _ in range(count)]


def dense_lengths(bits):
    def gamma():
        c = bits.zeros(7)
        return bits.take(c + 2) - 1

    low = bits.take(2)
    skip = bits.take(1)
    symbol, average, lengths = 0, 32, []
    while True:
        if skip:
            skip = 0
        else:
            symbol += gamma()
            if symbol >= 256:
                break
        run = gamma()
        need(symbol + run <= 256, "too many symbols")
        for _ in range(run):
            q = bits.unary(20 >> low)
            length = zigzag(q << low | bits.take(low)) + ((average + 2) >> 2)
            average = length + ((3 * average + 2) >> 2)
            lengths.append((symbol, length))
            need(1 <= length <= 11, "code length")
            symbol += 1
        if symbol == 256:
            break
    need(symbol == 256 and len(lengths) >= 2, "symbols of a dense table")
    return lengths


def new_lengths(bits):
    low = bits.take(2)
    count = bits.take(8) + 1
    ranges = truncated_p(bits, count)
    unaries = [bits.unary(4000) for _ in range(count + ranges)]
    values = [q << low | bits.take(low) for q in unaries[:count]]
    running, lengths = 30, []
    for value in values:
        delta = zigzag(value)
        lengths.append(delta + (running >> 2) + 1)
        running += delta
        need(count == 1 or 1 <= lengths[-1] <= 11, "code length")
    return list(zip(symbol_ranges(bits, count, unaries[count:]), lengths, strict=True))


def huffman_table(data):
    """Return (entries, bytes used): 2048 pairs (symbol, length), or one symbol for the whole output."""
    bits = Msb(data)
    if bits.take(1):
        need(not bits.take(1), "table form 3")
        pairs = new_lengths(bits)
    else:
        pairs = dense_lengths(bits) if bits.take(1) else sparse_lengths(bits)
    used = bits.used()
    if len(pairs) == 1:
        return pairs[0][0], used
    entries = [None] * 2048
    code = 0
    for symbol, length in sorted(pairs, key=lambda pair: pair[1]):
        need(1 <= length <= 11 and code + (2048 >> length) <= 2048, "code lengths")
        for index in range(code, code + (2048 >> length)):
            entries[int(f"{index:011b}"[::-1], 2)] = (symbol, length)
        code += 2048 >> length
    need(code == 2048, "code lengths")
    return entries, used


def huffman_stream(data, count, entries):
    """Decode ``count`` symbols; return them and the bytes used."""
    size = len(data)
    data = bytes(data) + bytes(3)
    out = bytearray(count)
    pos = 0
    limit = 8 * size
    for index in range(count):
        at = pos >> 3
        need(pos < limit, "code stream ends too early")
        symbol, length = entries[(data[at] | data[at + 1] << 8 | data[at + 2] << 16) >> (pos & 7) & 2047]
        out[index] = symbol
        pos += length
    need(pos <= limit, "code stream ends too early")
    return out, (pos + 7) >> 3


def three_streams(data, count, entries):
    need(len(data) >= 2, "stream size")
    first = int.from_bytes(data[:2], "little")
    need(first <= len(data) - 2, "stream size")
    rest = data[2 + first :]
    out = bytearray(count)
    out[0::3], used = huffman_stream(data[2 : 2 + first], (count + 2) // 3, entries)
    need(used == first, "forward stream")
    out[1::3], back = huffman_stream(rest[::-1], (count + 1) // 3, entries)
    out[2::3], middle = huffman_stream(rest, count // 3, entries)
    need(back + middle == len(rest), "streams do not meet")
    return bytes(out)


def huffman(data, count, halves):
    entries, used = huffman_table(data)
    if isinstance(entries, int):
        return bytes([entries]) * count
    data = data[used:]
    if not halves:
        need(len(data) >= 3, "streams")
        return three_streams(data, count, entries)
    need(len(data) >= 6, "streams")
    size = int.from_bytes(data[:3], "little")
    need(2 <= size <= len(data) - 6, "half")
    half = (count + 1) >> 1
    return three_streams(data[3 : 3 + size], half, entries) + three_streams(data[3 + size :], count - half, entries)


# tANS


def tans_weights(bits, log):
    total = 1 << log
    if bits.take(1):
        q = bits.take(3)
        count = bits.take(8) + 1
        need(count >= 2, "one symbol")
        ranges = truncated_p(bits, count)
        unaries = [bits.unary(4000) for _ in range(count + ranges)]
        symbols = symbol_ranges(bits, count, unaries[count:])
        average, weights = 6, []
        for unary in unaries[:count]:
            e = q + unary
            need(e <= 15, "weight")
            value = bits.take(e) + (1 << e) - (1 << q)
            half = average >> 2
            limit = 2 * half
            if value <= limit:
                value = half + zigzag(value)
            limit = min(limit, value)
            weights.append(value + 1)
            average += limit - half
            need(weights[-1] >= 1, "weight")
        need(sum(weights) == total, "weights")
        return list(zip(symbols, weights, strict=True))
    count = bits.take(3) + 1
    width = bits.take(4)
    need(1 <= width <= log, "width of weights")
    weight, weights = 0, {}
    for _ in range(count):
        symbol = bits.take(8)
        weight += bits.take(width)
        need(weight and symbol not in weights, "weight")
        weights[symbol] = weight
    symbol = bits.take(8)
    last = total - sum(weights.values())
    need(symbol not in weights and last >= weight and last >= 2, "last weight")
    weights[symbol] = last
    return sorted(weights.items())


def tans_table(weights, log):
    """L entries (symbol, bits, add)."""
    quarters = [[], [], [], []]
    singles = [symbol for symbol, weight in weights if weight == 1]
    before = 0
    for symbol, weight in weights:
        if weight == 1:
            continue
        c = weight
        for j in range(4):
            for _ in range((weight + ((before - j - 1) & 3)) >> 2):
                count = log - (c.bit_length() - 1)
                quarters[j].append((symbol, count, (c << count) - (1 << log)))
                c += 1
        before += weight
    return [*quarters[0], *quarters[1], *quarters[2], *quarters[3], *((symbol, log, 0) for symbol in singles)]


def tans(data, count):
    need(len(data) >= 8 and count >= 5, "tANS sizes")
    bits = Msb(data)
    need(not bits.take(1), "tANS table")
    log = 8 + bits.take(2)
    table = tans_table(tans_weights(bits, log), log)
    rest = data[bits.used() :]
    forward, backward = Lsb(rest), Lsb(rest[::-1])
    states = [(backward if k & 1 else forward).take(log) for k in range(5)]
    out = bytearray()
    for index in range(count - 5):
        stream = backward if index // 5 & 1 else forward
        symbol, width, add = table[states[index % 5]]
        out.append(symbol)
        states[index % 5] = add + stream.take(width)
        need(stream.pos <= 8 * len(rest), "tANS stream ends too early")
    need(max(states) < 256, "final states")
    need(forward.used() + backward.used() == len(rest), "tANS streams do not meet")
    return bytes(out) + bytes(states)


# run lengths and composites


def runs(data, count, depth):
    need(data, "empty run lengths")
    if len(data) == 1:
        return bytes(data) * count
    if data[0] == 0:
        commands = data[1:]
    else:
        prefix, used = array(data, 1 << 18, depth)
        commands = prefix + bytes(data[used:])
    out = bytearray()
    front, back, fill = 0, len(commands), 0
    while front < back:
        back -= 1
        x = commands[back]
        literals = filled = 0
        if x == 1:
            need(front < back, "cursors cross")
            fill = commands[front]
            front += 1
        elif x == 0 or x >= 0x30:
            literals, filled = 15 - (x & 15), x >> 4
        else:
            back -= 1
            need(front <= back, "cursors cross")
            v = x << 8 | commands[back]
            if x >= 0x10:
                literals, filled = (v - 0x1000) & 63, (v - 0x1000) >> 6
            elif x >= 9:
                filled = (v - 0x8FF) * 128
            else:
                literals = (v - 0x1FF) * 64
        need(literals <= back - front and len(out) + literals + filled <= count, "run lengths overflow")
        out += commands[front : front + literals]
        front += literals
        out += bytes([fill]) * filled
    need(front == back and len(out) == count, "run lengths end elsewhere")
    return bytes(out)


def composite(data, count, depth):
    need(len(data) >= 6, "composite size")
    head = data[0]
    amount = head & (0x3F if head & 0x80 else 0x7F)
    need(head & 0x7F >= 2, "composite of fewer than two")
    at, left, parts = 1, count, []
    for _ in range(amount):
        part, used = array(data[at:], left, depth)
        parts.append(part)
        left -= len(part)
        at += used
    need(left == 0, "composite size")
    if not head & 0x80:
        need(at == len(data), "bytes behind a composite")
        return b"".join(parts)
    return interleaved(data[at:], parts, count, depth)


def interleaved(data, parts, count, depth):
    need(len(data) >= 3, "interleaving")
    q = data[0] | data[1] << 8
    indexes, used = array(data[2:], count + 1, depth)
    at = 2 + used
    need(len(indexes) >= 2, "interleaving")
    if q & 0x8000:
        logs = [index >> 4 for index in indexes]
        indexes = [index & 15 for index in indexes]
    else:
        logs, used = array(data[at:], len(indexes) - 1, depth)
        at += used
        need(len(logs) == len(indexes) - 1 and max(logs) <= 16, "interval logs")
    need(len(data) - at == q & 0x3FFF, "interval bits")
    bits = data[at:]
    streams = Msb(bits), Msb(bits[::-1])
    intervals = [(1 << log) + streams[k & 1].take(log) for k, log in enumerate(logs)]
    need(streams[0].used() + streams[1].used() <= len(bits), "interval bits")
    taken = [0] * len(parts)
    out = bytearray()
    need(indexes[-1] == 0, "interleaving has no end")
    for index, size in zip(indexes[:-1], intervals, strict=False):
        need(1 <= index <= len(parts), "interleaved index")
        start = taken[index - 1]
        need(start + size <= len(parts[index - 1]), "interval too long")
        out += parts[index - 1][start : start + size]
        taken[index - 1] += size
    need(taken == [len(part) for part in parts], "interleaved bytes left")
    return bytes(out)


def array(data, cap, depth=0):
    """Decode the array at the start of ``data``; return its bytes and the bytes used."""
    need(depth <= 8, "nested too deep")
    need(len(data) >= 2, "array header")
    kind = data[0] >> 4 & 7
    short = data[0] >> 7
    need(kind <= 5, "array type")
    size = (2 if short else 3) if kind == 0 else (3 if short else 5)
    need(len(data) >= size, "array header")
    head = int.from_bytes(data[:size], "big")
    if kind == 0:
        stored = count = head & 0xFFF if short else head
        need(stored < 1 << 18, "array size")
    elif short:
        stored = head & 0x3FF
        count = stored + (head >> 10 & 0x3FF) + 1
    else:
        stored = head & 0x3FFFF
        count = (head >> 18 & 0x3FFFF) + 1
        need(stored < count, "array size")
    need(count <= cap and size + stored <= len(data), "array size")
    body = data[size : size + stored]
    if kind == 0:
        out = bytes(body)
    elif kind == 1:
        out = tans(body, count)
    elif kind in (2, 4):
        out = huffman(body, count, kind == 4)
    elif kind == 3:
        out = runs(body, count, depth + 1)
    else:
        out = composite(body, count, depth + 1)
    return out, size + stored


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
