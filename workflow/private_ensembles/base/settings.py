"""The types that sections of the configuration share, and how a section says what is wrong."""

import os
from collections.abc import Iterator
from typing import Annotated, Any, TypeVar

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

# What is wrong: the key (relative to the section that says so), its value, and what is allowed.
Mistake = tuple[str, object, str]
# The default of a key that may be left out; if it is given, it has a value of its type.
LEFT_OUT: Any = None


def describe_key(description: str, default: Any = ...):
    """Return the Field of a key with its description; the default is that the key is required."""
    return Field(default, description=description)


def mistake_error(key: str, value: object, allowed: str) -> PydanticCustomError:
    """Return the error of a :data:`Mistake`; `allowed` may say {here} for the path of the section.

    An empty key is the value that is looked at itself.
    """
    return PydanticCustomError("mistake", "{key}", {"key": key, "value": value, "allowed": allowed})


def find_numbers_above(key: str, value: object, limit: float, name: str) -> Iterator[Mistake]:
    """Yield the numbers of a key, a list or a single one, above `most`, which `name` holds."""
    all_numbers = {key: value}
    if isinstance(value, list):
        all_numbers = {f"{key}[{index}]": number for index, number in enumerate(value)}
    for path, number in all_numbers.items():
        if number > limit:
            yield path, number, f"at most {name} = {limit}"


class Section(BaseModel):
    """A part of the configuration: no unknown keys, and values of exactly the stated types."""

    model_config = ConfigDict(extra="forbid", strict=True)

    def mistakes(self) -> Iterator[Mistake]:
        """Yield what no single key of this section can show; keys are relative to it."""
        return iter(())

    @model_validator(mode="after")
    def _has_no_mistakes(self):
        for mistake in self.mistakes():
            raise mistake_error(*mistake)
        return self

    def to_dict(self) -> dict:
        """Return what was given, as dictionaries, lists, text and numbers."""
        return self.model_dump(exclude_unset=True)

    def pick(self, *names: str) -> dict:
        """Return what was given of `names`, in their order, as :meth:`plain` does."""
        values = self.to_dict()
        return {name: values[name] for name in names if name in values}


class MainSection(Section):
    """A section at the top of the configuration, which knows the whole of it."""

    _settings: Any = PrivateAttr(None)  # a Configuration, once all of it has been read

    def conflicts(self) -> Iterator[Mistake]:
        """Yield what only shows beside other sections; keys start at the top."""
        return iter(())


# Files -------------------------------------------------------------------------------------------


def list_candidate_paths(name: str, info: ValidationInfo) -> list[str]:
    """Return where a relative path may lead: from each folder that it may be relative to."""
    folders = (info.context or {}).get("folders") or ["."]
    wanted = os.path.expanduser(name)
    paths = (os.path.abspath(os.path.join(folder, wanted)) for folder in folders)
    return list(dict.fromkeys(paths))


def find_file(name: str, info: ValidationInfo) -> str | None:
    """Return the path of a file that is there; None if there is none."""
    return next(filter(os.path.isfile, list_candidate_paths(name, info)), None)


def _require_file(name: str, info: ValidationInfo) -> str:
    file = find_file(name, info)
    if file is None:
        places = " and ".join(list_candidate_paths(name, info))
        raise mistake_error("", name, f"an existing file (looked at {places})")
    return file


# Numbers -----------------------------------------------------------------------------------------


def _number_from_text(value):
    """Return the number that a text stands for: YAML reads 1e-5 as text.

    Python also reads 1_0, and the digits of every script.
    """
    plain = isinstance(value, str) and value.isascii() and "_" not in value
    for kind in (int, float) if plain else ():
        try:
            return kind(value)
        except ValueError:
            continue
    return value


def _coerce_integer(value, check):
    value = _number_from_text(value)
    return check(int(value) if isinstance(value, float) and value.is_integer() else value)


def _coerce_number(value, check):
    # 0 for 0.0 as well, or Snakemake would see another parameter.
    return plain_number(check(_number_from_text(value)))


def _require_odd(value: int) -> int:
    if value % 2 == 0:
        raise PydanticCustomError("odd", "must be odd")
    return value


def integer(**limits):
    """Return the type of integers, also written as 3.0 or as text; limits: as for a Field."""
    return Annotated[int, Field(**limits), WrapValidator(_coerce_integer)]


def odd_integer(**limits):
    """Return the type of odd integers."""
    even = {"not": {"multipleOf": 2}}
    return Annotated[integer(json_schema_extra=even, **limits), AfterValidator(_require_odd)]


def number(**limits):
    """Return the type of finite numbers, also written as text; limits: as for a Field."""
    return Annotated[float, Field(allow_inf_nan=False, **limits), WrapValidator(_coerce_number)]


# Bounds that no experiment comes near: what is beyond them is a slip, and is said at once.
Count = integer(ge=1, le=1_000_000)
Records = integer(ge=1, le=1_000_000_000)
Repetitions = integer(ge=1, le=100_000)
Teachers = integer(ge=2, le=limits.MOST_TEACHERS)
Classes = integer(ge=2, le=limits.MOST_CLASSES)
Seed = integer(ge=0, lt=2**63)
Positive = number(gt=0)
NotNegative = number(ge=0)
Share = number(ge=0, le=1)


# Words, lists, and what may be null ------------------------------------------------------------

T = TypeVar("T")


def _require_distinct(values: list) -> list:
    if len(set(map(repr, values))) < len(values):
        raise PydanticCustomError("repetition", "must be a list without repetition")
    return values


def _parse_yes_no(value):
    """`--config again=yes` hands over text."""
    words = {"yes": True, "true": True, "no": False, "false": False}
    return words.get(value.strip().lower(), value) if isinstance(value, str) else value


def _parse_null(value):
    """`--config n_classes=null` hands over text."""
    is_null = isinstance(value, str) and value.strip().lower() in ("null", "~", "none")
    return None if is_null else value


Distinct = Annotated[
    list[T],
    Field(min_length=1, json_schema_extra={"uniqueItems": True}),
    AfterValidator(_require_distinct),
]
# The same, of two values or more.
Several = Annotated[
    list[T],
    Field(min_length=2, json_schema_extra={"uniqueItems": True}),
    AfterValidator(_require_distinct),
]


def _parts(value):
    """`--config already_spent=1.5,1e-5` hands over text."""
    return value.split(",") if isinstance(value, str) else value


Pair = Annotated[list[T], Field(min_length=2, max_length=2)]
YesNo = Annotated[bool, BeforeValidator(_parse_yes_no)]
Maybe = Annotated[T | None, BeforeValidator(_parse_null)]
Text = Annotated[str, Field(min_length=1)]
File = AfterValidator(_require_file)
# A part of a path, so that it may not be . or ...
BatchName = Annotated[str, Field(pattern=r"^[\w.-]*[\w-][\w.-]*$", max_length=200)]
# Names become parts of paths and of wildcards.
Name = Annotated[str, Field(pattern="^[a-z][a-z0-9-]*$")]
Named = Annotated[dict[Name, T], Field(min_length=1)]


# What the papers speak of ------------------------------------------------------------------------

K_WORDS = "Teachers per ensemble; odd, so that two classes never tie."
MOST_K = 9999
K = Annotated[odd_integer(ge=1, le=MOST_K), describe_key(K_WORDS)]
Allowance = Annotated[Count, describe_key("Privacy allowance m.")]
Allowances = Annotated[Distinct[Count], describe_key("Privacy allowances m, each from 1 to K.")]
Sizes = Annotated[Distinct[odd_integer(ge=1, le=MOST_K)], describe_key("Numbers of teachers, odd.")]
Loss = number(gt=0, le=limits.MOST_EPSILON)
Epsilon = Annotated[Loss, describe_key("Privacy loss epsilon of one teacher.")]
Epsilons = Annotated[Distinct[Loss], describe_key("Privacy losses epsilon.")]
# What all labels together may cost: as the command and Python have it.
TotalEpsilon = number(ge=limits.LEAST_EPSILON, le=limits.MOST_EPSILON)
# Epsilon and delta.
Spent = Annotated[Pair[NotNegative], BeforeValidator(_parts)]
Delta = Annotated[number(ge=0, lt=1), describe_key("Privacy loss Delta of one teacher.")]
BelowHalf = Distinct[number(ge=0, lt=0.5)]
Deltas = Annotated[BelowHalf, describe_key("Privacy losses Delta of one teacher, below 1/2.")]
SmallDelta = Annotated[
    number(ge=limits.LEAST_DELTA, lt=1),
    describe_key("Probability with which a guarantee may fail."),
]
Counts = Annotated[Distinct[Count], describe_key("Whole numbers from 1 to a million.")]
Seeds = Distinct[Seed]
Queries = Annotated[Distinct[Count], describe_key("Numbers of queries.")]
Votes = Annotated[Positive, describe_key("A number of votes, such as the scale of noise.")]


class Orders(Section):
    """Grid of Renyi orders."""

    order_max: number(gt=1, le=10000) = Field(description="Largest order.")
    order_step: number(ge=0.01, le=100) = Field(description="Distance of the orders.")
