"""The papers' printed numbers: one tidy CSV for each table in ``workflow/published``, digits kept.

A printed number is compared in decimal, because its digits say how exact it is.
"""

import math
from collections.abc import Iterable, Mapping
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import NamedTuple

import pandas as pd

# The printed numbers lie beside the package, wherever the workflow is.
FOLDER = Path(__file__).resolve().parents[3] / "published"


class Key(NamedTuple):
    """Where a number is printed: paper, table or section, data set, row and column, all text."""

    paper: str
    item: str
    dataset: str
    row: str
    column: str


KEY = list(Key._fields)
LIMITS = ["low", "high"]


def key_of(cell: Mapping[str, str]) -> Key:
    """Return the key of a printed number, which is a row of `read_published`."""
    return Key(*(cell[name] for name in KEY))


def half_unit(printed: str) -> Decimal:
    """Return half a unit of the last printed digit: 0.0005 for "15.044", 0.5 for "1866"."""
    exponent = Decimal(printed).as_tuple().exponent
    return Decimal(5).scaleb(exponent - 1)


def equals_printed(value: float, printed: str) -> bool:
    """Tell whether ``value`` rounds to the digits printed; a tie may have gone either way.

    The comparison is in exact decimal arithmetic, on the exact value of the float.

    Raises:
        ValueError: ``printed`` is not a number.
    """
    if not math.isfinite(value):
        return False
    # A float next to a tie is taken for the tie: 0.0005 has no exact float.
    gap = abs(Decimal(repr(float(value))) - Decimal(printed))
    return gap <= half_unit(printed)


def read_published(paths: Iterable[Path | str]) -> pd.DataFrame:
    """Read the CSVs of printed numbers, all cells as text.

    Files may have two more columns, low and high: the least and the largest value that a number can
    have, as a test works them out without a run. If the number is known, both are the same.

    Returns:
        The rows of all files, with the columns of `Key`, published, published_sd, low and high.

    Raises:
        ValueError: columns are missing, a cell is not a number, or a number occurs twice. The
            message names the file.
    """
    required = [*KEY, "published", "published_sd"]
    frames = []
    for path in sorted(map(str, paths)):
        frame = pd.read_csv(path, dtype=str, keep_default_na=False)
        if list(frame.columns) not in (required, [*required, *LIMITS]):
            raise ValueError(f"{path}: columns {list(frame.columns)}: must be {required}")
        frame = frame.reindex(columns=[*required, *LIMITS], fill_value="")
        optional = ["published_sd", *LIMITS]
        for cell in [*frame["published"], *filter(None, frame[optional].to_numpy().flat)]:
            try:
                finite = Decimal(cell).is_finite()
            except InvalidOperation:
                finite = False
            if not finite:
                raise ValueError(f"{path}: {cell!r} is not a number")
        frames.append(frame)
    if not frames:
        raise ValueError("published: must be at least one file")
    published = pd.concat(frames, ignore_index=True)
    is_repeated = published.duplicated(KEY)
    if is_repeated.any():
        raise ValueError(
            f"published: {tuple(published.loc[is_repeated, KEY].iloc[0])} occurs twice"
        )
    return published
