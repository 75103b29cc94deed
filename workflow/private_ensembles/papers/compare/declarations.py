"""Which numbers of ours belong to a paper's printed ones, as ``workflow/published/*.yaml`` say.

A text with braces is filled in: in `TableDeclaration` from the row of our table (``{table}`` is
its name), elsewhere from the number's key. A pattern is a text with ``*`` and ``?``; of several
patterns, one must fit.
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
    """A rule about some numbers, chosen by their keys and by the table of ours that holds them."""

    table: Texts = ["*"]
    item: Texts = ["*"]
    dataset: Texts = ["*"]
    row: Texts = ["*"]
    column: Texts = ["*"]

    def fits(self, key: Key, table: str = "") -> bool:
        """Tell whether the rule is about the number at `key`, which is in our `table` if in any."""
        texts = {**key._asdict(), "table": table}
        return all(
            any(fnmatchcase(text, pattern) for pattern in getattr(self, name))
            for name, text in texts.items()
            if name != "paper"
        )


class ParameterDependence(Rule):
    """Parameters, or groups of them, that numbers are computed from."""

    parameters: Texts


class JudgingRule(Rule):
    """How numbers are judged if their printed digits do not say all.

    Attributes:
        half: half of the unit that is meant, if it is not that of the last digit.
        side: ``below`` if ours must be less than the printed number, ``above`` if it must be more.
        rivals: whether other mechanisms are columns or rows of the table. A verdict must tell a
            number from theirs.
        constants: what else it must be told from, by name and in the printed unit.
    """

    half: float | None = None
    side: Literal["", "below", "above"] = ""
    rivals: Literal["", "column", "row"] = ""
    constants: dict[str, float] = {}

    def agrees(self, value: float, printed: float) -> bool:
        """Tell whether our number is within `half` of the printed one, or on its side of it."""
        if self.side:
            return value < printed if self.side == "below" else value > printed
        return abs(value - printed) <= self.half

    def alternatives(
        self, key: Key, printed: Mapping[Key, float], ours: Mapping[Key, float]
    ) -> dict[str, float]:
        """Return the results, by name, that a verdict on the number at `key` must tell it from."""
        rivals = {}
        for owner, numbers in (("printed", printed), ("our", ours)) if self.rivals else ():
            for rival_key, value in numbers.items():
                name = getattr(rival_key, self.rivals)
                if rival_key != key and key._replace(**{self.rivals: name}) == rival_key:
                    rivals[f"{owner} {name}"] = value
        return rivals | self.constants


class Note(Rule):
    """What is said of some numbers.

    Attributes:
        note: the text.
        test: the test that pins it down, if one does.
        data: the value of `data` for which the note holds, if not for both.
        run: whether the note is about data sets that were run, or about those that were not.
        without_error: whether it is about numbers alone whose standard error is not known.
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
    """Return the first rule about the number at `key`, in our `table`; None if there is none."""
    return next((rule for rule in rules if rule.fits(key, table)), None)


class Reproduced(NamedTuple):
    """One of our numbers, in the printed unit.

    Attributes:
        value: the number.
        sd: its standard deviation, NaN for none.
        note: why it is not comparable; empty if it is.
        error: its part of the standard error of a difference of two means, NaN if the deviation
            itself is that.
        freedom: degrees of freedom of the error, NaN if nothing was estimated.
        draws: how many draws are behind the printed standard deviation.
    """

    value: float
    sd: float = math.nan
    note: str = ""
    error: float = math.nan
    freedom: float = math.nan
    draws: int = 1


class Number(Entry):
    """The columns of our table that hold a number, its deviation, and what is taken off it.

    Attributes:
        value, sd, less: columns of the number, of its deviation, and of what is subtracted.
        error, freedom: columns of our part of the standard error of a difference of means, and of
            its degrees of freedom.
        runs: instead of these two, the column with the number of our runs behind mean and standard
            deviation. The printed number is one more run. Without error and runs the deviation is
            known, not estimated.
        printed_draws: how many draws are behind the printed standard deviation.
        unit: the unit of the printed number.
        compared: whether fidelity.csv holds our number against the printed one.
        shown: whether the page shows the printed number beside ours.
        title: the heading on the page, by default "printed" and the first word of the printed
            column.
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
        """Return a row's number; NaN if the table lacks a column, as not every task has all."""
        names = self.value, self.sd, self.error, self.freedom, self.runs
        value, sd, error, freedom, runs = (row.get(name, math.nan) for name in names)
        if self.less:
            value = value - row.get(self.less, math.nan)
        value, sd, error = (float(_UNITS[self.unit] * number) for number in (value, sd, error))
        if runs > 1:
            error, freedom = standard_error([VariancePart(sd**2 * (1 + 1 / runs), runs - 1)])
        draws = self.printed_draws
        return Reproduced(value, sd, error=error, freedom=float(freedom), draws=draws)


def _expand_column_name(value: object) -> object:
    return {"value": value} if isinstance(value, str) else value


class ExplanationOfPrint(Entry):
    """Why a number that the paper does not state like this is the printed one; a test shows it."""

    note: str
    test: str


class TableDeclaration(Entry):
    """Rows of one of our tables (or of several alike) beside an item of the paper (or several).

    Attributes:
        where: the value or pattern that a row must have in each column; ``$name`` stands for the
            run's own setting.
        numbers: our columns, by the printed column.
        explains: why these rows are not what the paper states. If those differ from the print and
            these agree, the number is explained.
    """

    table: Texts
    item: Texts = ["{table}"]
    dataset: str = "{dataset}"
    row: str
    where: dict[str, Any] = {}
    explains: ExplanationOfPrint | None = None
    numbers: dict[str, Annotated[Number, BeforeValidator(_expand_column_name)]]


class Paper(Entry):
    """All that is declared about one paper. If several rules are about a number, the first counts.

    Attributes:
        parameters: as printed, nested.
        altered: the note on numbers of other parameters, with ``{differences}``.
        beside: which rows of our tables belong to which printed numbers.
        rests_on: the parameters that numbers are computed from.
        judged: how numbers are judged whose digits do not say all.
        limits: what is known of numbers that were not run.
        explanations: why numbers differ.
        agreeing: notes on numbers that agree, but not with what is printed of how they were made.
        inputs: notes on numbers that repeat a parameter.
        not_comparable: notes on numbers that are compared with nothing.
        not_run: notes on numbers that were not run.
        remarks: notes on numbers that differ, which say what was tried.
        doubts: notes on numbers that were not run or are not comparable; all that fit are shown.
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
        """Return the declarations about one of our tables."""
        return [beside for beside in self.beside if name in beside.table]


def read_paper(path: Path) -> Paper:
    """Read what is declared of the paper that the file is named after.

    Raises:
        ValueError: the file says anything but what is documented here. The message is one line with
            the file and the place in it.
    """
    try:
        declared = yaml.safe_load(path.read_text(encoding="utf-8"))
        return Paper.model_validate({"paper": path.stem, **declared})
    except yaml.YAMLError as error:
        raise ValueError(f"{path}: {' '.join(str(error).split())}") from None
    except ValidationError as error:
        first = error.errors()[0]
        location = ".".join(map(str, first["loc"]))
        raise ValueError(f"{path}: {location}: {first['msg']}") from None


@functools.cache
def load_paper(name: str) -> Paper:
    """Return what is declared of a paper; an empty declaration if it has no numbers to compare."""
    path = FOLDER / f"{name}.yaml"
    return read_paper(path) if path.is_file() else Paper(paper=name, beside=[])
