"""Numbers of ours that have a place among the printed ones, and parameters that have changed."""

import math

import pandas as pd
import pytest

from private_ensembles.papers.compare.declarations import Paper, load_paper
from private_ensembles.papers.compare.printed import Key
from private_ensembles.papers.compare.reproduced import (
    describe_changed_parameters,
    describe_differences,
    other_readings,
    reproduced_numbers,
)

DARRM = load_paper("darrm")


def toy(**changes):
    """A paper with one table of ours."""
    beside = {"table": "table1", "row": "n={n}", "numbers": {"epsilon": "ours"}}
    return Paper.model_validate({"paper": "toy", "beside": [beside | changes]})


def numbers(declared, rows, **run):
    found = reproduced_numbers(declared, {"table1": pd.DataFrame(rows)}, run)
    return {key[1:]: (number.value, number.sd) for key, number in found.items()}


def test_stand_ins_are_never_compared():
    table = pd.DataFrame(
        {
            "dataset": ["digits", "mnist"],
            "stand_in": [1, 0],
            "queries": [20, 20],
            "mechanism": ["gnmax", "gnmax"],
            "accuracy_mean": [0.6, 0.7],
            "accuracy_sd": [0.1, 0.1],
        }
    )
    found = reproduced_numbers(DARRM, {"table1": table}, {})
    assert list(found) == [("darrm", "table1", "mnist", "Q=20", "gnmax")]


def test_rows_are_chosen_by_values_patterns_and_the_runs_own_settings():
    rows = [
        {"dataset": "a", "n": n, "kind": kind, "delta": delta, "ours": 1.0}
        for n, kind, delta in ((1, "x-1", 1e-5), (2, "x-2", 1e-3), (3, "y", 1e-5))
    ]
    chosen = {
        1: {"kind": "x-*", "n": 1},
        2: {"delta": "$mine"},
        3: {"kind": ["z", "y"], "delta": 0.00001},
    }
    for n, where in chosen.items():
        assert numbers(toy(where=where), rows, mine=1e-3) == {
            ("table1", "a", f"n={n}", "epsilon"): (1.0, pytest.approx(math.nan, nan_ok=True))
        }


def test_numbers_come_in_the_printed_unit():
    row = {"dataset": "a", "n": 1, "ours": 0.25, "sd": 0.01, "asked": 12000, "left": 100}
    ours = {
        "accuracy": {"value": "ours", "sd": "sd", "unit": "percent"},
        "rest": {"value": "asked", "less": "left"},
        "thousands": {"value": "asked", "unit": "thousands"},
        "hidden": {"value": "asked", "compared": False},
    }
    found = numbers(toy(numbers=ours), [row])
    assert {key[3]: value for key, (value, _) in found.items()} == {
        "accuracy": 25.0,
        "rest": 11900.0,
        "thousands": 12.0,
    }
    assert found["table1", "a", "n=1", "accuracy"][1] == 1.0


def test_a_column_that_a_key_needs_is_named_and_a_number_that_is_not_there_was_not_computed():
    with pytest.raises(ValueError, match=r"toy\.yaml: our table1 has no column 'n'"):
        numbers(toy(), [{"dataset": "a"}])
    assert numbers(toy(), [{"dataset": "a", "n": 1}]) == {}


def test_what_another_reading_gives_is_kept_apart():
    cause = {"note": "Because {value:.1f}.", "test": "tests/x.py::y"}
    rows = [{"dataset": "a", "n": 1, "ours": 2.0}]
    apart = toy(explains=cause)
    assert numbers(apart, rows) == {}
    ((key, reading),) = other_readings(apart, {"table1": pd.DataFrame(rows)}, {}).items()
    assert key[1:] == ("table1", "a", "n=1", "epsilon")
    assert (reading.ours.value, reading.cause.note) == (2.0, "Because {value:.1f}.")
    assert other_readings(toy(), {"table1": pd.DataFrame(rows)}, {}) == {}


PRINTED = {"K": 11, "data": {"a": {"epsilon": 0.1, "classes": [5, 8]}, "b": {"epsilon": 0.2}}}


@pytest.mark.parametrize(
    ("ours", "names", "found"),
    [
        ({"K": 11.0}, ["K"], ""),
        ({"K": 5}, ["K"], "K = 5, not 11"),
        ({"K": 5}, ["data"], ""),
        ({}, ["K", "data"], ""),
        ({"data": {"a": {"epsilon": 0.3}}}, ["data.a"], "data.a.epsilon = 0.3, not 0.1"),
        ({"data": {"a": {"epsilon": 0.3}}}, ["data.b", "dat"], ""),
        (
            {"K": 5, "data": {"a": {"classes": [1]}}},
            ["data.a.classes", "K"],
            "K = 5, not 11; data.a.classes = [1], not [5, 8]",
        ),
    ],
)
def test_what_differs_is_named_with_both_values(ours, names, found):
    assert describe_differences(ours, PRINTED, names) == found


def test_a_number_rests_on_what_the_first_rule_says():
    rules = [
        {"column": "gnmax", "parameters": ["data.{dataset}"]},
        {"table": "table1", "parameters": "K"},
    ]
    toy = Paper.model_validate(
        {"paper": "toy", "beside": [], "parameters": PRINTED, "rests_on": rules}
    )
    run = {"K": 5, "data": {"b": {"epsilon": 1}}}
    key = Key("toy", "table1", "b", "row", "gnmax")
    assert describe_changed_parameters(toy, key, "table1", run) == "data.b.epsilon = 1, not 0.2"
    assert describe_changed_parameters(toy, key._replace(dataset="a"), "table1", run) == ""
    assert (
        describe_changed_parameters(toy, key._replace(column="other"), "table1", run)
        == "K = 5, not 11"
    )
    assert describe_changed_parameters(toy, key._replace(column="other"), "table2", run) == ""
