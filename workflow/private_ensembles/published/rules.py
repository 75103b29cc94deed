"""Rules of a paper's YAML: which printed numbers something is said about, and what is said.

A pattern is a text with ``*`` and ``?``; of several, one must fit.
"""

from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict

from private_ensembles.published.explanations import EXPLANATIONS
from private_ensembles.published.limits import LIMITS
from private_ensembles.published.printed import Key


def _one_of(functions: Mapping[str, Any]) -> AfterValidator:
    def check(name: str) -> str:
        if name not in functions:
            raise ValueError(f"{name!r} must be one of {', '.join(functions)}")
        return name

    return AfterValidator(check)


def _as_list(value: object) -> object:
    return [value] if isinstance(value, str) else value


Texts = Annotated[list[str], BeforeValidator(_as_list)]


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
            any(fnmatchcase(parts[name], pattern) for pattern in getattr(self, name))
            for name in ("table", "item", "dataset", "row", "column")
        )


class Repeated(Rule):
    """Numbers that repeat a parameter, or that no result could differ from; note: which of them."""

    note: str = ""


class RestsOn(Rule):
    """Parameters, or groups of them, that numbers are computed from."""

    parameters: Texts


class Noted(Rule):
    """A note on numbers."""

    note: str


class NotComparable(Noted):
    """Why numbers are compared with nothing; where: as in `Beside`.

    without_error: those alone whose standard error is not known.
    """

    where: dict[str, Any] = {}
    without_error: bool = False


class NotRun(Rule):
    """Why numbers were not computed: with data as configured, of data sets that were run or not."""

    data: Literal["embedded", "paper"] | None = None
    run: bool | None = None
    because: str


class Agreeing(Noted):
    """Numbers that agree, but not with what is printed of how they were made; test: says so."""

    test: str


class Limited(Noted):
    """Numbers of which something follows without data: `function` gives their least and largest.

    If both are one number, it is compared as ours; test: pins the limits down.
    """

    function: Annotated[str, _one_of(LIMITS)]
    test: str

    def of(self, cell: Mapping[str, str]) -> tuple[float, float]:
        """Return the limits of a printed number (a row of `read_published`)."""
        return LIMITS[self.function](cell)


class Unit(Noted):
    """Numbers whose digits do not say how they are meant.

    half: half of their unit; side: ``below`` if ours must be less, ``above`` if it must be
    more.
    """

    half: float = 0.0
    side: Literal["", "below", "above"] = ""

    def agrees(self, value: float, printed: float) -> bool:
        """Tell whether a number of ours is the printed one, or on its side of it."""
        if self.side:
            return value < printed if self.side == "below" else value > printed
        return abs(value - printed) <= self.half


class Rivals(Rule):
    """What a verdict on numbers must tell them from: other mechanisms' numbers, and constants.

    by: whether a mechanism is a column or a row of the table. others: those columns or rows.
    constants: by name, in the printed unit.
    """

    by: Literal["column", "row"] = "column"
    others: Texts = ["*"]
    constants: dict[str, float] = {}

    def other(self, key: Key, other: Key) -> str:
        """Name the mechanism of the number at `other`, empty if it is no rival to `key`'s."""
        name = getattr(other, self.by)
        alike = key._replace(**{self.by: name}) == other and key != other
        return name if alike and any(fnmatchcase(name, pattern) for pattern in self.others) else ""


class Explanation(Noted):
    """Why a printed number is not ours: `function` recomputes it, `test` pins that down."""

    function: Annotated[str, _one_of(EXPLANATIONS)]
    test: str

    def holds(self, cell: Mapping[str, str]) -> bool:
        """Tell whether the function gives a printed number (a row of `read_published`)."""
        return EXPLANATIONS[self.function](cell)


def first_that_fits(rules: Iterable, key: Key, table: str = ""):
    """Return the first rule about the number at `key`, of our `table`, or None."""
    return next((rule for rule in rules if rule.fits(key, table)), None)
