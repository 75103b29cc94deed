"""The chart of the first screen: every claim of the ledger is a dot with its numbers in words."""

import re

import pandas as pd
import pytest

from private_ensembles.page.spent_chart import spent_chart


@pytest.fixture(scope="module")
def ledger(root):
    return pd.read_csv(root / "docs" / "privacy_ledger.csv")


def test_every_claim_with_another_number_is_a_dot_with_its_model_and_adjacency(ledger):
    shown = re.findall(r"<title>(.*?)</title>", spent_chart(ledger))
    known = ledger[ledger["exact_epsilon"].notna() | ledger["proven_epsilon"].notna()]
    assert len(shown) == len(known)
    models = ("disjoint shards", "shared data")
    assert all(any(model in words for model in models) for words in shown)
    assert all("replace one" in words or "add remove" in words for words in shown)


def test_a_claim_that_fails_stands_on_the_border_in_its_own_colour(ledger):
    failing = ledger[ledger["verdict"] == "fails"]
    assert set(failing["mechanism"]) == {"nzc"}
    marks = re.findall(r'class="mark ([^"]*)" x="([^"]*)"', spent_chart(failing))
    dots = [place for tint, place in marks if tint == "fails beyond"]
    assert dots == ["100.0%"] * len(failing)


def test_an_exact_value_counts_before_a_proven_one():
    row = {
        "mechanism": "gnmax",
        "setting": "s",
        "claimed_epsilon": 2.0,
        "proven_epsilon": 2.0,
        "exact_epsilon": 1.0,
        "verdict": "holds",
        "privacy_model": "disjoint_shards",
        "adjacency": "replace_one",
    }
    both = pd.DataFrame([row, row | {"exact_epsilon": float("nan")}])
    places = re.findall(r'<svg class="mark k(\d)" x="([\d.]+)%"', spent_chart(both))
    assert [kind for kind, _ in places] == ["0", "2"]
    assert 0 < float(places[0][1]) < float(places[1][1]) == 50.0
