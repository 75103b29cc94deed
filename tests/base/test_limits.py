"""The range of budgets is one; what is beyond it is refused in one line wherever it is given."""

import math

import pytest

from private_ensembles import (
    Budget,
    Ensemble,
    Protection,
    noise_scale,
    plan,
    release_labels,
)
from private_ensembles.base import limits
from private_ensembles.command import main
from private_ensembles.release import section
from tests.ranges import check_ends

BEYOND = [
    ("epsilon", 1e9),
    ("epsilon", 1e-9),
    ("epsilon", 0.0),
    ("epsilon", float("nan")),
    ("delta", 1e-150),
    ("delta", 0.0),
    ("delta", 1.0),
]


@pytest.mark.parametrize(("name", "value"), BEYOND)
def test_python_refuses_what_is_beyond_the_range(name, value):
    budget = {"epsilon": 1.0, "delta": 1e-5} | {name: value}
    for ask in (
        lambda: limits.check_budget(**budget),
        lambda: plan(Ensemble(9, 2), Budget(**budget), 3),
        lambda: noise_scale("gnmax", labels=1, teachers=9, **budget),
        lambda: release_labels([[5, 4]], Budget(**budget), Protection.disjoint()),
    ):
        with pytest.raises(ValueError, match=f"^{name} = .*: must be ") as refused:
            ask()
        assert "\n" not in str(refused.value)


@pytest.mark.parametrize(("name", "value"), BEYOND)
def test_the_command_refuses_what_is_beyond_the_range(name, value, capsys):
    sizes = ["--teachers", "9", "--classes", "2", "--queries", "3"]
    assert main.main(["plan", *sizes, f"--{name}", str(value)]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert f"{name} = {value}: must be " in shown.err
    assert shown.err.count("\n") == 1


def test_the_configuration_has_the_same_range():
    keys = section.Budget.model_json_schema()["properties"]
    assert keys["epsilon"]["minimum"] == limits.LEAST_EPSILON
    assert keys["epsilon"]["maximum"] == limits.MOST_EPSILON
    assert keys["delta"]["minimum"] == limits.LEAST_DELTA
    assert keys["delta"]["exclusiveMaximum"] == 1


def check_epsilon(value):
    limits.check_budget(value, 1e-5)


def check_delta(value):
    limits.check_budget(1.0, value)


RANGES = {
    "epsilon": (
        check_epsilon,
        (math.nextafter(1e-6, 0), math.nextafter(100.0, 101), math.inf),
        (1e-6, 1, 100),
    ),
    "delta": (
        check_delta,
        (math.nextafter(1e-100, 0), 1, math.inf),
        (1e-100, 0.5, math.nextafter(1.0, 0)),
    ),
    "teachers": (lambda n: limits.check_size(n, 2), (1_000_001,), (1, 1_000_000)),
    "classes": (lambda n: limits.check_size(2, n), (100_001,), (2, 100_000)),
}


@pytest.mark.parametrize("name", RANGES)
def test_the_ends_of_a_range_are_taken_and_what_lies_beyond_is_refused(name):
    check_ends(*RANGES[name])


@pytest.mark.parametrize("name", ["epsilon", "delta"])
def test_what_is_asked_of_a_budget_is_what_is_checked(name):
    _, refused, taken = RANGES[name]
    for values, expected in ((refused, False), (taken, True)):
        for value in values:
            budget = {"epsilon": 1.0, "delta": 1e-5} | {name: value}
            assert limits.is_budget(**budget) == expected
