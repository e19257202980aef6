"""The entropy-coded arrays of the plain Kraken decoder: one bit and one symbol at a time."""

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
        prefix, used = array(data, 2 * count + 64, depth)
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
