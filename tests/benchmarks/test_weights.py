"""The study of weights: a small case, and the table that docs/ballots.md shows."""

import numpy as np
import pandas as pd
import pytest

from benchmarks import run, weights

ACCURACIES = np.array([0.3, 0.5, 0.9])


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("all one", [1, 1, 1]),
        ("size", [1, 4, 24]),
        ("size, at most 4", [1, 4, 4]),
        ("root of size", [1, 2, 5]),
        ("log-odds", [1, 2, 3]),
    ],
)
def test_weights_are_whole_and_in_proportion(name, expected):
    found = weights.weights_by(name, [5, 20, 120], ACCURACIES)
    assert found.tolist() == expected


def test_a_small_case_has_all_weightings_and_shares():
    data = weights.measure(quick=True)
    assert set(data["weighting"]) == set(weights.WEIGHTINGS)
    assert data["right"].between(0.1, 1).all()
    assert (data["least"] <= data["epsilon"]).all()
    weighted = data[data["largest"] > 1]
    assert (weighted["least"] < weighted["epsilon"]).all()


def test_teachers_of_larger_shards_are_right_more_often():
    votes, truth = weights.votes_of_round(0, (10, 10, 10, 300))
    right = (votes == truth[:, None]).mean(axis=0)
    assert right[3] > right[:3].max() + 0.1


def test_the_page_shows_the_table(root):
    data = pd.read_csv(run.DOCS / "weights.csv")
    assert weights.shown(data) in (root / "docs" / "ballots.md").read_text(encoding="utf-8")
    assert set(data["epsilon"]) == set(weights.EPSILONS)
