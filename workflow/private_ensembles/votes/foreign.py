"""Reading votes that somebody else's teachers cast: what is accepted, and one line for what is not.

docs/your-own-votes.md describes the formats. Whatever comes in leaves as a `votes.Votes`; a large
matrix is looked at in pieces, so memory stays near that of the file's own array.
"""

import math
import os
import zipfile
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

import numpy as np

from private_ensembles import checks
from private_ensembles.accounting.limits import MOST_CLASSES
from private_ensembles.jobs import io
from private_ensembles.votes.cache import Votes
from private_ensembles.votes.foreign_csv import SAY, read_csv

KINDS = ("auto", "votes", "counts")
SUFFIXES = (".npz", ".npy", ".csv")
# Votes that are counted at a time.
_PIECE = 1 << 24
# What an npz file may hold; only the members of these names are looked at.
_NAMES = ("votes", "counts", "labels", "n_classes")
# How NumPy packs; what others unpack at a time has no limit.
_PACKED = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
# A header of numbers ends long before; that of another array may be as long as it likes.
_HEADER = 1 << 14
_HEADER_READERS = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
}
# Memory that one count takes on its way to a label, with exact noise (measured).
_BYTES_OF_A_COUNT = 150


def read_own_votes(path: str | Path, *, n_classes: int, kind: str = "auto") -> Votes:
    """Return the votes, or counts, in a file, with labels if it has them (else -1).

    kind: ``votes`` (queries x teachers, each entry a class 0, 1, ...) or ``counts`` (queries x
    classes, each row adding up to the number of teachers); ``auto`` takes an npz by the name of its
    array, a CSV by its header, and else votes. If the kind is told, by its name or by `kind`,
    whole numbers may be floats (2.0), and semicolons or tabs may separate them. n_classes: stated,
    because a number inferred from the votes would reveal something about them.

    Raises ValueError, one line that names the file, for anything that is not such a matrix: wrong
    shapes, numbers that are not whole, NaN, votes or labels out of range, fewer than two teachers,
    rows of counts with different sums, another number of classes in the file, more counts than
    memory holds, pickles; OSError if it cannot be opened.

    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile("w", suffix=".csv") as file:
    ...     _ = file.write("teacher1,teacher2,teacher3,label\\n0,2,2,2\\n1,1,0,1\\n")
    ...     _ = file.seek(0)
    ...     votes = read_own_votes(file.name, n_classes=3)
    >>> votes.histogram().tolist(), votes.labels.tolist()
    ([[1, 0, 2], [1, 2, 0]], [2, 1])
    """
    path = Path(path)
    checks.one_of(KINDS, votes_kind=kind)
    checks.integer(n_classes=n_classes, at_least=2, at_most=MOST_CLASSES)
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise ValueError(f"{path}: must end in {', '.join(SUFFIXES)}")
    if path.exists() and not path.is_file() and not path.is_dir():  # a pipe would wait for ever
        raise ValueError(f"{path}: must be a file")
    try:
        matrix, labels, kind, stated = _READERS[suffix](path, kind, n_classes)
        if stated not in (None, n_classes):
            raise ValueError(f"has n_classes = {stated}, and {n_classes} is asked for")
        return _checked(matrix, labels, kind, n_classes)
    except ValueError as error:
        text = str(error)
        raise ValueError(text if text.startswith(str(path)) else f"{path}: {text}") from None


def _npz(path: Path, kind: str, n_classes: int):
    promised = _promised(path)
    shapes = [shape for name, (_, shape) in promised.items() if name in ("votes", "counts")]
    n_queries = max((shape[0] for shape in shapes if shape), default=1)
    _fits(n_queries, n_classes, sum(n_bytes for n_bytes, _ in promised.values()))
    arrays = io.read_npz(path, names=_NAMES)
    named = [name for name in ("votes", "counts") if name in arrays]
    if len(named) != 1:
        has = ", ".join(named) or "neither"
        raise ValueError(f"must hold exactly one of the arrays votes and counts; it has {has}")
    if kind not in ("auto", named[0]):
        raise ValueError(f"holds {named[0]}, and votes_kind = {kind} is asked for")
    stated = None
    if "n_classes" in arrays:
        array = arrays["n_classes"]
        if array.shape != () or array.dtype.kind not in "iu":
            raise ValueError("n_classes must be one whole number")
        stated = int(array)
    return arrays[named[0]], arrays.get("labels"), named[0], stated


def _promised(path: Path) -> dict[str, tuple[int, tuple[int, ...]]]:
    """Return what the members of `_NAMES` promise: bytes that each may take unpacked, and shape.

    Read off the headers, for a small file may unpack to much. The same name twice counts as the
    larger one; a file that is no archive promises nothing. ValueError for a member that does not
    begin as an array does, or is packed as NumPy packs none, and for a damaged archive.
    """
    promised: dict[str, tuple[int, tuple[int, ...]]] = {}
    with open(path, "rb") as file:
        if not zipfile.is_zipfile(file):
            return promised
    try:
        with zipfile.ZipFile(path) as archive:
            for info in archive.infolist():
                name = info.filename.removesuffix(".npy")
                if name in _NAMES:
                    both = [_of_member(archive, info, name), *filter(None, [promised.get(name)])]
                    promised[name] = max(both)
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError) as error:
        raise ValueError(f"not a readable npz file: {error}") from None
    return promised


def _of_member(archive: zipfile.ZipFile, info: zipfile.ZipInfo, name: str):
    if info.compress_type not in _PACKED:
        raise ValueError(f"not a readable npz file: {name} is packed as NumPy packs none")
    try:
        with archive.open(info) as member:
            start = BytesIO(member.read(_HEADER))
        shape, _, dtype = _HEADER_READERS[np.lib.format.read_magic(start)](start)
    except Exception as error:  # a damaged archive sends the reader anywhere in the file
        reason = " ".join(str(error).split()) or type(error).__name__
        raise ValueError(f"not a readable npz file: {name}: {reason}") from None
    return max(info.file_size, math.prod(shape) * dtype.itemsize), shape


def _npy(path: Path, kind: str, _n_classes: int):
    try:
        # Mapped, not read: pieces of a large file are looked at one after the other.
        array = np.load(path, mmap_mode="r", allow_pickle=False)
    except (ValueError, EOFError, TypeError, SyntaxError) as error:
        raise ValueError(f"not a readable npy file: {io.unreadable(error)}") from None
    if not isinstance(array, np.ndarray):
        array.close()
        raise ValueError("is an npz archive by its content: call it .npz")
    return array, None, kind, None


_READERS = {".npz": _npz, ".npy": _npy, ".csv": read_csv}


def _checked(matrix: np.ndarray, labels, kind: str, n_classes: int) -> Votes:
    """Check the matrix and return what it holds."""
    if matrix.dtype.kind == "f" and matrix.ndim == 2 and 0 not in matrix.shape:
        matrix = _whole_floats(matrix, kind)
    if matrix.dtype.kind not in "iu":
        raise ValueError(f"has type {matrix.dtype}: must be whole numbers (an integer type)")
    if matrix.ndim != 2 or 0 in matrix.shape:
        raise ValueError(f"has shape {matrix.shape}: must be queries x teachers or classes")
    _fits(len(matrix), n_classes, matrix.nbytes)
    if kind == "auto":
        if matrix.shape[1] == n_classes:  # by the shape alone: a refusal must not depend on votes
            raise ValueError(f"has {n_classes} columns, as many as classes: {SAY}")
        kind = "votes"
    if labels is None:
        labels = np.full(len(matrix), -1, np.int64)
    if kind == "counts":
        if matrix.shape[1] != n_classes:
            raise ValueError(f"counts have {matrix.shape[1]} columns: must be {n_classes}")
        result = Votes(matrix.shape[1], labels, counts=np.asarray(matrix))
    else:
        _within(matrix, n_classes - 1)
        result = Votes(n_classes, labels, np.asarray(matrix))
    if result.n_teachers < 2:
        raise ValueError(f"has votes of {result.n_teachers} teacher: must be at least 2")
    return result


def _fits(n_queries: int, n_classes: int, n_bytes: int) -> None:
    """ValueError, before any work, if this machine lacks the memory for that many counts.

    n_bytes: of the file's own arrays, of which there is a second copy in their smallest type.
    """
    needed = n_queries * n_classes * _BYTES_OF_A_COUNT + 2 * n_bytes
    there = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    if needed > there:
        raise ValueError(
            f"{n_queries} queries x {n_classes} classes need about {needed / 2**30:.0f} GiB of "
            f"memory, and this machine has {there / 2**30:.0f}: split the queries"
        )


def _whole_floats(matrix: np.ndarray, kind: str) -> np.ndarray:
    """Return a matrix of floats as integers; ValueError if they are not whole numbers."""
    for start, piece in _pieces(matrix):
        piece = piece.astype(np.float64)
        wrong = ~(np.isfinite(piece) & (piece == np.floor(piece)) & (np.abs(piece) < 2.0**31))
        if wrong.any():
            row, column = np.argwhere(wrong)[0]
            raise ValueError(
                f"entry [{start + row}, {column}] is {piece[row, column]}: must be a whole number"
            )
    if kind == "auto":
        raise ValueError(f"has type {matrix.dtype}: must be of an integer type, or {SAY}")
    return np.concatenate([piece.astype(np.int32) for _, piece in _pieces(matrix)])


def _within(matrix: np.ndarray, largest: int) -> None:
    """ValueError that names the first vote outside 0..largest."""
    for start, piece in _pieces(matrix):
        if piece.min() < 0 or piece.max() > largest:
            row, column = np.argwhere((piece < 0) | (piece > largest))[0]
            raise ValueError(
                f"vote [{start + row}, {column}] is {piece[row, column]}: must be 0 to {largest}"
            )


def _pieces(matrix: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
    rows = max(1, _PIECE // matrix.shape[1])
    for start in range(0, len(matrix), rows):
        yield start, np.asarray(matrix[start : start + rows])
