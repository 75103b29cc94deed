"""Parameters that a run has changed are named; claims about them are no claims."""

import pandas as pd
import pytest

from private_ensembles.published.declarations import Paper, paper
from private_ensembles.published.parameters import altered, claims_of, differences
from private_ensembles.published.printed import FOLDER, Key, read_published

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
    assert differences(ours, PRINTED, names) == found


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
    assert altered(toy, key, "table1", run) == "data.b.epsilon = 1, not 0.2"
    assert altered(toy, key._replace(dataset="a"), "table1", run) == ""
    assert altered(toy, key._replace(column="other"), "table1", run) == "K = 5, not 11"
    assert altered(toy, key._replace(column="other"), "table2", run) == ""


def test_claims_are_those_of_the_papers_own_parameters():
    printed = read_published([FOLDER / "pate_table1.csv", FOLDER / "dpbag_table6.csv"])
    tasks = {name: dict(settings) for name, settings in paper("pate").parameters.items()}
    pd.testing.assert_frame_equal(claims_of(printed, tasks), printed)
    left = claims_of(printed, tasks | {"mnist": tasks["mnist"] | {"K": 20}, "new": {"K": 1}})
    gone = printed[~printed.index.isin(left.index)]
    assert set(gone["dataset"]) == {"mnist"}
    assert set(left["dataset"]) == {"svhn", "adult", "glyph"}
