"""Rules about printed numbers: which they fit, and how digits may be meant."""

import pytest
from pydantic import ValidationError

from private_ensembles.published.printed import Key
from private_ensembles.published.rules import Explanation, Judged, Limited, Rule, first_that_fits

KEY = Key("toy", "table1", "mnist", "lnmax-100", "epsilon")


@pytest.mark.parametrize(
    ("about", "fits"),
    [
        ({}, True),
        ({"row": "lnmax-*"}, True),
        ({"row": ["nzc", "lnmax-1??"], "item": "table1"}, True),
        ({"row": "lnmax-*", "dataset": "svhn"}, False),
        ({"column": "eps"}, False),
        ({"table": "ours"}, False),
    ],
)
def test_a_rule_fits_where_all_its_patterns_do(about, fits):
    assert Rule.model_validate(about).fits(KEY) == fits


def test_a_rule_may_name_our_table_and_the_first_that_fits_counts():
    rules = [Rule(table=["other"]), Rule(table=["ours"]), Rule()]
    assert first_that_fits(rules, KEY, "ours") is rules[1]
    assert first_that_fits(rules, KEY) is rules[2]
    assert first_that_fits(rules[:2], KEY) is None


@pytest.mark.parametrize(
    ("given", "value", "agrees"),
    [
        ({"half": 0.005}, 0.005, True),
        ({"half": 0.005}, 0.006, False),
        ({"side": "below"}, -1e-9, True),
        ({"side": "below"}, 0.0, False),
        ({"side": "above"}, 0.0, False),
        ({"side": "above"}, 1e-9, True),
    ],
)
def test_half_a_unit_or_a_side_says_how_a_printed_zero_is_meant(given, value, agrees):
    assert Judged.model_validate(given).agrees(value, 0.0) == agrees


def test_rivals_are_the_other_rows_or_columns_and_what_is_named():
    other, elsewhere = KEY._replace(row="nzc"), KEY._replace(row="nzc", dataset="svhn")
    numbers = {KEY: 1.0, other: 2.0, elsewhere: 3.0, KEY._replace(column="delta"): 4.0}
    rule = Judged(rivals="row", constants={"a guess": 0.5})
    assert rule.alternatives(KEY, numbers, {other: 2.5}) == {
        "printed nzc": 2.0,
        "our nzc": 2.5,
        "a guess": 0.5,
    }
    assert Judged(rivals="column").alternatives(KEY, numbers, {}) == {"printed delta": 4.0}
    assert Judged(half=1).alternatives(KEY, numbers, numbers) == {}


@pytest.mark.parametrize("kind", [Explanation, Limited])
def test_a_function_that_does_not_exist_is_refused(kind):
    with pytest.raises(ValidationError, match="'nothing' must be a function of"):
        kind.model_validate({"note": "", "test": "", "function": "nothing"})
