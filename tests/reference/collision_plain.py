"""A plain decoder of compressed meshes: one primitive, one vertex, one number at a time, as seed 003 words it.

It shares no code with `addon.codec.havok.collision`; it reads members through the tagfile's views.
"""

from __future__ import annotations

import numpy as np

F = np.float32


def shapes(tag):
    return list(tag.find("hknpCompressedMeshShape"))


def sections(tree):
    """Yield for each section its runs as plain numbers, whichever SDK names them."""
    views = list(tree.many("sections"))
    for place, view in enumerate(views):
        codec = [F(x) for x in view["codecParms"]]
        if "firstPackedVertexIndex" in view:
            later = [int(each["firstSharedVertexIndex"]) for each in views[place + 1 :]]
            first = int(view["firstSharedVertexIndex"])
            end = later[0] if later else len(tree["sharedVerticesIndex"])
            yield {
                "codec": codec, "packed": (int(view["firstPackedVertexIndex"]), int(view["numPackedVertices"])),
                "shared": (first, end - first), "page": int(view["page"]),
                "primitives": (int(view["firstPrimitiveIndex"]), int(view["numPrimitives"])),
            }  # fmt: skip
        else:
            word = int(view["primitives"]["data"])
            yield {
                "codec": codec, "packed": (int(view["firstPackedVertex"]), int(view["numPackedVertices"])),
                "shared": (int(view["sharedVertices"]["data"]) >> 8, int(view["numSharedIndices"])),
                "page": int(view["page"]), "primitives": (word >> 8, word & 255),
            }  # fmt: skip


def packed(code, codec):
    parts = code & 0x7FF, code >> 11 & 0x7FF, code >> 22
    return tuple(F(F(part) * codec[3 + axis]) + codec[axis] for axis, part in enumerate(parts))


def shared(code, low, high):
    parts = code & 0x1FFFFF, code >> 21 & 0x1FFFFF, code >> 42
    tops = (2097151, 2097151, 4194303)
    steps = [F(F(1) / F(top)) for top in tops]
    return tuple(F(F(part) * F((high[axis] - low[axis]) * steps[axis])) + low[axis] for axis, part in enumerate(parts))


def triangles(shape):
    """Return (key, three corners) of every triangle, and the keys of custom primitives."""
    tree = shape["data"]["meshTree"]
    low, high = ([F(x) for x in tree["domain"][side][:3]] for side in ("min", "max"))
    codes, long_codes = tree["packedVertices"].tolist(), tree["sharedVertices"].tolist()
    index, stored = tree["sharedVerticesIndex"].tolist(), tree["primitives"]["indices"].tolist()
    found, custom = [], []
    for number, section in enumerate(sections(tree)):
        first_packed, count = section["packed"]

        def vertex(slot, section=section, first_packed=first_packed, count=count):
            if slot < count:
                return packed(codes[first_packed + slot], section["codec"])
            place = section["page"] * 65536 + index[section["shared"][0] + slot - count]
            return shared(long_codes[place], low, high)

        first, many = section["primitives"]
        for place in range(many):
            a, b, c, d = stored[first + place]
            key = number << 8 | place << 1
            if (a, b, c, d) == (0xDE, 0xAD, 0xDE, 0xAD):
                continue
            if b == d:
                custom.append(key)
                continue
            found.append((key, (vertex(a), vertex(b), vertex(c))))
            if c != d:
                found.append((key | 1, (vertex(a), vertex(c), vertex(d))))
    return found, custom


def materials(shape):
    """Return the material of each key that a row names."""
    if "triangleIndexToShapeKey" not in shape or shape["pParam"] is None:
        return {}
    bits, table = int(shape["numShapeKeyBits"]), shape["pParam"]
    rows = table["triangleDataArray"]["primitiveDataIndex"].tolist()
    names = table["primitiveDataArray"]["materialNameData"].tolist()
    words = shape["triangleIndexToShapeKey"].tolist()
    return {word >> (32 - bits): names[rows[row]] for row, word in enumerate(words)}
