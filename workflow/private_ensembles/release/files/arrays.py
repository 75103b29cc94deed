"""Votes in npz and npy files, as NumPy writes them."""

from __future__ import annotations

import math
import zipfile
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from private_ensembles.base import files
from private_ensembles.release.files.columns import FileDescription
from private_ensembles.release.files.tables import (
    CellEncoder,
    EncodedCells,
    MemoryCheck,
    Table,
    encode_rows,
)

# Cells are read in pieces of this many, so that memory stays near that of the votes as codes.
_PIECE = 1 << 20
_VOTE_ARRAYS = ("votes", "counts")
_SIDE_ARRAYS = ("labels", "n_classes", "ids")
# Cells may be booleans, whole numbers, floats or texts.
_CELL_KINDS = "biufSU"
# NumPy packs in these two ways; others have no limit on what they unpack in one step.
_PACKED = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
# A header of numbers ends long before this; that of another array may be of any length.
_HEADER = 1 << 14
_HEADER_READERS = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
}


def read_npz(path: Path, stated: FileDescription, require_memory: MemoryCheck) -> Table:
    """Return what an npz file holds; if it has a single array, that may have any name.

    Args:
        path: An npz file with votes or counts, and perhaps labels, ids and n_classes.
        stated: What the owner says of the file.
        require_memory: Called with the numbers of queries and bytes before anything is unpacked.

    Raises:
        ValueError: If the file holds other arrays, or cannot be read as an archive of arrays.
        OSError: If it cannot be opened.
    """
    declared = _read_declared_sizes(path)
    candidates = [name for name in declared if name not in _SIDE_ARRAYS]
    rows = [shape[0] for shape in (declared[name].shape for name in candidates) if shape]
    require_memory(max(rows, default=1), sum(size.n_bytes for size in declared.values()))
    (streamed,) = candidates if len(candidates) == 1 else (None,)
    matrix = None if streamed is None else _read_member(path, streamed, declared)
    others = [name for name in declared if matrix is None or name != streamed]
    arrays = files.read_npz(path, names=others)
    if len(candidates) != 1 or (candidates[0] not in _VOTE_ARRAYS and len(declared) > 1):
        has = ", ".join(candidates) or "none"
        raise ValueError(
            f"must hold exactly one of the arrays {', '.join(_VOTE_ARRAYS)}; it has {has}: write "
            "it with np.savez(FILE, votes=VOTES)"
        )
    (name,) = candidates
    kind = name if name in _VOTE_ARRAYS else stated.kind
    if stated.kind not in ("auto", kind):
        raise ValueError(f"holds {kind}, and votes_kind = {stated.kind} is asked for")
    # An array of another shape has another length, which is refused later.
    label, ids = (
        _cells(arrays[side].ravel()) if side in arrays else None for side in ("labels", "ids")
    )
    n_classes = arrays["n_classes"].tolist() if "n_classes" in arrays else None
    if matrix is None:
        _require_matrix(arrays[name].shape, arrays[name].dtype)
        matrix = _cells(arrays[name])
    return Table(kind, matrix, label, ids, n_classes=n_classes)


def read_npy(path: Path, stated: FileDescription, require_memory: MemoryCheck) -> Table:
    """Return what an npy file holds: arguments and errors are those of `read_npz`."""
    try:
        # The file is mapped for its header alone: memory would hold the pages that are looked at.
        array = np.load(path, mmap_mode="r", allow_pickle=False)
    except (ValueError, EOFError, TypeError, SyntaxError) as error:
        raise ValueError(f"not a readable npy file: {files.explain_unreadable(error)}") from None
    if not isinstance(array, np.memmap):
        array.close()
        raise ValueError("is an npz archive by its content: call it .npz")
    require_memory(array.shape[0] if array.shape else 1, array.nbytes)
    _require_matrix(array.shape, array.dtype)
    with open(path, "rb") as file:
        file.seek(array.offset)
        by_column = not array.flags.c_contiguous
        return Table(stated.kind, _encode(file.read, array.shape, array.dtype, by_column=by_column))


class _DeclaredSize(NamedTuple):
    """What the header of an array declares: the bytes that it may take unpacked, and its shape."""

    n_bytes: int
    shape: tuple[int, ...]


def _read_declared_sizes(path: Path) -> dict[str, _DeclaredSize]:
    """Return the declared size of each array in an npz file, by name.

    Sizes come from the headers, because a small file may unpack to much. Only wanted arrays are
    looked at: those of known names, or all if neither votes nor counts are among them. If a name
    comes twice, the larger size counts. A file that is no archive declares nothing.

    Raises:
        ValueError: If a member does not begin as an array does or is packed in a way that NumPy
            never uses, or if the archive is damaged.
    """
    declared: dict[str, _DeclaredSize] = {}
    with open(path, "rb") as file:
        if not zipfile.is_zipfile(file):
            return declared
    try:
        with zipfile.ZipFile(path) as archive:
            members = [(info.filename.removesuffix(".npy"), info) for info in archive.infolist()]
            vote_arrays = {*_VOTE_ARRAYS} & {name for name, _ in members}
            for name, info in members:
                if name in (*_VOTE_ARRAYS, *_SIDE_ARRAYS) or not vote_arrays:
                    size = _read_member_size(archive, info, name)
                    declared[name] = max(size, declared.get(name, size))
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError) as error:
        raise ValueError(f"not a readable npz file: {error}") from None
    return declared


def _read_member_size(archive: zipfile.ZipFile, info: zipfile.ZipInfo, name: str) -> _DeclaredSize:
    if info.compress_type not in _PACKED:
        raise ValueError(
            f"not a readable npz file: {name} is packed in a way that NumPy never uses"
        )
    try:
        with archive.open(info) as member:
            start = BytesIO(member.read(_HEADER))
        shape, _, dtype = _HEADER_READERS[np.lib.format.read_magic(start)](start)
    except Exception as error:  # a damaged archive sends the reader anywhere in the file
        reason = " ".join(str(error).split()) or type(error).__name__
        raise ValueError(f"not a readable npz file: {name}: {reason}") from None
    return _DeclaredSize(max(info.file_size, math.prod(shape) * dtype.itemsize), shape)


def _read_member(path: Path, name: str, declared: dict[str, _DeclaredSize]) -> EncodedCells | None:
    """Return the matrix of this name in an npz file, which is unpacked piece by piece.

    Returns:
        None if it is no matrix, or if two members have this name: NumPy then says what is wrong, or
        which of them counts.

    Raises:
        ValueError: As `files.read_npz` does, if the archive is damaged.
    """
    with zipfile.ZipFile(path) as archive:
        members = [m for m in archive.namelist() if m.removesuffix(".npy") == name]
        if len(members) > 1:
            return None
        try:
            with archive.open(members[0]) as member:
                read_header = _HEADER_READERS[np.lib.format.read_magic(member)]
                shape, by_column, dtype = read_header(member)
                if not _is_matrix(shape, dtype):
                    return None
                return _encode(member.read, shape, dtype, by_column=by_column)
        except Exception:  # a damaged archive may raise anything
            files.read_npz(path, names=list(declared))  # it says what it meets first
            raise


def _encode(
    read: Callable[[int], bytes], shape: tuple[int, ...], dtype: np.dtype, *, by_column: bool
) -> EncodedCells:
    """Return a matrix as codes, (rows, columns), which is read piece by piece.

    Args:
        read: Returns so many bytes of the matrix, and fewer at its end.
        shape: Its rows and columns.
        dtype: Of its cells.
        by_column: Whether the file has one column after the other, not one row.

    Raises:
        ValueError: If there are fewer bytes than the shape says.
    """
    length, width = shape[::-1] if by_column else shape
    encoder, step = CellEncoder(length), max(1, _PIECE // width)
    for start in range(0, length, step):
        lines = min(step, length - start)
        data = read(lines * width * dtype.itemsize)
        encoder.append(np.frombuffer(data, dtype).reshape(lines, width))
    codes, texts = encoder.cells
    return EncodedCells(codes.T if by_column else codes, texts)


def _is_matrix(shape: tuple[int, ...], dtype: np.dtype) -> bool:
    return len(shape) == 2 and 0 not in (*shape, dtype.itemsize) and dtype.kind in _CELL_KINDS


def _require_matrix(shape: tuple[int, ...], dtype: np.dtype) -> None:
    if len(shape) != 2 or 0 in shape:
        raise ValueError(f"has shape {shape}: must be queries x teachers or classes")
    _require_cells(dtype)


def _require_cells(dtype: np.dtype) -> None:
    if dtype.kind not in _CELL_KINDS:
        raise ValueError(f"has type {dtype}: must be whole numbers or texts")


def _cells(array: NDArray) -> EncodedCells:
    _require_cells(array.dtype)
    return encode_rows(array)
