"""Where indices and vertices stand in the data of a file."""

from __future__ import annotations

from .parts import Mesh, Packing

GROUP_ALIGNMENT = 16  # of each group of lists that tables point to
# the way of the tools that put all indices first
TOOL_PACKING = Packing(indices_first=True, index_alignment=1, mesh_alignment=32, buffer_alignment=32, data_alignment=32)


def own_packing(version: int) -> Packing:
    """Return the way of the games: 16 as found on real files; 32 before, as other writers of those versions have it."""
    if version <= 0x2000E:
        return Packing(index_alignment=32, mesh_alignment=32, buffer_alignment=32, data_alignment=32)
    return Packing(data_alignment=32) if version <= 0x20010 else Packing()


def packing_of(meshes: list[Mesh], starts: list[int], version: int) -> Packing:
    """Return the way that puts indices and vertices where a file has them, else the games'.

    Args:
        meshes: the meshes of the file.
        starts: offsets in its data of all face sets, then of all buffers.
        version: of the file.
    """
    own = own_packing(version)
    return TOOL_PACKING if place(meshes, own)[0] != starts == place(meshes, TOOL_PACKING)[0] else own


def place(meshes: list[Mesh], packing: Packing) -> tuple[list[int], int]:
    """Return where each face set's indices and each buffer's vertices stand, and where they end.

    Args:
        meshes: the meshes of a model.
        packing: the way to lay them out.

    Returns:
        Offsets in the data of all face sets, mesh by mesh, then of all buffers; and the size of the data.
    """
    index_offsets: list[int] = []
    buffer_offsets: list[int] = []
    end = 0

    def put(size: int, alignment: int, offsets: list[int]) -> None:
        nonlocal end
        end += -end % alignment
        offsets.append(end)
        end += size

    def put_buffers(mesh: Mesh) -> None:
        for buffer in mesh.buffers:
            put(buffer.data.nbytes, packing.buffer_alignment, buffer_offsets)

    for mesh in meshes:
        for i, face_set in enumerate(mesh.face_sets):
            alignment = packing.index_alignment if i else packing.mesh_alignment
            put(face_set.indices.nbytes, alignment, index_offsets)
        if not packing.indices_first:
            put_buffers(mesh)
    if packing.indices_first:
        for mesh in meshes:
            put_buffers(mesh)
    return index_offsets + buffer_offsets, end + -end % packing.data_alignment
