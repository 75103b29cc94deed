"""Reading votes that somebody else's teachers cast: what is accepted, and one line for what is not.

docs/your-own-votes.md describes the formats. Whatever comes in leaves as a `votes.Votes`; a large
matrix is looked at in pieces, so memory stays near that of the file's own array.
"""

import math
import os
import zipfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from io import BytesIO
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from private_ensembles import checks
from private_ensembles.accounting.limits import MOST_CLASSES, MOST_TEACHERS
from private_ensembles.configuration.class_names import read_class_names
from private_ensembles.jobs import io
from private_ensembles.votes.ballots import ABSENT
from private_ensembles.votes.cache import Votes
from private_ensembles.votes.foreign_columns import (
    SAY,
    SAY_ABSENT,
    Stated,
    Table,
    identified,
    numbered,
    short,
)
from private_ensembles.votes.foreign_csv import read_csv

KINDS = ("auto", "votes", "counts")
SUFFIXES = (".npz", ".npy", ".csv", ".parquet")
# Votes that are counted at a time.
_PIECE = 1 << 24
# What an npz file may hold; only the members of these names are looked at.
_CAST = ("votes", "counts")
_NAMES = (*_CAST, "labels", "n_classes", "ids")
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


def read_own_votes(
    path: str | Path,
    *,
    n_classes: int | None = None,
    kind: str = "auto",
    class_names: Sequence[str] | None = None,
    first_class: int = 0,
    id_column: str | None = None,
    absent: bool = False,
    teachers: int | None = None,
    most_ones: int | None = None,
) -> Votes:
    """Return the votes, or counts, in a file, with labels if it has them (else -1).

    kind: ``votes`` (queries x teachers, each entry a class 0, 1, ...) or ``counts`` (queries x
    classes, each row adding up to the number of teachers); ``auto`` takes an npz by the name of its
    array, a table by the names of its columns, and else votes. If the kind is told, by a name or by
    `kind`, whole numbers may be floats (2.0), and semicolons or tabs may separate them. n_classes:
    stated, because a number inferred from the votes would reveal something about them; None: as
    many as class_names. class_names: of classes 0, 1, ...: votes and labels may be these words.
    first_class: 1 if the file counts classes from 1. id_column: the column of a table that says
    what queries are called; None: one whose name says that it does, if there is one
    (`foreign_columns.columns_of`). absent: ballots may be missing: an empty cell of a table, -1 in
    an array, rows of counts that add up to at most `teachers`. It is stated because what a file
    lacks is private. teachers: how many there are; must be stated for such counts, and else agree
    with the file. most_ones: how many queries a teacher votes 1 on at most, of two classes; of
    more, the first ones are kept (`ballots.few_ones`).

    Raises ValueError, one line that names the file, for anything that is not such a matrix: wrong
    shapes, numbers that are not whole, NaN, words that name no class, votes or labels out of range,
    fewer than two teachers, absent ballots that are not stated, rows of counts with different sums,
    another number of classes in the file, identifiers that are not different, more counts than
    memory holds, pickles; OSError if it cannot be opened.

    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile("w", suffix=".csv") as file:
    ...     _ = file.write("image,anna,ben,cleo,label\\nx.png,cat,dog,dog,dog\\n")
    ...     _ = file.write("y.png,cat,cat,dog,\\n")
    ...     _ = file.seek(0)
    ...     votes = read_own_votes(file.name, class_names=("cat", "dog", "bird"), id_column="image")
    >>> votes.histogram().tolist(), votes.labels.tolist(), votes.ids
    ([[1, 2, 0], [2, 1, 0]], [1, -1], ('x.png', 'y.png'))
    """
    path = Path(path)
    checks.one_of(KINDS, votes_kind=kind)
    checks.one_of((0, 1), first_class=first_class)
    names = None if class_names is None else read_class_names(class_names)
    if names is not None and n_classes not in (None, len(names)):
        raise ValueError(f"n_classes = {n_classes}: must be {len(names)}, as many as class_names")
    n_classes = len(names) if names is not None else n_classes
    checks.integer(n_classes=n_classes, at_least=2, at_most=MOST_CLASSES)
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise ValueError(f"{path}: must end in {', '.join(SUFFIXES)}")
    if path.exists() and not path.is_file() and not path.is_dir():  # a pipe would wait for ever
        raise ValueError(f"{path}: must be a file")
    if teachers is not None:
        checks.integer(teachers=teachers, at_least=2, at_most=MOST_TEACHERS)
    of_ballots = {"absent": absent, "teachers": teachers, "most_ones": most_ones}
    stated = Stated(n_classes, kind, names, first_class, id_column, **of_ballots)
    try:
        if id_column is not None and suffix in (".npz", ".npy"):
            raise ValueError(f"has no columns with names, so none called {id_column!r} (id_column)")
        table = _READERS[suffix](path, stated)
        if table.n_classes not in (None, n_classes):
            raise ValueError(f"has n_classes = {table.n_classes}, and {n_classes} is asked for")
        return _checked(table, stated)
    except ValueError as error:
        text = str(error)
        raise ValueError(text if text.startswith(str(path)) else f"{path}: {text}") from None


def _npz(path: Path, stated: Stated) -> Table:
    promised = _promised(path)
    shapes = [shape for name, (_, shape) in promised.items() if name in _CAST]
    n_queries = max((shape[0] for shape in shapes if shape), default=1)
    _fits(n_queries, stated.n_classes, sum(n_bytes for n_bytes, _ in promised.values()))
    arrays = io.read_npz(path, names=_NAMES)
    named = [name for name in _CAST if name in arrays]
    if len(named) != 1:
        has = ", ".join(named) or "none"
        raise ValueError(f"must hold exactly one of the arrays {', '.join(_CAST)}; it has {has}")
    if stated.kind not in ("auto", named[0]):
        raise ValueError(f"holds {named[0]}, and votes_kind = {stated.kind} is asked for")
    n_classes = None
    if "n_classes" in arrays:
        array = arrays["n_classes"]
        if array.shape != () or array.dtype.kind not in "iu":
            raise ValueError("n_classes must be one whole number")
        n_classes = int(array)
    ids = arrays.get("ids")
    if ids is not None:
        if ids.ndim != 1 or ids.dtype.kind not in "iuU":
            raise ValueError(f"ids is {ids.dtype} {ids.shape}: must be (queries,) texts or numbers")
        ids = identified([str(one) for one in ids.tolist()], "row", 0)
    return Table(arrays[named[0]], arrays.get("labels"), named[0], n_classes, ids)


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


def _npy(path: Path, stated: Stated) -> Table:
    try:
        # Mapped, not read: pieces of a large file are looked at one after the other.
        array = np.load(path, mmap_mode="r", allow_pickle=False)
    except (ValueError, EOFError, TypeError, SyntaxError) as error:
        raise ValueError(f"not a readable npy file: {io.unreadable(error)}") from None
    if not isinstance(array, np.ndarray):
        array.close()
        raise ValueError("is an npz archive by its content: call it .npz")
    return Table(array, None, stated.kind)


def _parquet(path: Path, stated: Stated) -> Table:
    from private_ensembles.votes.foreign_parquet import read_parquet

    return read_parquet(path, stated, fits=_fits)


_READERS = {".npz": _npz, ".npy": _npy, ".csv": read_csv, ".parquet": _parquet}


def _checked(table: Table, stated: Stated) -> Votes:
    """Check what a file holds and return it, with classes from 0."""
    matrix, kind, n_classes = table.matrix, table.kind, stated.n_classes
    if matrix.dtype.kind == "U" and stated.class_names is not None and matrix.ndim == 2:
        absent = "" if stated.absent else None
        matrix = _of_names(matrix, stated.class_names, unknown=absent)
        table = replace(table, named=True)
    if matrix.dtype.kind == "f" and matrix.ndim == 2 and 0 not in matrix.shape:
        matrix = _whole_floats(matrix, told=kind != "auto" or table.headed, place=table.place)
    if matrix.dtype.kind not in "iu":
        hint = ", or say class_names=NAME,NAME,..." if matrix.dtype.kind == "U" else ""
        raise ValueError(f"has type {matrix.dtype}: must be whole numbers (an integer type){hint}")
    if matrix.ndim != 2 or 0 in matrix.shape:
        raise ValueError(f"has shape {matrix.shape}: must be queries x teachers or classes")
    _fits(len(matrix), n_classes, matrix.nbytes)
    if kind == "auto":
        if matrix.shape[1] == n_classes:  # by the shape alone: a refusal must not depend on votes
            raise ValueError(f"has {n_classes} columns, as many as classes: {SAY}")
        kind = "votes"
    labels = _labels(table, stated, len(matrix))
    facts = {"ids": table.ids, "absent": stated.absent, "teachers": stated.teachers}
    facts["most_ones"] = stated.most_ones
    if kind == "counts":
        if matrix.shape[1] != n_classes:
            raise ValueError(f"counts have {matrix.shape[1]} columns: must be {n_classes}")
        result = Votes(matrix.shape[1], labels, counts=np.asarray(matrix), **facts)
    else:
        first = 0 if table.named else stated.first_class
        _within(matrix, first, first + n_classes - 1, table.place, absent=stated.absent)
        votes = np.asarray(matrix)
        if first != 0:
            votes = np.where(votes == ABSENT, votes, votes - matrix.dtype.type(first))
        result = Votes(n_classes, labels, votes, **facts)
    if result.n_teachers < 2:
        raise ValueError(f"has votes of {result.n_teachers} teacher: must be at least 2")
    return result


def _labels(table: Table, stated: Stated, n_queries: int) -> NDArray:
    """Return the labels with classes from 0, -1 where they are unknown."""
    if table.labels is None:
        return np.full(n_queries, -1, np.int64)
    labels = np.asarray(table.labels)
    if labels.dtype.kind == "U" and stated.class_names is not None and labels.ndim == 1:
        labels = np.where(labels == "", -1, _of_names(labels, stated.class_names, unknown=""))
        return labels
    if stated.first_class == 0 or table.label_named or labels.dtype.kind not in "iu":
        return labels
    wrong = (labels != -1) & ((labels < 1) | (labels > stated.n_classes))
    if wrong.any():
        row = int(np.argmax(wrong))
        raise ValueError(
            f"labels[{row}] = {labels[row]}: must be 1 to {stated.n_classes}, or -1 if unknown"
        )
    return np.where(labels == -1, -1, labels.astype(np.int64) - 1)


def _of_names(cells: NDArray, names: Sequence[str], unknown: str | None = None) -> NDArray:
    """Return texts as classes; ValueError that names the first one that is no class."""
    classes = numbered(cells, names)
    wrong = classes < 0 if unknown is None else (classes < 0) & (cells != unknown)
    if wrong.any():
        at = tuple(int(i) for i in np.argwhere(wrong)[0])
        raise ValueError(
            f"entry {list(at)} is {short(str(cells[at]))!r}: must be one of "
            f"{short(', '.join(names))}"
        )
    return classes


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


def _whole_floats(matrix: NDArray, *, told: bool, place: Callable) -> NDArray:
    """Return a matrix of floats as integers; ValueError if they are not whole numbers.

    told: it is known whether they are votes or counts.
    """
    for start, piece in _pieces(matrix):
        piece = piece.astype(np.float64)
        wrong = ~(np.isfinite(piece) & (piece == np.floor(piece)) & (np.abs(piece) < 2.0**31))
        if wrong.any():
            row, column = np.argwhere(wrong)[0]
            raise ValueError(
                f"entry {place(start + row, column)} is {piece[row, column]}: "
                "must be a whole number"
            )
    if not told:
        raise ValueError(f"has type {matrix.dtype}: must be of an integer type, or {SAY}")
    return np.concatenate([piece.astype(np.int32) for _, piece in _pieces(matrix)])


def _within(matrix: NDArray, low: int, high: int, place: Callable, *, absent: bool) -> None:
    """ValueError that names the first vote outside low..high, or says that they count from 1.

    absent: votes of -1 are right, too.
    """
    cast = (piece[piece != ABSENT] if absent else piece for _, piece in _pieces(matrix))
    ends = [(int(piece.min()), int(piece.max())) for piece in cast if piece.size]
    if not ends:
        return
    least, most = min(end[0] for end in ends), max(end[1] for end in ends)
    if low <= least and most <= high:
        return
    if low == 0 and least >= 1 and most == high + 1:
        raise ValueError(
            f"votes are {least} to {most}, and classes count from 0, to {high}: say first_class=1"
        )
    for start, piece in _pieces(matrix):
        wrong = (piece < low) | (piece > high)
        if absent:
            wrong &= piece != ABSENT
        if wrong.any():
            row, column = np.argwhere(wrong)[0]
            hint = f"; {SAY_ABSENT}" if piece[row, column] == ABSENT else ""
            raise ValueError(
                f"vote {place(start + row, column)} is {piece[row, column]}: "
                f"must be {low} to {high}{hint}"
            )


def _pieces(matrix: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
    rows = max(1, _PIECE // matrix.shape[1])
    for start in range(0, len(matrix), rows):
        yield start, np.asarray(matrix[start : start + rows])
