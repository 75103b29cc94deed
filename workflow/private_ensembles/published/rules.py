"""Rules of a paper's YAML: which printed numbers something is said about, and what is said.

A pattern is a text with ``*`` and ``?``; of several, one must fit.
"""

import functools
from collections.abc import Callable, Iterable, Mapping
from fnmatch import fnmatchcase
from inspect import isfunction
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict

from private_ensembles.published import (
    explanations,
    limits,
    statements_of_darrm,
    statements_of_dpbag,
    statements_of_nzc,
    statements_of_pate,
)
from private_ensembles.published.printed import Key

# Whose functions the YAML files name.
_MODULES = (
    explanations,
    limits,
    statements_of_darrm,
    statements_of_dpbag,
    statements_of_nzc,
    statements_of_pate,
)

Texts = Annotated[
    list[str], BeforeValidator(lambda value: [value] if isinstance(value, str) else value)
]


def function_of(name: str) -> Callable:
    """Return the function of that name that recomputes a printed number, or gives its limits.

    Raises ValueError if there is none.
    """
    for module in _MODULES:
        function = vars(module).get(name)
        if isfunction(function) and function.__module__ == module.__name__:
            return function
    raise ValueError(f"{name!r} must be a function of explanations, limits or statements_of_*")


def _is_function(name: str) -> str:
    function_of(name)
    return name


Function = Annotated[str, AfterValidator(_is_function)]


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


class RestsOn(Rule):
    """Parameters, or groups of them, that numbers are computed from."""

    parameters: Texts


class Judged(Rule):
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


class Explanation(Note):
    """Why a printed number is not ours, which the test pins down: `function` recomputes it."""

    function: Function

    def holds(self, cell: Mapping[str, str]) -> bool:
        """Tell whether the function gives a printed number (a row of `read_published`)."""
        return function_of(self.function)(cell)


class Limited(Note):
    """Numbers of which something follows without data: `function` gives their least and largest.

    If both are one number, it is compared as ours. The note may name them as {low} and {high}.
    """

    function: Function

    def of(self, key: Key) -> tuple[float, float]:
        """Return the limits of the number that is printed at `key`."""
        return _limits(self.function, key)


@functools.cache  # some take a second, and every comparison asks
def _limits(name: str, key: Key) -> tuple[float, float]:
    numbers = function_of(name)(key._asdict())
    return numbers if isinstance(numbers, tuple) else (numbers, numbers)


def first_that_fits(rules: Iterable, key: Key, table: str = ""):
    """Return the first rule about the number at `key`, of our `table`, or None."""
    return next((rule for rule in rules if rule.fits(key, table)), None)
