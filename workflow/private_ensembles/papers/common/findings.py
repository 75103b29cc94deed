"""What findings are made of: numbers of a run's tables, how they are written, and the finding.

A finding is a function of the run's tables, which returns the wording that their numbers bear
out. It is left out if the run lacks a number. Losses, and the noise that keeps a budget, are
rounded up; what a paper claims is rounded to the nearest.
"""

from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from private_ensembles.base.digits import format_lower_bound, format_number, format_upper_bound
from private_ensembles.labels import display_names

_DIGITS = 3


@dataclass(frozen=True)
class Finding:
    """One finding as this run bears it out.

    Attributes:
        paper: name of the paper's folder.
        title: of the finding.
        text: of the finding.
        docs: a file of the repository, perhaps with an anchor.
        kind: broken, theorem or noise, which the page's first sentence counts, or empty.
    """

    paper: str
    title: str
    text: str
    docs: str
    kind: str = ""


class MissingResultError(LookupError):
    """The run did not make a table, a row or a number that a finding needs."""


class RunTables:
    """The tables below a folder of results, each read once, when it is asked for."""

    def __init__(self, root: Path):
        self._root = root
        self._tables: dict[str, pd.DataFrame] = {}

    def select_rows(self, name: str, **wanted: object) -> pd.DataFrame:
        """Return the rows of a table that have the wanted values.

        Args:
            name: the table's path below the folder, without .csv.
            wanted: by column a value, or a tuple of values of which the first that occurs counts.

        Raises:
            MissingResultError: the run lacks the table, a column or a row.
        """
        if name not in self._tables:
            path = self._root / f"{name}.csv"
            if not path.is_file():
                raise MissingResultError(str(path))
            self._tables[name] = pd.read_csv(path)
        rows = self._tables[name]
        for column, value in wanted.items():
            choices = value if isinstance(value, tuple) else (value,)
            values = set(read_column(rows, column))
            chosen_value = next((choice for choice in choices if choice in values), None)
            rows = rows[rows[column] == chosen_value]
        return rows


def read_column(rows: pd.DataFrame, column: str, over: str | None = None) -> pd.Series:
    """Return a column's values, divided by those of the column `over` if one is named.

    Raises:
        MissingResultError: the table has no such column, or nothing in it.
    """
    if column not in rows or over not in (None, *rows.columns):
        raise MissingResultError(f"no column {column if over is None else f'{column} or {over}'}")
    values = (rows[column] if over is None else rows[column] / rows[over]).dropna()
    if values.empty:
        raise MissingResultError(f"nothing in {column}")
    return values


def read_first(rows: pd.DataFrame, column: str, over: str | None = None):
    """Return the first of the values that `read_column` returns."""
    return read_column(rows, column, over).iloc[0]


def write_nearest(value: float, digits: int = _DIGITS) -> str:
    """Write a number to that many significant digits, rounded to the nearest.

    What a paper claims is written like this too, or it would claim more.

    >>> write_nearest(0.12345), write_nearest(1e90)
    ('0.123', '10⁹⁰')
    """
    return display_names.format_powers(format_number(float(f"{value:.{digits}g}")))


def write_upper_bound(value: float, digits: int = _DIGITS) -> str:
    """Write an upper bound, rounded up: it stays one.

    >>> write_upper_bound(0.12341), write_upper_bound(1.2345e-8, 2)
    ('0.124', '1.3·10⁻⁸')
    """
    return display_names.format_powers(format_upper_bound(value, digits))


def write_lower_bound(value: float, digits: int = _DIGITS) -> str:
    """Write a lower bound, rounded down: it stays one.

    >>> write_lower_bound(0.12349)
    '0.123'
    """
    return display_names.format_powers(format_lower_bound(value, digits))
