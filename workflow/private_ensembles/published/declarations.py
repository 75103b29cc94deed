"""What of ours stands beside a paper's printed numbers, as ``workflow/published/*.yaml`` say it.

A text with braces is filled in: in `Beside` from the row of our table (``{table}``: its name),
elsewhere from the number's key. A pattern is a text with ``*`` and ``?``; of several, one must fit.
"""

import math
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, ValidationError

from private_ensembles.published.explanations import EXPLANATIONS
from private_ensembles.published.limits import LIMITS
from private_ensembles.published.printed import FOLDER, Key

_UNITS = {
    "one": float,
    "percent": lambda value: 100 * value,
    "thousands": lambda value: value / 1000,
}


def _one_of(functions: Mapping[str, Any]) -> AfterValidator:
    def check(name: str) -> str:
        if name not in functions:
            raise ValueError(f"{name!r} must be one of {', '.join(functions)}")
        return name

    return AfterValidator(check)


def _as_list(given: object) -> object:
    return [given] if isinstance(given, str) else given


def _as_number(given: object) -> object:
    return {"value": given} if isinstance(given, str) else given


Texts = Annotated[list[str], BeforeValidator(_as_list)]


class _Entry(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Number(_Entry):
    """Columns of our table: the number, its standard deviation, and what is taken off it.

    error: our part of the standard error of a difference of means; printed_draws: how many are
    behind the printed standard deviation. unit: of the printed number. compared: whether
    fidelity.csv holds the number against the printed one. shown: whether the page shows the printed
    one beside it, under `title` (by default "printed" and the first word of the printed column).
    instead: whether it takes the place of what an earlier table says there, and is compared where
    that is not.
    """

    value: str
    sd: str = ""
    error: str = ""
    printed_draws: int = 1
    less: str = ""
    unit: Literal["one", "percent", "thousands"] = "one"
    compared: bool = True
    shown: bool = True
    instead: bool = False
    title: str = ""

    def of(self, row: Mapping[str, Any]) -> tuple[float, float, float]:
        """Return a row's number, its standard deviation and its error in the printed unit.

        NaN for none, and for what a table lacks: some quantities have a column only where a task
        has them.
        """
        names = self.value, self.sd, self.error
        value, sd, error = (row.get(name, math.nan) for name in names)
        if self.less:
            value = value - row.get(self.less, math.nan)
        value, sd, error = (float(_UNITS[self.unit](x)) for x in (value, sd, error))
        return value, sd, error


class Cause(_Entry):
    """Why a number that the paper does not state like this is the printed one; test: says so."""

    note: str
    test: str


class Beside(_Entry):
    """Rows of one of our tables (or several alike) beside an item of the paper (or several).

    where: column -> value or pattern that a row must have; ``$name`` is the run's own setting.
    numbers: printed column -> ours. explains: the rows are not what the paper states; where those
    differ from the print and these agree, the number is explained.
    """

    table: Texts
    item: Texts = ["{table}"]
    dataset: str = "{dataset}"
    row: str
    where: dict[str, Any] = {}
    explains: Cause | None = None
    numbers: dict[str, Annotated[Number, BeforeValidator(_as_number)]]


class _Rule(_Entry):
    """Which numbers something is said about: by their keys and the table of ours they are from."""

    table: Texts = ["*"]
    item: Texts = ["*"]
    dataset: Texts = ["*"]
    row: Texts = ["*"]
    column: Texts = ["*"]

    def fits(self, key: Key, table: str = "") -> bool:
        """Tell whether the rule is about the number at `key`, of our `table` if of any."""
        given = {**key._asdict(), "table": table}
        return all(
            any(fnmatchcase(given[name], pattern) for pattern in getattr(self, name))
            for name in ("table", "item", "dataset", "row", "column")
        )


class RestsOn(_Rule):
    """Parameters, or groups of them, that numbers are computed from."""

    parameters: Texts


class Noted(_Rule):
    """A note on numbers."""

    note: str


class NotComparable(Noted):
    """Why numbers are compared with nothing; where: as in `Beside`; without_sd: those without."""

    where: dict[str, Any] = {}
    without_sd: bool = False


class NotRun(_Rule):
    """Why numbers were not computed: with data as configured, of data sets that were run or not."""

    data: Literal["embedded", "paper"] | None = None
    run: bool | None = None
    because: str


class Agreeing(Noted):
    """Numbers that agree, but not with what is printed of how they were made; test: says so."""

    test: str


class Limited(Noted):
    """Numbers of which something follows without data: `function` gives their least and largest.

    Where both are one number it is compared as ours; test: pins the limits down.
    """

    function: Annotated[str, _one_of(LIMITS)]
    test: str

    def of(self, cell: Mapping[str, str]) -> tuple[float, float]:
        """Return the limits of a printed number (a row of `read_published`)."""
        return LIMITS[self.function](cell)


class Unit(Noted):
    """Numbers whose digits do not say how they are meant.

    half: half of their unit; side: ``below`` where ours must be less, ``above`` where it must be
    more.
    """

    half: float = 0.0
    side: Literal["", "below", "above"] = ""

    def agrees(self, value: float, printed: float) -> bool:
        """Tell whether a number of ours is the printed one, or on its side of it."""
        if self.side:
            return value < printed if self.side == "below" else value > printed
        return abs(value - printed) <= self.half


class Rivals(_Rule):
    """What a verdict on numbers must tell them from: the row's other columns, and constants.

    constants: by name, in the printed unit.
    """

    constants: dict[str, float] = {}


class Explanation(Noted):
    """Why a printed number is not ours: `function` recomputes it, `test` pins that down."""

    function: Annotated[str, _one_of(EXPLANATIONS)]
    test: str

    def holds(self, cell: Mapping[str, str]) -> bool:
        """Tell whether the function gives a printed number (a row of `read_published`)."""
        return EXPLANATIONS[self.function](cell)


class Paper(_Entry):
    """All that is declared of one paper. Of rules about the same number the first counts.

    parameters: as printed, nested. altered: the note on numbers of other parameters, with
    ``{differences}``. doubts: what else is said of numbers that are not compared, all that fit.
    remarks: what was tried where a number differs. inputs: parameters that are printed again.
    limits: what is known of numbers that were not run. units: how digits are meant that do not say
    so.
    """

    paper: str
    parameters: dict[str, Any] = {}
    altered: str = "Not the paper's parameters: {differences}."
    beside: list[Beside]
    rests_on: list[RestsOn] = []
    not_comparable: list[NotComparable] = []
    doubts: list[Noted] = []
    not_run: list[NotRun] = []
    explanations: list[Explanation] = []
    agreeing: list[Agreeing] = []
    inputs: list[_Rule] = []
    limits: list[Limited] = []
    units: list[Unit] = []
    rivals: list[Rivals] = []
    remarks: list[Noted] = []

    def tables(self) -> list[str]:
        """Return the names of our tables that stand beside printed numbers, in their order."""
        return list(dict.fromkeys(name for beside in self.beside for name in beside.table))

    def alternatives(
        self, key: Key, printed: Mapping[Key, float], ours: Mapping[Key, float]
    ) -> dict[str, float]:
        """Return, by name, what a verdict on the number at `key` must tell it from."""
        rule = first_that_fits(self.rivals, key)
        if rule is None:
            return {}
        others = {
            f"{who} {other.column}": value
            for who, numbers in (("printed", printed), ("our", ours))
            for other, value in numbers.items()
            if other[:-1] == key[:-1] and other.column != key.column
        }
        return others | rule.constants

    def beside_table(self, name: str) -> list[Beside]:
        """Return what is declared of one of our tables."""
        return [beside for beside in self.beside if name in beside.table]


def first_that_fits(rules: Iterable, key: Key, table: str = ""):
    """Return the first rule about the number at `key`, of our `table`, or None."""
    return next((rule for rule in rules if rule.fits(key, table)), None)


def read_paper(path: Path) -> Paper:
    """Read what is declared of the paper that the file is named after.

    Raises ValueError in one line, with file and place, for anything but what is documented here.
    """
    try:
        given = yaml.safe_load(path.read_text(encoding="utf-8"))
        return Paper.model_validate({"paper": path.stem, **given})
    except yaml.YAMLError as error:
        raise ValueError(f"{path}: {' '.join(str(error).split())}") from None
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise ValueError(f"{path}: {place}: {first['msg']}") from None


@cache
def paper(name: str) -> Paper:
    """Return what is declared of a paper; nothing of one that has no numbers to compare."""
    path = FOLDER / f"{name}.yaml"
    return read_paper(path) if path.is_file() else Paper(paper=name, beside=[])
