"""Types that sections of the configuration share, and how a section reports what is wrong."""

import os
from collections.abc import Callable, Iterator
from typing import Annotated, Any, Self, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PrivateAttr,
    ValidationInfo,
    WrapValidator,
    model_validator,
)
from pydantic_core import PydanticCustomError

from private_ensembles.base import limits
from private_ensembles.base.parameter_names import plain_number

# A mistake is a key (relative to the section that reports it), its value, and what is allowed.
Mistake = tuple[str, object, str]
# This is the default of a key that may be left out; if it is given, it has a value of its type.
LEFT_OUT: Any = None


def describe_key(description: str, default: Any = ...) -> Any:
    """Return the Field of a key with its description.

    Args:
        description: what the key means, for the documentation of the configuration.
        default: the value of a key that is left out; without one, the key is required.
    """
    return Field(default, description=description)


def mistake_error(key: str, value: object, allowed: str) -> PydanticCustomError:
    """Return the error that reports a :data:`Mistake`.

    Args:
        key: relative to the section that reports it; empty for the value that is checked itself.
        value: what the configuration has.
        allowed: what it may have; {here} in it stands for the path of the section.
    """
    return PydanticCustomError("mistake", "{key}", {"key": key, "value": value, "allowed": allowed})


def find_numbers_above(
    key: str, value: float | list[int] | list[float], limit: float, name: str
) -> Iterator[Mistake]:
    """Yield a mistake for each number of a key that is above a limit.

    Args:
        key: where the numbers are in the configuration.
        value: a list of numbers, or a single one.
        limit: the largest number that is allowed.
        name: the key that holds the limit.
    """
    all_numbers: dict[str, float]
    if isinstance(value, list):
        all_numbers = {f"{key}[{index}]": number for index, number in enumerate(value)}
    else:
        all_numbers = {key: value}
    for path, number in all_numbers.items():
        if number > limit:
            yield path, number, f"at most {name} = {limit}"


class Section(BaseModel):
    """A part of the configuration: no unknown keys, and values of exactly the stated types."""

    model_config = ConfigDict(extra="forbid", strict=True)

    def mistakes(self) -> Iterator[Mistake]:
        """Yield what is wrong between keys of this section; keys are relative to it."""
        return iter(())

    @model_validator(mode="after")
    def _has_no_mistakes(self) -> Self:
        for mistake in self.mistakes():
            raise mistake_error(*mistake)
        return self

    def to_dict(self) -> dict:
        """Return the keys that were given, as dictionaries, lists, text and numbers."""
        return self.model_dump(exclude_unset=True)

    def pick(self, *names: str) -> dict:
        """Return those of `names` that were given, in their order, as :meth:`to_dict` does."""
        values = self.to_dict()
        return {name: values[name] for name in names if name in values}


class MainSection(Section):
    """A section at the top of the configuration, which knows the whole of it."""

    _settings: Any = PrivateAttr(None)  # a Configuration, once all of it has been read

    def conflicts(self) -> Iterator[Mistake]:
        """Yield what is wrong beside other sections; keys start at the top."""
        return iter(())


# Files -------------------------------------------------------------------------------------------


def list_candidate_paths(name: str, info: ValidationInfo) -> list[str]:
    """Return the absolute paths that a relative one may mean, one for each folder of `info`."""
    folders = (info.context or {}).get("folders") or ["."]
    wanted = os.path.expanduser(name)
    paths = (os.path.abspath(os.path.join(folder, wanted)) for folder in folders)
    return list(dict.fromkeys(paths))


def find_file(name: str, info: ValidationInfo) -> str | None:
    """Return the first of the candidate paths at which there is a file; None if there is none."""
    return next(filter(os.path.isfile, list_candidate_paths(name, info)), None)


def _require_file(name: str, info: ValidationInfo) -> str:
    file = find_file(name, info)
    if file is None:
        places = " and ".join(list_candidate_paths(name, info))
        raise mistake_error("", name, f"an existing file (looked at {places})")
    return file


# Numbers -----------------------------------------------------------------------------------------


def _number_from_text(value: Any) -> Any:
    """Return the number that a text stands for, and anything else as it is.

    YAML reads 1e-5 as text. Python would also read 1_0 and the digits of every script, which are
    refused here.
    """
    kinds: tuple[type[int] | type[float], ...] = (int, float)
    plain = isinstance(value, str) and value.isascii() and "_" not in value
    for kind in kinds if plain else ():
        try:
            return kind(value)
        except ValueError:
            continue
    return value


def _coerce_integer(value: Any, check: Callable[[Any], int]) -> int:
    value = _number_from_text(value)
    return check(int(value) if isinstance(value, float) and value.is_integer() else value)


def _coerce_number(value: Any, check: Callable[[Any], float]) -> float:
    # 0.0 becomes 0, or Snakemake would see another parameter and run the job again.
    return plain_number(check(_number_from_text(value)))


def _require_odd(value: int) -> int:
    if value % 2 == 0:
        raise PydanticCustomError("odd", "must be odd")
    return value


def integer(**limits: Any) -> tuple[Any, ...]:
    """Return how an int is read and checked, for ``Annotated[int, *integer(ge=1)]``.

    It may also be written as 3.0 or as text.

    Args:
        limits: what pydantic's Field takes, such as ge and le.
    """
    return Field(**limits), WrapValidator(_coerce_integer)


def odd_integer(**limits: Any) -> tuple[Any, ...]:
    """Return how an odd int is read and checked, as :func:`integer` does."""
    even = {"not": {"multipleOf": 2}}
    return *integer(json_schema_extra=even, **limits), AfterValidator(_require_odd)


def number(**limits: Any) -> tuple[Any, ...]:
    """Return how a finite float is read and checked, for ``Annotated[float, *number(gt=0)]``.

    It may also be written as text.

    Args:
        limits: what pydantic's Field takes, such as gt and le.
    """
    return Field(allow_inf_nan=False, **limits), WrapValidator(_coerce_number)


# No experiment comes near these bounds: what is beyond them is a slip, and is reported at once.
Count = Annotated[int, *integer(ge=1, le=1_000_000)]
Records = Annotated[int, *integer(ge=1, le=1_000_000_000)]
Repetitions = Annotated[int, *integer(ge=1, le=100_000)]
Teachers = Annotated[int, *integer(ge=2, le=limits.MOST_TEACHERS)]
Classes = Annotated[int, *integer(ge=2, le=limits.MOST_CLASSES)]
Seed = Annotated[int, *integer(ge=0, lt=2**63)]
Positive = Annotated[float, *number(gt=0)]
NotNegative = Annotated[float, *number(ge=0)]
Share = Annotated[float, *number(ge=0, le=1)]


# Words, lists, and what may be null ------------------------------------------------------------

T = TypeVar("T")


def _require_distinct(values: list[Any]) -> list[Any]:
    if len(set(map(repr, values))) < len(values):
        raise PydanticCustomError("repetition", "must be a list without repetition")
    return values


def _parse_yes_no(value: Any) -> Any:
    """Return the boolean that a word means: `--config again=yes` hands over text."""
    words = {"yes": True, "true": True, "no": False, "false": False}
    return words.get(value.strip().lower(), value) if isinstance(value, str) else value


def _parse_null(value: Any) -> Any:
    """Return None for a word that means it: `--config n_classes=null` hands over text."""
    is_null = isinstance(value, str) and value.strip().lower() in ("null", "~", "none")
    return None if is_null else value


Distinct = Annotated[
    list[T],
    Field(min_length=1, json_schema_extra={"uniqueItems": True}),
    AfterValidator(_require_distinct),
]
# A list as above that has at least two values.
Several = Annotated[
    list[T],
    Field(min_length=2, json_schema_extra={"uniqueItems": True}),
    AfterValidator(_require_distinct),
]


def _split_at_commas(value: Any) -> Any:
    """Return the parts of a text: `--config already_spent=1.5,1e-5` hands over text."""
    return value.split(",") if isinstance(value, str) else value


Pair = Annotated[list[T], Field(min_length=2, max_length=2)]
YesNo = Annotated[bool, BeforeValidator(_parse_yes_no)]
Maybe = Annotated[T | None, BeforeValidator(_parse_null)]
Text = Annotated[str, Field(min_length=1)]
File = AfterValidator(_require_file)
# It becomes a part of a path, so it may be neither "." nor "..".
BatchName = Annotated[str, Field(pattern=r"^[\w.-]*[\w-][\w.-]*$", max_length=200)]
# Names become parts of paths and of wildcards.
Name = Annotated[str, Field(pattern="^[a-z][a-z0-9-]*$")]
Named = Annotated[dict[Name, T], Field(min_length=1)]


# What the papers speak of ------------------------------------------------------------------------

K_WORDS = "Teachers per ensemble; odd, so that two classes never tie."
MOST_K = 9999
OddCount = Annotated[int, *odd_integer(ge=1, le=MOST_K)]
K = Annotated[OddCount, describe_key(K_WORDS)]
Allowance = Annotated[Count, describe_key("Privacy allowance m.")]
Allowances = Annotated[Distinct[Count], describe_key("Privacy allowances m, each from 1 to K.")]
Sizes = Annotated[Distinct[OddCount], describe_key("Numbers of teachers, odd.")]
Loss = Annotated[float, *number(gt=0, le=limits.MOST_EPSILON)]
Epsilon = Annotated[Loss, describe_key("Privacy loss epsilon of one teacher.")]
Epsilons = Annotated[Distinct[Loss], describe_key("Privacy losses epsilon.")]
# All labels together may cost as much as the command and Python allow.
TotalEpsilon = Annotated[float, *number(ge=limits.LEAST_EPSILON, le=limits.MOST_EPSILON)]
# A budget that was spent before is a list of epsilon and delta.
Spent = Annotated[Pair[NotNegative], BeforeValidator(_split_at_commas)]
Delta = Annotated[float, *number(ge=0, lt=1), describe_key("Privacy loss Delta of one teacher.")]
BelowHalf = Distinct[Annotated[float, *number(ge=0, lt=0.5)]]
Deltas = Annotated[BelowHalf, describe_key("Privacy losses Delta of one teacher, below 1/2.")]
SmallDelta = Annotated[
    float,
    *number(ge=limits.LEAST_DELTA, lt=1),
    describe_key("Probability with which a guarantee may fail."),
]
Counts = Annotated[Distinct[Count], describe_key("Whole numbers from 1 to a million.")]
Seeds = Distinct[Seed]
Queries = Annotated[Distinct[Count], describe_key("Numbers of queries.")]
Votes = Annotated[Positive, describe_key("A number of votes, such as the scale of noise.")]


class Orders(Section):
    """Grid of Renyi orders."""

    order_max: Annotated[float, *number(gt=1, le=10000)] = Field(description="Largest order.")
    order_step: Annotated[float, *number(ge=0.01, le=100)] = Field(
        description="Distance of the orders."
    )
