"""Votes in npz and npy files, as NumPy writes them."""

from __future__ import annotations

import math
import zipfile
from io import BytesIO
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from private_ensembles.base import files
from private_ensembles.release.files.cells import TextIndex
from private_ensembles.release.files.columns import FileDescription
from private_ensembles.release.files.tables import Cells, MemoryCheck, Table

# Cells that are looked at at a time.
_PIECE = 1 << 22
_CAST = ("votes", "counts")
_BESIDE = ("labels", "n_classes", "ids")
# How NumPy packs; what others unpack at a time has no limit.
_PACKED = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
# A header of numbers ends long before; that of another array may be as long as it likes.
_HEADER = 1 << 14
_HEADER_READERS = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
}


def read_npz(path: Path, stated: FileDescription, require_memory: MemoryCheck) -> Table:
    """Return what an npz file holds; its only array may have any name.

    fits: asked with queries and bytes before anything is unpacked. Raises ValueError for other
    arrays than votes or counts, labels, ids and n_classes; OSError if it cannot be opened.
    """
    promised = _read_declared_sizes(path)
    cast = [name for name in promised if name not in _BESIDE]
    rows = [shape[0] for shape in (promised[name][1] for name in cast) if shape]
    require_memory(max(rows, default=1), sum(n_bytes for n_bytes, _ in promised.values()))
    arrays = files.read_npz(path, names=list(promised))
    if len(cast) != 1 or (cast[0] not in _CAST and len(promised) > 1):
        has = ", ".join(cast) or "none"
        raise ValueError(
            f"must hold exactly one of the arrays {', '.join(_CAST)}; it has {has}: write it with "
            "np.savez(FILE, votes=VOTES)"
        )
    kind = cast[0] if cast[0] in _CAST else stated.kind
    if stated.kind not in ("auto", kind):
        raise ValueError(f"holds {kind}, and votes_kind = {stated.kind} is asked for")
    # Of another shape they are of another length, which is refused.
    beside = {"label": "labels", "id": "ids"}
    beside = {part: arrays[name] for part, name in beside.items() if name in arrays}
    beside = {part: _cells(array.ravel()) for part, array in beside.items()}
    n_classes = arrays["n_classes"].tolist() if "n_classes" in arrays else None
    return Table(kind, _matrix(arrays[cast[0]]), **beside, n_classes=n_classes)


def read_npy(path: Path, stated: FileDescription, require_memory: MemoryCheck) -> Table:
    """Return what an npy file holds; fits, errors: as in `read_npz`."""
    try:
        # Mapped, not read: pieces of a large file are looked at one after the other.
        array = np.load(path, mmap_mode="r", allow_pickle=False)
    except (ValueError, EOFError, TypeError, SyntaxError) as error:
        raise ValueError(f"not a readable npy file: {files.explain_unreadable(error)}") from None
    if not isinstance(array, np.ndarray):
        array.close()
        raise ValueError("is an npz archive by its content: call it .npz")
    require_memory(array.shape[0] if array.shape else 1, array.nbytes)
    return Table(stated.kind, _matrix(array))


def _read_declared_sizes(path: Path) -> dict[str, tuple[int, tuple[int, ...]]]:
    """Return what the arrays in an npz file promise: bytes that each may take unpacked, and shape.

    Read off the headers, for a small file may unpack to much, and only of arrays that are wanted:
    those of known names, or all where neither votes nor counts are among them. The same name twice
    counts as the larger one; a file that is no archive promises nothing. ValueError for a member
    that does not begin as an array does, or is packed as NumPy packs none; for a damaged archive.
    """
    promised: dict[str, tuple[int, tuple[int, ...]]] = {}
    with open(path, "rb") as file:
        if not zipfile.is_zipfile(file):
            return promised
    try:
        with zipfile.ZipFile(path) as archive:
            named = [(info.filename.removesuffix(".npy"), info) for info in archive.infolist()]
            known = {*_CAST} & {name for name, _ in named}
            for name, info in named:
                if name in (*_CAST, *_BESIDE) or not known:
                    each = _read_member_size(archive, info, name)
                    promised[name] = max(each, promised.get(name, each))
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError) as error:
        raise ValueError(f"not a readable npz file: {error}") from None
    return promised


def _read_member_size(archive: zipfile.ZipFile, info: zipfile.ZipInfo, name: str):
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
    return max(info.file_size, math.prod(shape) * dtype.itemsize), shape


def _matrix(array: NDArray) -> Cells:
    if array.ndim != 2 or 0 in array.shape:
        raise ValueError(f"has shape {array.shape}: must be queries x teachers or classes")
    return _cells(array)


def _cells(array: NDArray) -> Cells:
    if array.dtype.kind not in "biufSU":
        raise ValueError(f"has type {array.dtype}: must be whole numbers or texts")
    texts, step = TextIndex(), max(1, _PIECE // math.prod(array.shape[1:]))
    pieces = [texts.encode(array[at : at + step]) for at in range(0, len(array), step)]
    return Cells(np.concatenate(pieces), texts.all_texts)
