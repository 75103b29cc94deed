"""Votes in a Parquet file, as pandas, Arrow and Spark write it; pyarrow comes with an extra."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from private_ensembles.votes.ballots import ABSENT
from private_ensembles.votes.foreign_columns import (
    SAY_ABSENT,
    Stated,
    Table,
    columns_of,
    identified,
    short,
)


def read_parquet(path: Path, stated: Stated, fits: Callable[[int, int, int], None]) -> Table:
    """Return what a Parquet file holds; its columns mean what they would in a CSV with this header.

    path: a file; stated: as in `foreign.read_own_votes`, which has an example for CSV. fits: asked
    with queries, classes and bytes before anything is unpacked. Raises ValueError for a file that
    is not Parquet, for columns that are neither numbers nor texts, and for empty cells outside the
    labels; ModuleNotFoundError without pyarrow.
    """
    import pyarrow
    import pyarrow.parquet

    with open(path, "rb"):  # its own error says more than Arrow's
        pass
    try:
        with pyarrow.parquet.ParquetFile(path) as file:
            header = [field.name for field in file.schema_arrow]
            rows = file.metadata.num_rows
            columns = columns_of(header, stated)
            fits(rows, stated.n_classes, 8 * rows * len(header))
            wanted = [at for at in (*columns.matrix, columns.label, columns.id) if at is not None]
            data = file.read(columns=[header[at] for at in wanted], use_pandas_metadata=False)
    except (pyarrow.ArrowException, OSError) as error:
        reason = " ".join(str(error).split())
        raise ValueError(f"not a readable Parquet file: {reason}") from None
    if not rows:
        raise ValueError("has columns and no rows")
    cells = {}
    for at in wanted:
        voted = at in columns.matrix and columns.kind != "counts"
        may_be_empty = columns.label == at or (stated.absent and voted)
        hint = f"; {SAY_ABSENT}" if voted else ""
        cells[at] = _cells(data.column(header[at]), header[at], hint, may_be_empty=may_be_empty)
    matrix = [cells[at] for at in columns.matrix]
    if any(map(_is_text, matrix)):
        silent = np.full(rows, "")  # of a teacher who never voted, whose column has no type
        matrix = [
            column if _is_text(column) or (column != ABSENT).any() else silent for column in matrix
        ]
    odd = next(
        (at for at in range(len(matrix)) if _is_text(matrix[at]) != _is_text(matrix[0])), None
    )
    if odd is not None:
        first, odd = columns.matrix[0], columns.matrix[odd]
        raise ValueError(
            f"columns {short(header[first])!r} and {short(header[odd])!r} hold numbers and texts: "
            "votes must be all numbers or all names of classes"
        )
    ids = None
    if columns.id is not None:
        ids = identified([str(cell) for cell in cells[columns.id].tolist()], "row", 0)
    return Table(
        np.column_stack(matrix),
        None if columns.label is None else cells[columns.label],
        columns.kind,
        ids=ids,
        headed=True,
        columns=tuple(header[at] for at in columns.matrix),
    )


def _cells(column, name: str, hint: str, *, may_be_empty: bool) -> NDArray:
    """Return a column as numbers, or as texts; an empty cell is -1, or the empty text.

    hint: what else to say if a cell is empty and must not be.
    """
    import pyarrow

    kind = column.type.value_type if pyarrow.types.is_dictionary(column.type) else column.type
    is_text = pyarrow.types.is_string(kind) or pyarrow.types.is_large_string(kind)
    is_number = pyarrow.types.is_integer(kind) or pyarrow.types.is_floating(kind)
    if not (is_text or is_number or pyarrow.types.is_null(kind)):
        raise ValueError(f"column {short(name)!r} has type {kind}: must be whole numbers or texts")
    values = column.to_pylist()
    if not may_be_empty and None in values:
        raise ValueError(f"column {short(name)!r}, row {values.index(None)} is empty{hint}")
    if is_text:
        return np.array(["" if value is None else value.strip() for value in values], dtype=np.str_)
    filled = [-1 if value is None or value != value else value for value in values]
    array = np.array(filled if may_be_empty else values)
    if may_be_empty and array.dtype.kind == "f" and (array == np.floor(array)).all():
        array = array.astype(np.int64)
    return array


def _is_text(cells: NDArray) -> bool:
    return cells.dtype.kind == "U"
