"""The record tables of FLVER2. Offsets called "in the data" count from the header's data offset.

Sources: seed "FLVER nodes and skinning" for nodes, dummies and the skeleton set; the rest found on real files.
"""

from __future__ import annotations

from ..binary import Record

HEADER = Record("FLVER header", 0x80, (
    (0x00, "magic", "S6", "FLVER"),
    (0x06, "endian", "S2", "L = little-endian, B = big-endian"),
    (0x08, "version", "u4", "0x2001A in Sekiro and Elden Ring"),
    (0x0C, "data_offset", "u4", "start of indices and vertices"),
    (0x10, "data_size", "u4", "bytes of indices and vertices, up to the end of the file"),
    (0x14, "dummy_count", "i4", ""),
    (0x18, "material_count", "i4", ""),
    (0x1C, "node_count", "i4", ""),
    (0x20, "mesh_count", "i4", ""),
    (0x24, "buffer_count", "i4", "vertex buffers"),
    (0x28, "bounds_min", "3f4", "of all vertices, posed by their nodes; metres"),
    (0x34, "bounds_max", "3f4", ""),
    (0x40, "true_face_count", "i4", "triangles without motion-blur sets and degenerate ones"),
    (0x44, "total_face_count", "i4", "triangles of all face sets"),
    (0x48, "index_size", "u1", "bits of a vertex index, 0 where each face set says it (from 0x20013 on)"),
    (0x49, "unicode", "u1", "1 = strings are UTF-16, 0 = Shift-JIS"),
    (0x4A, "unk4A", "u1", "bool"),
    (0x4B, "unk4B", "u1", "bool"),
    (0x4C, "unk4C", "i4", "0"),
    (0x50, "face_set_count", "i4", ""),
    (0x54, "layout_count", "i4", ""),
    (0x58, "texture_count", "i4", ""),
    (0x5C, "unk5C", "u1", "0 in Elden Ring"),
    (0x5D, "unk5D", "u1", "2 in Elden Ring"),
    (0x5E, "unk5E", "V2", "0"),
    (0x60, "unk60", "V8", "0"),
    (0x68, "unk68", "i2", "0 to 5; 5 changes the length of a GX list's end"),
    (0x6A, "special", "i2", "-32768 in SpeedTree models, whose bounds are those of a placed instance"),
    (0x6C, "unk6C", "V8", "0"),
    (0x74, "unk74", "i4", "0 or 0x10"),
    (0x78, "unk78", "V8", "0"),
))  # fmt: skip

DUMMY = Record("dummy", 0x40, (
    (0x00, "position", "3f4", "metres, in the space of the parent node"),
    (0x0C, "color", "4u1", "alpha, red, green, blue (blue, green, red, alpha in version 0x20010)"),
    (0x10, "forward", "3f4", "in the space of the parent node, not always of unit length"),
    (0x1C, "reference_id", "i2", "the number that game params and scripts use; repeats are usual"),
    (0x1E, "parent", "i2", "node whose space holds the dummy, -1 none"),
    (0x20, "upward", "3f4", "in the space of the parent node, not always square to forward"),
    (0x2C, "attach", "i2", "node that the dummy follows, -1 none"),
    (0x2E, "unk2E", "u1", "1 when attach is set, in models of more than one node"),
    (0x2F, "use_upward", "u1", "1 on every dummy of both games"),
    (0x30, "unk30", "i4", "small"),
    (0x34, "name_crc", "i4", "CRC-32 of the parent node's name (Sekiro on), 0 before"),
    (0x38, "unk38", "V8", "0"),
))  # fmt: skip

MATERIAL = Record("material", 0x20, (
    (0x00, "name_offset", "u4", ""),
    (0x04, "path_offset", "u4", "the .mtd or .matxml"),
    (0x08, "texture_count", "i4", ""),
    (0x0C, "first_texture", "i4", "a material's textures are contiguous"),
    (0x10, "string_size", "i4", "bytes of the material's strings with their ends"),
    (0x14, "gx_offset", "u4", "its GX list, 0 none"),
    (0x18, "index", "i4", "equal for materials of one path in the games' own files, else the running number"),
    (0x1C, "unk1C", "i4", "0"),
))  # fmt: skip

TEXTURE = Record("texture", 0x20, (
    (0x00, "path_offset", "u4", "often an empty string in Elden Ring, where the material's file holds the path"),
    (0x04, "type_offset", "u4", "the sampler's name"),
    (0x08, "scale", "2f4", ""),
    (0x10, "tiling", "2u1", "U, V: 0 none, 1 repeat, 2 mirror, 3 clamp, 4 border, 5 mirror once"),
    (0x12, "unk12", "V2", "0"),
    (0x14, "unk14", "3f4", "0"),
))  # fmt: skip

NODE = Record("node", 0x80, (
    (0x00, "translation", "3f4", "metres, in the parent's space"),
    (0x0C, "name_offset", "u4", ""),
    (0x10, "rotation", "3f4", "Euler angles x, y, z in radians, applied X, Z, Y"),
    (0x1C, "parent", "i2", "-1 = root"),
    (0x1E, "first_child", "i2", "-1 = none"),
    (0x20, "scale", "3f4", ""),
    (0x2C, "next_sibling", "i2", "-1 = none"),
    (0x2E, "previous_sibling", "i2", "-1 = none"),
    (0x30, "bounds_min", "3f4", "node space; the largest float where no vertex is bound"),
    (0x3C, "flags", "i4", "1 unused, 2 a dummy names it; 4 and 8 are not explained"),
    (0x40, "bounds_max", "3f4", "node space; minus the largest float where no vertex is bound"),
    (0x4C, "unk4C", "V52", "0"),
))  # fmt: skip

MESH = Record("mesh", 0x30, (
    (0x00, "dynamic", "u1", "1 = skinned, in bind space; 0 = each vertex in the space of one node"),
    (0x01, "unk01", "V3", "0"),
    (0x04, "material", "i4", "index of its material"),
    (0x08, "unk08", "V8", "0"),
    (0x10, "node", "i4", "the mesh's own node"),
    (0x14, "palette_count", "i4", "0 = vertices name nodes directly"),
    (0x18, "bounds_offset", "u4", "0 = none"),
    (0x1C, "palette_offset", "u4", "i32 node indices"),
    (0x20, "face_set_count", "i4", ""),
    (0x24, "face_sets_offset", "u4", "i32 face set indices"),
    (0x28, "buffer_count", "i4", "1; 2 or 3 for cloth"),
    (0x2C, "buffers_offset", "u4", "i32 vertex buffer indices"),
))  # fmt: skip

BOX_BOUNDS = Record("mesh bounds", 0x18, (
    (0x00, "min", "3f4", ""),
    (0x0C, "max", "3f4", ""),
))  # fmt: skip

ORIENTED_BOUNDS = Record("oriented mesh bounds", 0x24, (
    (0x00, "half_extents", "3f4", "of the stored positions, before any node transform"),
    (0x0C, "rotation", "3f4", "Euler angles x, y, z in radians, applied Z, X, Y (box to model)"),
    (0x18, "center", "3f4", ""),
))  # fmt: skip

FACE_SET = Record("face set", 0x20, (
    (0x00, "flags", "u4", "see FaceSetFlags; 0 is LOD 0"),
    (0x04, "strip", "u1", "1 = triangle strip, 0 = list"),
    (0x05, "cull_back", "u1", "bool"),
    (0x06, "unk06", "i2", "varies"),
    (0x08, "index_count", "i4", ""),
    (0x0C, "offset", "u4", "in the data"),
    (0x10, "size", "u4", "bytes of the indices"),
    (0x14, "unk14", "i4", "0"),
    (0x18, "index_size", "i4", "bits: 16 or 32, 0 = as the header says"),
    (0x1C, "unk1C", "i4", "0"),
))  # fmt: skip

SHORT_FACE_SET = Record("short face set", 0x10, FACE_SET.rows[:6])

BUFFER = Record("vertex buffer", 0x20, (
    (0x00, "slot", "i4", "0, 1, 2 in the mesh; 0x60000000 marks edge compression"),
    (0x04, "layout", "i4", "index of its layout"),
    (0x08, "vertex_size", "i4", "bytes"),
    (0x0C, "vertex_count", "i4", ""),
    (0x10, "unk10", "V8", "0"),
    (0x18, "size", "u4", "bytes of the vertices"),
    (0x1C, "offset", "u4", "in the data"),
))  # fmt: skip

LAYOUT = Record("buffer layout", 0x10, (
    (0x00, "member_count", "i4", ""),
    (0x04, "unk04", "V8", "0"),
    (0x0C, "members_offset", "u4", ""),
))  # fmt: skip

MEMBER = Record("layout member", 0x14, (
    (0x00, "stream", "i2", "the buffer's slot"),
    (0x02, "special", "i2", "-32768 = not stored in the vertex (SpeedTree)"),
    (0x04, "offset", "i4", "in the vertex"),
    (0x08, "type", "u4", "see vertex formats"),
    (0x0C, "semantic", "u4", "see Semantic"),
    (0x10, "index", "i4", "the n-th of its semantic"),
))  # fmt: skip

SKELETON_SET = Record("skeleton set", 0x20, (
    (0x00, "base_count", "i2", "entries of the first list"),
    (0x02, "all_count", "i2", "entries of the second list"),
    (0x04, "base_offset", "u4", ""),
    (0x08, "all_offset", "u4", ""),
    (0x0C, "unk0C", "V20", "0"),
))  # fmt: skip

SKELETON_ENTRY = Record("skeleton entry", 0x10, (
    (0x00, "parent", "i2", "index in the same list, -1 none"),
    (0x02, "first_child", "i2", ""),
    (0x04, "next_sibling", "i2", ""),
    (0x06, "previous_sibling", "i2", ""),
    (0x08, "node", "i4", "the node it stands for"),
    (0x0C, "unk0C", "i4", "0"),
))  # fmt: skip

GX_ITEM = Record("GX item", 0x0C, (
    (0x00, "id", "V4", "four characters, such as GX00"),
    (0x04, "unk04", "i4", "varies with the id"),
    (0x08, "size", "i4", "bytes with these 12"),
))  # fmt: skip
