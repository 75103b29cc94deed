"""Which numbers of ours belong to a paper's printed ones, as ``workflow/published/*.yaml`` say.

A text with braces is filled in: in `Beside` from the row of our table (``{table}``: its name),
elsewhere from the number's key. A pattern is a text with ``*`` and ``?``; of several, one must fit.
"""

import functools
import math
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

import yaml
from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError

from private_ensembles.papers.common.standard_errors import VariancePart, standard_error
from private_ensembles.papers.compare.printed import FOLDER, Key

_UNITS = {"one": 1, "percent": 100, "thousands": 0.001}

Texts = Annotated[
    list[str], BeforeValidator(lambda value: [value] if isinstance(value, str) else value)
]


class Entry(BaseModel):
    """A mapping of the YAML, with the keys that it may have and no others."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Rule(Entry):
    """Which numbers something is said about: by their keys and the table of ours they are from."""

    table: Texts = ["*"]
    item: Texts = ["*"]
    dataset: Texts = ["*"]
    row: Texts = ["*"]
    column: Texts = ["*"]

    def fits(self, key: Key, table: str = "") -> bool:
        """Tell whether the rule is about the number at `key`, of our `table` if of any."""
        parts = {**key._asdict(), "table": table}
        return all(
            any(fnmatchcase(part, pattern) for pattern in getattr(self, name))
            for name, part in parts.items()
            if name != "paper"
        )


class ParameterDependence(Rule):
    """Parameters, or groups of them, that numbers are computed from."""

    parameters: Texts


class JudgingRule(Rule):
    """How numbers are judged where their digits do not say all.

    half: half of the unit that is meant, if it is not that of the last digit. side: ``below`` if
    ours must be less, ``above`` if it must be more. rivals: whether other mechanisms are columns
    or rows of the table: a verdict must tell a number from theirs. constants: by name, in the
    printed unit, what else it must be told from.
    """

    half: float | None = None
    side: Literal["", "below", "above"] = ""
    rivals: Literal["", "column", "row"] = ""
    constants: dict[str, float] = {}

    def agrees(self, value: float, printed: float) -> bool:
        """Tell whether a number of ours is the printed one by `half`, or on its side of it."""
        if self.side:
            return value < printed if self.side == "below" else value > printed
        return abs(value - printed) <= self.half

    def alternatives(
        self, key: Key, printed: Mapping[Key, float], ours: Mapping[Key, float]
    ) -> dict[str, float]:
        """Return, by name, what a verdict on the number at `key` must tell it from."""
        others = {}
        for who, numbers in (("printed", printed), ("our", ours)) if self.rivals else ():
            for other, value in numbers.items():
                name = getattr(other, self.rivals)
                if other != key and key._replace(**{self.rivals: name}) == other:
                    others[f"{who} {name}"] = value
        return others | self.constants


class Note(Rule):
    """What is said of numbers; test: what pins it down, if anything does.

    data, run: of which configurations, and of data sets that were run or were not. without_error:
    of numbers alone whose standard error is not known.
    """

    note: str = ""
    test: str = ""
    data: Literal["embedded", "paper"] | None = None
    run: bool | None = None
    without_error: bool = False

    def text(self) -> str:
        """Return the note with its test."""
        return f"{self.note} Test: {self.test}" if self.test else self.note


def find_rule(rules: Iterable, key: Key, table: str = ""):
    """Return the first rule about the number at `key`, of our `table`, or None."""
    return next((rule for rule in rules if rule.fits(key, table)), None)


class Reproduced(NamedTuple):
    """A number of ours in the printed unit; sd: NaN for none; note: why it is not comparable.

    error: its part of the standard error of a difference of two means, NaN if the deviation
    itself is that; freedom: degrees of freedom, NaN if nothing was estimated. draws: how many
    are behind the printed standard deviation.
    """

    value: float
    sd: float = math.nan
    note: str = ""
    error: float = math.nan
    freedom: float = math.nan
    draws: int = 1


class Number(Entry):
    """Columns of our table: the number, its standard deviation, and what is taken off it.

    error, freedom: our part of the standard error of a difference of means, and its degrees of
    freedom; printed_draws: how many are behind the printed standard deviation. runs: instead of
    these two, how many runs of ours are behind mean and standard deviation, of which the printed
    number is one more. Without error and runs the deviation is known, not estimated. unit: of the
    printed number. compared: whether fidelity.csv holds the number against the printed one. shown:
    whether the page shows the printed one beside it, under `title` (by default "printed" and the
    first word of the printed column).
    """

    value: str
    sd: str = ""
    error: str = ""
    freedom: str = ""
    runs: str = ""
    printed_draws: int = 1
    less: str = ""
    unit: Literal["one", "percent", "thousands"] = "one"
    compared: bool = True
    shown: bool = True
    title: str = ""

    def read_from_row(self, row: Mapping[str, Any]) -> Reproduced:
        """Return a row's number; NaN where a table lacks a column, as not every task has all."""
        names = self.value, self.sd, self.error, self.freedom, self.runs
        value, sd, error, freedom, runs = (row.get(name, math.nan) for name in names)
        if self.less:
            value = value - row.get(self.less, math.nan)
        value, sd, error = (float(_UNITS[self.unit] * x) for x in (value, sd, error))
        if runs > 1:
            error, freedom = standard_error([VariancePart(sd**2 * (1 + 1 / runs), runs - 1)])
        draws = self.printed_draws
        return Reproduced(value, sd, error=error, freedom=float(freedom), draws=draws)


def _as_number(value: object) -> object:
    return {"value": value} if isinstance(value, str) else value


class Cause(Entry):
    """Why a number that the paper does not state like this is the printed one; test: says so."""

    note: str
    test: str


class TableDeclaration(Entry):
    """Rows of one of our tables (or several alike) beside an item of the paper (or several).

    where: column -> value or pattern that a row must have; ``$name`` is the run's own setting.
    numbers: printed column -> ours. explains: the rows are not what the paper states; if those
    differ from the print and these agree, the number is explained.
    """

    table: Texts
    item: Texts = ["{table}"]
    dataset: str = "{dataset}"
    row: str
    where: dict[str, Any] = {}
    explains: Cause | None = None
    numbers: dict[str, Annotated[Number, BeforeValidator(_as_number)]]


class Paper(Entry):
    """All that is declared about one paper; of rules about the same number, the first counts.

    parameters: as printed, nested. altered: the note on numbers of other parameters, with
    ``{differences}``. judged: how numbers are judged whose digits do not say all. limits: what is
    known of numbers that were not run. explanations: why numbers differ. Notes are of numbers that
    agree, but not with what is printed of how they were made (agreeing), that repeat a parameter
    (inputs), that are compared with nothing (not_comparable), that were not run (not_run), that
    differ (remarks: what was tried), and of both that were not compared (doubts: all that fit).
    """

    paper: str
    parameters: dict[str, Any] = {}
    altered: str = "Not the paper's parameters: {differences}."
    beside: list[TableDeclaration]
    rests_on: list[ParameterDependence] = []
    judged: list[JudgingRule] = []
    limits: list[Note] = []
    explanations: list[Note] = []
    agreeing: list[Note] = []
    inputs: list[Note] = []
    not_comparable: list[Note] = []
    not_run: list[Note] = []
    remarks: list[Note] = []
    doubts: list[Note] = []

    def tables(self) -> list[str]:
        """Return the names of our tables that belong to printed numbers, in their order."""
        return list(dict.fromkeys(name for beside in self.beside for name in beside.table))

    def declarations_of_table(self, name: str) -> list[TableDeclaration]:
        """Return what is declared of one of our tables."""
        return [beside for beside in self.beside if name in beside.table]


def read_paper(path: Path) -> Paper:
    """Read what is declared of the paper that the file is named after.

    Raises ValueError in one line, with file and place, for anything but what is documented here.
    """
    try:
        declared = yaml.safe_load(path.read_text(encoding="utf-8"))
        return Paper.model_validate({"paper": path.stem, **declared})
    except yaml.YAMLError as error:
        raise ValueError(f"{path}: {' '.join(str(error).split())}") from None
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise ValueError(f"{path}: {place}: {first['msg']}") from None


@functools.cache
def load_paper(name: str) -> Paper:
    """Return what is declared of a paper; nothing of one that has no numbers to compare."""
    path = FOLDER / f"{name}.yaml"
    return read_paper(path) if path.is_file() else Paper(paper=name, beside=[])
